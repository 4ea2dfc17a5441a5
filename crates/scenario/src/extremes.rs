//! The least and the largest of many entries that are alike: where these are in range, all are.

use burstlab_units::{Bytes, Span};

use super::Flow;

/// A connection of a trace, as a scenario writes it.
type Row = (Span, String, String, Bytes);

/// The flows with the least and the largest of each number, from each stretch of consecutive flows
/// that differ in names, places, starts and sizes alone.
pub(super) fn of_flows(flows: &[Flow]) -> Vec<Flow> {
    let mut kept = Vec::new();
    for stretch in flows.chunk_by(alike) {
        kept.extend(ends(stretch, |flow| flow.start));
        kept.extend(ends(stretch, |flow| flow.bytes));
    }
    kept
}

/// The rows of a trace with the least and the largest of each number.
pub(super) fn of_rows(rows: &[Row]) -> Vec<Row> {
    [ends(rows, |row| row.0), ends(rows, |row| row.3)].concat()
}

/// The entries with the least and the largest number.
fn ends<T: Clone, N: Ord>(all: &[T], number: impl Fn(&T) -> N) -> Vec<T> {
    let least = all.iter().min_by_key(|one| number(one));
    least.into_iter().chain(all.iter().max_by_key(|one| number(one))).cloned().collect()
}

/// Whether two flows differ in names, places, starts and sizes alone.
fn alike(a: &Flow, b: &Flow) -> bool {
    let Flow {
        name: _,
        label: _,
        count,
        from: _,
        to: _,
        class,
        start: _,
        stagger,
        spread,
        bytes,
        script,
        closes,
        reverse,
        stack,
        congestion_control,
        streams,
        ecn,
        tcp,
    } = a;
    let numbers = (count, class, stagger, spread, streams);
    numbers == (&b.count, &b.class, &b.stagger, &b.spread, &b.streams)
        && (bytes.is_some(), closes, ecn) == (b.bytes.is_some(), &b.closes, &b.ecn)
        && (script, reverse) == (&b.script, &b.reverse)
        && (stack, congestion_control) == (&b.stack, &b.congestion_control)
        && *tcp == b.tcp
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::Scenario;

    /// A wrong number is found wherever it is among flows that are alike; the first one is named.
    #[test]
    fn a_wrong_number_is_named_wherever_it_is() {
        for wrong in [0, 3, 7] {
            let bytes = |n| if n < wrong { "9 B" } else { "0 B" };
            let flow = |n| json!({"start": format!("{n} s"), "bytes": bytes(n)});
            let flows: Vec<_> = (0..8).map(flow).collect();
            let written = json!({"flows": flows}).to_string();
            let error = Scenario::from_json(&written).expect("it reads").resolve();
            let path = error.expect_err("no bytes").path().to_string();
            assert_eq!(path, format!("flows[{wrong}].bytes"));
        }
    }
}
