//! The cell: nodes that share a channel.

use burstlab_units::{Bytes, Span, Time};
use serde::{Deserialize, Serialize};

use super::air::{Frame, Kind, Paths};
use super::counts::Counts;
use super::station::{Queued, Reply, Station};
use super::timing::{ACK, CTS, DATA_HEADER, RTS, Rules};

/// A cell: node 0 is the base station, the others are its stations.
///
/// It is driven by [`advance`](Self::advance) and [`enqueue`](Self::enqueue), with times that never
/// go back. Nothing has to be done before [`poll_timeout`](Self::poll_timeout). Slots in which
/// nothing happens cost nothing, and nodes that do not sense each other do not slow it down.
///
/// It draws from no generator: whoever drives it hands over a function from a [`Draw`] to a uniform
/// number in [0, 1) that belongs to that draw alone.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cell<P> {
    rules: Rules,
    paths: Paths,
    /// Chance that a packet which the cell has carried is lost all the same.
    residual: f64,
    nodes: Vec<Station<P>>,
    air: Vec<Frame>,
    /// Frames numbered so far.
    numbered: u64,
    now: Time,
    /// The least time on the air of a data frame.
    least: Span,
}

/// A decision that takes a uniform number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// The node it is about, which backs off, or sends.
    pub node: u32,
    /// The quantity that is decided.
    pub what: Drawn,
    /// Which decision of its kind and node, from 1.
    pub ordinal: u64,
}

/// A quantity that a uniform number decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawn {
    /// How long a back-off is.
    Backoff,
    /// Whether a frame is received.
    Frame,
    /// Whether a packet that was carried is lost all the same.
    Packet,
}

/// The outcome of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome<P> {
    /// It is at the node `to`.
    Delivered {
        /// Where it was queued.
        from: u32,
        /// Where it is.
        to: u32,
        /// The packet.
        packet: P,
    },
    /// It will not be.
    Lost {
        /// Where it was queued.
        from: u32,
        /// Where it was to go.
        to: u32,
        /// The packet.
        packet: P,
        /// Why.
        reason: Reason,
    },
}

/// Why a packet was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It was tried as often as the limits allow.
    Retries,
    /// The residual loss of the cell picked it.
    Residual,
}

impl<P> Cell<P> {
    /// A cell with the nodes of `paths`; `queues` are the packets that may wait, at the base
    /// station and at each other node, behind the one being sent (`None`: no bound), and `residual`
    /// the chance, from 0 to 1, that a packet is lost which the cell has carried.
    ///
    /// # Panics
    /// Where there are fewer than two nodes, or limits of `rules` are zero.
    #[must_use]
    pub fn new(rules: Rules, paths: Paths, queues: [Option<u32>; 2], residual: f64) -> Self {
        assert!(paths.nodes() > 1, "a base station alone is no cell");
        assert!(rules.short_retries > 0 && rules.long_retries > 0, "nothing would be tried");
        assert!(!rules.slot.is_zero(), "slots take time");
        let (all, rated) = (paths.nodes() as usize - 1, rules.stations.len());
        assert!(rated == 0 || rated == all, "each station has a speed, or none has one of its own");
        let limit = |node: u32| queues[usize::from(node > 0)];
        let nodes = (0..paths.nodes()).map(|node| Station::new(paths.nodes(), limit(node), &rules));
        let nodes = nodes.collect();
        let least = rules.shortest_data();
        let (air, numbered, now) = (Vec::new(), 0, Time::ZERO);
        Self { rules, paths, residual, nodes, air, numbered, now, least }
    }

    /// A packet of `size` is handed to node `from`, for node `to`. Outcomes up to `now` were taken.
    ///
    /// # Errors
    /// The packet, where the queue is full.
    ///
    /// # Panics
    /// Where an outcome was not taken.
    pub fn enqueue(
        &mut self,
        now: Time,
        (from, to): (u32, u32),
        packet: P,
        size: Bytes,
        draw: &impl Fn(Draw) -> f64,
    ) -> Result<(), P> {
        let mut outcomes = Vec::new();
        self.advance(now, draw, &mut outcomes);
        assert!(outcomes.is_empty(), "the cell was to be advanced before");
        let node = &mut self.nodes[from as usize];
        node.counts.offered += 1;
        let waiting = node.queue.len().saturating_sub(1);
        if !node.queue.is_empty() && node.limit.is_some_and(|limit| waiting >= limit as usize) {
            node.counts.queue_dropped += 1;
            return Err(packet);
        }
        // One of the two is the base station, node 0.
        let (asks, airtime) = (self.rules.asks(size), self.rules.data(from.max(to), size));
        let packet = Some(packet);
        node.queue.push_back(Queued { packet, to, size, asks, airtime, queued_at: now });
        if node.queue.len() == 1 {
            node.serving_since = now;
            if node.backoff.is_none() && node.finds_busy(now) {
                self.back_off(from, draw);
            }
        }
        Ok(())
    }

