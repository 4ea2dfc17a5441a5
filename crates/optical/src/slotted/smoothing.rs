//! Edge smoothing: at which rate the buffer for an egress asks to be served.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The answer to a buffer that asks for more than its route has left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    /// Nothing: it keeps its rate (Lu and Hunter 2009).
    #[default]
    Keep,
    /// The remaining capacity.
    Partial,
}

/// The capacity of every link, as far as it is granted to buffers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Admission {
    granted: Vec<f64>,
    refusal: Refusal,
}

impl Admission {
    /// So many `links`, of which nothing is granted.
    #[must_use]
    pub fn new(links: usize, refusal: Refusal) -> Self {
        Self { granted: vec![0.0; links], refusal }
    }

    /// A buffer has `rate` on all links of its route, whether there is room for it or not.
    pub fn claim(&mut self, route: impl Iterator<Item = u32>, rate: f64) {
        route.for_each(|link| self.granted[link as usize] += rate);
    }

    /// A buffer gives back the `rate` that it has on all links of its route.
    pub fn give_back(&mut self, route: impl Iterator<Item = u32>, rate: f64) {
        route.for_each(|link| self.granted[link as usize] -= rate);
    }

    /// A buffer that has rate `old` on all links of its `route`, each given with its capacity,
    /// asks for `new`; returns what it has now. It always gets less than it has.
    pub fn ask(
        &mut self,
        route: impl Iterator<Item = (u32, f64)> + Clone,
        old: f64,
        new: f64,
    ) -> f64 {
        let most = route.clone().fold(f64::INFINITY, |most, (link, capacity)| {
            most.min(capacity - (self.granted[link as usize] - old))
        });
        // No more than rounding may hide: a sum of rates is not exact.
        let got = match self.refusal {
            _ if new <= old || new <= most + 1e-9 => new,
            Refusal::Keep => old,
            Refusal::Partial => most.max(old),
        };
        for (link, _) in route {
            self.granted[link as usize] += got - old;
        }
        got
    }

    /// The capacity granted of a link.
    #[must_use]
    pub fn granted(&self, link: u32) -> f64 {
        self.granted[link as usize]
    }
}

/// The moving average of a buffer's arrivals and its backlog (Lu and Hunter 2009, equation 1).
/// After each unit of time R' = weight R + (1 - weight) (U + B / interval), where U is the rate of
/// arrivals in the unit, B the backlog at its end and the interval the time between two
/// negotiations. The buffer asks for the mean of R over the units of an interval. All in slots.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Smoother {
    weight: f64,
    /// Units of an interval, and slots of a unit.
    units: u32,
    unit: f64,
    rate: f64,
    sum: f64,
    done: u32,
    /// Of these, units of its first interval that had passed when it began.
    passed: u32,
    /// Slots' worth that has arrived in this unit.
    arrived: f64,
    /// Whether nothing has arrived or waited in this interval, and in the last one.
    quiet: bool,
    idle: bool,
}

impl Smoother {
    /// A buffer that nothing has entered, with `units` units of `unit` slots an interval; `weight`
    /// (0 to 1) is that of the past.
    #[must_use]
    pub fn new(weight: f64, units: u32, unit: f64) -> Self {
        let (rate, sum, arrived) = (0.0, 0.0, 0.0);
        let (done, passed, quiet, idle) = (0, 0, true, false);
        Self { weight, units, unit, rate, sum, done, passed, arrived, quiet, idle }
    }

    /// The same, of whose first interval so many units had passed when it began.
    ///
    /// # Panics
    /// Where no unit of it is left.
    #[must_use]
    pub fn in_phase(self, passed: u32) -> Self {
        assert!(passed < self.units, "an interval begins within one");
        Self { done: passed, passed, ..self }
    }

    /// Data that fill so many slots arrive.
    #[inline]
    pub fn arrives(&mut self, slots: f64) {
        self.arrived += slots;
    }

    /// A unit ends, and the backlog fills `backlog` slots. At the end of an interval: the rate to
    /// ask for.
    pub fn ends_unit(&mut self, backlog: f64) -> Option<f64> {
        let arrivals = std::mem::take(&mut self.arrived) / self.unit;
        let drain = backlog / (self.unit * f64::from(self.units));
        self.quiet &= arrivals == 0.0 && backlog == 0.0;
        self.rate = self.weight * self.rate + (1.0 - self.weight) * (arrivals + drain);
        self.sum += self.rate;
        self.done += 1;
        if self.done < self.units {
            return None;
        }
        self.done = 0;
        self.idle = std::mem::replace(&mut self.quiet, true);
        let units = self.units - std::mem::take(&mut self.passed);
        Some(std::mem::take(&mut self.sum) / f64::from(units))
    }

