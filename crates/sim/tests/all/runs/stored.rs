//! Runs that go on from their bytes.

use burstlab_sim::{Monitor, Output, Simulation, Trace};
use proptest::prelude::*;
use serde_json::Value;

use super::{are_same, resolved};

/// The run in one piece, and the run that is stored after at most `cut` events, and then more and
/// more, read and resumed.
pub(crate) fn whole_and_in_pieces(scenario: &Value, seed: u64, cut: u32) -> (Output, Output) {
    let resolved = resolved(scenario);
    let new = || Simulation::new(&resolved, seed, 3, Trace::default());
    let mut pieces = new();
    // Long runs are not stored a thousand times.
    let mut length = cut;
    let mut goes_on = true;
    while goes_on {
        goes_on = pieces.advance(length);
        let bytes = pieces.checkpoint().expect("it is not traced");
        pieces = Simulation::resume(&resolved, seed, 3, &bytes).expect("it is this run");
        assert_eq!(bytes, pieces.checkpoint().expect("it is not traced"), "read as written");
        length = length.saturating_mul(3);
    }
    (new().run(&Monitor::default()), pieces.run(&Monitor::default()))
}

/// Whether a run that is stored and read, again and again, is the run in one piece.
pub(crate) fn goes_on(scenario: &Value, seed: u64, cut: u32) -> Result<(), TestCaseError> {
    let (whole, pieces) = whole_and_in_pieces(scenario, seed, cut);
    are_same(&pieces, &whole)
}
