//! Fibre delay lines: the only memory for light.

use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::scheduling::{Port, Scheduler};

/// The delay lines of a node, fed forward: a burst passes at most one, once, and leaves by the
/// output it waited for.
///
/// A line delays by its length, no more and no less, and takes a burst at its entry for as long as
/// the burst lasts: [`options`](Self::options) that are free there, then [`take`](Self::take) one.
/// A line carries several bursts at a time on channels of its own; which one a burst is given makes
/// no difference.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DelayLines {
    delays: Vec<Span>,
    /// The reservations at the entry of each line.
    entries: Vec<Port>,
    /// Lines by rising delay, then by number.
    by_delay: Vec<u32>,
}

impl DelayLines {
    /// One line for each of `delays`; each line takes `channels` bursts at a time at its entry.
    ///
    /// # Panics
    /// When there are lines without a channel.
    #[must_use]
    pub fn new(delays: &[Span], channels: u32) -> Self {
        let mut by_delay: Vec<u32> = (0..delays.len() as u32).collect();
        by_delay.sort_by_key(|&line| delays[line as usize]);
        let entries = delays.iter().map(|_| Port::new(channels, Scheduler::FfVf)).collect();
        Self { delays: delays.to_vec(), entries, by_delay }
    }

    /// Lines that a burst can enter at `start` for `hold`, by rising delay: of several with the
    /// same delay, the first that is free.
    pub fn options(&self, start: Time, hold: Span) -> impl Iterator<Item = (u32, Span)> {
        let mut last = None;
        self.by_delay.iter().filter_map(move |&line| {
            let delay = self.delays[line as usize];
            if last == Some(delay) {
                return None;
            }
            self.channel(line, start, hold)?;
            last = Some(delay);
            Some((line, delay))
        })
    }

    fn channel(&self, line: u32, start: Time, hold: Span) -> Option<u32> {
        let entry = &self.entries[line as usize];
        entry.find(start, hold, (0, entry.wavelengths() - 1))
    }

    /// Takes the entry of `line` from `start` up to `end` for `owner`.
    ///
    /// # Panics
    /// When it is not free.
    pub fn take(&mut self, line: u32, start: Time, end: Time, owner: u128) {
        let channel = self.channel(line, start, end.since(start));
        let channel = channel.expect("a delay line is free where it is taken");
        self.entries[line as usize].reserve(channel, start, end, owner);
    }

    /// Lets what `owner` has of `line` from `start` on end at `new_end`; gives all of it back where
    /// `new_end` is not after `start`. Returns whether it had any that is not forgotten.
    ///
    /// # Panics
    /// When `new_end` lies after its end.
    pub fn shorten(&mut self, line: u32, start: Time, owner: u128, new_end: Time) -> bool {
        let entry = &mut self.entries[line as usize];
        (0..entry.wavelengths()).any(|channel| entry.shorten(channel, start, owner, new_end))
    }

    /// Drops the reservations that ended at or before `now`.
    pub fn forget(&mut self, now: Time) {
        self.entries.iter_mut().for_each(|entry| entry.forget(now));
    }

    /// How long the channels at the entry of `line` were taken up to `until`, together, since the
    /// run or the measurement began.
    ///
    /// # Panics
    /// When `until` lies before the time forgotten.
    #[must_use]
    pub fn busy(&self, line: u32, until: Time) -> Span {
        let entry = &self.entries[line as usize];
        let channels = 0..entry.wavelengths();
        channels.fold(Span::ZERO, |sum, channel| sum + entry.busy(channel, until))
    }

    /// Use counts from `now` on: warm-up is over.
    ///
    /// # Panics
    /// When `now` lies before the time forgotten.
    pub fn measure_from(&mut self, now: Time) {
        self.entries.iter_mut().for_each(|entry| entry.measure_from(now));
    }

    /// The delay of each line.
    #[must_use]
    pub fn delays(&self) -> &[Span] {
        &self.delays
    }

