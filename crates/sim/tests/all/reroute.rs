//! UDP that leaves a congested route of a slotted network, and comes back.

use burstlab_sim::{OpsSummary, Trace};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::runs::columns::{integers, labels, table};
use crate::runs::stored::goes_on;
use crate::runs::{ALL, merge, numbers, refused, run, summary};

/// Two switches between the edge nodes, each on a route to the same egress: the first with
/// the flows of another ingress on it. A slot of 576 B takes 0.46 ms.
fn diamond(reroute: &Value) -> Value {
    json!({
        "network": {"topology": "custom", "link_rate": "10 Mb/s", "routes_per_pair": 2,
            "node": [{"name": "in", "role": "edge"}, {"name": "udp", "role": "edge"},
                {"name": "near", "role": "core"}, {"name": "far", "role": "core"},
                {"name": "out", "role": "edge"}, {"name": "alone", "role": "edge"}],
            "link": [{"from": "in", "to": "near", "delay": "5 ms"},
                {"from": "udp", "to": "near", "delay": "5 ms"},
                {"from": "udp", "to": "far", "delay": "9 ms"},
                {"from": "near", "to": "out", "delay": "5 ms"},
                {"from": "far", "to": "out", "delay": "9 ms"},
                {"from": "alone", "to": "far", "delay": "9 ms"},
                {"from": "near", "to": "far", "delay": "9 ms"}]},
        "access": {"rate": "100 Mb/s", "delay": "5 ms"},
        "ops": {"smoothing": {"enabled": false},
            "congestion": {"threshold": 0.5, "rtt_max": "50 ms"},
            "dlcc": {"rate_cut": false, "acks": false, "reroute": reroute}},
        "tcp": {"variant": "reno", "window": 1000, "segment_size": "576 B"},
        "flows": [{"count": 4, "stagger": "100 ms", "from": "in", "to": "out"}],
        "traffic": [{"pattern": "cbr", "rate": "3 Mb/s", "packet_size": "576 B",
            "from": "udp", "to": "out"}],
        "run": {"duration": "12 s"},
    })
}

fn ops(scenario: &Value) -> OpsSummary {
    summary(scenario, 1).ops.expect("a slotted network")
}

fn sent(ops: &OpsSummary, route: u32) -> u64 {
    let mine = ops.edges.iter().filter(|edge| edge.from == "udp" && edge.route == route);
    mine.map(|edge| edge.slots).sum()
}

#[test]
fn udp_leaves_a_congested_route_and_tcp_does_not() {
    let mut alone = diamond(&Value::Null);
    merge(&mut alone, &json!({"network": {"routes_per_pair": 1}}));
    let none = ops(&alone);
    assert_eq!((none.rerouted, sent(&none, 2)), (0, 0));
    let mut both = diamond(&json!({}));
    both["flows"].as_array_mut().expect("a list").push(json!({"from": "udp", "to": "out"}));
    let found = ops(&both);
    assert!(found.rerouted > 500, "{}", found.rerouted);
    // One datagram a slot, but for those that wait at the end.
    assert!(sent(&found, 2).abs_diff(found.rerouted) <= 2);
    assert!(sent(&found, 1) > 100, "{}", sent(&found, 1));
    let other = found.edges.iter().filter(|edge| edge.route > 1 && edge.from != "udp");
    assert_eq!(other.count(), 0, "only UDP is rerouted");
    let lost = |ops: &OpsSummary| ops.slots_dropped_congestion + ops.slots_dropped_contention;
    assert!(lost(&found) < lost(&none), "{} {}", lost(&found), lost(&none));
}

/// Where no edge is ever notified, rerouting changes nothing, no draw of a negotiation either.
#[test]
fn without_a_notification_nothing_changes() {
    let quiet = |reroute: &Value, routes: u32| {
        let mut scenario = diamond(reroute);
        merge(
            &mut scenario,
            &json!({"network": {"routes_per_pair": routes}, "run": {"duration": "4 s"},
                "tcp": {"window": 8}, "ops": {"smoothing": {"units": 3, "min_rate": 0.05}}}),
        );
        scenario["ops"]["smoothing"]["enabled"] = json!(true);
        let found = run(&scenario, 1, ALL).summary;
        assert_eq!(found.ops.as_ref().expect("slots").notifications, 0);
        numbers(found)
    };
    assert_eq!(quiet(&json!({}), 2), quiet(&Value::Null, 1));
}

#[test]
fn the_buffer_of_another_route_negotiates() {
    let mut scenario = diamond(&json!({}));
    merge(&mut scenario, &json!({"ops": {"smoothing": {"units": 3, "min_rate": 0.05}}}));
    scenario["ops"]["smoothing"]["enabled"] = json!(true);
    scenario["ops"]["unsmoothed"] = json!(["in"]);
    let output = run(&scenario, 1, ALL);
    let rates = table(&output, "packets_rates");
    let rows = labels(rates, "event").into_iter().zip(integers(rates, "route"));
    let granted = rows.filter(|(event, route)| *event == "granted" && *route == 2);
    assert!(granted.count() > 2);
    let ops = output.summary.ops.expect("slots");
    let asked = ops.edges.iter().filter(|edge| edge.route == 2).map(|edge| edge.requests);
    assert!(asked.sum::<u64>() > 2);
}

