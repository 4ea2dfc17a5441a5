//! The cycle of ProbeBW, and what a loss during a probe says (the draft's "ProbeBW Algorithm
//! Details" and "Probing for Bandwidth In ProbeBW").

use super::super::super::rate::{Sample, Stamp};
use super::{AckContext, Acks, BETA, Bbr3, Bbr3Mode, LOSS_PERCENT, LinuxWindow, ONE, part, times};

/// A probe comes after two to three seconds, in microseconds, ...
const WAIT_US: (u64, u64) = (2_000_000, 1_000_000);
/// ... or as often as Reno would lose a packet, at most this many rounds.
const RENO_ROUNDS: u64 = 63;
/// Most doublings of the slope of the upper bound.
const UP_ROUNDS: u32 = 30;

impl Bbr3 {
    fn is_in_cycle(&self) -> bool {
        matches!(self.mode, Bbr3Mode::Down | Bbr3Mode::Cruise | Bbr3Mode::Refill | Bbr3Mode::Up)
    }

    /// StartProbeBW_DOWN; from where only the time is known, the round ends with what is delivered
    /// next.
    pub(super) fn start_down(&mut self) {
        self.reset_signals();
        self.up_each = None;
        let drawn = draw(self.phase ^ self.now);
        self.rounds_since_up = drawn & 1;
        self.wait = WAIT_US.0 + (drawn >> 1) % WAIT_US.1;
        self.cycle_at = self.now;
        self.acks = Acks::Stopping;
        self.round_ends = self.delivered_now;
        self.mode = Bbr3Mode::Down;
    }

    /// ResetCongestionSignals.
    fn reset_signals(&mut self) {
        self.loss_in_round = false;
        (self.rate_latest, self.inflight_latest) = (0, 0);
    }

    pub(super) fn start_cruise(&mut self) {
        self.mode = Bbr3Mode::Cruise;
    }

    pub(super) fn start_refill(&mut self) {
        self.bounds.forget_short_term();
        (self.up_rounds, self.up_acked) = (0, 0);
        self.precautionary = false;
        self.acks = Acks::Refilling;
        self.round_ends = self.delivered_now;
        self.mode = Bbr3Mode::Refill;
    }

    fn start_up(&mut self, window: &LinuxWindow, rate: u64) {
        self.acks = Acks::Starting;
        self.round_ends = self.delivered_now;
        self.pipe.look_anew(rate);
        self.mode = Bbr3Mode::Up;
        self.raise_slope(window);
    }

    /// UpdateProbeBWCyclePhase.
    pub(super) fn follow_cycle(
        &mut self,
        window: &LinuxWindow,
        rate: u64,
        sample: &Sample,
        context: &AckContext,
    ) {
        if !self.pipe.full || self.adapt_long_term(window, sample) {
            return;
        }
        let mode = self.mode;
        match mode {
            Bbr3Mode::Down => {
                let due = self.probe_if_due(window);
                if !due && self.may_cruise(context) {
                    self.start_cruise();
                }
            }
            Bbr3Mode::Cruise => {
                self.probe_if_due(window);
            }
            Bbr3Mode::Refill if self.round_begins => {
                self.probe_sample = true;
                self.start_up(window, rate);
            }
            Bbr3Mode::Up if self.has_to_go_down(window, rate, context) => {
                self.too_high = false;
                self.start_down();
            }
            _ => {}
        }
    }

    /// IsTimeToProbeBW.
    fn probe_if_due(&mut self, window: &LinuxWindow) -> bool {
        let reno = self.target(window).min(RENO_ROUNDS);
        let due = self.now > self.cycle_at + self.wait || self.rounds_since_up >= reno;
        if due {
            self.start_refill();
        }
        due
    }

    /// TargetInflight.
    fn target(&self, window: &LinuxWindow) -> u64 {
        self.bdp().min(u64::from(window.cwnd))
    }

    /// IsTimeToCruise.
    fn may_cruise(&self, context: &AckContext) -> bool {
        let flight = u64::from(context.in_flight);
        let drained = match self.min_rtt {
            Some(rtt) => self.with_budget(times(self.max_rate(), rtt, ONE), context),
            None => u64::from(context.initial_window),
        };
        self.bounds.with_headroom().is_none_or(|room| flight <= room) && flight <= drained
    }

    /// IsTimeToGoDown.
    fn has_to_go_down(&mut self, window: &LinuxWindow, rate: u64, context: &AckContext) -> bool {
        let reached = |flight: u64| self.bounds.inflight_long.is_some_and(|long| flight >= long);
        if self.too_high && reached(u64::from(context.in_flight)) {
            self.precautionary = true;
            return true;
        }
        if window.is_limit && reached(u64::from(window.cwnd)) {
            self.pipe.look_anew(rate);
            return false;
        }
        self.pipe.full_now
    }

