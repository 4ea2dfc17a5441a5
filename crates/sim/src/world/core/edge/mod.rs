//! Edge nodes: packets come in, closed bursts go out. They know assembly queues, and of what lies
//! behind them the questions of [`Beyond`] alone: no fibre, and nothing of what becomes of a burst.

mod announced;
mod background;
mod batch_arrivals;
mod batches;
mod coalescer;
mod due;
mod expecting;
mod filling;
mod flush;
mod pending;
mod queue;
mod rules;

use burstlab_kernel::{RandomSource, Rank, Stream};
use burstlab_optical::AssemblyPolicy;
use burstlab_units::{Bytes, Time};
use serde::{Deserialize, Serialize};

use self::announced::{Entering, Tails};
use self::background::Background;
use self::due::Due;
use self::filling::Filling;
use self::queue::Queue;
use self::rules::EdgeRules;
use super::account::{Labels, record_label};
use super::beyond::Beyond;
use super::burst::{BurstId, Closed, ScheduledLoss};
use super::payload::{BurstKind, Payload};
use super::plan::Plan;
use super::rules::Rules;
use super::sites::Sites;
use super::under_way::UnderWay;
use crate::by_number::ByNumber;
use crate::measure::{Occupancy, Recorder, Waiting};
use crate::scenario::{Interrupt, Queues, Resolved};
use crate::world::ahead::policy::{DATA, Lookahead};
use crate::world::context::Context;
use crate::world::events::BurstEvent;
use crate::world::keys::is_named;
use crate::world::packet::{AckPacket, DataPacket, Owner, Parcel};
use crate::world::train::{TimedTrain, Train};

/// The memory of a source of bursts, and of an assembly queue with a source of batches.
pub(in crate::world) const BURST_SOURCE_SIZE: usize = size_of::<Background>();
pub(in crate::world) const BATCH_SOURCE_SIZE: usize = size_of::<Queue>()
    + size_of::<batch_arrivals::BatchArrivals>()
    + size_of::<crate::traffic::BatchSource>();

/// Where the data packets of a flow go.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(in crate::world) enum DataQueue {
    /// To this queue.
    One(usize),
    /// Between these nodes, in this class, to the queue for the window that they carry.
    ByWindow((u32, u32), u32, u64),
}

impl DataQueue {
    /// Whether packets need to carry the window of their sender.
    #[inline]
    pub(in crate::world) fn is_by_window(self) -> bool {
        matches!(self, Self::ByWindow(..))
    }
}

/// The edge nodes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Edges {
    /// Not stored: the scenario has them, and no event changes them.
    #[serde(skip)]
    rules: EdgeRules,
    /// The packets that a queue takes in at once. Not stored: a buffer, empty between two events.
    #[serde(skip)]
    due: Due,
    sites: Sites,
    queues: Vec<Queue>,
    /// Which queue is in which place: its number and 1, or 0 where none is yet.
    places: ByNumber<u32>,
    /// Of a path with one queue for all data, and one for all ACKs: these.
    only: [Option<u32>; 2],
    entering: Entering,
    tails: Tails,
    /// Draws of the routes of flows.
    choices: Stream,
    background: Vec<Background>,
    /// Queues that batches enter.
    fed: Vec<u32>,
    /// By node, the last burst that it closed.
    closed: Vec<BurstId>,
}

/// Trains that a queue of a path has room for from the beginning.
pub(super) const PATH_TRAINS: usize = 256;

impl Edges {
    pub(super) fn new(
        resolved: &Resolved,
        plan: &Plan,
        random: &RandomSource,
        ahead: &mut Lookahead,
    ) -> Self {
        let rules = EdgeRules::new(resolved, &plan.rules);
        ahead.announce(resolved, &rules.queues());
        let (sites, nodes) = (Sites::of(&plan.graph), 0..plan.graph.nodes.len() as u32);
        let mut edges = Self {
            due: Due::default(),
            places: places(&rules, sites.pairs()),
            sites,
            queues: Vec::new(),
            only: [None; 2],
            entering: Entering::new(rules.ordered, rules.trains),
            tails: Tails::default(),
            choices: random.stream("routes"),
            background: background::sources(resolved, &plan.graph, plan.rules.rate, random),
            fed: Vec::new(),
            closed: nodes.map(BurstId::before_first).collect(),
            rules,
        };
        edges.attach_batches(resolved, random, (plan, ahead));
        edges
    }

