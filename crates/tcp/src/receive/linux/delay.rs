//! The time of an ACK. It goes at once in the quick phase; else after two segments, or after a
//! delay that follows the time between segments. Out of order it goes at once, and later less often
//! (facts of `tcp_input.c` and `tcp_timer.c`, Linux 6.12).
//!
//! Delays are counted in ticks of a millisecond, as in a kernel with HZ = 1000. A timer stays on
//! the wheel when its ACK goes early, because the kernel does not delete it. So a later ACK may
//! find an old timer, and `timer` keeps when it was set and when it is due. `take_first` and
//! `take_second` serve the fast path, after `is_even` has checked its assumptions: full segments in
//! order, acknowledged two by two, with no quick ACK left and no compressed ACK waiting. They
//! refuse where the delay would do more than approach its least; then the general functions run.

use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::window::Advertised;
use crate::config::Config;
use crate::linux::{Clock, earliest, ticks};

/// ACKs of the quick phase at most: `TCP_MAX_QUICKACKS`.
const QUICK_MOST: u32 = 16;
/// The same after a mark.
const QUICK_MARKED: u32 = 2;
/// The shortest and the longest delay in ticks: `TCP_ATO_MIN`, `TCP_DELACK_MIN`, `HZ / 2`,
/// `TCP_DELACK_MAX`; and no longer than the shortest time-out less one.
const LEAST: u64 = 40;
const MOST: u64 = 500;
const MOST_PUSHED: u64 = 200;
/// The segment size that is assumed before the first one: `TCP_MSS_DEFAULT`.
const SIZE_FIRST: u64 = 536;
/// The least that a full segment may have: `TCP_MIN_MSS`.
const SIZE_LEAST: u64 = 88;
/// Bytes that time stamps take in a header: `TCPOLEN_TSTAMP_ALIGNED`.
const STAMPS: u64 = 12;
/// Duplicate ACKs that go at once (`TCP_FASTRETRANS_THRESH`), and those that may then be left out
/// in favour of one (`tcp_comp_sack_nr`).
const DUPLICATES: u32 = 3;
const COMPRESSED_MOST: u32 = 44;
/// How long such an ACK waits at most, and how late its timer may be
/// (`tcp_comp_sack_delay_ns`, `tcp_comp_sack_slack_ns`); else a twentieth of a round trip.
const COMPRESS_NS: u64 = 1_000_000;
const SLACK_NS: u64 = 100_000;
const COMPRESS_SHARE: u64 = 20;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Delay {
    clock: Clock,
    /// Whether delays are adaptive; else every segment is acknowledged.
    adaptive: bool,
    payload: u64,
    /// The assumed length of a full segment (`rcv_mss`): the largest so far, or that of two short
    /// ones in a row.
    size: u64,
    /// The length of the last segment, if it was short.
    short: u64,
    /// Bytes of time stamps in each header, and of SACK blocks in the next one.
    stamps: u64,
    blocks: u64,
    /// The delay follows the time between segments, in ticks.
    ato: u64,
    /// When the last segment came, in ticks.
    last: u64,
    /// ACKs that go at once.
    quick: u32,
    /// Whether something waits for its ACK, and whether that goes now.
    scheduled: bool,
    at_once: bool,
    /// Whether a segment ended a push, or was short; and whether a short one came after that.
    pushed: bool,
    pushed_again: bool,
    /// Whether data have gone in answer to data, so that ACKs are left to data (`pingpong`).
    answers: bool,
    /// When a delayed ACK is due, and when that was set, in ticks: they say when the timer wheel
    /// gets there. An ACK that goes before does not take the timer off the wheel.
    timer: Option<(u64, u64)>,
    /// Whether an ACK waits for the timer.
    timed: bool,
    /// The smoothed round trip of the handshake in microseconds, and its time-out in ticks.
    srtt: u64,
    rto: u64,
    rto_min_us: u64,
    /// Duplicate ACKs that asked for `duplicates_of`, those left out, and when one goes for them.
    duplicates: u32,
    duplicates_of: u64,
    compressed: u32,
    compress: Option<Time>,
}

