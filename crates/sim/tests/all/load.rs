//! The load that sources offer, through the engine, against what their page says.

use std::collections::BTreeSet;

use burstlab_sim::{Output, Trace};
use serde_json::{Value, json};

use crate::runs::columns::{integers, table, wide};
use crate::runs::{BURSTS, run};

/// The bytes of each burst or connection.
fn bytes(output: &Output, name: &str) -> Vec<f64> {
    integers(table(output, name), "bytes").into_iter().map(|bytes| bytes as f64).collect()
}

/// Whether the sum of sizes that come as a Poisson process is as expected: within five standard
/// deviations, whose square is the sum of the squares; and these must be small.
fn as_expected(sizes: &[f64], mean: f64, what: &str) {
    let (sum, squares) = sizes.iter().fold((0.0, 0.0), |(s, q), x| (s + x, q + x * x));
    let deviation = f64::sqrt(squares);
    assert!(deviation < 0.05 * mean, "{what}: a run that shows nothing: {deviation} of {mean}");
    assert!((sum - mean).abs() < 5.0 * deviation, "{what}: {sum}, not {mean} +- {deviation}");
}

/// Every law of sizes, with a mean of 100 us or so on a fibre of 10 Gb/s.
fn laws() -> Vec<(Value, f64)> {
    let bounded = json!({"distribution": "bounded-pareto", "min": "20 KB", "max": "2 MB",
        "mean": "125 KB"});
    let empirical = json!({"distribution": "empirical", "cdf": [["100 KB", 0.5], ["150 KB", 1]]});
    vec![
        (json!({"mean": "125 KB"}), 125e3),
        (json!({"distribution": "exponential", "mean": "125 KB"}), 125e3),
        (json!({"distribution": "pareto", "min": "75 KB", "shape": 2.5}), 125e3),
        (bounded, 125e3),
        (json!({"distribution": "log-normal", "mean": "125 KB", "sigma": 1}), 125e3),
        // A half is exactly 100 KB, the other evenly above.
        (empirical, 112.5e3),
        (json!({"distribution": "web-search"}), 1_711_250.0),
        (json!({"distribution": "data-mining"}), 12_658_000.0),
    ]
}

#[test]
fn bursts_of_others_have_their_load_whatever_their_lengths() {
    for (number, (length, mean)) in laws().into_iter().enumerate() {
        for (per, shares) in [("pair", 12.0), ("node", 4.0), ("network", 1.0)] {
            // 20,000 bursts of any law.
            let seconds = 20_000.0 * mean * 8.0 / 10e9 / (0.3 * shares);
            let scenario = json!({
                "network": {"topology": "martinez", "link_rate": "10 Gb/s"},
                "signalling": {"guard": "300 us"},
                "flows": [],
                "bursts": [{"erlangs": 0.3, "per": per, "length": length}],
                "run": {"duration": format!("{:.0} us", seconds * 1e6)},
            });
            let output = run(&scenario, number as u64, BURSTS);
            let bytes = bytes(&output, "bursts");
            let offered = 0.3 * shares * seconds * 10e9 / 8.0;
            as_expected(&bytes, offered, &format!("{length} per {per}"));
        }
    }
}

/// Bursts of several packets come at Erlang-distributed times, and are lost as a queue GI/M/1/1
/// says: a burst is lost where the next exponential service outlasts the time to it.
#[test]
fn bursts_of_several_packets_are_lost_as_their_regular_times_say() {
    for (packets, erlangs) in [(1u32, 0.7f64), (2, 0.7), (3, 1.2), (20, 0.7)] {
        let scenario = json!({
            "network": {
                "topology": "line", "nodes": 2, "link_rate": "1 Gb/s", "link_delay": "1 us",
            },
            "edge": {"port": "shared"},
            "flows": [],
            "bursts": [{
                "from": "1", "to": "2", "erlangs": erlangs, "packets": packets, "per": "node",
                "length": {"distribution": "exponential", "mean": "125 KB"},
            }],
            "run": {"duration": "40 s"},
        });
        let all = run(&scenario, u64::from(packets), Trace::default()).summary.network;
        let all = all.expect("a mesh").all;
        let (sent, lost) = (all.bursts as f64, all.bursts_lost as f64);
        let k = f64::from(packets);
        let gaps = sent - erlangs * 40_000.0;
        assert!(gaps.abs() < 5.0 * (sent / k).sqrt(), "{packets}: {sent} bursts");
        // The transform of the times between bursts, at the rate of the service.
        let expected = (k * erlangs / (k * erlangs + 1.0)).powi(packets as i32);
        let deviation = (expected * (1.0 - expected) / sent).sqrt();
        let off = lost / sent - expected;
        assert!(off.abs() < 5.0 * deviation, "{packets}: {off} of {expected} +- {deviation}");
        let poisson = erlangs / (1.0 + erlangs);
        let differs = (expected - poisson).abs() > 20.0 * deviation;
        assert!(differs || packets == 1, "{packets}: Poisson times would pass");
    }
}

