//! Tables that come in chunks, put together again.

use std::collections::VecDeque;

use burstlab_sim::{Column, Output, Piece, Simulation, Table};

/// Runs to the end, and takes chunks of `rows` rows every `slice` events. Returns what
/// [`Simulation::run`] answers with one chunk a table, and the most rows that were ever held.
pub(crate) fn run_in_chunks(simulation: Simulation, rows: u32, slice: u32) -> (Output, u64) {
    let mut simulation = simulation.in_chunks_of(rows);
    let (mut whole, mut early, mut most) = (Vec::new(), VecDeque::new(), 0);
    while simulation.advance(slice) {
        most = most.max(simulation.held_rows());
        for piece in simulation.drain() {
            if let Piece::Rows(chunk) | Piece::Early(chunk) = &piece {
                assert_eq!(length(chunk), rows as usize, "only the last chunk may be shorter");
            }
            take(piece, &mut whole, &mut early);
        }
        assert!(simulation.drain().is_empty(), "a chunk is handed over once");
    }
    let (summary, pieces) = simulation.finish();
    pieces.into_iter().for_each(|piece| take(piece, &mut whole, &mut early));
    assert!(early.is_empty(), "what comes early comes late as well");
    let order = [
        "packets",
        "packets_sack",
        "packets_rates",
        "bursts",
        "bursts_hops",
        "bursts_steps",
        "bursts_steps",
        "cwnd",
        "ledger",
        "ledger_losses",
        "histograms",
    ];
    // Then connections and samples, by name.
    let place = |name| order.iter().position(|&other| other == name).unwrap_or(order.len());
    whole.sort_by_key(|table| (place(table.name), table.name));
    (Output { summary, tables: whole }, most)
}

/// A run whose tables are one piece each, however long they are.
pub(crate) fn joined(output: Output) -> Output {
    let mut tables = Vec::new();
    output.tables.into_iter().for_each(|chunk| append(&mut tables, chunk));
    Output { summary: output.summary, tables }
}

fn take(piece: Piece, whole: &mut Vec<Table>, early: &mut VecDeque<Table>) {
    match piece {
        Piece::Rows(chunk) => append(whole, chunk),
        Piece::Early(chunk) => early.push_back(chunk),
        Piece::Late(places, rows) => {
            let mut chunk = early.pop_front().expect("it came early");
            assert_eq!(chunk.name, rows.name, "only packets come early");
            put(&mut chunk, &places, rows);
            append(whole, chunk);
        }
    }
}

/// Puts rows in their places.
fn put(table: &mut Table, places: &[u32], rows: Table) {
    fn all<T: Copy>(column: &mut [T], places: &[u32], values: &[T]) {
        assert_eq!(places.len(), values.len());
        places.iter().zip(values).for_each(|(&place, &value)| column[place as usize] = value);
    }
    for ((name, column), (_, values)) in table.columns.iter_mut().zip(rows.columns) {
        match (column, values) {
            (Column::Category(column, _), Column::Category(values, _)) => {
                all(column, places, &values);
            }
            (Column::U32(column), Column::U32(values)) => all(column, places, &values),
            (Column::U64(column), Column::U64(values)) => all(column, places, &values),
            (Column::I64(column), Column::I64(values)) => all(column, places, &values),
            (Column::F64(column), Column::F64(values)) => all(column, places, &values),
            (column, values) => panic!("{name}: {values:?} in {column:?}"),
        }
    }
}

fn length(table: &Table) -> usize {
    match &table.columns[0].1 {
        Column::Category(codes, _) => codes.len(),
        Column::Node(values) | Column::Name(values, _) | Column::U32(values) => values.len(),
        Column::U64(values) => values.len(),
        Column::I64(values) => values.len(),
        Column::F64(values) => values.len(),
    }
}

/// Puts a chunk below the rows of its table.
fn append(whole: &mut Vec<Table>, chunk: Table) {
    let Some(table) = whole.iter_mut().find(|table| table.name == chunk.name) else {
        whole.push(chunk);
        return;
    };
    for ((name, column), (other, more)) in table.columns.iter_mut().zip(chunk.columns) {
        assert_eq!(*name, other);
        match (column, more) {
            (Column::Category(all, _), Column::Category(more, _)) => all.extend(more),
            (Column::Name(all, _), Column::Name(more, _)) => all.extend(more),
            (Column::U32(all), Column::U32(more)) => all.extend(more),
            (Column::U64(all), Column::U64(more)) => all.extend(more),
            (Column::I64(all), Column::I64(more)) => all.extend(more),
            (Column::F64(all), Column::F64(more)) => all.extend(more),
            (column, more) => panic!("{name}: {column:?} goes on as {more:?}"),
        }
    }
}
