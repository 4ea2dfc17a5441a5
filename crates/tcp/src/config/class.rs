//! Laws and detectors that users write.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A class of Python, in a file of its own. Each connection has an instance of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PythonClass {
    /// The file; its path counts from the scenario's file. It is read before the engine sees the
    /// scenario, and its text takes its place as `source`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Name of the class in the file.
    pub class: String,
    /// Keyword arguments of the constructor. Absent: none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, Value>,
    /// The text of the file. A scenario in which it is written runs only where that is allowed
    /// (`--allow-code`), since it may come from anybody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Name of the file that `source` was, for messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}
