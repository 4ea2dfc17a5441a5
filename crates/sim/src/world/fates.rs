//! Which bursts of one direction a scenario lets be lost, as far ahead as anyone asks.

use std::collections::VecDeque;

use burstlab_kernel::Stream;
use burstlab_link::LossProcess;
use serde::{Deserialize, Serialize};

/// A loss process that is asked in order, and may be asked early: what it says of a burst depends
/// on the numbers up to that of the burst alone.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Fates {
    process: LossProcess,
    stream: Stream,
    /// The highest number that the process was asked about.
    asked: u64,
    /// Of these, the doomed ones that are still to come.
    doomed: VecDeque<u64>,
}

impl Fates {
    pub(super) fn new(process: LossProcess, stream: Stream) -> Self {
        Self { process, stream, asked: 0, doomed: VecDeque::new() }
    }

    fn ask(&mut self) {
        self.asked += 1;
        let (number, stream) = (self.asked, self.stream);
        if self.process.hits(number, || stream.uniforms(number)) {
            self.doomed.push_back(number);
        }
    }

    /// Whether burst `number` is lost; each is asked about once, in order.
    #[inline]
    pub(super) fn dooms(&mut self, number: u64) -> bool {
        if self.are_none() {
            return false;
        }
        while self.asked < number {
            self.ask();
        }
        // A burst that lost all its packets before it was closed is never asked about.
        while self.doomed.front().is_some_and(|&first| first < number) {
            self.doomed.pop_front();
        }
        let hit = self.doomed.front() == Some(&number);
        if hit {
            self.doomed.pop_front();
        }
        hit
    }

    /// The first burst to come that is lost, if its number is up to `last`.
    #[inline]
    pub(super) fn first_doomed(&mut self, last: u64) -> Option<u64> {
        if self.are_none() {
            return None;
        }
        while self.doomed.is_empty() && self.asked < last {
            self.ask();
        }
        self.doomed.front().copied().filter(|&first| first <= last)
    }

    /// Whether none is lost.
    #[inline]
    pub(super) fn are_none(&self) -> bool {
        matches!(self.process, LossProcess::None)
    }

    /// Whether the lost bursts are listed one by one.
    pub(super) fn are_listed(&self) -> bool {
        matches!(self.process, LossProcess::Listed(_))
    }

    /// The bursts that are listed, rising.
    pub(super) fn listed(&self) -> &[u64] {
        match &self.process {
            LossProcess::Listed(bursts) => bursts,
            _ => &[],
        }
    }
}