    /// Takes what is not stored from those of the same scenario.
    pub(super) fn adopt(&mut self, fresh: Self) {
        self.rules = fresh.rules;
    }

    /// Queues the first background bursts, and the first closing of each queue that batches enter.
    pub(super) fn begin(&mut self, watch: &Interrupt, context: &mut Context) {
        for number in 0..self.background.len() {
            self.await_source(number, context);
        }
        self.begin_batches(watch, context);
    }

    /// Sources of bursts, and queues that batches enter.
    pub(super) fn sources(&self) -> usize {
        self.background.len() + self.fed.len()
    }

    /// A data packet reaches its ingress.
    #[inline]
    pub(super) fn data_arrives(&mut self, now: Time, packet: DataPacket, out: &mut Beyond<'_>) {
        let (flows, rules) = out.parts();
        let queue = self.data_queue(packet.flow(), flows, rules);
        let queue = self.queue_for(queue, &packet, rules);
        let killed = out.loses(now, packet);
        if !killed {
            self.make_room(now, queue, packet.bytes(), out);
        }
        // On a path it is lost in the queue, as in the traces of ns-2, and in a mesh before.
        if !(killed && self.rules.control) {
            out.context().recorder.joined(packet.row, now);
        }
        if self.rules.spaces() {
            self.queues[queue].space(killed);
        }
        if !killed {
            self.queues[queue].payload.data.push(Train::one(packet));
            self.joined(now, queue, packet.bytes(), out);
        } else if !self.rules.control {
            self.queues[queue].kills(packet.row);
            self.opens_in_vain(now, queue, out);
        }
    }

    /// A packet of cross-traffic reaches its ingress.
    pub(super) fn cross_arrives(
        &mut self,
        now: Time,
        packet: DataPacket,
        (ends, class, key): ((u32, u32), u32, u64),
        out: &mut Beyond<'_>,
    ) {
        // It has no window; by congestion windows, its class is taken as one of theirs.
        let queue = self.queue_of(ends, class, (packet.owner, key), false, out.parts().1);
        if out.context().ahead.announces(DATA) {
            self.expect_run_in(queue, TimedTrain::one(now, packet), out.context());
            return;
        }
        self.make_room(now, queue, packet.bytes(), out);
        out.context().recorder.joined(packet.row, now);
        self.queues[queue].payload.data.push(Train::one(packet));
        self.joined(now, queue, packet.bytes(), out);
    }

    /// An ACK reaches the edge node of its receiver.
    #[inline]
    pub(super) fn ack_arrives(&mut self, now: Time, packet: AckPacket, out: &mut Beyond<'_>) {
        let (flows, rules) = out.parts();
        let queue = self.ack_queue(packet.flow, flows, rules);
        self.make_room(now, queue, packet.bytes(), out);
        out.context().recorder.joined(packet.row, now);
        self.queues[queue].payload.acks.push(Train::one(packet));
        self.joined(now, queue, packet.bytes(), out);
    }

    /// A source sends a burst.
    pub(super) fn source_sends(&mut self, now: Time, source: u32, out: &mut Beyond<'_>) {
        let (ends, bytes) = self.background[source as usize].send(self.rules.longest);
        let class = self.background[source as usize].class();
        self.await_source(source as usize, out.context());
        let drawn = Closed {
            id: self.count(ends.0, 1),
            ends,
            class,
            route_index: 0,
            opened: now,
            at: now,
            bytes,
            load: bytes.get(),
            kind: BurstKind::Background,
            drawn: true,
            payload: &mut Payload::default(),
            spaced: &[],
            killed: &[],
            prescribed: Some(None),
        };
        out.take(drawn);
    }

    /// Queues the next burst of a source, if there is one.
    fn await_source(&self, source: usize, context: &mut Context) {
        if let Some(at) = self.background[source].next() {
            let event = BurstEvent::Background.of(source as u32);
            context.queue.push(at, Rank::Arrival, event);
        }
    }

