//! Two runs that are one until a burst is operated on, and the cost of the bursts that were lost.
//!
//! Randomness is keyed and the world is a value, so that the run in which one burst fares otherwise
//! is the same run: it is cloned just before, and both go on.

use burstlab_units::Time;

use crate::checkpoint::CheckpointError;
use crate::measure::{LostBurst, Progress, Trace};
use crate::run::{Monitor, Simulation};
use crate::scenario::{Operation, Resolved};
use crate::take_up::behind;
use crate::world::{Surgery, World};

/// Events between two clones of a run that is about to part: at least so many, and of those that
/// were before one in so many.
const STEP: u32 = 1 << 8;
const SHARE: u32 = 1 << 6;

/// Why two runs do not part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoBranch {
    /// A burst that is operated on is not in the run, which has numbered so many: with data, or
    /// all; and on a path those with ACKs.
    Absent([u64; 2]),
    /// A burst that is operated on was closed before the run begins.
    Behind(CheckpointError),
}

/// A run, and the same run with operations on its bursts.
#[derive(Clone, Debug)]
pub struct Branches {
    /// Without the operations.
    pub first: Simulation,
    /// With them.
    pub altered: Simulation,
    /// Simulated time at which they part, in ps.
    pub parted_ps: u64,
}

impl Branches {
    /// Runs `first` until just before the first burst is closed that `resolved`, its scenario with
    /// surgery, names; there the two part.
    ///
    /// # Errors
    ///
    /// Where the run has no such burst, or begins behind it.
    pub fn part(
        mut first: Simulation,
        resolved: &Resolved,
        monitor: &Monitor,
    ) -> Result<Self, NoBranch> {
        let surgery = Surgery::new(&resolved.scenario);
        if !first.world.is_before(&surgery) {
            return Err(NoBranch::Behind(behind()));
        }
        first.world.keep_to_the_clock();
        let mut before = first.clone();
        let mut done = 0;
        while monitor.goes_on() && first.world.is_before(&surgery) {
            before = first.clone();
            // In a long run clones are made more seldom, so that they cost no more than its events.
            let step = (done / SHARE).max(STEP);
            done = done.saturating_add(step);
            if !first.steps(step, monitor) {
                break;
            }
        }
        // One that is open at the end is there, and nothing can be done to it.
        let numbered = first.world.numbered();
        let absent = |(of, burst): (usize, Option<u64>)| burst > Some(numbered[of]);
        if first.world.is_before(&surgery) && surgery.named().any(absent) {
            return Err(NoBranch::Absent(numbered));
        }
        let mut altered = before.clone();
        altered.world.operate(surgery);
        let parted_ps = before.world.now().as_ps();
        Ok(Self { first: before, altered, parted_ps })
    }
}

/// The cost of a lost burst: how far connections came in the run in which it is spared, less how
/// far they came in the run in which it was lost.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Price {
    /// Its place in [`Prices::lost`].
    pub index: usize,
    /// Bytes that connections had at their receivers, more than they had; may be negative.
    pub bytes: i64,
    /// Of these, bytes of connections with nothing in the burst.
    pub bytes_indirect: i64,
    /// Time that finite transfers took longer, each up to the end of the run, in ps.
    pub ps: i64,
    /// Of this, that of connections with nothing in the burst.
    pub ps_indirect: i64,
    /// Connections that came further or less far, or were done at another time.
    pub connections: u64,
    /// Of these, those with nothing in the burst.
    pub connections_indirect: u64,
    /// Simulated time of the run, in ps.
    pub until_ps: u64,
}

/// Prices the bursts that a run has lost, one after the other: each is spared in a clone of the run
/// that is made just before its loss is certain.
#[derive(Clone, Debug)]
pub struct Prices {
    base: Simulation,
    /// All that were lost, in order.
    lost: Vec<LostBurst>,
    /// How far connections came.
    reached: Vec<Progress>,
    fingerprint: String,
    /// Bursts to be priced, by place, rising, and how many of them were begun.
    picked: Vec<usize>,
    begun: usize,
    /// How long after its loss the price of a burst is counted, in ps.
    horizon_ps: Option<u64>,
}

/// A run in which one burst is spared.
#[derive(Clone, Debug)]
pub struct Spared {
    index: usize,
    connections: Vec<u32>,
    run: Simulation,
    /// The run in which it was lost, where that is followed only for a while.
    original: Option<Simulation>,
}

impl Prices {
    /// Runs `simulation`, in which nothing has happened, to its end and records its losses.
    #[must_use]
    pub fn of(mut simulation: Simulation, monitor: &Monitor) -> Self {
        simulation.world.keep_to_the_clock();
        let mut whole = simulation.clone();
        whole.world.note_losses();
        whole.advance_to_end(monitor);
        let lost = whole.world.take_losses();
        let lost = lost.into_iter().filter(|one| !one.connections.is_empty()).collect();
        let reached = whole.world.reached();
        let fingerprint = whole.finish().0.fingerprint;
        let (picked, begun, horizon_ps) = (Vec::new(), 0, None);
        Self { base: simulation, lost, reached, fingerprint, picked, begun, horizon_ps }
    }

    /// The bursts with packets or ACKs of connections that were lost, in the order in which that
    /// was certain.
    #[must_use]
    pub fn lost(&self) -> &[LostBurst] {
        &self.lost
    }

    /// Picks the bursts to be priced, by place; each cost is counted up to the end of the run, or
    /// for a while after the loss.
    pub fn pick(&mut self, mut places: Vec<usize>, horizon_ps: Option<u64>) {
        places.retain(|&place| place < self.lost.len());
        places.sort_unstable();
        places.dedup();
        (self.picked, self.horizon_ps) = (places, horizon_ps);
    }

