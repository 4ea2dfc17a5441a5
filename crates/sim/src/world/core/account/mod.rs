//! The account of bursts: what is counted, traced and reported of them. Whoever does something to a
//! burst says so here, once; nothing that happens depends on what was written.

mod census;
mod counts;
mod ended;
mod labels;
mod notify;
mod occupied;
mod report;
mod steps;

use burstlab_units::{Bytes, Time};
use serde::{Deserialize, Serialize};

use self::census::Census;
use self::counts::MeasuredNetwork;
pub(super) use self::counts::TimeReserved;
pub(in crate::world) use self::counts::{BatchCounts, BurstCounts};
pub(super) use self::labels::{Labels, record_label};
pub(super) use self::notify::Passage;
use self::occupied::Looked;
pub(super) use self::steps::sort_as;
use super::burst::Burst;
use super::flows::{Carried, Flows};
use super::payload::{BurstKind, Payload};
use super::plan::Plan;
use crate::measure::NetworkTally;
use crate::scenario::Resolved;

/// The fates of bursts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Account {
    /// By kind of burst, over the whole run.
    counts: [BurstCounts; 3],
    batches: BatchCounts,
    /// Packets of cross-traffic that were lost.
    cross_lost: u64,
    /// Of the measured time.
    tally: NetworkTally,
    /// The counts at the end of the measured time, where the run goes on.
    measured: Option<Box<MeasuredNetwork>>,
    measured_from: Time,
    looked: Looked,
    census: Census,
    pub(super) labels: Labels,
    /// Whether a sender needs reports on its bursts, and whether on more than losses.
    reports: bool,
    reports_fate: bool,
}

impl Account {
    pub(crate) fn new(resolved: &Resolved, plan: &Plan) -> Self {
        Self {
            counts: [BurstCounts::default(); 3],
            batches: BatchCounts::default(),
            cross_lost: 0,
            tally: NetworkTally::new(&plan.graph),
            measured: None,
            measured_from: Time::ZERO,
            looked: Looked::default(),
            census: Census::default(),
            labels: Labels::default(),
            reports: resolved.listens(),
            reports_fate: resolved.needs_every_fate(),
        }
    }

    /// A source sends a burst that carries no packets.
    pub(crate) fn drawn(&mut self, bytes: Bytes) {
        self.tally.drawn(BurstKind::Background as usize, bytes);
    }

    /// A burst is closed: counts the segments of each flow in it.
    pub(crate) fn closed(&mut self, plan: &Plan, burst: &Burst, flows: &mut Flows) {
        let (mut carried, mut whole) = (0, 0);
        let Self { census, tally, .. } = self;
        let mut count = |flow: u32, segments: u32| {
            carried += 1;
            whole += segments;
            if plan.rules.control {
                tally.segments_of_flow(segments);
            }
            flows.carried(flow, 1);
        };
        match &burst.payload.data[..] {
            [alone] if !alone.first.is_cross() => count(alone.first.flow(), alone.count),
            trains => census.take(trains).for_each(|(flow, segments)| count(flow, segments)),
        }
        if plan.rules.control {
            let took = burst.closed.since(burst.opened);
            self.tally.assembled(burst.kind as usize, burst.packets, burst.bytes, took);
            if carried > 0 {
                self.tally.carries(whole, carried);
            }
        }
    }

    /// A burst sets out.
    pub(crate) fn sent(&mut self, burst: &Burst) {
        self.counts[burst.kind as usize].sent(1, burst.load);
    }

    /// A burst is closed and has landed, all at once.
    #[inline]
    pub(crate) fn crossed(&mut self, payload: &Payload, bytes: u64, flows: &mut Flows) {
        self.crossed_alone(payload.kind(), 1, bytes);
        if let [alone] = &payload.data[..] {
            flows.carried(alone.first.flow(), 1);
        } else {
            self.census.take(&payload.data).for_each(|(flow, _)| flows.carried(flow, 1));
        }
    }

    /// So many packets that are bursts of their own have set out and landed.
    #[inline]
    pub(crate) fn crossed_alone(&mut self, kind: BurstKind, bursts: u64, bytes: u64) {
        let counts = &mut self.counts[kind as usize];
        counts.sent(bursts, bytes);
        counts.delivered(bursts, bytes);
    }

    /// A packet that is a burst of its own sets out.
    #[inline]
    pub(crate) fn sent_alone(&mut self, kind: BurstKind, size: Bytes) {
        self.counts[kind as usize].sent(1, size.get());
    }

    /// A packet that is a burst of its own has landed.
    #[inline]
    pub(crate) fn landed_alone(&mut self, kind: BurstKind, size: Bytes) {
        self.counts[kind as usize].delivered(1, size.get());
    }

    /// A connection is done: it travelled in bursts of which some were lost.
    pub(crate) fn connection(&mut self, carried: Carried) {
        self.tally.connection(carried.bursts, carried.lost);
    }

    /// The totals of bursts, by kind.
    pub(crate) fn counts(&self) -> &[BurstCounts; 3] {
        &self.counts
    }

    pub(crate) fn batches(&self) -> BatchCounts {
        self.batches
    }

    pub(crate) fn cross_lost(&self) -> u64 {
        self.cross_lost
    }

    /// Whether a sender receives reports on its bursts.
    pub(crate) fn reports(&self) -> bool {
        self.reports
    }

    /// Whether senders of such bursts are notified of more than losses.
    #[inline]
    pub(crate) fn reports_fate(&self, kind: BurstKind) -> bool {
        self.reports_fate && kind == BurstKind::Data
    }
}
