//! The scenario as its JSON schema describes it: sections with fields, choices, and unions of
//! sections.
//!
//! Reads what schemars writes for serde types (draft 2020-12): structs, options, lists, maps,
//! tuples, and enums of all four kinds. A part that is not understood is an error with its place,
//! so that nothing is left out in silence.

use serde_json::{Map, Value};

type Object = Map<String, Value>;

/// Everything that is generated follows from this.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Model {
    /// The root first, then in the order in which the root's fields reach them.
    pub(crate) sections: Vec<Section>,
    pub(crate) choices: Vec<Choice>,
    pub(crate) unions: Vec<Union>,
}

/// A table of the scenario.
#[derive(Debug, PartialEq)]
pub(crate) struct Section {
    pub(crate) name: String,
    pub(crate) doc: String,
    /// Where it stands in a file, such as `[edge]` or `[[flows]]`.
    pub(crate) places: Vec<String>,
    pub(crate) fields: Vec<Field>,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) required: bool,
    /// Whether it may be null.
    pub(crate) nullable: bool,
    pub(crate) default: Option<Value>,
    /// The default in words, where it is no one value.
    pub(crate) default_in_words: Option<String>,
    pub(crate) doc: String,
}

/// A text that is one of a few.
#[derive(Debug, PartialEq)]
pub(crate) struct Choice {
    pub(crate) name: String,
    pub(crate) doc: String,
    /// Each value with its description.
    pub(crate) values: Vec<(String, String)>,
}

/// One of several kinds, each with its own fields.
#[derive(Debug, PartialEq)]
pub(crate) struct Union {
    pub(crate) name: String,
    pub(crate) doc: String,
    pub(crate) members: Vec<Kind>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Any,
    Boolean,
    Integer,
    /// A number and what it is, such as a probability.
    Number(Option<String>),
    /// A text and what it is, such as a time with its unit.
    Text(Option<String>),
    /// Always this text: the tag of a variant.
    Tag(String),
    Choice(String),
    Section(String),
    Union(String),
    OneOf(Vec<Kind>),
    List(Box<Kind>),
    Tuple(Vec<Kind>),
    Map(Box<Kind>),
}

/// Reads a schema, whose root becomes the section `root`.
pub(crate) fn read(schema: &Value, root: &str) -> Result<Model, String> {
    let top = schema.as_object().ok_or("the schema is not an object")?;
    let none = Object::new();
    let definitions = top.get("$defs").and_then(Value::as_object).unwrap_or(&none);
    let mut reader = Reader { definitions, model: Model::default() };
    reader.section(root, top, String::new())?;
    Ok(reader.model)
}

struct Reader<'a> {
    definitions: &'a Object,
    model: Model,
}

impl<'a> Reader<'a> {
    /// Enters a section and what it reaches; `place` is its path in a file.
    fn section(&mut self, name: &str, schema: &'a Object, place: String) -> Result<(), String> {
        if let Some(known) = self.model.sections.iter_mut().find(|s| s.name == name) {
            if !known.places.contains(&place) {
                known.places.push(place);
            }
            return Ok(());
        }
        let index = self.model.sections.len();
        self.model.sections.push(Section {
            name: name.to_owned(),
            doc: text(schema, "description"),
            places: vec![place.clone()],
            fields: Vec::new(),
        });
        if schema.contains_key("oneOf") || schema.contains_key("anyOf") {
            return Err(format!("{name}: a flattened enum is not understood; make it a field"));
        }
        let fields = self.fields(name, schema, &place)?;
        self.model.sections[index].fields = fields;
        Ok(())
    }

