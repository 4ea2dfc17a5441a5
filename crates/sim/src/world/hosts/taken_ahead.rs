//! Segments that a receiver has taken ahead of the clock. Until the clock is there they count as in
//! transit: one that is sent again meanwhile may be lost before it comes.

use std::collections::VecDeque;

use burstlab_tcp::PacketRun;
use burstlab_units::Time;
use serde::{Deserialize, Serialize};

/// The segments that a receiver has taken ahead of the clock.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct TakenAhead {
    /// In order; segments that have come leave at the front.
    runs: VecDeque<PacketRun>,
}

impl TakenAhead {
    /// Segments in order are taken; `now` is the time.
    #[inline]
    pub(super) fn take(&mut self, now: Time, run: PacketRun) {
        while self.runs.front().is_some_and(|first| first.time(first.count - 1) <= now) {
            self.runs.pop_front();
        }
        self.runs.push_back(run);
    }

    /// When `seq` comes, if it was taken ahead of the clock.
    pub(super) fn comes(&self, seq: u64) -> Option<Time> {
        let place = self.runs.partition_point(|run| run.number(run.count - 1) < seq);
        let run = self.runs.get(place).filter(|run| run.first <= seq);
        run.map(|run| run.time((seq - run.first) as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burstlab_units::Span;

    fn at(ps: u64) -> Time {
        Time::from_ps(ps)
    }

    #[test]
    fn each_segment_comes_at_its_time_until_it_is_there() {
        let mut ahead = TakenAhead::default();
        let run = |first, start| PacketRun {
            first,
            count: 3,
            step: 1,
            at: at(start),
            gap: Span::from_ps(10),
        };
        ahead.take(at(0), run(5, 100));
        ahead.take(at(0), run(8, 200));
        let comes = [4, 5, 7, 8, 10, 11].map(|seq| ahead.comes(seq));
        assert_eq!(comes, [None, Some(at(100)), Some(at(120)), Some(at(200)), Some(at(220)), None]);
        ahead.take(at(121), run(11, 300));
        assert_eq!(ahead.runs.len(), 2);
    }
}
