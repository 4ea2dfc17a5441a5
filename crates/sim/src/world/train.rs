//! Trains: packets of one flow that follow one another evenly. A train costs as much as one packet.
//!
//! The packets of a train differ only in their number, which rises by a fixed step. A `TimedTrain`
//! also has a fixed gap between their times. So packet n is computed from the first one, and a
//! train can be cut at any packet without loss. A packet joins a train only if its number and its
//! time continue both progressions exactly. A single packet is a train too.

use burstlab_kernel::Lane;
use burstlab_tcp::PacketRun;
use burstlab_units::{Bytes, Span, Time};
use serde::{Deserialize, Serialize};

use super::packet::Parcel;

/// Packets alike in all but their number, which rises by the same step from each to the next. One
/// packet is a train too.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Train<P> {
    pub(super) first: P,
    pub(super) count: u32,
    pub(super) step: u32,
}

impl<P: Parcel> Train<P> {
    /// One packet.
    #[inline]
    pub(super) fn one(first: P) -> Self {
        Self { first, count: 1, step: 0 }
    }

    /// Packet `index`, from 0.
    #[inline]
    pub(super) fn packet(&self, index: u32) -> P {
        self.first.after(u64::from(self.step) * u64::from(index), index)
    }

    pub(super) fn packets(self) -> impl Iterator<Item = P> {
        (0..self.count).map(move |index| self.packet(index))
    }

    /// Bytes of all.
    #[inline]
    pub(super) fn bytes(&self) -> Bytes {
        Bytes::new(self.first.bytes().get() * u64::from(self.count))
    }

    /// Lets the train behind it join, if its numbers go on as those of this one.
    #[inline]
    pub(super) fn admits(&mut self, next: &Self) -> bool {
        let distance = next.first.distance(&self.first).map(u32::try_from);
        let Some(Ok(distance)) = distance else { return false };
        let step = match (self.count, next.count) {
            (1, 1) => distance,
            (1, _) => next.step,
            _ => self.step,
        };
        let joins = (next.count == 1 || next.step == step)
            && u64::from(distance) == u64::from(step) * u64::from(self.count)
            && next.first.row_follows(&self.first, self.count);
        if joins {
            self.step = step;
            self.count += next.count;
        }
        joins
    }

    /// Cuts it behind its first `count` packets; returns the others.
    pub(super) fn split_off(&mut self, count: u32) -> Self {
        let rest = Self { first: self.packet(count), count: self.count - count, ..*self };
        self.count = count;
        rest
    }
}

/// A train at a place, now or at its own times.
pub(super) trait Timed<P> {
    fn train(&self) -> &Train<P>;
    /// When its first packet is there, and the time from each to the next.
    fn ready(&self, now: Time) -> (Time, Span);
}

impl<P> Timed<P> for Train<P> {
    #[inline]
    fn train(&self) -> &Self {
        self
    }

    #[inline]
    fn ready(&self, now: Time) -> (Time, Span) {
        (now, Span::ZERO)
    }
}

impl<P> Timed<P> for TimedTrain<P> {
    #[inline]
    fn train(&self) -> &Train<P> {
        &self.train
    }

    #[inline]
    fn ready(&self, _: Time) -> (Time, Span) {
        (self.at, self.gap)
    }
}

/// A train that will be at one place, evenly spaced in time.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct TimedTrain<P> {
    pub(super) train: Train<P>,
    /// When its first packet is there.
    pub(super) at: Time,
    /// Time from each packet to the next.
    pub(super) gap: Span,
}

impl<P: Parcel> TimedTrain<P> {
    /// One packet.
    #[inline]
    pub(super) fn one(at: Time, packet: P) -> Self {
        Self { train: Train::one(packet), at, gap: Span::ZERO }
    }

    /// At `most` so many packets in front of a lane, as far as they go on evenly.
    pub(super) fn in_front(lane: &Lane<P>, most: usize) -> Option<Self> {
        let mut packets = lane.timed().take(most);
        let (at, &first) = packets.next()?;
        let mut train = Self::one(at, first);
        while packets.next().is_some_and(|(at, packet)| train.admits(at, packet)) {}
        Some(train)
    }

