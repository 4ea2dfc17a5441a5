//! The state that all loss recoveries share and the acts they are made of.

mod python_law;

use std::ops::Range;

use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::config::{Config, Profile, Variant, VegasRules};
use crate::counters::SenderCounters;
use crate::delays::{Delays, SLACK};
use crate::foreign::Classes;
use crate::hold::Hold;
use crate::offered::Offered;
use crate::rto::Timer;
use crate::segment::{SegmentFlags, Transmission};
use crate::window::Window;

/// Why the window was last reduced (ns-2 `last_cwnd_action_`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Reduction {
    None,
    /// Duplicate ACKs; the repair goes on.
    Duplicates,
    /// Duplicate ACKs; the repair is over.
    Repaired,
    Timeout,
}

/// A connection as its sender sees it: sequence space, window, timer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Flow {
    /// Cumulative ACK: all below has arrived.
    pub(crate) acked: u64,
    /// The next segment to send in order; falls back to `acked` to go back N.
    pub(crate) next: u64,
    /// One past the highest segment ever sent.
    pub(crate) sent: u64,
    pub(crate) offered: Offered,
    /// The value of `sent` at the last reduction: ACKs up to it report on the same window of data.
    pub(crate) recover: u64,
    /// Duplicate ACKs since the last progress.
    pub(crate) duplicates: u32,
    /// Segments that Limited Transmit released since the last progress.
    pub(crate) limited_transmissions: u64,
    pub(crate) last_reduction: Reduction,
    pub(crate) window: Window,
    pub(crate) timer: Timer,
    pub(crate) counters: SenderCounters,
    pub(crate) hold: Hold,
    pub(crate) dupack_threshold: u32,
    pub(crate) limited_transmit: bool,
    /// Most segments an ACK may release; `u64::MAX`: no limit.
    pub(crate) max_burst: u64,
    first_window_fast_retransmit: bool,
    initial_window: u32,
    syn_loss_initial_window: u32,
    idle_restart_window: u32,
    /// When nothing is outstanding: from when on the sender counts as idle.
    idle_from: Option<Time>,
    /// The segment that the last time-out was about.
    timed_out: Option<u64>,
    /// For what goes by delay.
    pub(crate) delays: Option<Box<Delays>>,
    /// Whether this is to be an agent of ns-2.
    as_ns2: bool,
    /// Whether this is to be ns-2's Vegas: its initial window waits for the second ACK.
    as_ns2_vegas: bool,
}

impl Flow {
    pub(crate) fn new(config: &Config, classes: Option<&dyn Classes>) -> Self {
        Self {
            acked: 0,
            next: 0,
            sent: 0,
            offered: Offered::new(config),
            // One and not zero: the SYN belongs to no window of data (ns-2 `recover_` 0).
            recover: 1,
            duplicates: 0,
            limited_transmissions: 0,
            last_reduction: Reduction::None,
            window: Window::new(config, classes),
            timer: Timer::new(config),
            counters: SenderCounters::default(),
            hold: Hold::new(config),
            dupack_threshold: config.dupack_threshold,
            limited_transmit: config.limited_transmit,
            max_burst: unlimited_if_zero(config.max_burst),
            first_window_fast_retransmit: config.first_window_fast_retransmit,
            initial_window: config.initial_window,
            syn_loss_initial_window: config.syn_loss_initial_window,
            idle_restart_window: config.idle_restart_window,
            idle_from: None,
            timed_out: None,
            delays: Delays::new(config),
            as_ns2: config.profile != Profile::Rfc,
            as_ns2_vegas: config.variant == Variant::Vegas && config.vegas_rules == VegasRules::Ns2,
        }
    }

    /// The segments sent since the last fall-back and not acknowledged (FlightSize of RFC 5681),
    /// without those of Limited Transmit, which must not count.
    pub(crate) fn flight(&self) -> u64 {
        self.next.saturating_sub(self.acked).saturating_sub(self.limited_transmissions)
    }

    /// Whether the cumulative ACK `next` says nothing new of what is outstanding. ns-2 asks not
    /// whether anything is, which matters where `send_jitter` holds back what would be.
    #[inline]
    pub(crate) fn is_duplicate(&self, next: u64) -> bool {
        next == self.acked && (self.acked < self.sent || (self.as_ns2 && !self.hold.is_off()))
    }

    /// Restarts the window if the sender was idle until `now` (RFC 5681 section 4.1). ns-2 does so
    /// by letting the timer run out with nothing outstanding; the outcome is the same.
    pub(crate) fn end_idleness(&mut self, now: Time) {
        let idle = self.acked == self.sent && self.idle_from.is_some_and(|from| now >= from);
        if self.idle_restart_window == 0 || !idle {
            return;
        }
        self.idle_from = None;
        self.window.cwnd = self.window.cwnd.min(f64::from(self.idle_restart_window));
        self.window.inflation = 0;
        self.duplicates = 0;
        self.recover = self.sent;
        self.last_reduction = Reduction::Timeout;
        self.timer.cancel_measurement();
    }