    /// The longest delay, zero where there is no line.
    #[must_use]
    pub fn longest(&self) -> Span {
        self.by_delay.last().map_or(Span::ZERO, |&line| self.delays[line as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn us(n: u64) -> Time {
        Time::ZERO + Span::from_us(n)
    }

    fn lines(delays: &[u64], channels: u32) -> DelayLines {
        let delays: Vec<Span> = delays.iter().map(|&us| Span::from_us(us)).collect();
        DelayLines::new(&delays, channels)
    }

    fn free(lines: &DelayLines, start: u64, hold: u64) -> Vec<u32> {
        lines.options(us(start), Span::from_us(hold)).map(|(line, _)| line).collect()
    }

    #[test]
    fn options_rise_and_equal_lines_stand_in_for_each_other() {
        let mut lines = lines(&[20, 10, 10], 1);
        assert_eq!(free(&lines, 0, 5), [1, 0]);
        lines.take(1, us(0), us(5), 7);
        assert_eq!(free(&lines, 4, 5), [2, 0]);
        lines.take(2, us(4), us(9), 8);
        assert_eq!(free(&lines, 4, 5), [0]);
        assert_eq!(free(&lines, 5, 5), [1, 0], "free at the very end of the other");
        assert_eq!(lines.longest(), Span::from_us(20));
    }

    #[test]
    fn a_line_holds_as_many_bursts_as_it_has_channels() {
        let mut lines = lines(&[10], 2);
        lines.take(0, us(0), us(8), 1);
        lines.take(0, us(0), us(6), 2);
        assert!(free(&lines, 3, 1).is_empty());
        assert!(!lines.shorten(0, us(0), 3, us(2)), "not its owner");
        assert!(lines.shorten(0, us(0), 2, us(2)));
        assert_eq!(free(&lines, 3, 1), [0]);
        assert!(lines.shorten(0, us(0), 1, us(0)));
        assert_eq!(lines.busy(0, us(100)), Span::from_us(2));
    }

    #[test]
    fn what_is_forgotten_cannot_be_shortened() {
        let mut lines = lines(&[10], 1);
        lines.take(0, us(0), us(8), 1);
        lines.forget(us(8));
        assert!(!lines.shorten(0, us(0), 1, us(2)));
        lines.measure_from(us(8));
        assert_eq!(lines.busy(0, us(9)), Span::ZERO);
    }

    #[test]
    fn a_node_without_lines_offers_none() {
        assert!(free(&lines(&[], 0), 0, 1).is_empty());
    }

    #[test]
    #[should_panic(expected = "is free where it is taken")]
    fn a_line_that_is_taken_twice_is_a_bug() {
        let mut lines = lines(&[10], 1);
        lines.take(0, us(0), us(8), 1);
        lines.take(0, us(7), us(9), 2);
    }

    proptest! {
        /// With every burst that is offered a line, never more enter a line than it holds.
        #[test]
        fn a_line_is_never_overfull(
            delays in proptest::collection::vec(1u64..4, 1..5),
            channels in 1u32..4,
            bursts in proptest::collection::vec((0u64..30, 1u64..10), 1..60),
        ) {
            let mut lines = lines(&delays, channels);
            let mut taken: Vec<(u32, u64, u64)> = Vec::new();
            for (start, hold) in bursts {
                let inside = |line: u32, at: u64| {
                    taken.iter().filter(|t| t.0 == line && t.1 <= at && at < t.2).count() as u32
                };
                let has_room =
                    |line: &u32| (start..start + hold).all(|at| inside(*line, at) < channels);
                let options = free(&lines, start, hold);
                prop_assert!(options.iter().all(has_room));
                // Reservations are not moved, so room may be scattered over several channels; with
                // one channel there is no such thing, and nothing with room is withheld.
                if channels == 1 {
                    let open: Vec<u64> = (0..delays.len() as u32)
                        .filter(has_room).map(|line| delays[line as usize]).collect();
                    let offered: Vec<u64> =
                        options.iter().map(|&line| delays[line as usize]).collect();
                    prop_assert!(open.iter().all(|delay| offered.contains(delay)));
                }
                if let Some(&line) = options.first() {
                    lines.take(line, us(start), us(start + hold), 0);
                    taken.push((line, start, start + hold));
                }
            }
        }
    }
}
