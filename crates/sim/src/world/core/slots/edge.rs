//! The buffers of the edge nodes, and the rates at which they are served.

use burstlab_kernel::{Rank, Stream};
use burstlab_optical::slotted::{
    Negotiation, Pacer, RateCut, Reading, Reassembly, Slotter, Smoother,
};
use burstlab_units::Time;

use super::pair::{Pair, Smooth};
use super::tally::PairTally;
use super::{Fixed, SlotNetwork};
use crate::measure::{RateEvent, RateRow};
use crate::scenario::Phase;
use crate::world::context::Context;
use crate::world::events::SlotEvent;
use crate::world::packet::Packet;

impl Fixed {
    /// A number of two edge nodes and a route between them, of which every other ones have another.
    /// That of a first route does not depend on how many there are.
    fn key_of(&self, ends: (u32, u32), place: u32) -> u64 {
        let first = u64::from(ends.0) * self.graph.nodes.len() as u64 + u64::from(ends.1);
        first + (u64::from(place) << 44)
    }

    /// How many units of its first interval have passed when a buffer comes to be.
    fn phase_of(&self, (ends, place): ((u32, u32), u32), draws: &Stream) -> u32 {
        let smoothing = &self.rules.smoothing;
        match smoothing.phase {
            Phase::Common => 0,
            Phase::Drawn => {
                let [drawn, _] = draws.uniforms(self.key_of(ends, place));
                ((drawn * f64::from(smoothing.units)) as u32).min(smoothing.units - 1)
            }
        }
    }
}

impl SlotNetwork {
    /// A packet enters the buffer between two edge nodes, of the route with this place.
    #[inline]
    pub(super) fn enters(
        &mut self,
        now: Time,
        (ends, place): ((u32, u32), u32),
        packet: Packet,
        context: &mut Context,
    ) {
        self.take_in(ends.0, self.present);
        let number = self.pair_of(ends, place);
        if self.fills(now, number, packet) {
            let due = self.pairs[number as usize].pacer.due();
            self.calendar.wake(ends.0, due, context);
        }
    }

    /// A packet enters a buffer; returns whether nothing waited there.
    #[inline]
    pub(super) fn fills(&mut self, now: Time, number: u32, packet: Packet) -> bool {
        let pair = &mut self.pairs[number as usize];
        let idle = pair.buffer.is_empty();
        let slots = pair.buffer.push(now, packet, packet.bytes().get() as u32);
        if let Some(smooth) = &mut pair.smooth {
            smooth.smoother.arrives(slots);
            if !smooth.holds {
                smooth.holds = true;
                let rate = smooth.rate.scheduled();
                self.admission.claim(pair.route.iter().copied(), rate);
            }
        }
        if idle {
            pair.pacer.wakes(self.clock.after(now));
        }
        idle
    }

    /// The buffer between two edge nodes, which comes to be when it is first used.
    #[inline]
    fn pair_of(&mut self, ends: (u32, u32), place: u32) -> u32 {
        let known = match place {
            0 => self.numbers.get(&ends),
            _ => self.nodes[ends.0 as usize].pairs.iter().find(|&&number| {
                let pair = &self.pairs[number as usize];
                (pair.ends, pair.place) == (ends, place)
            }),
        };
        match known {
            Some(&number) => number,
            None => self.new_pair(ends, place),
        }
    }

    fn new_pair(&mut self, ends: (u32, u32), place: u32) -> u32 {
        let rules = &self.fixed.rules;
        let route = self.fixed.routes.of(ends.0, ends.1)[place as usize].clone();
        let payload = (rules.slot_size.get() - rules.slot_header.get()) as u32;
        let smoothing = &rules.smoothing;
        let reading = rules.dlcc.as_ref().map_or(Reading::default(), |dlcc| dlcc.reading);
        let line = f64::from(self.fixed.graph.link(route[0]).wavelengths);
        let unit = smoothing.unit.as_ps() as f64 / self.clock.slot().as_ps() as f64;
        let least = smoothing.min_rate.expect("a scenario that was read has one");
        let smooth = (!self.fixed.unsmoothed[ends.0 as usize]).then(|| Smooth {
            smoother: Smoother::new(smoothing.weight, smoothing.units, unit)
                .in_phase(self.fixed.phase_of((ends, place), &self.negotiations)),
            rate: RateCut::new(reading, least, least),
            mark: 0.0,
            holds: false,
        });
        let number = self.pairs.len() as u32;
        self.pairs.push(Pair {
            ends,
            place,
            route,
            buffer: Slotter::new(payload, rules.packing),
            pacer: Pacer::new(if smooth.is_some() { least } else { line }),
            smooth,
            whole: Reassembly::default(),
            tally: PairTally::default(),
        });
        if place == 0 {
            self.numbers.insert(ends, number);
        }
        self.nodes[ends.0 as usize].pairs.push(number);
        number
    }

