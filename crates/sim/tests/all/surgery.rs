//! An operation on a burst is what a scenario could have prescribed, or nothing.

use burstlab_sim::{Branches, Monitor, NoBranch, Prices, Simulation, Summary, Trace};
use serde_json::{Value, json};

use crate::runs;
use crate::runs::columns::{integers, table};
use crate::runs::{BURSTS, merged, numbers, refused, resolved, run, summary};

/// By how much a host of the [mesh] is ahead of the clock at most, in ps: the shortest path from an
/// edge that closes a burst to a host behind another edge. It has one fibre and one access link of
/// 10 ms each, and an ACK of 40 B takes 16 us to enter a link of 20 Mb/s.
const AHEAD_PS: u64 = 20_016_000_000;

fn path(assembly: &Value, forwarding: &str, listed: &[u64], node: u64) -> Value {
    json!({
        "network": {"core_nodes": 3},
        "core": {"forwarding": forwarding},
        "edge": assembly,
        "tcp": {"variant": "sack", "window": 40},
        "flows": [{"count": 2}, {"bytes": "400 KB", "start": "1 s"}],
        "loss": {"data": {"process": "script", "bursts": listed, "node": node}},
        "run": {"duration": "6 s", "warmup": "1 s"},
    })
}

fn operated(scenario: &Value, entries: &Value) -> Value {
    merged(scenario.clone(), &json!({"surgery": entries}))
}

/// The numbers of a run, whatever was done to make it so.
fn bare(scenario: &Value) -> Summary {
    let mut found = numbers(summary(scenario, 3));
    found.surgery.clear();
    found.warnings.clear();
    found
}

fn assemblies() -> [Value; 3] {
    [
        json!({"assembly": "none"}),
        json!({"assembly": "timer", "timer": "5 ms"}),
        json!({"assembly": "hybrid", "timer": "5 ms", "size": "6 KB"}),
    ]
}

#[test]
fn on_a_path_a_spared_burst_is_one_that_the_list_does_not_name() {
    for assembly in &assemblies() {
        for forwarding in ["cut-through", "store-and-forward"] {
            for node in [0, 1, 3] {
                let lossy = path(assembly, forwarding, &[9, 40, 41], node);
                let spared = operated(&lossy, &json!([{"burst": 40}]));
                let without = path(assembly, forwarding, &[9, 41], node);
                assert_eq!(bare(&spared), bare(&without), "{assembly} {forwarding} {node}");
                let done = &summary(&spared, 3).surgery[0];
                assert_eq!((done.effect.as_str(), done.bursts), ("done", 1), "{done:?}");
                assert_eq!(done.cause.as_deref(), Some("scripted"));
                assert!(!done.connections.is_empty() && done.at_s.is_some(), "{done:?}");
            }
        }
    }
}

#[test]
fn on_a_path_a_killed_burst_is_one_that_the_list_names() {
    for assembly in &assemblies() {
        let lossy = path(assembly, "cut-through", &[9, 41], 2);
        let killed = operated(&lossy, &json!([{"burst": 40, "operation": "kill"}]));
        let with = path(assembly, "cut-through", &[9, 40, 41], 2);
        assert_eq!(bare(&killed), bare(&with), "{assembly}");
        assert_ne!(bare(&killed), bare(&lossy));
        let both = operated(
            &with,
            &json!([{"burst": 40, "operation": "spare"}, {"burst": 40, "operation": "kill"}]),
        );
        let first = summary(&with, 3);
        let again = summary(&both, 3);
        assert_eq!(again.counters, first.counters, "the events too");
        assert_eq!(bare(&both), bare(&with));
        assert_eq!(again.surgery[1].effect, "nothing", "it is lost by itself");
    }
}

