//! A wired link: a first-in-first-out queue, a rate and a propagation delay.

use std::collections::VecDeque;

use burstlab_units::{Bytes, Evenly, Rate, Serializer, Span, Time};
use serde::{Deserialize, Serialize};

use crate::marking::{Marker, Marking};

/// A store-and-forward link with a drop-tail queue in front of it, which may mark.
///
/// A packet handed over at `t` leaves the head of the queue when the link is free, takes its
/// serialisation time, and arrives a propagation delay later.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Wire {
    line: Serializer,
    delay: Span,
    free_at: Time,
    queue: Option<Box<Queue>>,
}

/// The queue of a link behind the packet being sent: its limit, and its marking.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Room {
    /// Packets; `None`: no bound.
    pub packets: Option<u32>,
    /// Bytes, those of the packet being sent included as far as they have not left; `None`: no
    /// bound.
    pub bytes: Option<Bytes>,
    /// Which packets are marked; `None`: none.
    pub marking: Option<Marking>,
}

impl From<Option<u32>> for Room {
    fn from(packets: Option<u32>) -> Self {
        Self { packets, ..Self::default() }
    }
}

/// A queue that drops or marks.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Queue {
    packets: Option<usize>,
    /// When those that wait start to be sent, where packets are counted.
    starts: VecDeque<Time>,
    bytes: Option<Bytes>,
    marker: Option<Marker>,
    /// The chance that the packet is marked that was handed over last.
    chance: f64,
}

impl Queue {
    /// A packet of `size` comes at `now` to a link that is free at `free_at`, with `waiting` bytes
    /// before it; returns whether there is room for it. If it waits, it [joins](Self::joins) then.
    fn takes(&mut self, now: Time, size: Bytes, (free_at, waiting): (Time, Bytes)) -> bool {
        while self.starts.front().is_some_and(|&started| started <= now) {
            self.starts.pop_front();
        }
        if self.bytes.is_some_and(|most| waiting + size > most) {
            return false;
        }
        if free_at > now && self.packets.is_some_and(|most| self.starts.len() >= most) {
            return false;
        }
        if let Some(marker) = &mut self.marker {
            self.chance = marker.chance(now, waiting, free_at);
        }
        true
    }

    /// A packet is in the queue that will be sent from `start` on.
    fn joins(&mut self, now: Time, start: Time) {
        if start > now && self.packets.is_some() {
            self.starts.push_back(start);
        }
    }
}

impl Wire {
    /// A link of `rate` and propagation `delay`; `queue` bounds the packets behind the packet being
    /// sent (`None`: no bound).
    #[must_use]
    pub fn new(rate: Rate, delay: Span, queue: impl Into<Room>) -> Self {
        let Room { packets, bytes, marking } = queue.into();
        let bounded = packets.is_some() || bytes.is_some() || marking.is_some();
        let queue = bounded.then(|| {
            Box::new(Queue {
                packets: packets.map(|most| most as usize),
                starts: VecDeque::new(),
                bytes,
                marker: marking.map(Marker::new),
                chance: 0.0,
            })
        });
        Self { line: Serializer::new(rate), delay, free_at: Time::ZERO, queue }
    }

    /// Bytes that have not left at `now`, rounded down.
    #[must_use]
    pub fn waiting(&self, now: Time) -> Bytes {
        let left = u128::from(self.free_at.max(now).since(now).as_ps());
        let bytes = left * u128::from(self.line.rate().as_bps())
            / (8 * u128::from(Span::from_secs(1).as_ps()));
        Bytes::new(u64::try_from(bytes).unwrap_or(u64::MAX))
    }

    /// The probability with which the packet that was handed over last is marked, where the queue
    /// marks at all. The caller then draws, and passes the result to [`settle`](Self::settle).
    #[inline]
    #[must_use]
    pub fn chance(&self) -> Option<f64> {
        let queue = self.queue.as_ref()?;
        queue.marker.as_ref().map(|_| queue.chance)
    }

    /// Whether the packet that was handed over last is marked, or dropped in place of that.
    pub fn settle(&mut self, marked: bool) {
        if let Some(marker) = self.queue.as_mut().and_then(|queue| queue.marker.as_mut()) {
            marker.settle(marked);
        }
    }

