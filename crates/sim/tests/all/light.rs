//! Background bursts without a slot equal those in slots: a trace of bursts gives each a slot.

use burstlab_sim::Trace;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::runs::stored::whole_and_in_pieces;
use crate::runs::{BURSTS, numbers, resolve, run};

fn choice(of: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    prop::sample::select(of)
}

/// Steps for a burst that finds no wavelength.
fn any_contention() -> impl Strategy<Value = Vec<&'static str>> {
    let all = ["conversion", "delay-line", "deflection", "segmentation", "retransmission"];
    prop::sample::subsequence(all.to_vec(), 0..=2).prop_shuffle()
}

/// Sources of bursts, with flows between two of the nodes.
fn any_traffic() -> impl Strategy<Value = Value> {
    let source = (0.02..0.5f64, 1u32..4, choice(&["pair", "node", "network"]), 0u32..3);
    let source = source.prop_map(|(erlangs, packets, per, class)| {
        json!({"erlangs": erlangs, "packets": packets, "per": per, "class": class,
            "length": {"distribution": "exponential", "mean": "12 KB"}})
    });
    let flows = (0usize..3).prop_map(|count| json!({"from": "1", "to": "3", "count": count + 1}));
    (prop::collection::vec(source, 1..3), flows)
        .prop_map(|(bursts, flows)| json!({"bursts": bursts, "flows": [flows]}))
}

fn any_mesh() -> impl Strategy<Value = Value> {
    let network = (3u32..7, 1u32..4, choice(&["ring", "star"]));
    let signalling = (
        choice(&["jet", "jit"]),
        choice(&["0 s", "1 us", "60 us"]),
        choice(&["0 s", "3 us"]),
        choice(&["10 Gb/s", "50 Mb/s"]),
        prop::option::weighted(0.2, 1u32..3),
    );
    let core = (
        choice(&["full", "none", "limited"]),
        choice(&["lauc-vf", "horizon", "first-fit", "best-fit"]),
        any_contention(),
    );
    let edge = (choice(&["fifo", "shared"]), choice(&["free", "random"]), any::<bool>());
    (network, signalling, core, edge, any_traffic()).prop_map(
        |((nodes, wavelengths, topology), signals, (conversion, scheduler, steps), edge, sent)| {
            let (protocol, guard, switching, rate, processors) = signals;
            let (port, first, offsets) = edge;
            // Without conversion, conversion is no step.
            let usable = |step: &&str| conversion != "none" || *step != "conversion";
            let contention: Vec<_> = steps.into_iter().filter(usable).collect();
            let delays = contention.contains(&"delay-line");
            let mut scenario = json!({
                "network": {"topology": topology, "nodes": nodes, "wavelengths": wavelengths,
                    "link_rate": "1 Gb/s"},
                "signalling": {"protocol": protocol, "guard": guard, "switching": switching,
                    "rate": rate},
                "core": {"conversion": conversion, "scheduler": scheduler,
                    "contention": contention},
                "edge": {"assembly": "timer", "timer": "1 ms", "port": port},
                "tcp": {"window": 20},
                "flows": sent["flows"], "bursts": sent["bursts"],
                "run": {"duration": "60 ms", "warmup": "10 ms"},
            });
            if conversion == "limited" {
                scenario["core"]["conversion_range"] = json!(1);
            }
            if delays {
                scenario["core"]["delay_lines"] = json!({"delays": ["20 us", "90 us"]});
            }
            if port == "shared" {
                scenario["edge"]["wavelength"] = json!(first);
            }
            if let Some(processors) = processors {
                scenario["signalling"]["processors"] = json!(processors);
            }
            if offsets {
                scenario["edge"]["class_offsets"] = json!(["0 s", "70 us", "200 us"]);
            }
            scenario
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn bursts_without_a_slot_are_those_in_slots(scenario in any_mesh(), seed in 0u64..1000) {
        prop_assume!(resolve(&scenario).is_ok());
        let without = run(&scenario, seed, Trace::default()).summary;
        let in_slots = run(&scenario, seed, BURSTS).summary;
        prop_assert!(without.counters.background_bursts_sent > 0);
        prop_assert_eq!(numbers(without), numbers(in_slots));
    }

    #[test]
    fn a_run_with_bursts_without_a_slot_goes_on_from_its_bytes(
        scenario in any_mesh(),
        (seed, cut) in (0u64..1000, 40u32..2000),
    ) {
        prop_assume!(resolve(&scenario).is_ok());
        let (whole, pieces) = whole_and_in_pieces(&scenario, seed, cut);
        prop_assert_eq!(whole.summary, pieces.summary);
    }
}
