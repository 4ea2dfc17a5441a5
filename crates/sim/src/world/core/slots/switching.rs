//! The work of a node in a slot.

use std::cmp::Ordering;

use burstlab_optical::slotted::{Arrival, Offer};
use burstlab_units::{Bytes, Time};

use super::{CellSlot, InFlight, SlotNetwork};
use crate::scenario::Order;
use crate::world::ahead::policy::DATA;
use crate::world::context::Context;
use crate::world::core::effects::{Effect, Place};
use crate::world::packet::Packet;

impl SlotNetwork {
    /// Slot `slot` begins at `node`: what waits leaves, what arrives leaves, waits or is dropped,
    /// and then the edge may send; `landed` gets what is for this node.
    fn slot(&mut self, node: u32, slot: u64, context: &mut Context, landed: &mut Vec<CellSlot>) {
        self.take_in(node, self.present);
        let switch = &mut self.nodes[node as usize].switch;
        if switch.occupied() == 0 {
            switch.begin(slot, |_, _| unreachable!("nothing waits"));
        } else {
            self.waited_leave(node, slot, context);
        }
        let mut arrived = std::mem::take(&mut self.arrived);
        let next = self.arrive(node, slot, &mut arrived, landed);
        // Where fibres take turns and slots come over several: the fibre of the first of them.
        let take_turns = self.fixed.rules.order == Order::Rotating && arrived.len() > 1;
        let first = take_turns.then(|| self.came_over(arrived[0]));
        let mut meet = false;
        for cell in arrived.drain(..) {
            let InFlight { pair, hop, .. } = *self.cells.get(cell);
            let link = self.pairs[pair as usize].route[hop as usize];
            let fibre = &mut self.fibres[link as usize];
            fibre.descriptor.arrives(slot);
            fibre.tally.arrived += 1;
            let port = fibre.port as usize;
            match self.nodes[node as usize].switch.offer(port, cell) {
                Offer::Leaves(cell) => self.leaves(node, port, slot, cell, context),
                Offer::Waits => {
                    meet = true;
                    self.marks(node, slot, cell);
                }
                Offer::Dropped(cell) => {
                    meet = true;
                    self.drops(slot, link, cell, context);
                }
            }
        }
        if let Some(first) = first.filter(|_| meet) {
            self.fibres[first as usize].first = slot + 1;
        }
        self.arrived = arrived;
        self.send(node, slot, context);
        self.nodes[node as usize].switch.end();
        self.wake_again(node, (slot, next), context);
    }

    /// Cells that wait at `node` leave in `slot`, as many as its outputs carry.
    fn waited_leave(&mut self, node: u32, slot: u64, context: &mut Context) {
        let mut left = std::mem::take(&mut self.left);
        self.nodes[node as usize].switch.begin(slot, |port, cell| left.push((port, cell)));
        for (port, cell) in left.drain(..) {
            self.leaves(node, port, slot, cell, context);
        }
        self.left = left;
    }

    /// Takes the packets that arrive at `node` in `slot` from its fibres, in the order of service;
    /// returns the slot in which the next one arrives.
    #[inline]
    fn arrive(
        &mut self,
        node: u32,
        slot: u64,
        arrived: &mut Vec<CellSlot>,
        landed: &mut Vec<CellSlot>,
    ) -> u64 {
        let state = &self.nodes[node as usize];
        let mut next = u64::MAX;
        for &link in &state.incoming {
            let front = &mut self.fronts[link as usize];
            if *front > slot {
                next = next.min(*front);
                continue;
            }
            assert!(*front == slot, "nothing arrives unseen");
            let fibre = &mut self.fibres[link as usize];
            while let Some(&(at, cell)) = fibre.flying.front()
                && at == slot
            {
                fibre.flying.pop_front();
                let InFlight { pair, hop, .. } = *self.cells.get(cell);
                let ends = self.pairs[pair as usize].route.len() == hop as usize;
                fibre.ending -= u32::from(ends);
                if ends { landed.push(cell) } else { arrived.push(cell) }
            }
            *front = fibre.flying.front().map_or(u64::MAX, |&(at, _)| at);
            next = next.min(*front);
        }
        if arrived.len() > 1 {
            self.order(node, slot, arrived);
        }
        next
    }