    /// The properties of a schema, and of the one that it extends by `$ref` or `allOf`.
    fn fields(
        &mut self,
        section: &str,
        schema: &'a Object,
        place: &str,
    ) -> Result<Vec<Field>, String> {
        let mut fields = Vec::new();
        if let Some((_, base)) = self.referred(schema)? {
            fields = self.fields(section, base, place)?;
        }
        for part in list(schema, "allOf").iter().filter_map(Value::as_object) {
            fields.extend(self.fields(section, part, place)?);
        }
        let required: Vec<&str> =
            list(schema, "required").iter().filter_map(Value::as_str).collect();
        let mut own = Vec::new();
        for (name, value) in
            schema.get("properties").and_then(Value::as_object).into_iter().flatten()
        {
            let at = format!("{section}.{name}");
            let above = place.trim_matches(['[', ']']);
            let below = format!("{above}{}{name}", if above.is_empty() { "" } else { "." });
            own.push(Field {
                name: name.clone(),
                kind: self.kind(value, &pascal(section, name), &below, &at)?,
                required: required.contains(&name.as_str()),
                nullable: is_nullable(value),
                default: value.get("default").filter(|d| !d.is_null()).cloned(),
                default_in_words: value.get("x-default").and_then(Value::as_str).map(str::to_owned),
                doc: value.as_object().map(with_bounds).unwrap_or_default(),
            });
        }
        // The tag of a variant stands first, then what the variant extends.
        own.extend(fields);
        Ok(own)
    }

    /// The kind of a value. `name` is for a part without one of its own, `at` for messages.
    fn kind(
        &mut self,
        value: &'a Value,
        name: &str,
        place: &str,
        at: &str,
    ) -> Result<Kind, String> {
        let Some(schema) = value.as_object() else { return Ok(Kind::Any) };
        if let Some((name, definition)) = self.referred(schema)? {
            return self.named(name, definition, place, at);
        }
        if let [only] = list(schema, "allOf") {
            return self.kind(only, name, place, at);
        }
        if let Some(tag) = schema.get("const") {
            let tag = tag.as_str().ok_or_else(|| format!("{at}: a constant that is no text"))?;
            return Ok(Kind::Tag(tag.to_owned()));
        }
        let options = self.options(schema);
        match options[..] {
            [] => {}
            [only] => return self.kind(only, name, place, at),
            _ => return self.named(name, schema, place, at),
        }
        if schema.contains_key("enum") {
            return self.named(name, schema, place, at);
        }
        let title = schema.get("title").and_then(Value::as_str).map(str::to_owned);
        match &types(schema)[..] {
            ["boolean"] => Ok(Kind::Boolean),
            ["integer"] => Ok(Kind::Integer),
            ["number"] => Ok(Kind::Number(title)),
            ["string"] => Ok(Kind::Text(title)),
            ["array"] => self.array(schema, name, place, at),
            ["object"] if schema.contains_key("properties") => self.named(name, schema, place, at),
            ["object"] => match schema.get("additionalProperties") {
                Some(values @ Value::Object(_)) => {
                    let below = format!("{place}.<name>");
                    Ok(Kind::Map(Box::new(self.kind(values, name, &below, at)?)))
                }
                _ => Ok(Kind::Map(Box::new(Kind::Any))),
            },
            [] => Ok(Kind::Any),
            several => several
                .iter()
                .map(|one| plain(one).ok_or_else(|| format!("{at}: {one} among other types")))
                .collect::<Result<_, _>>()
                .map(Kind::OneOf),
        }
    }

    fn array(
        &mut self,
        schema: &'a Object,
        name: &str,
        place: &str,
        at: &str,
    ) -> Result<Kind, String> {
        let parts = list(schema, "prefixItems");
        if !parts.is_empty() {
            let kinds: Result<_, _> =
                parts.iter().map(|part| self.kind(part, name, place, at)).collect();
            return Ok(Kind::Tuple(kinds?));
        }
        let Some(items) = schema.get("items") else { return Ok(Kind::List(Box::new(Kind::Any))) };
        // An array of tables is written `[[place]]`, what is below one of them `[place.name]`.
        let place = format!("[{place}]");
        Ok(Kind::List(Box::new(self.kind(items, name, &place, at)?)))
    }

    /// A schema under its name: a section, a choice, a union, or a plain type that has a name.
    fn named(
        &mut self,
        name: &str,
        schema: &'a Object,
        place: &str,
        at: &str,
    ) -> Result<Kind, String> {
        if let Some(values) = self.choice_values(schema) {
            if !self.model.choices.iter().any(|choice| choice.name == name) {
                let doc = text(schema, "description");
                self.model.choices.push(Choice { name: name.to_owned(), doc, values });
            }
            return Ok(Kind::Choice(name.to_owned()));
        }
        if self.options(schema).len() > 1 {
            return self.union(name, schema, place, at);
        }
        if schema.contains_key("properties") || is_empty_table(schema) {
            self.section(name, schema, place.to_owned())?;
            return Ok(Kind::Section(name.to_owned()));
        }
        // A plain type: looked at without its name. Its title says what it is.
        let value = self.definitions.get(name);
        value.map_or(Ok(Kind::Any), |value| self.kind(value, name, place, at))
    }