    /// The queue for packets of a flow, or of another source, from one node to another. A flow is
    /// identified by its slot and the key of its draws, another source by its number and that key.
    #[inline]
    fn queue_of(
        &mut self,
        ends: (u32, u32),
        class: u32,
        (owner, key): (Owner, u64),
        ack: bool,
        (plan, ahead): (&Plan, &Lookahead),
    ) -> usize {
        if let Some(only) = self.only[usize::from(ack)] {
            return only as usize;
        }
        let rules = &self.rules;
        let own = ack && !rules.edge.ack.with_data;
        let route_index =
            if rules.routes_apart > 1 { self.route_index(ends, key, ack, plan) } else { 0 };
        let class = class.min(rules.classes_of(own) - 1);
        let place = self.place(ends, (class, route_index), (owner, key), ack);
        let number = self.places.at(place);
        let queue = (*number as usize).wrapping_sub(1);
        if let Some(known) = self.queues.get_mut(queue) {
            if known.payload.is_empty() && known.announced.is_empty() {
                // The slot of a flow may belong to another one now.
                (known.ends, known.route_index) = (ends, route_index);
            }
            return queue;
        }
        *number = self.queues.len() as u32 + 1;
        let mut queue = Queue::new(rules, ends, (class, route_index), (own, place));
        if ahead.announces(usize::from(ack)) && queue.assembler.policy().timer_alone().is_none() {
            if rules.control {
                queue.filling = Filling::of(&queue.assembler).map(Box::new);
            } else {
                queue.way = plan.way(ends) as u32;
            }
        }
        let number = self.queues.len();
        let one = rules.classes == 1 && rules.edge.burstifiers == 1;
        if !rules.control && one && !rules.both_ways && rules.queues != Queues::Flow {
            self.only[usize::from(ack)] = Some(number as u32);
            // A path has two queues: they have room from the beginning.
            queue.announced.data.reserve(PATH_TRAINS);
            queue.announced.acks.reserve(PATH_TRAINS);
            self.due.reserve(PATH_TRAINS);
        }
        self.queues.push(queue);
        number
    }

    /// The place of a queue. A queue is made when its first packet comes, so that its number says
    /// when that was; its place says which it is.
    fn place(
        &self,
        ends: (u32, u32),
        (class, route_index): (u32, u32),
        (owner, key): (Owner, u64),
        ack: bool,
    ) -> usize {
        let rules = &self.rules;
        let (other, flow) = (owner.is_background(), owner.ordinal());
        if rules.queues == Queues::Flow {
            // The data of a flow in each class, then its ACKs; flows and other sources in turn.
            let first = (2 * flow as usize + usize::from(other)) * (rules.classes as usize + 1);
            return first + if ack { rules.classes } else { class } as usize;
        }
        let own = ack && !rules.edge.ack.with_data;
        let (pair, burstifiers) = (self.sites.pair(ends), rules.edge.burstifiers);
        let base = if own { self.sites.pairs() * rules.classes * burstifiers } else { 0 };
        // Those of an entry with a name do not depend on the entries before it.
        let turn = if is_named(key) { key } else { u64::from(flow) };
        let burstifier = (turn % u64::from(burstifiers)) as u32;
        let place = base + (pair * rules.classes_of(own) + class) * burstifiers + burstifier;
        (place * rules.routes_apart + route_index) as usize
    }

    /// Which of the routes between two nodes a flow has, or its ACKs.
    fn route_index(&self, ends: (u32, u32), key: u64, ack: bool, plan: &Plan) -> u32 {
        let [there, back] = self.choices.uniforms(key);
        let share = if ack { back } else { there };
        (share * plan.routes.of(ends.0, ends.1).len() as f64) as u32
    }

    /// A node closes so many bursts: the last of them.
    #[inline]
    fn count(&mut self, from: u32, bursts: u64) -> BurstId {
        let last = &mut self.closed[from as usize];
        *last = last.after(bursts);
        *last
    }

    /// A packet has entered a queue: closes the burst, or starts its timer.
    #[inline]
    fn joined(&mut self, now: Time, queue: usize, size: Bytes, out: &mut Beyond<'_>) {
        let place = &mut self.queues[queue];
        let idle = place.assembler.poll_timeout().is_none();
        let fed = place.arrivals.is_some();
        if place.assembler.push(now, (), size) {
            self.close(now, queue, out);
        } else if idle
            && !fed
            && let Some(deadline) = place.assembler.poll_timeout()
        {
            out.context().queue_timer(deadline, place.place, queue);
        }
        if fed {
            self.look_ahead(now, queue, out.context());
        }
    }

    /// A packet that a script loses has come to a queue: it opens a burst as any packet does.
    fn opens_in_vain(&mut self, now: Time, queue: usize, out: &mut Beyond<'_>) {
        let place = &mut self.queues[queue];
        if place.assembler.policy() == AssemblyPolicy::None {
            // It was a burst of its own.
            let from = place.ends.0;
            out.lost_all(from, &place.killed);
            place.killed.clear();
            self.count(from, 1);
            return;
        }
        let idle = place.assembler.poll_timeout().is_none();
        place.assembler.open(now);
        if idle && let Some(deadline) = place.assembler.poll_timeout() {
            out.context().queue_timer(deadline, place.place, queue);
        }
    }