#[test]
fn what_is_not_lost_cannot_be_spared_and_what_is_not_there_is_said() {
    let lossy = path(&assemblies()[1], "cut-through", &[9], 1);
    let entries = json!([{"burst": 10}, {"burst": 1_000_000}, {"burst": 3, "direction": "ack"}]);
    let found = summary(&operated(&lossy, &entries), 3);
    let effects: Vec<&str> = found.surgery.iter().map(|one| one.effect.as_str()).collect();
    assert_eq!(effects, ["nothing", "absent", "nothing"]);
    let first = summary(&lossy, 3);
    assert_eq!((found.counters, found.fingerprint), (first.counters, first.fingerprint));
}

#[test]
fn a_delayed_burst_lands_later_and_nothing_before_it_changes() {
    for forwarding in ["cut-through", "store-and-forward"] {
        let plain = path(&assemblies()[1], forwarding, &[], 1);
        let entries = json!([{"burst": 40, "operation": "delay", "delay": "70 ms"}]);
        let late = operated(&plain, &entries);
        let landings = |scenario: &Value| {
            let output = run(scenario, 3, BURSTS);
            let bursts = table(&output, "bursts");
            let rows = integers(bursts, "burst").into_iter().zip(integers(bursts, "direction"));
            let found = rows.zip(integers(bursts, "arrived_ps"));
            let data = found.filter(|((_, kind), _)| *kind == 0);
            data.map(|((number, _), at)| (number, at)).collect::<std::collections::BTreeMap<_, _>>()
        };
        let (first, other) = (landings(&plain), landings(&late));
        assert!((1..40).all(|number| first[&number] == other[&number]), "{forwarding}");
        assert_eq!(other[&40] - first[&40], 70_000_000_000, "{forwarding}");
        let found = summary(&late, 3);
        assert_eq!(found.surgery[0].effect, "done");
        assert_ne!(found.fingerprint, summary(&plain, 3).fingerprint);
        let counters = &found.counters;
        let ended = counters.bursts_delivered + counters.bursts_lost;
        assert_eq!(counters.bursts_sent, ended + counters.bursts_in_flight);
    }
}

/// A mesh in which bursts meet.
fn mesh(contention: &[&str]) -> Value {
    json!({
        "network": {"topology": "ring", "nodes": 5, "wavelengths": 2, "link_rate": "50 Mb/s"},
        "core": {"contention": contention},
        "access": {"rate": "20 Mb/s"},
        "edge": {"assembly": "hybrid", "timer": "2 ms", "size": "9 KB", "port": "shared"},
        "signalling": {"guard": "300 us"},
        "flows": [{"from": "1", "to": "3", "count": 4}, {"from": "2", "to": "4", "count": 4}],
        "demand": [{"flows_per_second": 15, "per": "node",
            "size": {"distribution": "exponential", "mean": "30 KB"}}],
        "run": {"duration": "1 s"},
    })
}

/// The bursts that are lost whole: of what is cut alone, nothing is killed again.
fn lost(scenario: &Value) -> Vec<u64> {
    let prices = Prices::of(runs::simulation(scenario, 3, Trace::default()), &Monitor::default());
    prices.lost().iter().filter(|one| one.cause != "cut").map(|one| one.burst).collect()
}

#[test]
fn in_a_mesh_nobody_is_in_the_way_of_a_spared_burst_or_has_it_in_theirs() {
    for contention in [&[][..], &["deflection"], &["segmentation"], &["retransmission"]] {
        let plain = mesh(contention);
        let lost = lost(&plain);
        assert!(lost.len() >= 5, "{contention:?}: {}", lost.len());
        for &burst in lost.iter().step_by(lost.len() / 5) {
            let spared = operated(&plain, &json!([{"burst": burst}]));
            let output = run(&spared, 3, BURSTS);
            let done = &output.summary.surgery[0];
            assert_eq!((done.effect.as_str(), done.bursts > 0), ("done", true), "{done:?}");
            let bursts = table(&output, "bursts");
            let row = integers(bursts, "burst").iter().position(|&one| one == burst);
            let fate = integers(bursts, "fate")[row.expect("it is in the trace")];
            assert!(fate != 2, "{contention:?}: {burst} is lost all the same");
            // Events before its loss are the same. So is all that concerns other bursts and those
            // in flight then: their lines of the trace are equal up to that instant.
            let again = operated(
                &spared,
                &json!([
                    {"burst": burst}, {"burst": burst, "operation": "kill"}
                ]),
            );
            assert_eq!(bare(&again), bare(&plain), "{contention:?}: {burst}");
        }
    }
}

