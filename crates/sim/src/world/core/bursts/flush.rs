//! Queues before a way that bursts have for themselves, unless a timer alone closes them: each
//! packet is a burst of its own, or a size closes the burst. What reaches such a queue within the
//! delay of an access link is announced already, so that it is taken in at once, in order of time,
//! and what it makes sets out ahead of the clock: nothing that could still happen comes before it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use burstlab_optical::AssemblyPolicy;
use burstlab_units::Time;

use super::Mesh;
use super::burst::BurstKind;
use super::pending::INSTANT;
use crate::world::context::Context;
use crate::world::packet::{AckPacket, DataPacket, Packet, Parcel};
use crate::world::place::Place;
use crate::world::train::{TimedTrain, Train};

/// What is taken in at once, and in which order. Reused, so that it costs no memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Due {
    data: Vec<TimedTrain<DataPacket>>,
    acks: Vec<TimedTrain<AckPacket>>,
    /// Of each train that is not used up: when its next packet is there and of which flow it is,
    /// in one number, its place, and how many of it are taken.
    order: BinaryHeap<Reverse<(u128, u32, u32)>>,
}

/// A place in the order: by time, then by flow.
#[inline]
fn key(at: Time, flow: u32) -> u128 {
    u128::from(at.as_ps()) << 64 | u128::from(flow)
}

impl Due {
    /// Makes room for so many trains.
    pub(super) fn reserve(&mut self, trains: usize) {
        self.data.reserve(trains);
        self.acks.reserve(trains);
        self.order.reserve(trains);
    }

    /// Puts the trains in order.
    fn sort(&mut self) {
        let data = self.data.iter().map(|coming| key(coming.at, coming.train.first.flow));
        let acks = self.acks.iter().map(|coming| key(coming.at, coming.train.first.flow));
        let firsts = (0..).zip(data.chain(acks));
        self.order.extend(firsts.map(|(place, key)| Reverse((key, place, 0))));
    }

    /// The next packet, and when it is there.
    #[inline]
    fn next(&mut self) -> Option<(Time, Packet)> {
        let mut top = self.order.peek_mut()?;
        let Reverse((at, place, taken)) = *top;
        let (data, place) = (self.data.len(), place as usize);
        let (packet, rest) = if place < data {
            let coming = &self.data[place];
            (Packet::Data(coming.train.packet(taken)), coming.after(taken))
        } else {
            let coming = &self.acks[place - data];
            (Packet::Ack(coming.train.packet(taken)), coming.after(taken))
        };
        match rest {
            Some(next) => {
                let Reverse((at, _, taken)) = &mut *top;
                (*at, *taken) = (key(next, packet.flow()), *taken + 1);
            }
            None => drop(PeekMut::pop(top)),
        }
        Some((Time::from_ps((at >> 64) as u64), packet))
    }
}

/// Adds a packet to what a burst carries.
#[inline]
fn load<P: Parcel>(payload: &mut Vec<Train<P>>, packet: P, trains: bool) {
    let train = Train::one(packet);
    if !(trains && payload.last_mut().is_some_and(|last| last.admits(&train))) {
        payload.push(train);
    }
}

impl Mesh {
    /// Up to when what is announced to a queue is all that reaches it, as `now` is.
    fn announced(&self, now: Time, queue: usize, context: &Context) -> Time {
        let ahead = self.lookahead[self.queues[queue].way as usize];
        let certain = (now + ahead).min(context.safe.saturating_add(INSTANT));
        certain.max(now + INSTANT)
    }

    /// Something reaches a queue, or its burst is due: takes in all that is certain to.
    pub(super) fn flush(&mut self, now: Time, queue: usize, context: &mut Context) {
        let until = self.announced(now, queue, context);
        let mut due = std::mem::take(&mut self.due);
        let (announced, all) = (&mut self.queues[queue].announced, (until, Place::FIRST));
        let data = announced.data.split(all, |coming| due.data.push(coming));
        announced.first = data.min(announced.acks.split(all, |coming| due.acks.push(coming)));
        context.works(due.data.len() + due.acks.len());
        if self.queues[queue].assembler.policy() == AssemblyPolicy::None {
            self.pass(queue, &mut due, context);
        } else {
            self.assemble(until, queue, &mut due, context);
        }
        due.data.clear();
        due.acks.clear();
        self.due = due;
        self.queues[queue].set_timer(queue, context);
    }

