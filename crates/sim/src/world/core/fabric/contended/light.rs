//! Headers of bursts that carry nothing: the fast path of background bursts.
//!
//! A source draws such a burst, so nobody waits for what is in it. Where no rule looks at bursts in
//! flight, its header is a short record that lies on its fibre, and it takes no slot. It goes on so
//! as long as each node finds it a wavelength at once. Otherwise it is put into a slot, as if it
//! had been there all the time, and the general path goes on: before contention, for a header that
//! is late, and for a landing that has to be an event.
//!
//! Both paths make the same events, draws and counts. A trace of bursts takes the general path
//! throughout, which is the twin in tests.

use burstlab_units::{Bytes, Span, Time};
use serde::{Deserialize, Serialize};

use crate::measure::{Ended, Sort};
use crate::world::context::Context;
use crate::world::core::burst::{Burst, BurstId, Closed};
use crate::world::core::payload::{BurstKind, Payload};
use crate::world::core::plan::Plan;
use crate::world::core::scope::{Common, Scope};

/// The slot of a signal whose burst has none.
pub(super) const NO_SLOT: u32 = u32::MAX;

/// A burst that carries nothing, behind so many fibres of its route.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Light {
    pub(super) id: BurstId,
    pub(super) label: u64,
    pub(super) ordinal: u64,
    pub(super) ends: (u32, u32),
    pub(super) class: u32,
    pub(super) hop: u32,
    /// Fibres of its route.
    pub(super) hops: u32,
    pub(super) wavelength: u32,
    pub(super) bytes: Bytes,
    pub(super) closed: Time,
    pub(super) departs: Time,
    /// When its first bit reaches the node that schedules it next.
    pub(super) arrives: Time,
    pub(super) hold: Span,
}

impl Light {
    /// A burst in a slot whose header goes on over a fibre, if it may leave its slot.
    #[inline]
    pub(super) fn of(burst: &Burst, plan: &Plan, context: &Context) -> Option<Self> {
        let light = burst.kind == BurstKind::Background && may_be_light(plan, context);
        let plain = || {
            let carries = burst.packets > 0 || burst.copy || burst.converts;
            !(carries || burst.deflected || burst.delayed > 0 || burst.spared)
        };
        if !light || !plain() {
            return None;
        }
        Some(Self {
            id: burst.id,
            label: burst.label,
            ordinal: burst.ordinal,
            ends: (burst.from, burst.to),
            class: burst.class,
            hop: burst.hop as u32,
            hops: burst.planned as u32,
            wavelength: burst.wavelength,
            bytes: burst.bytes,
            closed: burst.closed,
            departs: burst.departs,
            arrives: burst.arrives,
            hold: burst.hold,
        })
    }

    /// The route of all that are light: the only one that bursts of its pair take.
    pub(super) fn route<'a>(&self, plan: &'a Plan) -> &'a [u32] {
        &plan.routes.of(self.ends.0, self.ends.1)[0]
    }

    /// The mark of its reservations, which nobody cuts: its slot is of no use.
    pub(super) fn owner(&self) -> u128 {
        self.id.owner(self.label, 0)
    }

    /// It is all over: what is counted as it lands at `at`.
    pub(super) fn ended(&self, sort: Sort, at: Time) -> Ended {
        let load = self.bytes.get();
        Ended {
            sort,
            from: self.ends.0,
            to: self.ends.1,
            hops: self.hops as usize,
            bytes: self.bytes,
            packets: 0,
            packets_left: 0,
            load,
            load_left: load,
            took: at.since(self.closed),
        }
    }

    /// Puts it into a slot.
    pub(super) fn takes_slot(&self, scope: &mut Scope) -> u32 {
        let Common { plan, bursts, .. } = &mut *scope.common;
        let mut closed = Closed {
            id: self.id,
            ends: self.ends,
            class: self.class,
            route_index: 0,
            opened: self.closed,
            at: self.closed,
            bytes: self.bytes,
            load: self.bytes.get(),
            kind: BurstKind::Background,
            drawn: true,
            payload: &mut Payload::default(),
            spaced: &[],
            killed: &[],
            prescribed: None,
        };
        let slot = bursts.open(&mut closed, self.label);
        let burst = bursts.get_mut(slot);
        burst.route.extend_from_slice(self.route(plan));
        (burst.planned, burst.hop) = (burst.route.len(), self.hop as usize);
        (burst.departs, burst.arrives, burst.ordinal) = (self.departs, self.arrives, self.ordinal);
        (burst.hold, burst.left, burst.wavelength) = (self.hold, self.hold, self.wavelength);
        slot
    }
}

/// Whether bursts that carry nothing may be light now.
#[inline]
pub(super) fn may_be_light(plan: &Plan, context: &Context) -> bool {
    plan.rules.light && context.surgery.is_empty() && !context.recorder.traces_bursts()
}
