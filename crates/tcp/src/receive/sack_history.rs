//! Which runs of segments an ACK reports (RFC 2018 section 4).

use serde::{Deserialize, Serialize};

use crate::segment::{MAX_SACK_BLOCKS, SackBlocks};

/// The runs reported last, most recent first, so that a lost ACK is made good by those after it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SackHistory {
    runs: [(u64, u64); MAX_SACK_BLOCKS],
    count: usize,
    /// Most blocks in an ACK.
    blocks: usize,
}

impl SackHistory {
    pub(super) fn new(blocks: usize) -> Self {
        Self { runs: [(0, 0); MAX_SACK_BLOCKS], count: 0, blocks: blocks.min(MAX_SACK_BLOCKS) }
    }

    /// Whether there is nothing to report.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Everything has arrived in order.
    pub(super) fn clear(&mut self) {
        self.count = 0;
    }

    /// The run that was reported last goes on up to `right`.
    pub(super) fn extend(&mut self, right: u64) {
        self.runs[0].1 = right;
    }

    /// The blocks of an ACK for an arrival that made `[left, right)` whole: that run first, then
    /// those reported before that are not part of it. A run that begins at 0 is in order and is not
    /// itself reported.
    pub(super) fn report(&mut self, (left, right): (u64, u64)) -> SackBlocks {
        let mut sack = SackBlocks::NONE;
        if left > 0 {
            sack.push(left, right);
        }
        let mut runs = [(0, 0); MAX_SACK_BLOCKS];
        let mut count = 0;
        if left > 0 {
            runs[0] = (left, right);
            count = 1;
        }
        for &(older_left, older_right) in &self.runs[..self.count] {
            if left <= older_left && older_right <= right {
                continue;
            }
            if sack.len() < self.blocks {
                sack.push(older_left, older_right);
            }
            if count < self.blocks {
                runs[count] = (older_left, older_right);
                count += 1;
            }
        }
        (self.runs, self.count) = (runs, count);
        sack
    }
}
