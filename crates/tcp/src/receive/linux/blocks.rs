//! Which SACK blocks an ACK has (RFC 2018 section 4), and which run arrived twice (RFC 2883).

use serde::{Deserialize, Serialize};

use super::place::Place;
use crate::segment::{MAX_SACK_BLOCKS, SackBlocks};

/// Runs that are remembered: `TCP_NUM_SACKS` of Linux.
const KEPT: usize = 4;
/// From so many runs on, one that is not among the newest ends a compression:
/// `TCP_SACK_BLOCKS_EXPECTED`.
const EXPECTED: usize = 2;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Blocks {
    /// Most recent first.
    runs: Vec<(u64, u64)>,
    twice: Option<(u64, u64)>,
    most: usize,
}

impl Blocks {
    pub(super) fn new(most: usize) -> Self {
        Self { runs: Vec::with_capacity(KEPT), twice: None, most: most.min(MAX_SACK_BLOCKS) }
    }

    /// `[left, right)` arrived, which had before; one that adjoins what the next ACK says of it
    /// makes that longer.
    pub(super) fn twice(&mut self, left: u64, right: u64) {
        self.twice = match self.twice {
            Some((from, to)) if left <= to && from <= right => {
                Some((from.min(left), to.max(right)))
            }
            Some(kept) => Some(kept),
            None => Some((left, right)),
        };
    }

    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty() && self.twice.is_none()
    }

    pub(super) fn has_twice(&self) -> bool {
        self.twice.is_some()
    }

    /// How many of the newest runs stay before one that `[left, right)` makes longer, or before a
    /// new one.
    pub(super) fn rank(&self, left: u64, right: u64) -> usize {
        let adjoins = |&(from, to): &(u64, u64)| left <= to && from <= right;
        self.runs.iter().position(adjoins).unwrap_or(self.runs.len())
    }

    /// Whether the blocks of one ACK would no longer tell of all that has changed.
    pub(super) fn overflows(&self, left: u64, right: u64) -> bool {
        self.rank(left, right) >= EXPECTED
    }

    /// `[left, right)` arrived out of order.
    pub(super) fn report(&mut self, left: u64, right: u64) {
        let (mut left, mut right) = (left, right);
        self.runs.retain(|&(from, to)| {
            let adjoins = left <= to && from <= right;
            if adjoins {
                (left, right) = (left.min(from), right.max(to));
            }
            !adjoins
        });
        self.runs.truncate(KEPT - 1);
        self.runs.insert(0, (left, right));
    }

    /// All below `next` is there.
    pub(super) fn forget_below(&mut self, next: u64) {
        self.runs.retain(|&(_, right)| right > next);
    }

    /// How many blocks an ACK has that goes now.
    pub(super) fn count(&self) -> usize {
        (self.runs.len() + usize::from(self.twice.is_some())).min(self.most)
    }

    /// The same once segment `seq` has come in its `place`; whether there are blocks, and whether
    /// they tell of what arrived twice.
    pub(super) fn count_with(
        &self,
        (seq, place): (u64, &Place),
        (on, twice): (bool, bool),
    ) -> usize {
        let mut after = self.clone();
        if twice && seq > 0 && (place.twice || seq < place.before) {
            after.twice(seq, seq + 1);
        }
        if seq > place.before && !place.beyond && on {
            after.report(seq, seq + 1);
        } else if seq == place.before {
            let run = self.runs.iter().find(|run| run.0 == seq + 1);
            after.forget_below(run.map_or(seq + 1, |run| run.1));
        }
        after.count()
    }

    /// The blocks of the ACK that goes now.
    pub(super) fn take(&mut self) -> SackBlocks {
        let mut sack = SackBlocks::NONE;
        if let Some((left, right)) = self.twice.take() {
            sack.push(left, right);
        }
        for &(left, right) in self.runs.iter().take(self.most.saturating_sub(sack.len())) {
            sack.push(left, right);
        }
        sack
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_arrives_twice_comes_first_and_once() {
        let mut blocks = Blocks::new(3);
        blocks.report(10, 11);
        blocks.report(11, 12);
        blocks.report(20, 21);
        blocks.twice(10, 11);
        assert_eq!(blocks.take().as_slice(), [(10, 11), (20, 21), (10, 12)]);
        assert_eq!(blocks.take().as_slice(), [(20, 21), (10, 12)]);
    }

    #[test]
    fn runs_that_meet_are_one() {
        let mut blocks = Blocks::new(3);
        for seq in [10, 12, 20, 11] {
            blocks.report(seq, seq + 1);
        }
        assert_eq!(blocks.take().as_slice(), [(10, 13), (20, 21)]);
        blocks.forget_below(13);
        assert_eq!(blocks.take().as_slice(), [(20, 21)]);
    }

    #[test]
    fn a_third_run_overflows_what_is_expected() {
        let mut blocks = Blocks::new(3);
        blocks.report(10, 11);
        blocks.report(20, 21);
        assert!(!blocks.overflows(11, 12));
        assert!(blocks.overflows(30, 31));
    }
}
