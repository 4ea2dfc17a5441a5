//! What a node does for a burst whose way is taken, in the order the scenario states.

use burstlab_optical::scheduling::Conversion;
use burstlab_units::{Span, Time};

use super::Mesh;
use super::burst::{Reservation, owner_of};
use crate::measure::Step;
use crate::measure::loss::LossCause;
use crate::scenario::{Protocol, Resolution};
use crate::world::context::Context;

/// What becomes of a burst at a node.
#[derive(Clone, Copy, Debug)]
pub(super) enum Outcome {
    /// It has a wavelength.
    Placed(Reservation),
    /// Its ingress is to send it again.
    Again,
    /// Nothing helped.
    Blocked(LossCause),
}

/// Where and when a burst wants to go out.
#[derive(Clone, Copy, Debug)]
struct Wish {
    link: u32,
    /// When its first bit is there to leave.
    departs: Time,
    hold: Span,
    /// The lowest and the highest wavelength that it may take; `None`: there is none.
    range: Option<(u32, u32)>,
}

impl Mesh {
    /// Finds a burst a way out of the node it comes to.
    pub(super) fn resolve(&mut self, now: Time, slot: u32, context: &mut Context) -> Outcome {
        let burst = self.bursts.get(slot);
        let (link, kind) = (burst.route[burst.hop], burst.kind as usize);
        let mut converts = !self.rules.keeps_wavelength;
        let wish = Wish {
            link,
            departs: burst.arrives,
            hold: burst.hold,
            range: self.range(link, slot, converts),
        };
        let injected = self.injection.as_ref().is_some_and(|rule| rule.meets(burst));
        let dark = self.outages.is_down(link);
        self.bursts.get_mut(slot).dark = dark;
        // No wavelength of the fibre is of use.
        let shut = injected || dark;
        if !shut && let Some(reservation) = self.direct(now, &wish) {
            return Outcome::Placed(reservation);
        }
        let none = Span::ZERO;
        let met = match (dark, injected) {
            (true, _) => Step::Dark,
            (false, true) => Step::Injected,
            (false, false) => Step::Contended,
        };
        if !dark {
            let sort = self.sort_of(self.bursts.get(slot));
            self.tally.contended(sort, link, injected);
        }
        self.note((now, slot), met, Some(link), none, &mut context.recorder);
        for step in 0..self.rules.contention.len() {
            let wish = Wish { range: self.range(link, slot, converts), ..wish };
            let found = match self.rules.contention[step] {
                Resolution::Conversion => {
                    converts = true;
                    let wish = Wish { range: self.range(link, slot, true), ..wish };
                    let found = if shut { None } else { self.direct(now, &wish) };
                    found.inspect(|_| self.tally.of(kind).resolutions.converted += 1)
                }
                Resolution::DelayLine if dark => None,
                Resolution::DelayLine => self.delay(now, slot, &wish),
                Resolution::Deflection => self.deflect(now, slot, &wish, converts),
                // No burst is there that could be cut.
                Resolution::Segmentation if shut => None,
                Resolution::Segmentation => self.segment(now, slot, &wish, context),
                Resolution::Retransmission => {
                    let burst = self.bursts.get(slot);
                    if burst.copy && burst.attempts < self.rules.resends {
                        return Outcome::Again;
                    }
                    None
                }
            };
            if let Some(reservation) = found {
                let helped = match self.rules.contention[step] {
                    Resolution::Conversion => Step::Converted,
                    Resolution::DelayLine => Step::Delayed,
                    Resolution::Deflection => Step::Deflected,
                    Resolution::Segmentation | Resolution::Retransmission => Step::Segmented,
                };
                self.note((now, slot), helped, Some(link), none, &mut context.recorder);
                return Outcome::Placed(reservation);
            }
        }
        Outcome::Blocked(match (dark, injected) {
            (true, _) => LossCause::Failure,
            (false, true) => LossCause::Injected,
            (false, false) => LossCause::Contention,
        })
    }

    /// The wavelengths of a fibre that a burst may take.
    pub(super) fn range(&self, link: u32, slot: u32, converts: bool) -> Option<(u32, u32)> {
        let all = (0, self.ports[link as usize].wavelengths() - 1);
        let burst = self.bursts.get(slot);
        if burst.hop == 0 && !self.rules.random_wavelength {
            return Some(all);
        }
        if burst.converts {
            return Some(all);
        }
        let rule = if converts { self.rules.conversion } else { Conversion::None };
        let reach = match rule {
            Conversion::Full => return Some(all),
            Conversion::None => 0,
            Conversion::Limited(range) => range,
        };
        let fibre = self.graph.link(link);
        let last = fibre.wavelength_of(all.1);
        let low = burst.wavelength.saturating_sub(reach);
        let high = last.min(burst.wavelength.saturating_add(reach));
        (low <= last).then(|| fibre.channels_of((low, high)))
    }

    /// When a reservation begins for a burst that leaves at `departs`.
    fn opens(&self, now: Time, departs: Time) -> Time {
        match self.rules.protocol {
            Protocol::Jit => now,
            Protocol::Jet | Protocol::TwoWay => {
                Time::from_ps(departs.as_ps() - self.rules.switching.as_ps())
            }
        }
    }

    /// A wavelength of the fibre itself.
    fn direct(&mut self, now: Time, wish: &Wish) -> Option<Reservation> {
        let start = self.opens(now, wish.departs);
        let port = &mut self.ports[wish.link as usize];
        port.forget(now);
        let hold = (wish.departs + wish.hold).since(start);
        let wavelength = port.find(start, hold, wish.range?)?;
        let (departs, passes) = (wish.departs, wish.hold);
        Some(Reservation { link: wish.link, wavelength, start, departs, passes })
    }

