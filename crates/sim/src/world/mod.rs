//! The world: every host, link, edge and fibre of a scenario, as one plain value that can be cloned
//! and resumed at any instant. This is the loop. Hosts, links and the optical network work in their
//! rooms, which know nothing of one another.

mod access;
mod ahead;

mod context;
mod core;
mod course;
mod dead;
mod duplex;
mod endpoints;
mod events;
mod hosts;
mod keeping;
mod keys;
mod landing;
#[cfg(test)]
mod leftovers;
mod looks;
mod notices;
mod pacing;
mod packet;
mod parting;
mod phase;
mod report;
pub(crate) mod sizes;
mod stacks;
mod surgery;
mod tie_key;
mod totals;
mod train;
mod transit;

use std::sync::Arc;

use burstlab_kernel::{EventQueue, RandomSource, Rank, Ticket};
use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use self::access::Access;
use self::ahead::LastBurst;
use self::ahead::policy::Lookahead;
use self::ahead::traced::records_bursts_early;
use self::context::Context;
use self::core::{Core, Network};
use self::course::Course;
use self::endpoints::Endpoints;
use self::events::Event;
use self::hosts::{FAR, Flow, Hosts, NEAR};
use self::looks::Looks;
use self::notices::Notices;
use self::phase::RunPhase;
pub(crate) use self::surgery::Surgery;
use self::transit::Transit;
use crate::measure::{Recorder, Trace};
use crate::scenario::{ExternalClock, Resolved, ScenarioError, TieBreak, Wakeup};

/// So much work is done between two looks at the monitor: a few hundredths of a second.
const WORK_MAX: u32 = 1 << 13;

/// A running scenario.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct World {
    transit: Transit,
    endpoints: Endpoints,
    course: Course,
    looks: Looks,
    last_burst: LastBurst<World>,
    /// The clock of programs outside. Not stored: a run with third-party hosts is not.
    #[serde(skip)]
    outside: Option<Arc<dyn ExternalClock>>,
}

impl World {
    pub(crate) fn new(resolved: &Resolved, random: &RandomSource, trace: Trace) -> Self {
        let scenario = &resolved.scenario;
        let hosts = Hosts::new(resolved, random);
        let mut ahead = Lookahead::new(resolved, trace, hosts.facts());
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
        let notices = Notices::of(scenario.edge.notice_size);
        let surgery = Surgery::new(scenario);
        let recorder = Recorder::new(trace)
            .in_order_of_ends_if(records_bursts_early(resolved))
            .ahead_if(ahead.is_allowed());
        let context = Context::new(queue, recorder, notices, surgery, ahead);
        let mut world = Self {
            endpoints: Endpoints { active: hosts.flows.len() + endless, one_by_one: 0 },
            transit: Transit { context, hosts, access, core },
            course: Course::new(&scenario.run),
            looks: Looks::new(scenario),
            last_burst: LastBurst::new(scenario.run.bursts),
            outside: resolved.stacks.as_ref().and_then(|stacks| stacks.outside()),
        };
        world.begin(resolved, warm);
        world
    }

    /// Takes what is not stored from a world of the same scenario in which nothing has happened;
    /// `None` where this one is of another.
    pub(crate) fn adopt(&mut self, fresh: Self) -> Option<()> {
        if let Some(kept) = self.last_burst.kept() {
            kept.adopt(fresh.clone())?;
        }
        let (mine, fresh) = (&mut self.transit, fresh.transit);
        mine.context.ahead.adopt(&fresh.context.ahead);
        mine.hosts.adopt(fresh.hosts)?;
        mine.core.adopt(fresh.core)
    }