    /// Puts those that negotiate at the end of a unit in order, by number and what they ask for.
    fn in_turn(&self, asking: &mut [(usize, f64, f64)]) {
        if asking.len() < 2 {
            return;
        }
        match self.fixed.rules.smoothing.phase {
            Phase::Common => {
                let first = (self.units % self.pairs.len().max(1) as u64) as usize;
                let behind = asking.partition_point(|&(number, ..)| number < first);
                asking.rotate_left(behind);
            }
            Phase::Drawn => {
                let every = (self.nodes.len() as u64).pow(2);
                let turn = |number: usize| {
                    let Pair { ends, place, .. } = self.pairs[number];
                    let key = self.fixed.key_of(ends, place);
                    let ordinal = self.units.wrapping_mul(every).wrapping_add(key);
                    self.negotiations.uniforms(ordinal)[1]
                };
                asking.sort_by(|&(one, ..), &(other, ..)| turn(one).total_cmp(&turn(other)));
            }
        }
    }

    /// A unit of time ends: estimates move, and buffers negotiate whose interval is over.
    pub(super) fn ends_unit(&mut self, now: Time, context: &mut Context) {
        self.units += 1;
        self.take_all_in(self.present);
        let mut extra = 0.0;
        let mut asking = std::mem::take(&mut self.asking);
        for (number, pair) in self.pairs.iter_mut().enumerate() {
            let bits = pair.buffer.bytes() as f64 * 8.0;
            pair.tally.samples(bits);
            let backlog = pair.buffer.backlog();
            let Some(smooth) = &mut pair.smooth else { continue };
            if smooth.rate.is_frozen() {
                extra += (bits - smooth.mark).max(0.0);
            }
            if let Some(wish) = smooth.smoother.ends_unit(backlog) {
                asking.push((number, wish, backlog));
            }
        }
        self.in_turn(&mut asking);
        for (number, wish, backlog) in asking.drain(..) {
            self.negotiate(now, number, wish, backlog, context);
        }
        self.asking = asking;
        self.tally.samples(self.backlog_bits(), extra);
        let at = now + self.fixed.rules.smoothing.unit;
        context.queue.push(at, Rank::Timer, SlotEvent::SmoothingUnit.of(0));
    }

    /// A buffer asks for the rate `wish`.
    fn negotiate(
        &mut self,
        now: Time,
        number: usize,
        wish: f64,
        backlog: f64,
        context: &mut Context,
    ) {
        let pair = &mut self.pairs[number];
        let Some(smooth) = &mut pair.smooth else { return };
        let before = smooth.rate.rate();
        let (event, asked) = if smooth.rate.negotiates(backlog) == Negotiation::Frozen {
            pair.tally.frozen += 1;
            (RateEvent::Frozen, f64::NAN)
        } else if smooth.smoother.was_idle() && wish <= smooth.rate.least() {
            if std::mem::replace(&mut smooth.holds, false) {
                let route = pair.route.iter().copied();
                self.admission.give_back(route, smooth.rate.scheduled());
            }
            smooth.rate.grant(smooth.rate.least());
            pair.tally.requests += 1;
            (RateEvent::Idle, f64::NAN)
        } else {
            self.asks(number, wish)
        };
        if event != RateEvent::Frozen {
            self.paces(now, number, context);
        }
        if context.recorder.traces_packets() {
            let pair = &self.pairs[number];
            let after = pair.smooth.as_ref().map_or(f64::NAN, |smooth| smooth.rate.rate());
            let &Pair { ends, place, .. } = pair;
            let (output, loss) = ((0, 0), f64::NAN);
            let row =
                RateRow { now, ends, place, event, output, loss, asked, backlog, before, after };
            context.recorder.rate(&row);
        }
    }

    /// A buffer that may negotiate asks its route for the rate `wish`; returns what came of it, and
    /// what it asked for: no more than the line carries, and no less than the least rate.
    fn asks(&mut self, number: usize, wish: f64) -> (RateEvent, f64) {
        let pair = &mut self.pairs[number];
        let smooth = pair.smooth.as_mut().expect("a buffer that asks is smoothed");
        let graph = &self.fixed.graph;
        let links = pair.route.iter().map(|&link| (link, f64::from(graph.link(link).wavelengths)));
        let line = links.clone().fold(f64::INFINITY, |line, (_, capacity)| line.min(capacity));
        let wish = wish.max(smooth.rate.least()).min(line);
        let got = self.admission.ask(links, smooth.rate.scheduled(), wish);
        pair.tally.requests += 1;
        pair.tally.refused += u64::from(got < wish);
        smooth.rate.grant(got);
        (if got < wish { RateEvent::Refused } else { RateEvent::Granted }, wish)
    }

    /// A buffer sends at the rate it has now.
    pub(super) fn paces(&mut self, now: Time, number: usize, context: &mut Context) {
        let pair = &mut self.pairs[number];
        let Some(smooth) = &pair.smooth else { return };
        pair.pacer.set_rate(smooth.rate.rate());
        let (node, after) = (pair.ends.0, self.clock.after(now));
        if !pair.buffer.is_empty() {
            let due = pair.pacer.due().max(after);
            self.calendar.wake(node, due, context);
        }
        if let Some(coming) = self.next_in(node) {
            self.calendar.wake(node, coming.max(after), context);
        }
    }

    /// Bits that wait in all buffers.
    fn backlog_bits(&self) -> f64 {
        self.pairs.iter().map(|pair| pair.buffer.bytes() as f64 * 8.0).sum()
    }
}
