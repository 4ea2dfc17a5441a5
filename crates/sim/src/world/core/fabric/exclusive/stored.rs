//! Nodes that store and forward: each packet of a burst crosses by itself.
//!
//! The packets of a train leave back to back, wait at a node for the same packets, and so land
//! evenly (`OpticalPath::store`). Ahead of the clock a train crosses and lands as a whole. By the
//! clock each packet is an event. As one lands, packets behind it land ahead of the clock, up to
//! the first that may not.

use burstlab_units::Time;

use super::{Crossed, Exclusive, NO_SLOT, Stored, Way, outlasts_packet};
use crate::world::core::account::Passage;
use crate::world::core::burst::Closed;
use crate::world::core::effects::{Effect, Landing};
use crate::world::core::payload::BurstKind;
use crate::world::core::scope::Scope;
use crate::world::events::BurstEvent;
use crate::world::packet::{Packet, Parcel};
use crate::world::train::{TimedTrain, Train};

impl Way {
    /// When the last packet of a burst that is closed would land at the latest.
    pub(super) fn would_store(&mut self, closed: &Closed<'_>) -> Time {
        let place = closed.spaced.iter().max().copied().unwrap_or(0);
        let ready = closed.at + self.offset + self.spacing.saturating_mul(place);
        let data = closed.payload.data.iter().map(|train| (train.first.bytes(), train.count));
        let acks = closed.payload.acks.iter().map(|train| (train.first.bytes(), train.count));
        self.path.would_store(ready, data.chain(acks))
    }

    /// The packets of a closed burst cross and land, each by itself. Returns when the first
    /// departs, and when the last lands.
    pub(super) fn stores(&mut self, closed: &Closed<'_>, landing: &mut Landing) -> Crossed {
        let mut crossed = Crossed { departs: Time::MAX, lands: Time::ZERO };
        let mut place = 0;
        for train in &closed.payload.data {
            self.store(closed, train, &mut place, &mut crossed, |one| landing.data.push(one));
        }
        for train in &closed.payload.acks {
            self.store(closed, train, &mut place, &mut crossed, |one| landing.acks.push(one));
        }
        crossed
    }

    /// The same of a train, the first packet of which has this place in the burst.
    fn store<P: Parcel>(
        &mut self,
        closed: &Closed<'_>,
        train: &Train<P>,
        place: &mut usize,
        crossed: &mut Crossed,
        mut land: impl FnMut(TimedTrain<P>),
    ) {
        let (ready, size) = (closed.at + self.offset, train.first.bytes());
        let evenly = match self.spacing.is_zero() {
            true => self.path.store(ready, train.count, size),
            false => None,
        };
        if let Some((departs, times)) = evenly {
            crossed.departs = crossed.departs.min(departs);
            crossed.lands = times.last;
            land(TimedTrain { train: *train, at: times.first, gap: times.gap });
        } else {
            for (index, packet) in (*place..).zip(train.packets()) {
                let spaced = closed.spaced.get(index).copied().unwrap_or(0);
                let departure = self.path.start(ready + self.spacing.saturating_mul(spaced), size);
                crossed.departs = crossed.departs.min(departure.departs);
                crossed.lands = self.path.cross(departure, self.fibres.len());
                land(TimedTrain::one(crossed.lands, packet));
            }
        }
        *place += train.count as usize;
    }

    /// The flows of the data in bursts that were closed ahead of the clock, after `now`: those of
    /// each burst once.
    pub(super) fn flows_closed_after(&self, now: Time) -> impl Iterator<Item = u32> {
        let early = self.lane.iter().filter(|stored| stored.slot != NO_SLOT && stored.closed > now);
        let data = early.filter_map(|stored| Some((stored.slot, stored.packet.data()?)));
        let mut all: Vec<(u32, u32)> = data
            .filter(|(_, packet)| !packet.is_cross())
            .map(|(slot, packet)| (slot, packet.flow()))
            .collect();
        all.sort_unstable();
        all.dedup();
        all.into_iter().map(|(_, flow)| flow)
    }
}

