//! A wired link: a first-in-first-out queue, a rate and a propagation delay.

use std::collections::VecDeque;

use burstlab_units::{Bytes, Evenly, Rate, Serializer, Span, Time};
use serde::{Deserialize, Serialize};

/// A store-and-forward link with a drop-tail queue in front of it.
///
/// A packet handed over at `t` leaves the head of the queue when the link is free, takes its
/// serialisation time, and arrives a propagation delay later.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Wire {
    line: Serializer,
    delay: Span,
    free_at: Time,
    queue: Option<DropTail>,
}

/// Which packets wait behind the one being sent, by the time each starts to be sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct DropTail {
    limit: usize,
    starts: VecDeque<Time>,
}

impl Wire {
    /// A link of `rate` and propagation `delay`; `queue` is how many packets may wait behind the
    /// one being sent (`None`: no bound).
    #[must_use]
    pub fn new(rate: Rate, delay: Span, queue: Option<u32>) -> Self {
        let queue = queue.map(|limit| DropTail { limit: limit as usize, starts: VecDeque::new() });
        Self { line: Serializer::new(rate), delay, free_at: Time::ZERO, queue }
    }

    /// Hands over a packet of `size` at `now`; answers when its last bit arrives at the far end, or
    /// `None` where the queue is full and the packet is dropped. Calls must come in order of time.
    #[inline(always)]
    pub fn send(&mut self, now: Time, size: Bytes) -> Option<Time> {
        let start = now.max(self.free_at);
        if let Some(queue) = &mut self.queue {
            while queue.starts.front().is_some_and(|&started| started <= now) {
                queue.starts.pop_front();
            }
            if start > now {
                if queue.starts.len() >= queue.limit {
                    return None;
                }
                queue.starts.push_back(start);
            }
        }
        self.free_at = start + self.line.next(size);
        Some(self.free_at + self.delay)
    }

    /// As [`send`](Self::send), on a link whose queue has no bound.
    #[inline(always)]
    pub fn carry(&mut self, now: Time, size: Bytes) -> Time {
        debug_assert!(self.queue.is_none(), "nothing is dropped");
        self.free_at = now.max(self.free_at) + self.line.next(size);
        self.free_at + self.delay
    }

    /// Hands over `count` packets of `size`, at a time and then each a gap after the one before, on
    /// a link whose queue has no bound. Answers when the first one arrives, and the gap between
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

    /// Whether packets are dropped where too many wait.
    #[inline]
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        self.queue.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_queue_of_none_still_sends() {
        let mut wire = megabit(Some(0));
        assert!(wire.send(ms(0), KILOBYTE).is_some());
        assert_eq!(wire.send(ms(7), KILOBYTE), None);
        assert!(wire.send(ms(8), KILOBYTE).is_some());
    }
}
