//! What crosses the wire.

use burstlab_units::Bytes;

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
}

/// Most SACK blocks that an ACK carries.
pub(crate) const MAX_SACK_BLOCKS: usize = 3;

/// The SACK blocks of an ACK (RFC 2018): at most three runs of segments above the cumulative ACK,
/// each `[left, right)`, the most recent first.
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
    /// What has arrived above `next`, if the receiver tells.
    pub sack: SackBlocks,
    /// Size on the wire, SACK blocks included.
    pub size: Bytes,
}