impl Delay {
    pub(super) fn new(config: &Config, clock: Clock) -> Self {
        let payload = config.segment_size.get() - config.headers().get();
        Self {
            clock,
            adaptive: config.delayed_ack,
            payload,
            size: SIZE_FIRST.min(payload),
            short: 0,
            blocks: 0,
            stamps: if config.timestamps.unwrap_or(true) { STAMPS } else { 0 },
            ato: 0,
            last: 0,
            quick: 0,
            scheduled: false,
            at_once: false,
            pushed: false,
            pushed_again: false,
            answers: false,
            timer: None,
            timed: false,
            srtt: 0,
            rto: ticks(config.rto_initial.as_ps() / 1_000_000),
            rto_min_us: config.rto_min.as_ps() / 1_000_000,
            duplicates: 0,
            duplicates_of: 0,
            compressed: 0,
            compress: None,
        }
    }

    /// The handshake took `rtt` microseconds.
    pub(super) fn set_round_trip(&mut self, rtt: u64) {
        self.know(rtt, ticks(rtt + (rtt << 1).max(self.rto_min_us)));
    }

    /// Takes the round trip that this host measured, in microseconds, and its time-out in ticks.
    pub(super) fn know(&mut self, rtt: u64, rto: u64) {
        (self.srtt, self.rto) = (rtt.max(1), rto);
    }

    pub(super) fn schedule(&mut self) {
        self.scheduled = true;
    }

    pub(super) fn is_scheduled(&self) -> bool {
        self.scheduled
    }

    /// The next ACK goes at once.
    pub(super) fn now(&mut self) {
        self.at_once = true;
    }

    /// Whether a delayed ACK waits.
    pub(super) fn waits(&self) -> bool {
        self.timed
    }

    pub(super) fn is_compressing(&self) -> bool {
        self.compressed > 0
    }

    /// Quick ACKs from now on, as many as half the window has segments (`tcp_enter_quickack_mode`).
    pub(super) fn enter_quickack(&mut self, window: &Advertised) {
        self.raise(QUICK_MOST, window);
        (self.ato, self.answers) = (LEAST, false);
    }

    /// The same after a mark, or its absence (`__tcp_ecn_check_ce`).
    pub(super) fn enter_quickack_after_mark(&mut self, window: &Advertised) {
        self.raise(QUICK_MARKED, window);
        (self.ato, self.answers) = (LEAST, false);
    }

    /// `tcp_incr_quickack`.
    fn raise(&mut self, most: u32, window: &Advertised) {
        let half = window.offered() / (2 * self.size);
        let quick = if half == 0 { 2 } else { half.min(u64::from(most)) as u32 };
        self.quick = self.quick.max(quick);
    }

    /// The window has grown: its sender shall know (`tcp_grow_window`).
    pub(super) fn send_next_ack_at_once(&mut self) {
        self.quick |= 1;
    }

    /// The length of a full segment, as far as known.
    #[inline]
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// The next segment has so many bytes of SACK blocks.
    pub(super) fn note_blocks(&mut self, blocks: u64) {
        self.blocks = blocks;
    }

    /// ACKs are left to data from now on (`inet_csk_enter_pingpong_mode`).
    pub(super) fn leave_to_data(&mut self) {
        self.answers = true;
    }

    /// No ACK is to go at once for the time being (`__tcp_select_window`).
    pub(super) fn calm(&mut self) {
        self.quick = 0;
    }

    /// A segment of `bytes` came, and with it perhaps the end of a push. A short one also ends one,
    /// unless the one before was as short (`tcp_measure_rcv_mss`).
    #[inline]
    pub(super) fn note(&mut self, bytes: u64, push: bool) {
        if bytes >= self.size {
            self.blocks = 0;
            self.pushed |= push;
            (self.size, self.short) = (bytes.min(self.payload), 0);
        } else {
            self.note_short(bytes, push);
        }
    }

    #[cold]
    fn note_short(&mut self, bytes: u64, push: bool) {
        // Blocks count as data: a full segment has less room for these where it carries some.
        let bytes = bytes + std::mem::take(&mut self.blocks);
        let long = bytes + self.stamps;
        let regular = long >= SIZE_FIRST || (long >= SIZE_LEAST && !push);
        let before = std::mem::replace(&mut self.short, if regular { bytes } else { 0 });
        if regular && before == bytes {
            self.size = bytes.min(self.payload);
        } else {
            self.pushed_again |= self.pushed;
            self.pushed = true;
        }
    }

    /// The delay follows the time since the last segment (`tcp_event_data_recv`).
    #[inline]
    pub(super) fn follow(&mut self, tick: u64, window: &Advertised) {
        let gap = tick - self.last;
        if self.ato == 0 {
            // The first data.
            self.raise(QUICK_MOST, window);
            self.ato = LEAST;
        } else if gap <= LEAST / 2 {
            // The fastest case: towards the least.
            self.ato = (self.ato >> 1) + LEAST / 2;
        } else if gap < self.ato {
            // A mean of the delay and the gap.
            self.ato = ((self.ato >> 1) + gap).min(self.rto);
        } else if gap > self.rto {
            // Its sender has probably begun anew with a small window.
            self.raise(QUICK_MOST, window);
        }
        self.last = tick;
    }

