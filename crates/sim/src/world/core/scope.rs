//! The state that all parts of a network of bursts share: the bursts in flight, and the receivers
//! of news about their fates.

use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::account::{Account, Passage};
use super::burst::Bursts;
use super::effects::Effects;
use super::fate::Fates;
use super::flows::Flows;
use super::plan::Plan;
use crate::measure::Step;
use crate::measure::loss::LossCause;
use crate::world::context::Context;

/// The bursts in flight, the network that they cross, their payloads, the external events for them,
/// and their account.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Common {
    pub(super) plan: Plan,
    pub(super) flows: Flows,
    pub(super) bursts: Bursts,
    pub(super) fates: Fates,
    pub(super) account: Account,
    /// The effects that hosts and links are yet to process. Not stored: empty between two events.
    #[serde(skip)]
    pub(super) effects: Effects,
}

/// The state that an event works on.
pub(super) struct Scope<'a> {
    pub(super) common: &'a mut Common,
    pub(super) context: &'a mut Context,
}

impl Scope<'_> {
    /// A step of the burst in a slot, toward a fibre, after a wait.
    // Called as a function, it costs a tenth of what a header does: which step it is would not be
    // known as it is compiled.
    #[inline(always)]
    pub(super) fn step(
        &mut self,
        (now, slot): (Time, u32),
        step: Step,
        toward: (Option<u32>, Span),
    ) {
        let Common { plan, bursts, account, .. } = &mut *self.common;
        let recorder = &mut self.context.recorder;
        account.step(plan, (now, bursts.get(slot)), step, toward, recorder);
    }

    /// The burst in a slot has ended: it landed, or it is lost before its next fibre.
    #[inline]
    pub(super) fn ended(&mut self, (now, slot): (Time, u32), lost: Option<LossCause>) {
        let Common { plan, bursts, account, flows, .. } = &mut *self.common;
        account.ended(plan, (now, bursts.get(slot)), lost, flows, self.context);
    }

    /// Senders that listen hear what becomes of the burst in a slot.
    #[inline]
    pub(super) fn tell(&mut self, slot: u32, passage: &Passage) {
        let Common { plan, bursts, account, flows, .. } = &*self.common;
        account.tell(plan, bursts.get(slot), passage, flows, self.context);
    }

    /// The burst in a slot leaves its ingress: traces it, and reports it the first time.
    #[inline]
    pub(super) fn left(&mut self, slot: u32) {
        let burst = self.common.bursts.get(slot);
        if self.context.recorder.traces_packets() {
            burst.record_departure(&mut self.context.recorder);
        }
        if burst.attempts == 0 {
            let passage = Passage { departs: Some(burst.departs), ..Passage::default() };
            self.tell(slot, &passage);
        }
    }

    /// Why a burst is lost whose header `stops`: cutting took it, if it left nothing of the burst.
    pub(super) fn cause_of(&self, slot: u32, stops: LossCause) -> LossCause {
        let Common { plan, bursts, .. } = &*self.common;
        if plan.rules.cuts && bursts.get(slot).is_cut_to_nothing() { LossCause::Cut } else { stops }
    }
}
