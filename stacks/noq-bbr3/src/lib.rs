//! BBRv3 of noq-proto, which draws when to probe from the generator of the thread that makes it.
//! Its published files, unchanged, are compiled here together with a generator that has a seed.

// The lints of this workspace are not those of the published files.
#![allow(clippy::all, clippy::pedantic, dead_code, missing_docs, unreachable_pub)]

extern crate alloc;

pub(crate) use std::time::{Duration, Instant};

use std::sync::Arc;

use congestion::ControllerFactory;
pub(crate) use noq_proto::RttEstimator;
use noq_proto::congestion::Controller;
use rand::Draws;

mod connection {
    /// The spaces of packet numbers, in the order of noq-proto.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub(crate) enum SpaceKind {
        Initial,
        Handshake,
        Data,
    }
}

mod congestion {
    use std::time::{Duration, Instant};

    use noq_proto::RttEstimator;

    /// The least datagram that each path carries, as there.
    const BASE_DATAGRAM_SIZE: u64 = 1200;

    include!(concat!(env!("OUT_DIR"), "/congestion.rs"));

    rand::frame! {
        noq_proto::congestion;
        metric congestion_window: u64;
        metric ssthresh: Option<u64>;
        metric pacing_rate: Option<u64>;
        metric send_quantum: Option<u64>;
        metric bandwidth_estimate: Option<u64>;
        fn on_sent(now: Instant, bytes: u64, largest_pn: u64);
        fn on_packet_sent(now: Instant, bytes: u16, pn: u64);
        fn on_cwnd_limited();
        fn on_ack(
            now: Instant,
            sent: Instant,
            bytes: u64,
            pn: u64,
            limited: bool,
            rtt: &RttEstimator,
        );
        fn on_end_acks(now: Instant, in_flight: u64, limited: bool, largest: Option<u64>);
        fn on_congestion_event(
            now: Instant,
            sent: Instant,
            persistent: bool,
            is_ecn: bool,
            lost_bytes: u64,
            largest_lost: u64,
        );
        fn on_packet_lost(lost_bytes: u16, pn: u64, now: Instant);
        fn on_spurious_congestion_event();
        fn on_mtu_update(new_mtu: u16);
        fn on_ack_frequency_update(threshold: u64, max_ack_delay: Duration);
    }
}

/// A congestion control that draws these numbers, with the settings that it has by itself.
#[must_use]
pub fn build(draws: Draws, now: Instant, mtu: u16) -> Box<dyn Controller> {
    let config = Arc::new(congestion::bbr3::Bbr3Config::default());
    Box::new(congestion::Framed(rand::with(draws, || config.build(now, mtu))))
}
