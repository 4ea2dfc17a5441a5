//! Third-party hosts are given to the flows that have them.

use burstlab_kernel::RandomSource;
use burstlab_units::Time;

use super::Stack;
use super::in_transit::Weight;
use crate::scenario::{Back, Connection, LIVE, Resolved};
use crate::world::hosts::connection::Flow;
use crate::world::hosts::piggyback::replies;

/// Asks for the hosts of the flows that have a stack.
///
/// # Panics
/// Where nobody makes them.
pub(in crate::world::hosts) fn seat(
    flows: &mut [Flow],
    resolved: &Resolved,
    random: &RandomSource,
) {
    if !resolved.needs_stacks() {
        return;
    }
    let stacks = resolved.stacks.as_ref().expect("somebody makes the stacks of a scenario");
    let (draws, weight) = (random.stream("stacks"), Weight::default());
    let entries = resolved.scenario.flows().iter();
    let mut each = entries.flat_map(|entry| (0..entry.count).map(move |_| entry));
    let mut rest = flows;
    while let Some(entry) = each.next().filter(|_| !rest.is_empty()) {
        let both = entry.reverse.is_some();
        let (pair, later) = std::mem::take(&mut rest).split_at_mut(1 + usize::from(both));
        rest = later;
        let Some(stack) = &entry.stack else { continue };
        let flow = &pair[0];
        let [share, _] = draws.uniforms(flow.key);
        let connection = Connection {
            flow: flow.id,
            stack: stack.clone(),
            congestion_control: entry.congestion_control.clone(),
            bytes: flow.bytes,
            writes: flow.near.writes().collect(),
            back: pair.get(1).map(written_back),
            streams: entry.streams,
            ecn: entry.ecn,
            // 53 bits, as many as a draw has.
            seed: (share * (1_u64 << 53) as f64) as u64,
        };
        let [near, far] = stacks.hosts(&connection).map(Some);
        let kind = (connection.stack == LIVE, entry.ecn);
        let pairs = if both { vec![[near, None], [far, None]] } else { vec![[near, far]] };
        for (flow, hosts) in pair.iter_mut().zip(pairs) {
            flow.stack = Some(Box::new(Stack::new(hosts, kind, &weight)));
        }
    }
}

/// The writes of the application of a flow back.
fn written_back(flow: &Flow) -> Back {
    let reply = replies(flow);
    let wait = reply.unwrap_or_default();
    let writes = match (flow.near.is_endless(), reply) {
        (false, _) => flow.near.writes().map(|(at, bytes)| (at + wait, bytes)).collect(),
        (true, Some(_)) => vec![(Time::ZERO + wait, u64::MAX)],
        (true, None) => vec![(flow.near.start(), u64::MAX)],
    };
    Back { bytes: flow.bytes, writes, reply: reply.is_some() }
}
