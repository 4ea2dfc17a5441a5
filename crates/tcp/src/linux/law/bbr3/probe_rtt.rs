//! The shortest round trip, and ProbeRTT (the draft's "ProbeRTT Logic").

use super::super::super::rate::Sample;
use super::{AckContext, Acks, Bbr3, Bbr3Mode, LinuxWindow, PROBE_RTT_WINDOW, WINDOW_LEAST};

/// BBR.MinRTTFilterLen, BBR.ProbeRTTInterval and BBR.ProbeRTTDuration, in microseconds.
const RTT_FILTER_US: u64 = 10_000_000;
const INTERVAL_US: u64 = 5_000_000;
const DURATION_US: u64 = 200_000;

impl Bbr3 {
    /// UpdateMinRTT.
    pub(super) fn update_min_rtt(&mut self, sample: &Sample) {
        let now = self.now;
        self.probe_rtt_expired = now > self.probe_rtt_min_at + INTERVAL_US;
        if let Some(rtt) = sample.rtt
            && (self.probe_rtt_expired || self.probe_rtt_min.is_none_or(|least| rtt < least))
        {
            (self.probe_rtt_min, self.probe_rtt_min_at) = (Some(rtt), now);
        }
        let expired = now > self.min_rtt_at + RTT_FILTER_US;
        if let Some(least) = self.probe_rtt_min
            && (expired || self.min_rtt.is_none_or(|rtt| least < rtt))
        {
            (self.min_rtt, self.min_rtt_at) = (Some(least), self.probe_rtt_min_at);
        }
    }

    /// CheckProbeRTT; returns whether the connection looks for the shortest round trip.
    pub(super) fn check_probe_rtt(
        &mut self,
        window: &mut LinuxWindow,
        sample: &Sample,
        context: &AckContext,
    ) -> bool {
        if self.mode != Bbr3Mode::ProbeRtt && self.probe_rtt_expired && !self.idle_restart {
            self.save(window);
            self.mode = Bbr3Mode::ProbeRtt;
            self.probe_until = None;
            self.acks = Acks::Stopping;
            self.begin_round(context);
        }
        let probes = self.mode == Bbr3Mode::ProbeRtt;
        if probes {
            self.handle_probe_rtt(window, context);
        }
        if sample.acked > 0 {
            self.idle_restart = false;
        }
        probes
    }

    fn handle_probe_rtt(&mut self, window: &mut LinuxWindow, context: &AckContext) {
        match self.probe_until {
            None if u64::from(context.in_flight) <= self.probe_rtt_window(context) => {
                self.probe_until = Some(self.now + DURATION_US);
                self.probe_round_done = false;
                self.begin_round(context);
            }
            None => {}
            Some(until) => {
                self.probe_round_done |= self.round_begins;
                if self.probe_round_done {
                    self.end_probe_rtt(window, until);
                }
            }
        }
    }

    /// CheckProbeRTTDone.
    fn end_probe_rtt(&mut self, window: &mut LinuxWindow, until: u64) {
        if self.now <= until {
            return;
        }
        self.probe_rtt_min_at = self.now;
        self.probe_until = None;
        self.restore(window);
        self.bounds.forget_short_term();
        if self.pipe.full {
            self.start_down();
            self.start_cruise();
        } else {
            self.mode = Bbr3Mode::Startup;
        }
    }

    /// ProbeRTTCwnd.
    pub(super) fn probe_rtt_window(&self, context: &AckContext) -> u64 {
        self.bdp_times(PROBE_RTT_WINDOW, context).max(WINDOW_LEAST)
    }

    /// HandleRestartFromIdle. Segments that count as extra are counted anew, with their time; the
    /// draft begins the time anew alone (see the errata).
    pub(crate) fn restarts(&mut self, window: &mut LinuxWindow, us: u64, context: &AckContext) {
        self.now = us;
        self.idle_restart = true;
        (self.extra_at, self.extra_acked) = (us, 0);
        match (self.mode, self.probe_until) {
            (Bbr3Mode::Down | Bbr3Mode::Cruise | Bbr3Mode::Refill | Bbr3Mode::Up, _) => {
                self.pace_at_rate(context);
            }
            (Bbr3Mode::ProbeRtt, Some(until)) => self.end_probe_rtt(window, until),
            _ => {}
        }
    }
}
