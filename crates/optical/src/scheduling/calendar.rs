//! The reservations of one channel.

use std::collections::VecDeque;

use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

/// A channel is taken from `start` up to, but not including, `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reservation {
    /// When the first bit passes.
    pub start: Time,
    /// When the last bit has passed; later than `start`.
    pub end: Time,
    /// Who reserved it: a number of the caller's.
    pub owner: u128,
}

impl Reservation {
    /// How much of it lies between `from` and `until`.
    fn within(&self, from: Time, until: Time) -> Span {
        let (start, end) = (self.start.max(from), self.end.min(until));
        if start < end { end.since(start) } else { Span::ZERO }
    }
}

/// A stretch in which a channel is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Void {
    /// End of the reservation before it; the start of the run where there is none.
    pub(super) since: Time,
    /// Start of the reservation after it; [`Time::MAX`] where there is none.
    pub(super) until: Time,
}

/// So many of the last reservations are looked at one by one before the others are searched.
const NEAR: usize = 4;

/// The last reservation of a channel.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Tail {
    pub(super) start: Time,
    /// The horizon.
    pub(super) end: Time,
}

/// From `since` to the horizon no free stretch is wider than `widest`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Packed {
    since: Time,
    widest: Span,
}

/// The reservations of one channel, in order of time and without overlap, so that both their starts
/// and their ends rise. Past ones are dropped from the front; new ones are inserted at or near the
/// back.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Calendar {
    ring: VecDeque<Reservation>,
    /// End of the last reservation that was dropped.
    dropped_end: Time,
    /// Time that the dropped reservations took since the measurement began.
    dropped: Span,
    /// The result of the last walk over all voids, kept true by every change since.
    packed: Option<Packed>,
}

impl Calendar {
    /// End of the last reservation; the start of the run where there was none.
    #[inline]
    pub(super) fn horizon(&self) -> Time {
        self.ring.back().map_or(self.dropped_end, |last| last.end)
    }

    /// Start and end of the last reservation; where none is kept, when the last of all ended.
    #[inline]
    pub(super) fn tail(&self) -> Tail {
        let past = Tail { start: self.dropped_end, end: self.dropped_end };
        self.ring.back().map_or(past, |last| Tail { start: last.start, end: last.end })
    }

    /// The void between reservations that contains the whole of [`start`, `end`), if one does.
    #[inline]
    pub(super) fn void(&self, start: Time, end: Time) -> Option<Void> {
        let next = self.first_after(start);
        let since = self.end_before(next);
        let until = self.ring.get(next)?.start;
        (since <= start && end <= until).then_some(Void { since, until })
    }

    /// The place of the first reservation that starts after `start`. It is searched among the last
    /// ones first: most questions are about them, and most channels have few at all.
    #[inline]
    fn first_after(&self, start: Time) -> usize {
        let count = self.ring.len();
        for (back, taken) in self.ring.iter().rev().take(NEAR).enumerate() {
            if taken.start <= start {
                return count - back;
            }
        }
        if count <= NEAR { 0 } else { self.ring.partition_point(|taken| taken.start <= start) }
    }

    #[inline]
    fn end_before(&self, index: usize) -> Time {
        index.checked_sub(1).map_or(self.dropped_end, |before| self.ring[before].end)
    }

    /// The first instant from `ready` on that begins a free stretch of `hold`; gives up at `limit`,
    /// with an instant that is not before it. Walks over the voids in between, but not again over
    /// those that a walk before has found too short: where more comes than passes, all that waits
    /// stands here.
    pub(super) fn first_void(&mut self, ready: Time, hold: Span, limit: Time) -> Time {
        let (mut at, mut widest) = (ready, Span::ZERO);
        let from = self.ring.partition_point(|taken| taken.end <= ready);
        for taken in self.ring.range(from..) {
            if at >= limit || at + hold <= taken.start {
                return at;
            }
            if self.packed.is_some_and(|packed| packed.since <= at && packed.widest < hold) {
                return self.horizon();
            }
            if at < taken.start {
                widest = widest.max(taken.start.since(at));
            }
            at = taken.end;
        }
        self.packed = Some(Packed { since: ready, widest });
        at
    }