#[test]
fn a_killed_burst_gives_its_last_fibre_back() {
    let plain = mesh(&[]);
    let output = run(&plain, 3, BURSTS);
    let bursts = table(&output, "bursts");
    let fates = integers(bursts, "fate").into_iter().zip(integers(bursts, "hops"));
    let rows = integers(bursts, "burst").into_iter().zip(fates);
    let landed: Vec<u64> =
        rows.filter(|(_, (fate, hops))| *fate == 1 && *hops > 1).map(|(n, _)| n).collect();
    for &burst in landed.iter().step_by(landed.len() / 7) {
        let killed = operated(&plain, &json!([{"burst": burst, "operation": "kill"}]));
        let output = run(&killed, 3, BURSTS);
        let done = &output.summary.surgery[0];
        assert_eq!(done.effect, "done", "{done:?}");
        let (bursts, hops) = (table(&output, "bursts"), table(&output, "bursts_hops"));
        let row = integers(bursts, "burst").iter().position(|&one| one == burst).expect("a row");
        assert_eq!(integers(bursts, "fate")[row], 2);
        let of = integers(hops, "burst").into_iter().zip(integers(hops, "wavelength"));
        let held = of.filter(|&(number, held)| number == burst && held != u64::MAX).count() as u64;
        assert_eq!(held + 1, integers(bursts, "hops")[row], "all fibres but the last");
        let network = output.summary.network.expect("a mesh");
        assert_eq!(runs::lost_to(&network.all, "operated"), 1);
    }
}

#[test]
fn two_runs_part_where_they_have_to_and_prices_are_those_of_whole_runs() {
    let plain = mesh(&[]);
    let burst = lost(&plain)[5];
    let spared = operated(&plain, &json!([{"burst": burst}]));
    let first = runs::simulation(&plain, 3, Trace::default());
    let whole = first.clone().run(&Monitor::default()).summary;
    let branches = Branches::part(first.clone(), &resolved(&spared), &Monitor::default())
        .expect("it is there");
    assert!(branches.parted_ps > 0);
    let ended = |run: &Simulation| run.clone().run(&Monitor::default()).summary;
    assert_eq!(ended(&branches.first), whole);
    let other = ended(&branches.altered);
    assert_eq!(other, summary(&spared, 3));
    // From the checkpoint there, and not from one behind it.
    let bytes = branches.first.checkpoint().expect("it is not traced");
    let resumed = Simulation::resume(&resolved(&spared), 3, 0, &bytes).expect("it is before");
    assert_eq!(ended(&resumed), other);
    let mut late = first.clone();
    late.advance(u32::MAX);
    let late = late.checkpoint().expect("it is not traced");
    let error = Simulation::resume(&resolved(&spared), 3, 0, &late).expect_err("it is behind");
    assert!(error.problem.contains("closed before"), "{error}");
    let none = operated(&plain, &json!([{"burst": 99_999_999}]));
    let absent = Branches::part(first.clone(), &resolved(&none), &Monitor::default());
    assert!(matches!(absent, Err(NoBranch::Absent([bursts, 0])) if bursts > 100));
    // The price is the difference.
    let mut prices = Prices::of(first, &Monitor::default());
    prices.pick(vec![5], None);
    let one = prices.next(&Monitor::default()).expect("it was picked");
    let price = one.price(prices.reached(), &Monitor::default());
    let mut run = branches.altered.clone();
    run.advance_to_end(&Monitor::default());
    let bytes =
        |all: &[burstlab_sim::Progress]| all.iter().map(|one| one.bytes).sum::<u64>() as i64;
    assert_eq!(price.bytes, bytes(&run.reached()) - bytes(prices.reached()));
    assert!(prices.next(&Monitor::default()).is_none());
}

