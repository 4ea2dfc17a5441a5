//! Data, ACKs and background bursts are counted apart, in bursts, packets and bytes; the waits of
//! late headers are reported.

use burstlab_sim::{BurstSummary, NetworkSummary, Summary};
use serde_json::{Value, json};

use crate::runs::columns::{integers, table};
use crate::runs::{BURSTS, lost_to, run, summary};

fn network(scenario: &Value, seed: u64) -> NetworkSummary {
    summary(scenario, seed).network.expect("a mesh")
}

/// Ten flows over a line of lossy nodes, whose data bursts hold what comes in 2 ms. Each ACK is
/// a burst.
fn lossy(change: &Value) -> Value {
    let mut scenario = json!({
        "network": {"topology": "line", "nodes": 4, "link_delay": "1 ms", "wavelengths": 64},
        "signalling": {"guard": "100 us"},
        "access": {"rate": "100 Mb/s", "delay": "1 ms"},
        "edge": {"assembly": "timer", "timer": "2 ms", "ack": {"assembly": "none"}},
        "tcp": {"variant": "sack", "window": 50},
        "flows": [{"from": "1", "to": "4", "count": 10}],
        "loss": {"data": {"process": "bernoulli", "probability": 0.01}},
        "run": {"duration": "20 s", "warmup": "2 s"},
    });
    for (key, value) in change.as_object().expect("fields") {
        scenario[key] = value.clone();
    }
    scenario
}

#[test]
fn a_loss_of_data_bursts_is_told_of_data_bursts() {
    let network = network(&lossy(&json!({})), 1);
    let (data, acks, all) = (&network.data, &network.acks, &network.all);
    let spread = 5.0 * (0.01 * 0.99 / data.bursts as f64).sqrt();
    assert!(data.bursts > 1000 && (data.burst_loss_ratio - 0.01).abs() < spread, "{data:?}");
    assert_eq!(lost_to(data, "injected"), data.bursts_lost);
    // Without a word of the kind, data would seem to lose a fraction of what they do.
    assert!(acks.bursts > 3 * data.bursts && acks.bursts_lost == 0);
    assert!(all.burst_loss_ratio < 0.3 * data.burst_loss_ratio);
    assert_eq!((all.bursts, all.bursts_lost), (data.bursts + acks.bursts, data.bursts_lost));
    // All data wait for the timer, no ACK waits at all; a burst of ACKs is one ACK.
    assert!((data.assembly_delay_s - 2e-3).abs() < 1e-12, "{}", data.assembly_delay_s);
    assert!(acks.assembly_delay_s.abs() < 1e-12);
    assert!((acks.packets_per_burst - 1.0).abs() < 1e-12);
    assert!(data.packets_per_burst > 2.0);
    assert!(data.packets_lost >= data.bursts_lost && acks.packets_lost == 0);
    // The bursts of the scenario are lost at the first node that schedules them.
    let lost: u64 = network.links.iter().map(|link| link.data.lost).sum();
    assert_eq!(lost, data.bursts_lost);
    for link in &network.links {
        assert!(link.data.lost <= link.data.offered && link.acks.lost <= link.acks.offered);
        assert_eq!(link.data.offered + link.acks.offered, link.all.offered);
        assert_eq!(link.data.carried + link.data.lost, link.data.offered);
    }
    assert!(network.links.iter().any(|link| link.data.offered > 1000));
}

#[test]
fn batches_alone_are_bursts_of_others() {
    let batches = json!([{"batches_per_second": 200, "from": "2", "to": "3",
        "size": {"distribution": "exponential", "mean": "3 KB"}}]);
    let network = network(&lossy(&json!({"batches": batches})), 2);
    assert!(network.background.bursts > 1000 && network.data.bursts > 1000);
    assert_eq!(network.background.bursts_lost, 0, "the loss is of data bursts");
    let routes = |of: &BurstSummary| -> Vec<(String, String)> {
        of.routes.iter().map(|route| (route.from.clone(), route.to.clone())).collect()
    };
    assert_eq!(routes(&network.background), [("2".into(), "3".into())]);
    assert_eq!(routes(&network.data), [("1".into(), "4".into())]);
    assert_eq!(routes(&network.acks), [("4".into(), "1".into())]);
    assert_eq!(network.all.routes.len(), 3);
    assert!(network.background.packets > network.background.bursts);
}

/// Background bursts alone, of which most are cut where they meet.
fn cut(erlangs: f64, more: &[&str]) -> Value {
    let mut steps = vec!["segmentation"];
    steps.extend(more);
    json!({
        "network": {"topology": "ring", "nodes": 5, "wavelengths": 2, "link_rate": "1 Gb/s",
            "link_delay": "1 ms"},
        "edge": {"port": "shared"}, "signalling": {"guard": "100 us"}, "flows": [],
        "core": {"contention": steps},
        "bursts": [{"erlangs": erlangs, "per": "pair",
            "length": {"distribution": "exponential", "mean": "50 KB"}}],
        "run": {"duration": "1 s"},
    })
}

