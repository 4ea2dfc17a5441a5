//! Scenarios at the edges of what may be written: they run, or are refused with a fix.

use burstlab_sim::scenario::Scenario;
use burstlab_sim::{Monitor, Needs, Output, Simulation, Trace};
use serde_json::{Value, json};

use crate::runs;
use crate::runs::{refused, resolved};

fn run(scenario: &Value, trace: Trace) -> Output {
    let output = runs::run(scenario, 1, trace);
    let counters = &output.summary.counters;
    let other = counters.other_delivered + counters.other_lost + counters.other_in_flight;
    assert_eq!(counters.other_sent, other, "{scenario}");
    let batches = counters.batches_delivered + counters.batches_lost + counters.batches_in_flight;
    assert_eq!(counters.batches_sent, batches, "{scenario}");
    output
}

/// More waits for a link of 100 b/s than it carries in 213 days: 100 packets of 80 s each have
/// arrived after 8,000 s, as if fewer waited.
#[test]
fn a_queue_that_is_never_done_holds_the_right_packets() {
    let scenario = |rate: &str| {
        json!({
            "access": {"rate": "100 b/s", "delay": "1 s", "shared": true},
            "flows": [{"start": "9000 s"}],
            "traffic": [{"rate": rate, "packet_size": "1 KB", "phase": "0 s"}],
            "run": {"duration": "8002 s"},
        })
    };
    let few = run(&scenario("110 b/s"), Trace::default()).summary.counters;
    // Of 1.25 million packets the last would be sent after three years.
    let many = json!({
        "access": {"rate": "100 b/s", "delay": "1 s", "shared": true},
        "flows": [{"start": "9000 s"}],
        "traffic": [{"rate": "1250 Kb/s", "packet_size": "1 KB", "phase": "0 s"}],
        "run": {"duration": "8002 s"},
    });
    let many = run(&many, Trace::default()).summary.counters;
    assert!(few.other_in_flight < 20 && many.other_in_flight > 1_000_000);
    assert_eq!((few.other_delivered, many.other_delivered), (100, 100));
}

/// Batches into a network of 100 b/s: bursts whose turn comes after 213 days wait for ever.
#[test]
fn bursts_whose_turn_never_comes_wait() {
    let scenario = json!({
        "network": {"topology": "line", "nodes": 2, "link_rate": "100 b/s"},
        "signalling": {"rate": "1 Mb/s", "guard": "10 ms"},
        "batches": [{"size": {"mean": "1 MB"}, "packet_size": "64 KB", "batches_per_second": 5.0}],
        "run": {"duration": "100 s"},
    });
    let counters = run(&scenario, Trace::default()).summary.counters;
    assert!(counters.background_bursts_in_flight > 7000, "{counters:?}");
    assert_eq!(counters.background_bursts_lost, 0);
}

/// A burst of 10^6 GB is not full within the run: nothing is drawn beyond its end.
#[test]
fn batches_are_drawn_to_the_end_of_the_run() {
    let scenario = json!({
        "network": {"topology": "line", "nodes": 2},
        "edge": {"assembly": "size", "size": "1000000 GB"},
        "batches": [{"size": {"mean": "1500 B"}}],
        "run": {"duration": "1 s"},
    });
    let counters = run(&scenario, Trace::default()).summary.counters;
    assert!((19_000..21_000).contains(&counters.batches_sent), "{counters:?}");
    assert_eq!(counters.background_bursts_sent, 0);
}

/// A batch that makes more bursts than one event closes: the numbers are those of many batches at
/// one time, and the same with a trace and without.
#[test]
fn a_batch_of_many_bursts_is_several_events() {
    let scenario = json!({
        "network": {"topology": "line", "nodes": 2, "link_rate": "100 Gb/s"},
        "batches": [{
            "from": "1", "size": {"mean": "1 MB"}, "packet_size": "100 B",
            "batches_per_second": 20.0,
        }],
        "run": {"duration": "0.5 s"},
    });
    let traced = Trace { bursts: true, ..Trace::default() };
    let (plain, traced) = (run(&scenario, Trace::default()), run(&scenario, traced));
    assert_eq!(plain.summary.fingerprint, traced.summary.fingerprint);
    let counters = plain.summary.counters;
    assert!(counters.batches_sent > 2);
    assert_eq!(counters.batch_packets_sent, 10_000 * counters.batches_sent);
    assert_eq!(counters.background_bursts_sent, counters.batch_packets_sent);
}

