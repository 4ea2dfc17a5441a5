//! TCP Westwood+ (Grieco and Mascolo 2004) as Linux has it: Reno whose window after a loss is the
//! estimated bandwidth times the shortest round trip.

use serde::{Deserialize, Serialize};

use super::super::clock::ticks;
use super::super::context::AckContext;
use super::super::window::LinuxWindow;

/// In ticks: the least span of a sample, and the round trip before one is measured.
const SPAN_MIN: u64 = 50;
const FIRST_RTT: u64 = 20_000;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Westwood {
    /// The bandwidth in bytes a tick, filtered once and twice.
    once: u64,
    twice: u64,
    /// When the running sample began, in ticks, and the bytes that were acknowledged in it.
    since: u64,
    bytes: u64,
    /// The cumulative ACK in segments; none before the first ACK.
    acked: Option<u64>,
    /// Bytes that duplicate ACKs stood for, and that no cumulative ACK has acknowledged yet.
    accounted: u64,
    /// Bytes of data in a segment.
    segment: u64,
    /// The last and the shortest round trip in ticks.
    rtt: u64,
    shortest: u64,
    /// Whether the shortest begins anew.
    renews: bool,
}

impl Westwood {
    pub(super) fn new() -> Self {
        Self {
            once: 0,
            twice: 0,
            since: 0,
            bytes: 0,
            acked: None,
            accounted: 0,
            segment: 1,
            rtt: FIRST_RTT,
            shortest: FIRST_RTT,
            renews: true,
        }
    }

    pub(super) fn open(&mut self, context: &AckContext) {
        *self = Self::new();
        (self.since, self.segment) = (context.clock.tick, context.payload.max(1));
    }

    pub(super) fn measured(&mut self, rtt: u64) {
        if rtt > 0 {
            self.rtt = ticks(rtt);
        }
    }

    /// An ACK came; `plain`: it has nothing but a new cumulative ACK. The first ACK of a connection
    /// is never plain, and its bytes do not count.
    pub(super) fn arrives(&mut self, plain: bool, context: &AckContext) {
        let plain = plain && self.acked.is_some();
        let before = self.acked.replace(context.acked).unwrap_or(context.acked);
        let span = context.clock.tick - self.since;
        if self.rtt > 0 && span > self.rtt.max(SPAN_MIN) {
            self.filter(self.bytes / span);
            (self.bytes, self.since) = (0, context.clock.tick);
        }
        let acked = (context.acked - before) * self.segment;
        self.bytes += if plain { acked } else { self.count(acked) };
        self.shortest = if self.renews { self.rtt } else { self.shortest.min(self.rtt) };
        self.renews = false;
    }

    /// Bytes that left the network: a duplicate ACK stands for a segment, which the cumulative ACK
    /// that covers it does not count again.
    fn count(&mut self, acked: u64) -> u64 {
        let segment = self.segment;
        if acked == 0 {
            self.accounted += segment;
            return segment;
        }
        if acked <= segment {
            return acked;
        }
        if self.accounted >= acked {
            self.accounted -= acked;
            return segment;
        }
        acked - std::mem::take(&mut self.accounted)
    }

    fn filter(&mut self, sample: u64) {
        if self.once == 0 && self.twice == 0 {
            (self.once, self.twice) = (sample, sample);
            return;
        }
        self.once = (7 * self.once + sample) >> 3;
        self.twice = (7 * self.twice + self.once) >> 3;
    }

    /// The window that the estimate fills, in segments.
    fn target(&self) -> u32 {
        (self.twice * self.shortest / self.segment).clamp(2, u64::from(u32::MAX >> 1)) as u32
    }

    /// A time-out.
    pub(super) fn times_out(&mut self, window: &mut LinuxWindow) {
        window.ssthresh = self.target();
        self.renews = true;
    }

    /// The window has shrunk after a loss or a mark.
    pub(super) fn reduced(&self, window: &mut LinuxWindow) {
        window.ssthresh = self.target();
        window.cwnd = window.ssthresh;
    }
}