#[test]
fn a_trace_from_where_they_part_is_the_end_of_a_whole_one() {
    let plain = mesh(&[]);
    let burst = lost(&plain)[9];
    let spared = operated(&plain, &json!([{"burst": burst}]));
    let first = runs::simulation(&plain, 3, Trace::default());
    let branches =
        Branches::part(first, &resolved(&spared), &Monitor::default()).expect("it is there");
    let parted = branches.parted_ps;
    let mut traced = branches.altered;
    traced.trace_from_here(runs::ALL);
    let found = traced.run(&Monitor::default());
    let whole = run(&spared, 3, runs::ALL);
    assert_eq!(numbers(found.summary.clone()), numbers(whole.summary.clone()));
    for name in ["bursts", "cwnd"] {
        let (part, all) = (table(&found, name), table(&whole, name));
        let column = if name == "bursts" { "closed_ps" } else { "t_ps" };
        let (part, all) = (integers(part, column), integers(all, column));
        assert!(part.len() > 50 && part.len() < all.len(), "{name}");
        // A host may be ahead of the clock where they part: its work by then has no row. It is
        // never ahead of an effect of another burst, which takes the shortest path at least.
        let from = parted + AHEAD_PS;
        let late =
            |times: &[u64]| times.iter().copied().filter(|&at| at > from).collect::<Vec<_>>();
        assert_eq!(late(&part), late(&all), "{name}");
    }
}

/// A run that ends with a burst goes back to a world that was kept: that has the same operations,
/// and the same end, stored and taken up again too.
#[test]
fn a_run_that_ends_with_a_burst_is_stored_and_parts() {
    let plain = json!({
        "edge": {"assembly": "timer", "timer": "5 ms"},
        "loss": {"data": {"process": "bernoulli", "probability": 0.01}},
        "tcp": {"variant": "sack", "window": 40},
        "run": {"duration": "1000 s", "bursts": 900},
    });
    let killed = operated(&plain, &json!([{"operation": "kill", "burst": 860}]));
    let mut stored = runs::simulation(&plain, 3, Trace::default());
    while stored.clone().finish().0.counters.bursts_sent < 810 {
        assert!(stored.advance(20));
    }
    let bytes = stored.checkpoint().expect("it has no trace");
    let resume = |scenario: &Value| {
        Simulation::resume(&resolved(scenario), 3, 0, &bytes).expect("it is this run")
    };
    let whole = summary(&killed, 3);
    assert_eq!((whole.surgery[0].effect.as_str(), whole.counters.bursts_sent), ("done", 900));
    assert_ne!(whole.fingerprint, summary(&plain, 3).fingerprint);
    let resumed = resume(&killed).run(&Monitor::default()).summary;
    assert_eq!(numbers(resumed), numbers(whole.clone()));
    for end_ps in [u64::MAX, (whole.simulated_s * 0.99 * 1e12) as u64] {
        let mut first = resume(&plain);
        first.end_at(end_ps);
        let parted = Branches::part(first, &resolved(&killed), &Monitor::default());
        let mut other = parted.expect("it is there").altered;
        other.trace_from_here(runs::ALL);
        let found = other.run(&Monitor::default()).summary;
        let mut wanted = runs::simulation(&killed, 3, Trace::default());
        wanted.end_at(end_ps);
        assert_eq!(numbers(found), numbers(wanted.run(&Monitor::default()).summary), "{end_ps}");
    }
}

#[test]
fn a_burst_that_is_killed_on_its_last_fibre_is_in_nobodys_way_there() {
    // Node 2 is the only one with another path to the last fibre.
    let plain = json!({
        "network": {"topology": "line", "nodes": 3, "link_rate": "50 Mb/s", "wavelengths": 1},
        "signalling": {"guard": "300 us"},
        "bursts": [{"from": "1", "to": "3", "erlangs": 0.5, "length": {"mean": "20 KB"}}],
        "run": {"duration": "2 s"},
    });
    let last = |scenario: &Value| {
        let network = summary(scenario, 3).network.expect("a mesh");
        let link = network.links.iter().find(|link| (&*link.from, &*link.to) == ("2", "3"));
        link.expect("it is there").utilisation
    };
    assert!(last(&plain) > 0.2);
    assert_eq!(last(&operated(&plain, &json!([{"operation": "kill"}]))), 0.0);
}