    /// Does all that happens up to `now`, and adds the fates of packets to `outcomes`, in order of
    /// time. Called at each [`poll_timeout`](Self::poll_timeout) it gives each outcome at its time.
    pub fn advance(
        &mut self,
        now: Time,
        draw: &impl Fn(Draw) -> f64,
        outcomes: &mut Vec<Outcome<P>>,
    ) {
        assert!(now >= self.now, "time does not go back");
        loop {
            let at = self.next_step();
            if at > now {
                break;
            }
            self.now = at;
            self.step(at, draw, outcomes);
        }
        self.now = now;
    }

    /// Before when nothing becomes of any packet, unless another one is handed over; `None`: there
    /// is none.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        let data = self.air.iter().filter(|frame| frame.kind == Kind::Data);
        let landing = data.map(|frame| frame.ends).min().unwrap_or(Time::MAX);
        let rules = &self.rules;
        let before = |node: &Station<P>| node.no_outcome_before(self.now, rules, self.least);
        let others = self.nodes.iter().map(before).min();
        Some(others.map_or(landing, |at| at.min(landing))).filter(|&at| at < Time::MAX)
    }

    /// The counts of node `node` as a sender.
    #[must_use]
    pub fn counts(&self, node: u32) -> &Counts {
        &self.nodes[node as usize].counts
    }

    /// How many nodes there are, the base station included.
    #[must_use]
    pub fn nodes(&self) -> u32 {
        self.paths.nodes()
    }

    /// The packets that were handed to a node and have neither been delivered nor lost.
    pub fn in_flight(&self, node: u32) -> impl Iterator<Item = &P> {
        self.nodes[node as usize].queue.iter().filter_map(|queued| queued.packet.as_ref())
    }

    fn next_step(&self) -> Time {
        let air = self.air.iter().map(|frame| frame.begins.unwrap_or(frame.ends));
        let nodes = self.nodes.iter().map(|node| node.next(&self.rules));
        air.chain(nodes).min().unwrap_or(Time::MAX)
    }

    /// All that happens at an instant: frames end, nodes give up waiting, nodes send, frames begin.
    /// Nodes that begin to send at one instant do not hear of each other before.
    fn step(&mut self, at: Time, draw: &impl Fn(Draw) -> f64, outcomes: &mut Vec<Outcome<P>>) {
        let mut index = 0;
        while index < self.air.len() {
            if self.air[index].ends == at {
                let frame = self.air.remove(index);
                self.frame_ends(at, &frame, draw, outcomes);
            } else {
                index += 1;
            }
        }
        for node in 0..self.paths.nodes() {
            let station = &mut self.nodes[node as usize];
            if station.sending_until == Some(at) {
                station.sending_until = None;
                (station.free_at, station.distorted) = (at, false);
            }
            if let Some((kind, until)) = station.awaits
                && until == at
            {
                station.awaits = None;
                self.fails(at, node, kind, draw, outcomes);
            }
        }
        for node in 0..self.paths.nodes() {
            let station = &mut self.nodes[node as usize];
            if station.reply.as_ref().is_some_and(|reply| reply.at == at) {
                let reply = station.reply.take().expect("it is there");
                self.sends(at, node, &reply);
            } else if station.is_idle()
                && !station.queue.is_empty()
                && station.sends_at(&self.rules) == at
            {
                self.accesses(at, node);
            }
        }
        for index in 0..self.air.len() {
            if self.air[index].begins == Some(at) {
                self.air[index].begins = None;
                self.frame_begins(at, index, draw);
            }
        }
    }

    /// A node has the medium.
    fn accesses(&mut self, at: Time, node: u32) {
        let rules = &self.rules;
        let station = &mut self.nodes[node as usize];
        station.backoff = None;
        let head = station.queue.front().expect("it has a packet");
        let kind = if head.asks { Kind::Rts } else { Kind::Data };
        let reserves = match kind {
            Kind::Rts => rules.sifs * 3 + rules.cts() + head.airtime + rules.ack(),
            _ => rules.sifs + rules.ack(),
        };
        let first = Reply { at, to: head.to, kind, reserves };
        self.sends(at, node, &first);
    }

    /// A node puts a frame on the air.
    fn sends(&mut self, at: Time, node: u32, what: &Reply) {
        let rules = &self.rules;
        let station = &mut self.nodes[node as usize];
        let (mut retry, mut awaits) = (false, None);
        let (length, airtime) = match what.kind {
            Kind::Rts => {
                awaits = Some(Kind::Cts);
                station.counts.rts_frames += 1;
                (RTS, rules.rts())
            }
            Kind::Cts | Kind::Ack => {
                station.counts.answers += 1;
                if what.kind == Kind::Cts { (CTS, rules.cts()) } else { (ACK, rules.ack()) }
            }
            Kind::Data => {
                awaits = Some(Kind::Ack);
                station.counts.data_frames += 1;
                retry = std::mem::replace(&mut station.retry, true);
                let head = station.queue.front().expect("it has a packet");
                (head.size + DATA_HEADER, head.airtime)
            }
        };
        station.frames += 1;
        station.receives = None;
        station.sending_until = Some(at + airtime);
        if let Some(kind) = awaits {
            station.awaits = Some((kind, at + airtime + rules.patience()));
        }
        self.numbered += 1;
        self.air.push(Frame {
            number: self.numbered,
            from: node,
            to: what.to,
            kind: what.kind,
            length,
            ordinal: station.frames,
            sequence: station.sequence,
            retry,
            reserves: what.reserves,
            begins: Some(at + rules.delay),
            ends: at + rules.delay + airtime,
        });
    }

    /// The first bit of a frame is at the nodes that sense it.
    fn frame_begins(&mut self, at: Time, index: usize, draw: &impl Fn(Draw) -> f64) {
        let Frame { number, from, .. } = self.air[index];
        for node in 0..self.paths.nodes() {
            if !self.paths.of(from, node).senses {
                continue;
            }
            let station = &mut self.nodes[node as usize];
            let draws = station.is_idle() && station.freeze(at, &self.rules);
            let alone = station.sensed == 0 && station.sending_until.is_none();
            station.receives = alone.then_some(number);
            station.sensed += 1;
            if draws {
                self.back_off(node, draw);
            }
        }
    }

    /// The last bit of a frame is at the nodes that sense it.
    fn frame_ends(
        &mut self,
        at: Time,
        frame: &Frame,
        draw: &impl Fn(Draw) -> f64,
        outcomes: &mut Vec<Outcome<P>>,
    ) {
        let mut arrives = false;
        for node in 0..self.paths.nodes() {
            let reach = self.paths.of(frame.from, node);
            if !reach.senses {
                continue;
            }
            let station = &mut self.nodes[node as usize];
            station.sensed -= 1;
            let whole = station.receives == Some(frame.number);
            let understood = if node == frame.to {
                let error = reach.error(frame.kind == Kind::Data, frame.length);
                let (node, ordinal) = (frame.from, frame.ordinal);
                let drawn = || draw(Draw { node, what: Drawn::Frame, ordinal });
                arrives = whole && (error <= 0.0 || drawn() >= error);
                arrives
            } else {
                whole && reach.understands
            };
            if whole {
                station.receives = None;
            }
            (station.free_at, station.distorted) = (at, !understood);
            if understood && node != frame.to {
                station.reserved_until = station.reserved_until.max(at + frame.reserves);
            }
            if node == frame.to && !arrives {
                let counts = &mut self.nodes[frame.from as usize].counts;
                *(if whole { &mut counts.errors } else { &mut counts.collisions }) += 1;
            }
        }
        if arrives {
            self.receives(at, frame, draw, outcomes);
        } else if !self.paths.of(frame.from, frame.to).senses {
            self.nodes[frame.from as usize].counts.errors += 1;
        }
    }

    /// A node receives a frame that is for it.
    fn receives(
        &mut self,
        at: Time,
        frame: &Frame,
        draw: &impl Fn(Draw) -> f64,
        outcomes: &mut Vec<Outcome<P>>,
    ) {
        let rules = &self.rules;
        let station = &mut self.nodes[frame.to as usize];
        let reply_at = at + rules.sifs;
        let mut reply = |kind: Kind, reserves: Span| {
            station.reply = Some(Reply { at: reply_at, to: frame.from, kind, reserves });
        };
        match frame.kind {
            Kind::Rts if station.reserved_until <= at => {
                let taken = rules.sifs + rules.cts();
                reply(Kind::Cts, Span::from_ps(frame.reserves.as_ps() - taken.as_ps()));
            }
            Kind::Cts if matches!(station.awaits, Some((Kind::Cts, _))) => {
                reply(Kind::Data, rules.sifs + rules.ack());
                station.awaits = None;
                station.short = 0;
            }
            Kind::Data => {
                reply(Kind::Ack, Span::ZERO);
                let last = &mut station.seen[frame.from as usize];
                let again = frame.retry && *last == Some(frame.sequence);
                *last = Some(frame.sequence);
                if again {
                    self.nodes[frame.from as usize].counts.duplicates += 1;
                } else {
                    self.arrives(at, frame.from, draw, outcomes);
                }
            }
            Kind::Ack if matches!(station.awaits, Some((Kind::Ack, _))) => {
                station.awaits = None;
                self.done(at, frame.to, draw);
            }
            _ => {}
        }
    }

    /// The first packet of a node is at the other side.
    fn arrives(
        &mut self,
        at: Time,
        from: u32,
        draw: &impl Fn(Draw) -> f64,
        outcomes: &mut Vec<Outcome<P>>,
    ) {
        let station = &mut self.nodes[from as usize];
        let head = station.queue.front_mut().expect("it was sent");
        let packet = head.packet.take().expect("it is received once");
        let (to, counts) = (head.to, &mut station.counts);
        let ordinal = counts.delivered + counts.residual_lost + 1;
        let what = Drawn::Packet;
        if self.residual > 0.0 && draw(Draw { node: from, what, ordinal }) < self.residual {
            counts.residual_lost += 1;
            outcomes.push(Outcome::Lost { from, to, packet, reason: Reason::Residual });
            return;
        }
        counts.delivered += 1;
        let waited = station.serving_since.since(head.queued_at);
        counts.waited_ps += u128::from(waited.as_ps());
        counts.served_ps += u128::from(at.since(station.serving_since).as_ps());
        outcomes.push(Outcome::Delivered { from, to, packet });
    }

    /// A node waited in vain for an answer (802.11-1999, 9.2.5.3): an RTS and a frame that none
    /// precedes count for the short limit, other frames for the long one.
    fn fails(
        &mut self,
        at: Time,
        node: u32,
        awaited: Kind,
        draw: &impl Fn(Draw) -> f64,
        outcomes: &mut Vec<Outcome<P>>,
    ) {
        let rules = &self.rules;
        let station = &mut self.nodes[node as usize];
        station.gave_up = at;
        let head = station.queue.front().expect("it was sent");
        let count =
            if awaited == Kind::Ack && head.asks { &mut station.long } else { &mut station.short };
        *count += 1;
        if station.short < rules.short_retries && station.long < rules.long_retries {
            station.window = (2 * station.window + 1).min(rules.cw_max);
            self.back_off(node, draw);
            return;
        }
        station.counts.given_up += 1;
        let to = head.to;
        if let Some(packet) = station.queue.front_mut().and_then(|head| head.packet.take()) {
            station.counts.retry_dropped += 1;
            outcomes.push(Outcome::Lost { from: node, to, packet, reason: Reason::Retries });
        }
        self.done(at, node, draw);
    }

    /// A node is done with its first packet: it backs off, whether it has another one or not.
    fn done(&mut self, at: Time, node: u32, draw: &impl Fn(Draw) -> f64) {
        let station = &mut self.nodes[node as usize];
        station.queue.pop_front();
        station.serving_since = at;
        station.sequence = (station.sequence + 1) % 4096;
        (station.retry, station.short, station.long) = (false, 0, 0);
        station.window = self.rules.cw_min;
        self.back_off(node, draw);
    }

    fn back_off(&mut self, node: u32, draw: &impl Fn(Draw) -> f64) {
        let station = &mut self.nodes[node as usize];
        station.draws += 1;
        let uniform = draw(Draw { node, what: Drawn::Backoff, ordinal: station.draws });
        let slots = uniform * (f64::from(station.window) + 1.0);
        station.backoff = Some((slots as u32).min(station.window));
    }
}
