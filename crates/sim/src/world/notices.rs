//! Burst ACKs and burst NAKs on their way to the senders.

use std::collections::BTreeSet;

use burstlab_tcp::{Listens, NakDelay, Notice};
use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::scenario::{CoreForwarding, NoticeTransport, Resolved, Topology};

/// How long after any burst is closed its sender is told of its loss at the soonest: a sender that
/// acts on what it is told may be ahead of the clock by less. `None`: it goes by the clock, since
/// messages share a link with its ACKs, or come from a network that does not know what becomes of
/// a burst as it is closed.
pub(super) fn lookahead(resolved: &Resolved, listens: Listens) -> Option<Span> {
    let scenario = &resolved.scenario;
    let known = scenario.network.topology == Topology::Path
        && scenario.core.forwarding == CoreForwarding::CutThrough;
    if !known || listens.to_nodes() && scenario.edge.notices == NoticeTransport::InBand {
        return None;
    }
    let Some(delay) = listens.dropped else { return Some(Span::MAX) };
    let (graph, routes) = resolved.graph_and_routes();
    let fibres = &routes.of(0, graph.nodes.len() as u32 - 1)[0];
    let node = resolved.loss.data.node.min(fibres.len() - 1);
    let before = fibres[..node].iter().map(|&fibre| graph.link(fibre).delay);
    let reached = before.fold(Span::ZERO, |sum, delay| sum + delay);
    let told = match delay {
        NakDelay::None => reached,
        NakDelay::Path | NakDelay::Rtt => reached + scenario.access.delay,
    };
    Some(told).filter(|told| !told.is_zero())
}

/// A message to a sender.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Message {
    pub(super) flow: u32,
    /// The flow's number: its slot may hold another one by now.
    pub(super) id: u32,
    pub(super) notice: Notice,
    pub(super) burst: u64,
    pub(super) segments: Vec<u64>,
    /// When it is at the sender, or at the sender's access link.
    pub(super) at: Time,
    /// Whether it has still to cross the sender's access link as a packet.
    pub(super) in_band: bool,
}

/// The messages on their way, by the slot that their event names.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Notices {
    slots: Vec<Option<Message>>,
    free: Vec<u32>,
    /// Those of lost bursts, by flow and time.
    losses: BTreeSet<(u32, Time, u32)>,
    pub(super) sent: u64,
    pub(super) lost: u64,
}

impl Notices {
    /// Keeps a message; returns its slot.
    pub(super) fn keep(&mut self, message: Message) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() as u32 - 1
        });
        if message.notice == Notice::Dropped {
            self.losses.insert((message.flow, message.at, slot));
        }
        self.slots[slot as usize] = Some(message);
        slot
    }

    /// When the next message that a burst is lost reaches the sender of a flow; `MAX`: none is on
    /// its way.
    pub(super) fn next_loss(&self, flow: u32) -> Time {
        let next = self.losses.range((flow, Time::ZERO, 0)..).next();
        next.filter(|(told, ..)| *told == flow).map_or(Time::MAX, |&(_, at, _)| at)
    }

    /// Takes the message of `slot`.
    ///
    /// # Panics
    /// When the slot is empty: its event was queued twice.
    pub(super) fn take(&mut self, slot: u32) -> Message {
        self.free.push(slot);
        let message = self.slots[slot as usize].take().expect("a message waits for its event");
        self.losses.remove(&(message.flow, message.at, slot));
        message
    }
}
