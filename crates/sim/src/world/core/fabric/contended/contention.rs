//! Resolutions of a node for a blocked burst, in the order the scenario states.

use burstlab_optical::scheduling::Conversion;
use burstlab_units::{Span, Time};

use super::Contended;
use super::cutting::cut;
use super::wish::{Wish, before, came_on, opens};
use crate::measure::Step;
use crate::measure::loss::LossCause;
use crate::scenario::Resolution;
use crate::world::core::burst::{Burst, Reservation, label_of};
use crate::world::core::fate::Met;
use crate::world::core::plan::Plan;
use crate::world::core::scope::{Common, Scope};

/// The outcome of a burst at a node.
#[derive(Clone, Copy, Debug)]
pub(super) enum ContentionOutcome {
    /// It has a wavelength.
    Placed(Reservation),
    /// Its ingress is to send it again.
    Again,
    /// Nothing helped.
    Blocked(LossCause),
}

impl Contended {
    /// Finds a burst an output of the node it comes to, where it has `met` with something.
    pub(super) fn resolve(
        &mut self,
        (now, slot): (Time, u32),
        met: Option<Met>,
        scope: &mut Scope,
    ) -> ContentionOutcome {
        let (plan, burst) = (&scope.common.plan, scope.common.bursts.get_mut(slot));
        let link = burst.route[burst.hop];
        let mut converts = !plan.rules.before(link, &plan.graph).keeps_wavelength;
        let wish = Wish {
            link,
            departs: burst.arrives,
            hold: burst.hold,
            range: self.range(link, burst, converts, plan),
            came: came_on(burst, plan),
        };
        let link_down = met == Some(Met::LinkDown);
        burst.link_down = link_down;
        // No wavelength of the fibre is of use.
        let shut = met.is_some();
        if !shut && let Some(reservation) = self.direct(now, &wish, plan) {
            return ContentionOutcome::Placed(reservation);
        }
        let (step, mut cause) = match met {
            Some(Met::LinkDown) => (Step::Dark, LossCause::Failure),
            Some(_) => (Step::Injected, LossCause::InjectedContention),
            None if !self.pools.are_none() && self.lacks_converter(now, &wish, plan) => {
                (Step::NoConverter, LossCause::NoConverter)
            }
            None => (Step::Contended, LossCause::Contention),
        };
        let toward = (Some(link), Span::ZERO);
        scope.step((now, slot), step, toward);
        let plan = &scope.common.plan;
        for place in 0..plan.rules.before(link, &plan.graph).contention.len() {
            let (plan, burst) = (&scope.common.plan, scope.common.bursts.get(slot));
            let resolution = plan.rules.before(link, &plan.graph).contention[place];
            converts |= resolution == Resolution::Conversion;
            let wish = Wish { range: self.range(link, burst, converts, plan), ..wish };
            let (found, step) = match resolution {
                Resolution::Conversion if shut => (None, Step::Converted),
                Resolution::Conversion => (self.direct(now, &wish, plan), Step::Converted),
                Resolution::DelayLine if link_down => (None, Step::Delayed),
                Resolution::DelayLine => (self.delay((now, slot), &wish, scope), Step::Delayed),
                Resolution::Deflection => {
                    (self.deflect((now, slot), &wish, converts, scope), Step::Deflected)
                }
                // No burst is there that could be cut.
                Resolution::Segmentation if shut => (None, Step::Segmented),
                Resolution::Segmentation => {
                    (self.segment((now, slot), &wish, scope), Step::Segmented)
                }
                Resolution::Retransmission => {
                    if burst.copy && burst.attempts < plan.rules.resends {
                        return ContentionOutcome::Again;
                    }
                    continue;
                }
            };
            if let Some(reservation) = found {
                scope.step((now, slot), step, toward);
                return ContentionOutcome::Placed(reservation);
            }
            let retried = step == Step::Converted && !shut && !self.pools.are_none();
            if retried && self.lacks_converter(now, &wish, &scope.common.plan) {
                cause = LossCause::NoConverter;
            }
        }
        ContentionOutcome::Blocked(cause)
    }

    /// The wavelengths of a fibre that a burst may take.
    fn range(&self, link: u32, burst: &Burst, converts: bool, plan: &Plan) -> Option<(u32, u32)> {
        if burst.converts {
            Some((0, self.ports[link as usize].wavelengths() - 1))
        } else {
            self.reachable(link, (burst.hop, burst.wavelength), converts, plan)
        }
    }

    /// The same for a burst that surgery leaves as it is, which has so many fibres behind it and
    /// comes on this wavelength.
    pub(super) fn reachable(
        &self,
        link: u32,
        (hop, wavelength): (usize, u32),
        converts: bool,
        plan: &Plan,
    ) -> Option<(u32, u32)> {
        let all = (0, self.ports[link as usize].wavelengths() - 1);
        if hop == 0 && !plan.rules.random_wavelength {
            return Some(all);
        }
        let own = plan.rules.before(link, &plan.graph);
        let rule = if converts { own.conversion } else { Conversion::None };
        let reach = match rule {
            Conversion::Full => return Some(all),
            Conversion::None => 0,
            Conversion::Limited(range) => range,
        };
        let fibre = plan.graph.link(link);
        let last = fibre.wavelength_of(all.1);
        let low = wavelength.saturating_sub(reach);
        let high = last.min(wavelength.saturating_add(reach));
        (low <= last).then(|| fibre.channels_of((low, high)))
    }

