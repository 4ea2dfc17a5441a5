//! Who makes the hosts of flows with a third-party stack: the crate `burstlab-stacks`, in the
//! extension that `make stacks` builds from these sources, and nobody in the usual one.

use std::sync::Arc;

use burstlab_sim::scenario::Stacks;

/// The stacks that this extension was built with.
pub(crate) fn known() -> Option<Arc<dyn Stacks>> {
    #[cfg(feature = "stacks")]
    return Some(burstlab_stacks::AllStacks::shared());
    #[cfg(not(feature = "stacks"))]
    None
}
