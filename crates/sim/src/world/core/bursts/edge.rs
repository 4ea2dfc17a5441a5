//! Edge nodes: assembly queues, and the way of a burst on its first fibre.

use crate::world::core::flows::Address;
use burstlab_optical::{Assembler, AssemblyPolicy};
use burstlab_units::{Bytes, Span, Time};
use serde::{Deserialize, Serialize};

use super::announced::Announced;
use super::batch_arrivals::BatchArrivals;
use super::burst::{BurstKind, Payload};
use super::filling::Filling;
use super::rules::Rules;
use super::{LossSchedule, Mesh, ScheduledLoss};
use crate::measure::loss::{Loss, LossCause};
use crate::measure::{PacketCause, Step};
use crate::scenario::{
    CoreForwarding, Edge, EdgeAssembly, Protocol, Queues, RouteChoice, Scenario, TieBreak,
};
use crate::world::context::Context;
use crate::world::keys::is_named;
use crate::world::packet::{AckPacket, CROSS, DataPacket, Packet, Parcel};
use crate::world::train::Train;

/// An assembly queue, with the burst that is open in it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Queue {
    pub(super) from: u32,
    to: u32,
    class: u32,
    /// Which of the routes of its pair its flows have, where each flow has one.
    lane: u32,
    pub(super) place: u32,
    pub(super) assembler: Assembler<()>,
    pub(super) payload: Payload,
    /// What will come, where it is announced.
    pub(super) announced: Announced,
    /// Batches that enter it.
    pub(super) arrivals: Option<Box<BatchArrivals>>,
    /// The way that its bursts have for themselves; `NO_WAY`: none, or a timer alone closes them.
    pub(super) way: u32,
    /// How far its burst is, where a size closes it and what enters is announced.
    pub(super) filling: Option<Box<Filling>>,
    /// Number of the open burst; 0: it has none yet.
    pub(super) number: u64,
    /// Where packets leave spaced: how many have come to the open burst, lost ones too, and how
    /// many before each that is in it.
    entered: u64,
    positions: Vec<u64>,
}

impl Queue {
    /// A queue of data, or of ACKs alone.
    fn new(
        edge: &Edge,
        assembly: &EdgeAssembly,
        (from, to): (u32, u32),
        class: u32,
        (acks, place): (bool, usize),
    ) -> Self {
        let place = place as u32;
        let policy = if acks { assembly.ack } else { assembly.data.policy(class) };
        let assembler = Assembler::new(policy).with_minimum(edge.min_size.unwrap_or_default());
        let own = if acks { &edge.ack.burst_timers } else { &edge.burst_timers };
        let assembler = assembler.with_own_timers(own.clone());
        let assembler = assembler.with_at_most(edge.at_most && !acks);
        let (payload, announced) = (Payload::default(), Announced::default());
        let (arrivals, filling, way, positions) = (None, None, NO_WAY, Vec::new());
        let (number, entered, lane) = (0, 0, 0);
        Self {
            from,
            to,
            class,
            lane,
            place,
            assembler,
            payload,
            announced,
            arrivals,
            way,
            filling,
            number,
            entered,
            positions,
        }
    }

    /// The nodes between which its bursts travel.
    pub(super) fn ends(&self) -> (u32, u32) {
        (self.from, self.to)
    }

    /// Its class, and which route its flows have.
    pub(super) fn kind(&self) -> (u32, u32) {
        (self.class, self.lane)
    }

    /// Whether it is taken in as far ahead as what reaches it is known.
    #[inline]
    pub(super) fn is_flushed(&self) -> bool {
        self.way != NO_WAY
    }

    /// A packet comes to the open burst, and is in it unless a script loses it.
    fn space(&mut self, killed: bool) {
        if !killed {
            self.positions.push(self.entered);
        }
        self.entered += 1;
    }
}

/// Whether the queues need only be told in advance of data packets, and of ACKs: where a timer or a
/// size closes them, and no script looks at each packet as it arrives.
pub(super) fn expects(scenario: &Scenario, rules: &Rules, loss: &LossSchedule) -> (bool, bool) {
    if scenario.run.tie_break == TieBreak::Random || rules.both_ways {
        // What is announced enters by time and flow: drawn ties need an event for each packet. And
        // so do hosts whose data and ACKs leave on one link.
        return (false, false);
    }
    // In a mesh bursts may be closed by a size where each host has its links to itself, and where
    // nothing else enters, in an order that no link says.
    let alone_enters = scenario.traffic.is_empty() && scenario.batches.is_empty();
    let filled = rules.control && !rules.ordered && alone_enters;
    let known = |policy: AssemblyPolicy| {
        policy.timer_alone().is_some() || filled && policy.size_or_time().is_some()
    };
    let timed = (0..rules.classes).all(|class| known(rules.assembly.data.policy(class)));
    let singly = loss.script.names_packets() || !rules.spacing.is_zero();
    // On a way that bursts have for themselves they may be closed ahead of the clock.
    let cut = scenario.core.forwarding == CoreForwarding::CutThrough;
    let alone = !rules.control && cut;
    let data = (timed || alone) && !singly && few_batches(scenario, rules);
    let acks = alone || known(rules.assembly.ack);
    (data, if rules.acks_with_data { data } else { acks })
}