    /// Packets enter a queue that a size closes; its bursts set out as they are closed.
    fn assemble(&mut self, until: Time, queue: usize, due: &mut Due, context: &mut Context) {
        due.sort();
        let deadline = |mesh: &Self| mesh.queues[queue].assembler.poll_timeout();
        while let Some((at, packet)) = due.next() {
            if let Some(timed) = deadline(self).filter(|&timed| timed <= at) {
                self.close(timed, queue, context);
            }
            let size = packet.bytes();
            if self.queues[queue].assembler.overflows(size) {
                self.close(at, queue, context);
            }
            if self.load(at, queue, packet, context) {
                self.close(at, queue, context);
            }
        }
        if let Some(timed) = deadline(self).filter(|&timed| timed < until) {
            self.close(timed, queue, context);
        }
    }

    /// A packet enters a queue; returns whether the burst is complete.
    fn load(&mut self, at: Time, queue: usize, packet: Packet, context: &mut Context) -> bool {
        self.number(at, queue, packet.row(), context);
        let place = &mut self.queues[queue];
        match packet {
            Packet::Data(packet) => load(&mut place.payload.data, packet, self.trains),
            Packet::Ack(packet) => load(&mut place.payload.acks, packet, self.trains),
        }
        place.assembler.push(at, (), packet.bytes())
    }

    /// Packets that are bursts of their own set out: those in step at once, the others packet by
    /// packet.
    fn pass(&mut self, queue: usize, due: &mut Due, context: &mut Context) {
        let mut landing = std::mem::take(&mut self.effects.landing);
        if due.data.is_empty() {
            let kind = BurstKind::Ack;
            self.pass_in_step((queue, kind), &mut due.acks, &mut landing.acks, context);
        } else if due.acks.is_empty() {
            let kind = BurstKind::Data;
            self.pass_in_step((queue, kind), &mut due.data, &mut landing.data, context);
        }
        self.effects.landing = landing;
        due.sort();
        while let Some((at, packet)) = due.next() {
            self.pass_one(at, queue, packet, context);
        }
    }

    /// A packet is a burst of its own at `at`, which may be ahead of the clock.
    fn pass_one(&mut self, at: Time, queue: usize, packet: Packet, context: &mut Context) {
        let (kind, flow) = (BurstKind::of(&packet), packet.flow());
        let place = &self.queues[queue];
        let (from, way, size) = (place.from, place.way as usize, packet.bytes());
        let scheduled_loss = self.schedule_of(kind).next(at, packet.data().into_iter());
        let told = self.tells && kind == BurstKind::Data;
        let burst = (self.counter(from), self.numbered[self.counter(from)] + 1);
        let operated = context.surgery.changes(burst, scheduled_loss.is_some());
        if scheduled_loss.is_some() || operated || told || context.recorder.traces_bursts() {
            self.load(at, queue, packet, context);
            self.close_as(at, queue, Some(scheduled_loss), context);
            return;
        }
        let number = self.next_number(from);
        let crossing = self.ways[way].crosses(at, size);
        context.recorder.joined(packet.row(), at, number);
        context.recorder.departed(packet.row(), crossing.departs);
        if kind == BurstKind::Data {
            self.flows.carried(flow, 1);
        }
        let lands = crossing.lands;
        let ahead = lands <= context.safe && self.lands_ahead(way, context);
        if ahead && self.outlasts_packet(&packet) {
            self.counts[kind as usize].passed(1, size.get());
            self.effects.landing.add(lands, packet);
        } else {
            let counts = &mut self.counts[kind as usize];
            counts.sent += 1;
            counts.bytes_sent += size.get();
            self.flies(way, (at, lands), packet, context);
        }
    }
}
