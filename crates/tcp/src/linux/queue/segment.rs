//! The state of each segment that is outstanding.

use serde::{Deserialize, Serialize};

use crate::linux::rate::Stamp;

/// Reported as received.
pub(crate) const SACKED: u16 = 1;
/// Taken for lost.
pub(crate) const LOST: u16 = 2;
/// Sent again, and not known to be lost again.
pub(crate) const AGAIN: u16 = 4;
/// Sent more than once.
pub(crate) const EVER: u16 = 8;
/// In the order of time.
pub(super) const LISTED: u16 = 16;
/// The last of the segments that went as a group.
pub(crate) const LAST: u16 = 32;
/// The last of what a call wrote: the receiver is to hand over what it has.
pub(crate) const PUSHES: u16 = 64;
/// The last of a group of several, which pushes when it goes first.
pub(crate) const SEVERAL: u16 = 128;

/// It ends a push.
pub(crate) const PUSH: u16 = 256;

/// Reported right after the one before it, of which it then is a part in the send buffer.
pub(super) const MERGED: u16 = 512;

/// No segment: the SYN is never listed.
pub(super) const NONE: u64 = 0;

/// A segment.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Unacked {
    pub(crate) marks: u16,
    /// When it was last sent, in nanoseconds.
    pub(crate) ns: u64,
    /// How the connection stood at that time.
    pub(crate) stamp: Stamp,
    pub(super) older: u64,
    pub(super) newer: u64,
}

impl Unacked {
    /// When it was last sent, in microseconds.
    pub(crate) fn at(&self) -> u64 {
        self.ns / 1000
    }

    pub(crate) fn is(&self, marks: u16) -> bool {
        self.marks & marks != 0
    }

    /// Whether it is taken for lost.
    pub(super) fn is_lost(&self) -> bool {
        self.marks & (SACKED | LOST) == LOST
    }

    /// Whether it is reported, and neither lost nor sent again.
    pub(super) fn rests(&self) -> bool {
        self.marks & (SACKED | LOST | AGAIN) == SACKED
    }
}

/// Segments that went at one time, each a group of its own, of which nothing was heard.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct SegmentRun {
    /// When they were sent, in nanoseconds, and how the connection stood for the first of them.
    pub(super) ns: u64,
    pub(super) stamp: Stamp,
    pub(super) count: u32,
    /// Whether the last one ends a push.
    pub(super) pushes: bool,
}

impl SegmentRun {
    pub(super) fn at(&self) -> u64 {
        self.ns / 1000
    }

    /// Segment `nth`, from 0, outside the order of time.
    pub(super) fn segment(&self, nth: u32) -> Unacked {
        let marks = LAST | if self.pushes && nth + 1 == self.count { PUSH } else { 0 };
        let stamp = self.stamp.behind(nth);
        Unacked { marks, ns: self.ns, stamp, older: NONE, newer: NONE }
    }
}

/// Segments of which all that an ACK says is that they are there.
pub(crate) struct Plain {
    pub(crate) count: u32,
    /// When the first and the last of them were sent, in microseconds.
    pub(crate) first_at: u64,
    pub(crate) last_at: u64,
}
