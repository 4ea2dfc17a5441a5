//! The world: every host, link, edge and fibre of a scenario, as one plain value that can be cloned
//! and resumed at any instant. This is the loop. Hosts, links and the optical network work in their
//! rooms, which know nothing of one another.

mod access;
mod ahead;
mod air;
mod connections;
mod context;
mod core;
mod dead;
mod drain;
mod duplex;
mod events;
mod hosts;
mod keys;
#[cfg(test)]
mod leftovers;
mod lossy_links;
mod notices;
mod occupancy;
mod packet;
mod parting;
mod report;
pub(crate) mod sizes;
mod stacks;
mod surgery;
mod tie_key;
mod totals;
mod train;
mod transit;

use crate::world::core::Network;
use std::sync::Arc;

use burstlab_kernel::{EventQueue, RandomSource, Rank, Ticket};
use burstlab_units::{Bytes, Span, Time};
use serde::{Deserialize, Serialize};

use self::access::Access;
use self::ahead::LastBurst;
use self::ahead::policy::{Listed, Lookahead};
use self::context::Context;
use self::core::Core;
use self::drain::Measured;
use self::events::Event;
use self::hosts::{FAR, Flow, Hosts, NEAR};
pub(crate) use self::surgery::Surgery;
use crate::measure::{Occupancy, Recorder, Trace};
use crate::scenario::{ExternalClock, Resolved, ScenarioError, TieBreak};

/// So much work is done between two looks at the monitor: a few hundredths of a second.
const WORK_MAX: u32 = 1 << 13;

/// A running scenario.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct World {
    context: Context,
    hosts: Hosts,
    access: Access,
    core: Core,
    /// When the run is over at the latest, an instant that is no more part of it; with a drain at
    /// first when the measured time is over, and with it the arrivals.
    end: Time,
    /// How long the run may go on after that.
    drain: Option<Span>,
    /// What was measured, once it goes on.
    measured: Option<Box<Measured>>,
    last_burst: LastBurst,
    /// Flows that still have something to send; in the drain finite ones alone.
    active: usize,
    now: Time,
    measured_from: Time,
    /// Whether measuring has begun.
    warm: bool,
    events: u64,
    core_events: u64,
    notice_size: Bytes,
    sample_every: Span,
    occupancy_every: Span,
    occupancy: Occupancy,
    /// What goes on beside. Not stored: a run with third-party hosts is not.
    #[serde(skip)]
    outside: Option<Arc<dyn ExternalClock>>,
}

impl World {
    pub(crate) fn new(resolved: &Resolved, random: &RandomSource, trace: Trace) -> Self {
        let scenario = &resolved.scenario;
        let hosts = Hosts::new(resolved, random);
        let listed = Listed { event_driven: hosts.event_driven(), endless: hosts.endless() };
        let mut ahead = Lookahead::new(resolved, trace, &listed);
        let core = Core::new(resolved, random, &mut ahead);
        // Demands, background bursts and traffic through a mesh never end. Traffic on the access
        // links of a path goes on as long as the flows that it meets, or alone.
        let lasts = !scenario.kind().is_path() || hosts.flows.is_empty();
        let through = usize::from(lasts) * scenario.traffic.len();
        let endless = core.endless() + scenario.demand.len() + through;
        let mut access =
            Access::new(resolved, random, (hosts.flows.len(), core.graph().nodes.len()));
        for flow in hosts.flows.iter().filter(|flow| flow.goes_back()) {
            let links =
                if access.shared { (flow.to, flow.from) } else { (flow.id - 1, flow.id - 1) };
            access.seat_back(flow.id, links);
        }
        let warm = Time::ZERO + scenario.run.warmup;
        let queue = match scenario.run.tie_break == TieBreak::Random {
            true => EventQueue::with_drawn_ties(random.stream("ties")),
            false => EventQueue::new(),
        };
        let mut world = Self {
            context: Context::new(queue, Recorder::new(trace), Surgery::new(scenario), ahead),
            active: hosts.flows.len() + endless,
            hosts,
            access,
            core,
            end: Time::ZERO + scenario.run.duration,
            drain: scenario.run.drain,
            measured: None,
            last_burst: LastBurst::new(scenario.run.bursts),
            now: Time::ZERO,
            measured_from: Time::ZERO,
            warm: false,
            events: 0,
            core_events: 0,
            notice_size: scenario.edge.notice_size,
            sample_every: Span::ZERO,
            occupancy_every: scenario.run.occupancy.unwrap_or_default(),
            occupancy: Occupancy::default(),
            outside: resolved.stacks.as_ref().and_then(|stacks| stacks.outside()),
        };
        world.begin(resolved, warm);
        world
    }

    /// Takes what is not stored from a world of the same scenario in which nothing has happened;
    /// `None` where this one is of another.
    pub(crate) fn adopt(&mut self, fresh: Self) -> Option<()> {
        if let Some(kept) = self.kept() {
            kept.adopt(fresh.clone())?;
        }
        self.context.ahead.adopt(&fresh.context.ahead);
        self.hosts.adopt(fresh.hosts)?;
        self.core.adopt(fresh.core)
    }

