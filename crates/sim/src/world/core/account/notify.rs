//! Reports on bursts to senders, and their times: burst ACKs and burst NAKs as nodes write them.

use burstlab_kernel::Rank;
use burstlab_optical::Fibres;
use burstlab_tcp::{Listens, NakDelay, Notice};
use burstlab_units::{Span, Time};

use super::Account;
use crate::scenario::NoticeTransport;
use crate::world::context::Context;
use crate::world::core::burst::Burst;
use crate::world::core::flows::{Address, Flows};
use crate::world::core::payload::{BurstKind, Payload};
use crate::world::core::plan::Plan;
use crate::world::events::Event;
use crate::world::notices::Message;
use crate::world::packet::DataPacket;

/// When a burst leaves, and when it arrives or is lost.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Passage {
    pub(crate) departs: Option<Time>,
    pub(crate) arrives: Option<Time>,
    pub(crate) lost: Option<Time>,
}

impl Passage {
    /// Whether a sender that listens so hears of any of it.
    fn is_heard(&self, listens: &Listens) -> bool {
        self.departs.is_some() && listens.left
            || self.arrives.is_some() && listens.arrived
            || self.lost.is_some() && listens.dropped.is_some()
    }
}

impl Account {
    /// Senders that listen hear what becomes of a burst.
    #[inline]
    pub(crate) fn tell(
        &self,
        plan: &Plan,
        burst: &Burst,
        passage: &Passage,
        flows: &Flows,
        context: &mut Context,
    ) {
        if self.reports && burst.kind == BurstKind::Data {
            tell_senders(plan, burst, passage, flows, context);
        }
    }

    /// They hear of a burst that is closed and lands, all at once, at the end of a route.
    pub(crate) fn notify_ahead(
        &self,
        plan: &Plan,
        (number, payload, route): (u64, &Payload, &[u32]),
        passage: &Passage,
        flows: &Flows,
        context: &mut Context,
    ) {
        if self.reports_fate(payload.kind()) {
            let desk = NoticeDesk::of_route(plan, route, route.len());
            desk.notify(number, payload, passage, flows, context);
        }
    }
}

fn tell_senders(
    plan: &Plan,
    burst: &Burst,
    passage: &Passage,
    flows: &Flows,
    context: &mut Context,
) {
    let desk = NoticeDesk::of_route(plan, &burst.route, burst.hop);
    desk.notify(burst.label, &burst.payload, passage, flows, context);
}

/// The edge and core nodes as far as they write to senders: which report goes to whom, and when.
struct NoticeDesk<'a> {
    fibres: &'a Fibres,
    /// From the ingress of the burst to its egress, and how much of it lies before the dropping
    /// node.
    route: &'a [u32],
    hops: usize,
    /// The access links of senders and of receivers; of a flow back they change places.
    access: [Span; 2],
    in_band: bool,
}

impl<'a> NoticeDesk<'a> {
    /// For a burst of this route, which is lost behind so many fibres if at all.
    fn of_route(plan: &'a Plan, route: &'a [u32], hops: usize) -> Self {
        let scenario = &plan.scenario;
        let (_, receiver, _) = scenario.access.receiver_side();
        Self {
            fibres: &plan.fibres,
            route,
            hops: hops.min(route.len()),
            access: [scenario.access.delay, receiver],
            in_band: scenario.edge.notices == NoticeTransport::InBand,
        }
    }

    /// When what leaves the egress at `sent` is at the ingress.
    fn home(&self, sent: Time) -> Time {
        self.fibres.signal_back(self.route, sent)
    }

    /// Writes to each listening sender of a burst what becomes of it.
    fn notify(
        &self,
        burst: u64,
        payload: &Payload,
        passage: &Passage,
        flows: &Flows,
        context: &mut Context,
    ) {
        // Most flows of most scenarios listen to nothing: their packets are not looked at.
        let listening = |packet: &&DataPacket| {
            !packet.is_cross() && passage.is_heard(&flows.address(packet.flow()).listens)
        };
        let firsts = payload.data.iter().map(|train| &train.first);
        let notified = firsts.filter(listening).map(|packet| packet.flow());
        let mut notified: Vec<u32> = notified.collect();
        notified.sort_unstable();
        notified.dedup();
        for flow in notified {
            let &Address { id, listens, back, .. } = flows.address(flow);
            let is_own = |packet: &DataPacket| !packet.is_cross() && packet.flow() == flow;
            let own = payload.data.iter().filter(|train| is_own(&train.first));
            let packets = own.flat_map(|train| train.packets());
            let mut segments: Vec<u64> = packets.map(|packet| packet.transmission().0).collect();
            segments.sort_unstable();
            segments.dedup();
            let message = |notice| Message {
                flow,
                id,
                notice,
                burst,
                segments: segments.clone(),
                at: Time::MAX,
                in_band: self.in_band,
            };
            if let Some(at) = passage.departs.filter(|_| listens.left) {
                self.send(at, back, message(Notice::Left), context);
            }
            if let Some(at) = passage.arrives.filter(|_| listens.arrived) {
                self.send(self.home(at), back, message(Notice::Arrived), context);
            }
            match (passage.lost, listens.dropped) {
                (Some(at), Some(NakDelay::Path)) => {
                    let at = self.fibres.signal_back(&self.route[..self.hops], at);
                    self.send(at, back, message(Notice::Dropped), context);
                }
                (Some(at), Some(NakDelay::Rtt)) => {
                    let receiver = self.access[usize::from(!back)];
                    let there = self.fibres.signal_over(&self.route[self.hops..], at);
                    let at = self.home(there + receiver + receiver);
                    self.send(at, back, message(Notice::Dropped), context);
                }
                (Some(at), Some(NakDelay::None)) => {
                    let message = Message { in_band: false, ..message(Notice::Dropped) };
                    self.schedule(at, message, context);
                }
                _ => {}
            }
        }
    }

    /// A message is at the ingress at `at`; from there it takes the access link of the sender.
    fn send(&self, at: Time, back: bool, message: Message, context: &mut Context) {
        let sender = self.access[usize::from(back)];
        let arrives = if message.in_band { at } else { at + sender };
        self.schedule(arrives, message, context);
    }

    fn schedule(&self, at: Time, message: Message, context: &mut Context) {
        context.notices.sent += 1;
        let slot = context.notices.keep(Message { at, ..message });
        context.queue.push(at, Rank::Arrival, Event::Notice(slot));
    }
}
