//! Where and when a burst wants to go out, as the node of its header sees it.

use burstlab_units::{Span, Time};

use crate::scenario::Protocol;
use crate::world::core::burst::Burst;
use crate::world::core::plan::Plan;
use crate::world::core::rules::Rules;

/// Where and when a burst wants to go out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish {
    pub(super) link: u32,
    /// When its first bit is there to leave.
    pub(super) departs: Time,
    pub(super) hold: Span,
    /// The lowest and the highest wavelength that it may take; `None`: there is none.
    pub(super) range: Option<(u32, u32)>,
    /// The wavelength that it can keep without a converter, or [`ON_NONE`].
    pub(super) came: u32,
}

/// Stands for no wavelength: a burst is sent there, or surgery lets it change.
pub(super) const ON_NONE: u32 = u32::MAX;

/// The wavelength on which a burst comes to the node that schedules it, or [`ON_NONE`].
#[inline]
pub(super) fn came_on(burst: &Burst, plan: &Plan) -> u32 {
    let sent = burst.hop == 0 && !plan.rules.random_wavelength;
    if sent || burst.converts { ON_NONE } else { burst.wavelength }
}

/// When a reservation begins for a burst that leaves at `departs`.
pub(super) fn opens(now: Time, departs: Time, rules: &Rules) -> Time {
    match rules.protocol {
        Protocol::Jit => now,
        Protocol::Jet | Protocol::TwoWay => before(departs, rules.switching),
    }
}

/// So long before.
pub(super) fn before(at: Time, span: Span) -> Time {
    Time::from_ps(at.as_ps() - span.as_ps())
}
