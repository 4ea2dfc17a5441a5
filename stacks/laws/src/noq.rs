//! CUBIC of noq-proto.

use std::sync::Arc;
use std::time::Instant;

use noq_proto::congestion::{Controller, ControllerFactory, CubicConfig};

use crate::round_trips::{self, noq_estimator};
use crate::{Acked, Departure, INITIAL_WINDOW, Law, Lost, PACKET};

pub(crate) const DEPARTURES: &[Departure] = &[
    Departure::KOfMaximum,
    Departure::EpochAtLoss,
    Departure::EstimateByTime,
    Departure::RegionAhead,
    Departure::WholePackets,
    Departure::TimeoutTwice,
    Departure::LimitedCounts,
];

pub(crate) fn cubic() -> Box<dyn Law> {
    let mut config = CubicConfig::default();
    config.initial_window(INITIAL_WINDOW * PACKET);
    let began = round_trips::began();
    Box::new(Noq { began, law: Arc::new(config).build(began, PACKET as u16) })
}

struct Noq {
    began: Instant,
    law: Box<dyn Controller>,
}

impl Law for Noq {
    fn on_sent(&mut self, now: u64, number: u64, _in_flight: u64) {
        let at = round_trips::at(self.began, now);
        self.law.on_packet_sent(at, PACKET as u16, number);
        self.law.on_sent(at, PACKET, number);
    }

    fn on_ack(&mut self, now: u64, acked: &Acked) {
        let (at, sent) =
            (round_trips::at(self.began, now), round_trips::at(self.began, acked.sent));
        let estimator = noq_estimator(acked.smoothed_ms);
        self.law.on_ack(at, sent, PACKET, acked.number, acked.limited, estimator);
    }

    fn on_loss(&mut self, now: u64, lost: &Lost) {
        let (at, sent) = (round_trips::at(self.began, now), round_trips::at(self.began, lost.sent));
        let bytes = lost.packets * PACKET;
        self.law.on_congestion_event(at, sent, lost.persistent, false, bytes, lost.number);
    }

    fn on_spurious(&mut self, _now: u64) {
        self.law.on_spurious_congestion_event();
    }

    fn window(&self) -> f64 {
        self.law.window() as f64 / PACKET as f64
    }
}
