//! The part between edge nodes: fibres, and the nodes that switch on them. It is offered closed
//! bursts and returns the fate of each; it does not know packets.

pub(super) mod contended;
pub(super) mod exclusive;

use burstlab_kernel::RandomSource;
use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use self::contended::Contended;
use self::exclusive::Exclusive;
use super::account::TimeReserved;
use super::burst::Fate;
use super::plan::Plan;
use super::scope::Scope;
use super::under_way::UnderWay;
use crate::scenario::Resolved;

/// The fibres.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Fabric {
    /// Bursts meet: headers go ahead of them and reserve.
    Contended(Box<Contended>),
    /// Each pair of nodes has a path of its own.
    Exclusive(Exclusive),
}

impl Fabric {
    pub(super) fn new(resolved: &Resolved, plan: &Plan, random: &RandomSource) -> Self {
        if plan.rules.control {
            Self::Contended(Box::new(Contended::new(resolved, plan, random)))
        } else {
            Self::Exclusive(Exclusive::new(plan))
        }
    }

    /// A burst is closed and in a slot. `spaced`: packets that came before each of it, where they
    /// leave spaced.
    #[inline]
    pub(super) fn offer(&mut self, at: (Time, u32), spaced: &[u64], scope: &mut Scope) -> Fate {
        match self {
            Self::Contended(fabric) => fabric.offer(at, scope),
            Self::Exclusive(fabric) => fabric.offer(at, spaced, scope),
        }
    }

    /// A burst ends, or goes on as a spared one: its ingress needs no copy any more.
    #[inline]
    pub(super) fn forget_copy(&mut self, slot: u32, scope: &mut Scope) {
        if let Self::Contended(fabric) = self {
            fabric.forget_copy(scope.common.bursts.get_mut(slot));
        }
    }

    /// Where bursts meet.
    #[inline]
    pub(super) fn contended(&mut self) -> &mut Contended {
        match self {
            Self::Contended(fabric) => fabric,
            Self::Exclusive(_) => panic!("no header goes ahead of a burst on an exclusive path"),
        }
    }

    /// The exclusive paths, where there are some.
    #[inline]
    pub(super) fn exclusive(&mut self) -> &mut Exclusive {
        match self {
            Self::Exclusive(fabric) => fabric,
            Self::Contended(_) => panic!("no burst has an exclusive path where others meet it"),
        }
    }

    /// The measure of what is reserved begins anew.
    pub(super) fn measure_from(&mut self, now: Time) {
        if let Self::Contended(fabric) = self {
            fabric.measure_from(now);
        }
    }

    /// By fibre and wavelength, how long that was reserved by `now`. Ways are not reserved.
    pub(super) fn busy(&self, now: Time, plan: &Plan) -> Vec<Vec<Span>> {
        match self {
            Self::Contended(fabric) => fabric.busy(now),
            Self::Exclusive(_) => {
                let links = plan.graph.links.iter();
                links.map(|link| vec![Span::ZERO; link.wavelengths as usize]).collect()
            }
        }
    }

    /// How long wavelengths and converters were reserved by `now`.
    pub(super) fn measures(&self, now: Time, plan: &Plan) -> TimeReserved {
        let converters = match self {
            Self::Contended(fabric) => fabric.converters(now, plan),
            Self::Exclusive(_) => Vec::new(),
        };
        TimeReserved { channels: self.busy(now, plan), converters }
    }

    /// By fibre, how many wavelengths are reserved at `now`.
    pub(super) fn taken(&self, now: Time, plan: &Plan) -> Vec<u32> {
        match self {
            Self::Contended(fabric) => fabric.taken(now),
            Self::Exclusive(_) => vec![0; plan.graph.links.len()],
        }
    }

    /// Adds the packets that cross by themselves, and the bursts that are in no slot.
    pub(super) fn under_way(&self, found: &mut UnderWay) {
        match self {
            Self::Exclusive(fabric) => fabric.under_way(found),
            Self::Contended(fabric) => {
                fabric.light_under_way().for_each(|bytes| found.background(bytes));
            }
        }
    }
}