    /// Puts what is sure to happen into the queue.
    fn begin(&mut self, resolved: &Resolved, warm: Time) {
        let scenario = &resolved.scenario;
        for index in 0..self.hosts.flows.len() as u32 {
            self.register(index);
            let start = self.hosts.flows[index as usize].near.start();
            if start < Time::MAX && start < self.end {
                self.context.queue.push(start, Rank::Timer, Event::Start(index));
            }
        }
        self.core.begin(&resolved.watch, &mut self.context);
        for (source, at) in self.hosts.demands.starts() {
            self.context.queue.push(at, Rank::Arrival, Event::Demand(source));
        }
        if let Some(every) = scenario.run.sample {
            self.sample_every = every;
            self.context.queue.push(Time::ZERO + every, Rank::Timer, Event::Sample);
        }
        self.begin_keeping();
        self.schedule_occupancy_sample();
        for (index, at) in self.access.cross.starts() {
            self.context.queue.push(at, Rank::Arrival, Event::Cross(index));
        }
        // Before all else of its instant, as what is measured begins there. It takes a number none
        // the less, so that ties are drawn as if it stood among the timers.
        self.context.queue.ticket(Rank::Timer);
        self.context.queue.push_at(warm, Ticket::first(0), Event::WarmedUp);
    }

    /// Processes up to `count` events, fewer where they take long; returns whether the run goes on.
    pub(crate) fn advance(&mut self, count: u32) -> bool {
        let goes_on = match self.outside.clone() {
            Some(outside) => self.advance_with(&*outside, count),
            None => self.advance_by_itself(count),
        };
        self.context.work = 0;
        goes_on
    }

    fn advance_by_itself(&mut self, count: u32) -> bool {
        self.context.work = 0;
        for _ in 0..count {
            if self.context.work >= WORK_MAX {
                return true;
            }
            if self.active == 0 {
                return false;
            }
            if self.core.closed() >= self.last_burst.limit && !self.goes_back() {
                return false;
            }
            let (at, event) = match self.context.queue.pop() {
                Some((at, event)) if at < self.end => (at, event),
                later => match self.drains(later) {
                    Some(next) => next,
                    None => return false,
                },
            };
            (self.now, self.context.clock) = (at, at);
            let (in_core, stale) = (matches!(event, Event::Core(_)), self.context.stale);
            self.happen(event);
            let real = self.context.stale == stale;
            self.events += u64::from(real);
            self.core_events += u64::from(real && in_core);
        }
        true
    }

    /// Whether a host of others did what no run can go on with.
    pub(crate) fn has_failed(&self) -> bool {
        self.hosts.fault().is_some()
    }

    /// Why the run cannot go on, if it cannot.
    pub(crate) fn is_stuck(&self) -> Option<ScenarioError> {
        if let Some(fault) = self.hosts.fault() {
            return Some(fault.clone());
        }
        self.core.is_full().map(|rate| {
            let problem = format!(
                "more than 16 million bursts are under way at {}: they come faster than the \
                 network carries or loses them",
                self.now
            );
            let fix = "write a lower load, or assemble larger bursts with edge.assembly";
            ScenarioError::new("network.link_rate", rate.to_string(), problem, fix)
        })
    }

    // Without this the call costs 3 % of all instructions of a run (counted with callgrind).
    #[inline(always)]
    fn happen(&mut self, event: Event) {
        match event {
            Event::AckAtSender(link) => self.ack_at_sender(link),
            Event::DataAtReceiver(link) => self.data_at_receiver(link),
            Event::AckAtEgress(link) => self.ack_at_egress(link),
            Event::DataAtIngress(link) => self.data_at_ingress(link),
            Event::Core(event) => {
                self.core.happen(self.now, event, &mut self.context);
                self.apply();
            }
            Event::SenderTimer(index) => {
                if let Some(before) = self.hosts.sender_timer(self.now, index, &mut self.context) {
                    self.transmit(index, &before);
                }
            }
            Event::Release(index) => {
                if let Some(before) = self.hosts.release(self.now, index, &mut self.context) {
                    self.transmit(index, &before);
                }
            }
            Event::ReceiverTimer(index) => self.receiver_timer(index),
            Event::Start(index) => self.start(index),
            Event::NearStackTimer(index) => self.stack_timer((index, NEAR)),
            Event::FarStackTimer(index) => self.stack_timer((index, FAR)),
            Event::Write(index) => self.write(index),
            Event::Notice(slot) => self.notice(slot),
            Event::Cross(index) => self.cross_sends(index),
            Event::Cell(index) => self.cell(index),
            Event::CrossArrived(side) => {
                self.access.cross.arrived(self.now, side, &mut self.context.recorder);
            }
            Event::Demand(source) => self.connect(source),
            Event::Sample => self.sample(),
            Event::Occupancy => self.note_occupancy(),
            Event::Keep => self.keep(),
            Event::WarmedUp => {
                self.measured_from = self.now;
                self.warm = true;
                self.context.ahead.lasts_until(self.end.before());
                self.hosts.demands.warmed_up(self.now);
                self.hosts.flows.iter_mut().for_each(Flow::warmed_up);
                self.core.warmed_up(self.now);
            }
        }
    }
}
