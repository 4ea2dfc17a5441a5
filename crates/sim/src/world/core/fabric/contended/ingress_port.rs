//! The port of an ingress: bursts that wait there for a wavelength, each in its turn.

use burstlab_kernel::Rank;
use burstlab_units::Time;

use super::Contended;
use crate::measure::Step;
use crate::measure::loss::LossCause;
use crate::world::core::burst::{Fate, Reservation};
use crate::world::core::effects::Place;
use crate::world::core::marks::waiting;
use crate::world::core::scope::{Common, Scope};
use crate::world::events::BurstEvent;

impl Contended {
    /// A burst that will be ready to leave its ingress waits there for a wavelength, unless the
    /// fibre is down.
    pub(super) fn queue_up(&mut self, (now, slot): (Time, u32), scope: &mut Scope) -> Fate {
        let Common { plan, bursts, effects, .. } = &mut *scope.common;
        let (burst, switching) = (bursts.get_mut(slot), plan.rules.switching);
        let (link, hold, ready) = (burst.route[0], burst.hold + switching, burst.arrives);
        let port = &mut self.ports[link as usize];
        port.forget(now);
        let start = Time::from_ps(ready.as_ps() - switching.as_ps());
        let (start, wavelength) = port.earliest(start, hold);
        let departs = start + switching;
        let Some(arrives) = plan.fibres.arrives(link, departs) else {
            return Fate::Lost(now, LossCause::Failure);
        };
        if start + hold == Time::NEVER {
            // Its turn comes after any run: it waits to the end, and how long is not known.
            (burst.departs, burst.arrives) = (Time::NEVER, Time::NEVER);
            return Fate::Goes;
        }
        port.reserve(wavelength, start, start + hold, burst.owner(slot));
        (burst.departs, burst.arrives) = (departs, departs);
        let passes = burst.left;
        burst.reservations.push(Reservation { link, wavelength, start, departs, arrives, passes });
        burst.wavelength = plan.graph.link(link).wavelength_of(wavelength);
        let (wait, mut drops) = (departs.since(ready), false);
        if !self.markers.are_none() {
            let seen = (now, waiting(plan.rules.rate, wait), departs);
            let packets = burst.payload.data.iter().flat_map(|one| one.packets());
            let place = Place { slot, node: burst.from as usize + 1 };
            let marks = effects.list.len();
            self.markers.meet((link as usize, place), seen, packets, effects);
            drops = self.markers.drops(link as usize) && effects.list.len() > marks;
        }
        scope.step((now, slot), Step::Port, (Some(link), wait));
        let submits = now + wait;
        // The hosts say which of the packets are dropped, before the burst goes on.
        if submits > now || drops {
            scope.context.queue.push(submits, Rank::Arrival, BurstEvent::Submit.of(slot));
            return Fate::Goes;
        }
        self.submit((now, slot), scope)
    }
}
