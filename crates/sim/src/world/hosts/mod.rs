//! The hosts: connections with their senders and receivers, and the demands that they come from.
//! They know packets and TCP, and nothing of what lies between them.

mod arrivals;
mod carrying;
mod connection;
mod demand;
mod duplex;
mod ideal;
mod option_table;
mod options;
mod piggyback;
mod receiver;
mod resent;
mod sender;
mod stack;
mod taken_ahead;
mod turnover;

use burstlab_kernel::{RandomSource, Stream};
use burstlab_tcp::{FullAck, Transmission};
use serde::{Deserialize, Serialize};

pub(super) use self::connection::{Achieved, AckOutlet, Flow, Noted};
use self::demand::Demands;
pub(super) use self::options::Verdict;
pub(super) use self::stack::{FAR, NEAR, is_dead};
use super::packet::{AckPacket, DataPacket};
use crate::scenario::{Resolved, ScenarioError};
use crate::world::ahead::policy::Listed;

/// All connections.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Hosts {
    /// By slot.
    pub(super) flows: Vec<Flow>,
    pub(super) demands: Demands,
    /// Draws the delays of `send_jitter`.
    jitter: Stream,
    /// The fault of a third-party host that ends the run. Not stored: a run with such hosts is not.
    #[serde(skip)]
    fault: Option<Box<ScenarioError>>,
    /// The segments that a sender sends. Not stored: a buffer, empty between two events.
    #[serde(skip)]
    pub(super) sending: Vec<Transmission>,
    /// The same, on the fast path. Not stored: a buffer, empty between two events.
    #[serde(skip)]
    pub(super) released: Vec<DataPacket>,
    /// Draws marks of queues.
    marks: Stream,
    /// The ACKs that the receiver of a connection with options sends. Not stored: a buffer, empty
    /// between two events.
    #[serde(skip)]
    pub(super) full_acks: Vec<FullAck>,
    /// All of its packets but the first. Not stored: a buffer, empty between two events.
    #[serde(skip)]
    pub(super) more_acks: Vec<AckPacket>,
}

impl Hosts {
    pub(super) fn new(resolved: &Resolved, random: &RandomSource) -> Self {
        let mut flows = Flow::all(resolved, random);
        stack::seat(&mut flows, resolved, random);
        Self {
            flows,
            demands: Demands::new(resolved, random),
            jitter: random.stream("send-jitter"),
            fault: None,
            sending: Vec::new(),
            released: Vec::new(),
            marks: random.stream("marks"),
            full_acks: Vec::new(),
            more_acks: Vec::new(),
        }
    }

    /// Takes what is not stored from the hosts of the same scenario; `None` where they are of
    /// another.
    pub(super) fn adopt(&mut self, fresh: Self) -> Option<()> {
        self.demands.adopt(fresh.demands);
        for flow in self.flows.iter_mut().filter(|flow| !flow.vacant) {
            let listed = || fresh.flows.get(flow.id as usize).map(|flow| &flow.kind);
            let kind = flow.demand.map_or_else(listed, |demand| self.demands.kind(demand));
            flow.kind = kind?.clone();
        }
        Some(())
    }

    /// Facts of the flows that are there from the beginning, on how far all may be ahead of the
    /// clock. The connection of a third-party stack may end whatever it has to send.
    pub(super) fn facts(&self) -> Listed {
        let any = |holds: fn(&Flow) -> bool| self.flows.iter().any(holds);
        Listed {
            endless: any(|flow| flow.bytes.is_none() && !flow.is_third_party()),
            event_driven: any(|flow| flow.kind.ahead.are_by_the_clock()),
            both_ways: any(|flow| flow.kind.ahead.have_both_ways()),
            in_band: any(|flow| flow.kind.ahead.hear_in_band()),
        }
    }

    /// The fields because of which hosts keep to the clock: of flows that the scenario lists, with
    /// the number of the flow or of the flows, and of demands with the number of the demand.
    pub(super) fn because(&self) -> Vec<String> {
        let mut flows: Vec<(&str, u32, u32)> = Vec::new();
        for flow in self.listed() {
            let Some(field) = flow.kind.ahead.because() else { continue };
            match flows.iter_mut().find(|one| one.0 == field) {
                Some((_, _, count)) => *count += 1,
                None => flows.push((field, flow.id, 1)),
            }
        }
        let flows = flows.into_iter().map(|(field, first, count)| match count {
            1 => format!("{field} of flow {first}"),
            _ => format!("{field} of {count} flows"),
        });
        let demands = (0..).zip(self.demands.kinds()).filter_map(|(number, kind)| {
            kind.ahead.because().map(|field| format!("{field} of demand {number}"))
        });
        flows.chain(demands).collect()
    }

    #[inline]
    pub(super) fn flow(&mut self, slot: u32) -> &mut Flow {
        &mut self.flows[slot as usize]
    }

    /// The flows that the scenario lists.
    pub(super) fn listed(&self) -> impl Iterator<Item = &Flow> {
        self.flows.iter().filter(|flow| flow.demand.is_none() && !flow.vacant)
    }

    /// Connections that are there.
    pub(super) fn live(&self) -> impl Iterator<Item = &Flow> {
        self.flows.iter().filter(|flow| !flow.vacant)
    }
}
