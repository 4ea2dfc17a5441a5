//! One flow goes by the clock, for any reason there is, among others that are ahead of it: all get
//! the results of a run in which nobody is ahead, and the others cost what they would without it.

use burstlab_sim::scenario::Resolved;
use burstlab_sim::{Monitor, Output, Simulation, Trace};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::ahead::{any_mesh, any_path};
use crate::foreign;
use crate::hosts;
use crate::runs::stored::goes_on;
use crate::runs::{ALL, merge, merged, numbers, run};

/// Why a flow goes by the clock.
#[derive(Clone, Copy, Debug)]
enum Reason {
    Reverse,
    Reply,
    Jitter,
    DataDepartures,
    AckDepartures,
    BurstNaks,
    BurstAcks,
    InBand,
    Stack,
    Law,
    Writes,
}

use Reason::{
    AckDepartures, BurstAcks, BurstNaks, DataDepartures, InBand, Jitter, Law, Reply, Reverse,
    Stack, Writes,
};

const REASONS: [Reason; 11] = [
    Reverse,
    Reply,
    Jitter,
    DataDepartures,
    AckDepartures,
    BurstNaks,
    BurstAcks,
    InBand,
    Stack,
    Law,
    Writes,
];

/// Those of runs that may be stored.
const STORED: [Reason; 9] =
    [Reverse, Reply, Jitter, DataDepartures, AckDepartures, BurstNaks, BurstAcks, InBand, Writes];

impl Reason {
    /// A scenario with one flow more, between the nodes of its first one, that goes by the clock.
    fn added(self, mut scenario: Value) -> Value {
        let mut flow = scenario["flows"][0].clone();
        flow["count"] = json!(1);
        let classic = scenario["tcp"]["profile"] != json!("linux");
        let own = |fields: Value| if classic { json!({"tcp": fields}) } else { json!({}) };
        let variant = if scenario["tcp"]["variant"] == json!("tahoe") { "reno" } else { "sack" };
        let detector =
            |fields: Value| own(merged(fields, &json!({"variant": variant, "window_law": "aimd"})));
        let bnak = json!({"detector": "bnak", "bnak_delay": "path"});
        let change = match self {
            Reverse => json!({"reverse": {}}),
            Reply => json!({"bytes": "70 KB", "reverse": {"bytes": "40 KB", "reply": true}}),
            Jitter => own(json!({"send_jitter": "300 us"})),
            DataDepartures | AckDepartures => json!({}),
            BurstNaks | InBand => detector(bnak),
            BurstAcks => detector(json!({"detector": "back", "back_mode": "both"})),
            Stack => json!({"stack": "simple", "bytes": "300 KB"}),
            Law => own(json!({"variant": "sack", "window_law": "python",
                "window_law_class": {"class": "Slowing", "source": "of this file"}})),
            Writes => json!({"script": [{"at": "0 s", "bytes": "20 KB"},
                {"at": "700 ms", "bytes": "50 KB"}]}),
        };
        merge(&mut flow, &change);
        if matches!(self, Writes) {
            flow.as_object_mut().expect("it is a table").remove("bytes");
        }
        let flows = scenario["flows"].as_array_mut().expect("it is a list");
        let number: u64 = flows.iter().map(|flow| flow["count"].as_u64().unwrap_or(1)).sum();
        flows.push(flow);
        let named = json!({"process": "script", "flow": number, "departures": [3, 4, 30, 200]});
        match self {
            DataDepartures => scenario["loss"]["data"] = named,
            AckDepartures => scenario["loss"]["ack"] = named,
            InBand => scenario["edge"]["notices"] = json!("in-band"),
            _ => {}
        }
        scenario
    }

    /// Whether it is one for a scenario: reports are of bursts, some of several packets, and
    /// scripts of losses are none of slots.
    fn fits(self, scenario: &Value) -> bool {
        let slots = scenario["ops"].is_object();
        match self {
            BurstNaks | BurstAcks | InBand => {
                !slots && scenario["edge"]["assembly"] != json!("none")
            }
            DataDepartures | AckDepartures => !slots,
            _ => true,
        }
    }

    fn resolved(self, scenario: &Value) -> Resolved {
        match self {
            Law => foreign::resolved(scenario),
            _ => crate::runs::resolved(scenario)
                .with_stacks(Some(hosts::simple()))
                .unwrap_or_else(|error| panic!("{error}: {scenario}")),
        }
    }

    fn run(self, scenario: &Value, seed: u64, trace: Trace) -> Output {
        let run = Simulation::new(&self.resolved(scenario), seed, 0, trace);
        run.run(&Monitor::default())
    }
}

