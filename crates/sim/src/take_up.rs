//! A run that was stored goes on with the surgery of its scenario.

use crate::checkpoint::CheckpointError;
use crate::world::World;

/// Gives a world that was read the operations of a fresh one of its scenario.
pub(crate) fn take_up(world: &mut World, fresh: &World) -> Result<(), CheckpointError> {
    let (asked, had) = (fresh.surgery(), world.surgery());
    if !asked.differs(had) {
        return Ok(());
    }
    if !had.is_empty() {
        return Err(CheckpointError::new(
            "it is of a run with other surgery",
            "go on with the surgery it was written with, or from a checkpoint without any",
        ));
    }
    if !world.is_before(asked) {
        return Err(behind());
    }
    world.operate(asked.clone());
    Ok(())
}

pub(crate) fn behind() -> CheckpointError {
    CheckpointError::new(
        "surgery names a burst that was closed before it was written",
        "go on from an earlier checkpoint, or start at the beginning",
    )
}