    /// Puts the cells that arrive at `node` in `slot` in the order of service.
    fn order(&self, node: u32, slot: u64, arrived: &mut [CellSlot]) {
        let count = arrived.len();
        match self.fixed.rules.order {
            Order::Fixed => {}
            Order::Rotating => {
                let first =
                    |&place: &usize| self.fibres[self.came_over(arrived[place]) as usize].first;
                let place = (0..count).min_by_key(first).unwrap_or(0);
                arrived.rotate_left(place);
            }
            Order::Random => {
                let [first, sense] = self.nodes[node as usize].random.uniforms(slot);
                if sense < 0.5 {
                    arrived.reverse();
                }
                arrived.rotate_left(((first * count as f64) as usize).min(count - 1));
            }
        }
    }

    /// The fibre that a cell has come over.
    fn came_over(&self, cell: CellSlot) -> u32 {
        let flying = self.cells.get(cell);
        self.pairs[flying.pair as usize].route[flying.hop as usize - 1]
    }

    /// A cell waits at `node`, whose buffer may mark its packets.
    fn marks(&mut self, node: u32, slot: u64, cell: CellSlot) {
        if self.markers.are_none() {
            return;
        }
        let before = u64::from(self.nodes[node as usize].switch.occupied() - 1);
        let waiting = Bytes::new(before * self.fixed.rules.slot_size.get());
        let (now, until) = (self.clock.start(slot), self.clock.start(slot + before + 1));
        let data = self.cells.get(cell).left().filter_map(|piece| match piece.datagram {
            Packet::Data(packet) => Some(packet),
            Packet::Ack(_) => None,
        });
        let place = Place { slot: cell.number(), node: node as usize + 1 };
        let seen = (now, waiting, until);
        self.markers.meet((node as usize, place), seen, data, &mut self.effects);
    }

    /// A cell leaves `node` by its output `port`.
    #[inline]
    fn leaves(&mut self, node: u32, port: usize, slot: u64, cell: CellSlot, context: &mut Context) {
        let link = self.nodes[node as usize].outgoing[port];
        let flying = self.cells.get_mut(cell);
        flying.hop += 1;
        let ends = self.pairs[flying.pair as usize].route.len() == flying.hop as usize;
        let late = self.late(cell, context);
        let at = self.fixed.crosses(self.clock, slot, link) + late;
        let fibre = &mut self.fibres[link as usize];
        fibre.tally.carried += 1;
        let waiting = !fibre.waiting.is_empty();
        // Whatever crossed the fibre before has landed, so that the order stays that of the slots.
        let alone = ends && fibre.ending == 0 && context.surgery.is_empty();
        let there = self.clock.start(at + 1);
        if alone && there <= context.ahead.landing(DATA) {
            self.land(there, cell, context);
        } else {
            fibre.flies(at, cell, ends);
            self.fronts[link as usize] = self.fronts[link as usize].min(at);
            let to = self.fixed.graph.link(link).to;
            self.calendar.wake(to, at, context);
        }
        if waiting {
            self.flush(self.clock.start(slot), link, context);
        }
    }

    /// The buffers of the edge at `node` send what is due where an output is free: first the one
    /// whose first packet came first.
    #[inline]
    fn send(&mut self, node: u32, slot: u64, context: &mut Context) {
        if let [pair] = self.nodes[node as usize].pairs[..] {
            while self.sends_one(node, pair, slot, context) {}
            return;
        }
        let mut ready = std::mem::take(&mut self.ready);
        let pairs = &self.nodes[node as usize].pairs;
        ready
            .extend(pairs.iter().copied().filter(|&pair| self.pairs[pair as usize].may_send(slot)));
        while let Some(place) = self.first_of(node, slot, &ready) {
            let pair = ready[place];
            if !self.sends_one(node, pair, slot, context) {
                // Its output is taken, for all that leave by it.
                let output = self.pairs[pair as usize].route[0];
                ready.retain(|&other| self.pairs[other as usize].route[0] != output);
            } else if !self.pairs[pair as usize].may_send(slot) {
                ready.swap_remove(place);
            }
        }
        self.ready = ready;
    }

    /// The place among the buffers that are `ready` of the one whose first packet came first. Of
    /// those whose packets came at one instant a draw decides, anew in each slot.
    fn first_of(&self, node: u32, slot: u64, ready: &[u32]) -> Option<usize> {
        let came = |place: usize| self.pairs[ready[place] as usize].buffer.since();
        let mut places = 0..ready.len();
        let mut first = places.next()?;
        for place in places {
            let goes_first = match came(place).cmp(&came(first)) {
                Ordering::Equal => {
                    self.draws_turn(node, slot, ready[place])
                        < self.draws_turn(node, slot, ready[first])
                }
                order => order.is_lt(),
            };
            first = if goes_first { place } else { first };
        }
        Some(first)
    }

