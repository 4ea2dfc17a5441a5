//! HyStart++ (RFC 9406): a round trip that grew makes slow start slower; if it stays so for some
//! rounds slow start ends, if it does not, slow start goes on. Only the first slow start has it
//! (section 4.3).

use serde::{Deserialize, Serialize};

use super::context::AckContext;
use super::window::{INFINITE, LinuxWindow};

/// MIN_RTT_THRESH and MAX_RTT_THRESH in microseconds, MIN_RTT_DIVISOR (section 4.3).
const RISE_US: (u64, u64) = (4_000, 16_000);
const RISE_PART: u64 = 8;
/// N_RTT_SAMPLE.
const SAMPLES: u32 = 8;
/// CSS_GROWTH_DIVISOR and CSS_ROUNDS.
const SLOWER: u32 = 4;
const ROUNDS: u32 = 5;
/// L, for senders that do not pace: segments by which an ACK may open the window.
const MOST: u32 = 8;

/// Conservative slow start: the shortest round trip when it began, and rounds ended since.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Conservative {
    baseline: u64,
    rounds: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct HystartPlusPlus {
    paced: bool,
    /// The round ends when all below this is acknowledged.
    round_ends: u64,
    last_least: Option<u64>,
    least: Option<u64>,
    samples: u32,
    conservative: Option<Conservative>,
    /// Segments acknowledged towards the next by which the window opens.
    credit: u32,
}

impl HystartPlusPlus {
    pub(crate) fn new(paced: bool) -> Self {
        Self {
            paced,
            round_ends: 0,
            last_least: None,
            least: None,
            samples: 0,
            conservative: None,
            credit: 0,
        }
    }

    /// Takes a round trip in microseconds.
    pub(crate) fn measured(&mut self, window: &mut LinuxWindow, rtt: u64, context: &AckContext) {
        if window.ssthresh < INFINITE {
            return;
        }
        if context.acked >= self.round_ends {
            self.begin_round(window, context);
        }
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        self.samples += 1;
        let (Some(least), true) = (self.least, self.samples >= SAMPLES) else { return };
        match (self.conservative, self.last_least) {
            (None, Some(last)) => {
                let rise = (last / RISE_PART).clamp(RISE_US.0, RISE_US.1);
                if least >= last + rise {
                    self.conservative = Some(Conservative { baseline: least, rounds: 0 });
                }
            }
            (Some(conservative), _) if least < conservative.baseline => self.conservative = None,
            _ => {}
        }
    }

    fn begin_round(&mut self, window: &mut LinuxWindow, context: &AckContext) {
        self.round_ends = context.next;
        self.last_least = self.least.take();
        self.samples = 0;
        let Some(conservative) = &mut self.conservative else { return };
        conservative.rounds += 1;
        if conservative.rounds >= ROUNDS {
            window.ssthresh = window.cwnd;
        }
    }

    /// By how many segments `acked` may open the window.
    pub(crate) fn allow(&mut self, window: &LinuxWindow, acked: u32) -> u32 {
        if window.ssthresh < INFINITE {
            return acked;
        }
        let acked = if self.paced { acked } else { acked.min(MOST) };
        if self.conservative.is_none() {
            return acked;
        }
        self.credit += acked;
        let more = self.credit / SLOWER;
        self.credit %= SLOWER;
        more
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds of `count` ACKs with these round trips in ms, from a window of ten on.
    fn run(rounds: &[u64], count: u32) -> (LinuxWindow, Vec<u32>) {
        let (mut start, mut window) = (HystartPlusPlus::new(false), LinuxWindow::new());
        window.cwnd = 10;
        let mut windows = Vec::new();
        for (round, rtt) in rounds.iter().enumerate() {
            let acked = 100 * round as u64;
            let mut context = AckContext { acked, next: acked + 100, ..AckContext::default() };
            for _ in 0..count {
                start.measured(&mut window, 1_000 * rtt, &context);
                let more = start.allow(&window, 1);
                if window.in_slow_start() {
                    window.slow_start(more);
                }
                context.acked = acked + 1;
            }
            windows.push(window.cwnd);
        }
        (window, windows)
    }

    #[test]
    fn a_round_trip_that_stays_longer_ends_slow_start_after_five_slower_rounds() {
        // 80 ms grow by an eighth, 10 ms: in the third round the eighth sample shows it.
        let (window, windows) = run(&[80, 80, 90, 90, 90, 90, 90, 90], 16);
        // Sixteen a round; then 7 of the third by ones and 9 by quarters, and four a round.
        assert_eq!(windows[..3], [26, 42, 42 + 7 + 2]);
        assert_eq!(windows[3..7], [55, 59, 63, 67]);
        // The fifth round, of which the third was a part, is over as the eighth begins.
        assert_eq!(window.ssthresh, 67);
        assert_eq!(window.cwnd, 67);
    }

    #[test]
    fn a_round_trip_that_becomes_shorter_again_resumes_slow_start() {
        let (window, windows) = run(&[80, 80, 90, 80, 80], 16);
        assert_eq!(window.ssthresh, INFINITE);
        // Seven samples by quarters with what was left of one, then by ones.
        assert!(windows[4] - windows[3] == 16 && windows[3] > windows[2] + 8);
    }

    #[test]
    fn less_than_an_eighth_or_four_milliseconds_is_no_rise() {
        let (window, windows) = run(&[80, 80, 89, 89, 89], 16);
        assert_eq!((window.ssthresh, windows[4]), (INFINITE, 90));
        let (window, _) = run(&[8, 8, 11, 11, 11, 11, 11, 11, 11], 16);
        assert_eq!(window.ssthresh, INFINITE);
        let (window, _) = run(&[8, 8, 12, 12, 12, 12, 12, 12, 12], 16);
        assert!(window.ssthresh < INFINITE);
    }

    #[test]
    fn seven_samples_a_round_say_nothing() {
        let (window, _) = run(&[80, 80, 200, 200, 200, 200, 200, 200, 200], 7);
        assert_eq!(window.ssthresh, INFINITE);
    }

    #[test]
    fn an_ack_opens_the_window_by_eight_at_most_without_pacing() {
        let window = LinuxWindow::new();
        assert_eq!(HystartPlusPlus::new(false).allow(&window, 20), 8);
        assert_eq!(HystartPlusPlus::new(true).allow(&window, 20), 20);
    }
}
