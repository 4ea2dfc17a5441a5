//! CUBIC of quiche.

use std::time::{Duration, Instant};

use burstlab_quiche_cubic::Cubic;

use crate::round_trips::{at, began};
use crate::{Acked, Departure, INITIAL_WINDOW, Law, Lost, PACKET};

pub(crate) const DEPARTURES: &[Departure] = &[
    Departure::EpochAtLoss,
    Departure::ShortestRoundTrip,
    Departure::AlphaByMaximum,
    Departure::WholePackets,
    Departure::TimeoutIsLoss,
    Departure::FewLostForgiven,
    Departure::LimitedCountsUnlessIdle,
];

pub(crate) fn hystart() -> Box<dyn Law> {
    Box::new(Quiche::new(true))
}

pub(crate) fn plain() -> Box<dyn Law> {
    Box::new(Quiche::new(false))
}

struct Quiche {
    began: Instant,
    law: Cubic,
}

impl Quiche {
    fn new(hystart: bool) -> Self {
        let law = Cubic::new(PACKET as usize, INITIAL_WINDOW as usize, hystart);
        Self { began: began(), law }
    }
}

impl Law for Quiche {
    fn on_sent(&mut self, now: u64, number: u64, in_flight: u64) {
        self.law.on_sent(at(self.began, now), number, (in_flight * PACKET) as usize);
    }

    fn on_ack(&mut self, now: u64, acked: &Acked) {
        let sent = at(self.began, acked.sent);
        let rtt = Duration::from_micros(acked.rtt);
        self.law.on_ack(at(self.began, now), sent, acked.number, rtt, acked.limited);
    }

    fn on_loss(&mut self, now: u64, lost: &Lost) {
        self.law.on_loss(at(self.began, now), at(self.began, lost.sent), lost.packets as usize);
    }

    fn on_spurious(&mut self, _now: u64) {
        self.law.on_spurious();
    }

    fn window(&self) -> f64 {
        self.law.window() as f64 / PACKET as f64
    }
}