    /// Whether full segments of `bytes` are acknowledged two by two, and the next one is the second
    /// one of two, or is not.
    #[inline]
    pub(super) fn is_even(&self, bytes: u64, second: bool) -> bool {
        let waits = self.scheduled == second && self.timed == second;
        let plain = bytes == self.size && !self.pushed && !self.pushed_again;
        let slowly = self.adaptive && self.quick == 0 && !self.at_once && self.ato > 0;
        waits && plain && slowly && self.compressed == 0 && self.compress.is_none()
    }

    /// Whether the second of two segments surely comes before the timer that the first one set.
    #[inline]
    pub(super) fn is_second_in_time(&self, tick: u64) -> bool {
        self.timer.is_some_and(|(due, _)| tick <= due)
    }

    /// Does the work of [`follow`](Self::follow) and [`delay`](Self::delay) at the first of two
    /// segments. Does nothing, and returns false, where segments come so slowly that the delay does
    /// more than to approach its least.
    #[inline]
    pub(super) fn take_first(&mut self, tick: u64) -> bool {
        let ato = (self.ato >> 1) + LEAST / 2;
        if tick - self.last > LEAST / 2 || ato > LEAST {
            return false;
        }
        // A timer of before that is not due at the same tick is set anew, run out or not.
        let due = tick + ato.min((self.rto_min_us / 1000).max(2) - 1);
        if self.timer.is_none_or(|(set, _)| set != due) {
            self.timer = Some((due, tick));
        }
        (self.ato, self.last) = (ato, tick);
        (self.scheduled, self.timed) = (true, true);
        true
    }

    /// Does the work of [`follow`](Self::follow) and [`sent`](Self::sent) at the second one,
    /// likewise.
    #[inline]
    pub(super) fn take_second(&mut self, tick: u64) -> bool {
        if tick - self.last > LEAST / 2 {
            return false;
        }
        (self.ato, self.last) = ((self.ato >> 1) + LEAST / 2, tick);
        (self.scheduled, self.timed) = (false, false);
        true
    }

    /// Whether an ACK goes now; else a timer is set. `compresses`: segments are there above a hole,
    /// and whether the receiver may leave duplicate ACKs out (`__tcp_ack_snd_check`).
    pub(super) fn decide(
        &mut self,
        now: Time,
        next: u64,
        compresses: Option<bool>,
        round_trip: u64,
    ) -> bool {
        // `tcp_in_quickack_mode`, `ICSK_ACK_NOW`; else RFC 5681 section 4.2.
        let quick = self.quick > 0 && !self.answers;
        if quick || self.at_once || !self.adaptive {
            return true;
        }
        match compresses {
            None => self.delay(self.clock.tick(now)),
            // Out of order: at once (RFC 5681 section 4.2).
            Some(false) => true,
            Some(true) => self.repeats(now, next, round_trip),
        }
    }

    /// The same of a segment in order, above which none is there.
    #[inline]
    pub(super) fn decide_in_order(&mut self, tick: u64) -> bool {
        self.quick > 0 || self.at_once || !self.adaptive || self.delay(tick)
    }

    /// A duplicate ACK: the first ones go at once, as fast retransmit needs them (RFC 5681 section
    /// 3.2). Later ones are compressed, one for several (`__tcp_ack_snd_check`,
    /// `tcp_compressed_ack_kick`).
    fn repeats(&mut self, now: Time, next: u64, round_trip: u64) -> bool {
        if self.compressed >= COMPRESSED_MOST {
            return true;
        }
        if self.duplicates_of != next {
            (self.duplicates_of, self.duplicates) = (next, 0);
        }
        if self.duplicates < DUPLICATES {
            self.duplicates += 1;
            return true;
        }
        if self.compressed == 0 {
            self.forget_the_past(self.clock.tick(now));
        }
        self.compressed += 1;
        if self.compress.is_none() {
            let rtt = if self.srtt > 0 { round_trip.min(self.srtt) } else { round_trip };
            let wait = (rtt * 1000 / COMPRESS_SHARE).min(COMPRESS_NS) + SLACK_NS;
            self.compress = Some(now + Span::from_ns(wait));
        }
        false
    }

