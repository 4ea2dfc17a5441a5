//! A look at what waits in queues and at fibres, and at what is taken of wavelengths. It changes
//! nothing that happens.

use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::Mesh;
use super::burst::Payload;
use crate::measure::{Occupancy, Waiting};

/// How long each wavelength was reserved as it was looked at before.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Looked {
    /// By fibre and wavelength; none before the first look.
    reserved: Vec<Vec<Span>>,
    /// What the measure of that had come to as it began anew.
    carried: Vec<Vec<Span>>,
}

impl Waiting {
    fn of(payload: &Payload) -> Self {
        let mut all = Self { number: payload.load.packets, bytes: payload.load.bytes };
        let data = payload.data.iter().map(|train| (train.count, train.bytes()));
        let acks = payload.acks.iter().map(|train| (train.count, train.bytes()));
        data.chain(acks).for_each(|(count, bytes)| all.add(count.into(), bytes.get()));
        all
    }
}

impl Mesh {
    /// Adds what there is at `now` to the tables.
    pub(in crate::world) fn look(&mut self, now: Time, tables: &mut Occupancy) {
        for queue in &self.queues {
            let mut waiting = Waiting::of(&queue.payload);
            let (packets, bytes) = queue.announced.entered(now);
            waiting.add(packets, bytes);
            if let Some(arrivals) = &queue.arrivals {
                let load = arrivals.waiting(now);
                waiting.add(load.packets, load.bytes);
            }
            if waiting.number > 0 {
                tables.queue(now, queue.ends(), queue.kind(), waiting);
            }
        }
        let mut waiting = vec![Waiting::default(); self.graph.links.len()];
        for burst in self.bursts.live().filter(|burst| burst.departs > now) {
            if let Some(&link) = burst.route.first() {
                waiting[link as usize].add(1, burst.bytes.get());
            }
        }
        let busy = self.busy(now);
        for (link, port) in self.ports.iter().enumerate() {
            let ends = (self.graph.links[link].from, self.graph.links[link].to);
            let after = now + Span::from_ps(1);
            let taken =
                |wavelength: &u32| port.overlapping(*wavelength, now, after).next().is_some();
            let reserved = (0..port.wavelengths()).filter(taken).count() as u32;
            tables.port(now, ends, reserved, waiting[link]);
            for (wavelength, &span) in (0..).zip(&busy[link]) {
                let place = |all: &Vec<Vec<Span>>| {
                    all.get(link).map_or(Span::ZERO, |one| one[wavelength as usize])
                };
                let whole = span + place(&self.looked.carried);
                // A reservation that is given back was never there.
                let since = whole.as_ps().saturating_sub(place(&self.looked.reserved).as_ps());
                tables.wavelength(now, ends, wavelength, Span::from_ps(since));
            }
        }
        (self.looked.reserved, self.looked.carried) = (busy, Vec::new());
    }

    /// The measure of wavelengths begins anew.
    pub(super) fn look_anew(&mut self, now: Time) {
        if self.scenario.run.occupancy.is_some() {
            // What was reserved since the last look, and is in no row yet.
            let before = std::mem::take(&mut self.looked.reserved);
            let since = |link: usize, wavelength: usize, busy: &Span| {
                let then = before.get(link).map_or(0, |one| one[wavelength].as_ps());
                Span::from_ps(busy.as_ps().saturating_sub(then))
            };
            let links = self.busy(now).into_iter().enumerate();
            let carried = links.map(|(link, all)| {
                let all = all.iter().enumerate();
                all.map(|(wavelength, busy)| since(link, wavelength, busy)).collect()
            });
            self.looked.carried = carried.collect();
        }
    }
}
