//! Fibres: the time from one end of a fibre to the other. No other file knows how long a fibre is
//! or whether it is up. A planner asks for the least or the greatest delay of a run. A fast path
//! that repeats a result asks whether the delay is steady. A fibre whose length changes, or that
//! exists only at times, would change this file alone.

use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

/// A fibre, in one direction, as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fibre {
    delay: Span,
    /// How many failures it is down by.
    failures: u32,
}

impl Fibre {
    /// A fibre that is always as long as this propagation delay.
    #[must_use]
    pub const fn of(delay: Span) -> Self {
        Self { delay, failures: 0 }
    }

    /// When light that leaves its beginning at `departs` is at its end, as far as is known now.
    /// `None`: it is down.
    #[inline]
    #[must_use]
    pub fn arrives(&self, departs: Time) -> Option<Time> {
        (self.failures == 0).then(|| self.signal(departs))
    }

    /// The same for headers, trailers and messages, which no failure stops.
    #[inline]
    #[must_use]
    pub fn signal(&self, sent: Time) -> Time {
        sent + self.delay
    }

    /// When a signal that leaves its end at `sent` is at its beginning.
    #[inline]
    #[must_use]
    pub fn signal_back(&self, sent: Time) -> Time {
        sent + self.delay
    }

    /// The least delay that it has in a run.
    #[inline]
    #[must_use]
    pub const fn least_delay(&self) -> Span {
        self.delay
    }

    /// The greatest delay that it has in a run.
    #[must_use]
    pub const fn greatest_delay(&self) -> Span {
        self.delay
    }

    /// Its delay, if that is the same throughout a run.
    #[must_use]
    pub const fn steady_delay(&self) -> Option<Span> {
        Some(self.delay)
    }
}

/// The fibres of a network, by number. A route is a list of numbers.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Fibres(Vec<Fibre>);

impl FromIterator<Fibre> for Fibres {
    fn from_iter<I: IntoIterator<Item = Fibre>>(fibres: I) -> Self {
        Self(fibres.into_iter().collect())
    }
}

impl Fibres {
    /// When light that leaves the beginning of a fibre at `departs` is at its end. `None`: the
    /// fibre is down.
    #[inline]
    #[must_use]
    pub fn arrives(&self, fibre: u32, departs: Time) -> Option<Time> {
        self.0[fibre as usize].arrives(departs)
    }

    /// When a signal that is sent over a fibre is at its end.
    #[inline]
    #[must_use]
    pub fn signal(&self, fibre: u32, sent: Time) -> Time {
        self.0[fibre as usize].signal(sent)
    }

    /// When a signal that is sent over a whole route is at its end.
    #[inline]
    #[must_use]
    pub fn signal_over(&self, route: &[u32], sent: Time) -> Time {
        route.iter().fold(sent, |sent, &fibre| self.signal(fibre, sent))
    }

    /// When a signal that is sent back from the end of a route is at its beginning.
    #[inline]
    #[must_use]
    pub fn signal_back(&self, route: &[u32], sent: Time) -> Time {
        route.iter().rev().fold(sent, |sent, &fibre| self.0[fibre as usize].signal_back(sent))
    }

    /// The fibres of a route.
    #[must_use]
    pub fn along(&self, route: &[u32]) -> Vec<Fibre> {
        route.iter().map(|&fibre| self.0[fibre as usize]).collect()
    }

    /// A fibre is down by one failure more.
    pub fn fails(&mut self, fibre: u32) {
        self.0[fibre as usize].failures += 1;
    }

    /// It is down by one failure less.
    pub fn recovers(&mut self, fibre: u32) {
        self.0[fibre as usize].failures -= 1;
    }
}

/// Fibres one behind another, with nothing between them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Chain {
    fibres: Vec<Fibre>,
    /// Propagation over so many of them, which is the same at all times: summed up once.
    reaches: Vec<Span>,
}

impl Chain {
    pub(crate) fn new(fibres: &[Fibre]) -> Self {
        let reach = |hops: usize| {
            let steady = |fibre: &Fibre| fibre.steady_delay().expect("a chain does not change");
            fibres[..hops].iter().map(steady).fold(Span::ZERO, |sum, delay| sum + delay)
        };
        Self { fibres: fibres.to_vec(), reaches: (0..=fibres.len()).map(reach).collect() }
    }

    /// When light that leaves the first fibre's beginning at `departs` has crossed so many.
    #[inline(always)]
    pub(crate) fn arrives(&self, departs: Time, hops: usize) -> Time {
        departs + self.reaches[hops]
    }

    /// The delay over so many of them, if it is the same at all times.
    #[inline]
    pub(crate) fn steady_delay(&self, hops: usize) -> Option<Span> {
        Some(self.reaches[hops])
    }

    #[inline]
    pub(crate) fn fibres(&self) -> &[Fibre] {
        &self.fibres
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Time {
        Time::ZERO + Span::from_ms(n)
    }

    fn fibres() -> Fibres {
        [1, 2, 4].map(|ms| Fibre::of(Span::from_ms(ms))).into_iter().collect()
    }

    #[test]
    fn a_fibre_carries_light_unless_it_is_down() {
        let mut fibres = fibres();
        assert_eq!(fibres.arrives(1, ms(10)), Some(ms(12)));
        fibres.fails(1);
        fibres.fails(1);
        fibres.recovers(1);
        assert_eq!((fibres.arrives(1, ms(10)), fibres.arrives(0, ms(10))), (None, Some(ms(11))));
        assert_eq!(fibres.signal(1, ms(10)), ms(12), "signals are not data");
        fibres.recovers(1);
        assert_eq!(fibres.arrives(1, ms(10)), Some(ms(12)));
    }

    #[test]
    fn a_signal_goes_along_a_route_and_back() {
        let fibres = fibres();
        assert_eq!(fibres.signal_over(&[0, 2], ms(1)), ms(6));
        assert_eq!(fibres.signal_back(&[0, 2], ms(6)), ms(11));
        assert_eq!(fibres.signal_back(&[], ms(6)), ms(6), "there already");
    }
}
