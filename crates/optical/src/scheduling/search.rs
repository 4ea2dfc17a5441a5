//! The search for a wavelength: the one whose void costs least.

use burstlab_units::Time;

use super::calendar::{Calendar, Tail, Void};

/// Wavelengths that a burst may take, and when it passes.
pub(super) struct Search<'a> {
    pub(super) start: Time,
    pub(super) end: Time,
    /// Number of the first of them.
    pub(super) lowest: u32,
    pub(super) tails: &'a [Tail],
    pub(super) calendars: &'a [Calendar],
}

impl Search<'_> {
    /// The lowest wavelength on which there is room: behind the last burst, or `between` others.
    #[inline]
    pub(super) fn lowest(&self, between: bool) -> Option<u32> {
        let fits = |(tail, calendar): (&Tail, &Calendar)| {
            let inside = || calendar.void(self.start, self.end).is_some();
            tail.end <= self.start || between && tail.start > self.start && inside()
        };
        let place = self.tails.iter().zip(self.calendars).position(fits)?;
        Some(self.lowest + place as u32)
    }

    /// The wavelength on which the void that holds the burst costs least, and less than `none`; of
    /// equal ones the lowest. `between`: whether only the voids behind the last burst count, or
    /// those before it as well.
    ///
    /// `cost` is asked about voids that do not hold the burst too, and must answer something.
    #[inline]
    pub(super) fn least<K: Ord + Copy>(
        &self,
        between: bool,
        none: K,
        cost: impl Fn(Void) -> K,
    ) -> Option<u32> {
        let (mut least, mut chosen, mut later) = (none, 0, false);
        // Which of them are free is as good as random: what is chosen here is chosen without jumps.
        for (index, tail) in (0..).zip(self.tails) {
            let behind = cost(Void { since: tail.end, until: Time::MAX });
            let free = tail.end <= self.start;
            later |= tail.start > self.start;
            let cost = if free { behind } else { none };
            let better = cost < least;
            least = if better { cost } else { least };
            chosen = if better { index } else { chosen };
        }
        if between && later {
            for (index, tail) in (0..).zip(self.tails) {
                if tail.start <= self.start {
                    continue;
                }
                let calendar = &self.calendars[index as usize];
                let Some(void) = calendar.void(self.start, self.end) else { continue };
                let cost = cost(void);
                if cost < least || (cost == least && index < chosen) {
                    (least, chosen) = (cost, index);
                }
            }
        }
        (least < none).then_some(self.lowest + chosen)
    }
}