    /// The stretch from `end` to `start` has become free, or lies before a new last reservation.
    #[inline]
    fn opens(&mut self, end: Time, start: Time) {
        if let Some(packed) = &mut self.packed {
            packed.widest = packed.widest.max(start.since(end));
        }
    }

    /// Enters a reservation; returns the void in which it lies now.
    ///
    /// # Panics
    /// When it overlaps another one, or is empty.
    #[inline]
    pub(super) fn reserve(&mut self, new: Reservation) -> Void {
        assert!(new.start < new.end, "an empty reservation: {new:?}");
        let horizon = self.horizon();
        if horizon <= new.start {
            self.opens(horizon, new.start);
            self.ring.push_back(new);
            return Void { since: horizon, until: Time::MAX };
        }
        let next = self.first_after(new.start);
        let void = Void { since: self.end_before(next), until: self.start_of(next) };
        assert!(
            void.since <= new.start && new.end <= void.until,
            "{new:?} overlaps another reservation"
        );
        self.ring.insert(next, new);
        void
    }

    #[inline]
    fn start_of(&self, index: usize) -> Time {
        self.ring.get(index).map_or(Time::MAX, |taken| taken.start)
    }

    /// Lets the reservation of `owner` that starts at `start` end at `new_end`, or removes it where
    /// that leaves nothing; returns the voids before and behind it as they were, if there was one.
    ///
    /// # Panics
    /// When `new_end` lies after its end.
    pub(super) fn shorten(&mut self, start: Time, owner: u128, new_end: Time) -> Option<[Void; 2]> {
        let index = self.ring.partition_point(|taken| taken.start < start);
        let before = Void { since: self.end_before(index), until: start };
        let behind = self.start_of(index + 1);
        let taken = self.ring.get_mut(index)?;
        if taken.start != start || taken.owner != owner {
            return None;
        }
        assert!(new_end <= taken.end, "{taken:?} cannot be lengthened to {new_end}");
        let behind = Void { since: taken.end, until: behind };
        let next = if new_end <= start {
            self.ring.remove(index);
            index
        } else {
            taken.end = new_end;
            index + 1
        };
        if let Some(after) = self.ring.get(next).map(|after| after.start) {
            self.opens(self.end_before(next), after);
        }
        Some([before, behind])
    }

    /// Reservations of which some part lies in [`start`, `end`), in order.
    pub(super) fn overlapping(&self, start: Time, end: Time) -> impl Iterator<Item = &Reservation> {
        let from = self.ring.partition_point(|taken| taken.end <= start);
        self.ring.range(from..).take_while(move |taken| taken.start < end)
    }

    /// Drops reservations that ended at or before `past`, each with the void before it, which is
    /// handed to `gone`; counts what of them lies after `origin`.
    #[inline]
    pub(super) fn drop_past(&mut self, past: Time, origin: Time, mut gone: impl FnMut(Void)) {
        while let Some(first) = self.ring.front().filter(|first| first.end <= past) {
            gone(Void { since: self.dropped_end, until: first.start });
            self.dropped += first.within(origin, Time::MAX);
            self.dropped_end = first.end;
            self.ring.pop_front();
        }
    }

    /// Time reserved between `origin` and `until`, which is not before a dropped reservation.
    pub(super) fn busy(&self, origin: Time, until: Time) -> Span {
        let open = self.ring.iter().take_while(|taken| taken.start < until);
        open.fold(self.dropped, |sum, taken| sum + taken.within(origin, until))
    }

    /// Counts from zero again.
    pub(super) fn reset_measure(&mut self) {
        self.dropped = Span::ZERO;
    }

    /// All voids, those without length too.
    #[cfg(test)]
    pub(super) fn voids(&self) -> impl Iterator<Item = Void> {
        let void = |index| Void { since: self.end_before(index), until: self.start_of(index) };
        (0..=self.ring.len()).map(void)
    }

    /// Reservations that are kept.
    pub(super) fn len(&self) -> usize {
        self.ring.len()
    }
}
