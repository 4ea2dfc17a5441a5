//! A cell that looks at every node at every microsecond: slow, and written from the rules of the
//! standard alone. All its times are whole microseconds.

use std::collections::VecDeque;

use burstlab_link::wlan::{Counts, Draw, Drawn, Paths, Reach, Reason, Rules};
use burstlab_units::{Bytes, Span};

use super::uniform;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Frame {
    Rts,
    Cts,
    Data,
    Ack,
}

#[derive(Clone, Copy, Debug)]
struct OnAir {
    from: usize,
    to: usize,
    frame: Frame,
    /// From its MAC header on.
    bytes: u64,
    starts: u64,
    ends: u64,
    nav: u64,
    sequence: u16,
    retry: bool,
    ordinal: u64,
}

#[derive(Clone, Debug)]
struct Packet {
    name: u64,
    to: usize,
    size: Bytes,
    queued: u64,
    there: bool,
}

#[derive(Clone, Debug, Default)]
struct Node {
    queue: VecDeque<Packet>,
    head_since: u64,
    sequence: u16,
    data_was_sent: bool,
    short: u32,
    long: u32,
    window: u32,
    backoff: Option<u32>,
    /// Microseconds for which nothing was on the air, for which the medium was idle by any measure,
    /// and for which slots have been counted since the last whole one.
    silent: u64,
    idle: u64,
    slot: u64,
    bad: bool,
    nav: u64,
    sends_until: u64,
    answer: Option<(u64, usize, Frame, u64)>,
    waits: Option<(Frame, u64)>,
    seen: Vec<Option<u16>>,
    draws: u64,
    frames: u64,
    counts: Counts,
}

/// The outcome of a packet, and its time.
pub(crate) type Ended = (u64, u64, Option<Reason>);

pub(crate) struct Ticks {
    rules: Rules,
    reach: Vec<Vec<Reach>>,
    limits: [Option<u32>; 2],
    residual: f64,
    seed: u64,
    nodes: Vec<Node>,
    air: Vec<OnAir>,
    pub(crate) ended: Vec<Ended>,
}

fn us(span: Span) -> u64 {
    assert_eq!(span.as_ps() % 1_000_000, 0);
    span.as_ps() / 1_000_000
}

impl Ticks {
    pub(crate) fn new(
        rules: &Rules,
        reach: &[Vec<Reach>],
        limits: [Option<u32>; 2],
        residual: f64,
        seed: u64,
    ) -> Self {
        // Before the run the medium was never used.
        let window = rules.cw_min;
        let node = Node { window, seen: vec![None; reach.len()], ..Node::default() };
        Self {
            rules: rules.clone(),
            reach: reach.to_vec(),
            limits,
            residual,
            seed,
            nodes: vec![node; reach.len()],
            air: Vec::new(),
            ended: Vec::new(),
        }
    }

    pub(crate) fn paths(reach: &[Vec<Reach>]) -> Paths {
        Paths::new(reach.len() as u32, |from, to| reach[from as usize][to as usize])
    }

    pub(crate) fn counts(&self, node: usize) -> &Counts {
        &self.nodes[node].counts
    }

    /// Runs for `micros`; `packets` are (time, from, to, size) in order of time.
    pub(crate) fn run(&mut self, micros: u64, packets: &[(u64, usize, usize, u64)]) {
        let mut packets = (0u64..).zip(packets).peekable();
        for micro in 0..=micros {
            let now = micro;
            self.endings(now);
            self.giving_up(now);
            self.sendings(now, true);
            while let Some((name, &(_, from, to, size))) = packets.next_if(|next| next.1.0 == now) {
                self.comes(now, name, from, to, Bytes::new(size));
                self.sendings(now, false);
            }
            self.a_microsecond_passes(now);
        }
    }

    fn uniform(&self, node: usize, what: Drawn, ordinal: u64) -> f64 {
        uniform(self.seed, Draw { node: node as u32, what, ordinal })
    }

    fn senses(&self, node: usize, now: u64) -> bool {
        self.sensed(node, now, true)
    }