impl Exclusive {
    /// The packets of a burst set out one by one: each is stored and forwarded by itself, and where
    /// the burst is to be late it `stays` in it. The caller clears the payload of the others.
    pub(super) fn forward(
        &mut self,
        (now, slot): (Time, u32),
        (number, stays): (usize, bool),
        spaced: &[u64],
        scope: &mut Scope,
    ) -> Passage {
        let (way, burst) = (&mut self.paths[number], scope.common.bursts.get_mut(slot));
        let event = BurstEvent::Stored.of(number as u32);
        let (hops, ready, count) = (way.fibres.len(), now + way.offset, burst.packets as usize);
        let scheduled_loss = burst.scheduled_loss.is_some();
        let data = burst.payload.data.iter().flat_map(|train| train.packets()).map(Packet::Data);
        let acks = burst.payload.acks.iter().flat_map(|train| train.packets()).map(Packet::Ack);
        let mut passage = Passage::default();
        for (index, packet) in data.chain(acks).enumerate() {
            let place = spaced.get(index).copied().unwrap_or(0);
            let ready = ready + way.spacing.saturating_mul(place);
            let departure = way.path.start(ready, packet.bytes());
            scope.context.recorder.departed((packet.row(), 1), departure.departs);
            passage.departs.get_or_insert(departure.departs);
            let at = way.path.cross(departure, burst.hop);
            if scheduled_loss {
                passage.lost = Some(at);
                continue;
            }
            passage.arrives = Some(at);
            if stays {
                continue;
            }
            let stored = Stored { slot, packet, last: index + 1 == count, closed: now };
            way.lane.push(&mut scope.context.queue, at, event, stored);
        }
        assert!(scheduled_loss || burst.hop == hops, "it crosses all fibres");
        burst.departs = passage.departs.unwrap_or(now);
        passage
    }

    /// The next packet that was stored and forwarded is at its egress.
    pub(crate) fn unload(&mut self, now: Time, number: u32, scope: &mut Scope) {
        let path = number as usize;
        let until = scope.context.ahead.landing(path);
        if until > Time::ZERO && self.unload_those_behind((path, until), scope) {
            return;
        }
        let event = BurstEvent::Stored.of(number);
        let Stored { slot, packet, last, .. } =
            self.paths[path].lane.pop(&mut scope.context.queue, event);
        if slot == NO_SLOT {
            scope.common.account.landed_alone(BurstKind::of(&packet), packet.bytes());
        } else if last {
            scope.ended((now, slot), None);
            scope.common.bursts.close(slot);
        }
        scope.common.effects.list.push(Effect::Left(now, packet));
    }

    /// The packet in front is there: it lands, and ahead of the clock those behind it, up to the
    /// first that may not. Returns whether any does.
    fn unload_those_behind(&mut self, (path, until): (usize, Time), scope: &mut Scope) -> bool {
        let (operated, mut landed) = (!scope.context.surgery.is_empty(), 0);
        while let Some((at, &Stored { slot, packet, last, .. })) = self.paths[path].lane.front()
            && at <= until
            && !(operated && slot != NO_SLOT)
            && outlasts_packet(&packet, &scope.common.flows, &scope.context.ahead)
        {
            self.paths[path].lane.take();
            landed += 1;
            // With data in both directions packets of the other one may come between two.
            let in_turn = slot != NO_SLOT || scope.common.plan.scenario.access.shared;
            scope.common.effects.landing.add(at, packet, in_turn);
            if slot == NO_SLOT {
                scope.common.account.landed_alone(BurstKind::of(&packet), packet.bytes());
            } else if last {
                scope.ended((at, slot), None);
                scope.common.bursts.close(slot);
            }
        }
        if landed > 0 {
            scope.context.work += landed;
            let event = BurstEvent::Stored.of(path as u32);
            self.paths[path].lane.announce(&mut scope.context.queue, event);
        }
        landed > 0
    }
}
