//! The course of a run: when it ends, and what comes after the measured time. Nothing new begins
//! then, and the rest goes on until it is done.

use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::access::Access;
use super::context::Context;
use super::hosts::{Achieved, Hosts};
use crate::measure::WlanSummary;
use crate::scenario::Run;

/// What was measured of flows and cells; the optics keep their own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Measured {
    at: Time,
    /// Finite transfers that were under way then.
    left: usize,
    /// Of the flows that the scenario lists, which keep their slots.
    pub(super) flows: Vec<Achieved>,
    pub(super) wlan: Vec<WlanSummary>,
}

/// A run that drains is at least this far when its measured time ends: how long transfers will take
/// nobody knows, and a drain may be allowed far more than it needs.
const MEASURED_SHARE: f64 = 0.5;

/// How far a run goes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Course {
    /// When the run is over at the latest, an instant that is no more part of it; with a drain at
    /// first when the measured time is over, and with it the arrivals.
    end: Time,
    /// How long the run may go on after that.
    drain: Option<Span>,
    /// What was measured, once it goes on.
    measured: Option<Box<Measured>>,
    /// Those that happened: all, and in the core.
    events: [u64; 2],
}

impl Course {
    pub(super) fn new(run: &Run) -> Self {
        let end = Time::ZERO + run.duration;
        Self { end, drain: run.drain, measured: None, events: [0; 2] }
    }

    /// An event happened.
    #[inline]
    pub(super) fn count(&mut self, real: bool, in_core: bool) {
        self.events[0] += u64::from(real);
        self.events[1] += u64::from(real && in_core);
    }

    /// Events so far: all, and those in the core.
    pub(super) fn events(&self) -> [u64; 2] {
        self.events
    }

    /// When the run is over at the latest.
    #[inline]
    pub(super) fn end(&self) -> Time {
        self.end
    }

    /// The run ends at `at`, if it would go on.
    pub(super) fn end_at(&mut self, at: Time) {
        if at <= self.end {
            self.drain = None;
        }
        self.end = self.end.min(at);
    }

    /// Whether the scenario lets the run drain.
    pub(super) fn has_drain(&self) -> bool {
        self.drain.is_some()
    }

    /// The measured time may be over: if it is, and the run drains, puts by what was measured, and
    /// returns how many transfers are left.
    pub(super) fn measure(
        &mut self,
        hosts: &mut Hosts,
        access: &Access,
        context: &mut Context,
    ) -> Option<usize> {
        let drain = self.drain.filter(|_| context.phase.is_measured())?;
        let (at, span) = (self.end, context.phase.span(self.end));
        context.phase.ends(at);
        let under_way = hosts.demands.measured(at);
        let listed = hosts.listed().filter(|flow| flow.near.start() < at);
        let finite = listed.filter(|flow| flow.bytes.is_some() && flow.near.completed().is_none());
        let left = under_way + finite.count();
        let flows = hosts.listed().map(|flow| flow.achieved(span)).collect();
        let wlan = access.wireless.summaries();
        self.measured = Some(Box::new(Measured { at, left, flows, wlan }));
        if left > 0 {
            self.end += drain;
            // The run may end with any ACK that is the last of its flow. Where others have no last
            // one, nothing of theirs may be done by then that would come later.
            if !hosts.live().any(|flow| flow.bytes.is_none()) {
                context.ahead.lasts_until(self.end.before());
            }
        }
        Some(left)
    }

    /// What was measured, if the run drains or has drained.
    pub(super) fn measured(&self) -> Option<&Measured> {
        self.measured.as_deref()
    }

    /// The last instant of the run so far: that of its end is no more part of it.
    pub(super) fn last_instant(&self, now: Time) -> Time {
        if now == self.end { self.end.before() } else { now }
    }

    /// How much of the run is done, from 0 to 1, with so many transfers left.
    pub(super) fn progress(&self, now: Time, active: usize) -> f64 {
        let share = |from: Time, to: Time| {
            let whole = to.since(from).as_ps().max(1) as f64;
            now.since(from).as_ps() as f64 / whole
        };
        let drain = self.drain.unwrap_or_default().as_secs_f64();
        match &self.measured {
            None if drain == 0.0 => share(Time::ZERO, self.end),
            None => {
                let measured = self.end.as_secs_f64();
                let part = (measured / (measured + drain)).max(MEASURED_SHARE);
                part * share(Time::ZERO, self.end)
            }
            Some(measured) => {
                let until = measured.at.as_secs_f64();
                let part = (until / (until + drain)).max(MEASURED_SHARE);
                let done = 1.0 - active as f64 / measured.left.max(1) as f64;
                part + (1.0 - part) * share(measured.at, self.end).max(done)
            }
        }
    }
}
