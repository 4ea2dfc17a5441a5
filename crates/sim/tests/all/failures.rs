//! Bursts hit by a failure, at both sides of each instant: a burst that is on a fibre while it is
//! down, and no other.

use serde_json::{Value, json};

use crate::runs::columns::{integers, table};
use crate::runs::{BURSTS, lost_to, merged, run, summary};

/// Bursts over two fibres in which none meets another.
fn line() -> Value {
    json!({
        "network": {"topology": "line", "nodes": 3, "wavelengths": 16, "link_rate": "50 Mb/s",
            "link_delay": "1 ms"},
        "signalling": {"guard": "500 us", "processing": "10 us"},
        "bursts": [{"from": "1", "to": "3", "erlangs": 0.3, "length": {"mean": "20 KB"}}],
        "run": {"duration": "300 ms"},
    })
}

/// A run in which the second fibre is down from and until an instant in ps: bursts that are lost to
/// that.
fn struck(down: u64, up: u64) -> u64 {
    let failure = json!({"link": ["2", "3"], "one_way": true,
        "down": format!("{down} ps"), "up": format!("{up} ps")});
    let found = summary(&merged(line(), &json!({"failures": [failure]})), 1);
    lost_to(&found.network.expect("a mesh").all, "failure")
}

/// When bursts of the line begin to leave node 2, and when their last bits are at node 3, in ps.
fn crossings() -> Vec<(u64, u64)> {
    let output = run(&line(), 1, BURSTS);
    let hops = table(&output, "bursts_hops");
    let times = integers(hops, "departed_ps").into_iter().zip(integers(hops, "end_ps"));
    let rows = integers(hops, "hop").into_iter().zip(times);
    let second = rows.filter(|(hop, _)| *hop == 1);
    second.map(|(_, (departs, end))| (departs, end + 1_000_000_000)).collect()
}

#[test]
fn a_burst_is_struck_from_its_first_bit_on_a_fibre_to_its_last_one_there() {
    let all = crossings();
    assert!(all.len() > 20, "{}", all.len());
    for &(departs, over) in all.iter().take(12) {
        for (at, mine) in [(departs - 1, false), (departs, true), (over - 1, true), (over, false)] {
            let on = |&&(departs, over): &&(u64, u64)| departs <= at && at < over;
            assert_eq!(on(&&(departs, over)), mine);
            let expected = all.iter().filter(on).count() as u64;
            assert_eq!(struck(at, at + 1), expected, "{at} of {departs} to {over}");
        }
    }
}

#[test]
fn a_burst_that_leaves_after_the_repair_is_not_struck() {
    let all = crossings();
    let offset = 100_000_000;
    for &(departs, _) in all.iter().take(12) {
        // The header has reserved, and the fibre is up again as the burst comes.
        for (up, mine) in [(departs, 0), (departs + 1, 1)] {
            let down = departs - offset;
            let others = all.iter().filter(|&&(from, over)| from < departs && over > down);
            let others = others.count() as u64;
            assert_eq!(struck(down, up), others + mine, "{departs}");
        }
    }
}

#[test]
fn no_burst_is_deflected_on_to_a_dark_fibre() {
    // Bursts from 4 to 2 meet at their ingress, and some go by 3 in place of 1.
    let ring = |failures: Value| {
        json!({
            "network": {"topology": "ring", "nodes": 4, "wavelengths": 1,
                "link_rate": "50 Mb/s"},
            "signalling": {"guard": "500 us"},
            "edge": {"port": "shared"},
            "core": {"contention": ["deflection"]},
            "bursts": [{"from": "4", "to": "2", "erlangs": 0.5, "length": {"mean": "20 KB"}}],
            "failures": failures,
            "run": {"duration": "2 s"},
        })
    };
    let deflected = |failures: Value| {
        let network = summary(&ring(failures), 1).network.expect("a mesh");
        let other = network.links.iter().find(|link| (&*link.from, &*link.to) == ("4", "3"));
        let carried = other.expect("it is there").all.carried;
        (carried, lost_to(&network.all, "contention"))
    };
    let (carried, lost) = deflected(json!([]));
    assert!(carried > 20, "{carried} bursts take the other half of the ring, {lost} are lost");
    // Routes know nothing of the failure.
    let dark = json!([{"link": ["4", "3"], "down": "0 s"}]);
    let (none, more) = deflected(dark);
    assert_eq!((none, more), (0, lost + carried));
}
