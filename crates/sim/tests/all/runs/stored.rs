//! Runs that go on from their bytes.

use burstlab_sim::{Monitor, Output, Simulation, Trace};
use proptest::prelude::*;
use serde_json::Value;

use super::{are_same, resolved};

/// All fields of a run, also those that are not stored. Nobody reads the kind of a flow whose slot
/// is empty, and a checkpoint does not tell it.
fn fields(run: &Simulation) -> String {
    const KIND: &str = "kind: FlowKind {";
    let text = format!("{run:?}");
    let mut parts = text.split(KIND);
    let mut shown = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let mut depth = 1;
        let ends = part.find(|letter| {
            depth += i32::from(letter == '{') - i32::from(letter == '}');
            depth == 0
        });
        let (kind, rest) = part.split_at(ends.expect("it ends"));
        let vacant = rest.find("vacant: ").map(|at| rest[at..].starts_with("vacant: true"));
        shown.push_str(KIND);
        shown.push_str(if vacant == Some(true) { "" } else { kind });
        shown.push_str(rest);
    }
    shown
}

/// Where two texts differ first, with what is around it in both.
fn difference<'a>(one: &'a str, other: &'a str) -> Option<(&'a str, &'a str)> {
    let same = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    let around = |text: &'a str| {
        let from = text.get(same.saturating_sub(300)..).unwrap_or(text);
        from.get(..500).unwrap_or(from)
    };
    (one != other).then(|| (around(one), around(other)))
}

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
        let stored = fields(&pieces);
        pieces = Simulation::resume(&resolved, seed, 3, &bytes).expect("it is this run");
        assert_eq!(difference(&stored, &fields(&pieces)), None);
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