    /// Whether the queue drops packets that are not ECN-capable where it would mark others.
    #[must_use]
    pub fn drops_unmarkable(&self) -> bool {
        let queue = self.queue.as_ref();
        queue.and_then(|queue| queue.marker.as_ref()).is_some_and(Marker::drops)
    }

    /// Hands over a packet of `size` at `now`; returns when its last bit arrives at the far end, or
    /// `None` where the queue is full and the packet is dropped. Calls must come in order of time.
    #[inline(always)]
    pub fn send(&mut self, now: Time, size: Bytes) -> Option<Time> {
        if self.queue.is_some() && !self.admits(now, size) {
            return None;
        }
        Some(self.take(now, size))
    }

    /// Takes a packet that the queue [admits](Self::admits) at this time; returns when its last bit
    /// arrives at the far end.
    #[inline(always)]
    pub fn take(&mut self, now: Time, size: Bytes) -> Time {
        let start = now.max(self.free_at);
        if let Some(queue) = &mut self.queue {
            queue.joins(now, start);
        }
        self.free_at = start + self.line.next(size);
        self.free_at + self.delay
    }

    /// Whether the queue has room for a packet of `size` at `now`. It is not in the queue yet: the
    /// caller may ask for its [`chance`](Self::chance), and drop it.
    pub fn admits(&mut self, now: Time, size: Bytes) -> bool {
        let found = (self.free_at, self.waiting(now));
        self.queue.as_mut().is_none_or(|queue| queue.takes(now, size, found))
    }

    /// As [`send`](Self::send), on a link whose queue has no bound.
    #[inline(always)]
    pub fn carry(&mut self, now: Time, size: Bytes) -> Time {
        debug_assert!(self.queue.is_none(), "nothing is dropped");
        self.free_at = now.max(self.free_at) + self.line.next(size);
        self.free_at + self.delay
    }

    /// Hands over `count` packets of `size`, at a time and then each a gap after the one before, on
    /// a link whose queue has no bound. Returns when the first one arrives, and the gap between
    /// arrivals. `None`, and nothing is handed over, where they would not arrive evenly, in whole
    /// picoseconds, or the last one after `limit`.
    #[inline]
    pub fn carry_evenly(
        &mut self,
        ready: (Time, Span),
        count: u32,
        size: Bytes,
        limit: Time,
    ) -> Option<(Time, Span)> {
        let arrivals = self.plan(ready, count, size)?;
        if arrivals.last > limit {
            return None;
        }
        self.follow(&arrivals);
        Some((arrivals.first, arrivals.gap))
    }

    /// When packets would arrive that [`carry_evenly`](Self::carry_evenly) handed over.
    #[inline]
    pub fn plan(&mut self, ready: (Time, Span), count: u32, size: Bytes) -> Option<Evenly> {
        debug_assert!(self.queue.is_none(), "nothing is dropped");
        Some(self.line.evenly(self.free_at, ready, count, size)?.after(self.delay))
    }

    /// Hands packets over that arrive as [planned](Self::plan); nothing was handed over since.
    #[inline]
    pub fn follow(&mut self, arrivals: &Evenly) {
        self.free_at = arrivals.last - self.delay;
    }

    /// Whether the queue is bounded or marks: too many waiting packets are dropped or marked.
    #[inline]
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        self.queue.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marking::MarkingRule;

    const KILOBYTE: Bytes = Bytes::new(1000);

    fn megabit(queue: Option<u32>) -> Wire {
        Wire::new(Rate::from_bps(1_000_000), Span::from_ms(10), queue)
    }

    fn ms(n: u64) -> Time {
        Time::ZERO + Span::from_ms(n)
    }

    #[test]
    fn packets_queue_behind_one_another() {
        let mut wire = megabit(None);
        assert_eq!(wire.send(ms(0), KILOBYTE), Some(ms(18)));
        assert_eq!(wire.send(ms(0), KILOBYTE), Some(ms(26)));
        assert_eq!(wire.send(ms(100), KILOBYTE), Some(ms(118)));
    }

