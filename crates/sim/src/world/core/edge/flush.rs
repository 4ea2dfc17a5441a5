//! Queues in front of an exclusive path where more than a timer closes bursts: a packet is a burst
//! of its own, or a size closes the burst.
//!
//! All packets that reach such a queue within the delay of an access link are announced already: a
//! later one still has the whole link to cross. So the queue takes all packets up to that instant
//! at once, in the order of time and flow. It sends their bursts ahead of the clock. Nothing that
//! is still to happen comes before them. At one instant the timer of a burst comes before a packet,
//! as in the event queue.

use burstlab_optical::AssemblyPolicy;
use burstlab_units::Time;

use super::Edges;
use super::due::Due;
use super::queue::Queue;
use crate::world::context::Context;
use crate::world::core::beyond::Beyond;
use crate::world::core::payload::BurstKind;
use crate::world::packet::{Packet, Parcel};
use crate::world::tie_key::TieKey;
use crate::world::train::Train;

/// Adds a packet to what a burst carries.
#[inline]
fn load<P: Parcel>(payload: &mut Vec<Train<P>>, packet: P, joins: bool) {
    let train = Train::one(packet);
    if !(joins && payload.last_mut().is_some_and(|last| last.admits(&train))) {
        payload.push(train);
    }
}

impl Edges {
    /// Something reaches a queue, or its burst is due: takes in all that is certain to.
    pub(super) fn flush(&mut self, now: Time, queue: usize, out: &mut Beyond<'_>) {
        let until = out.context().ahead.known(now, self.queues[queue].way as usize);
        let mut due = std::mem::take(&mut self.due);
        let (announced, all) = (&mut self.queues[queue].announced, (until, TieKey::FIRST));
        let data = announced.data.split(all, |coming| due.data.push(coming));
        announced.first = data.min(announced.acks.split(all, |coming| due.acks.push(coming)));
        out.context().works(due.data.len() + due.acks.len());
        if self.queues[queue].assembler.policy() == AssemblyPolicy::None {
            self.pass(queue, &mut due, out);
        } else {
            self.assemble(until, queue, &mut due, out);
        }
        due.data.clear();
        due.acks.clear();
        self.due = due;
        self.queues[queue].set_timer(queue, out.context());
    }

    /// Packets enter a queue that a size closes; its bursts set out as they are closed.
    fn assemble(&mut self, until: Time, queue: usize, due: &mut Due, out: &mut Beyond<'_>) {
        due.sort();
        let deadline = |edges: &Self| edges.queues[queue].assembler.poll_timeout();
        while let Some((at, packet)) = due.next() {
            if let Some(timed) = deadline(self).filter(|&timed| timed <= at) {
                self.close(timed, queue, out);
            }
            let size = packet.bytes();
            if self.queues[queue].assembler.overflows(size) {
                self.close(at, queue, out);
            }
            if self.load(at, queue, packet, out.context()) {
                self.close(at, queue, out);
            }
        }
        if let Some(timed) = deadline(self).filter(|&timed| timed < until) {
            self.close(timed, queue, out);
        }
    }

    /// A packet enters a queue; returns whether the burst is complete.
    fn load(&mut self, at: Time, queue: usize, packet: Packet, context: &mut Context) -> bool {
        context.recorder.joined(packet.row(), at);
        let place = &mut self.queues[queue];
        match packet {
            Packet::Data(packet) => load(&mut place.payload.data, packet, self.rules.joins),
            Packet::Ack(packet) => load(&mut place.payload.acks, packet, self.rules.joins),
        }
        place.assembler.push(at, (), packet.bytes())
    }

    /// Packets that are bursts of their own set out: those in step at once, the others packet by
    /// packet.
    fn pass(&mut self, queue: usize, due: &mut Due, out: &mut Beyond<'_>) {
        let Queue { way: path, ends: (from, _), class, .. } = self.queues[queue];
        let path = path as usize;
        if due.data.is_empty() {
            let (of, trains) = ((path, BurstKind::Ack, class), &mut due.acks);
            let taken = out.take_in_step(of, from, trains, |landing| &mut landing.acks);
            self.count(from, taken);
        } else if due.acks.is_empty() {
            let (of, trains) = ((path, BurstKind::Data, class), &mut due.data);
            let taken = out.take_in_step(of, from, trains, |landing| &mut landing.data);
            self.count(from, taken);
        }
        due.sort();
        while let Some((at, packet)) = due.next() {
            // It may be ahead of the clock.
            match out.take_alone(at, (path, from, class), packet) {
                None => {
                    self.count(from, 1);
                }
                prescribed => {
                    self.load(at, queue, packet, out.context());
                    self.close_as(at, queue, prescribed, out);
                }
            }
        }
    }
}