    /// The run in which the next burst is spared, just before its loss would be certain; `None`:
    /// there are no more.
    pub fn next(&mut self, monitor: &Monitor) -> Option<Spared> {
        let index = *self.picked.get(self.begun)?;
        self.begun += 1;
        let burst = self.lost[index].clone();
        let decided = Time::from_ps(burst.decided_ps);
        while monitor.goes_on() && self.base.world.advance_before(decided, STEP).0 {}
        let mut run = self.base.clone();
        run.world.spare(burst.burst, burst.back);
        let mut original = None;
        if let Some(horizon) = self.horizon_ps {
            let until = Time::from_ps(burst.decided_ps.saturating_add(horizon));
            let mut base = self.base.clone();
            base.world.end_at(until);
            run.world.end_at(until);
            original = Some(base);
        }
        Some(Spared { index, connections: burst.connections, run, original })
    }

    /// The price of sparing every burst: how far connections come in a run that loses none.
    #[must_use]
    pub fn of_all(simulation: &Simulation, reached: &[Progress], monitor: &Monitor) -> Price {
        let mut run = simulation.clone();
        run.world.spare_all();
        run.advance_to_end(monitor);
        let all: Vec<u32> = reached.iter().map(|one| one.id).collect();
        price(0, &all, (reached, &run.world.reached()), run.world.now())
    }

    /// That of the run.
    #[must_use]
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// How far connections came.
    #[must_use]
    pub fn reached(&self) -> &[Progress] {
        &self.reached
    }
}

impl Spared {
    /// Runs to the end; returns what the burst has cost in a run in which connections came as far
    /// as `reached` says.
    #[must_use]
    pub fn price(mut self, reached: &[Progress], monitor: &Monitor) -> Price {
        self.run.advance_to_end(monitor);
        let mine = self.run.world.reached();
        let now = self.run.world.now();
        match self.original {
            None => price(self.index, &self.connections, (reached, &mine), now),
            Some(mut base) => {
                base.advance_to_end(monitor);
                let theirs = base.world.reached();
                price(self.index, &self.connections, (&theirs, &mine), now)
            }
        }
    }
}

/// The price, if connections came as far as the second list says, and not the first.
fn price(
    index: usize,
    carried: &[u32],
    (lost, spared): (&[Progress], &[Progress]),
    until: Time,
) -> Price {
    let mut price = Price {
        index,
        bytes: 0,
        bytes_indirect: 0,
        ps: 0,
        ps_indirect: 0,
        connections: 0,
        connections_indirect: 0,
        until_ps: until.as_ps(),
    };
    let mut others = spared.iter().peekable();
    for one in lost {
        while others.next_if(|other| other.id < one.id).is_some() {}
        let Some(other) = others.next_if(|other| other.id == one.id) else { continue };
        let bytes = other.bytes as i64 - one.bytes as i64;
        let took = one.until_ps.zip(other.until_ps);
        let ps = took.map_or(0, |(lost, spared)| lost as i64 - spared as i64);
        if (bytes, ps) == (0, 0) {
            continue;
        }
        let indirect = carried.binary_search(&one.id).is_err();
        price.bytes += bytes;
        price.ps += ps;
        price.connections += 1;
        if indirect {
            price.bytes_indirect += bytes;
            price.ps_indirect += ps;
            price.connections_indirect += 1;
        }
    }
    price
}

impl Simulation {
    /// Records tables from here on; packets that are in flight have no row.
    pub fn trace_from_here(&mut self, trace: Trace) {
        self.traced = trace != Trace::default();
        self.world.trace_from_here(trace);
    }

    /// How far each connection has come, by number.
    #[must_use]
    pub fn reached(&self) -> Vec<Progress> {
        self.world.reached()
    }

    /// Ends the run at a time, in ps, if it would go on; to be said before its first event, so that
    /// nothing is ahead of it.
    pub fn end_at(&mut self, ps: u64) {
        self.world.end_at(Time::from_ps(ps));
    }
}

impl World {
    /// One more burst is spared.
    fn spare(&mut self, burst: u64, back: bool) {
        let mut surgery = self.surgery().clone();
        surgery.add(Operation::Spare, usize::from(back), Some(burst));
        self.operate(surgery);
    }

    /// Every burst is spared.
    fn spare_all(&mut self) {
        let mut surgery = self.surgery().clone();
        surgery.add(Operation::Spare, 0, None);
        surgery.add(Operation::Spare, 1, None);
        self.operate(surgery);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_that_one_run_alone_has_have_no_price() {
        let reached = |id: u32, bytes: u64, until_ps: u64| Progress {
            id,
            started_ps: 0,
            bytes,
            until_ps: Some(until_ps),
            whole: true,
        };
        let lost = [reached(1, 10, 100), reached(3, 20, 200), reached(4, 30, 300)];
        let spared = [
            reached(0, 5, 50),
            reached(1, 11, 90),
            reached(2, 50, 500),
            reached(4, 37, 250),
            reached(5, 70, 700),
        ];
        let found = price(7, &[4], (&lost, &spared), Time::from_ps(9));
        let expected = Price {
            index: 7,
            bytes: 8,
            bytes_indirect: 1,
            ps: 60,
            ps_indirect: 10,
            connections: 2,
            connections_indirect: 1,
            until_ps: 9,
        };
        assert_eq!(found, expected);
        let back = price(7, &[4], (&spared, &lost), Time::from_ps(9));
        assert_eq!((back.bytes, back.ps, back.connections), (-8, -60, 2));
    }
}