/// Slots, in which cells land ahead of the clock, on a network without loss behind it.
fn any_slots() -> impl Strategy<Value = Value> {
    let ops = (any::<bool>(), any::<bool>(), 4u32..20, any::<bool>());
    ops.prop_map(|(free, several, buffer, smooth)| {
        let mut ops = json!({"acks": if free { "free" } else { "slotted" }, "buffer": buffer,
            "packing": if several { "several" } else { "one" }, "slot_size": "640 B",
            "slot_header": "8 B", "smoothing": {"enabled": smooth}});
        if smooth {
            ops["smoothing"] = json!({"units": 5, "min_rate": 0.05});
        }
        json!({
            "network": {"topology": "ring", "nodes": 4, "link_rate": "5 Mb/s",
                "link_delay": "1 ms", "wavelengths": 1},
            "ops": ops, "access": {"rate": "20 Mb/s", "delay": "0.3 ms"},
            "tcp": {"variant": "sack", "profile": "rfc", "window": 40, "segment_size": "600 B"},
            "flows": [{"from": "1", "to": "3", "count": 2}, {"from": "3", "to": "1"},
                {"from": "2", "to": "3", "bytes": "40 KB"}],
            "run": {"duration": "2500 ms", "warmup": "200 ms"},
        })
    })
}

/// Any scenario: a path, a mesh or slots, and perhaps a drain.
pub(crate) fn any_scenario() -> impl Strategy<Value = Value> {
    let drain = prop_oneof![3 => Just(None), 1 => Just(Some("400 ms"))];
    let scenario = prop_oneof![3 => any_path(), 3 => any_mesh(), 1 => any_slots()];
    (scenario, drain).prop_map(|(mut scenario, drain)| {
        let ends_with_burst = scenario["run"]["bursts"].is_u64();
        if let Some(drain) = drain.filter(|_| !ends_with_burst) {
            scenario["run"]["drain"] = json!(drain);
        }
        scenario
    })
}

fn any_reason() -> impl Strategy<Value = Reason> {
    prop::sample::select(REASONS.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn flows_that_are_ahead_of_the_clock_and_one_that_is_not_do_what_they_do_one_by_one(
        scenario in any_scenario(),
        reason in any_reason(),
        seed in 0u64..1000,
    ) {
        prop_assume!(reason.fits(&scenario));
        let scenario = reason.added(scenario);
        let ahead = reason.run(&scenario, seed, Trace::default());
        let traced = reason.run(&scenario, seed, ALL);
        prop_assert_eq!(numbers(ahead.summary), numbers(traced.summary));
    }

    #[test]
    fn a_run_with_one_flow_by_the_clock_goes_on_from_its_bytes(
        scenario in any_scenario(),
        reason in prop::sample::select(STORED.to_vec()),
        seed in 0u64..1000,
        cut in 1u32..3000,
    ) {
        prop_assume!(reason.fits(&scenario));
        goes_on(&reason.added(scenario), seed, cut)?;
    }
}

/// Events of a run of forty flows, and of one flow more.
fn events(scenario: &Value, reason: Option<Reason>) -> (u64, u64) {
    let output = match reason {
        None => run(scenario, 1, Trace::default()),
        Some(reason) => reason.run(&reason.added(scenario.clone()), 1, Trace::default()),
    };
    (output.summary.counters.events, output.summary.counters.packets_delivered)
}

/// The events of one flow alone that goes by the clock are its own: a twentieth of all packets.
#[test]
fn one_flow_by_the_clock_takes_no_other_off_the_fast_path() {
    let mesh = json!({
        "network": {"topology": "ring", "nodes": 4, "link_delay": "2 ms", "wavelengths": 16},
        "access": {"rate": "50 Mb/s", "delay": "1 ms"},
        "edge": {"assembly": "timer", "timer": "3 ms",
            "ack": {"assembly": "timer", "timer": "3 ms"}},
        "tcp": {"variant": "sack", "profile": "ns2", "window": 60},
        "flows": [{"from": "1", "to": "3", "count": 20}, {"from": "3", "to": "2", "count": 20}],
        "run": {"duration": "3 s"},
    });
    let mut path = mesh.clone();
    path["network"] = json!({"link_delay": "2 ms"});
    path["flows"] = json!([{"count": 40}]);
    for (scenario, name) in [(mesh, "mesh"), (path, "path")] {
        let (few, packets) = events(&scenario, None);
        for reason in REASONS {
            let (more, all) = events(&scenario, Some(reason));
            // Of each packet of that flow and its ACK up to ten events.
            let own = 10 * all / 40 * if matches!(reason, Reverse) { 2 } else { 1 };
            assert!(
                more < few + few / 10 + own,
                "{name}, {reason:?}: {more} events of {all} packets, {few} of {packets}"
            );
        }
    }
}
