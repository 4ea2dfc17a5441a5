//! What comes after the measured time: nothing new begins, and what is under way goes on until it
//! is done. What was measured is put by when that time ends.

use crate::world::core::Network;
use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::World;
use super::events::Event;
use super::hosts::{Achieved, Flow};
use crate::measure::{DemandSummary, FlowSummary, WlanSummary};

/// What was measured of flows and cells; the optics keep their own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Measured {
    at: Time,
    /// Finite transfers that were under way then.
    left: usize,
    /// Of the flows that the scenario lists, which keep their slots.
    flows: Vec<Achieved>,
    wlan: Vec<WlanSummary>,
}

/// What to do about transfers of which none would end in a longer run.
const REPORT: &str = "no longer run would end them";

/// A run that drains is at least this far when its measured time ends: how long transfers will take
/// nobody knows, and a drain may be allowed far more than it needs.
const MEASURED_SHARE: f64 = 0.5;

impl World {
    /// The next event is `later` than the end, or there is none. Returns it where the run goes on:
    /// if this was the end of the measured time.
    #[cold]
    pub(super) fn drains(&mut self, later: Option<(Time, Event)>) -> Option<(Time, Event)> {
        self.now = self.end;
        let drain = self.drain.filter(|_| self.measured.is_none() && self.warm);
        let Some(drain) = drain else {
            self.look_at_the_end();
            return None;
        };
        self.measure();
        if self.active == 0 {
            self.look_at_the_end();
            return None;
        }
        self.end += drain;
        // The run may end with any ACK that is the last of its flow. Where others have no last one,
        // nothing of theirs may be done by then that would come later.
        if !self.hosts.live().any(|flow| flow.bytes.is_none()) {
            self.context.ahead.lasts_until(self.end.before());
        }
        match later {
            Some((at, event)) if at < self.end => Some((at, event)),
            _ => {
                self.now = self.end;
                self.look_at_the_end();
                None
            }
        }
    }

    /// The run is over, and with it the last span between two looks, where one ends there.
    fn look_at_the_end(&mut self) {
        let ends = |every: Span| !every.is_zero() && self.end.as_ps().is_multiple_of(every.as_ps());
        let (samples, looks) = (ends(self.sample_every), ends(self.occupancy_every));
        if samples {
            self.hosts.demands.sample(self.now, &self.core.graph().edges());
        }
        if looks {
            self.core.look(self.now, &mut self.occupancy);
        }
    }

    /// The measured time is over.
    fn measure(&mut self) {
        let span = self.measured_span();
        let under_way = self.hosts.demands.measured(self.now);
        let listed = self.hosts.listed().filter(|flow| flow.near.start() < self.now);
        let finite = listed.filter(|flow| flow.bytes.is_some() && flow.near.completed().is_none());
        self.active = under_way + finite.count();
        self.core.measured(self.now);
        self.measured = Some(Box::new(Measured {
            at: self.now,
            left: self.active,
            flows: self.hosts.listed().map(|flow| flow.achieved(span)).collect(),
            wlan: self.access.wireless.summaries(),
        }));
    }

    /// The last instant of the run so far: that of its end is no more part of it.
    pub(super) fn last_instant(&self) -> Time {
        if self.now == self.end { self.end.before() } else { self.now }
    }

    /// How long was measured so far.
    pub(super) fn measured_span(&self) -> Span {
        let until = self.measured.as_ref().map_or(self.now, |measured| measured.at);
        if until > self.measured_from { until.since(self.measured_from) } else { Span::ZERO }
    }

    /// The numbers of the first flows that the scenario lists, of which so much time was measured.
    /// Bursts that were counted too `early`, by their flows in order, are not among theirs.
    pub(super) fn flow_summaries(
        &self,
        span: Span,
        most: usize,
        early: &[u32],
    ) -> Vec<FlowSummary> {
        let listed = self.hosts.listed().take(most);
        // A flow that is listed keeps the slot of its number.
        let bursts = |flow: &Flow| {
            let carried = self.core.bursts_of(flow.id);
            let before = |number: u32| early.partition_point(|&other| other < number) as u64;
            let early = before(flow.id + 1) - before(flow.id);
            (carried.bursts - early, carried.lost)
        };
        match &self.measured {
            None => listed.map(|flow| flow.summary(&flow.achieved(span), bursts(flow))).collect(),
            Some(measured) => {
                let flows = listed.zip(&measured.flows);
                flows.map(|(flow, achieved)| flow.summary(achieved, bursts(flow))).collect()
            }
        }
    }

    /// What the cells did.
    pub(super) fn wlan_summaries(&self) -> Vec<WlanSummary> {
        match &self.measured {
            None => self.access.wireless.summaries(),
            Some(measured) => measured.wlan.clone(),
        }
    }

    /// What the end of the run left undone, and whether the numbers of `told` flows are not all.
    pub(super) fn censored(
        &self,
        told: usize,
        demands: &[DemandSummary],
    ) -> impl Iterator<Item = String> {
        let fix = match self.drain {
            None => "write run.drain, so that they end",
            Some(_) => "write a longer run.drain",
        };
        let unended = demands.iter().enumerate().filter(|(_, demand)| demand.censored > 0);
        let of_demands = unended.map(|(number, demand)| {
            let fix = if self.dead().is_demand(number, demand) { REPORT } else { fix };
            let DemandSummary { label, censored, cohort, .. } = demand;
            format!(
                "demand {label}: {censored} of the {cohort} connections that began in the measured \
                 time were not received at the end, and their completion times are unknown: no \
                 mean is told, and no percentile that they could change; {fix}"
            )
        });
        let (mut all, mut finite, mut open) = (0, 0, 0);
        for flow in self.hosts.listed() {
            all += 1;
            finite += usize::from(flow.bytes.is_some());
            open += usize::from(flow.bytes.is_some() && flow.far.received().is_none());
        }
        let fix = if open == self.dead().transfers() { REPORT } else { fix };
        let of_flows = (open > 0).then(|| {
            format!(
                "flows: {open} of {finite} finite transfers were not received at the end; {fix}"
            )
        });
        let of_rest = (told < all).then(|| {
            format!(
                "flows: the run was stopped, and only the first {told} of {all} flows have numbers \
                 here; the totals include all"
            )
        });
        let of_demands = of_demands.collect::<Vec<_>>().into_iter();
        of_demands.chain(of_flows).chain(of_rest).collect::<Vec<_>>().into_iter()
    }

    /// How much of the run is done, from 0 to 1.
    pub(crate) fn progress(&self) -> f64 {
        let bursts = self.core.closed() as f64 / self.last_burst.limit as f64;
        let share = |from: Time, to: Time| {
            let whole = to.since(from).as_ps().max(1) as f64;
            self.now.since(from).as_ps() as f64 / whole
        };
        let drain = self.drain.unwrap_or_default().as_secs_f64();
        let time = match &self.measured {
            None if drain == 0.0 => share(Time::ZERO, self.end),
            None => {
                let measured = self.end.as_secs_f64();
                let part = (measured / (measured + drain)).max(MEASURED_SHARE);
                part * share(Time::ZERO, self.end)
            }
            Some(measured) => {
                let until = measured.at.as_secs_f64();
                let part = (until / (until + drain)).max(MEASURED_SHARE);
                let done = 1.0 - self.active as f64 / measured.left.max(1) as f64;
                part + (1.0 - part) * share(measured.at, self.end).max(done)
            }
        };
        time.max(bursts).min(1.0)
    }
}
