//! Round-trip times of single segments in exact time: what the laws that go by delay decide by, and
//! when a segment counts as overdue.

mod recent;
mod send_times;

use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::config::{Config, Variant, VegasRules, WindowLaw};
use crate::round::{Round, Tallied};
use recent::Recent;
use send_times::SendTimes;

/// The delays of a connection.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Delays {
    as_ns2: bool,
    sent: SendTimes,
    /// When the SYN was last sent; the clock of ns-2's Vegas begins there.
    origin: Time,
    /// The shortest round trip.
    base: Option<Span>,
    /// How many round trips were measured, and the last of them.
    measured: (u64, Span),
    /// Segments that waited in queues in the last whole round.
    queued: Option<f64>,
    tally: Tally,
    /// Whether delay stands for queues, where not all does.
    recent: Option<Recent>,
    patience: Option<Patience>,
    /// The round that the last ACK ended.
    ended: Option<Round>,
    /// The facts of the last ACK of new data.
    news: News,
    /// The counts of the current round, and those of the last one.
    counted: (Tallied, Option<Tallied>),
    /// Bytes of data in a full segment.
    payload: u64,
}

/// The facts of an ACK of new data.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct News {
    /// Segments that it acknowledges.
    pub(crate) acked: u64,
    /// The round trip that it measured.
    pub(crate) rtt: Option<Span>,
    /// The round that it ended, which stays here.
    pub(crate) round: Option<Round>,
}

/// The round trip that is running.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Tally {
    /// It ends when this segment is acknowledged.
    first: u64,
    begun: Time,
    sum: Span,
    count: u64,
}

impl Delays {
    /// `None` where nothing goes by delay.
    pub(crate) fn new(config: &Config) -> Option<Box<Self>> {
        let vegas = config.variant == Variant::Vegas || config.window_law == WindowLaw::Vegas;
        let measures = matches!(config.window_law, WindowLaw::Fast | WindowLaw::Saimd);
        if !vegas && !measures && !config.needs_classes() {
            return None;
        }
        let as_ns2 = vegas && config.vegas_rules == VegasRules::Ns2;
        Some(Box::new(Self {
            as_ns2,
            sent: SendTimes::new(config.window, as_ns2),
            origin: Time::ZERO,
            base: None,
            measured: (0, Span::ZERO),
            queued: None,
            tally: Tally { first: 0, begun: Time::ZERO, sum: Span::ZERO, count: 0 },
            recent: Recent::new(config).filter(|_| vegas),
            patience: None,
            ended: None,
            news: News::default(),
            counted: (Tallied::default(), None),
            payload: config.segment_size.get() - config.headers().get(),
        }))
    }

    /// A segment goes out, not necessarily for the first time.
    pub(crate) fn on_send(&mut self, now: Time, seq: u64) {
        if seq == 0 {
            self.origin = now;
            self.tally.begun = now;
            self.sent.clear();
        }
        let (running, _) = &mut self.counted;
        running.sent += 1;
        running.lost += u64::from(self.sent.of(seq).is_some());
        self.sent.record(now, seq);
    }

    /// The segments from `acked` on, below `next`, have been acknowledged; `following` is the next
    /// to be sent and `window` the congestion window within the receiver's.
    pub(crate) fn on_progress(
        &mut self,
        now: Time,
        acked: u64,
        next: u64,
        following: u64,
        window: f64,
    ) {
        self.news = News { acked: next - acked, ..News::default() };
        self.counted.0.acked += next - acked;
        if self.as_ns2 && self.patience.is_none() {
            let rtt = now.since(self.origin);
            self.base = Some(rtt);
            self.patience = Some(Patience::new(rtt));
        }
        // In ns-2 the ACK that ends a round is the first to be measured in the next.
        if !self.as_ns2 {
            self.measure(now, next - 1);
        }
        self.ended = None;
        if next > self.tally.first {
            self.ended = self.round(now, following - self.tally.first, following - next, window);
            self.end_count(now);
            self.news.round = self.ended;
            self.queued = self.ended.as_ref().map(|round| round.queued).or(self.queued);
            self.tally = Tally { first: following, begun: now, sum: Span::ZERO, count: 0 };
        }
        if self.as_ns2 {
            self.measure(now, next - 1);
        }
        self.sent.forget(acked, next);
    }

    /// Takes the round trip of segment `seq`, if it has one.
    fn measure(&mut self, now: Time, seq: u64) {
        let Some(rtt) = self.sample(now, seq).filter(|rtt| !rtt.is_zero()) else { return };
        self.measured = (self.measured.0 + 1, rtt);
        self.news.rtt = Some(rtt);
        self.tally.sum += rtt;
        self.tally.count += 1;
        self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
        match &mut self.patience {
            Some(patience) => patience.measure(rtt),
            None => self.patience = Some(Patience::new(rtt)),
        }
    }

    /// The round trip of segment `seq`, if it was sent once (Karn) and is not the SYN, which is
    /// shorter than data and goes alone.
    fn sample(&self, now: Time, seq: u64) -> Option<Span> {
        match self.sent.of(seq) {
            Some((sent, 1)) if seq > 0 && sent > self.origin => Some(now.since(sent)),
            _ => None,
        }
    }

