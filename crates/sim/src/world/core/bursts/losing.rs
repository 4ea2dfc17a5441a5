//! The end of a burst, by loss or landing.

use crate::world::core::effects::Effect;
use crate::world::core::notify::{NoticeDesk, Passage};
use burstlab_units::{Span, Time};

use super::Mesh;
use super::burst::{Burst, BurstKind};
use crate::measure::loss::{Loss, LossCause};
use crate::measure::{BurstRow, Ended, HopRow, PacketCause, Recorder, Sort, Step};
use crate::world::context::Context;
use crate::world::packet::DataPacket;
use crate::world::train::Train;

impl Mesh {
    /// A burst is lost at the node its header has come to, unless it is spared.
    pub(super) fn lose(&mut self, now: Time, slot: u32, cause: LossCause, context: &mut Context) {
        let cause = self.cause_of(slot, cause);
        let hop = self.bursts.get(slot).hop;
        if !self.rules.control || !self.goes_beside(now, (slot, hop), cause, context) {
            self.lose_surely(now, slot, cause, context);
        }
    }

    /// Why a burst is lost whose header `stops`: cutting took it, if it left nothing of the burst.
    pub(super) fn cause_of(&self, slot: u32, stops: LossCause) -> LossCause {
        let gone = self.rules.cuts && self.bursts.get(slot).is_cut_to_nothing();
        if gone { LossCause::Cut } else { stops }
    }

    /// A burst is lost before its next fibre, whatever surgery wants.
    pub(super) fn lose_surely(
        &mut self,
        now: Time,
        slot: u32,
        cause: LossCause,
        context: &mut Context,
    ) {
        let hop = self.bursts.get(slot).hop;
        let node = self.number_of(self.node_at(slot, hop));
        self.ends(now, slot, Some(cause), context);
        if !self.fed.is_empty() {
            self.batches.lost += self.bursts.get(slot).payload.of_batches();
        }
        let burst = self.bursts.get_mut(slot);
        let loss = Loss { cause, burst: burst.number, node, port: 0, at: now };
        let payload = std::mem::take(&mut burst.payload);
        self.cross_lost += payload.cross();
        for (flow, _) in self.census.take(&payload.data) {
            self.flows.lost(flow);
        }
        self.bursts.close(slot);
        self.effects.list.push(Effect::Lost(payload, loss, PacketCause::Burst));
    }

    /// Counts and records the end of a burst, and tells who listens.
    pub(super) fn ends(
        &mut self,
        now: Time,
        slot: u32,
        lost: Option<LossCause>,
        context: &mut Context,
    ) {
        let burst = self.bursts.get(slot);
        context.works(burst.payload.trains());
        let node = lost.map(|_| self.node_at(slot, burst.hop));
        let counts = &mut self.counts[burst.kind as usize];
        match lost {
            None => {
                counts.delivered += 1;
                counts.bytes_delivered += burst.load_left;
                counts.bytes_lost += burst.load - burst.load_left;
            }
            Some(_) => {
                counts.lost += 1;
                counts.bytes_lost += burst.load;
                context.digest.add(now, 5, burst.number);
            }
        }
        if burst.copy {
            self.copies[burst.from as usize] -= burst.bytes.get();
        }
        let link = burst.route.get(burst.hop).copied().filter(|_| !burst.struck);
        let ended = Ended {
            sort: self.sort_of(burst),
            from: burst.from,
            to: burst.to,
            hops: burst.planned,
            bytes: burst.bytes,
            packets: burst.packets,
            packets_left: burst.payload.packets(),
            load: burst.load,
            load_left: burst.load_left,
            took: now.since(burst.closed),
        };
        if self.rules.control {
            self.tally.ended(&ended, lost.zip(node), link);
        }
        if lost.is_some() && link.is_some() && self.rules.control {
            self.note((now, slot), Step::Lost, link, Span::ZERO, &mut context.recorder);
        }
        if context.recorder.traces_bursts() {
            context.recorder.burst(&self.row(burst, Some((now, lost))));
            // A request that was refused too often is recorded where it was refused.
            let refused = lost.is_some() && !burst.struck;
            self.record_hops(burst, refused, &mut context.recorder);
        }
        if self.reports && self.rules.control {
            self.tell(now, slot, lost, context);
        }
    }

