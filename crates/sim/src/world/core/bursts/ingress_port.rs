//! The port of an ingress: bursts that wait there for a wavelength, each in its turn.

use burstlab_kernel::Rank;
use burstlab_units::Time;

use super::Mesh;
use super::burst::Reservation;
use crate::measure::Step;
use crate::measure::loss::LossCause;
use crate::world::context::Context;
use crate::world::core::marks::waiting;
use crate::world::events::{CoreEvent, Event};

impl Mesh {
    /// A burst that is ready to leave its ingress at a time waits there for a wavelength.
    pub(super) fn queue_up(&mut self, now: Time, slot: u32, ready: Time, context: &mut Context) {
        let burst = self.bursts.get_mut(slot);
        let (link, switching) = (burst.route[0], self.rules.switching);
        if self.outages.is_down(link) {
            self.lose(now, slot, LossCause::Failure, context);
            return;
        }
        let burst = self.bursts.get_mut(slot);
        let hold = burst.hold + switching;
        let port = &mut self.ports[link as usize];
        port.forget(now);
        let start = Time::from_ps(ready.as_ps() - switching.as_ps());
        let (start, wavelength) = port.earliest(start, hold);
        if start + hold == Time::NEVER {
            // Its turn comes after any run: it waits to the end, and how long is not known.
            (burst.departs, burst.arrives) = (Time::NEVER, Time::NEVER);
            return;
        }
        port.reserve(wavelength, start, start + hold, burst.owner(slot));
        let departs = start + switching;
        burst.departs = departs;
        burst.arrives = departs;
        burst.reservations.push(Reservation {
            link,
            wavelength,
            start,
            departs,
            passes: burst.left,
        });
        burst.wavelength = self.graph.link(link).wavelength_of(wavelength);
        let (wait, kind) = (departs.since(ready), burst.kind);
        if !self.markers.are_none() {
            let waiting = waiting(self.rules.rate, wait);
            let packets = self.bursts.get(slot).payload.data.iter().flat_map(|one| one.packets());
            let seen = (now, waiting, departs);
            self.markers.meet(link as usize, seen, packets, &mut self.effects);
        }
        self.tally.waited(kind as usize, wait);
        self.note((now, slot), Step::Port, Some(link), wait, &mut context.recorder);
        let submits = now + wait;
        if submits > now {
            let event = Event::Core(CoreEvent::Submit(slot));
            context.queue.push(submits, Rank::Arrival, event);
        } else {
            self.submit(now, slot, context);
        }
    }
}
