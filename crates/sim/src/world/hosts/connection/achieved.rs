//! The results of a flow: in the measured time, and by the end of the run.

use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::Flow;
use super::before::Before;
use crate::measure::loss::Truth;
use crate::measure::{Confusion, FlowSummary};

/// The results of a flow in the measured time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::world) struct Achieved {
    goodput_bps: f64,
    throughput_bps: f64,
    bytes_delivered: u64,
    bytes_in_order: u64,
    segments: u64,
    rtt_s: Option<f64>,
    round_trips: u64,
}

impl Flow {
    /// Measuring begins now.
    pub(in crate::world) fn warmed_up(&mut self) {
        if let Some(stack) = &mut self.stack {
            stack.warmed_up();
        }
        let rtt = self.near.sender().rtt();
        self.before = Before {
            segments: self.far.receiver().delivered(),
            early: self.far.receiver().early(),
            bytes: self.far.got().bytes,
            round_trips: rtt.samples,
            round_trip: rtt.total,
        };
    }

    /// Its results in the measured time, which ends now and is so long.
    pub(in crate::world) fn achieved(&self, measured: Span) -> Achieved {
        let rate = |bytes: u64| {
            if measured.is_zero() { 0.0 } else { bytes as f64 * 8.0 / measured.as_secs_f64() }
        };
        // Application data of so many segments, and of runs of them, the SYN not counted.
        let bytes = |segments: u64| self.bytes_of(segments);
        let sum = |runs: &[(u64, u64)], up_to: u64| -> u64 {
            let run = |&(from, to): &(u64, u64)| bytes(to.min(up_to) - 1) - bytes(from - 1);
            runs.iter().filter(|(from, _)| *from < up_to).map(run).sum()
        };
        let in_order = bytes(self.far.receiver().delivered()) - bytes(self.before.segments);
        let early = &self.before.early;
        let arrived = in_order + sum(&self.far.receiver().early(), u64::MAX) - sum(early, u64::MAX);
        let rtt = self.near.sender().rtt();
        let round_trips = rtt.samples - self.before.round_trips;
        let round_trip = (rtt.total - self.before.round_trip).as_secs_f64();
        if let Some(stack) = &self.stack {
            let (bytes, round_trips, rtt_s) = stack.achieved();
            return Achieved {
                goodput_bps: rate(bytes),
                throughput_bps: rate(self.far.got().bytes - self.before.bytes),
                bytes_delivered: bytes,
                bytes_in_order: bytes,
                segments: 0,
                rtt_s,
                round_trips,
            };
        }
        Achieved {
            goodput_bps: rate(in_order - sum(early, self.far.receiver().next())),
            throughput_bps: rate(self.far.got().bytes - self.before.bytes),
            bytes_delivered: arrived,
            bytes_in_order: in_order,
            segments: self.far.receiver().delivered() - self.before.segments,
            rtt_s: (round_trips > 0).then(|| round_trip / round_trips as f64),
            round_trips,
        }
    }

    /// Bytes of application data that are in order at its receiver.
    pub(in crate::world) fn in_order(&self) -> u64 {
        self.bytes_of(self.far.receiver().delivered())
    }

    /// Bytes of application data in so many segments; the last of all may be short.
    fn bytes_of(&self, segments: u64) -> u64 {
        self.near.sender().bytes_before(segments + 1).min(self.near.written())
    }

    /// The flow's numbers at the end of the run, with the bursts that carried it and those of them
    /// that were lost.
    pub(in crate::world) fn summary(
        &self,
        achieved: &Achieved,
        (bursts, bursts_lost): (u64, u64),
    ) -> FlowSummary {
        let counters = self.near.sender().counters();
        let of = |truth: Truth| self.counted.timeouts[truth as usize].iter().sum();
        let after = |at: Time| at.since(self.near.start()).as_secs_f64();
        let mut summary = FlowSummary {
            id: self.id,
            label: self.kind.label.clone(),
            variant: self.kind.variant.clone(),
            goodput_bps: achieved.goodput_bps,
            throughput_bps: achieved.throughput_bps,
            bytes_delivered: achieved.bytes_delivered,
            bytes_in_order: achieved.bytes_in_order,
            segments_delivered: achieved.segments,
            packets_sent: self.tally().sent,
            packets_delivered: self.far.got().packets,
            packets_lost: self.counted.lost,
            duplicates: self.far.receiver().duplicates(),
            retransmissions: counters.retransmissions,
            timeouts: counters.timeouts,
            false_timeouts: self.false_timeouts(),
            true_timeouts: of(Truth::True),
            spurious_timeouts: of(Truth::Spurious),
            early_repairs: counters.early_repairs,
            spurious_retransmissions: self.counted.spurious_retransmissions,
            detector: self.kind.detects.then(|| Confusion::of(&self.counted.timeouts)),
            reductions: self.reductions(),
            fast_retransmits: counters.fast_retransmits,
            bursts,
            bursts_lost,
            rtt_s: achieved.rtt_s,
            round_trips: achieved.round_trips,
            bytes: self.bytes,
            received_after_s: self.far.received().map(after),
            acknowledged_after_s: self.near.completed().map(after),
            received_s: self.far.received().map(Time::as_secs_f64),
            completed_s: self.near.completed().map(Time::as_secs_f64),
            ended: None,
            ended_s: None,
            packets_marked: self.carried.as_ref().map_or(0, |carried| carried.marks),
            packets_not_ect: self.counted.not_ect,
        };
        if let Some(stack) = &self.stack {
            stack.tell(&mut summary);
        }
        summary
    }
}