/// Where a burst may be cut, each packet of a batch is kept by itself: an event that deals with
/// many is a slice of the run, so that somebody who stops it is heard.
#[test]
fn batches_whose_packets_are_kept_are_stopped_between_two_of_them() {
    let scenario = json!({
        "network": {"topology": "line", "nodes": 2, "link_rate": "10 Gb/s"},
        "edge": {"assembly": "hybrid", "timer": "1 ms", "size": "100 KB"},
        "core": {"contention": ["segmentation"]},
        "batches": [{
            "from": "1", "size": {"mean": "20 KB"}, "packet_size": "1 B",
            "batches_per_second": 500.0,
        }],
        "run": {"duration": "0.2 s"},
    });
    let mut simulation = runs::simulation(&scenario, 1, Trace::default());
    let mut slices = 1;
    while simulation.advance(u32::MAX) {
        slices += 1;
    }
    let (summary, _) = simulation.finish();
    let counters = summary.counters;
    let (bursts, packets) = (counters.background_bursts_sent, counters.batch_packets_sent);
    assert!(bursts > 10 && packets >= 20_000 * bursts, "{bursts} bursts, {packets} packets");
    // As it is closed, and as it lands.
    assert!(2 * slices > 3 * bursts, "{slices} slices for {bursts} bursts of 20,000 packets");
}

/// A batch in more bursts with packets of their own than one event closes: all of it is sent.
#[test]
fn a_batch_of_many_packets_that_are_kept_is_several_events() {
    let scenario = json!({
        "network": {"topology": "line", "nodes": 2, "link_rate": "10 Gb/s"},
        "edge": {"assembly": "hybrid", "timer": "1 ms", "size": "100 KB"},
        "core": {"contention": ["segmentation"]},
        "batches": [{
            "from": "1", "size": {"mean": "2500 KB"}, "packet_size": "1 B",
            "batches_per_second": 10.0,
        }],
        "run": {"duration": "0.3 s"},
    });
    let counters = run(&scenario, Trace::default()).summary.counters;
    assert!(counters.batches_sent > 0);
    assert_eq!(counters.batch_packets_sent, 2_500_000 * counters.batches_sent);
    assert_eq!(counters.background_bursts_sent, 25 * counters.batches_sent);
}

/// Data without end in segments of one byte: there are as many of them as there are numbers.
#[test]
fn segments_of_one_byte_go_on_without_end() {
    for law in ["aimd", "cubic", "bbr", "bbr3"] {
        for grouping in [false, true] {
            let scenario = json!({
                "access": {"rate": "1 Mb/s"},
                "edge": {"assembly": "timer", "timer": "5 ms"},
                "tcp": {
                    "variant": "linux", "window_law": law, "segment_size": "41 B",
                    "grouping": grouping,
                },
                "run": {"duration": "0.5 s"},
            });
            let counters = run(&scenario, Trace::default()).summary.counters;
            assert!(counters.packets_delivered > 10, "{law}, {grouping}: {counters:?}");
        }
    }
}

/// Two control channels of a rate at which a header takes no whole number of picoseconds.
#[test]
fn headers_on_several_channels_come_in_order() {
    let scenario = json!({
        "network": {"topology": "line", "nodes": 4, "link_delay": "5 ms"},
        "signalling": {"offset": "200 ms", "channels": 2, "rate": "56 kb/s"},
        "batches": [{"size": {"mean": "64 KB"}, "batches_per_second": 1.0}],
        "run": {"duration": "10 s"},
    });
    let counters = run(&scenario, Trace::default()).summary.counters;
    assert!(counters.background_bursts_delivered > 10);
}

