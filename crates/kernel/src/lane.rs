//! Things that arrive in the order they were sent, with one entry in the event queue.

use std::collections::VecDeque;

use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use crate::queue::{EventQueue, Rank, Ticket};

/// A first-in-first-out channel to one place, such as a link: items arrive in the order they were
/// put on it. Only the first of them stands in the event queue, so the queue stays as short as
/// there
/// are lanes; each item keeps the [`Ticket`] of the moment it was put on the lane, so the order of
/// all events is the same as if every item stood in the queue.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Lane<T> {
    items: VecDeque<(Time, Ticket, T)>,
}

impl<T> Default for Lane<T> {
    fn default() -> Self {
        Self { items: VecDeque::new() }
    }
}

impl<T> Lane<T> {
    /// Puts `item` on the lane; it arrives at `at`, announced by `event`.
    ///
    /// # Panics
    /// When `at` is before the arrival of the item in front: the lane would not be in order.
    #[inline]
    pub fn push<E: Copy>(&mut self, queue: &mut EventQueue<E>, at: Time, event: E, item: T) {
        let ticket = queue.ticket(Rank::Arrival);
        self.push_in(queue, at, ticket, event, item);
    }

    /// As [`push`](Self::push), in the place that `ticket` holds.
    ///
    /// # Panics
    /// As [`push`](Self::push).
    #[inline]
    pub fn push_in<E: Copy>(
        &mut self,
        queue: &mut EventQueue<E>,
        at: Time,
        ticket: Ticket,
        event: E,
        item: T,
    ) {
        match self.items.back() {
            None => queue.push_at(at, ticket, event),
            Some(&(last, ..)) => assert!(last <= at, "a lane delivers in order"),
        }
        self.items.push_back((at, ticket, item));
    }

    /// Takes the item whose `event` was just popped, and announces the next one.
    ///
    /// # Panics
    /// When the lane is empty: its event was popped without having been pushed.
    #[inline]
    pub fn pop<E: Copy>(&mut self, queue: &mut EventQueue<E>, event: E) -> T {
        let (_, _, item) = self.items.pop_front().expect("an announced item is on its lane");
        self.announce(queue, event);
        item
    }

    /// The item in front, and when it arrives.
    #[inline]
    #[must_use]
    pub fn front(&self) -> Option<(Time, &T)> {
        self.items.front().map(|(at, _, item)| (*at, item))
    }

    /// Takes the item in front, whose event was popped, or which was never announced. The lane is
    /// to [announce](Self::announce) the next one before anything is put on it.
    #[inline]
    pub fn take(&mut self) {
        self.items.pop_front();
    }

    /// Announces the item in front, which is not in the event queue.
    #[inline]
    pub fn announce<E: Copy>(&self, queue: &mut EventQueue<E>, event: E) {
        if let Some(&(at, ticket, _)) = self.items.front() {
            queue.push_at(at, ticket, event);
        }
    }

    /// Whether nothing is in transit.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Items in transit, each with its time of arrival.
    pub fn timed(&self) -> impl Iterator<Item = (Time, &T)> {
        self.items.iter().map(|(at, _, item)| (*at, item))
    }

    /// Items in transit.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter().map(|(_, _, item)| item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_lanes_interleave_as_they_were_filled() {
        let mut queue = EventQueue::new();
        let (mut a, mut b) = (Lane::default(), Lane::default());
        let t = Time::from_ps(5);
        a.push(&mut queue, Time::ZERO, 'a', 1);
        b.push(&mut queue, t, 'b', 2);
        a.push(&mut queue, t, 'a', 3);
        b.push(&mut queue, t, 'b', 4);
        let mut order = Vec::new();
        while let Some((_, event)) = queue.pop() {
            order.push(match event {
                'a' => a.pop(&mut queue, 'a'),
                _ => b.pop(&mut queue, 'b'),
            });
        }
        assert_eq!(order, [1, 2, 3, 4]);
    }

    #[test]
    #[should_panic(expected = "in order")]
    fn overtaking_is_a_bug() {
        let mut queue = EventQueue::new();
        let mut lane = Lane::default();
        lane.push(&mut queue, Time::from_ps(2), (), ());
        lane.push(&mut queue, Time::from_ps(1), (), ());
    }
}