    /// Hands one segment to the link.
    pub(crate) fn emit(&mut self, now: Time, seq: u64, out: &mut Vec<Transmission>) {
        let retransmission = seq < self.sent;
        self.counters.segments_sent += 1;
        if retransmission {
            self.counters.retransmissions += 1;
        } else {
            self.sent = seq + 1;
            self.timer.on_first_transmission(now, seq);
        }
        out.push(Transmission {
            seq,
            size: self.offered.size(seq),
            retransmission,
            cwnd: self.window.cwnd,
            ssthresh: self.window.ssthresh,
            flags: SegmentFlags::default(),
        });
        if let Some(delays) = &mut self.delays {
            delays.on_send(now, seq);
        }
        if self.timer.deadline().is_none() {
            self.timer.restart(now);
        }
    }

    /// Sends in order what the window allows, at most `burst` segments.
    pub(crate) fn send_window(&mut self, now: Time, burst: u64, out: &mut Vec<Transmission>) {
        let end = (self.acked + self.window.segments()).min(self.offered.limit);
        let end = end.min(self.next.saturating_add(burst));
        if self.next < end && self.hold.holds() {
            return;
        }
        while self.next < end {
            self.emit(now, self.next, out);
            self.next += 1;
        }
    }

    /// As [`send_window`](Self::send_window) where all goes out for the first time: returns which
    /// segments do.
    #[inline(always)]
    pub(crate) fn release(&mut self, now: Time) -> Range<u64> {
        let first = self.next;
        let end = (self.acked + self.window.segments()).min(self.offered.limit);
        let end = end.min(first.saturating_add(self.max_burst));
        if end <= first {
            return first..first;
        }
        self.counters.segments_sent += end - first;
        (self.next, self.sent) = (end, end);
        self.timer.on_first_transmission(now, first);
        if self.timer.deadline().is_none() {
            self.timer.restart(now);
        }
        first..end
    }

    /// Limited Transmit (RFC 3042): one segment more than the window allows for each duplicate ACK.
    pub(crate) fn send_limited(&mut self, now: Time, out: &mut Vec<Transmission>) {
        let outstanding = (self.next + 1 - self.acked) as f64;
        if self.next < self.offered.limit
            && self.next < self.acked + self.window.receiver
            && outstanding <= self.window.cwnd + f64::from(self.duplicates)
        {
            self.emit(now, self.next, out);
            self.next += 1;
            self.limited_transmissions += 1;
        }
    }

    /// Takes a cumulative ACK of new data: sequence space, measurement, timer.
    #[inline(always)]
    pub(crate) fn accept(&mut self, now: Time, next: u64) {
        let acked = self.acked;
        self.advance(next);
        self.duplicates = 0;
        self.limited_transmissions = 0;
        self.timer.on_progress(now, next);
        self.restart_timer(now);
        if let Some(delays) = &mut self.delays {
            delays.on_progress(now, acked, next, self.next, self.window.plain());
            if let Some(rtt) = delays.news().rtt {
                self.window.measured(rtt);
            }
        }
    }

    /// As [`accept`](Self::accept) where no segment was sent twice or heard of twice.
    #[inline(always)]
    pub(crate) fn accept_fast(&mut self, now: Time, next: u64) {
        if next == self.sent {
            return self.accept(now, next);
        }
        self.acked = next;
        self.timer.on_progress(now, next);
        self.timer.restart(now);
    }

    /// Moves the cumulative ACK alone.
    #[inline]
    pub(crate) fn advance(&mut self, next: u64) {
        self.acked = next;
        self.next = self.next.max(next);
    }

    /// Restarts the timer, or stops it when nothing is outstanding. ns-2's Vegas can come to a
    /// window of no segment at all, and only the timer gets it out of there.
    #[inline(always)]
    pub(crate) fn restart_timer(&mut self, now: Time) {
        if self.acked < self.sent || (self.as_ns2_vegas && self.acked < self.offered.limit) {
            self.timer.restart(now);
        } else {
            self.timer.stop();
            self.idle_from = Some(now.saturating_add(self.timer.rto()));
        }
    }

    /// Opens the window for an ACK of new data; the ACK of the SYN sets the initial window.
    #[inline(always)]
    pub(crate) fn grow(&mut self, now: Time) {
        if self.delays.is_some() { self.grow_by_delay(now) } else { self.grow_by_acks() }
    }

    /// As [`grow`](Self::grow) for what does not go by delay.
    #[inline(always)]
    pub(crate) fn grow_by_acks(&mut self) {
        if self.acked == 1 {
            self.open();
        } else {
            self.window.grow();
        }
    }

    /// The SYN is acknowledged.
    fn open(&mut self) {
        if self.timed_out == Some(0) {
            self.timer.on_late_syn();
        }
        self.window.set(f64::from(self.initial_window));
    }

    /// Whether enough duplicate ACKs may reduce the window: not twice for one window of data.
    pub(crate) fn may_reduce(&self) -> bool {
        self.acked > self.recover || (self.first_window_fast_retransmit && self.acked == 1)
    }

