//! The flows that a scenario lists, each with its application; of a connection with data in both
//! directions both.

use std::sync::Arc;

use burstlab_kernel::RandomSource;
use burstlab_units::{Bytes, Span, Time};

use super::{Called, Duplex, Flow, FlowKind};
use crate::scenario::{Resolved, Reverse, Write};

impl FlowKind {
    /// The same for one direction of a connection that has data in both; `back` is the table of
    /// the flow back.
    fn of_both_ways(mut self, back: Option<&Reverse>) -> Self {
        self.ahead = self.ahead.of_both_ways();
        if let Some(back) = back {
            self.label = back.label.clone().unwrap_or_else(|| format!("{} (back)", self.label));
        }
        self
    }
}

/// The script, by its field, that loses packets of a flow as they leave their host: of its data or
/// of its ACKs.
fn scripted(resolved: &Resolved) -> impl Fn(u32) -> Option<&'static str> {
    let loss = &resolved.loss;
    let scripts =
        [("loss.data.departures", &loss.data.script), ("loss.ack.departures", &loss.ack.script)];
    let named = scripts.map(|(field, script)| (field, script.flow, script.departures.is_empty()));
    move |id| named.into_iter().find(|&(_, flow, none)| flow == id && !none).map(|one| one.0)
}

impl Flow {
    /// The flows of a scenario that are there from the beginning, numbered in order.
    pub(in crate::world) fn all(resolved: &Resolved, random: &RandomSource) -> Vec<Self> {
        let mut flows = Vec::new();
        // Flows of entries without a name so far.
        let mut unnamed = 0;
        let (starts, script_of) = (random.stream("flows/spread"), scripted(resolved));
        let entries = resolved.scenario.flows().iter().zip(&resolved.tcp);
        for ((one, config), &ends) in entries.zip(&resolved.flow_ends) {
            let cells = resolved.scenario.wlan.iter().map(|wlan| wlan.seats(one));
            let on_air = cells.fold([false; 2], |all, one| [all[0] || one[0], all[1] || one[1]]);
            let (name, label) = (one.name.as_ref(), one.label.as_ref());
            let called = Called { table: "flows", name, label };
            let kind = FlowKind::new(resolved, &called, one.class, config);
            let kind = kind.with_stations(on_air).with_stack(one).closing(one.closes);
            let back =
                one.reverse.as_ref().map(|back| Arc::new(kind.clone().of_both_ways(Some(back))));
            let kind = if back.is_some() { kind.of_both_ways(None) } else { kind };
            let kind = Arc::new(kind);
            for copy in 0..one.count {
                if !resolved.watch.at(flows.len()) {
                    return flows;
                }
                let id = flows.len() as u32;
                let directions = 1 + u64::from(back.is_some());
                let key = kind.keys.key(u64::from(copy) * directions, unnamed);
                unnamed += if kind.keys.are_named() { 0 } else { directions };
                let start = Time::ZERO + one.start + one.stagger.saturating_mul(u64::from(copy));
                let [later, _] = starts.uniforms(key);
                let start = start + Span::from_ps((later * one.spread.as_ps() as f64) as u64);
                let writes = writes(start, one.bytes, one.script.as_ref());
                // Its packets are counted as they leave, each at its time.
                let own =
                    script_of(id).map(|field| Arc::new(kind.as_ref().clone().scripted(field)));
                let own = own.as_ref().unwrap_or(&kind);
                flows.push(Self::new((id, key), own, ends, start, writes));
                if let (Some(kind), Some(reverse)) = (&back, &one.reverse) {
                    flows.push(Self::back(kind, (start, reverse), (id, key, ends)));
                    flows[id as usize].goes_with(Duplex::new(id + 1, false, None));
                }
            }
        }
        flows
    }

    /// It is one direction of a connection that has data in both.
    fn goes_with(&mut self, duplex: Box<Duplex>) {
        self.duplex = Some(duplex);
        self.near.sender_mut().go_both_ways();
    }

    /// The flow back of flow `id`, which starts at `start` between these nodes.
    fn back(
        kind: &Arc<FlowKind>,
        (start, reverse): (Time, &Reverse),
        (id, key, (from, to)): (u32, u64, (u32, u32)),
    ) -> Self {
        let replies = reverse.reply.then_some(reverse.start);
        // When it begins to reply nobody knows; its writes are counted from there.
        let start = if reverse.reply { Time::MAX } else { start + reverse.start };
        let since = if reverse.reply { Time::ZERO } else { start };
        let writes = writes(since, reverse.bytes, reverse.script.as_ref());
        let mut flow = Self::new((id + 1, key.wrapping_add(1)), kind, (to, from), start, writes);
        flow.goes_with(Duplex::new(id, true, replies));
        flow
    }
}

/// The writes of an application that begins at `start`, last first; `None`: they never end.
fn writes(
    start: Time,
    bytes: Option<Bytes>,
    script: Option<&Vec<Write>>,
) -> Option<Vec<(Time, u64)>> {
    let whole = bytes.map(|bytes| vec![Write { at: Span::ZERO, bytes }]);
    let script = script.cloned().or(whole);
    script.map(|script| {
        let write = |write: &Write| (start + write.at, write.bytes.get());
        script.iter().rev().map(write).collect()
    })
}
