//! The CUBIC of quiche by itself. quiche keeps its congestion controls to itself, so that its
//! published files, unchanged, are compiled here in a frame of the types that they ask for. The
//! frame calls them as quiche's own `recovery/congestion/mod.rs` and `recovery.rs` do. One thing
//! differs: the caller says whether the application limits the sender.

// The lints of this workspace are not those of the published files.
#![allow(clippy::all, clippy::pedantic, dead_code, missing_docs)]
#![allow(unexpected_cfgs, unreachable_pub, unused_imports)]

use std::time::{Duration, Instant};

use recovery::congestion::{Acked, Congestion, Sent};
use recovery::rtt_stats;

include!(concat!(env!("OUT_DIR"), "/root.rs"));

/// The modules that the published files name.
mod recovery {
    use std::time::Duration;

    pub(crate) const GRANULARITY: Duration = Duration::from_millis(1);
    pub(crate) const MINIMUM_WINDOW_PACKETS: usize = 2;
    pub(crate) const LOSS_REDUCTION_FACTOR: f64 = 0.5;

    include!(concat!(env!("OUT_DIR"), "/recovery.rs"));

    /// Round trips of a connection that has none yet.
    pub(crate) fn rtt_stats() -> rtt::RttStats {
        rtt::RttStats::new(Duration::from_millis(333), Duration::from_millis(25))
    }

    pub(crate) mod congestion {
        use std::time::Instant;

        use super::rtt;
        use super::rtt::RttStats;

        include!(concat!(env!("OUT_DIR"), "/congestion.rs"));

        pub(crate) struct Acked {
            pub(crate) pkt_num: u64,
            pub(crate) time_sent: Instant,
            pub(crate) size: usize,
        }

        pub(crate) struct Sent {
            pub(crate) time_sent: Instant,
        }

        /// The slow-start threshold.
        pub(crate) struct SsThresh(usize);

        impl SsThresh {
            pub(crate) fn get(&self) -> usize {
                self.0
            }

            pub(crate) fn update(&mut self, ssthresh: usize, _in_css: bool) {
                self.0 = ssthresh;
            }
        }

        pub(crate) struct CongestionControlOps {
            pub(crate) on_init: fn(&mut Congestion),
            pub(crate) on_packet_sent: fn(&mut Congestion, usize, usize, Instant),
            pub(crate) on_packets_acked:
                fn(&mut Congestion, usize, &mut Vec<Acked>, Instant, &RttStats),
            pub(crate) congestion_event: fn(&mut Congestion, usize, usize, &Sent, Instant),
            pub(crate) checkpoint: fn(&mut Congestion),
            pub(crate) rollback: fn(&mut Congestion) -> bool,
            pub(crate) debug_fmt: fn(&Congestion, &mut std::fmt::Formatter<'_>) -> std::fmt::Result,
        }

        /// The part of quiche's own state that the files use.
        pub(crate) struct Congestion {
            pub(crate) ops: &'static CongestionControlOps,
            cubic_state: cubic::State,
            pub(crate) hystart: hystart::Hystart,
            pub(crate) prr: prr::PRR,
            pub(crate) congestion_window: usize,
            pub(crate) ssthresh: SsThresh,
            bytes_acked_sl: usize,
            bytes_acked_ca: usize,
            pub(crate) congestion_recovery_start_time: Option<Instant>,
            pub(crate) app_limited: bool,
            pub(crate) max_datagram_size: usize,
            pub(crate) lost_count: usize,
            pub(crate) enable_cubic_idle_restart_fix: bool,
        }

        impl Congestion {
            pub(crate) fn new(packet: usize, window: usize, hystart: bool) -> Self {
                let mut new = Self {
                    ops: &cubic::CUBIC,
                    cubic_state: cubic::State::default(),
                    hystart: hystart::Hystart::new(hystart),
                    prr: prr::PRR::default(),
                    congestion_window: packet * window,
                    ssthresh: SsThresh(usize::MAX),
                    bytes_acked_sl: 0,
                    bytes_acked_ca: 0,
                    congestion_recovery_start_time: None,
                    app_limited: false,
                    max_datagram_size: packet,
                    lost_count: 0,
                    enable_cubic_idle_restart_fix: true,
                };
                (new.ops.on_init)(&mut new);
                new
            }

            pub(crate) fn in_congestion_recovery(&self, sent: Instant) -> bool {
                self.congestion_recovery_start_time.is_some_and(|start| sent <= start)
            }
        }
    }
}

/// The congestion control of a connection.
pub struct Cubic {
    congestion: Congestion,
    round_trips: recovery::rtt::RttStats,
}

impl Cubic {
    /// Packets of so many bytes, and as many in the window at first; with quiche's own HyStart++ or
    /// without.
    #[must_use]
    pub fn new(packet: usize, window: usize, hystart: bool) -> Self {
        let congestion = Congestion::new(packet, window, hystart);
        Self { congestion, round_trips: rtt_stats() }
    }

    /// A packet is sent, with so many bytes in flight before it.
    pub fn on_sent(&mut self, now: Instant, number: u64, in_flight: usize) {
        let it = &mut self.congestion;
        let size = it.max_datagram_size;
        (it.ops.on_packet_sent)(it, size, in_flight, now);
        it.prr.on_packet_sent(size);
        if it.hystart.enabled() && it.congestion_window < it.ssthresh.get() {
            it.hystart.start_round(number);
        }
    }

    /// A packet is acknowledged.
    pub fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        number: u64,
        rtt: Duration,
        limited: bool,
    ) {
        self.round_trips.update_rtt(rtt, Duration::ZERO, now, true);
        let it = &mut self.congestion;
        it.app_limited = limited;
        let size = it.max_datagram_size;
        let mut acked = vec![Acked { pkt_num: number, time_sent: sent, size }];
        (it.ops.on_packets_acked)(it, size, &mut acked, now, &self.round_trips);
    }

    /// Packets are taken for lost, the last of which was sent then.
    pub fn on_loss(&mut self, now: Instant, sent: Instant, packets: usize) {
        let it = &mut self.congestion;
        if !it.in_congestion_recovery(sent) {
            (it.ops.checkpoint)(it);
        }
        let bytes = packets * it.max_datagram_size;
        (it.ops.congestion_event)(it, bytes, bytes, &Sent { time_sent: sent }, now);
        it.lost_count += packets;
    }

    /// The packets that were taken for lost last have arrived.
    pub fn on_spurious(&mut self) {
        (self.congestion.ops.rollback)(&mut self.congestion);
    }

    /// The window in bytes.
    #[must_use]
    pub fn window(&self) -> usize {
        self.congestion.congestion_window
    }
}
