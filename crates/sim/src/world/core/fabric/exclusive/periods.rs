//! Bursts of one packet that reach an exclusive path evenly, from several flows at once.
//!
//! Flows whose data landed together send their ACKs in step, with one common gap: the period. As
//! long as the same flows take part, every period is a copy of the first, shifted in time. So only
//! the first period is computed. This needs a fibre that is free again when the next period begins;
//! otherwise one period is taken at a time. It also needs serialisation times of whole picoseconds,
//! because a remainder would carry over into the next period. Where nodes store and forward, all
//! packets must have one size, so that none waits for a longer one. Packets that are not in step,
//! may be lost, meet on a shared link, or would land after the safe time are left to the caller.

use burstlab_units::{Span, Time};

use super::{Crossed, Exclusive, Way, outlasts};
use crate::world::context::Context;
use crate::world::core::payload::BurstKind;
use crate::world::core::runs::Runs;
use crate::world::core::scope::{Common, Scope};
use crate::world::packet::Parcel;
use crate::world::surgery::Named;
use crate::world::train::{TimedTrain, Train};

/// Among so many of the first trains the gap is looked for. Where all of them are of one packet,
/// the first goes alone, and to look at all the others each time would cost the square of their
/// number.
const NEAR: usize = 64;

/// So many places may trains move back for each packet that crosses, and one for each train. Where
/// they move further, as those of many flows that are not in step do, packets are taken one by one.
const MOVES: u64 = 8;

/// Puts trains in the order in which their first packets are there.
fn sort<P: Parcel>(trains: &mut [TimedTrain<P>]) {
    if !trains.is_sorted_by(|one, other| !is_before(other, one)) {
        trains.sort_unstable_by_key(|coming| (coming.at, coming.train.first.owner()));
    }
}

/// When the first packet of some trains is there, and the last.
fn ends<P: Parcel>(trains: &[TimedTrain<P>]) -> (Time, Time) {
    let first = trains.iter().map(|coming| coming.at).min();
    let last = trains.iter().map(|coming| coming.at(coming.train.count - 1)).max();
    (first.unwrap_or_default(), last.unwrap_or_default())
}

/// Whether the first packet of a train is there before that of another one.
fn is_before<P: Parcel>(one: &TimedTrain<P>, other: &TimedTrain<P>) -> bool {
    (one.at, one.train.first.owner()) < (other.at, other.train.first.owner())
}

/// How many of the first trains take part from now on, for how many periods, and how long these
/// are. Nobody else comes meanwhile. `None`: their packets are not equally far apart.
fn in_step<P: Parcel>(trains: &[TimedTrain<P>]) -> Option<(usize, u32, Span)> {
    let begun = trains.first()?.at;
    let mut near = trains[..trains.len().min(NEAR)].iter();
    let gap = near.find(|coming| coming.train.count > 1).map_or(Span::ZERO, |one| one.gap);
    let end = begun + gap.max(Span::from_ps(1));
    let active = trains.partition_point(|coming| coming.at < end);
    let (mut periods, mut even) = (u32::MAX, true);
    for coming in &trains[..active] {
        periods = periods.min(coming.train.count);
        even &= coming.train.count == 1 || coming.gap == gap && !gap.is_zero();
    }
    if let Some(next) = trains.get(active).filter(|_| !gap.is_zero()) {
        let whole = next.at.since(begun).as_ps() / gap.as_ps();
        periods = periods.min(u32::try_from(whole).unwrap_or(u32::MAX));
    }
    even.then_some((active, periods, gap))
}

/// The first so many trains have moved on, mostly not far: puts them among the others. Returns
/// `false`, with all of them in any order, where they moved further than `moves` in all.
fn back_in_order<P: Parcel>(
    trains: &mut [TimedTrain<P>],
    moved_on: usize,
    moves: &mut u64,
) -> bool {
    for place in (0..moved_on).rev() {
        let next = place + 1..trains.len().min(place + 1 + *moves as usize);
        let before = next.take_while(|&next| is_before(&trains[next], &trains[place]));
        let behind = before.last().unwrap_or(place);
        trains[place..=behind].rotate_left(1);
        *moves -= (behind - place) as u64;
        if *moves == 0 {
            return false;
        }
    }
    true
}