/// The packets of a node, or of the network, make bursts together; those of a pair by themselves.
#[test]
fn whose_packets_make_a_burst_is_how_the_load_is_counted() {
    let spread = |per: &str| {
        let scenario = json!({
            "network": {"topology": "martinez", "link_rate": "10 Gb/s"},
            "signalling": {"guard": "300 us"},
            "flows": [],
            "bursts": [{"erlangs": 0.1, "per": per, "packets": 50, "length": {"mean": "125 KB"}}],
            "run": {"duration": "10 s"},
        });
        let output = run(&scenario, 1, BURSTS);
        let rows = table(&output, "bursts");
        let (from, to) = (integers(rows, "from"), integers(rows, "to"));
        let pairs: BTreeSet<_> = from.iter().zip(&to).collect();
        assert_eq!(pairs.len(), 12, "each goes to each");
        // The square of the coefficient of variation of the times between the bursts of node 1.
        let at = wide(rows, "closed_ps").iter().zip(&from);
        let of_first = at.filter(|(_, node)| **node == from[0]).map(|(at, _)| *at as f64);
        let mut times: Vec<f64> = of_first.collect();
        times.sort_by(f64::total_cmp);
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        gaps.iter().map(|gap| (gap / mean - 1.0).powi(2)).sum::<f64>() / gaps.len() as f64
    };
    // 1/50; of three such in one stream, and of a fourth of one, it is far more.
    assert!((spread("node") - 0.02).abs() < 0.004, "{}", spread("node"));
    assert!(spread("pair") > 0.2, "{}", spread("pair"));
    assert!(spread("network") > 0.5, "{}", spread("network"));
}

#[test]
fn batches_have_their_rate_and_their_bytes() {
    for (number, (size, mean)) in laws().into_iter().take(6).enumerate() {
        let scenario = json!({
            "network": {"topology": "martinez", "link_rate": "10 Gb/s"},
            "signalling": {"guard": "300 us"},
            "flows": [],
            "batches": [{"batches_per_second": 2000, "size": size, "packet_size": "9 KB"}],
            "run": {"duration": "1 s"},
        });
        let counters = run(&scenario, number as u64, BURSTS).summary.counters;
        let batches = 12.0 * 2000.0;
        as_expected(&vec![1.0; counters.batches_sent as usize], batches, "batches");
        // The second moment of all laws here is below three times the square of the mean.
        let deviation = mean * (3.0 * batches).sqrt();
        let off = counters.batch_bytes_sent as f64 - batches * mean;
        assert!(off.abs() < 5.0 * deviation, "{size}: {off} +- {deviation}");
    }
}

#[test]
fn demands_have_their_rate_and_their_sizes() {
    for (per, shares) in [("pair", 12.0), ("node", 4.0), ("network", 1.0)] {
        let rate = 600.0 / shares;
        let scenario = json!({
            "network": {"topology": "martinez", "link_rate": "10 Gb/s"},
            "signalling": {"guard": "300 us"},
            "access": {"rate": "1 Gb/s", "delay": "10 us"},
            "edge": {"assembly": "none"},
            "demand": [{"flows_per_second": rate, "per": per,
                "size": {"distribution": "exponential", "mean": "20 KB"}}],
            "run": {"duration": "12 s"},
        });
        let output = run(&scenario, 3, BURSTS);
        let started = output.summary.demand[0].started;
        as_expected(&vec![1.0; started as usize], 7200.0, per);
        // All but the last few are done.
        let bytes = bytes(&output, "connections");
        assert!(started - bytes.len() as u64 <= 60, "{} of {started}", bytes.len());
        let mean = bytes.iter().sum::<f64>() / bytes.len() as f64;
        assert!((mean / 20e3 - 1.0).abs() < 5.0 / 7200f64.sqrt() + 0.01, "{mean}");
    }
}

/// UDP through each kind of network: packets of 1 ms, one and a half a spell on average.
#[test]
fn udp_has_its_load_in_every_network() {
    let patterns = [
        (json!({"pattern": "cbr"}), 1000.0),
        (json!({"pattern": "poisson"}), 1000.0),
        (json!({"pattern": "periodic", "on": "1500 us", "period": "4 ms"}), 375.0),
        (
            json!({"pattern": "pareto", "on_mean": "1500 us", "off_mean": "2500 us", "shape": 3}),
            375.0,
        ),
        (
            json!({"pattern": "sessions", "on_mean": "1500 us", "sessions_per_second": 250,
            "shape": 3}),
            375.0,
        ),
    ];
    let networks = [
        json!({"network": {"core_nodes": 2}, "access": {"shared": true, "rate": "1 Gb/s"}}),
        json!({"network": {"topology": "martinez"}, "signalling": {"guard": "300 us"}}),
        json!({"network": {"topology": "ring"}, "ops": {}}),
    ];
    for network in &networks {
        for (pattern, rate) in &patterns {
            let mut source = pattern.clone();
            source["rate"] = json!("8 Mb/s");
            let mut scenario = network.clone();
            scenario["traffic"] = json!([source]);
            scenario["run"] = json!({"duration": "20 s"});
            let counters = run(&scenario, 5, BURSTS).summary.counters;
            as_expected(&vec![1.0; counters.other_sent as usize], rate * 20.0, &source.to_string());
        }
    }
}
