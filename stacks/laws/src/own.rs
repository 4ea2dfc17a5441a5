//! CUBIC of our own sender, which is that of Linux 6.12.

use burstlab_tcp::{LawAlone, LinuxOptions, SlowStart};
use burstlab_units::{Span, Time};

use crate::{Acked, Departure, Law, Lost};

pub(crate) const DEPARTURES: &[Departure] = &[
    Departure::ShortestRoundTrip,
    Departure::WholePackets,
    Departure::AlphaStays,
    Departure::TimeoutProbes,
    Departure::SpuriousWindowOnly,
    Departure::LimitedCountsUnlessIdle,
];

pub(crate) fn hystart() -> Box<dyn Law> {
    Box::new(Own::new(SlowStart::Hystart))
}

pub(crate) fn plain() -> Box<dyn Law> {
    Box::new(Own::new(SlowStart::Standard))
}

#[derive(Debug)]
struct Own {
    law: LawAlone,
    /// When the repair began that goes on, and the last one.
    repair: Option<u64>,
    last: Option<u64>,
}

impl Own {
    fn new(slow_start: SlowStart) -> Self {
        let initial_window = crate::INITIAL_WINDOW as u32;
        let options = LinuxOptions { slow_start, initial_window, ..LinuxOptions::default() };
        Self { law: LawAlone::new(&options, Time::ZERO), repair: None, last: None }
    }
}

impl Law for Own {
    fn on_sent(&mut self, now: u64, _number: u64, in_flight: u64) {
        self.law.on_sent(at(now), in_flight == 0);
    }

    fn on_ack(&mut self, now: u64, acked: &Acked) {
        if self.repair.is_some_and(|repair| acked.sent > repair) {
            self.law.on_repaired(at(now));
            self.repair = None;
        }
        self.law.on_ack(at(now), Span::from_us(acked.rtt), 1, !acked.limited);
    }

    fn on_loss(&mut self, now: u64, lost: &Lost) {
        if self.last.is_some_and(|last| lost.sent <= last) {
            return;
        }
        self.last = Some(now);
        if lost.persistent {
            self.law.on_timeout(at(now));
            self.repair = None;
        } else {
            self.law.on_loss(at(now));
            self.repair = Some(now);
        }
    }

    fn on_spurious(&mut self, now: u64) {
        self.law.on_spurious(at(now));
        self.repair = None;
    }

    fn window(&self) -> f64 {
        f64::from(self.law.cwnd())
    }
}

fn at(now: u64) -> Time {
    Time::ZERO + Span::from_us(now)
}
