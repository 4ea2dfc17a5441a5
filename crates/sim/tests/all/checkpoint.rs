//! A checkpoint is the run it was written by, or it is refused.

use burstlab_sim::{Monitor, Simulation, Summary, Trace};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::runs::stored::{goes_on, whole_and_in_pieces};
use crate::runs::{lost_to, resolved};

fn path() -> Value {
    json!({
        "edge": {"assembly": "timer", "timer": "5 ms"},
        "loss": {"data": {"process": "bernoulli", "probability": 0.02}},
        "run": {"duration": "9 s"},
    })
}

fn mesh() -> Value {
    json!({
        "network": {"topology": "ring", "nodes": 4, "wavelengths": 1, "link_rate": "50 Mb/s"},
        "access": {"rate": "5 Mb/s"},
        "edge": {"assembly": "timer", "timer": "2 ms"},
        "signalling": {"guard": "300 us"},
        "flows": [{"from": "1", "to": "3", "count": 3}],
        "demand": [{"flows_per_second": 8, "per": "node",
            "size": {"distribution": "exponential", "mean": "30 KB"}}],
        "run": {"duration": "1 s"},
    })
}

fn begun(scenario: &Value) -> Vec<u8> {
    let mut simulation = Simulation::new(&resolved(scenario), 1, 0, Trace::default());
    assert!(simulation.advance(500));
    simulation.checkpoint().expect("it is not traced")
}

/// Bytes before head and state; the last eight of them are the sum.
const PREFIX: usize = 32;

fn sum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn refused(scenario: &Value, seed: u64, replication: u64, bytes: &[u8]) -> String {
    let resolved = resolved(scenario);
    let error = Simulation::resume(&resolved, seed, replication, bytes).expect_err("refused");
    assert_eq!(Simulation::check(&resolved, seed, replication, bytes), Err(error.clone()));
    assert!(!error.fix.is_empty());
    error.problem
}

