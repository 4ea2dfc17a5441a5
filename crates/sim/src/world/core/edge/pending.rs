//! Trains that are known to come to one place, most of them long before they do.

use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::world::packet::Parcel;
use crate::world::tie_key::TieKey;
use crate::world::train::TimedTrain;

/// When and where a packet enters: the order in which packets do.
pub(super) type Entry = (Time, TieKey);

/// The least step of time.
pub(super) const INSTANT: Span = Span::from_ps(1);

/// Each flow's trains, in order. Those that come soon are kept apart: only they are looked at each
/// time that some are taken.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Pending<P> {
    near: Vec<TimedTrain<P>>,
    far: Vec<TimedTrain<P>>,
    /// The near ones come before this, or go on from before.
    horizon: Time,
    /// When the first of the far ones comes.
    first_far: Time,
    /// When some were taken last.
    taken: Time,
    /// How often the near ones were filled up.
    refills: u32,
}

/// Where the last train of a flow lies among the far ones of a queue, as long as these stay.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Tail {
    queue: u32,
    refills: u32,
    place: u32,
}

impl Tail {
    /// Of a flow that has no train.
    pub(super) const NONE: Self = Self { queue: u32::MAX, refills: 0, place: 0 };
}

/// So many times are the near ones looked at before others join them.
const LOOKS: u64 = 6;

impl<P> Default for Pending<P> {
    fn default() -> Self {
        let (horizon, first_far, taken) = (Time::ZERO, Time::MAX, Time::ZERO);
        Self { near: Vec::new(), far: Vec::new(), horizon, first_far, taken, refills: 0 }
    }
}

impl<P: Parcel> Pending<P> {
    /// Makes room for so many trains.
    pub(super) fn reserve(&mut self, trains: usize) {
        self.near.reserve(trains);
        self.far.reserve(trains);
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = &TimedTrain<P>> {
        self.near.iter().chain(&self.far)
    }

    /// Adds a train, the last one of whose flow, here or elsewhere, is at `tail`; that goes on with
    /// it where it can, if trains may be joined at all.
    #[inline]
    pub(super) fn push(&mut self, coming: TimedTrain<P>, tail: Option<&mut Tail>, queue: usize) {
        if coming.at < self.horizon {
            self.near.push(coming);
            return;
        }
        let count = self.far.len() as u32;
        if let Some(tail) = tail {
            let here = (tail.queue, tail.refills) == (queue as u32, self.refills);
            if here
                && let Some(last) = self.far.get_mut(tail.place as usize)
                && last.admits_train(&coming, tail.place + 1 == count)
            {
                return;
            }
            *tail = Tail { queue: queue as u32, refills: self.refills, place: count };
        }
        self.first_far = self.first_far.min(coming.at);
        self.far.push(coming);
    }

    /// All that may come before `until`, to be looked at.
    #[inline]
    pub(super) fn near(&mut self, until: Time) -> &mut Vec<TimedTrain<P>> {
        if until > self.horizon {
            self.refill(until);
        }
        self.taken = self.taken.max(until);
        &mut self.near
    }

    /// The near ones are looked at for a while.
    fn refill(&mut self, until: Time) {
        let step = if until > self.taken { until.since(self.taken) } else { Default::default() };
        self.horizon = until.saturating_add(step.saturating_mul(LOOKS));
        self.first_far = Time::MAX;
        self.refills = self.refills.wrapping_add(1);
        let (horizon, first_far, near) = (self.horizon, &mut self.first_far, &mut self.near);
        self.far.retain(|&coming| {
            let stays = coming.at >= horizon;
            if stays {
                *first_far = (*first_far).min(coming.at);
            } else {
                near.push(coming);
            }
            stays
        });
    }

    /// When and where the first enters.
    pub(super) fn head(&self) -> Option<Entry> {
        let entry = |coming: &TimedTrain<P>| (coming.at, coming.train.first.enters_at());
        let near = self.near.iter().map(entry).min();
        if near.is_some_and(|(at, _)| at < self.first_far) {
            return near;
        }
        near.into_iter().chain(self.far.iter().map(entry)).min()
    }

    /// Moves what enters before `until` to `due`, train by train; returns when the first of the
    /// others comes.
    #[inline]
    pub(super) fn split(
        &mut self,
        (until, place): Entry,
        mut due: impl FnMut(TimedTrain<P>),
    ) -> Time {
        if place == TieKey::FIRST {
            return self.split_by(until, |_| until, due);
        }
        // Of what enters at that instant some is before the place.
        let after = until + INSTANT;
        let by = |coming: &TimedTrain<P>| match coming.train.first.enters_at() < place {
            true => after,
            false => until,
        };
        self.split_by(after, by, &mut due)
    }

    /// The same, where each train has an instant `by` which it is split, `until` at the latest.
    #[inline]
    fn split_by(
        &mut self,
        until: Time,
        by: impl Fn(&TimedTrain<P>) -> Time,
        mut due: impl FnMut(TimedTrain<P>),
    ) -> Time {
        let mut first = Time::MAX;
        self.near(until).retain_mut(|coming| {
            let until = by(coming);
            if coming.at < until {
                due(coming.split_before(until));
            }
            let stays = coming.train.count > 0;
            if stays {
                first = first.min(coming.at);
            }
            stays
        });
        first.min(self.first_far)
    }
}
