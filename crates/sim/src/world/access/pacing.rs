//! The ACKs that edge nodes hold back before they hand them to the senders' links.

use burstlab_kernel::{Lane, Rank};
use burstlab_link::{AckPacer, AckSpacing};
use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::measure::AckPacingSummary;
use crate::scenario::Resolved;
use crate::world::context::Context;
use crate::world::events::Event;
use crate::world::packet::AckPacket;
use crate::world::tie_key::TieKey;

/// The ACKs of one flow.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Paced {
    /// The flow's number: its slot may hold another one by now.
    id: u32,
    pacer: AckPacer,
    /// The ACKs that are held back.
    waiting: Lane<AckPacket>,
}

/// The ACKs of all flows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::world) struct Pacing {
    /// The spacing, if there is one.
    spacing: Option<AckSpacing>,
    /// In a slotted network: ACKs are held back only where an output on the route of the data is
    /// loaded as much.
    utilization: Option<f64>,
    /// By slot of the flow.
    flows: Vec<Paced>,
    /// ACKs that were held back, how long in all, and the longest.
    delayed: u64,
    sum_ps: u128,
    longest: Span,
}

impl Pacing {
    pub(super) fn new(resolved: &Resolved) -> Self {
        let pacing = resolved.scenario.access.ack_pacing.as_ref();
        Self {
            spacing: resolved.ack_spacing,
            utilization: pacing.and_then(|pacing| pacing.utilization),
            flows: Vec::new(),
            delayed: 0,
            sum_ps: 0,
            longest: Span::ZERO,
        }
    }

    /// Whether ACKs are spaced.
    #[inline(always)]
    pub(in crate::world) fn is_on(&self) -> bool {
        self.spacing.is_some()
    }

    /// The load of an output from which on ACKs are held back, if it matters.
    pub(in crate::world) fn utilization(&self) -> Option<f64> {
        self.utilization
    }

    /// An ACK of the flow with number `id` comes to the edge node of its sender. Returns whether it
    /// leaves at once; otherwise it waits.
    pub(in crate::world) fn comes(
        &mut self,
        (now, packet): (Time, AckPacket),
        (id, held): (u32, bool),
        context: &mut Context,
    ) -> bool {
        let Some(spacing) = &self.spacing else { return true };
        let slot = packet.flow as usize;
        if self.flows.len() <= slot {
            self.flows.resize_with(slot + 1, Paced::default);
        }
        let flow = &mut self.flows[slot];
        if flow.id != id {
            assert!(flow.waiting.is_empty(), "a slot is free when no ACK of its flow is left");
            *flow = Paced { id, ..Paced::default() };
        }
        let at = flow.pacer.comes(now, spacing, held);
        let waits = at.since(now);
        if !waits.is_zero() {
            self.delayed += 1;
            self.sum_ps += u128::from(waits.as_ps());
            self.longest = self.longest.max(waits);
        }
        if waits.is_zero() && flow.waiting.is_empty() {
            return true;
        }
        let ticket = context.ticket(Rank::Arrival, TieKey::ACK_UP.of(packet.flow));
        let event = Event::PacedAck(packet.flow);
        flow.waiting.push_in(&mut context.queue, at, ticket, event, packet);
        false
    }

    /// The next ACK of a flow leaves.
    pub(in crate::world) fn leaves(&mut self, slot: u32, context: &mut Context) -> AckPacket {
        let event = Event::PacedAck(slot);
        self.flows[slot as usize].waiting.pop(&mut context.queue, event)
    }

    /// ACKs that wait.
    pub(super) fn in_flight(&self) -> u64 {
        self.flows.iter().map(|flow| flow.waiting.iter().count() as u64).sum()
    }

    /// The numbers, where ACKs are spaced.
    pub(in crate::world) fn summary(&self) -> Option<AckPacingSummary> {
        self.spacing.as_ref()?;
        let mean = self.sum_ps as f64 / self.delayed.max(1) as f64;
        Some(AckPacingSummary {
            acks_delayed: self.delayed,
            delay_mean_s: mean / 1e12,
            delay_max_s: self.longest.as_secs_f64(),
        })
    }
}
