//! Segments that a receiver has taken ahead of the clock. Until the clock is there they are still
//! on their way to whoever asks: one that is sent again meanwhile may be lost before it comes.

use std::collections::VecDeque;

use burstlab_tcp::PacketRun;
use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use crate::measure::loss::Causes;

/// What a receiver has taken ahead of the clock.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct TakenAhead {
    /// In order; what has come leaves at the front.
    runs: VecDeque<PacketRun>,
    /// Segments whose last transmission was lost before an earlier one came, and when that does.
    missing: Vec<(Time, u64)>,
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

    /// The last transmission of `seq` is lost at `now`; answers whether the receiver, which has
    /// taken an earlier one, waits for that until later.
    pub(super) fn misses(&mut self, now: Time, seq: u64) -> bool {
        let place = self.runs.partition_point(|run| run.number(run.count - 1) < seq);
        let run = self.runs.get(place).filter(|run| run.first <= seq);
        let comes = run.map(|run| run.time((seq - run.first) as u32)).filter(|&at| at > now);
        self.missing.extend(comes.map(|at| (at, seq)));
        comes.is_some()
    }

    /// The time is `now`: what has come is not missing any more.
    #[inline]
    pub(super) fn settle(&mut self, now: Time, causes: &mut Causes) {
        if !self.missing.is_empty() {
            self.missing.retain(|&(at, seq)| {
                let comes = at <= now;
                if comes {
                    causes.found(seq);
                }
                !comes
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::loss::{Loss, LossCause};
    use burstlab_units::Span;

    fn at(ps: u64) -> Time {
        Time::from_ps(ps)
    }

    #[test]
    fn what_is_lost_before_it_comes_is_missing_until_then() {
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
        let mut causes = Causes::default();
        for seq in 4..12 {
            if ahead.misses(at(110), seq) {
                causes.lost(seq, Loss::at_access(LossCause::Scripted, at(110)));
            }
        }
        let missing = |causes: &Causes| causes.among(0..99).map(|(seq, _)| seq).collect::<Vec<_>>();
        assert_eq!(missing(&causes), [7, 8, 9, 10]);
        ahead.settle(at(209), &mut causes);
        assert_eq!(missing(&causes), [9, 10]);
        ahead.settle(at(220), &mut causes);
        assert!(missing(&causes).is_empty() && ahead.missing.is_empty());
        ahead.take(at(121), run(11, 300));
        assert_eq!(ahead.runs.len(), 2);
    }
}