    /// Puts what is sure to happen into the queue.
    fn begin(&mut self, resolved: &Resolved, warm: Time) {
        for index in 0..self.transit.hosts.flows.len() as u32 {
            self.transit.register(index);
            let start = self.transit.hosts.flows[index as usize].near.start();
            if start < Time::MAX && start < self.course.end() {
                self.transit.context.queue.push(start, Rank::Timer, Event::Start(index));
            }
        }
        let Transit { context, hosts, access, core } = &mut self.transit;
        core.begin(&resolved.watch, context);
        for (source, at) in hosts.demands.starts() {
            context.queue.push(at, Rank::Arrival, Event::Demand(source));
        }
        self.looks.schedule_sample(context);
        LastBurst::<Self>::begin(context);
        self.looks.schedule_occupancy(context);
        for (index, at) in access.cross.starts() {
            context.queue.push(at, Rank::Arrival, Event::Cross(index));
        }
        // Before all else of its instant, as what is measured begins there. It takes a number none
        // the less, so that ties are drawn as if it stood among the timers.
        context.queue.ticket(Rank::Timer);
        context.queue.push_at(warm, Ticket::first(0), Event::WarmedUp);
    }

    /// Processes up to `count` events, fewer where they take long; returns whether the run goes on.
    pub(crate) fn advance(&mut self, count: u32) -> bool {
        let goes_on = match self.outside.clone() {
            Some(outside) => self.advance_with(&*outside, count),
            None => self.advance_by_itself(count),
        };
        self.transit.context.work = 0;
        goes_on
    }

    fn advance_by_itself(&mut self, count: u32) -> bool {
        self.transit.context.work = 0;
        for _ in 0..count {
            if self.transit.context.work >= WORK_MAX {
                return true;
            }
            if self.endpoints.active == 0 {
                return false;
            }
            if self.last_burst.is_closed(self.transit.core.closed()) && !self.goes_back() {
                return false;
            }
            let (at, event) = match self.transit.context.queue.pop() {
                Some((at, event)) if at < self.course.end() => (at, event),
                later => match self.drains(later) {
                    Some(next) => next,
                    None => return false,
                },
            };
            self.transit.context.now = at;
            if self.transit.context.recorder.takes_turns() {
                self.transit.context.recorder.happens(at, event.turn());
            }
            let (in_core, stale) = (matches!(event, Event::Core(_)), self.transit.context.stale);
            self.happen(event);
            self.course.count(self.transit.context.stale == stale, in_core);
        }
        true
    }

    /// The same with programs outside: no event happens before its time there, and packets that
    /// hosts send on their own come between.
    fn advance_with(&mut self, outside: &dyn ExternalClock, count: u32) -> bool {
        for _ in 0..count {
            let (now, end) = (self.now(), self.course.end());
            let next = self.transit.context.queue.next_at().map_or(end, |at| at.min(end));
            match outside.wait(now, next.max(now)) {
                Wakeup::Due if !self.advance_by_itself(1) => return false,
                Wakeup::Due => {}
                Wakeup::Host { at, flow, far } => {
                    self.transit.context.now = at;
                    let end = (flow, if far { FAR } else { NEAR });
                    self.endpoints.stack_called(end, &mut self.transit);
                    self.course.count(true, false);
                }
                Wakeup::End { at } => {
                    self.transit.context.now = at.max(now);
                    return false;
                }
            }
        }
        true
    }

    /// The next event is `later` than the end, or there is none. Returns it where the run goes on:
    /// if this was the end of the measured time.
    #[cold]
    fn drains(&mut self, later: Option<(Time, Event)>) -> Option<(Time, Event)> {
        let Transit { context, hosts, access, core } = &mut self.transit;
        context.now = self.course.end();
        if let Some(left) = self.course.measure(hosts, access, context) {
            core.measured(context.now);
            self.endpoints.active = left;
            let next = later.filter(|&(at, _)| left > 0 && at < self.course.end());
            if next.is_some() {
                return next;
            }
            context.now = self.course.end();
        }
        self.looks.look_at_the_end(context.now, hosts, core);
        None
    }

    /// Whether a third-party host did what no run can go on with.
    pub(crate) fn has_failed(&self) -> bool {
        self.transit.hosts.fault().is_some()
    }

