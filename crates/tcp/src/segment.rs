//! Packets on the wire.

use burstlab_units::{Bytes, Time};
use serde::{Deserialize, Serialize};

/// A segment that the sender hands to its link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transmission {
    /// Number of the segment: 0 is the SYN, data are 1, 2, …
    pub seq: u64,
    /// Size on the wire, headers included.
    pub size: Bytes,
    /// Whether this segment had been sent before.
    pub retransmission: bool,
    /// Congestion window at this moment, in segments, without the inflation of fast recovery.
    pub cwnd: f64,
    /// Slow-start threshold at this moment, in segments.
    pub ssthresh: f64,
    /// The flags of its header, on a connection that has [options](SegmentOptions).
    pub flags: SegmentFlags,
}

/// New segments that a sender of a connection with options hands to its link at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentRun {
    /// The first, and how many there are.
    pub first: u64,
    #[allow(missing_docs)]
    pub count: u32,
    /// Whether the last one ends what the application wrote at a time (PSH).
    pub pushes: bool,
    /// Size on the wire of one that is full.
    pub size: Bytes,
    /// Congestion window and slow-start threshold at this moment, in segments.
    pub cwnd: u32,
    #[allow(missing_docs)]
    pub ssthresh: u32,
    /// The options of the first segment, except [`pushes`](Self::pushes); the others announce no
    /// reduction.
    pub options: SegmentOptions,
}

/// Where new segments go on the fast path.
pub trait Outlet {
    /// Takes these.
    fn put(&mut self, now: Time, run: &SentRun);
}

/// The links of a sender on the fast path, from which ACKs come too.
pub trait Wires: Outlet {
    /// The options of the ACK for `next` that comes now, if it may be taken there.
    fn carried(&self, next: u64) -> Option<AckOptions>;

    /// Gives the ACK to the sender; the segments that it releases follow.
    fn hear(&mut self, now: Time, next: u64);
}

/// The contents of a segment's header besides its number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentFlags {
    /// It ends what the application wrote at a time (PSH): the receiver acknowledges it once the
    /// data are read.
    pub push: bool,
    /// The sender has reduced its window for a mark (CWR, RFC 3168 section 6.1.2).
    pub reduced: bool,
    /// A queue may mark it rather than drop it (ECT, RFC 3168 section 5).
    pub markable: bool,
    /// It carries nothing, and asks how wide the receiver's window is (RFC 9293 section 3.8.6.1).
    pub probe: bool,
}

/// The contents of a data packet besides its segment, on a connection that has options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentOptions {
    /// Time stamp of its sender, in ms of its clock (TSval, RFC 7323 section 3).
    pub stamp: u32,
    /// The last time stamp that its sender heard (TSecr).
    pub echo: u32,
    /// Flags of its header.
    pub flags: SegmentFlags,
    /// Whether a queue has marked it (CE).
    pub marked: bool,
}

/// The contents of an ACK besides its numbers, on a connection that has options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AckOptions {
    /// Time stamp of the receiver, in ms of its clock (TSval, RFC 7323 section 3).
    pub stamp: u32,
    /// The time stamp that it echoes (TSecr).
    pub echo: u32,
    /// The advertised window in bytes.
    pub window: u32,
    /// Whether it echoes a mark (ECE, RFC 3168 section 6.1.3).
    pub marked: bool,
    /// Whether it comes with a SYN.
    pub opens: bool,
}

/// Most SACK blocks that an ACK carries.
pub(crate) const MAX_SACK_BLOCKS: usize = 3;

/// The SACK blocks of an ACK (RFC 2018): at most three runs of segments above the cumulative ACK,
/// each `[left, right)`, the most recent first; before them a run that arrived twice, which may lie
/// below it (RFC 2883).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(u64, u64); MAX_SACK_BLOCKS],
    count: u8,
}

impl SackBlocks {
    /// No block.
    pub const NONE: Self = Self { blocks: [(0, 0); MAX_SACK_BLOCKS], count: 0 };

    /// Appends `[left, right)`; a fourth block and an empty one are dropped.
    pub fn push(&mut self, left: u64, right: u64) {
        if usize::from(self.count) < MAX_SACK_BLOCKS && left < right {
            self.blocks[usize::from(self.count)] = (left, right);
            self.count += 1;
        }
    }

    /// The blocks, most recent first.
    #[must_use]
    pub fn as_slice(&self) -> &[(u64, u64)] {
        &self.blocks[..usize::from(self.count)]
    }

    /// How many blocks there are: 0 to 3.
    #[must_use]
    pub fn len(&self) -> usize {
        usize::from(self.count)
    }

    /// Whether there is no block.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// The segment that the receiver waits for: all below it have arrived. 0: nothing has. (ns-2
    /// numbers an ACK by the last segment in order, which is one less.)
    pub next: u64,
    /// Segments that have arrived above `next`, if the receiver reports them.
    pub sack: SackBlocks,
    /// Size on the wire, SACK blocks included.
    pub size: Bytes,
}