#[test]
fn bytes_that_are_cut_off_are_lost() {
    for (erlangs, more) in [(0.2, &[][..]), (0.6, &[]), (0.6, &["retransmission"])] {
        let output = run(&cut(erlangs, more), 3, BURSTS);
        let network = output.summary.network.as_ref().expect("a mesh");
        let (found, run) = (&network.background, &network.background.run);
        assert_eq!(run.bytes_sent, run.bytes_delivered + run.bytes_lost + run.bytes_in_flight);
        assert!(run.bytes_delivered > 0 && run.bytes_in_flight > 0, "{run:?}");
        assert!(found.resolutions.segmented > 1000, "{:?}", found.resolutions);
        assert!(found.bytes_cut > 0 && found.bytes_cut <= found.bytes_lost);
        assert!(found.bytes_lost <= found.bytes);
        assert!(found.byte_loss_ratio > 1.5 * found.burst_loss_ratio, "{found:?}");
        assert_eq!(found.resolutions.packets_cut, 0, "they carry none");
        // There is no warm-up: what ended is what the run counts.
        assert_eq!(
            (found.bytes_lost, found.bytes - found.bytes_lost),
            (run.bytes_lost, run.bytes_delivered)
        );
        // The same from the trace: of each burst that arrived, what its last fibre carried.
        let bursts = table(&output, "bursts");
        let (ids, fates) = (integers(bursts, "burst"), integers(bursts, "fate"));
        let bytes = integers(bursts, "bytes");
        let hops = table(&output, "bursts_hops");
        let of = integers(hops, "burst");
        let (from, end) = (integers(hops, "departed_ps"), integers(hops, "end_ps"));
        let lengths = end.iter().zip(&from).map(|(end, from)| end - from);
        let last: std::collections::BTreeMap<u64, u64> = of.into_iter().zip(lengths).collect();
        let landed = (0..ids.len()).filter(|&row| fates[row] == 1);
        let bits = |row: usize| u128::from(last[&ids[row]]) * 1_000_000_000 / 1_000_000_000_000;
        let arrived: u64 = landed.map(|row| bytes[row].min((bits(row) / 8) as u64)).sum();
        assert_eq!(arrived, run.bytes_delivered);
    }
}

/// Short bursts that follow one another closely: their headers queue for the control channel.
fn signalled(guard: &str, channels: u32) -> Summary {
    let scenario = json!({
        "network": {"topology": "nsfnet", "wavelengths": 32, "link_rate": "1 Gb/s"},
        "signalling": {"guard": guard, "channels": channels},
        "edge": {"port": "shared"}, "flows": [],
        "bursts": [{"erlangs": 3.2, "per": "node",
            "length": {"distribution": "exponential", "mean": "2 KB"}}],
        "run": {"duration": "30 ms"},
    });
    summary(&scenario, 1)
}

#[test]
fn the_wait_for_the_control_channel_is_counted_and_told() {
    let all = signalled("2048 ns", 1);
    let network = all.network.as_ref().expect("a mesh");
    let found = &network.all;
    assert!(lost_to(found, "late-header") * 100 > found.bursts, "{:?}", found.causes);
    assert!(found.control_wait_s > 1e-8 && found.processor_wait_s.abs() < 1e-15, "{found:?}");
    assert!(found.longest_control_wait_s > found.control_wait_s);
    let longest = network.links.iter().map(|link| link.longest_control_wait_s);
    assert!((longest.fold(0.0, f64::max) - found.longest_control_wait_s).abs() < 1e-15);
    let [warning] = &all.warnings[..] else { panic!("{:?}", all.warnings) };
    assert!(warning.starts_with("signalling.guard = 2048 ns: "), "{warning}");
    let load = network.links.iter().map(|link| link.control_load).fold(0.0, f64::max);
    assert!((0.1..1.0).contains(&load), "{load}");
    assert!(warning.contains(&format!("load the channels to {load:.2}")), "{warning}");
    // The load is that of the headers, of 512 ns each.
    for link in &network.links {
        let expected = link.all.carried as f64 * 512e-9 / all.measured_s;
        assert!((link.control_load - expected).abs() < 1e-12);
    }
    // The advice is enough for waits like these.
    let advice = warning.split("write at least ").nth(1).and_then(|rest| rest.split(" for").next());
    let advised = signalled(advice.expect("an advice"), 1);
    let late = lost_to(&advised.network.expect("a mesh").all, "late-header");
    assert!(late * 1000 < found.bursts && advised.warnings.is_empty(), "{late} late, {warning}");
    // With more channels hardly any header waits.
    let wide = signalled("2048 ns", 4).network.expect("a mesh");
    assert!(wide.all.control_wait_s < found.control_wait_s / 20.0);
}