    /// Whether something is on the air at `now`, what begins just then included or not.
    fn sensed(&self, node: usize, now: u64, beginning: bool) -> bool {
        let heard = |one: &&OnAir| self.reach[one.from][node].senses;
        let begun = |one: &OnAir| one.starts < now || beginning && one.starts == now;
        self.air.iter().filter(heard).any(|one| begun(one) && now < one.ends)
    }

    fn is_free(&self, node: usize, now: u64, beginning: bool) -> bool {
        let one = &self.nodes[node];
        let quiet = !self.sensed(node, now, beginning) && one.sends_until <= now;
        quiet && one.answer.is_none() && one.waits.is_none()
    }

    /// Whether the medium has been idle for as long as it has to be.
    fn spaced(&self, node: usize) -> bool {
        let one = &self.nodes[node];
        let eifs = !one.bad || one.silent >= us(self.rules.eifs());
        one.idle >= us(self.rules.difs) && eifs
    }

    fn draw_backoff(&mut self, node: usize) {
        self.nodes[node].draws += 1;
        let ordinal = self.nodes[node].draws;
        let slots = self.uniform(node, Drawn::Backoff, ordinal)
            * (f64::from(self.nodes[node].window) + 1.0);
        self.nodes[node].backoff = Some(slots.floor() as u32);
        self.nodes[node].slot = 0;
    }

    fn comes(&mut self, now: u64, name: u64, from: usize, to: usize, size: Bytes) {
        let free = self.is_free(from, now, true) && self.nodes[from].nav <= now;
        let limit = self.limits[usize::from(from > 0)];
        let node = &mut self.nodes[from];
        node.counts.offered += 1;
        if limit.is_some_and(|limit| node.queue.len() > limit as usize) {
            node.counts.queue_dropped += 1;
            return;
        }
        node.queue.push_back(Packet { name, to, size, queued: now, there: false });
        if node.queue.len() == 1 {
            node.head_since = now;
            if !free && node.backoff.is_none() {
                self.draw_backoff(from);
            }
        }
    }

    fn endings(&mut self, now: u64) {
        let ending: Vec<OnAir> = self.air.iter().filter(|one| one.ends == now).copied().collect();
        for one in &ending {
            for node in 0..self.nodes.len() {
                if self.reach[one.from][node].senses {
                    self.heard(now, one, node);
                }
            }
            if !self.reach[one.from][one.to].senses {
                self.nodes[one.from].counts.errors += 1;
            }
        }
        // Frames are kept for a while: what overlaps with them is asked for.
        self.air.retain(|one| one.ends + 100_000 > now);
    }

    /// Whether `node` had nothing else on the air while `one` lasted, its own frames included.
    fn undisturbed(&self, one: &OnAir, node: usize) -> bool {
        let delay = us(self.rules.delay);
        self.air.iter().all(|other| {
            let same = other.from == one.from && other.starts == one.starts;
            // The node's own frame leaves without delay.
            let shift = if other.from == node { delay } else { 0 };
            let (starts, ends) = (other.starts - shift, other.ends - shift);
            let overlaps = starts < one.ends && one.starts < ends;
            let noticed = other.from == node || self.reach[other.from][node].senses;
            same || !overlaps || !noticed
        })
    }

    fn heard(&mut self, now: u64, one: &OnAir, node: usize) {
        let reach = self.reach[one.from][node];
        let whole = self.undisturbed(one, node);
        self.nodes[node].silent = 0;
        self.nodes[node].idle = 0;
        if node != one.to {
            let understood = whole && reach.understands;
            self.nodes[node].bad = !understood;
            if understood {
                self.nodes[node].nav = self.nodes[node].nav.max(now + one.nav);
            }
            return;
        }
        let (error, bit) = match one.frame {
            Frame::Data => (reach.data_error.get(), reach.data_bit_error.get()),
            _ => (reach.control_error.get(), reach.control_bit_error.get()),
        };
        // Each bit is right, and all else.
        let error = 1.0 - (1.0 - error) * (1.0 - bit).powf(8.0 * one.bytes as f64);
        let received = whole && self.uniform(one.from, Drawn::Frame, one.ordinal) >= error;
        self.nodes[node].bad = !received;
        if received {
            self.received(now, one);
        } else if whole {
            self.nodes[one.from].counts.errors += 1;
        } else {
            self.nodes[one.from].counts.collisions += 1;
        }
    }