    /// Why the run cannot go on, if it cannot.
    pub(crate) fn is_stuck(&self) -> Option<ScenarioError> {
        if let Some(fault) = self.transit.hosts.fault() {
            return Some(fault.clone());
        }
        self.transit.core.is_full().map(|rate| {
            let problem = format!(
                "more than 16 million bursts are under way at {}: they come faster than the \
                 network carries or loses them",
                self.now()
            );
            let fix = "write a lower load, or assemble larger bursts with edge.assembly";
            ScenarioError::new("network.link_rate", rate.to_string(), problem, fix)
        })
    }

    /// How much of the run is done, from 0 to 1.
    pub(crate) fn progress(&self) -> f64 {
        let time = self.course.progress(self.now(), self.endpoints.active);
        time.max(self.last_burst.progress(self.transit.core.closed())).min(1.0)
    }

    // Without this the call costs 3 % of all instructions of a run (counted with callgrind).
    #[inline(always)]
    fn happen(&mut self, event: Event) {
        let Self { transit, endpoints, .. } = self;
        let now = transit.context.now;
        match event {
            Event::AckAtSender(link) => {
                if let Some(packet) = transit.ack_at_sender(link) {
                    endpoints.hear(&packet, transit);
                }
            }
            Event::DataAtReceiver(link) => {
                if let Some(packet) = transit.data_at_receiver(link) {
                    endpoints.receive(&packet, transit);
                }
            }
            Event::AckAtEgress(link) => {
                transit.ack_at_egress(link);
                self.apply();
            }
            Event::DataAtIngress(link) => {
                transit.data_at_ingress(link);
                self.apply();
            }
            Event::Core(event) => {
                transit.core.happen(now, event, &mut transit.context);
                self.apply();
            }
            Event::PacedAck(flow) => transit.paced_ack(flow),
            Event::SenderTimer(index) => {
                let before = transit.hosts.sender_timer(now, index, &mut transit.context);
                before.iter().for_each(|before| transit.transmit(index, before));
            }
            Event::Release(index) => {
                let before = transit.hosts.release(now, index, &mut transit.context);
                before.iter().for_each(|before| transit.transmit(index, before));
            }
            Event::ReceiverTimer(index) => {
                let ack = transit.hosts.receiver_timer(now, index, &mut transit.context);
                transit.emit_ack(ack);
            }
            Event::Start(index) => endpoints.start(index, transit),
            Event::NearStackTimer(index) => endpoints.stack_timer((index, NEAR), transit),
            Event::FarStackTimer(index) => endpoints.stack_timer((index, FAR), transit),
            Event::Write(index) => transit.write(index),
            Event::Notice(slot) => transit.notice(slot),
            Event::Cross(index) => {
                transit.cross_sends(index);
                self.apply();
            }
            Event::Cell(index) => endpoints.cell(index, transit),
            Event::CrossArrived(side) => {
                transit.access.cross.arrived(now, side, &mut transit.context.recorder);
            }
            Event::Demand(source) => endpoints.connect(source, transit),
            Event::Sample => {
                self.looks.sample(&mut transit.hosts, &transit.core, &mut transit.context);
            }
            Event::Occupancy => {
                self.looks.note_occupancy(&mut transit.core, &mut transit.context);
            }
            Event::Keep => self.keep(),
            Event::WarmedUp => {
                let Transit { context, hosts, core, .. } = transit;
                context.phase = RunPhase::Measured { from: now };
                context.ahead.lasts_until(self.course.end().before());
                hosts.demands.warmed_up(now);
                hosts.flows.iter_mut().for_each(Flow::warmed_up);
                core.warmed_up(now);
            }
        }
    }

    /// Deals with what the optical network has brought about.
    #[inline]
    fn apply(&mut self) {
        if !self.transit.core.effects().is_empty() {
            self.transit.apply_effects();
        }
    }
}