/// Whether no queue takes so many batches in one event that nobody is heard meanwhile.
fn few_batches(scenario: &Scenario, rules: &Rules) -> bool {
    let policy = |class| rules.assembly.data.policy(class);
    let timers = (0..rules.classes).filter_map(|class| policy(class).timer_alone());
    let longest = timers.max().unwrap_or_default().as_secs_f64();
    let rate: f64 = scenario.batches.iter().map(|batches| batches.batches_per_second).sum();
    rate * longest <= FEW_BATCHES
}

/// They take a few milliseconds.
const FEW_BATCHES: f64 = 65_536.0;

/// The places of the queues between nodes with hosts: those of data, then those of ACKs. A queue is
/// made when its first packet comes.
pub(super) fn places(rules: &Rules, sites: u32) -> Vec<u32> {
    if rules.queues == Queues::Flow {
        return Vec::new();
    }
    let acks = if rules.acks_with_data { 0 } else { rules.classes_of(true) };
    let each = (rules.classes_of(false) + acks) * rules.burstifiers * rules.lanes;
    vec![NO_QUEUE; (sites * sites * each) as usize]
}

/// Attempts to send a burst that have draws of their own.
const ATTEMPTS: u64 = 1 << 12;

/// Trains that a queue of a path has room for from the beginning.
const PATH_TRAINS: usize = 256;

/// Stands for no way.
const NO_WAY: u32 = u32::MAX;

/// Stands for a queue that is not there yet.
const NO_QUEUE: u32 = u32::MAX;

impl Rules {
    /// Classes of the queues of ACKs, or of data.
    fn classes_of(&self, acks: bool) -> u32 {
        if acks && self.assembly.data.thresholds().is_some() { 1 } else { self.classes }
    }

    /// The class of a data packet.
    #[inline]
    pub(super) fn class_of(&self, packet: &DataPacket, class: u32) -> u32 {
        match self.assembly.data.thresholds() {
            Some(list) => list.partition_point(|&from| from <= u32::from(packet.cwnd)) as u32,
            None => class,
        }
    }

    /// The class of an ACK of a flow of `class`.
    #[inline]
    pub(super) fn class_of_ack(&self, class: u32) -> u32 {
        if self.assembly.data.thresholds().is_some() { self.ack_class } else { class }
    }
}

impl Mesh {
    /// A data packet reaches its ingress.
    #[inline]
    pub(in crate::world) fn data_arrives(
        &mut self,
        now: Time,
        packet: DataPacket,
        context: &mut Context,
    ) {
        let &Address { key, from, to, class, .. } = self.flows.address(packet.flow);
        let (ends, class) = ((from, to), self.rules.class_of(&packet, class));
        let queue = self.queue_of(ends, class, (packet.flow, key), false);
        let killed = self.data_loss.script.kills(&packet);
        if !killed {
            self.make_room(now, queue, packet.bytes(), context);
        }
        // On a path it is lost in the queue, as in the traces of ns-2, and in a mesh before.
        if !(killed && self.rules.control) {
            self.number(now, queue, packet.row, context);
        }
        if !self.rules.spacing.is_zero() {
            self.queues[queue].space(killed);
        }
        if killed {
            let loss = Loss { cause: LossCause::Scripted, burst: 0, node: 0, port: 0, at: now };
            self.effects.lose_one(Packet::Data(packet), loss, PacketCause::Scripted);
            if !self.rules.control {
                self.opens_in_vain(now, queue, context);
            }
            return;
        }
        self.queues[queue].payload.data.push(Train::one(packet));
        self.joined(now, queue, packet.bytes(), context);
    }

