//! Tables that come in chunks, put together again.

use burstlab_sim::{Column, Output, Simulation, Table};

/// Runs to the end, and takes chunks of `rows` rows every `slice` events. Answers what
/// [`Simulation::run`] answers with one chunk a table, and the most rows that were ever held.
pub(crate) fn run_in_chunks(simulation: Simulation, rows: u32, slice: u32) -> (Output, u64) {
    let mut simulation = simulation.in_chunks_of(rows);
    let (mut whole, mut most): (Vec<Table>, _) = (Vec::new(), 0);
    while simulation.advance(slice) {
        most = most.max(simulation.held_rows());
        for chunk in simulation.drain() {
            assert_eq!(length(&chunk), rows as usize, "only the last chunk may be shorter");
            append(&mut whole, chunk);
        }
        assert!(simulation.drain().is_empty(), "a chunk is handed over once");
    }
    let Output { summary, tables } = simulation.finish();
    tables.into_iter().for_each(|chunk| append(&mut whole, chunk));
    let order = ["packets", "bursts", "cwnd", "ledger", "ledger_losses", "histograms"];
    // Then connections and samples, by name.
    let place = |name| order.iter().position(|&other| other == name).unwrap_or(order.len());
    whole.sort_by_key(|table| (place(table.name), table.name));
    (Output { summary, tables: whole }, most)
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