    /// The row of a burst in the trace; without an end it is still under way.
    pub(super) fn row(&self, burst: &Burst, end: Option<(Time, Option<LossCause>)>) -> BurstRow {
        let lost = end.and_then(|(at, cause)| cause.map(|cause| (at, cause)));
        let node = match burst.hop {
            0 => burst.from,
            _ => self.graph.link(burst.route[burst.hop - 1]).to,
        };
        // On a path the kind of a burst says where it goes, but with data in both directions.
        let told = self.rules.control || self.rules.both_ways;
        BurstRow {
            number: burst.number,
            kind: burst.kind as u8,
            class: burst.class,
            ends: if told { (burst.from + 1, burst.to + 1) } else { (0, 0) },
            hops: burst.planned as u32,
            attempts: burst.attempts,
            rival: burst.blocker,
            packets: burst.packets as usize,
            bytes: burst.bytes,
            load: burst.load,
            opened: burst.opened,
            closed: burst.closed,
            departs: (burst.hop > 0 || !burst.reservations.is_empty() && burst.struck)
                .then_some(burst.departs),
            arrives: match end {
                Some((at, None)) => Some(at),
                Some(_) => None,
                None => Some(Time::MAX),
            },
            lost: lost.map(|(at, cause)| (at, self.number_of(node), cause.into())),
        }
    }

    /// Adds the fibres that a burst was given to the trace, and the one it is refused.
    pub(super) fn record_hops(&self, burst: &Burst, refused: bool, recorder: &mut Recorder) {
        if !self.rules.control {
            return;
        }
        let ends = |link: u32| {
            let link = self.graph.link(link);
            (link.from + 1, link.to + 1)
        };
        let number = burst.number;
        for (hop, reservation) in burst.reservations.iter().enumerate() {
            recorder.hop(&HopRow {
                burst: number,
                hop,
                ends: ends(reservation.link),
                held: Some((reservation.wavelength, reservation.start)),
                departs: reservation.departs,
                length: reservation.passes,
            });
        }
        // A burst may be lost with its next fibre in its hands: its header came too late.
        if refused && burst.reservations.len() == burst.hop {
            self.record_refusal(burst, recorder);
        }
    }

    /// Adds the fibre that a burst asks for in vain to the trace.
    pub(super) fn record_refusal(&self, burst: &Burst, recorder: &mut Recorder) {
        let (number, hop) = (burst.number, burst.hop);
        let Some(&link) = burst.route.get(hop) else { return };
        let ends = (self.graph.link(link).from + 1, self.graph.link(link).to + 1);
        let (departs, length) = (burst.arrives, burst.left);
        recorder.hop(&HopRow { burst: number, hop, ends, held: None, departs, length });
    }

    /// Senders that listen hear of the end of a burst.
    fn tell(&mut self, now: Time, slot: u32, lost: Option<LossCause>, context: &mut Context) {
        let burst = self.bursts.get(slot);
        if burst.kind != BurstKind::Data {
            return;
        }
        let hops = burst.hop.min(burst.route.len());
        let (back, whole) = (self.reach(slot, hops), self.reach(slot, burst.route.len()));
        let on = Span::from_ps(whole.as_ps() - back.as_ps());
        let desk = NoticeDesk::of_route(&self.scenario, back, on, whole);
        let passage = match lost {
            None => Passage { departs: None, arrives: Some(now), lost: None },
            Some(_) => Passage { departs: None, arrives: None, lost: Some(now) },
        };
        desk.notify(burst.number, &self.own_data(slot), &passage, &self.flows, context);
    }

    /// Senders that listen hear that a burst has left its ingress.
    pub(super) fn tell_left(&mut self, slot: u32, context: &mut Context) {
        let burst = self.bursts.get(slot);
        let none = Span::ZERO;
        let desk = NoticeDesk::of_route(&self.scenario, none, none, none);
        let passage = Passage { departs: Some(burst.departs), arrives: None, lost: None };
        desk.notify(burst.number, &self.own_data(slot), &passage, &self.flows, context);
    }

    /// What a burst is counted among.
    #[inline]
    pub(super) fn sort_of(&self, burst: &Burst) -> Sort {
        let class = (!self.rules.burst_classes.is_empty()).then_some(burst.class);
        Sort { kind: burst.kind as usize, class }
    }

    /// The data packets of flows in a burst.
    pub(super) fn own_data(&self, slot: u32) -> Vec<DataPacket> {
        own(&self.bursts.get(slot).payload.data)
    }
}

/// The data packets of flows among these.
pub(super) fn own(data: &[Train<DataPacket>]) -> Vec<DataPacket> {
    let packets = data.iter().flat_map(|train| train.packets());
    packets.filter(|packet| !packet.is_cross()).collect()
}