    /// Bookkeeping of a fast retransmit, before the window is reduced.
    pub(crate) fn begin_fast_retransmit(&mut self) {
        self.recover = self.sent;
        self.last_reduction = Reduction::Duplicates;
        self.counters.fast_retransmits += 1;
    }

    /// Restarts the timer for a segment that goes out again.
    pub(crate) fn restart_for_retransmission(&mut self, now: Time) {
        self.timer.restart(now);
        self.timer.cancel_measurement();
    }

    /// A time-out: threshold, one segment, back-off, go back N.
    pub(crate) fn time_out(&mut self, now: Time) {
        if self.acked == 0 && !self.as_ns2_vegas {
            self.initial_window = self.syn_loss_initial_window;
        }
        let again = self.timed_out == Some(self.acked);
        self.timed_out = Some(self.acked);
        self.restart_window(now, again);
        self.timer.back_off();
        self.begin_again(now);
    }
}

impl Flow {
    /// A lost SYN says nothing of how much data the path takes: only the window begins smaller
    /// (RFC 5681 section 3.1). Agents of ns-2 halve the threshold.
    fn keep_threshold_of_syn(&mut self, threshold: f64) {
        if self.acked == 0 && !self.as_ns2 {
            self.window.ssthresh = threshold;
        }
    }

    /// Segments sent since the last time-out and not acknowledged: the timer waits for these.
    pub(crate) fn outstanding(&self) -> Range<u64> {
        self.acked..self.next
    }

    /// One lost burst, by a time-out or before it: half the window, everything outstanding goes out
    /// again in congestion avoidance, no back-off (Yu et al. 2004, section IV). A law that judges
    /// its losses (`by_law`) may leave another part of the window.
    pub(crate) fn repair_burst(&mut self, now: Time, by_law: bool) {
        let threshold = self.window.ssthresh;
        self.excuse_window(now, by_law);
        self.keep_threshold_of_syn(threshold);
        self.timer.end_backoff();
        self.begin_again(now);
    }
}

/// Functions of laws that go by delay.
impl Flow {
    /// Everything outstanding is to go out again.
    fn begin_again(&mut self, now: Time) {
        self.last_reduction = Reduction::Timeout;
        self.recover = self.sent;
        self.limited_transmissions = 0;
        self.restart_for_retransmission(now);
        self.next = self.acked;
        if let Some(delays) = &mut self.delays {
            delays.begin_again(now, self.acked);
        }
    }

    /// An ACK on the fast path: what is taken, grown and released where something goes by delay.
    #[inline(never)]
    pub(crate) fn go_on_by_delay(&mut self, now: Time, next: u64) -> Range<u64> {
        self.accept(now, next);
        self.grow(now);
        let released = self.release(now);
        if let Some(delays) = &mut self.delays {
            released.clone().for_each(|seq| delays.on_send(now, seq));
        }
        released
    }

    /// The law hears of a round trip before the ACK that ended it opens the window.
    fn grow_by_delay(&mut self, now: Time) {
        let round = self.delays.as_mut().and_then(|delays| delays.take_round());
        if self.acked > 1 && self.window.asks_foreign() {
            return self.grow_by_class(now, round);
        }
        if let Some(round) = round {
            self.window.follow(&round);
        }
        if self.acked == 1 && !self.as_ns2_vegas {
            self.open();
        } else {
            let outstanding = self.next + 1 - self.acked;
            let used = self.window.cwnd - outstanding as f64 <= SLACK;
            self.window.grow_along(used);
        }
    }

    /// Sets the initial window at the ACK that follows that of the SYN.
    pub(crate) fn open_late(&mut self) {
        if self.acked == 1 {
            self.window.cwnd = f64::from(self.initial_window);
        }
    }

    /// Whether the first segment that is not acknowledged should have been by now.
    pub(crate) fn is_overdue(&self, now: Time) -> bool {
        self.delays.as_ref().is_some_and(|delays| delays.is_overdue(now, self.acked))
    }

    /// When the first segment that is not acknowledged was last sent and how often it was.
    pub(crate) fn sent_before(&self) -> (Option<Time>, u32) {
        let known = self.delays.as_ref().and_then(|delays| delays.sent(self.acked));
        known.map_or((None, 0), |(sent, transmissions)| (Some(sent), transmissions))
    }

    /// A segment was overdue, not for the first time where `again`: the next may take longer.
    pub(crate) fn lose_patience(&mut self, again: bool) {
        if let Some(delays) = &mut self.delays {
            delays.back_off(again);
        }
    }

    /// For how long the SYN has been out.
    pub(crate) fn since_syn(&self, now: Time) -> Span {
        self.delays.as_ref().map_or(Span::ZERO, |delays| now.since(delays.origin()))
    }
}

/// Zero stands for "no limit" in the parameters.
pub(crate) fn unlimited_if_zero(limit: u32) -> u64 {
    if limit == 0 { u64::MAX } else { u64::from(limit) }
}
