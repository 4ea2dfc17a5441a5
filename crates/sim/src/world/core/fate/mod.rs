//! External events of a burst: losses that the scenario prescribes, contention that it injects,
//! fibres that fail, and operations on single bursts.

mod injection;
mod outages;
mod schedule;
mod script;
mod surgery;

use burstlab_kernel::RandomSource;
use burstlab_optical::Fibres;
use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use self::injection::Injection;
use self::outages::Outages;
pub(super) use self::outages::Phase;
use self::schedule::LossSchedule;
use super::burst::{Burst, ScheduledLoss};
use super::payload::BurstKind;
use crate::measure::loss::LossCause;
use crate::scenario::Resolved;
use crate::world::packet::DataPacket;

/// The external events that a scenario has for bursts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Fates {
    data: LossSchedule,
    acks: LossSchedule,
    injection: Option<Injection>,
    outages: Outages,
}

/// An external event that a burst meets at the node of its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Met {
    /// It is lost there.
    Loss(LossCause),
    /// The fibre that it needs is down.
    LinkDown,
    /// Contention, whatever is free.
    Contention,
}

impl Fates {
    pub(crate) fn new(resolved: &Resolved, random: &RandomSource, links: usize) -> Self {
        Self {
            data: LossSchedule::new(&resolved.loss.data, random.stream("loss/data")),
            acks: LossSchedule::new(&resolved.loss.ack, random.stream("loss/ack")),
            injection: Injection::new(&resolved.scenario, random),
            outages: Outages::new(resolved, links),
        }
    }

    /// Takes what is not stored from those of the same scenario.
    pub(crate) fn adopt(&mut self, fresh: Self) {
        self.outages.adopt(fresh.outages);
    }

    /// The outages of fibres.
    pub(crate) fn outages(&self) -> &Outages {
        &self.outages
    }

    /// Something happens in an outage: which one, and what.
    pub(crate) fn happens(&mut self, event: u32, fibres: &mut Fibres) -> (usize, Phase) {
        self.outages.happens(event, fibres)
    }

    /// The external event of a burst at this hop, now.
    #[inline]
    pub(crate) fn meets(&self, burst: &Burst, fibres: &Fibres) -> Option<Met> {
        if let Some(cause) = burst.loss_here() {
            return Some(Met::Loss(cause));
        }
        if fibres.arrives(burst.route[burst.hop], burst.arrives).is_none() {
            return Some(Met::LinkDown);
        }
        let injects = self.injection.as_ref().is_some_and(|rule| rule.meets(burst));
        injects.then_some(Met::Contention)
    }

    /// The next burst of a kind is closed, at `at`: what is prescribed for it.
    #[inline]
    pub(crate) fn prescribe<'a>(
        &mut self,
        (at, kind): (Time, BurstKind),
        firsts: impl Iterator<Item = &'a DataPacket>,
    ) -> ScheduledLoss {
        let rule = match kind {
            BurstKind::Data => &mut self.data,
            BurstKind::Ack => &mut self.acks,
            BurstKind::Background => return None,
        };
        rule.next(at, firsts)
    }

    /// So many bursts of a kind are closed of which none [is lost](Self::spares).
    pub(crate) fn pass(&mut self, kind: BurstKind, bursts: u64) {
        match kind {
            BurstKind::Data => self.data.pass(bursts),
            BurstKind::Ack | BurstKind::Background => self.acks.pass(bursts),
        }
    }

    /// Whether for certain the scenario prescribes no loss of a burst of this kind that is closed
    /// from the first of two times to the last.
    #[inline]
    pub(crate) fn spares(&mut self, kind: BurstKind, ends: impl FnOnce() -> (Time, Time)) -> bool {
        let rule = if kind == BurstKind::Data { &mut self.data } else { &mut self.acks };
        rule.spares(ends)
    }

    /// Whether a script loses this very packet as it reaches its ingress.
    #[inline]
    pub(crate) fn kills(&mut self, packet: &DataPacket) -> bool {
        self.data.script.kills(packet)
    }

    /// Scripted losses that never came.
    pub(crate) fn unmet(&self) -> Vec<String> {
        let tables = [("loss.data", &self.data), ("loss.ack", &self.acks)];
        let unmet = |(table, rule): (&'static str, &LossSchedule)| {
            rule.unmet().map(|what| format!("{table}.{what}")).collect::<Vec<_>>()
        };
        tables.into_iter().flat_map(unmet).collect()
    }
}