    /// A packet of cross-traffic reaches its ingress.
    pub(in crate::world) fn cross_arrives(
        &mut self,
        now: Time,
        packet: DataPacket,
        (ends, class, key): ((u32, u32), u32, u64),
        context: &mut Context,
    ) {
        // It has no window; by congestion windows, its class is taken as one of theirs.
        let queue = self.queue_of(ends, class, (packet.flow, key), false);
        if self.expects_data() {
            self.expect_in(queue, now, packet, context);
            return;
        }
        self.make_room(now, queue, packet.bytes(), context);
        self.number(now, queue, packet.row, context);
        self.queues[queue].payload.data.push(Train::one(packet));
        self.joined(now, queue, packet.bytes(), context);
    }

    /// An ACK reaches the edge node of its receiver.
    #[inline]
    pub(in crate::world) fn ack_arrives(
        &mut self,
        now: Time,
        packet: AckPacket,
        context: &mut Context,
    ) {
        let queue = self.ack_queue(packet.flow);
        self.make_room(now, queue, packet.bytes(), context);
        self.number(now, queue, packet.row, context);
        self.queues[queue].payload.acks.push(Train::one(packet));
        self.joined(now, queue, packet.bytes(), context);
    }

    /// The queue for packets of a flow, or of another source, from one node to another. A flow is
    /// told by its slot and the key of its draws, as another source is by its number and that.
    #[inline]
    pub(super) fn queue_of(
        &mut self,
        ends: (u32, u32),
        class: u32,
        (flow, key): (u32, u64),
        ack: bool,
    ) -> usize {
        if let Some(only) = self.only[usize::from(ack)] {
            return only as usize;
        }
        let rules = &self.rules;
        let (other, flow) = (flow & CROSS != 0, flow & !CROSS);
        let own = ack && !rules.acks_with_data;
        let lane = if rules.lanes > 1 { self.lane(ends, key, ack) } else { 0 };
        let classes = rules.classes_of(own);
        let class = class.min(classes - 1);
        let place = if rules.queues == Queues::Flow {
            // The data of a flow in each class, then its ACKs; flows and other sources in turn.
            (2 * flow as usize + usize::from(other)) * (rules.classes as usize + 1)
                + if ack { rules.classes } else { class } as usize
        } else {
            let site =
                |node: u32| self.sites[node as usize].expect("packets start at a node with hosts");
            let pair = site(ends.0) * self.site_count + site(ends.1);
            let pairs = self.site_count * self.site_count;
            let base = if own { pairs * rules.classes * rules.burstifiers } else { 0 };
            // Those of an entry with a name do not depend on the entries before it.
            let turn = if is_named(key) { key } else { u64::from(flow) };
            let burstifier = (turn % u64::from(rules.burstifiers)) as u32;
            let place = base + (pair * classes + class) * rules.burstifiers + burstifier;
            (place * rules.lanes + lane) as usize
        };
        if self.places.len() <= place {
            self.places.resize(place + 1, NO_QUEUE);
        }
        let queue = self.places[place] as usize;
        if let Some(known) = self.queues.get_mut(queue) {
            if known.payload.is_empty() && known.announced.is_empty() {
                // The slot of a flow may belong to another one now.
                (known.from, known.to, known.lane) = (ends.0, ends.1, lane);
            }
            return queue;
        }
        self.places[place] = self.queues.len() as u32;
        let mut queue =
            Queue::new(&self.scenario.edge, &self.rules.assembly, ends, class, (own, place));
        queue.lane = lane;
        let announced = if ack { self.expects.1 } else { self.expects.0 };
        if announced && queue.assembler.policy().timer_alone().is_none() {
            match self.way(ends.0, ends.1) {
                Some(way) => queue.way = way as u32,
                None => queue.filling = Filling::of(&queue.assembler).map(Box::new),
            }
        }
        self.queues.push(queue);
        let number = self.queues.len() - 1;
        let rules = &self.rules;
        let one = rules.classes == 1 && rules.burstifiers == 1;
        if !rules.control && one && !rules.both_ways && rules.queues != Queues::Flow {
            self.only[usize::from(ack)] = Some(number as u32);
            // A path has two queues: they have room from the beginning.
            let announced = &mut self.queues[number].announced;
            announced.data.reserve(PATH_TRAINS);
            announced.acks.reserve(PATH_TRAINS);
            self.due.reserve(PATH_TRAINS);
            self.effects.landing.reserve(PATH_TRAINS);
        }
        number
    }

    /// Which of the routes between two nodes a flow has, or its ACKs.
    fn lane(&self, ends: (u32, u32), key: u64, ack: bool) -> u32 {
        let [there, back] = self.choices.uniforms(key);
        let share = if ack { back } else { there };
        (share * self.routes.of(ends.0, ends.1).len() as f64) as u32
    }

