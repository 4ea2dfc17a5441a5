//! The end of a burst, by loss or landing: it is counted, traced, and reported to senders that
//! listen.

use burstlab_units::{Span, Time};

use super::Account;
use super::notify::Passage;
use super::steps::sort_of;
use crate::measure::loss::LossCause;
use crate::measure::{BurstRow, Ended, HopRow, Recorder, Step};
use crate::world::context::Context;
use crate::world::core::burst::Burst;
use crate::world::core::flows::Flows;
use crate::world::core::payload::Load;
use crate::world::core::plan::Plan;

impl Account {
    /// This burst has ended: it landed, or it is lost before its next fibre.
    pub(crate) fn ended(
        &mut self,
        plan: &Plan,
        (now, burst): (Time, &Burst),
        lost: Option<LossCause>,
        flows: &mut Flows,
        context: &mut Context,
    ) {
        context.works(burst.payload.trains());
        self.count_end(burst, lost, plan.rules.batched);
        if lost.is_some() {
            context.digest.add(now, 5, burst.label);
        }
        let link = burst.route.get(burst.hop).copied().filter(|_| !burst.hit_by_failure);
        if plan.rules.control {
            let ended = Ended {
                sort: sort_of(plan, burst),
                from: burst.from,
                to: burst.to,
                hops: burst.planned,
                bytes: burst.bytes,
                packets: burst.packets,
                packets_left: burst.payload.packets() + burst.dropped,
                load: burst.load,
                load_left: burst.load_left,
                took: now.since(burst.closed),
            };
            let node = lost.map(|_| plan.node_at(burst, burst.hop));
            self.tally.ended(&ended, lost.zip(node), link);
            if lost.is_some() && link.is_some() {
                let toward = (link, Span::ZERO);
                self.step(plan, (now, burst), Step::Lost, toward, &mut context.recorder);
            }
        }
        if context.recorder.traces_bursts() {
            context.recorder.burst(&row(plan, burst, Some((now, lost))));
            // A request that was refused too often is recorded where it was refused.
            let refused = lost.is_some() && !burst.hit_by_failure;
            self.record_hops(plan, burst, refused, &mut context.recorder);
        }
        if plan.rules.control {
            let passage = match lost {
                None => Passage { arrives: Some(now), ..Passage::default() },
                Some(_) => Passage { lost: Some(now), ..Passage::default() },
            };
            self.tell(plan, burst, &passage, flows, context);
        }
        if lost.is_some() {
            self.census.take(&burst.payload.data).for_each(|(flow, _)| flows.lost(flow));
        }
    }

    /// A burst that carries nothing has landed, and nobody looked at it.
    #[inline]
    pub(crate) fn landed_unseen(&mut self, ended: &Ended) {
        self.counts[ended.sort.kind].delivered(1, ended.load_left);
        self.tally.ended(ended, None, None);
    }

    /// Counts a burst, and what it still carries of cross-traffic and batches.
    fn count_end(&mut self, burst: &Burst, lost: Option<LossCause>, batched: bool) {
        let batches = if batched { burst.payload.of_batches() } else { Load::default() };
        let counts = &mut self.counts[burst.kind as usize];
        match lost {
            None => {
                counts.delivered(1, burst.load_left);
                counts.bytes_lost += burst.load - burst.load_left;
                self.batches.delivered += batches;
            }
            Some(_) => {
                counts.lost += 1;
                counts.bytes_lost += burst.load;
                self.batches.lost += batches;
                self.cross_lost += burst.payload.cross();
            }
        }
    }

    /// Adds the fibres that a burst was given to the trace, and the one it is refused.
    pub(crate) fn record_hops(
        &self,
        plan: &Plan,
        burst: &Burst,
        refused: bool,
        recorder: &mut Recorder,
    ) {
        if !plan.rules.control {
            return;
        }
        let number = burst.label;
        for (hop, reservation) in burst.reservations.iter().enumerate() {
            recorder.hop(&HopRow {
                burst: number,
                hop,
                ends: plan.joined_by(reservation.link),
                held: Some((reservation.wavelength, reservation.start)),
                departs: reservation.departs,
                length: reservation.passes,
            });
        }
        // A burst may be lost with its next fibre in its hands: its header came too late.
        if refused && burst.reservations.len() == burst.hop {
            self.record_refusal(plan, burst, recorder);
        }
    }

    /// Adds the fibre that a burst asks for in vain to the trace.
    pub(crate) fn record_refusal(&self, plan: &Plan, burst: &Burst, recorder: &mut Recorder) {
        let (number, hop) = (burst.label, burst.hop);
        let Some(&link) = burst.route.get(hop) else { return };
        let (ends, departs, length) = (plan.joined_by(link), burst.arrives, burst.left);
        recorder.hop(&HopRow { burst: number, hop, ends, held: None, departs, length });
    }
}

/// The row of a burst in the trace; without an end it is still in flight.
pub(super) fn row(plan: &Plan, burst: &Burst, end: Option<(Time, Option<LossCause>)>) -> BurstRow {
    let lost = end.and_then(|(at, cause)| cause.map(|cause| (at, cause)));
    let node = plan.number_of(plan.node_at(burst, burst.hop));
    // On a path the kind of a burst says where it goes, but with data in both directions.
    let named = plan.rules.control || plan.rules.both_ways;
    BurstRow {
        number: burst.label,
        kind: burst.kind as u8,
        class: burst.class,
        ends: if named { (burst.from + 1, burst.to + 1) } else { (0, 0) },
        hops: burst.planned as u32,
        attempts: burst.attempts,
        rival: (burst.blocker > 0).then_some(burst.blocker),
        packets: burst.packets as usize,
        bytes: burst.bytes,
        load: burst.load,
        opened: burst.opened,
        closed: burst.closed,
        departs: (burst.hop > 0 || !burst.reservations.is_empty() && burst.hit_by_failure)
            .then_some(burst.departs),
        arrives: match end {
            Some((at, None)) => Some(at),
            Some(_) => None,
            None => Some(Time::MAX),
        },
        lost: lost.map(|(at, cause)| (at, node, cause.into())),
    }
}