    fn received(&mut self, now: u64, one: &OnAir) {
        let (sifs, ack) = (us(self.rules.sifs), us(self.rules.ack()));
        let node = &mut self.nodes[one.to];
        match one.frame {
            Frame::Rts => {
                if node.nav <= now {
                    let nav = one.nav - sifs - us(self.rules.cts());
                    node.answer = Some((now + sifs, one.from, Frame::Cts, nav));
                }
            }
            Frame::Cts => {
                if node.waits.is_some_and(|(what, _)| what == Frame::Cts) {
                    node.waits = None;
                    node.short = 0;
                    node.answer = Some((now + sifs, one.from, Frame::Data, sifs + ack));
                }
            }
            Frame::Data => {
                node.answer = Some((now + sifs, one.from, Frame::Ack, 0));
                let known = one.retry && node.seen[one.from] == Some(one.sequence);
                node.seen[one.from] = Some(one.sequence);
                if known {
                    self.nodes[one.from].counts.duplicates += 1;
                } else {
                    self.delivered(now, one.from);
                }
            }
            Frame::Ack => {
                if node.waits.is_some_and(|(what, _)| what == Frame::Ack) {
                    node.waits = None;
                    self.next_packet(now, one.to);
                }
            }
        }
    }

    fn delivered(&mut self, now: u64, from: usize) {
        let counts = &self.nodes[from].counts;
        let ordinal = counts.delivered + counts.residual_lost + 1;
        let lost = self.uniform(from, Drawn::Packet, ordinal) < self.residual;
        let node = &mut self.nodes[from];
        let packet = &mut node.queue[0];
        packet.there = true;
        self.ended.push((now, packet.name, lost.then_some(Reason::Residual)));
        if lost {
            node.counts.residual_lost += 1;
        } else {
            node.counts.delivered += 1;
            node.counts.waited_ps += u128::from(node.head_since - packet.queued) * 1_000_000;
            node.counts.served_ps += u128::from(now - node.head_since) * 1_000_000;
        }
    }

    fn next_packet(&mut self, now: u64, node: usize) {
        let one = &mut self.nodes[node];
        one.queue.pop_front();
        one.head_since = now;
        one.sequence = (one.sequence + 1) % 4096;
        (one.data_was_sent, one.short, one.long, one.window) = (false, 0, 0, self.rules.cw_min);
        self.draw_backoff(node);
    }

    fn giving_up(&mut self, now: u64) {
        for node in 0..self.nodes.len() {
            if self.nodes[node].sends_until == now && now > 0 {
                self.nodes[node].bad = false;
            }
            let Some((what, until)) = self.nodes[node].waits else { continue };
            if until != now {
                continue;
            }
            let one = &mut self.nodes[node];
            one.waits = None;
            let long = what == Frame::Ack && self.rules.asks(one.queue[0].size);
            *(if long { &mut one.long } else { &mut one.short }) += 1;
            if one.short == self.rules.short_retries || one.long == self.rules.long_retries {
                one.counts.given_up += 1;
                if !one.queue[0].there {
                    one.counts.retry_dropped += 1;
                    self.ended.push((now, one.queue[0].name, Some(Reason::Retries)));
                }
                self.next_packet(now, node);
            } else {
                one.window = (2 * one.window + 1).min(self.rules.cw_max);
                self.draw_backoff(node);
            }
        }
    }