    fn union(
        &mut self,
        name: &str,
        schema: &'a Object,
        place: &str,
        at: &str,
    ) -> Result<Kind, String> {
        if !self.model.unions.iter().any(|union| union.name == name) {
            let doc = text(schema, "description");
            let index = self.model.unions.len();
            self.model.unions.push(Union { name: name.to_owned(), doc, members: Vec::new() });
            let mut members = Vec::new();
            for option in self.options(schema) {
                members.push(self.member(name, option, place, at)?);
            }
            self.model.unions[index].members = members;
        }
        Ok(Kind::Union(name.to_owned()))
    }

    /// One kind of a union: a section of its own, named after its tag or its only field.
    fn member(
        &mut self,
        union: &str,
        value: &'a Value,
        place: &str,
        at: &str,
    ) -> Result<Kind, String> {
        let Some(schema) = value.as_object() else { return Ok(Kind::Any) };
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
            return match self.choice_values(schema) {
                Some(values) => {
                    Ok(Kind::OneOf(values.into_iter().map(|v| Kind::Tag(v.0)).collect()))
                }
                None => self.kind(value, union, place, at),
            };
        };
        let tag = properties.values().find_map(|p| p.get("const").and_then(Value::as_str));
        let Some(tag) = tag.or_else(|| properties.keys().next().map(String::as_str)) else {
            return Err(format!("{at}: a kind of {union} that has neither a tag nor a field"));
        };
        let name = pascal(union, tag);
        self.section(&name, schema, place.to_owned())?;
        Ok(Kind::Section(name))
    }

    /// The alternatives of a schema, without the null that an option adds.
    fn options(&self, schema: &'a Object) -> Vec<&'a Value> {
        let is_null = |option: &&Value| option.get("type").and_then(Value::as_str) == Some("null");
        let all = ["anyOf", "oneOf"].iter().flat_map(|key| list(schema, key));
        all.filter(|option| !is_null(option)).collect()
    }

    /// The values of an enum of texts: `enum`, or `oneOf` with a `const` or an `enum` in each.
    fn choice_values(&self, schema: &'a Object) -> Option<Vec<(String, String)>> {
        let plain = |schema: &'a Object, doc: &str| -> Option<Vec<(String, String)>> {
            let values = list(schema, "enum").iter().chain(schema.get("const"));
            let texts = values
                .filter(|value| !value.is_null())
                .map(|value| value.as_str().map(|value| (value.to_owned(), doc.to_owned())));
            texts.collect::<Option<Vec<_>>>().filter(|values| !values.is_empty())
        };
        let options = self.options(schema);
        if options.is_empty() {
            return plain(schema, "");
        }
        let mut values = Vec::new();
        for option in options.iter().map(|option| option.as_object()) {
            values.extend(plain(option?, &text(option?, "description"))?);
        }
        Some(values)
    }

    /// The target of `$ref`.
    fn referred(&self, schema: &'a Object) -> Result<Option<(&'a str, &'a Object)>, String> {
        let Some(reference) = schema.get("$ref").and_then(Value::as_str) else { return Ok(None) };
        let name = reference.strip_prefix("#/$defs/");
        let found = name.and_then(|name| self.definitions.get_key_value(name));
        match found.map(|(name, value)| (name, value.as_object())) {
            Some((name, Some(definition))) => Ok(Some((name, definition))),
            _ => Err(format!("the reference {reference} points to nothing")),
        }
    }
}

fn is_empty_table(schema: &Object) -> bool {
    schema.get("additionalProperties") == Some(&Value::Bool(false))
}

/// Whether an option is behind a value.
fn is_nullable(value: &Value) -> bool {
    let is_null = |kind: &Value| kind.as_str() == Some("null");
    let among = value["type"].as_array().is_some_and(|types| types.iter().any(is_null));
    among || value["anyOf"].as_array().into_iter().flatten().any(|one| is_null(&one["type"]))
}