    /// Sets the timer of a delayed ACK; returns whether one goes now since it is almost due
    /// (`tcp_send_delayed_ack`).
    #[inline]
    fn delay(&mut self, tick: u64) -> bool {
        let mut ato = self.ato;
        if ato > LEAST {
            let most = if self.pushed || self.answers { MOST_PUSHED } else { MOST };
            let rtt = if self.srtt > 0 { (self.srtt / 1000).max(LEAST) } else { most };
            ato = ato.min(most).min(rtt);
        }
        // `tcp_delack_max`.
        ato = ato.min(MOST_PUSHED).min((self.rto_min_us / 1000).max(2) - 1);
        let mut due = tick + ato;
        if !self.timed {
            self.forget_the_past(tick);
        } else if let Some((set, _)) = self.timer {
            // Less than a quarter of the delay is left.
            if set <= tick + (ato >> 2) {
                return true;
            }
            due = due.min(set);
        }
        if self.timer.is_none_or(|(set, _)| set != due) {
            self.timer = Some((due, tick));
        }
        self.timed = true;
        false
    }

    /// A timer that nothing waited for has run out meanwhile.
    #[inline]
    fn forget_the_past(&mut self, tick: u64) {
        if self.timer.is_some_and(|(due, _)| due < tick) {
            let clock = self.clock;
            self.timer =
                self.timer.filter(|&(due, set)| self.timed || clock.fires(set, due) > tick);
        }
    }

    /// When the wheel gets to the timer.
    fn fires(&self) -> Option<Time> {
        self.timer.map(|(due, set)| self.clock.at(self.clock.fires(set, due)))
    }

    /// Whether nothing is surely due at `tick` or before: the wheel is never early.
    #[inline]
    pub(super) fn is_surely_in_time(&self, tick: u64) -> bool {
        let timer = self.timer.filter(|_| self.timed || self.compressed > 0);
        self.compress.is_none() && timer.is_none_or(|(due, _)| tick <= due)
    }

    /// Whether what was read ended a push, so that its ACK goes (`__tcp_cleanup_rbuf`).
    pub(super) fn ends_with_a_push(&self, has_early: bool) -> bool {
        let ends = self.pushed_again || self.pushed && !self.answers;
        self.scheduled && ends && !has_early
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        // One that is still on the wheel also sends what was left out of duplicate ACKs.
        let heard = self.timed || self.compressed > 0;
        let timer = self.fires().filter(|_| heard);
        earliest(timer, self.compress)
    }

    /// Whether what runs out by `now` is the timer of an ACK that stands for several.
    pub(super) fn compresses_until(&self, now: Time) -> bool {
        self.compress.is_some_and(|at| at <= now)
    }

    /// A timer runs out; returns whether an ACK goes (`tcp_compressed_ack_kick`, else
    /// `tcp_delack_timer_handler`).
    pub(super) fn on_timeout(&mut self, now: Time) -> bool {
        if self.compresses_until(now) {
            self.compress = None;
            return self.compressed > 0;
        }
        if self.fires().is_none_or(|fires| fires > now) {
            return false;
        }
        self.timer = None;
        if self.compressed > 0 {
            return true;
        }
        self.timed = false;
        if self.scheduled {
            // Data did not come in time: the next ACKs do not wait for them.
            let answers = std::mem::take(&mut self.answers);
            self.ato = if answers { LEAST } else { (self.ato << 1).min(self.rto) };
        }
        self.scheduled
    }

    /// The ACK has gone with data: in answer to data, if these came a moment ago
    /// (`tcp_event_data_sent`).
    pub(super) fn sent_with_data(&mut self, now: Time) {
        self.answers |= self.clock.tick(now) - self.last < self.ato;
    }

    /// An ACK has gone in addition to the one that is due (`dctcp_ece_ack_update`).
    pub(super) fn sent_aside(&mut self) {
        (self.compressed, self.compress) = (0, None);
    }

    /// An ACK has gone (`tcp_event_ack_sent`, `tcp_dec_quickack_mode`).
    #[inline]
    pub(super) fn sent(&mut self) {
        (self.compressed, self.compress) = (0, None);
        let sent = u32::from(self.scheduled);
        if self.quick > 0 {
            if sent >= self.quick {
                // The delay begins anew.
                (self.quick, self.ato) = (0, LEAST);
            } else {
                self.quick -= sent;
            }
        }
        (self.scheduled, self.at_once, self.timed) = (false, false, false);
        (self.pushed, self.pushed_again) = (false, false);
    }
}