    #[test]
    fn packets_that_come_evenly_leave_evenly_or_one_by_one() {
        let whole = Bytes::new(1000);
        for (gap, before) in [(0, 0), (3, 0), (8, 1), (9, 0), (9, 1), (20, 0)] {
            let (mut train, mut single) = (megabit(None), megabit(None));
            for wire in [&mut train, &mut single] {
                for _ in 0..before {
                    wire.carry(ms(0), whole);
                }
            }
            let twin = single.clone();
            let one_by_one: Vec<_> = (0..5).map(|i| single.carry(ms(1 + gap * i), whole)).collect();
            let late = *one_by_one.last().expect("five");
            assert_eq!(train.carry_evenly((ms(1), Span::from_ms(gap)), 5, whole, ms(0)), None);
            match train.carry_evenly((ms(1), Span::from_ms(gap)), 5, whole, late) {
                Some((first, gap)) => {
                    let evenly: Vec<_> = (0..5).map(|i| first + gap * i).collect();
                    assert_eq!(evenly, one_by_one);
                    assert_eq!(train.carry(ms(1), whole), single.carry(ms(1), whole));
                }
                None => {
                    assert_eq!((gap, before), (9, 1), "they wait for the link, then not");
                    assert_eq!(train.free_at, twin.free_at);
                }
            }
        }
    }

    #[test]
    fn a_full_queue_drops_its_tail() {
        let mut wire = megabit(Some(1));
        assert!(wire.send(ms(0), KILOBYTE).is_some(), "on the wire");
        assert!(wire.send(ms(0), KILOBYTE).is_some(), "waiting");
        assert_eq!(wire.send(ms(0), KILOBYTE), None, "the queue is full");
        assert_eq!(wire.send(ms(7), KILOBYTE), None, "still full");
        assert_eq!(wire.send(ms(8), KILOBYTE), Some(ms(34)), "the waiting one is on the wire");
    }

    #[test]
    fn a_queue_of_bytes_counts_what_is_left_of_the_packet_on_the_wire() {
        let room = Room { bytes: Some(Bytes::new(2500)), ..Room::default() };
        let mut wire = Wire::new(Rate::from_bps(1_000_000), Span::from_ms(10), room);
        assert!(wire.send(ms(0), KILOBYTE).is_some());
        assert!(wire.send(ms(0), KILOBYTE).is_some());
        assert_eq!(wire.send(ms(3), KILOBYTE), None, "1625 bytes have not left");
        assert_eq!(wire.waiting(ms(4)), Bytes::new(1500));
        assert_eq!(wire.send(ms(4), KILOBYTE), Some(ms(34)));
    }

    #[test]
    fn a_link_marks_what_finds_more_than_the_threshold() {
        let mut wire = marking(None, false);
        let chances = [0, 0, 0, 12, 40].map(|at| {
            wire.send(ms(at), KILOBYTE);
            wire.chance()
        });
        // They find 0, 1000, 2000, 1500 and 0 bytes.
        assert_eq!(chances, [0.0, 0.0, 1.0, 0.0, 0.0].map(Some));
    }

    /// A link whose queue marks what finds more than 1,500 bytes, or drops it.
    fn marking(packets: Option<u32>, drops: bool) -> Wire {
        let rule = MarkingRule::Above(Bytes::new(1500));
        let room = Room { packets, marking: Some(Marking { rule, drops }), ..Room::default() };
        Wire::new(Rate::from_bps(1_000_000), Span::from_ms(10), room)
    }

    #[test]
    fn a_link_is_as_if_the_packet_that_it_drops_had_not_come() {
        // A kilobyte and a byte: a part of a picosecond is carried from packet to packet.
        let size = Bytes::new(1001);
        for packets in [None, Some(3)] {
            let (mut wire, mut twin) = (marking(packets, true), marking(packets, true));
            let offered = [0, 0, 0, 0, 12, 12, 13, 40];
            let kept = offered.map(|at| {
                assert!(wire.admits(ms(at), size) && wire.drops_unmarkable());
                let drops = wire.chance() == Some(1.0);
                wire.settle(drops);
                let arrives = (!drops).then(|| wire.take(ms(at), size));
                assert!(drops || arrives == twin.send(ms(at), size), "at {at} ms");
                arrives
            });
            // They find 0, 1001, 2002, 2002, 502, 1503, 1378 and 0 bytes.
            let dropped = kept.map(|arrives| arrives.is_none());
            assert_eq!(dropped, [false, false, true, true, false, true, false, false]);
        }
    }

    #[test]
    fn a_queue_of_none_still_sends() {
        let mut wire = megabit(Some(0));
        assert!(wire.send(ms(0), KILOBYTE).is_some());
        assert_eq!(wire.send(ms(7), KILOBYTE), None);
        assert!(wire.send(ms(8), KILOBYTE).is_some());
    }
}