    /// A wavelength of the fibre itself.
    pub(super) fn direct(&mut self, now: Time, wish: &Wish, plan: &Plan) -> Option<Reservation> {
        let arrives = plan.fibres.arrives(wish.link, wish.departs)?;
        let start = opens(now, wish.departs, &plan.rules);
        let port = &mut self.ports[wish.link as usize];
        port.forget(now);
        let hold = (wish.departs + wish.hold).since(start);
        let range = wish.range?;
        let wavelength = if self.pools.are_none() {
            port.find(start, hold, range)?
        } else {
            self.sparing((start, hold), range, wish, plan)?
        };
        let Wish { link, departs, hold: passes, .. } = *wish;
        Some(Reservation { link, wavelength, start, departs, arrives, passes })
    }

    /// The label of the burst that blocks a burst: on the lowest wavelength that it could take.
    pub(super) fn blocker(&self, now: Time, burst: &Burst, plan: &Plan) -> Option<u64> {
        let link = burst.route[burst.hop];
        let (lowest, _) = self.range(link, burst, true, plan)?;
        let (start, end) = (opens(now, burst.arrives, &plan.rules), burst.arrives + burst.hold);
        let mut held = self.ports[link as usize].overlapping(lowest, start, end);
        held.next().map(|held| label_of(held.owner))
    }

    /// A fibre delay line, or several passes of lines, and a wavelength behind it.
    fn delay(
        &mut self,
        (now, slot): (Time, u32),
        wish: &Wish,
        scope: &mut Scope,
    ) -> Option<Reservation> {
        let Common { plan, bursts, .. } = &mut *scope.common;
        let (rules, burst) = (&plan.rules, bursts.get_mut(slot));
        let own = rules.before(wish.link, &plan.graph);
        let passes = own.passes.min(rules.passes_on_path - burst.delayed);
        let node = plan.graph.link(wish.link).from as usize;
        let owner = burst.owner(slot);
        self.lines[node].forget(now);
        let mut wish = *wish;
        // Where it goes round in vain, it gives the lines back.
        let mut rounds: Vec<(u32, Time)> = Vec::new();
        for pass in 1..=passes {
            // The switch is set for a line as for a fibre; even with `jit` no line is held before.
            let start = before(wish.departs, rules.switching);
            let end = wish.departs + wish.hold;
            let options =
                |mesh: &Self, nth| mesh.lines[node].options(start, end.since(start)).nth(nth);
            let mut tried = 0;
            while let Some((line, delay)) = options(self, tried) {
                tried += 1;
                let later = Wish { departs: wish.departs + delay, ..wish };
                if let Some(reservation) = self.direct(now, &later, plan) {
                    self.lines[node].take(line, start, end, owner);
                    burst.delayed += pass;
                    return Some(reservation);
                }
            }
            let more = pass < passes;
            let Some((line, delay)) = options(self, 0).filter(|_| more) else { break };
            self.lines[node].take(line, start, end, owner);
            rounds.push((line, start));
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
        (now, slot): (Time, u32),
        wish: &Wish,
        converts: bool,
        scope: &mut Scope,
    ) -> Option<Reservation> {
        let Common { plan, bursts, .. } = &mut *scope.common;
        let burst = bursts.get_mut(slot);
        let node = plan.graph.link(wish.link).from;
        let limit = burst.planned + plan.rules.detour;
        let time_left = burst.arrives.since(now);
        for link in plan.routes.detours(node, burst.to) {
            if link == wish.link {
                continue;
            }
            let next = plan.graph.link(link).to;
            let Some(way) = plan.routes.path(next, burst.to) else { continue };
            let passes = |link| plan.graph.link(link).to == node;
            let hops = 1 + way.clone().count();
            let late = time_left < plan.rules.ahead(hops);
            if burst.hop + hops > limit || way.clone().any(passes) || late {
                continue;
            }
            let wish = Wish { link, range: self.range(link, burst, converts, plan), ..*wish };
            if let Some(reservation) = self.direct(now, &wish, plan) {
                burst.route.truncate(burst.hop);
                burst.route.push(link);
                burst.route.extend(way);
                burst.deflected = true;
                return Some(reservation);
            }
        }
        None
    }

    /// Of the wavelengths on which a packet of the burst is left, or a bit of one without packets,
    /// that on which the least is cut: off the tail of the burst before, and off the burst's own.
    fn segment(
        &mut self,
        (now, slot): (Time, u32),
        wish: &Wish,
        scope: &mut Scope,
    ) -> Option<Reservation> {
        let start = opens(now, wish.departs, &scope.common.plan.rules);
        let end = wish.departs + wish.hold;
        let (low, high) = wish.range?;
        let arrives = scope.common.plan.fibres.arrives(wish.link, wish.departs)?;
        let Common { plan, bursts, .. } = &*scope.common;
        let burst = bursts.get(slot);
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
                && self.can_change((wish.link, wavelength), wish.came, (start, free_until), plan)
                && best.is_none_or(|(least, ..)| cut < least)
                && plan.rules.bytes_in(free_until.since(wish.departs)) >= first
            {
                best = Some((cut, wavelength, free_until));
            }
        }
        let (_, wavelength, free_until) = best?;
        let left = free_until.since(wish.departs);
        self.cut_tail(now, (wish.link, wavelength), start, scope);
        let burst = scope.common.bursts.get(slot);
        if left < burst.left {
            let hop = burst.hop;
            cut(now, (slot, hop), left, scope);
        }
        let burst = scope.common.bursts.get_mut(slot);
        burst.hold = burst.hold.min(left);
        let (Wish { link, departs, .. }, passes) = (*wish, burst.left);
        Some(Reservation { link, wavelength, start, departs, arrives, passes })
    }
}