    /// A packet enters a queue: numbers the burst it opens.
    #[inline]
    pub(super) fn number(&mut self, now: Time, queue: usize, row: u32, context: &mut Context) {
        if self.queues[queue].number == 0 {
            self.queues[queue].number = self.next_number(self.queues[queue].from);
        }
        context.recorder.joined(row, now, self.queues[queue].number);
    }

    /// A packet has entered a queue: closes the burst, or starts its timer.
    #[inline]
    fn joined(&mut self, now: Time, queue: usize, size: Bytes, context: &mut Context) {
        let place = &mut self.queues[queue];
        let idle = place.assembler.poll_timeout().is_none();
        let fed = place.arrivals.is_some();
        if place.assembler.push(now, (), size) {
            self.close(now, queue, context);
        } else if idle
            && !fed
            && let Some(deadline) = place.assembler.poll_timeout()
        {
            context.queue_timer(deadline, place.place, queue);
        }
        if fed {
            self.look_ahead(now, queue, context);
        }
    }

    /// A packet that a script loses has come to a queue: it opens a burst as any packet does.
    fn opens_in_vain(&mut self, now: Time, queue: usize, context: &mut Context) {
        let place = &mut self.queues[queue];
        if place.assembler.policy() == AssemblyPolicy::None {
            // It was a burst of its own.
            place.number = 0;
            self.data_loss.closed += 1;
            return;
        }
        let idle = place.assembler.poll_timeout().is_none();
        place.assembler.open(now);
        if idle && let Some(deadline) = place.assembler.poll_timeout() {
            context.queue_timer(deadline, place.place, queue);
        }
    }

    /// The timer of a queue fires; it is stale where its burst is closed already.
    pub(super) fn timer(&mut self, now: Time, queue: u32, context: &mut Context) {
        let queue = queue as usize;
        if self.queues[queue].is_flushed() {
            match self.queues[queue].due() == Some(now) {
                true => self.flush(now, queue, context),
                false => context.stale += 1,
            }
            return;
        }
        let due = |queue: &Queue| queue.assembler.poll_timeout().is_some_and(|at| at <= now);
        if !self.expects_data() && self.queues[queue].arrivals.is_some() {
            self.fed_timer(now, queue, context);
        } else if self.take_in(now, queue, context) || due(&self.queues[queue]) {
            self.close(now, queue, context);
        } else {
            context.stale += 1;
        }
    }

    /// Closes the open burst of a queue and sends it off.
    pub(super) fn close(&mut self, now: Time, queue: usize, context: &mut Context) {
        self.close_as(now, queue, None, context);
    }

    /// As [`close`](Self::close), where what the scenario prescribes for the burst may be `known`.
    pub(super) fn close_as(
        &mut self,
        now: Time,
        queue: usize,
        known: Option<ScheduledLoss>,
        context: &mut Context,
    ) {
        if self.queues[queue].number == 0 {
            self.queues[queue].number = self.next_number(self.queues[queue].from);
        }
        let place = &mut self.queues[queue];
        let closed = place.assembler.close(&mut Vec::new());
        if !self.rules.spacing.is_zero() {
            self.positions.clear();
            self.positions.append(&mut place.positions);
            place.entered = 0;
        }
        if place.payload.is_empty() && !self.rules.control {
            // A script lost all of it.
            place.number = 0;
            self.data_loss.closed += 1;
            return;
        }
        let (from, to) = (place.from, place.to);
        if let Some(way) = self.way(from, to).filter(|&way| self.lands_ahead(way, context))
            && known.is_none()
            && self.crosses_ahead((now, way), queue, &closed, context)
        {
            return;
        }
        let place = &mut self.queues[queue];
        context.works(place.payload.trains());
        let slot = self.bursts.open(std::mem::take(&mut place.number));
        self.bursts.load(slot, &mut place.payload);
        let burst = self.bursts.get_mut(slot);
        (burst.from, burst.to, burst.class) = (place.from, place.to, place.class);
        burst.lane = place.lane;
        burst.packets = burst.payload.packets();
        burst.bytes = closed.bytes;
        burst.load = closed.bytes.get() - closed.padding.get();
        (burst.opened, burst.closed) = (closed.opened, now);
        burst.kind = burst.payload.kind();
        let took = now.since(closed.opened);
        if self.rules.control {
            self.tally.assembled(burst.kind as usize, burst.packets, closed.bytes, took);
        }
        self.count_flows(slot);
        match known.or(self.asked.take()) {
            Some(scheduled_loss) => self.bursts.get_mut(slot).scheduled_loss = scheduled_loss,
            None => self.prescribe(slot),
        }
        self.send(now, slot, context);
    }