/// A run that ends with a burst, in which hosts are ahead of the clock.
fn ends_with_a_burst() -> (Value, Simulation) {
    let plain = json!({
        "edge": {"assembly": "timer", "timer": "5 ms"},
        "loss": {"data": {"process": "bernoulli", "probability": 0.01}},
        "tcp": {"variant": "sack", "window": 40},
        "run": {"duration": "1000 s", "bursts": 900},
    });
    let simulation = runs::simulation(&plain, 3, Trace::default());
    (plain, simulation)
}

#[test]
fn where_a_run_that_ends_with_a_burst_parts_no_host_is_ahead() {
    let (plain, first) = ends_with_a_burst();
    let killed = operated(&plain, &json!([{"operation": "kill", "burst": 860}]));
    let parted = Branches::part(first, &resolved(&killed), &Monitor::default());
    let Branches { first, altered: other, parted_ps } = parted.expect("it is there");
    for (mut branch, scenario) in [(first, &plain), (other, &killed)] {
        branch.trace_from_here(runs::ALL);
        let found = branch.run(&Monitor::default());
        let rows = integers(table(&found, "cwnd"), "t_ps");
        let whole = integers(table(&run(scenario, 3, runs::ALL), "cwnd"), "t_ps");
        let behind = whole.partition_point(|&at| at <= parted_ps);
        assert!(whole[behind - 1] <= rows[0] && rows[0] > parted_ps - 1_000_000_000, "{parted_ps}");
        assert_eq!(rows[..], whole[whole.len() - rows.len()..]);
        assert!(rows.len() >= whole.len() - behind && behind > 100);
    }
}

#[test]
fn the_price_of_a_burst_up_to_a_horizon_is_that_of_two_runs_up_to_there() {
    let (plain, first) = ends_with_a_burst();
    let mut prices = Prices::of(first.clone(), &Monitor::default());
    assert!(prices.lost().len() > 5);
    let horizon = 2_000_000_000_000;
    prices.pick((1..6).collect(), Some(horizon));
    let bytes = |mut run: Simulation, until: u64| {
        run.end_at(until);
        run.advance_to_end(&Monitor::default());
        run.reached().iter().map(|one| one.bytes as i64).sum::<i64>()
    };
    let mut dear = 0;
    for index in 1..6 {
        let lost = prices.lost()[index].clone();
        let spared = prices.next(&Monitor::default()).expect("it was picked");
        let price = spared.price(&[], &Monitor::default());
        let until = lost.decided_ps + horizon;
        let entry = json!([{"burst": lost.burst}]);
        let other = runs::simulation(&operated(&plain, &entry), 3, Trace::default());
        assert_eq!(price.bytes, bytes(other, until) - bytes(first.clone(), until), "{lost:?}");
        dear += u32::from(price.bytes > 0);
    }
    assert!(dear > 2, "{dear}");
}

#[test]
fn mistakes_are_answered_with_their_mend() {
    let path = path(&assemblies()[1], "cut-through", &[], 1);
    for (scenario, entry, at) in [
        (&path, json!({"operation": "convert"}), "surgery[0].operation"),
        (&path, json!({"operation": "delay"}), "surgery[0].delay"),
        (&path, json!({"operation": "kill", "delay": "1 ms"}), "surgery[0].delay"),
        (&path, json!({"burst": 0}), "surgery[0].burst"),
        (&mesh(&[]), json!({"direction": "ack"}), "surgery[0].direction"),
    ] {
        assert_eq!(refused(&operated(scenario, &json!([entry]))).path(), at);
    }
}