/// The times at which UDP enters its second route, by the notifications in the trace.
#[test]
fn a_trace_says_which_packets_are_rerouted() {
    for (after, hold) in [(0u64, 300u64), (40, 300)] {
        let reroute = json!({"after": format!("{after} ms"), "hold": format!("{hold} ms")});
        let output = run(&diamond(&reroute), 1, ALL);
        let rates = table(&output, "packets_rates");
        let (at, from) = (integers(rates, "t_ps"), integers(rates, "from"));
        let notified = labels(rates, "event");
        let mut spans: Vec<[u64; 2]> = Vec::new();
        for (place, _) in notified.iter().enumerate().filter(|(_, event)| **event == "notified") {
            // The second node sends UDP, and all that it loses is lost on its first route.
            if from[place] != 2 {
                continue;
            }
            let (now, until) = (at[place], at[place] + hold * 1_000_000_000);
            match spans.last_mut().filter(|span| now < span[1]) {
                Some(span) => span[1] = until,
                None => spans.push([now + after * 1_000_000_000, until]),
            }
        }
        let packets = table(&output, "packets");
        let (kinds, came) = (labels(packets, "kind"), integers(packets, "ingress_ps"));
        let udp = kinds.iter().zip(came).filter(|(kind, _)| **kind == "udp");
        let inside = |at: u64| spans.iter().any(|span| span[0] <= at && at < span[1]);
        let rerouted = udp.filter(|&(_, at)| inside(at)).count() as u64;
        assert!(spans.len() > 3, "{spans:?}");
        assert_eq!(output.summary.ops.expect("slots").rerouted, rerouted);
    }
}

#[test]
fn a_mistake_is_answered_with_its_mend() {
    for (change, field, fix) in [
        (json!({"traffic": []}), "ops.dlcc.reroute", "add [[traffic]]"),
        (json!({"network": {"routes_per_pair": 1}}), "ops.dlcc.reroute", "routes_per_pair = 2"),
        (
            json!({"ops": {"dlcc": {"reroute": {"after": "2 s"}}}}),
            "ops.dlcc.reroute.after",
            "shorter",
        ),
        (json!({"ops": {"dlcc": {"reroute": {"hold": "0 s"}}}}), "ops.dlcc.reroute.hold", "remove"),
        (json!({"ops": {"dlcc": null}}), "network.routes_per_pair", "remove"),
        (json!({"network": {"route_choice": "random"}}), "network.route_choice", "remove"),
    ] {
        let mut scenario = diamond(&json!({}));
        merge(&mut scenario, &change);
        let error = refused(&scenario).to_string();
        assert!(error.contains(field) && error.contains(fix), "{error}");
    }
}

fn any_reroute() -> impl Strategy<Value = Value> {
    let dlcc = (any::<(bool, bool)>(), 0u64..200, 1u64..900, any::<bool>());
    (dlcc, any::<(bool, bool)>(), 1u64..9, 0u32..20).prop_map(
        |(((cut, acks), after, hold, piggybacked), (smooth, free), rate, buffer)| {
            let mut scenario = diamond(&json!({"after": format!("{after} ms"),
                "hold": format!("{} ms", after + hold)}));
            merge(
                &mut scenario,
                &json!({"ops": {"buffer": buffer,
                "acks": if free { "free" } else { "slotted" },
                "dlcc": {"rate_cut": cut, "acks": acks,
                    "notification": if piggybacked { "piggybacked" } else { "dedicated" }}},
                "run": {"duration": "2 s"}}),
            );
            if smooth {
                scenario["ops"]["smoothing"] = json!({"units": 5, "min_rate": 0.05});
            }
            scenario["traffic"] = json!([
                {"pattern": "poisson", "rate": format!("{rate} Mb/s"), "packet_size": "500 B",
                    "from": "udp", "to": "out"},
                {"pattern": "cbr", "rate": "1 Mb/s", "packet_size": "900 B", "from": "alone",
                    "to": "out"}]);
            scenario
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn nothing_appears_or_vanishes(scenario in any_reroute(), seed in 0u64..1000) {
        let plain = run(&scenario, seed, Trace::default()).summary;
        let c = &plain.counters;
        prop_assert_eq!(c.packets_sent, c.packets_delivered + c.packets_lost + c.packets_in_flight);
        prop_assert_eq!(c.acks_sent, c.acks_delivered + c.acks_lost + c.acks_in_flight);
        prop_assert_eq!(c.other_sent, c.other_delivered + c.other_lost + c.other_in_flight);
        prop_assert_eq!(numbers(plain), numbers(run(&scenario, seed, ALL).summary));
    }

    #[test]
    fn a_run_can_be_stored(scenario in any_reroute(), seed in 0u64..1000, cut in 1u32..3000) {
        goes_on(&scenario, seed, cut)?;
    }
}
