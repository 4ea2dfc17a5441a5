//! The degree of reordering in the network, in segments.

use serde::{Deserialize, Serialize};

use crate::linux::options::LinuxOptions;
use crate::linux::queue::Queue;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Reordering {
    segments: u32,
    /// Whether it was seen to.
    seen: bool,
    /// The usual degree, and the largest.
    usual: u32,
    most: u32,
}

impl Reordering {
    pub(super) fn new(options: &LinuxOptions) -> Self {
        let (usual, most) = (options.reordering, options.reordering_max);
        Self { segments: usual, seen: false, usual, most }
    }

    pub(crate) fn segments(&self) -> u32 {
        self.segments
    }

    pub(super) fn was_seen(&self) -> bool {
        self.seen
    }

    /// Whether it is more than is usual.
    pub(crate) fn is_unusual(&self) -> bool {
        self.segments > self.usual
    }

    /// It is by so many segments.
    pub(super) fn set(&mut self, segments: u32) {
        (self.segments, self.seen) = (segments.min(self.most), true);
    }

    /// Segment `low` arrived, which was sent once: after higher ones, or not.
    pub(super) fn note(&mut self, low: u64, queue: &Queue) {
        let high = queue.highest_sacked();
        if low < high {
            let distance = (high - low).min(u64::from(self.most)) as u32;
            (self.segments, self.seen) = (self.segments.max(distance), true);
        }
    }

    /// A time-out though so many segments are reported: the learnt degree is too high.
    pub(super) fn unlearn(&mut self, sacked: u32) {
        if sacked >= self.usual {
            self.segments = self.segments.min(self.usual);
        }
    }
}