    /// Nodes whose time has come send; they do not sense what begins `at_once`.
    fn sendings(&mut self, now: u64, at_once: bool) {
        let mut sending = Vec::new();
        for node in 0..self.nodes.len() {
            let one = &self.nodes[node];
            if let Some((at, to, frame, nav)) = one.answer {
                if at == now {
                    sending.push((node, to, frame, nav));
                }
            } else if !one.queue.is_empty()
                && self.is_free(node, now, !at_once)
                && self.spaced(node)
                && one.backoff.unwrap_or(0) == 0
            {
                let (sifs, ack) = (us(self.rules.sifs), us(self.rules.ack()));
                let (to, size) = (one.queue[0].to, one.queue[0].size);
                let data = self.data_takes(node, to, size);
                let all = 3 * sifs + us(self.rules.cts()) + data + ack;
                let asks = self.rules.asks(size);
                sending.push(if asks {
                    (node, to, Frame::Rts, all)
                } else {
                    (node, to, Frame::Data, sifs + ack)
                });
            }
        }
        let delay = us(self.rules.delay);
        for &(from, to, frame, nav) in &sending {
            let airtime = self.leaves(now, from, frame);
            let one = &mut self.nodes[from];
            let retry = frame == Frame::Data && std::mem::replace(&mut one.data_was_sent, true);
            let (sequence, ordinal) = (one.sequence, one.frames);
            let bytes = match frame {
                Frame::Rts => 20,
                Frame::Cts | Frame::Ack => 14,
                Frame::Data => 28 + one.queue[0].size.get(),
            };
            let (starts, ends) = (now + delay, now + delay + airtime);
            self.air.push(OnAir {
                from,
                to,
                frame,
                bytes,
                starts,
                ends,
                nav,
                sequence,
                retry,
                ordinal,
            });
        }
        self.interruptions(now);
    }

    /// How long a data frame takes, at the speed of the station that sends or receives it.
    fn data_takes(&self, from: usize, to: usize, size: Bytes) -> u64 {
        let station = if from == 0 { to } else { from };
        let mut rules = self.rules.clone();
        if !rules.stations.is_empty() {
            rules.data = rules.stations[station - 1];
        }
        rules.stations.clear();
        us(rules.data(1, size))
    }

    /// A node begins to send; answers for how long.
    fn leaves(&mut self, now: u64, node: usize, frame: Frame) -> u64 {
        let data = match frame {
            Frame::Data => {
                let head = &self.nodes[node].queue[0];
                self.data_takes(node, head.to, head.size)
            }
            _ => 0,
        };
        let rules = &self.rules;
        let one = &mut self.nodes[node];
        let airtime = match frame {
            Frame::Rts => us(rules.rts()),
            Frame::Cts => us(rules.cts()),
            Frame::Data => data,
            Frame::Ack => us(rules.ack()),
        };
        one.frames += 1;
        one.answer = None;
        one.sends_until = now + airtime;
        let patience = us(rules.patience());
        match frame {
            Frame::Rts => {
                one.counts.rts_frames += 1;
                (one.backoff, one.waits) = (None, Some((Frame::Cts, now + airtime + patience)));
            }
            Frame::Data => {
                one.counts.data_frames += 1;
                (one.backoff, one.waits) = (None, Some((Frame::Ack, now + airtime + patience)));
            }
            Frame::Cts | Frame::Ack => one.counts.answers += 1,
        }
        airtime
    }

    /// A node that senses something has to back off for the packet it has; one that has counted all
    /// its slots is done with them.
    fn interruptions(&mut self, now: u64) {
        for node in 0..self.nodes.len() {
            let one = &self.nodes[node];
            let own = one.sends_until > now || one.answer.is_some() || one.waits.is_some();
            if own || !self.senses(node, now) {
                continue;
            }
            if one.backoff == Some(0) && one.queue.is_empty() && self.spaced(node) {
                self.nodes[node].backoff = None;
            }
            if self.nodes[node].backoff.is_none() && !self.nodes[node].queue.is_empty() {
                self.draw_backoff(node);
            }
        }
    }

    fn a_microsecond_passes(&mut self, now: u64) {
        for node in 0..self.nodes.len() {
            let silent = !self.senses(node, now) && self.nodes[node].sends_until <= now;
            let free = self.is_free(node, now, true);
            let counting = free && self.nodes[node].nav <= now && self.spaced(node);
            let slot = us(self.rules.slot);
            let one = &mut self.nodes[node];
            one.silent = if silent { one.silent + 1 } else { 0 };
            one.idle = if free && one.nav <= now { one.idle + 1 } else { 0 };
            one.slot = if counting { one.slot + 1 } else { 0 };
            if one.slot == slot {
                one.slot = 0;
                one.backoff = one.backoff.map(|left| left.saturating_sub(1));
            }
        }
    }
}
