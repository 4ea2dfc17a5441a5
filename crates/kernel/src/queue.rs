//! Events in total order: by time, then rank, then insertion.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use burstlab_units::Time;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(u64);

const ARRIVAL_BIT: u64 = 1 << 63;

/// A queue of events, each at an instant; ties are broken by [`Rank`] and then first in, first out.
#[derive(Clone, Debug)]
pub struct EventQueue<E> {
    heap: BinaryHeap<Entry<E>>,
    issued: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry<E> {
    at: Time,
    ticket: Ticket,
    event: E,
}

impl<E> Entry<E> {
    fn key(&self) -> (Time, Ticket) {
        (self.at, self.ticket)
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Entry<E> {
    /// Reversed: the heap's greatest entry is the earliest event.
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), issued: 0 }
    }
}

impl<E> EventQueue<E> {
    /// An empty queue.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next place in the order, for an event that is pushed later (see [`Lane`]).
    ///
    /// [`Lane`]: crate::Lane
    #[inline]
    pub fn ticket(&mut self, rank: Rank) -> Ticket {
        self.issued += 1;
        Ticket(match rank {
            Rank::Timer => self.issued,
            Rank::Arrival => self.issued | ARRIVAL_BIT,
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
        self.heap.push(Entry { at, ticket, event });
    }

    /// Removes the earliest event.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, E)> {
        self.heap.pop().map(|entry| (entry.at, entry.event))
    }

    /// When the earliest event is.
    #[inline]
    #[must_use]
    pub fn next_time(&self) -> Option<Time> {
        self.heap.peek().map(|entry| entry.at)
    }

    /// How many events wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
    fn a_ticket_keeps_its_place() {
        let mut queue = EventQueue::new();
        let early = queue.ticket(Rank::Arrival);
        queue.push(Time::ZERO, Rank::Arrival, 2);
        queue.push_at(Time::ZERO, early, 1);
        assert_eq!(queue.pop(), Some((Time::ZERO, 1)));
    }

    proptest! {
        #[test]
        fn pops_are_a_stable_sort(times in proptest::collection::vec((0u64..20, any::<bool>()), 0..200)) {
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
    }
}