    /// The burst that is in the way of a burst: on the lowest wavelength that it could take.
    pub(super) fn blocker(&self, now: Time, slot: u32) -> Option<u64> {
        let burst = self.bursts.get(slot);
        let link = burst.route[burst.hop];
        let (lowest, _) = self.range(link, slot, true)?;
        let (start, end) = (self.opens(now, burst.arrives), burst.arrives + burst.hold);
        let mut held = self.ports[link as usize].overlapping(lowest, start, end);
        held.next().map(|held| owner_of(held.owner).1)
    }

    /// A fibre delay line, and a wavelength behind it.
    fn delay(&mut self, now: Time, slot: u32, wish: &Wish) -> Option<Reservation> {
        let node = self.graph.link(wish.link).from as usize;
        let burst = self.bursts.get(slot);
        let (owner, kind) = (burst.owner(slot), burst.kind as usize);
        self.lines[node].forget(now);
        let mut wish = *wish;
        // Where it goes round in vain, it gives the lines back.
        let mut rounds: Vec<(u32, Time)> = Vec::new();
        loop {
            let mut tried = 0;
            let options =
                |mesh: &Self, nth| mesh.lines[node].options(wish.departs, wish.hold).nth(nth);
            while let Some((line, delay)) = options(self, tried) {
                tried += 1;
                let later = Wish { departs: wish.departs + delay, ..wish };
                if let Some(reservation) = self.direct(now, &later) {
                    self.lines[node].take(line, wish.departs, wish.departs + wish.hold, owner);
                    self.tally.of(kind).resolutions.delayed += 1;
                    return Some(reservation);
                }
            }
            let more = rounds.len() + 1 < self.rules.passes;
            let Some((line, delay)) = options(self, 0).filter(|_| more) else { break };
            self.lines[node].take(line, wish.departs, wish.departs + wish.hold, owner);
            rounds.push((line, wish.departs));
            wish.departs += delay;
        }
        for (line, start) in rounds {
            self.lines[node].shorten(line, start, owner, start);
        }
        None
    }

    /// Another fibre, from which the egress is near enough.
    fn deflect(
        &mut self,
        now: Time,
        slot: u32,
        wish: &Wish,
        converts: bool,
    ) -> Option<Reservation> {
        let burst = self.bursts.get(slot);
        let (hop, to) = (burst.hop, burst.to);
        let node = self.graph.link(wish.link).from;
        let limit = burst.planned + self.rules.detour;
        let time_left = burst.arrives.since(now);
        let refused = wish.link;
        let detours = |mesh: &Self, nth| mesh.routes.detours(node, to).nth(nth);
        let mut tried = 0;
        while let Some(link) = detours(self, tried) {
            tried += 1;
            if link == wish.link || self.outages.is_down(link) {
                continue;
            }
            let next = self.graph.link(link).to;
            let Some(way) = self.routes.way(next, to) else { continue };
            let passes = |link: &u32| self.graph.link(*link).to == node;
            let hops = 1 + way.len();
            let late = time_left < self.rules.ahead(hops);
            if hop + hops > limit || way.iter().any(passes) || late {
                continue;
            }
            let range = self.range(link, slot, converts);
            let wish = Wish { link, range, ..*wish };
            if let Some(reservation) = self.direct(now, &wish) {
                let way = self.routes.way(next, to).unwrap_or_default();
                let burst = self.bursts.get_mut(slot);
                burst.route.truncate(hop);
                burst.route.push(link);
                burst.route.extend_from_slice(way);
                burst.deflected = true;
                let sort = self.sort_of(self.bursts.get(slot));
                self.tally.deflected(sort, refused);
                return Some(reservation);
            }
        }
        None
    }

    /// Of the wavelengths on which a packet of the burst is left, or a bit of one without packets,
    /// that on which the least is cut: off the tail of the burst before, and off the burst's own.
    fn segment(
        &mut self,
        now: Time,
        slot: u32,
        wish: &Wish,
        context: &mut Context,
    ) -> Option<Reservation> {
        let start = self.opens(now, wish.departs);
        let end = wish.departs + wish.hold;
        let (low, high) = wish.range?;
        let burst = self.bursts.get(slot);
        let first = burst.payload.first();
        if burst.is_cut_to_nothing() {
            return None;
        }
        let mut best: Option<(Span, u32, Time)> = None;
        for wavelength in low..=high {
            let (mut cut, mut free_until) = (Span::ZERO, end);
            for held in self.ports[wish.link as usize].overlapping(wavelength, start, end) {
                if held.start < start {
                    cut += held.end.since(start);
                } else {
                    free_until = free_until.min(held.start);
                }
            }
            cut += end.since(free_until);
            if free_until > wish.departs
                && best.is_none_or(|(least, ..)| cut < least)
                && self.rules.bytes_in(free_until.since(wish.departs)) >= first
            {
                best = Some((cut, wavelength, free_until));
            }
        }
        let (_, wavelength, free_until) = best?;
        let left = free_until.since(wish.departs);
        let kind = self.bursts.get(slot).kind as usize;
        self.tally.of(kind).resolutions.segmented += 1;
        self.cut_tail(now, (wish.link, wavelength), start, context);
        if left < self.bursts.get(slot).left {
            let hop = self.bursts.get(slot).hop;
            self.cut(now, slot, hop, left, context);
        }
        let burst = self.bursts.get_mut(slot);
        burst.hold = burst.hold.min(left);
        let (departs, passes) = (wish.departs, burst.left);
        Some(Reservation { link: wish.link, wavelength, start, departs, passes })
    }
}
