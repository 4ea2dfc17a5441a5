//! The output of a node: one fibre, its wavelengths and their reservations.

use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::calendar::{Calendar, Reservation, Tail, Void};
use super::horizons::Horizons;
use super::rules::Scheduler;
use super::search::Search;
use super::voids::Voids;

/// From so many wavelengths on, LAUC and LAUC-VF find a void by an index; of fewer, a look at each
/// costs less.
const INDEXED: u32 = 96;

/// From so many on, first fit finds a horizon in blocks.
const BLOCKED: u32 = 64;

/// One output fibre with its data wavelengths, numbered from 0.
///
/// As a header is processed: [`find`](Self::find) a wavelength, then [`reserve`](Self::reserve) it;
/// where a burst is cut or withdrawn, [`shorten`](Self::shorten) what it had. Call
/// [`forget`](Self::forget) as time goes on. Nothing before the time forgotten may be asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Port {
    scheduler: Scheduler,
    calendars: Vec<Calendar>,
    /// The last reservation of each: most searches need no more.
    tails: Vec<Tail>,
    /// Their voids, if the scheduler finds one there.
    voids: Option<Voids>,
    /// Their horizons in blocks, if the scheduler finds one there.
    horizons: Option<Horizons>,
    /// Reservations that ended up to here are not needed; a calendar drops them at its next change.
    past: Time,
    /// Use is measured from here.
    origin: Time,
}

impl Port {
    /// A fibre of `wavelengths`, all free.
    ///
    /// # Panics
    /// When there is no wavelength.
    #[must_use]
    pub fn new(wavelengths: u32, scheduler: Scheduler) -> Self {
        let least = if scheduler == Scheduler::FirstFit { BLOCKED } else { INDEXED };
        Self::indexed_from(least, wavelengths, scheduler)
    }

    /// The same, which keeps an index from `least` wavelengths on.
    pub(super) fn indexed_from(least: u32, wavelengths: u32, scheduler: Scheduler) -> Self {
        assert!(wavelengths > 0, "a port has a wavelength");
        let many = wavelengths >= least;
        let voids = (many && scheduler.takes_the_latest()).then(|| Voids::of(wavelengths));
        let blocked = many && scheduler == Scheduler::FirstFit;
        let horizons = blocked.then(|| Horizons::of(wavelengths));
        let calendars = vec![Calendar::default(); wavelengths as usize];
        let tails = vec![Tail::default(); wavelengths as usize];
        let (past, origin) = (Time::ZERO, Time::ZERO);
        Self { scheduler, calendars, tails, voids, horizons, past, origin }
    }

    /// The wavelength of a burst that passes from `start` for `hold`, of those from `allowed.0` to
    /// `allowed.1`; `None` where it fits on none. Nothing is reserved yet.
    ///
    /// # Panics
    /// When `hold` is zero, `start` is forgotten, or a wavelength does not exist.
    #[inline]
    #[must_use]
    pub fn find(&self, start: Time, hold: Span, allowed: (u32, u32)) -> Option<u32> {
        self.check(start, hold);
        if let Some(voids) = &self.voids
            && allowed == (0, self.wavelengths() - 1)
        {
            let end = if self.scheduler.fills_voids() { start + hold } else { Time::MAX };
            return voids.latest(start, end);
        }
        let (low, high) = (allowed.0 as usize, allowed.1 as usize);
        if let Some(horizons) = &self.horizons {
            return horizons.lowest(start, (low, high), &self.tails);
        }
        self.scheduler.choose(&Search {
            start,
            end: start + hold,
            lowest: allowed.0,
            tails: &self.tails[low..=high],
            calendars: &self.calendars[low..=high],
        })
    }

    /// [`find`](Self::find) for callers that ask seldom: code of its own, so that the code of the
    /// one caller that asks often contains the search.
    ///
    /// # Panics
    /// As there.
    #[cold]
    #[inline(never)]
    #[must_use]
    pub fn find_seldom(&self, start: Time, hold: Span, allowed: (u32, u32)) -> Option<u32> {
        self.find(start, hold, allowed)
    }

    /// The first instant from `ready` on at which some wavelength is free for `hold`, and the
    /// wavelength which the scheduler then chooses: what a burst gets that can wait in electronic
    /// memory. A scheduler that does not fill voids waits for a horizon.
    ///
    /// Where voids are filled, those that are too short are walked over one by one, but once.
    ///
    /// # Panics
    /// When `hold` is zero or `ready` is forgotten.
    #[must_use]
    pub fn earliest(&mut self, ready: Time, hold: Span) -> (Time, u32) {
        let all = (0, self.wavelengths() - 1);
        if let Some(wavelength) = self.find(ready, hold, all) {
            return (ready, wavelength);
        }
        let mut at = Time::MAX;
        for calendar in &mut self.calendars {
            at = at.min(if self.scheduler.fills_voids() {
                calendar.first_void(ready, hold, at)
            } else {
                calendar.horizon()
            });
        }
        let wavelength = self.find(at, hold, all);
        (at, wavelength.expect("some wavelength is free at this instant"))
    }