    /// AdaptLongTermModel.
    fn adapt_long_term(&mut self, window: &LinuxWindow, sample: &Sample) -> bool {
        if self.acks == Acks::Starting && self.round_begins {
            self.acks = Acks::Feedback;
        }
        if self.acks == Acks::Stopping && self.round_begins {
            self.probe_sample = false;
            self.acks = Acks::Init;
            if self.is_in_cycle() && !sample.idle {
                self.max_rates = [self.max_rates[1], 0];
            }
            if self.is_in_cycle() && self.precautionary && !self.too_high {
                self.start_refill();
                return true;
            }
        }
        if self.is_too_high(sample.lost_since, sample.sent_in_flight) {
            return false;
        }
        let Some(long) = self.bounds.inflight_long else { return false };
        self.bounds.inflight_long = Some(long.max(sample.sent_in_flight));
        if self.mode == Bbr3Mode::Up {
            self.probe_upward(window, sample);
        }
        false
    }

    /// ProbeInflightLongtermUpward.
    fn probe_upward(&mut self, window: &LinuxWindow, sample: &Sample) {
        let Some(long) = self.bounds.inflight_long else { return };
        if !window.is_limit || u64::from(window.cwnd) < long {
            return;
        }
        self.up_acked += u64::from(sample.acked);
        if let Some(each) = self.up_each {
            self.bounds.inflight_long = Some(long + self.up_acked / each);
            self.up_acked %= each;
        }
        if self.round_begins {
            self.raise_slope(window);
        }
    }

    /// RaiseInflightLongtermSlope.
    fn raise_slope(&mut self, window: &LinuxWindow) {
        let growth = 1 << self.up_rounds;
        self.up_rounds = (self.up_rounds + 1).min(UP_ROUNDS);
        self.up_each = Some((u64::from(window.cwnd) / growth).max(1));
    }

    /// HandleLostPacket: segment `seq`, sent when `stamp` says, is lost; `lost` are in all.
    pub(crate) fn loses(
        &mut self,
        window: &LinuxWindow,
        seq: u64,
        stamp: &Stamp,
        facts: (u64, u64),
    ) {
        let (delivered, lost) = facts;
        self.delivered_now = delivered;
        self.lost_runs += u32::from(seq != self.lost_last + 1);
        self.lost_last = seq;
        if !self.loss_in_round {
            self.loss_round_ends = delivered;
            self.save_state(window);
        }
        self.loss_in_round = true;
        if !self.probe_sample {
            return;
        }
        let since = lost.saturating_sub(stamp.lost);
        let flight = u64::from(stamp.flight);
        if self.is_too_high(since, flight) {
            self.bound_inflight(window, inflight_at_loss(flight, since), stamp.idle);
        }
    }

    /// HandleInflightTooHigh.
    fn bound_inflight(&mut self, window: &LinuxWindow, in_flight: u64, idle: bool) {
        self.too_high = true;
        self.probe_sample = false;
        if !idle {
            self.bounds.inflight_long = Some(in_flight.max(part(self.target(window), BETA)));
        }
        if self.mode == Bbr3Mode::Up {
            self.saved.mode = Some(Bbr3Mode::Up);
            self.start_down();
        }
    }
}

/// InflightAtLoss: at which volume in flight losses came to be too many, of which the segment that
/// is lost now was the last of `flight`, with `lost` lost since.
fn inflight_at_loss(flight: u64, lost: u64) -> u64 {
    let (before, lost_before) = (flight.saturating_sub(1), lost.saturating_sub(1));
    let prefix = (LOSS_PERCENT * before).saturating_sub(100 * lost_before) / (100 - LOSS_PERCENT);
    before + prefix
}

/// Steele, Lea and Flood's SplitMix64: what is drawn for a cycle.
fn draw(key: u64) -> u64 {
    let mut z = key.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_too_many_where_two_percent_of_the_flight_are_lost() {
        // Of 200 in flight the fifth loss is one too many: four would have been of 200.
        assert_eq!(inflight_at_loss(200, 5), 199);
        // The first loss of 40 is: 0.02 x 39 / 0.98 = 0.8 segments.
        assert_eq!(inflight_at_loss(40, 1), 39);
        // (0.02 x 99 - 1) / 0.98 = 1 segment beyond the 99 before.
        assert_eq!(inflight_at_loss(100, 2), 100);
        assert_eq!(inflight_at_loss(101, 1), 102);
    }

    #[test]
    fn a_probe_waits_two_to_three_seconds() {
        for key in 0..1000 {
            let mut bbr = Bbr3::new(key, true);
            bbr.start_down();
            assert!((2_000_000..3_000_000).contains(&bbr.wait) && bbr.rounds_since_up <= 1);
        }
    }
}
