//! Which segments have arrived: those in order, and what came before its turn.

use serde::{Deserialize, Serialize};

use crate::bitmap::Bitmap;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Arrived {
    above: Bitmap,
    /// The segment that is waited for: all below have arrived.
    pub(super) next: u64,
    /// One past the highest segment that arrived.
    pub(super) high: u64,
    window: u64,
    /// Segments that arrived though they had arrived before.
    pub(super) duplicates: u64,
}

impl Arrived {
    pub(super) fn new(window: u64) -> Self {
        Self { above: Bitmap::new(window), next: 0, high: 0, window, duplicates: 0 }
    }

    /// Segment `seq` arrives. One beyond the window is dropped.
    pub(super) fn store(&mut self, seq: u64) {
        if self.holds(seq) {
            self.duplicates += 1;
            return;
        }
        if self.is_beyond(seq) {
            return;
        }
        self.high = self.high.max(seq + 1);
        if seq > self.next {
            self.above.insert(seq, seq + 1);
        } else {
            let next = self.above.first_absent(seq + 1, self.high);
            self.above.remove(seq + 1, next);
            self.next = next;
        }
    }

    /// All below `next` has arrived, and nothing above.
    #[inline]
    pub(super) fn in_order(&mut self, next: u64) {
        (self.next, self.high) = (next, next);
    }

    /// Segments from `first`, which has arrived and is the highest one, up to `end` arrive.
    pub(super) fn extend(&mut self, first: u64, end: u64) {
        self.above.insert(first, end);
        self.high = end;
    }

    /// Whether segments are there above the one that is waited for.
    #[inline]
    pub(super) fn has_early(&self) -> bool {
        self.high > self.next
    }

    /// Whether segment `seq`, none of those below `next`, lies beyond the window.
    #[inline]
    pub(super) fn is_beyond(&self, seq: u64) -> bool {
        seq >= self.next + self.window
    }

    /// How many segments from `seq` on, behind a gap, are within the window.
    pub(super) fn within(&self, seq: u64) -> u64 {
        self.window - (seq - self.next)
    }

    /// Whether segment `seq` has arrived.
    pub(super) fn holds(&self, seq: u64) -> bool {
        seq < self.next || (seq < self.high && self.above.contains(seq))
    }

    /// The run above a gap that segment `seq` is in, if it is in one.
    pub(super) fn run(&self, seq: u64) -> Option<(u64, u64)> {
        let above = (self.next..self.high).contains(&seq) && self.above.contains(seq);
        above.then(|| {
            let left = self.above.run_start(self.next, seq + 1);
            (left, self.above.first_absent(seq, self.high))
        })
    }

    /// The runs above a gap, in order.
    pub(super) fn early(&self) -> Vec<(u64, u64)> {
        let mut runs = Vec::new();
        let mut seq = self.next;
        while seq < self.high {
            let end = self.above.first_absent(seq, self.high);
            if end > seq {
                runs.push((seq, end));
            }
            seq = end + 1;
        }
        runs
    }
}
