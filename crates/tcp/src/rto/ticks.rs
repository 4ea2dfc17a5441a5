//! Round-trip times counted in ticks of a coarse clock, smoothed in integers.
//!
//! Jacobson's estimator as 4.4BSD and ns-2 have it: SRTT is kept in eighths of a tick and RTTVAR in
//! quarters, so that the gains 1/8 and 1/4 are shifts, rounding down.

use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::config::Config;

/// RTTVAR before the first measurement: ns-2 `rttvar_init_`.
const INITIAL_VARIANCE: Span = Span::from_secs(12);
/// Back-off beyond which SRTT is given up: ns-2 `rtt_backoff`.
const FORGET_BEYOND: u32 = 8;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Ticks {
    tick: Span,
    /// Where the clock's ticks lie: ns-2 `boot_time_`.
    phase: Span,
    rtt: i64,
    srtt_eighths: i64,
    rttvar_quarters: i64,
    rto: Span,
}

impl Ticks {
    pub(super) fn new(config: &Config) -> Self {
        let tick = config.rto_tick;
        Self {
            tick,
            phase: config.rto_clock_phase,
            rtt: 0,
            srtt_eighths: 0,
            rttvar_quarters: ((INITIAL_VARIANCE.as_ps() / tick.as_ps()) << 2) as i64,
            rto: config.rto_initial,
        }
    }

    /// Takes the round trip of a segment sent at `sent`: the ticks between the tick before it was
    /// sent and its ACK, at least one.
    pub(super) fn measure(&mut self, sent: Time, now: Time) {
        let tick = self.tick.as_ps();
        let since_tick = sent.saturating_add(self.phase).as_ps() % tick;
        self.rtt = (((now.since(sent).as_ps() + since_tick) / tick) as i64).max(1);
        if self.srtt_eighths == 0 {
            self.srtt_eighths = self.rtt << 3;
            self.rttvar_quarters = self.rtt << 1;
        } else {
            let error = self.rtt - (self.srtt_eighths >> 3);
            self.srtt_eighths = (self.srtt_eighths + error).max(1);
            let deviation = error.abs() - (self.rttvar_quarters >> 2);
            self.rttvar_quarters = (self.rttvar_quarters + deviation).max(1);
        }
        let ticks = ((self.rttvar_quarters << 3) + self.srtt_eighths) >> 3;
        self.rto = self.tick.saturating_mul(ticks as u64);
    }

    /// After long back-off SRTT counts as unknown; it goes into the deviation.
    pub(super) fn on_backoff(&mut self, backoff: u32) {
        if backoff > FORGET_BEYOND {
            self.rttvar_quarters += self.srtt_eighths >> 3;
            self.srtt_eighths = 0;
        }
    }

    /// SRTT + 4 RTTVAR.
    pub(super) fn rto(&self) -> Span {
        self.rto
    }

    /// No time-out is shorter than two ticks.
    pub(super) fn shortest(&self) -> Span {
        self.tick * 2
    }

    /// The last measurement.
    #[inline]
    pub(super) fn last(&self) -> Span {
        self.tick.saturating_mul(self.rtt as u64)
    }

    /// Last measurement, SRTT, RTTVAR.
    pub(super) fn view(&self) -> (Span, Span, Span) {
        let ticks = |count: i64, parts: u64| self.tick.saturating_mul(count as u64) / parts;
        (ticks(self.rtt, 1), ticks(self.srtt_eighths, 8), ticks(self.rttvar_quarters, 4))
    }
}