    #[inline]
    fn check(&self, start: Time, hold: Span) {
        assert!(!hold.is_zero(), "a burst takes time");
        assert!(self.past <= start, "{start} is past: {} was forgotten", self.past);
    }

    /// Takes `wavelength` from `start` up to `end` for `owner`.
    ///
    /// # Panics
    /// When it is not free, `end` is not after `start`, or `start` is forgotten.
    #[inline]
    pub fn reserve(&mut self, wavelength: u32, start: Time, end: Time, owner: u128) {
        assert!(self.past <= start, "{start} is past: {} was forgotten", self.past);
        let void = self.changing(wavelength).reserve(Reservation { start, end, owner });
        if let Some(voids) = &mut self.voids {
            voids.shorten(wavelength, void, start);
            voids.insert(wavelength, Void { since: end, until: void.until });
        }
        // In a void before another reservation it is not the last one.
        if void.until == Time::MAX {
            self.ends(wavelength, Tail { start, end });
        }
    }

    /// Lets the reservation of `owner` on `wavelength` that begins at `start` end at `new_end`;
    /// removes it where `new_end` is not after `start`. Returns whether there was such a
    /// reservation that is not forgotten.
    ///
    /// # Panics
    /// When `new_end` lies after its end.
    pub fn shorten(&mut self, wavelength: u32, start: Time, owner: u128, new_end: Time) -> bool {
        let Some([before, behind]) = self.changing(wavelength).shorten(start, owner, new_end)
        else {
            return false;
        };
        if let Some(voids) = &mut self.voids {
            voids.remove(wavelength, behind);
            let since = if new_end <= start {
                voids.remove(wavelength, before);
                before.since
            } else {
                new_end
            };
            voids.insert(wavelength, Void { since, until: behind.until });
        }
        self.ends(wavelength, self.calendars[wavelength as usize].tail());
        true
    }

    /// A wavelength has another last reservation.
    #[inline]
    fn ends(&mut self, wavelength: u32, tail: Tail) {
        self.tails[wavelength as usize] = tail;
        if let Some(horizons) = &mut self.horizons {
            horizons.changes(wavelength, &self.tails);
        }
    }

    #[inline]
    fn changing(&mut self, wavelength: u32) -> &mut Calendar {
        let calendar = &mut self.calendars[wavelength as usize];
        calendar.drop_past(self.past, self.origin, |void| {
            if let Some(voids) = &mut self.voids {
                voids.remove(wavelength, void);
            }
        });
        calendar
    }

    /// The reservations of `wavelength` of which some part lies in [`start`, `end`), in order of
    /// time, without those that are forgotten.
    pub fn overlapping(
        &self,
        wavelength: u32,
        start: Time,
        end: Time,
    ) -> impl Iterator<Item = &Reservation> {
        self.calendars[wavelength as usize].overlapping(start.max(self.past), end)
    }

    /// Reservations that ended at or before `now` are of no interest any more, but for how much
    /// they took and when the last of them ended. Costs next to nothing: a wavelength drops them
    /// when its next burst is reserved.
    #[inline]
    pub fn forget(&mut self, now: Time) {
        self.past = self.past.max(now);
    }

    /// How long `wavelength` was taken up to `until`, since the run or the measurement began. A
    /// burst that was cut counts with what was left of it.
    ///
    /// # Panics
    /// When `until` lies before the time forgotten.
    #[must_use]
    pub fn busy(&self, wavelength: u32, until: Time) -> Span {
        assert!(self.past <= until, "{until} is past: {} was forgotten", self.past);
        self.calendars[wavelength as usize].busy(self.origin, until)
    }

    /// Use counts from `now` on: warm-up is over.
    ///
    /// # Panics
    /// When `now` lies before the time forgotten.
    pub fn measure_from(&mut self, now: Time) {
        assert!(self.past <= now, "{now} is past: {} was forgotten", self.past);
        self.origin = now;
        self.calendars.iter_mut().for_each(Calendar::reset_measure);
    }

    /// How many wavelengths there are.
    #[must_use]
    pub fn wavelengths(&self) -> u32 {
        self.calendars.len() as u32
    }

    /// Reservations kept in memory, over all wavelengths.
    #[must_use]
    pub fn outstanding(&self) -> usize {
        self.calendars.iter().map(Calendar::len).sum()
    }

    /// The voids of the index, and those of the calendars, both in order of wavelength and time.
    #[cfg(test)]
    pub(super) fn indexed_and_all(&self) -> [Vec<(u32, Time, Time)>; 2] {
        let calendars = (0..).zip(&self.calendars);
        let all = calendars.flat_map(|(index, calendar)| calendar.voids().map(move |v| (index, v)));
        let known = self.voids.as_ref().map(Voids::all).unwrap_or_default();
        let sorted = |voids: Vec<(u32, Void)>| {
            let wide = voids.into_iter().filter(|(_, void)| void.since < void.until);
            let mut rows: Vec<_> = wide.map(|(index, v)| (index, v.since, v.until)).collect();
            rows.sort_unstable();
            rows
        };
        [sorted(known), sorted(all.collect())]
    }
}
