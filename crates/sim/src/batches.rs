//! The batches of a scenario, without a run.

use burstlab_kernel::RandomSource;
use burstlab_traffic::{Batch, BatchSources};
use burstlab_units::Time;

use crate::scenario::{Resolved, keys};

/// The first `count` batches, or as many as there are, of an entry of a scenario's `batches`
/// between two nodes with hosts, as a run with this seed and replication has them.
///
/// # Errors
/// The mistake in the entry or the nodes.
pub fn sequence(
    resolved: &Resolved,
    index: usize,
    (from, to): (&str, &str),
    (seed, replication): (u64, u64),
    count: usize,
) -> Result<Vec<Batch>, String> {
    let mut entries = resolved.scenario.batches.iter().zip(&resolved.batches);
    let none = || {
        let entries = resolved.batches.len();
        format!("there is no batches[{index}]: the scenario has {entries} entries")
    };
    let (entry, law) = entries.nth(index).ok_or_else(none)?;
    let (graph, _) = resolved.mesh.as_ref().ok_or_else(none)?;
    let pairs = resolved.pairs(entry.from.as_ref(), entry.to.as_ref());
    let ends =
        pairs.into_iter().find(|ends| graph.name(ends.0) == from && graph.name(ends.1) == to);
    let ends = ends.ok_or_else(|| format!("batches[{index}] does not go from {from} to {to}"))?;
    let random = RandomSource::new(seed, replication);
    // As many as are asked for, however long the scenario runs.
    let names = keys(resolved.scenario.batches.iter().map(|one| one.name.as_ref()));
    let sources = BatchSources::new(&names[index], law.clone(), Time::NEVER);
    Ok(sources.between(ends, &random).take(count).collect())
}
