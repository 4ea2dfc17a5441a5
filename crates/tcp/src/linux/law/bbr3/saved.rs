//! State that is saved before a repair.

use serde::{Deserialize, Serialize};

use super::bounds::Bounds;
use super::mode::Bbr3Mode;

/// The state before a loss.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Saved {
    /// The state that the loss ended, Startup or ProbeBW_UP.
    pub(super) mode: Option<Bbr3Mode>,
    /// Whether it is of the loss that is being dealt with.
    pub(super) is_fresh: bool,
    pub(super) bounds: Bounds,
}