    /// Whether nothing arrived or waited in the interval that ended last.
    #[must_use]
    pub fn was_idle(&self) -> bool {
        self.idle
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_link_is_granted_beyond_its_capacity() {
        let route = |links: &'static [u32]| links.iter().map(|&link| (link, 1.0));
        let mut keep = Admission::new(3, Refusal::Keep);
        assert_eq!(keep.ask(route(&[0, 1]), 0.0, 0.6), 0.6);
        assert_eq!(keep.ask(route(&[1, 2]), 0.0, 0.3), 0.3);
        assert_eq!(keep.ask(route(&[1, 2]), 0.3, 0.5), 0.3, "link 1 has 0.4 left for it");
        assert_eq!(keep.ask(route(&[0, 1]), 0.6, 0.2), 0.2, "less is always granted");
        assert_eq!(keep.ask(route(&[1, 2]), 0.3, 0.8), 0.8, "all of it");
        assert!((keep.granted(1) - 1.0).abs() < 1e-12 && (keep.granted(0) - 0.2).abs() < 1e-12);
        let mut partial = Admission::new(1, Refusal::Partial);
        partial.ask(route(&[0]), 0.0, 0.7);
        assert!((partial.ask(route(&[0]), 0.0, 0.6) - 0.3).abs() < 1e-12);
        assert!((partial.ask(route(&[0]), 0.3, 0.6) - 0.3).abs() < 1e-12, "never less for asking");
    }

    #[test]
    fn what_is_claimed_is_granted_whether_there_is_room_or_not() {
        let mut admission = Admission::new(3, Refusal::Keep);
        admission.claim([0, 1].into_iter(), 0.75);
        admission.claim([1].into_iter(), 0.5);
        assert_eq!([0, 1, 2].map(|link| admission.granted(link)), [0.75, 1.25, 0.0]);
        let route = || [(1, 1.0)].into_iter();
        assert_eq!(admission.ask(route(), 0.5, 0.625), 0.5, "nothing is left of link 1");
        assert_eq!(admission.ask(route(), 0.5, 0.125), 0.125);
        assert_eq!(admission.granted(1), 0.875);
        admission.give_back([0, 1].into_iter(), 0.75);
        assert_eq!([0, 1].map(|link| admission.granted(link)), [0.0, 0.125]);
    }

    #[test]
    fn a_step_is_followed_in_three_intervals() {
        // 60 slots a second, then 100, with 20 units of 50 ms an interval; one slot a second is
        // 0.05 of a slot a unit.
        let mut smoother = Smoother::new(0.8, 20, 0.05);
        for _ in 0..400 {
            smoother.arrives(60.0 * 0.05);
            smoother.ends_unit(0.0);
        }
        let (mut served, mut backlog) = (60.0, 0.0f64);
        let mut steps = Vec::new();
        for _ in 0..100 {
            smoother.arrives(100.0 * 0.05);
            backlog = (backlog + (100.0 - served) * 0.05).max(0.0);
            if let Some(rate) = smoother.ends_unit(backlog) {
                served = rate;
                steps.push(((rate * 10.0).round() / 10.0, (backlog * 10.0).round() / 10.0));
            }
        }
        assert_eq!(steps, [(106.7, 40.0), (135.9, 33.3), (120.5, 0.0), (101.0, 0.0), (100.0, 0.0)]);
    }

    #[test]
    fn the_first_interval_is_as_long_as_its_phase_leaves_and_its_mean_is_of_those_units() {
        let asked = |passed| {
            let mut smoother = Smoother::new(0.0, 4, 1.0).in_phase(passed);
            let ends = |_| {
                smoother.arrives(3.0);
                smoother.ends_unit(0.0)
            };
            (0..6).map(ends).collect::<Vec<_>>()
        };
        let (none, three) = (None, Some(3.0));
        assert_eq!(asked(0), [none, none, none, three, none, none]);
        assert_eq!(asked(1), [none, none, three, none, none, none]);
        assert_eq!(asked(3), [three, none, none, none, three, none]);
    }

    #[test]
    fn it_was_idle_where_nothing_came_and_nothing_waited_in_an_interval() {
        let mut smoother = Smoother::new(0.5, 2, 1.0);
        let mut idle = |units: [(f64, f64); 2]| {
            for (arrivals, backlog) in units {
                smoother.arrives(arrivals);
                smoother.ends_unit(backlog);
            }
            smoother.was_idle()
        };
        assert!(!idle([(1.0, 0.0), (0.0, 0.0)]));
        assert!(idle([(0.0, 0.0), (0.0, 0.0)]));
        assert!(!idle([(0.0, 2.0), (0.0, 0.0)]));
        assert!(!idle([(0.0, 0.0), (0.5, 0.0)]));
    }

    #[test]
    fn what_waits_is_asked_for_over_one_interval() {
        // Four units of half a second: a backlog of 6 slots asks for 3 slots a second more.
        let mut smoother = Smoother::new(0.0, 4, 0.5);
        let asked: Vec<_> = (0..4)
            .map(|_| {
                smoother.arrives(5.0);
                smoother.ends_unit(6.0)
            })
            .collect();
        assert_eq!(asked, [None, None, None, Some(13.0)]);
    }
}
