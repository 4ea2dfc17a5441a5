//! The tables of a run, by column.

use burstlab_sim::{Column, Output, Table};

pub(crate) fn table<'a>(output: &'a Output, name: &str) -> &'a Table {
    let found = output.tables.iter().find(|table| table.name == name);
    found.unwrap_or_else(|| panic!("no table {name}"))
}

pub(crate) fn column<'a>(table: &'a Table, name: &str) -> &'a Column {
    let found = table.columns.iter().find(|column| column.0 == name);
    &found.unwrap_or_else(|| panic!("no column {name} in {}", table.name)).1
}

/// The first column in which two lists of tables differ, by bits: the NaN of an ACK's missing
/// window is not equal to itself.
pub(crate) fn differing(one: &[Table], other: &[Table]) -> Option<String> {
    if one.len() != other.len() {
        return Some(format!("{} tables, {} tables", one.len(), other.len()));
    }
    one.iter().zip(other).find_map(|(one, other)| differing_column(one, other))
}

fn differing_column(one: &Table, other: &Table) -> Option<String> {
    if (one.name, one.columns.len()) != (other.name, other.columns.len()) {
        return Some(format!("columns of {}, of {}", one.name, other.name));
    }
    let mut pairs = one.columns.iter().zip(&other.columns);
    let found = pairs.find(|(one, other)| one.0 != other.0 || !is_same(&one.1, &other.1));
    found.map(|(found, wanted)| format!("{}: {found:?}, not {wanted:?}", one.name))
}

fn is_same(one: &Column, other: &Column) -> bool {
    match (one, other) {
        (Column::F64(one), Column::F64(other)) => {
            one.iter().map(|value| value.to_bits()).eq(other.iter().map(|value| value.to_bits()))
        }
        _ => one == other,
    }
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
