//! BBR of quinn-proto, which draws when to probe from the generator of the thread that makes it.
//! Its published files, unchanged, are compiled here together with a generator that has a seed.

// The lints of this workspace are not those of the published files.
#![allow(clippy::all, clippy::pedantic, dead_code, missing_docs, unreachable_pub)]

pub(crate) use std::time::{Duration, Instant};

use std::sync::Arc;

use congestion::ControllerFactory;
use quinn_proto::congestion::Controller;
use rand::Draws;

mod connection {
    pub(crate) use quinn_proto::RttEstimator;
}

mod congestion {
    use std::time::Instant;

    use quinn_proto::RttEstimator;

    /// The least datagram that each path carries, as there.
    const BASE_DATAGRAM_SIZE: u64 = 1200;

    include!(concat!(env!("OUT_DIR"), "/congestion.rs"));

    rand::frame! {
        quinn_proto::congestion;
        metric congestion_window: u64;
        metric ssthresh: Option<u64>;
        metric pacing_rate: Option<u64>;
        fn on_sent(now: Instant, bytes: u64, last_packet_number: u64);
        fn on_ack(now: Instant, sent: Instant, bytes: u64, limited: bool, rtt: &RttEstimator);
        fn on_end_acks(now: Instant, in_flight: u64, limited: bool, largest: Option<u64>);
        fn on_congestion_event(now: Instant, sent: Instant, persistent: bool, lost_bytes: u64);
        fn on_mtu_update(new_mtu: u16);
    }
}

/// A congestion control that draws these numbers, with the settings that it has by itself.
#[must_use]
pub fn build(draws: Draws, now: Instant, mtu: u16) -> Box<dyn Controller> {
    let config = Arc::new(congestion::bbr::BbrConfig::default());
    Box::new(congestion::Framed(rand::with(draws, || config.build(now, mtu))))
}