#[test]
fn what_cannot_be_is_refused_with_a_fix() {
    let cases = [
        (
            json!({"flows": [], "demand": [{"size": {"mean": "1 KB"}}],
                "network": {"topology": "line"},
                "loss": {"data": {"process": "script", "flow": 1}}}),
            "loss.data.flow",
        ),
        (
            json!({"flows": [{"script": [{"at": "0 s", "bytes": "18446744073709551614 B"},
                                      {"at": "1 ns", "bytes": "40 B"}]}]}),
            "flows[0].script[0].bytes",
        ),
        (json!({"flows": [{"bytes": "1000001 GB"}]}), "flows[0].bytes"),
        (json!({"edge": {"notice_size": "18446744073 GB"}}), "edge.notice_size"),
        (
            json!({"access": {"shared": true}, "traffic": [{"count": 2_147_483_647}]}),
            "traffic[0].count",
        ),
        (json!({"network": {"core_nodes": 1000, "link_delay": "100000 s"}}), "network.link_delay"),
        (
            json!({"network": {"topology": "line"}, "core": {"contention": ["delay-line"],
                "delay_lines": {"delays": ["1 us"], "channels": 4_000_000_000u32}}}),
            "core.delay_lines.channels",
        ),
        (json!({"run": {"replications": 4_000_000_000u32}}), "run.replications"),
        (json!({"run": {"max_memory": "1 KB"}}), "run.max_memory"),
    ];
    for (scenario, path) in cases {
        let error = refused(&scenario);
        assert_eq!(error.path(), path, "{error}");
    }
}

/// The field that makes a run large is named; one that fits is not refused.
#[test]
fn what_needs_more_memory_than_there_is_names_its_field() {
    let mesh = json!({"topology": "nsfnet", "link_rate": "100 Gb/s"});
    let cases = [
        (
            json!({"access": {"shared": true, "queue": 9}, "traffic": [{"count": 9_999_999}]}),
            "traffic[0].count",
        ),
        (
            json!({"access": {"shared": true, "queue": 9}, "traffic": [{
            "pattern": "sessions", "sessions_per_second": 1e9, "on_mean": "100000 s"}]}),
            "traffic[0].sessions_per_second",
        ),
        (
            json!({"access": {"shared": true, "rate": "100 b/s"}, "traffic": [{"rate": "1 Tb/s"}]}),
            "traffic[0].rate",
        ),
        (
            json!({"network": mesh, "batches": [{
                "batches_per_second": 0.01, "packet_size": "1 B", "size": {"mean": "1 GB"},
            }]}),
            "batches[0].packet_size",
        ),
        (
            json!({"network": mesh, "demand": [{"size": {"mean": "1 KB"}}],
                "run": {"duration": "100000 s", "sample": "10 ms"}}),
            "run.sample",
        ),
        (json!({"run": {"replications": 1_000_000}}), "run.replications"),
    ];
    for (scenario, path) in cases {
        let needs = Needs::of(&resolved(&scenario));
        let error = needs.refuse(1_000_000_000).expect_err(path);
        assert_eq!(error.path(), path, "{error}");
        assert!(error.problem().contains("run.max_memory = 1 GB"), "{error}");
        assert_eq!(needs.refuse(u64::MAX), Ok(()));
    }
    let usual = Needs::of(&resolved(&json!({})));
    assert_eq!(usual.refuse(10_000_000), Ok(()));
    assert!(usual.announcements().is_empty(), "{:?}", usual.announcements());
}

#[test]
fn a_long_run_is_announced_by_what_makes_it_long() {
    let scenario = json!({
        "access": {"shared": true, "queue": 9}, "traffic": [{"rate": "100 Tb/s"}],
    });
    let said = Needs::of(&resolved(&scenario)).announcements();
    assert!(said.len() == 1 && said[0].contains("traffic[0].rate = 100 Tb/s"), "{said:?}");
}

/// Once nobody waits for it, neither routes are found nor sources made.
#[test]
fn a_cancelled_world_is_not_made() {
    let scenario = json!({"network": {"topology": "star", "nodes": 300, "routes_per_pair": 1}});
    let cancelled = Monitor::default();
    cancelled.cancel();
    let read = Scenario::from_json(&scenario.to_string()).expect("it is read");
    assert!(read.resolve_while(cancelled.interrupt()).is_err());
    assert!(read.resolve().is_ok());
    let many = json!({"flows": [{"count": 1_000_000}]});
    let read = Scenario::from_json(&many.to_string()).expect("it is read");
    let resolved = read.resolve_while(cancelled.interrupt()).expect("it has no routes to find");
    let simulation = Simulation::new(&resolved, 1, 0, Trace::default());
    assert!(simulation.run(&cancelled).summary.flows.len() < 1000);
}