    /// A number that decides in a slot between packets that came at one instant.
    fn draws_turn(&self, node: u32, slot: u64, pair: u32) -> f64 {
        let egress = u64::from(self.pairs[pair as usize].ends.1);
        let ordinal = slot.wrapping_mul(self.nodes.len() as u64).wrapping_add(egress);
        self.nodes[node as usize].turns.uniforms(ordinal)[0]
    }

    /// The buffer `number` of `node` sends a slot, if it may; returns whether it did.
    #[inline]
    fn sends_one(&mut self, node: u32, number: u32, slot: u64, context: &mut Context) -> bool {
        let pair = &mut self.pairs[number as usize];
        if !pair.may_send(slot) {
            return false;
        }
        let fibre = &mut self.fibres[pair.route[0] as usize];
        let port = fibre.port as usize;
        if !self.nodes[node as usize].switch.insert(port) {
            return false;
        }
        let Some(cell) = pair.buffer.fill() else { return false };
        fibre.tally.arrived += 1;
        fibre.descriptor.arrives(slot);
        pair.pacer.sends(slot);
        pair.tally.slots += 1;
        self.numbered += 1;
        self.tally.padding += u64::from(cell.padding);
        if context.recorder.traces_packets() {
            let at = self.clock.start(slot);
            for piece in cell.pieces() {
                context.recorder.departed_in(piece.datagram.row(), at, self.numbered);
            }
        }
        let flying = InFlight { cell, pair: number, hop: 0, label: self.numbered, left: slot };
        self.tally.kinds[flying.kind()].sent += 1;
        let cell = self.cells.keep(flying);
        self.leaves(node, port, slot, cell, context);
        true
    }

    /// Queues the next slot in which `node` has something to do; over its fibres the next one
    /// arrives in slot `next`.
    #[inline]
    fn wake_again(&mut self, node: u32, (slot, next): (u64, u64), context: &mut Context) {
        let state = &self.nodes[node as usize];
        let mut next = if state.switch.occupied() > 0 { slot + 1 } else { next };
        for &pair in &state.pairs {
            let pair = &self.pairs[pair as usize];
            if !pair.buffer.is_empty() {
                next = next.min(pair.pacer.due().max(slot + 1));
            }
        }
        if let Some(coming) = self.next_in(node) {
            next = next.min(coming.max(slot + 1));
        }
        if next < u64::MAX {
            self.calendar.wake(node, next, context);
        }
    }
}

impl SlotNetwork {
    /// A slot begins: all nodes with work in it do it, one after the other. Effects of a node at
    /// this very instant come before the nodes that are left, which then are another event.
    #[inline]
    pub(super) fn slot_begins(&mut self, context: &mut Context) {
        let slot = self.calendar.begins();
        let mut landed = std::mem::take(&mut self.landed);
        let mut idle = true;
        self.at_once = false;
        for node in 0..self.nodes.len() {
            if !self.calendar.calls(node, slot) {
                continue;
            }
            idle = false;
            self.slot(node as u32, slot, context, &mut landed);
            // All of a slot is there when the next one begins.
            let (now, at) = (self.clock.start(slot), self.clock.start(slot + 1));
            for cell in landed.drain(..) {
                if !self.is_killed(now, cell, context) {
                    self.land(at, cell, context);
                }
            }
            if self.at_once {
                break;
            }
        }
        self.landed = landed;
        context.stale += u64::from(idle);
        self.calendar.is_over(context);
    }

    /// All of a cell is at its egress at `at`. An edge that writes ACKs looks at those of receivers
    /// then, and not before: what comes to it meanwhile has come before them.
    #[inline]
    fn land(&mut self, at: Time, cell: CellSlot, context: &mut Context) {
        let flying = self.cells.take(cell);
        self.tally.delivered += 1;
        self.tally.kinds[flying.kind()].delivered += 1;
        let pair = flying.pair;
        for piece in flying.left() {
            let whole = &mut self.pairs[pair as usize].whole;
            if piece.parts > 1 && whole.arrives(piece.number, piece.parts) != Arrival::Whole {
                continue;
            }
            match piece.datagram {
                Packet::Ack(ack) if self.fixed.proxy.is_some() => self.comes_home(at, ack, context),
                packet => self.effects.list.push(Effect::Left(at, packet)),
            }
        }
    }
}
