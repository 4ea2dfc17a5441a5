//! From JSON to a scenario, with errors that name the field and the fix.

use burstlab_tcp::WindowLaw;
use serde::Deserialize;
use serde_json::Value;

use super::{Scenario, ScenarioError};

pub(super) fn from_json(text: &str) -> Result<Scenario, ScenarioError> {
    let input: Value = serde_json::from_str(text).map_err(|error| {
        ScenarioError::new("", "", format!("not valid JSON ({error})"), "write a JSON object")
    })?;
    if !input.is_object() {
        return Err(ScenarioError::new(
            "",
            shown(&input),
            "a scenario is a table",
            "write tables such as [network] and [run]",
        ));
    }
    let mut track = serde_path_to_error::Track::new();
    let reader = serde_path_to_error::Deserializer::new(&input, &mut track);
    Scenario::deserialize(reader).map_err(|error| {
        let path = track.path().to_string();
        explain(&input, if path == "." { "" } else { &path }, &error.to_string())
    })
}

/// Turns serde's message about the field at `path` into a problem and its fix.
fn explain(input: &Value, path: &str, message: &str) -> ScenarioError {
    let value = lookup(input, path).map(shown).unwrap_or_default();
    if let Some((key, known)) = named(message, "unknown field") {
        let path = if path.ends_with(&key) { path.into() } else { joined(path, &key) };
        let value = lookup(input, &path).map(shown).unwrap_or_default();
        let problem = match path.rsplit_once('.') {
            Some((table, _)) => format!("[{table}] has no such field"),
            None => "there is no such table".into(),
        };
        return ScenarioError::new(&*path, value, problem, suggestion(&key, &known));
    }
    if let Some((word, known)) = named(message, "unknown variant") {
        let fix = law_of_linux(path, &word).unwrap_or_else(|| suggestion(&word, &known));
        return ScenarioError::new(path, value, "no such choice", fix);
    }
    if let Some(rest) = message.strip_prefix("missing field `") {
        let key = rest.split('`').next().unwrap_or_default();
        let fix = format!("add {key} = ...");
        return ScenarioError::new(joined(path, key), "", "it is missing", fix);
    }
    if let Some((problem, fix)) = message.split_once("; ") {
        return ScenarioError::new(path, value, problem, fix);
    }
    let (problem, fix) = match message.split_once(", expected ") {
        Some((found, expected)) => (in_words(found), format!("write {}", in_words(expected))),
        None => (message.to_string(), "see `burstlab schema`".to_string()),
    };
    ScenarioError::new(path, value, problem, fix)
}

/// The name that a writer uses for a thing of serde.
fn in_words(text: &str) -> String {
    let kinds = [
        ("u64", "a whole number of at least 0"),
        ("u32", "a whole number from 0 to 4294967295"),
        ("usize", "a whole number of at least 0"),
        ("u8", "a whole number from 0 to 255"),
        ("f64", "a number"),
        ("a sequence", "a list, [...]"),
        ("a boolean", "true or false"),
        ("a string", "a text in quotes"),
        ("a tuple of size 2", "a pair, [a, b]"),
    ];
    if let Some((_, words)) = kinds.iter().find(|(kind, _)| text == *kind) {
        return (*words).to_string();
    }
    if text.starts_with("struct ") {
        return "a table".to_string();
    }
    let found = text.strip_prefix("invalid type: ").or(text.strip_prefix("invalid value: "));
    match found {
        Some("sequence") => "it is a list".to_string(),
        Some("map") => "it is a table".to_string(),
        Some(found) => format!("it is {}", found.replace('`', "")),
        None => text.to_string(),
    }
}

/// The word that `message` complains of as `what`, and the words that it would accept.
fn named(message: &str, what: &str) -> Option<(String, Vec<String>)> {
    let rest = message.strip_prefix(what)?;
    let mut words = rest.split('`').skip(1).step_by(2).map(str::to_string);
    Some((words.next()?, words.collect()))
}

/// The fix where `variant` is a window law of the Linux sender.
fn law_of_linux(path: &str, word: &str) -> Option<String> {
    let law = serde_json::from_value::<WindowLaw>(word.into());
    let is_law = law.is_ok_and(WindowLaw::is_of_linux);
    let of = path.strip_suffix("variant").filter(|of| is_law && of.ends_with("tcp."))?;
    Some(format!("write {of}profile = \"linux\" and {of}window_law = {word:?}"))
}

pub(super) fn suggestion(word: &str, known: &[String]) -> String {
    let near = known
        .iter()
        .map(|candidate| (strsim::damerau_levenshtein(word, candidate), candidate))
        .min()
        .filter(|&(distance, candidate)| distance <= 1 + candidate.len() / 3);
    match near {
        Some((_, candidate)) => format!("did you mean {candidate:?}?"),
        None => format!("use one of {}", known.join(", ")),
    }
}

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_string() } else { format!("{path}.{key}") }
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(80) {
        Some((cut, _)) => format!("{}...", &text[..cut]),
        None => text,
    }
}

/// The value at a path such as `flows[0].tcp.window`.
fn lookup<'a>(input: &'a Value, path: &str) -> Option<&'a Value> {
    let pointer: String = path
        .split(['.', '['])
        .filter(|step| !step.is_empty())
        .map(|step| format!("/{}", step.trim_end_matches(']')))
        .collect();
    input.pointer(&pointer)
}
