//! What the tables of a run say, by column.

use burstlab_sim::{Column, Output, Table};

pub(crate) fn table<'a>(output: &'a Output, name: &str) -> &'a Table {
    let found = output.tables.iter().find(|table| table.name == name);
    found.unwrap_or_else(|| panic!("no table {name}"))
}

pub(crate) fn column<'a>(table: &'a Table, name: &str) -> &'a Column {
    let found = table.columns.iter().find(|column| column.0 == name);
    &found.unwrap_or_else(|| panic!("no column {name} in {}", table.name)).1
}

/// A column of whole numbers of 64 bits.
pub(crate) fn wide<'a>(table: &'a Table, name: &str) -> &'a [u64] {
    match column(table, name) {
        Column::U64(values) => values,
        other => panic!("{name}: {other:?}"),
    }
}

/// The codes of a column of categories.
pub(crate) fn codes<'a>(table: &'a Table, name: &str) -> &'a [u8] {
    match column(table, name) {
        Column::Category(codes, _) => codes,
        other => panic!("{name}: {other:?}"),
    }
}

/// The labels of a column of categories.
pub(crate) fn labels(table: &Table, name: &str) -> Vec<&'static str> {
    match column(table, name) {
        Column::Category(codes, labels) => {
            codes.iter().map(|&code| labels[usize::from(code)]).collect()
        }
        other => panic!("{name}: {other:?}"),
    }
}

/// A column of whole numbers, or of codes.
pub(crate) fn integers(table: &Table, name: &str) -> Vec<u64> {
    match column(table, name) {
        Column::U64(values) => values.clone(),
        Column::I64(values) => values.iter().map(|&value| value as u64).collect(),
        Column::Name(values, _) | Column::U32(values) => {
            values.iter().map(|&value| u64::from(value)).collect()
        }
        Column::Category(codes, _) => codes.iter().map(|&code| u64::from(code)).collect(),
        other => panic!("{name}: {other:?}"),
    }
}
