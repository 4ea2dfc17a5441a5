//! Which tables may be recorded ahead of the clock: a row that comes early has to be put where an
//! event-driven run has it.
//!
//! - `ledger`: each of its rows is made by an event, since hosts that are ahead of the clock have
//!   none. Events come in the same order in both runs.
//! - `bursts`: on a path that nodes pass bursts whole, a row knows when its burst ends, and its
//!   label (`measure/burst_rows`). Elsewhere bursts are closed and land by the clock (`policy`).
//! - `cwnd`: a row knows its time and its place in the order of an instant (`measure/ordered`).
//!   That is the place of the event that the ACK or the timer would have. Third-party stacks,
//!   wireless cells, shared links and data in both directions have rows from other events.
//! - `packets`: a row has a name from the instant at which its packet is processed, so that the row
//!   can be changed. It knows when the packet is sent, and in which turn of that instant: the turn
//!   of the event that its host would have (`measure/early`). Where `cwnd` has rows from other
//!   events, `packets` has too. In slots, and where nodes store and forward, the run is
//!   event-driven.

use crate::measure::Trace;
use crate::scenario::{CoreForwarding, Resolved};

/// Whether a run that records these tables is event-driven. One that ends with a burst may go back,
/// but not behind rows that it has handed over.
pub(super) fn keeps_to_the_clock(resolved: &Resolved, trace: Trace) -> bool {
    let scenario = &resolved.scenario;
    let others = resolved.needs_stacks()
        || !scenario.wlan.is_empty()
        || scenario.access.shared
        || scenario.goes_both_ways();
    let stores = scenario.core.forwarding == CoreForwarding::StoreAndForward;
    let packets = trace.packets && (others || stores || scenario.kind().is_slotted());
    trace.event_driven
        || packets
        || trace.datagrams
        || trace.cwnd && others
        || trace != Trace::default() && scenario.run.bursts.is_some()
}

/// Whether rows of bursts are in the order in which bursts end, so that they may come earlier.
pub(in crate::world) fn records_bursts_early(resolved: &Resolved) -> bool {
    let scenario = &resolved.scenario;
    scenario.kind().is_path()
        && scenario.core.forwarding == CoreForwarding::CutThrough
        && !scenario.goes_both_ways()
}
