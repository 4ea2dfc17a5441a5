//! A law that is written elsewhere, with what is counted for it: the part of a segment that its
//! window is above whole ones, round trips, the rate of delivery, its pacing rate and its timer.

use burstlab_units::{Span, Time};

use super::super::context::AckContext;
use super::super::window::{INFINITE, LinuxWindow};
use crate::foreign::{Decision, ForeignLaw};
use crate::moment::Moment;
use crate::round::{Round, Tallied};

/// The widest window that a law may ask for: more than any receiver has, and little enough that no
/// rate that follows from it overflows.
const WINDOW_MOST: f64 = 1e7;

/// The round trip that is running.
#[derive(Clone, Copy, Debug, Default)]
struct Running {
    /// How the connection stood as it began: it ends when its next segment is acknowledged.
    begun: AckContext,
    /// Sum of the round trips measured in it, in microseconds, and how many there were.
    sum: u64,
    measured: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Foreign {
    pub(crate) law: Box<dyn ForeignLaw>,
    /// Whether it judges its own losses. Then a loss that it excuses leaves the law as it is.
    pub(crate) judges: bool,
    /// A window of whole segments, and what the law's own has above it.
    part: (u32, f64),
    /// The same before the last reduction.
    part_before: (u32, f64),
    /// How the connection stood before what happens now.
    before: AckContext,
    /// The round trip that this ACK measured, in microseconds.
    rtt: Option<u64>,
    /// The newest rate of delivery in bit/s, and whether the application was what limited it.
    rate: Option<(f64, bool)>,
    running: Running,
    /// The round trip that has ended and its counts, until they are reported to the law.
    ended: Option<(Round, Tallied)>,
    tallied: Option<Tallied>,
    /// The round trip that this ACK ended.
    newest: Option<Round>,
    /// In bytes a second, as the law has it.
    pub(crate) pacing_rate: Option<u64>,
    timer: Option<Time>,
}

impl Foreign {
    pub(crate) fn new(law: Box<dyn ForeignLaw>, judges: bool) -> Self {
        Self {
            law,
            judges,
            part: (0, 0.0),
            part_before: (0, 0.0),
            before: AckContext::default(),
            rtt: None,
            rate: None,
            running: Running::default(),
            ended: None,
            tallied: None,
            newest: None,
            pacing_rate: None,
            timer: None,
        }
    }

    /// Something happens: an ACK, a time-out, the law's own timer.
    pub(crate) fn begin(&mut self, context: AckContext) {
        (self.before, self.rtt, self.newest) = (context, None, None);
    }

    /// The connection is open, and its first round trip begins.
    pub(crate) fn open(&mut self, context: AckContext) {
        self.begin(context);
        self.begin_round(context);
    }

    /// An ACK measured a round trip.
    pub(crate) fn measured(&mut self, rtt: u64) {
        self.rtt = Some(rtt);
        self.running.sum += rtt;
        self.running.measured += 1;
    }

    /// An ACK gave a sample of the delivery rate, in bit/s.
    pub(crate) fn note_rate(&mut self, rate: f64, by_application: bool) {
        self.rate = Some((rate, by_application));
    }

    /// An ACK came: ends the round trip where a segment that was sent in it is acknowledged.
    pub(crate) fn count(&mut self, cwnd: u32, context: AckContext) {
        let Running { begun, sum, measured } = self.running;
        if context.acked <= begun.next {
            return;
        }
        let span = context.clock.now.since(begun.clock.now);
        let tallied = Tallied {
            sent: context.sent - begun.sent,
            acked: context.delivered - begun.delivered,
            lost: context.again - begun.again,
            span,
        };
        // Where nothing was measured the round trip is as long as it took.
        let mean =
            if measured > 0 { sum as f64 / measured as f64 } else { span.as_secs_f64() * 1e6 };
        let base_over_rtt =
            if mean > 0.0 { (context.shortest as f64 / mean).min(1.0) } else { 1.0 };
        let round = Round {
            base_over_rtt,
            queued: f64::from(cwnd) * (1.0 - base_over_rtt),
            used: (context.next - begun.next) as f64 + crate::delays::SLACK >= f64::from(cwnd),
        };
        (self.ended, self.tallied) = (Some((round, tallied)), Some(tallied));
        self.newest = Some(round);
        self.begin_round(context);
    }

    fn begin_round(&mut self, begun: AckContext) {
        self.running = Running { begun, ..Running::default() };
    }

    /// The window in segments, which for the law need not be whole.
    pub(crate) fn cwnd(&self, window: &LinuxWindow) -> f64 {
        let (whole, part) = self.part;
        f64::from(window.cwnd) + if whole == window.cwnd { part } else { 0.0 }
    }

    /// Fills in the fields of a moment that only this type knows.
    pub(crate) fn fill(&self, context: &AckContext, moment: Moment) -> Moment {
        Moment {
            acked: context.delivered - self.before.delivered,
            marked: context.marked - self.before.marked,
            rtt: self.rtt.map(Span::from_us),
            delivery_rate: self.rate.map(|(rate, _)| rate),
            app_limited: self.rate.is_some_and(|(_, by_application)| by_application),
            round: self.newest,
            tallied: self.tallied,
            ..moment
        }
    }

    /// Adds the round trip that has ended and is not yet reported to the law.
    pub(crate) fn with_round(&self, moment: Moment) -> Moment {
        let Some((round, tallied)) = self.ended else { return Moment { round: None, ..moment } };
        Moment { round: Some(round), tallied: Some(tallied), ..moment }
    }

    /// The last reduction is excused.
    pub(crate) fn go_back(&mut self) {
        self.part = self.part_before;
    }

    /// The law has received the round trip that has ended.
    pub(crate) fn round_reported(&mut self) {
        self.ended = None;
    }

    /// The window, and the threshold if there is one, become what the law has answered to an ACK or
    /// to its timer; returns false where it leaves them to the engine.
    pub(crate) fn apply(&mut self, window: &mut LinuxWindow, decision: Decision) -> bool {
        let cwnd = match decision {
            Decision::Usual => return false,
            Decision::Window(cwnd) => cwnd,
            Decision::Both { cwnd, ssthresh } => {
                window.ssthresh = whole_threshold(ssthresh);
                cwnd
            }
        };
        let cwnd = cwnd.clamp(1.0, WINDOW_MOST);
        window.cwnd = cwnd as u32;
        self.part = (window.cwnd, cwnd.fract());
        true
    }

    /// The threshold that the law's answer sets for `window` after a loss, a mark or a time-out. Of
    /// a pair only the threshold counts: the window goes there step by step, or begins again.
    pub(crate) fn threshold(&mut self, window: &LinuxWindow, decision: Decision) -> u32 {
        self.part_before = std::mem::take(&mut self.part);
        match decision {
            Decision::Usual => (window.cwnd >> 1).max(2),
            Decision::Window(left) | Decision::Both { ssthresh: left, .. } => whole_threshold(left),
        }
    }

    pub(crate) fn set_timer(&mut self, at: Option<Time>) {
        self.timer = at;
    }

    pub(crate) fn deadline(&self) -> Option<Time> {
        self.timer
    }

    /// Whether its timer is due; then it does not run any more.
    pub(crate) fn take_timer(&mut self, now: Time) -> bool {
        self.timer.take_if(|at| *at <= now).is_some()
    }
}

/// A threshold in whole segments, at least two.
fn whole_threshold(segments: f64) -> u32 {
    segments.clamp(2.0, f64::from(INFINITE)) as u32
}