impl Exclusive {
    /// Packets that are bursts of their own cross a path ahead of the clock, as far as they are in
    /// step, none of them is lost and all land in time; the others are left. `labelled`: the label
    /// before theirs. Returns how many these are.
    pub(crate) fn offer_in_step<P: Parcel>(
        &mut self,
        (path, kind, class): (usize, BurstKind, u32),
        labelled: Named,
        (trains, landed): (&mut Vec<TimedTrain<P>>, &mut Runs<P>),
        scope: &mut Scope,
    ) -> u64 {
        let Common { plan, flows, account, fates, .. } = &mut *scope.common;
        let until = self.lands_until(path, &scope.context.ahead);
        if !fates.spares(kind, || ends(trains))
            || until == Time::ZERO
            || plan.scenario.access.shared
            || scope.context.surgery.awaits(labelled)
        {
            return 0;
        }
        sort(trains);
        let (mut packets, mut bytes, mut done) = (0, 0, 0);
        let mut moves = trains.len() as u64 + MOVES;
        while let Some((active, periods, gap)) = in_step(&trains[done..]) {
            let rest = &mut trains[done..];
            let ahead = &scope.context.ahead;
            if !rest[..active].iter().all(|coming| outlasts(&coming.train, flows, ahead)) {
                break;
            }
            let (way, known) = (&mut self.paths[path], landed.all.len());
            let passed = way.pass_periods(&rest[..active], (periods, gap), until, landed);
            let Some(periods) = passed else { break };
            let recorder = &scope.context.recorder;
            if recorder.traces_packets() || recorder.traces_bursts() {
                let crossing = (&rest[..active], &landed.all[known..]);
                let of = (labelled.1 + packets, kind, class);
                way.record_periods(crossing, periods, of, scope.context);
            }
            let mut empty = 0;
            for coming in &mut rest[..active] {
                let (first, count) = (&coming.train.first, u64::from(periods));
                packets += count;
                moves += MOVES * count;
                bytes += count * first.bytes().get();
                if kind == BurstKind::Data {
                    flows.carried(first.flow(), count);
                }
                coming.skip(periods);
            }
            for place in 0..active {
                if rest[place].train.count == 0 {
                    rest.swap(empty, place);
                    empty += 1;
                }
            }
            done += empty;
            let in_order = empty == 0 && active == rest.len();
            if !in_order && !back_in_order(&mut rest[empty..], active - empty, &mut moves) {
                break;
            }
        }
        trains.drain(..done);
        fates.pass(kind, packets);
        account.crossed_alone(kind, packets, bytes);
        packets
    }
}

impl Way {
    /// Traces what crosses in so many periods: trains as they come and as they land, with the label
    /// before theirs.
    #[cold]
    fn record_periods<P: Parcel>(
        &mut self,
        (coming, landed): (&[TimedTrain<P>], &[TimedTrain<P>]),
        periods: u32,
        (mut label, kind, class): (u64, BurstKind, u32),
        context: &mut Context,
    ) {
        let Some(reach) = self.path.steady_delay() else { return };
        for period in 0..periods {
            for (coming, landed) in coming.iter().zip(landed) {
                let size = coming.train.first.bytes();
                let Some(hold) = self.path.hold(size) else { return };
                let (row, lands) = (coming.train.packet(period).row(), landed.at(period));
                let crossed = Crossed { departs: lands - reach - hold, lands };
                label += 1;
                let of = (label, kind, class);
                self.record_alone((row, size), of, coming.at(period), &crossed, context);
            }
        }
    }

    /// One packet of each of these trains crosses in each of at most so many periods: returns how
    /// many have, and adds to `landed` what. `None`: one would land after `safe`, is not a whole
    /// number of picoseconds long, or would wait at a node that stores and forwards.
    fn pass_periods<P: Parcel>(
        &mut self,
        trains: &[TimedTrain<P>],
        (mut periods, gap): (u32, Span),
        safe: Time,
        landed: &mut Runs<P>,
    ) -> Option<u32> {
        let (begun, known) = (trains[0].at + self.offset, landed.all.len());
        let (mut free, stores) = (self.path.free_at(), self.path.stores());
        let first = self.path.hold(trains[0].train.first.bytes())?;
        let reach = self.path.steady_crossing(first, free.max(begun) + first)?;
        if free > begun {
            // Earlier packets still take the fibre; they may not next time.
            periods = 1;
        }
        for coming in trains {
            let hold = self.path.hold(coming.train.first.bytes());
            let Some(hold) = hold.filter(|&hold| !stores || hold == first) else {
                landed.truncate(known);
                return None;
            };
            free = free.max(coming.at + self.offset) + hold;
            let train = Train { count: 1, ..coming.train };
            landed.push(TimedTrain { train, at: free + reach, gap });
        }
        if free > begun + gap {
            periods = 1;
        }
        let last = free + gap.saturating_mul(u64::from(periods - 1));
        if last + reach > safe {
            landed.truncate(known);
            return None;
        }
        landed.all[known..].iter_mut().for_each(|coming| coming.train.count = periods);
        self.path.is_free_at(last, first);
        Some(periods)
    }
}