    /// Counts the segments of each flow in a burst.
    fn count_flows(&mut self, slot: u32) {
        let payload = &self.bursts.get(slot).payload;
        let (mut carried, mut whole) = (0, 0);
        for (flow, segments) in self.census.take(&payload.data) {
            carried += 1;
            whole += segments;
            if self.rules.control {
                self.tally.segments_of_flow(segments);
            }
            self.flows.carried(flow, 1);
        }
        if carried > 0 && self.rules.control {
            self.tally.carries(whole, carried);
        }
    }

    /// Decides whether a burst is lost as the scenario prescribes, and where.
    fn prescribe(&mut self, slot: u32) {
        let burst = self.bursts.get_mut(slot);
        let rule = match burst.kind {
            BurstKind::Data => &mut self.data_loss,
            BurstKind::Ack => &mut self.ack_loss,
            BurstKind::Background => return,
        };
        burst.scheduled_loss =
            rule.next(burst.closed, burst.payload.data.iter().map(|train| &train.first));
        burst.turn = rule.closed;
    }

    /// A closed burst is counted, gets its copy, and is launched.
    pub(super) fn send(&mut self, now: Time, slot: u32, context: &mut Context) {
        self.operate(now, slot, context);
        let burst = self.bursts.get_mut(slot);
        let counts = &mut self.counts[burst.kind as usize];
        counts.sent += 1;
        counts.bytes_sent += burst.load;
        burst.load_left = burst.load;
        if self.rules.resends > 0 {
            let used = &mut self.copies[burst.from as usize];
            let room = self.rules.buffer - *used;
            burst.copy = burst.bytes.get() <= room;
            if burst.copy {
                *used += burst.bytes.get();
            } else {
                self.tally.of(burst.kind as usize).resolutions.no_copy += 1;
                let none = Span::ZERO;
                self.note((now, slot), Step::NoCopy, None, none, &mut context.recorder);
            }
        }
        self.launch(now, slot, context);
    }

    /// The ingress sends a burst on its way, for the first time or again.
    pub(super) fn launch(&mut self, now: Time, slot: u32, context: &mut Context) {
        let rules = &self.rules;
        let burst = self.bursts.get(slot);
        if let Some(way) = self.way(burst.from, burst.to) {
            return self.set_out(now, slot, way, context);
        }
        let burst = self.bursts.get_mut(slot);
        let routes = self.routes.of(burst.from, burst.to);
        let pick = match rules.choice {
            RouteChoice::First => 0,
            RouteChoice::RoundRobin => {
                let site = |node: u32| self.sites[node as usize].expect("a burst ends at hosts");
                let pair = site(burst.from) * self.site_count + site(burst.to);
                let turn = &mut self.turns[pair as usize];
                // After a failure there may be fewer.
                let pick = *turn as usize % routes.len();
                *turn = (*turn + 1) % routes.len() as u32;
                pick
            }
            RouteChoice::Ecmp if burst.packets > 0 => burst.lane as usize % routes.len(),
            RouteChoice::Random | RouteChoice::Ecmp => {
                let [share, _] = self.choices.uniforms(burst.number);
                (share * routes.len() as f64) as usize
            }
        };
        burst.route.clear();
        burst.route.extend_from_slice(&routes[pick]);
        burst.planned = burst.route.len();
        burst.reservations.clear();
        (burst.hop, burst.wavelength) = (0, 0);
        if rules.random_wavelength {
            // Each attempt has a draw of its own.
            let attempt = u64::from(burst.attempts).min(ATTEMPTS - 1);
            let [share, _] = self.wavelengths.uniforms(burst.number * ATTEMPTS + attempt);
            let first = self.graph.link(burst.route[0]);
            let all = first.wavelength_of(first.wavelengths);
            burst.wavelength = (share * f64::from(all)) as u32;
        }
        burst.hold = rules.hold(burst.bytes);
        burst.left = burst.hold;
        if burst.packets == 0 {
            // What is sent again is the whole burst; packets that were cut off are not in it.
            burst.load_left = burst.load;
        }
        let mut offset = rules.offset(burst.planned, burst.class);
        if rules.protocol == Protocol::TwoWay {
            let hops = burst.planned - 1;
            offset += self.reach(slot, hops) * 2;
        }
        let burst = self.bursts.get_mut(slot);
        burst.arrives = now + offset;
        if let Some(cause) = burst.loss_here() {
            self.lose(now, slot, cause, context);
            return;
        }
        if !self.rules.fifo {
            burst.departs = burst.arrives;
            self.header_arrives(now, slot, context);
            return;
        }
        self.queue_up(now, slot, now + offset, context);
    }
}
