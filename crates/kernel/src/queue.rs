//! Events in total order: by time, then rank, then insertion, or a draw.

use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use crate::random::Stream;

/// Which of two events at the same instant comes first, whatever the order of insertion.
///
/// Timers precede arrivals: a burst whose timer ends at the instant a packet arrives leaves without
/// that packet, so that a timer of T_b collects the packets of [t, t + T_b).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// A timer fires.
    Timer,
    /// Something arrives.
    Arrival,
}

/// A place in the order of one instant: rank first, then insertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Ticket(u64);

const ARRIVAL_BIT: u64 = 1 << 63;
const FIXED_BIT: u64 = 1 << 62;
/// Places that are issued begin behind this one.
const FIRST: u64 = 1 << 32;

impl Ticket {
    /// The place of an event at `place` before all else of its instant.
    #[inline]
    #[must_use]
    pub fn first(place: u32) -> Self {
        Self(u64::from(place))
    }

    /// The place of what happens at `place`, behind all places that were issued: at one instant
    /// such events go by their place, whoever queued them first. For events that may be queued
    /// earlier or later without a difference.
    #[inline]
    #[must_use]
    pub fn fixed(rank: Rank, place: u32) -> Self {
        Self(match rank {
            Rank::Timer => FIXED_BIT | u64::from(place),
            Rank::Arrival => ARRIVAL_BIT | FIXED_BIT | u64::from(place),
        })
    }
}

/// A queue of events, each at an instant; ties are broken by [`Rank`] and then first in, first out,
/// or by a [draw](EventQueue::with_drawn_ties).
///
/// A 4-ary heap. The place of a popped event stays open until the next push or pop: nearly every
/// event is followed by the next one of its kind, which then sinks once from the top instead of
/// being lifted from the bottom after the bottom was moved to the top.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EventQueue<E> {
    heap: Vec<Entry<E>>,
    /// Whether the first entry of `heap` has been popped.
    open: bool,
    issued: u64,
    /// The stream of random numbers that orders ties, in place of insertion.
    draws: Option<Stream>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Entry<E> {
    at: u64,
    ticket: u64,
    event: E,
}

impl<E> Entry<E> {
    /// Time in the upper half, ticket in the lower: one comparison settles both. As one number in
    /// the entry it would take more room, which is what costs as entries move.
    #[inline(always)]
    fn key(&self) -> u128 {
        u128::from(self.at) << 64 | u128::from(self.ticket)
    }
}

/// A place among those that are issued.
#[inline(never)]
fn drawn(stream: &Stream, ordinal: u64) -> u64 {
    let [share, _] = stream.uniforms(ordinal);
    FIRST + (share * (FIXED_BIT >> 1) as f64) as u64
}

/// Children of a heap entry.
const WAYS: usize = 4;

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self { heap: Vec::new(), open: false, issued: FIRST, draws: None }
    }
}

impl<E: Copy> EventQueue<E> {
    /// An empty queue.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty queue in which the order of ties of one rank is drawn by `stream`, a number for
    /// each place that is issued.
    #[must_use]
    pub fn with_drawn_ties(stream: Stream) -> Self {
        Self { draws: Some(stream), ..Self::default() }
    }

    /// Whether the order of ties is drawn.
    #[inline]
    #[must_use]
    pub fn draws_ties(&self) -> bool {
        self.draws.is_some()
    }

    /// Takes the next place in the order, for an event that is pushed later (see [`Lane`]).
    ///
    /// [`Lane`]: crate::Lane
    #[inline]
    pub fn ticket(&mut self, rank: Rank) -> Ticket {
        self.issued += 1;
        let place = match &self.draws {
            None => self.issued,
            Some(stream) => drawn(stream, self.issued),
        };
        Ticket(match rank {
            Rank::Timer => place,
            Rank::Arrival => place | ARRIVAL_BIT,
        })
    }

    /// Adds an event at `at`, behind all events of the same instant and rank.
    #[inline]
    pub fn push(&mut self, at: Time, rank: Rank, event: E) {
        let ticket = self.ticket(rank);
        self.push_at(at, ticket, event);
    }

    /// Adds an event at `at` in the place that `ticket` holds.
    #[inline]
    pub fn push_at(&mut self, at: Time, ticket: Ticket, event: E) {
        let entry = Entry { at: at.as_ps(), ticket: ticket.0, event };
        if self.open {
            self.open = false;
            self.sink(entry);
        } else {
            self.heap.push(entry);
            self.rise(entry);
        }
    }

    /// When the earliest event is.
    #[must_use]
    pub fn next_at(&mut self) -> Option<Time> {
        self.settle();
        self.heap.first().map(|first| Time::from_ps(first.at))
    }