    /// The timer of a queue fires; it is stale where its burst is closed already.
    pub(super) fn timer(&mut self, now: Time, queue: u32, out: &mut Beyond<'_>) {
        let queue = queue as usize;
        if self.queues[queue].is_flushed() {
            match self.queues[queue].due() == Some(now) {
                true => self.flush(now, queue, out),
                false => out.context().stale += 1,
            }
            return;
        }
        let due = |queue: &Queue| queue.assembler.poll_timeout().is_some_and(|at| at <= now);
        if !out.context().ahead.announces(DATA) && self.queues[queue].arrivals.is_some() {
            self.fed_timer(now, queue, out);
        } else if self.take_in(now, queue, out.context()) || due(&self.queues[queue]) {
            self.close(now, queue, out);
        } else {
            out.context().stale += 1;
        }
    }

    /// Closes the open burst of a queue and sends it off.
    fn close(&mut self, now: Time, queue: usize, out: &mut Beyond<'_>) {
        self.close_as(now, queue, None, out);
    }

    /// As [`close`](Self::close), where something may be prescribed for the burst already.
    fn close_as(
        &mut self,
        now: Time,
        queue: usize,
        prescribed: Option<ScheduledLoss>,
        out: &mut Beyond<'_>,
    ) {
        let id = self.count(self.queues[queue].ends.0, 1);
        let place = &mut self.queues[queue];
        let closed = place.assembler.close(&mut Vec::new());
        if place.payload.is_empty() && !self.rules.control {
            // A script lost all of it.
            out.lost_all(place.ends.0, &place.killed);
        } else {
            out.take(place.as_closed((now, id), &closed, prescribed));
        }
        place.left();
    }

    /// Traces the packets that have entered a queue by the end of the run and are in no burst: the
    /// labels of their bursts come after all that were given, in the order of the places of queues.
    pub(super) fn record_waiting(
        &self,
        now: Time,
        (rules, mut labels): (&Rules, Labels),
        recorder: &mut Recorder,
    ) {
        let mut waiting: Vec<&Queue> =
            self.queues.iter().filter(|queue| queue.waits(now)).collect();
        waiting.sort_by_key(|queue| queue.place);
        for queue in waiting {
            let label = labels.next(rules.counter(queue.ends.0));
            record_label((label, &queue.payload, &queue.killed), recorder);
            for (row, at) in queue.announced.rows(now) {
                recorder.joined(row, at);
                recorder.in_burst((row, 1), label);
            }
        }
    }

    /// Adds what waits in queues, or is known to come.
    pub(super) fn under_way(&self, found: &mut UnderWay) {
        for queue in &self.queues {
            if let Some(arrivals) = &queue.arrivals {
                found.fed(arrivals.waiting(found.at), arrivals.taken);
            }
            found.holds(&queue.payload);
            queue.announced.data().for_each(|train| found.data(train));
            found.acks(queue.announced.acks());
        }
    }

    /// Adds what waits in each queue at `now` to the tables.
    pub(super) fn look(&self, now: Time, tables: &mut Occupancy) {
        for queue in &self.queues {
            let payload = &queue.payload;
            let (packets, bytes) = (payload.packets(), payload.bytes() + payload.load.bytes);
            let mut waiting = Waiting { number: packets, bytes };
            let (packets, bytes) = queue.announced.entered(now);
            waiting.add(packets, bytes);
            if let Some(arrivals) = &queue.arrivals {
                let load = arrivals.waiting(now);
                waiting.add(load.packets, load.bytes);
            }
            if waiting.number > 0 {
                tables.queue(now, queue.ends, (queue.class, queue.route_index), waiting);
            }
        }
    }
}

/// The places of the queues between pairs of nodes with hosts: those of data, then those of ACKs.
fn places(rules: &EdgeRules, pairs: u32) -> ByNumber<u32> {
    if rules.queues == Queues::Flow {
        return ByNumber::default();
    }
    let acks = if rules.edge.ack.with_data { 0 } else { rules.classes_of(true) };
    let each = (rules.classes_of(false) + acks) * rules.edge.burstifiers * rules.routes_apart;
    ByNumber::below((pairs * each) as usize)
}