fn plain(kind: &str) -> Option<Kind> {
    match kind {
        "boolean" => Some(Kind::Boolean),
        "integer" => Some(Kind::Integer),
        "number" => Some(Kind::Number(None)),
        "string" => Some(Kind::Text(None)),
        _ => None,
    }
}

/// The types of a schema, without the null that an option adds.
fn types(schema: &Object) -> Vec<&str> {
    let types = match schema.get("type") {
        Some(Value::String(one)) => vec![one.as_str()],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    types.into_iter().filter(|kind| *kind != "null").collect()
}

fn list<'a>(schema: &'a Object, key: &str) -> &'a [Value] {
    schema.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A description, with links of the Rust documentation made plain.
fn text(schema: &Object, key: &str) -> String {
    let text = schema.get(key).and_then(Value::as_str).unwrap_or("").trim();
    text.replace("[`", "`").replace("`]", "`")
}

/// The description of a field with the bounds that the schema states, those of the parts of a list
/// too. Those of Rust's integer types say nothing.
fn with_bounds(schema: &Object) -> String {
    let doc = text(schema, "description");
    let parts = schema.get("items").and_then(Value::as_object);
    let of_the_parts = parts.is_some_and(|parts| BOUNDS.iter().any(|key| parts.contains_key(*key)));
    let stated = if of_the_parts { parts.unwrap_or(schema) } else { schema };
    let largest = match stated.get("format").and_then(Value::as_str) {
        Some("uint8") => Some(255),
        Some("uint16") => Some(65_535),
        Some("uint32") => Some(4_294_967_295),
        Some(format) if format.starts_with('u') => Some(u64::MAX),
        _ => None,
    };
    let bound = |key: &str| {
        let bound = stated.get(key).or_else(|| stated.get(&format!("x-{key}")))?;
        let trivial = largest.is_some_and(|most| [Some(0), Some(most)].contains(&bound.as_u64()));
        (!trivial).then(|| shown(bound))
    };
    let [least, above, most, below] = BOUNDS.map(bound);
    let said = match (least, above, most, below) {
        (Some(least), None, Some(most), None) => Some(format!("from {least} to {most}")),
        (least, above, most, below) => {
            let of =
                |bound: Option<String>, word: &str| bound.map(|bound| format!("{word} {bound}"));
            let all = [
                of(least, "at least"),
                of(above, "above"),
                of(most, "at most"),
                of(below, "below"),
            ];
            let all: Vec<String> = all.into_iter().flatten().collect();
            (!all.is_empty()).then(|| all.join(", "))
        }
    };
    let one_of = stated
        .get("x-enum")
        .and_then(Value::as_array)
        .map(|all| format!("one of {}", all.iter().map(shown).collect::<Vec<_>>().join(", ")));
    let Some(mut said) = said.or(one_of) else { return doc };
    if of_the_parts || has_type(schema, "array") {
        said = format!("each {said}");
    }
    said[..1].make_ascii_uppercase();
    format!("{doc}{}{said}.", if doc.is_empty() { "" } else { " " })
}

const BOUNDS: [&str; 4] = ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"];

fn has_type(schema: &Object, kind: &str) -> bool {
    types(schema).contains(&kind)
}

/// A bound: a text without its quotes, a number without digits that say nothing.
fn shown(bound: &Value) -> String {
    match (bound, bound.as_f64()) {
        (Value::String(text), _) => text.clone(),
        (_, Some(number)) if bound.is_f64() && (number.abs() >= 1e6 || number.abs() < 1e-3) => {
            format!("{number:e}").replace("0e0", "0")
        }
        (_, Some(number)) if bound.is_f64() => number.to_string(),
        _ => bound.to_string(),
    }
}

/// `Loss` and `gilbert_elliott` make `LossGilbertElliott`.
fn pascal(before: &str, name: &str) -> String {
    let mut out = before.to_owned();
    for part in name.split(['_', '-', ' ', '.']).filter(|part| !part.is_empty()) {
        let mut letters = part.chars();
        out.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        out.push_str(letters.as_str());
    }
    out
}

#[cfg(test)]
mod tests;
