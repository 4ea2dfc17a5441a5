//! The names of a run's numbers, from their types: a number cannot be left out.

use schemars::generate::SchemaSettings;

use super::Summary;

/// The JSON schema of a [`Summary`] as it is written.
#[must_use]
pub fn summary_schema() -> serde_json::Value {
    let generator = SchemaSettings::default().for_serialize().into_generator();
    generator.into_root_schema_for::<Summary>().to_value()
}