    /// Removes the earliest event.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, E)> {
        self.settle();
        let first = self.heap.first()?;
        self.open = true;
        Some((Time::from_ps(first.at), first.event))
    }

    /// Fills the place of the popped event with the last entry.
    #[inline]
    fn settle(&mut self) {
        if self.open {
            self.open = false;
            if let Some(last) = self.heap.pop()
                && !self.heap.is_empty()
            {
                self.sink(last);
            }
        }
    }

    /// Places `entry` from the top downwards.
    #[inline]
    fn sink(&mut self, entry: Entry<E>) {
        let heap = &mut self.heap[..];
        let mut place = 0;
        while let Some(children) = heap.get(place * WAYS + 1..) {
            // Two rounds of a knock-out where all four are there: no comparison waits for another.
            let least = match children {
                [a, b, c, d, ..] => {
                    let left = usize::from(b.key() < a.key());
                    let right = 2 + usize::from(d.key() < c.key());
                    if children[right].key() < children[left].key() { right } else { left }
                }
                [a, b, c] if c.key() < a.key() && c.key() < b.key() => 2,
                [a, b, ..] => usize::from(b.key() < a.key()),
                [_] => 0,
                [] => break,
            };
            if entry.key() < children[least].key() {
                break;
            }
            let child = place * WAYS + 1 + least;
            heap[place] = heap[child];
            place = child;
        }
        heap[place] = entry;
    }

    /// Places `entry` from the bottom upwards.
    #[inline]
    fn rise(&mut self, entry: Entry<E>) {
        let heap = &mut self.heap[..];
        let mut place = heap.len() - 1;
        while place > 0 {
            let parent = (place - 1) / WAYS;
            if heap[parent].key() <= entry.key() {
                break;
            }
            heap[place] = heap[parent];
            place = parent;
        }
        heap[place] = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::RandomSource;
    use proptest::prelude::*;

    #[test]
    fn ties_are_first_in_first_out_and_timers_go_first() {
        let mut queue = EventQueue::new();
        let t = Time::from_ps(7);
        queue.push(t, Rank::Arrival, "first arrival");
        queue.push(t, Rank::Arrival, "second arrival");
        queue.push(t, Rank::Timer, "timer");
        queue.push(Time::ZERO, Rank::Arrival, "earlier");
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).map(|(_, e)| e).collect();
        assert_eq!(order, ["earlier", "timer", "first arrival", "second arrival"]);
    }

    #[test]
    fn fixed_places_are_behind_issued_ones_and_first_ones_before() {
        let mut queue = EventQueue::new();
        queue.push_at(Time::ZERO, Ticket::fixed(Rank::Arrival, 2), 5);
        queue.push_at(Time::ZERO, Ticket::fixed(Rank::Arrival, 1), 4);
        queue.push_at(Time::ZERO, Ticket::fixed(Rank::Timer, 7), 2);
        queue.push(Time::ZERO, Rank::Arrival, 3);
        queue.push(Time::ZERO, Rank::Timer, 1);
        queue.push_at(Time::ZERO, Ticket::first(u32::MAX), 0);
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).map(|(_, e)| e).collect();
        assert_eq!(order, [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn drawn_ties_are_a_permutation_within_their_rank_that_the_seed_decides() {
        let order = |seed| {
            let stream = RandomSource::new(seed, 0).stream("ties");
            let mut queue = EventQueue::with_drawn_ties(stream);
            for event in 0..20 {
                let rank = if event < 10 { Rank::Arrival } else { Rank::Timer };
                queue.push(Time::from_ps(5), rank, event);
            }
            queue.push_at(Time::from_ps(5), Ticket::first(3), 100);
            queue.push_at(Time::from_ps(5), Ticket::fixed(Rank::Timer, 0), 101);
            queue.push(Time::ZERO, Rank::Arrival, 102);
            let order: Vec<_> = std::iter::from_fn(|| queue.pop()).map(|(_, e)| e).collect();
            assert_eq!((order[..2].to_vec(), order[12]), (vec![102, 100], 101), "{order:?}");
            let (mut timers, mut arrivals) = (order[2..12].to_vec(), order[13..].to_vec());
            timers.sort_unstable();
            arrivals.sort_unstable();
            assert!(timers.into_iter().eq(10..20) && arrivals.into_iter().eq(0..10));
            order
        };
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
    }

    #[test]
    fn a_ticket_keeps_its_place() {
        let mut queue = EventQueue::new();
        let early = queue.ticket(Rank::Arrival);
        queue.push(Time::ZERO, Rank::Arrival, 2);
        queue.push_at(Time::ZERO, early, 1);
        assert_eq!(queue.pop(), Some((Time::ZERO, 1)));
    }

    proptest! {
        #[test]
        fn pops_are_a_stable_sort(
            times in proptest::collection::vec((0u64..20, any::<bool>()), 0..200),
        ) {
            let mut queue = EventQueue::new();
            for (index, &(at, timer)) in times.iter().enumerate() {
                let rank = if timer { Rank::Timer } else { Rank::Arrival };
                queue.push(Time::from_ps(at), rank, index);
            }
            let mut expected: Vec<_> = (0..times.len()).collect();
            expected.sort_by_key(|&i| (times[i].0, !times[i].1));
            let popped: Vec<_> = std::iter::from_fn(|| queue.pop()).map(|(_, i)| i).collect();
            prop_assert_eq!(popped, expected);
        }

        #[test]
        fn pushes_between_pops_keep_the_order(
            steps in proptest::collection::vec((any::<bool>(), 0u64..9), 0..300),
        ) {
            // The twin: a list that is searched for its least (time, insertion).
            let (mut queue, mut twin) = (EventQueue::new(), Vec::new());
            for (index, &(pop, at)) in steps.iter().enumerate() {
                if pop {
                    let least = (0..twin.len()).min_by_key(|&place| twin[place]);
                    let expected = least.map(|place| twin.remove(place));
                    let popped = queue.pop().map(|(at, index)| (at.as_ps(), index));
                    prop_assert_eq!(popped, expected);
                } else {
                    queue.push(Time::from_ps(at), Rank::Arrival, index);
                    twin.push((at, index));
                }
            }
        }
    }
}