#[test]
fn what_differs_is_named() {
    let bytes = begun(&path());
    let with = |table: &str, field: &str, value: Value| {
        let mut scenario = path();
        scenario[table][field] = value;
        scenario
    };
    let later = refused(&with("edge", "timer", json!("6 ms")), 1, 0, &bytes);
    assert!(later.contains(r#"edge.timer is "5 ms" there, and "6 ms""#), "{later}");
    let fewer = refused(&with("run", "bursts", json!(9)), 1, 0, &bytes);
    assert!(fewer.contains("run.bursts is not given there, and 9"), "{fewer}");
    let flows = json!([{"bytes": "1 MB"}]);
    let mut finite = path();
    finite["flows"] = flows;
    let finite = refused(&finite, 1, 0, &bytes);
    assert!(finite.contains("flows[0].bytes"), "{finite}");
    assert!(refused(&path(), 2, 0, &bytes).contains("of seed 1, and this run is of seed 2"));
    assert!(refused(&path(), 1, 4, &bytes).contains("replication 0"));
    // How often and from which seed is said elsewhere.
    let often = resolved(&with("run", "replications", json!(7)));
    Simulation::resume(&often, 1, 0, &bytes).expect("it is this run");
}

#[test]
fn other_formats_and_versions_are_named() {
    let mut bytes = begun(&path());
    bytes[8] += 1;
    assert!(refused(&path(), 1, 0, &bytes).contains("format"));
    assert!(refused(&path(), 1, 0, b"").contains("no checkpoint"));
    assert!(refused(&path(), 1, 0, &[0; 99]).contains("no checkpoint"));
}

/// A ring of four nodes whose links fail.
fn failing(failures: &Value) -> Value {
    json!({
        "network": {"topology": "ring", "nodes": 4, "link_rate": "50 Mb/s", "wavelengths": 2},
        "signalling": {"guard": "300 us"},
        "bursts": [{"erlangs": 0.5, "per": "node", "length": {"mean": "20 KB"}}],
        "flows": [{"from": "1", "to": "2"}, {"from": "3", "to": "1"}],
        "failures": failures,
        "run": {"duration": "2 s"},
    })
}

#[test]
fn nodes_that_failures_cut_off_keep_their_detour() {
    // The first failure sends bursts from 1 to 2 on the longer route, and the second cuts 1 off. A
    // burst on the detour is lost at the second link of it, and a burst on the first route is lost
    // at its first link.
    let scenario = failing(&json!([
        {"link": ["1", "2"], "down": "100 ms", "reroute": "0 s"},
        {"link": ["1", "4"], "down": "200 ms", "up": "1 s", "reroute": "0 s"},
    ]));
    for cut in [300, 1700, 9000] {
        let (whole, pieces) = whole_and_in_pieces(&scenario, 1, cut);
        assert_eq!(pieces.summary, whole.summary, "{cut}");
        let network = whole.summary.network.as_ref().expect("a mesh");
        assert!(lost_to(&network.all, "failure") > 0, "{:?}", network.all.causes);
    }
}

#[test]
fn a_traced_run_has_none() {
    let trace = Trace { cwnd: true, ..Trace::default() };
    let simulation = Simulation::new(&resolved(&path()), 1, 0, trace);
    assert!(simulation.checkpoint().expect_err("traced").problem.contains("traced"));
}

/// Runs until `stop` checkpoints were handed over; returns the last.
fn kept(mut simulation: Simulation, stop: usize) -> (Summary, Vec<u8>, usize) {
    let (monitor, mut last, mut count) = (Monitor::default(), Vec::new(), 0);
    monitor.keep();
    let ended = simulation.advance_kept(&monitor, |simulation| {
        (last, count) = (simulation.checkpoint()?, count + 1);
        if count >= stop {
            monitor.cancel();
        }
        monitor.keep();
        Ok::<_, burstlab_sim::CheckpointError>(())
    });
    ended.expect("it is kept");
    (simulation.finish().0, last, count)
}

#[test]
fn a_run_that_is_cancelled_goes_on_from_its_last_checkpoint_and_ends_once() {
    let mut scenario = mesh();
    scenario["run"]["duration"] = json!("20 s");
    let resolved = resolved(&scenario);
    let new = || Simulation::new(&resolved, 1, 0, Trace::default());
    let whole = new().run(&Monitor::default());
    let (half, bytes, count) = kept(new(), 1);
    assert!(half.interrupted && count == 1, "{count}: it was stopped as one was taken");
    let resume = |bytes: &[u8]| Simulation::resume(&resolved, 1, 0, bytes).expect("it is this run");
    let (summary, bytes, _) = kept(resume(&bytes), usize::MAX);
    assert_eq!(summary, whole.summary);
    let (again, _, count) = kept(resume(&bytes), usize::MAX);
    assert_eq!((again, count), (whole.summary, 0), "it was at its end");
}

/// Features that the random scenarios of other tests leave out: messages to senders, and background
/// traffic on shared links of a path.
#[test]
fn detectors_and_other_traffic_go_on() {
    for (detector, law) in [
        ("ble", "aimd"),
        ("back", "aimd"),
        ("bnak", "aimd"),
        ("oracle", "aimd"),
        ("em", "aimd"),
        ("law", "saimd"),
        ("law", "bcl"),
    ] {
        let scenario = json!({
            "access": {"rate": "8 Mb/s", "shared": true, "queue": 10},
            "edge": {"assembly": "timer", "timer": "20 ms", "notices": "in-band"},
            "tcp": {"profile": "ns2", "variant": "reno", "window": 10, "detector": detector,
                "window_law": law},
            "flows": [{"count": 3}, {"script": [{"at": "1 s", "bytes": "90 KB"},
                {"at": "9 s", "bytes": "90 KB"}]}],
            "traffic": [
                {"side": "sender", "pattern": "pareto", "rate": "2 Mb/s", "count": 2},
                {"side": "receiver", "pattern": "poisson", "rate": "2 Mb/s"},
            ],
            "loss": {"data": {"process": "gilbert-elliott", "good_to_bad": 0.02,
                "bad_to_good": 0.3, "loss_bad": 1.0}},
            "run": {"duration": "20 s"},
        });
        let (whole, pieces) = whole_and_in_pieces(&scenario, 1, 700);
        assert_eq!(pieces.summary, whole.summary, "{detector} {law}");
        let counters = whole.summary.counters;
        let lost = [counters.bursts_lost, counters.access_lost, counters.other_lost];
        assert!(lost.iter().all(|&lost| lost > 0), "{lost:?}");
        let quiet = detector == "ble" || law == "saimd";
        assert_eq!(counters.notices_sent > 0, !quiet, "{detector} {law}");
    }
}

/// Failures of links of a ring: some overlap, some cut nodes off, and routes follow some.
fn failures() -> impl Strategy<Value = Value> {
    let one = (
        0u32..4,
        0u32..1500,
        1u32..800,
        any::<bool>(),
        prop_oneof![Just(None), Just(Some(0)), (1u32..300).prop_map(Some),],
    );
    let one = one.prop_map(|(from, down, lasts, comes_back, reroute)| {
        let mut failure = json!({
            "link": [(from + 1).to_string(), ((from + 1) % 4 + 1).to_string()],
            "down": format!("{down} ms"),
        });
        if comes_back {
            failure["up"] = json!(format!("{} ms", down + lasts));
        }
        if let Some(reroute) = reroute {
            failure["reroute"] = json!(format!("{reroute} ms"));
        }
        failure
    });
    prop::collection::vec(one, 1..6).prop_map(Value::Array)
}

proptest! {
    #[test]
    fn a_run_with_failures_is_the_run_in_one_piece(
        failures in failures(),
        contention in prop_oneof![
            Just(json!([])),
            Just(json!(["deflection"])),
            Just(json!(["deflection", "retransmission"])),
            Just(json!(["segmentation"])),
        ],
        seed in 0u64..1000,
        cut in 1u32..9000,
    ) {
        let mut scenario = failing(&failures);
        scenario["core"] = json!({"contention": contention});
        goes_on(&scenario, seed, cut)?;
    }

    #[test]
    fn bytes_that_are_cut_or_changed_are_refused(
        in_mesh in any::<bool>(),
        place in any::<prop::sample::Index>(),
        bit in 0u8..8,
        cut in any::<bool>(),
    ) {
        let scenario = if in_mesh { mesh() } else { path() };
        let mut bytes = begun(&scenario);
        let place = place.index(bytes.len());
        if cut { bytes.truncate(place) } else { bytes[place] ^= 1 << bit }
        refused(&scenario, 1, 0, &bytes);
    }

    #[test]
    fn reading_what_nobody_wrote_does_not_panic(
        in_mesh in any::<bool>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..9),
    ) {
        let scenario = if in_mesh { mesh() } else { path() };
        let mut bytes = begun(&scenario);
        for (place, byte) in changes {
            let payload = &mut bytes[PREFIX..];
            payload[place.index(payload.len())] = byte;
        }
        let sum = sum(&bytes[PREFIX..]).to_le_bytes();
        bytes[PREFIX - 8..PREFIX].copy_from_slice(&sum);
        let _ = Simulation::resume(&resolved(&scenario), 1, 0, &bytes);
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        refused(&path(), 1, 0, &bytes);
    }
}