    /// The train `run` of which this is the first packet.
    #[inline]
    pub(super) fn of(run: &PacketRun, first: P) -> Self {
        let train = Train { first, count: run.count, step: run.step };
        Self { train, at: run.at, gap: run.gap }
    }

    /// As an endpoint takes it, numbered from `first` on.
    #[inline]
    pub(super) fn run(&self, first: u64) -> PacketRun {
        let Self { train, at, gap } = self;
        PacketRun { first, count: train.count, step: train.step, at: *at, gap: *gap }
    }

    /// Their rows in the trace: the first, and how many.
    #[inline]
    pub(super) fn rows(&self) -> (u32, u32) {
        (self.train.first.row(), self.train.count)
    }

    /// When the packet behind packet `index` is there, if there is one.
    #[inline]
    pub(super) fn after(&self, index: u32) -> Option<Time> {
        (index + 1 < self.train.count).then(|| self.at(index + 1))
    }

    /// When packet `index` is there.
    #[inline]
    pub(super) fn at(&self, index: u32) -> Time {
        self.at + self.gap.saturating_mul(u64::from(index))
    }

    /// Lets a packet that comes later join, if it goes on as the train does.
    #[inline]
    pub(super) fn admits(&mut self, at: Time, packet: &P) -> bool {
        let Some(step) = packet.distance(&self.train.first) else { return false };
        let count = self.train.count;
        if !packet.row_follows(&self.train.first, count) {
            return false;
        }
        if count == 1 {
            let Ok(step) = u32::try_from(step) else { return false };
            (self.train.step, self.gap) = (step, at.since(self.at));
        } else if step != u64::from(self.train.step) * u64::from(count) || at != self.at(count) {
            return false;
        }
        self.train.count += 1;
        true
    }

    /// Lets a train that comes later join, if it goes on as this one does; two packets make a train
    /// only where they are `next` to each other.
    #[inline]
    pub(super) fn admits_train(&mut self, other: &Self, next: bool) -> bool {
        let distance = other.train.first.distance(&self.train.first).map(u32::try_from);
        let Some(Ok(distance)) = distance else { return false };
        let (step, gap) = match (self.train.count, other.train.count) {
            (1, 1) if next => (distance, other.at.since(self.at)),
            (1, 1) => return false,
            (1, _) => (other.train.step, other.gap),
            _ => (self.train.step, self.gap),
        };
        let alike = other.train.count == 1 || (other.train.step, other.gap) == (step, gap);
        let count = u64::from(self.train.count);
        let joins = alike
            && u64::from(distance) == u64::from(step) * count
            && other.at == self.at + gap.saturating_mul(count)
            && other.train.first.row_follows(&self.train.first, self.train.count);
        if joins {
            (self.train.step, self.gap) = (step, gap);
            self.train.count += other.train.count;
        }
        joins
    }

    /// How many packets are there before `now`; at least one is.
    #[inline(always)]
    pub(super) fn before(&self, now: Time) -> u32 {
        if self.at(self.train.count - 1) < now {
            return self.train.count;
        }
        // The last is not there, so that the gap is not zero.
        now.since(self.at).as_ps().div_ceil(self.gap.as_ps()) as u32
    }

    /// Bytes of those that are there before `now`.
    #[inline]
    pub(super) fn bytes_before(&self, now: Time) -> u64 {
        let count = if self.at < now { self.before(now) } else { 0 };
        u64::from(count) * self.train.first.bytes().get()
    }

    /// Takes the packets out that are there before `now`; at least one is.
    #[inline(always)]
    pub(super) fn split_before(&mut self, now: Time) -> Self {
        let mut due = *self;
        let count = self.before(now);
        if count == self.train.count {
            self.train.count = 0;
            return due;
        }
        self.at = self.at(count);
        self.train = due.train.split_off(count);
        due
    }

    /// Leaves the first `count` packets out.
    #[inline]
    pub(super) fn skip(&mut self, count: u32) {
        (self.at, self.train.first) = (self.at(count), self.train.packet(count));
        self.train.count -= count;
    }
}