    /// Closes the round, in which `sent` segments went out and after which `outstanding` are in
    /// flight.
    fn round(&mut self, now: Time, sent: u64, outstanding: u64, window: f64) -> Option<Round> {
        let Tally { begun, sum, count, .. } = self.tally;
        let rtt = match (count, self.base) {
            (0, _) if self.as_ns2 => now.since(begun),
            // In the round trip of the SYN nothing was learnt.
            (0, None) => return Some(Round { base_over_rtt: 1.0, queued: 0.0, used: true }),
            // Every segment had been sent before. Not shorter than what is known to be possible.
            (0, Some(base)) => now.since(begun).max(base),
            _ => sum / count,
        };
        if rtt.is_zero() {
            return None;
        }
        // A segment that was alone met no queue of its own making: ns-2 takes its round trip for
        // the shortest even if it is not.
        let alone = self.as_ns2 && sent <= 1;
        let base = self.base.filter(|&base| base <= rtt && !alone).unwrap_or(rtt);
        self.base = Some(base);
        let no_queue = self.recent.as_mut().is_some_and(|recent| !recent.shows_queue(rtt, base));
        let rtt = if no_queue { base } else { rtt };
        let base_over_rtt = base.as_secs_f64() / rtt.as_secs_f64();
        let queued = if self.as_ns2 {
            // Expected less actual throughput over the shortest round trip, to the nearest whole.
            let expected = (outstanding + 1) as f64;
            (expected - sent as f64 * base_over_rtt + 0.5).trunc()
        } else {
            window * (1.0 - base_over_rtt)
        };
        Some(Round { base_over_rtt, queued, used: sent as f64 + SLACK >= window })
    }

    /// All from `first` on goes out again: a round begins. In ns-2 the last one goes on.
    pub(crate) fn begin_again(&mut self, now: Time, first: u64) {
        if !self.as_ns2 {
            self.end_count(now);
            self.tally = Tally { first, begun: now, sum: Span::ZERO, count: 0 };
        }
    }

    /// The round is over for what is counted.
    fn end_count(&mut self, now: Time) {
        let (running, last) = &mut self.counted;
        let span = now.since(self.tally.begun);
        *last = Some(Tallied { span, ..std::mem::take(running) });
    }

    /// Bytes of data in a full segment.
    pub(crate) fn payload(&self) -> u64 {
        self.payload
    }

    /// The counts of the last round trip that has ended.
    pub(crate) fn tallied(&self) -> Option<Tallied> {
        self.counted.1
    }

    /// The round that the last ACK ended, once.
    pub(crate) fn take_round(&mut self) -> Option<Round> {
        self.ended.take()
    }

    /// When segment `seq` was last sent and how often, if it is outstanding.
    pub(crate) fn sent(&self, seq: u64) -> Option<(Time, u32)> {
        self.sent.of(seq)
    }

    /// Whether segment `seq` should have been acknowledged by now. Of a segment that was not sent
    /// ns-2 believes that it was, a second before the SYN.
    pub(crate) fn is_overdue(&self, now: Time, seq: u64) -> bool {
        let elapsed = match self.sent.of(seq) {
            Some((sent, _)) => now.since(sent),
            None if self.as_ns2 => now.since(self.origin) + Span::from_secs(1),
            None => return false,
        };
        self.patience.as_ref().is_some_and(|patience| elapsed.as_secs_f64() >= patience.timeout)
    }

    /// An overdue segment goes out again, not for the first time where `again`.
    pub(crate) fn back_off(&mut self, again: bool) {
        if let Some(patience) = &mut self.patience {
            patience.timeout += if again { patience.timeout } else { patience.timeout / 8.0 };
        }
    }

    /// When the SYN was last sent.
    pub(crate) fn origin(&self) -> Time {
        self.origin
    }

    /// How many round trips were measured, and the last of them.
    pub(crate) fn measured(&self) -> (u64, Span) {
        self.measured
    }

    /// Segments that waited in queues in the last whole round, as estimated from the delay.
    pub(crate) fn queued(&self) -> Option<f64> {
        self.queued
    }

    /// The facts of the last ACK of new data.
    pub(crate) fn news(&self) -> News {
        self.news
    }

    /// The shortest round trip.
    pub(crate) fn base(&self) -> Option<Span> {
        self.base
    }
}

/// A window counts as used when no more than this many segments of it were not sent.
pub(crate) const SLACK: f64 = 2.0;

/// How long a segment may take before it is overdue, in seconds. ns-2 `v_sa_`, `v_sd_`,
/// `v_timeout_`, after the estimator of the authors of Vegas.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Patience {
    /// Eight times the smoothed round trip.
    eight_smoothed: f64,
    /// Four times its mean deviation.
    four_deviation: f64,
    timeout: f64,
}

impl Patience {
    fn new(rtt: Span) -> Self {
        let rtt = rtt.as_secs_f64();
        let mut new = Self { eight_smoothed: 8.0 * rtt, four_deviation: rtt, timeout: 0.0 };
        new.timeout = new.estimate();
        new
    }

    fn measure(&mut self, rtt: Span) {
        let error = rtt.as_secs_f64() - self.eight_smoothed / 8.0;
        self.eight_smoothed += error;
        self.four_deviation += error.abs() - self.four_deviation / 4.0;
        self.timeout = self.estimate() * (17.0 / 16.0);
    }

    /// Smoothed round trip and twice its deviation.
    fn estimate(&self) -> f64 {
        (self.eight_smoothed / 4.0 + self.four_deviation) / 2.0
    }
}
