//! Tables in which one field, a choice, decides which of the others there are. The code asks for
//! the fields that the choice needs where it reads them. A field that was written and not asked for
//! has no effect.

use serde::Serialize;
use serde_json::Value;

use super::ScenarioError;
use super::error::{Check, brief};

/// Fields that there are for some choices only, and an example of how each is written.
pub(super) type Fields = &'static [(&'static str, &'static str)];

/// Reads the fields of a table that depend on its choice.
pub(super) struct Choice<'a> {
    /// Where the table stands.
    path: &'a str,
    /// The field that is the choice.
    key: &'static str,
    fields: Fields,
    table: Value,
    read: Vec<&'static str>,
}

/// One of two fields, of which exactly one is there.
pub(super) enum Either<A, B> {
    First(A),
    Second(B),
}

impl<'a> Choice<'a> {
    pub(super) fn of(
        path: &'a str,
        table: &impl Serialize,
        key: &'static str,
        fields: Fields,
    ) -> Self {
        let table = serde_json::to_value(table).unwrap_or_default();
        Self { path, key, fields, table, read: Vec::new() }
    }

    /// The value of a field that has to be there.
    pub(super) fn needs<T>(
        &mut self,
        field: &'static str,
        value: Option<T>,
    ) -> Result<T, ScenarioError> {
        self.read.push(field);
        value.ok_or_else(|| {
            let fix = format!("add {}", self.example(field));
            self.missing(field, "", fix)
        })
    }

    /// The value of a field that may be there.
    pub(super) fn may<T>(&mut self, field: &'static str, value: Option<T>) -> Option<T> {
        self.read.push(field);
        value
    }

    /// The values of two fields of which exactly one has to be there.
    pub(super) fn either<A, B>(
        &mut self,
        (first, a): (&'static str, Option<A>),
        (second, b): (&'static str, Option<B>),
    ) -> Result<Either<A, B>, ScenarioError> {
        self.read.extend([first, second]);
        match (a, b) {
            (Some(a), None) => Ok(Either::First(a)),
            (None, Some(b)) => Ok(Either::Second(b)),
            (None, None) => {
                let fix = format!("add {} or {}", self.example(first), self.example(second));
                Err(self.missing(first, &format!(", or {second}"), fix))
            }
            (Some(_), Some(_)) => {
                let (path, value) =
                    (format!("{}.{first}", self.path), self.table[first].to_string());
                let problem = format!("{second} is given too");
                Err(ScenarioError::new(path, value, problem, "keep one of the two"))
            }
        }
    }

    /// Refuses fields that are there and were not read.
    pub(super) fn done(self) -> Check {
        let surplus = |field: &str| self.table.get(field).filter(|_| !self.read.contains(&field));
        for &(field, _) in self.fields {
            if let Some(value) = surplus(field) {
                let path = format!("{}.{field}", self.path);
                let problem = format!("{} = {} does not use it", self.key, self.table[self.key]);
                let fix = format!("remove it, or change {}", self.key);
                return Err(ScenarioError::new(path, brief(value), problem, fix));
            }
        }
        Ok(())
    }

    fn missing(&self, field: &str, or: &str, fix: String) -> ScenarioError {
        let problem = format!("{} = {} needs it{or}", self.key, self.table[self.key]);
        ScenarioError::new(format!("{}.{field}", self.path), "", problem, fix)
    }

    fn example(&self, field: &str) -> String {
        written(self.fields, field)
    }
}

/// How `field` might be written.
pub(super) fn written(fields: Fields, field: &str) -> String {
    let example =
        fields.iter().find(|(one, _)| *one == field).map_or("...", |(_, example)| example);
    format!("{field} = {example}")
}

/// A list, or nothing where it is empty.
pub(super) fn listed<T>(list: &[T]) -> Option<&[T]> {
    Some(list).filter(|list| !list.is_empty())
}
