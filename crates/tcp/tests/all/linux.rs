//! Recorded connections of Linux, replayed to the sender.
//!
//! The cases that come with the project must all match. `BURSTLAB_LINUX_ORACLES=DIR` plays those in
//! DIR, of which a share must; `BURSTLAB_LINUX_CASE=TEXT` takes those whose name contains TEXT, and
//! fails to show how they went.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use burstlab_tcp::{
    Congestion, LinuxOptions, ReceiverCase, ReplayCase, ReplayOutcome, SlowStart, replay,
    replay_receiver,
};
use burstlab_units::Span;
use flate2::read::GzDecoder;
use serde_json::{Value, json};

/// By how much the kernel hears what arrives later than its row says
/// (`python/burstlab/oracle/linux.py` has why).
const HEARD_NS: u64 = 9 * 256;

fn options(case: &Value) -> Option<LinuxOptions> {
    let congestion = match case["cc"].as_str()? {
        "cubic" => Congestion::Cubic,
        "reno" => Congestion::Reno,
        "vegas" => Congestion::Vegas,
        "dctcp" => Congestion::Dctcp,
        "bbr" => Congestion::Bbr,
        _ => return None,
    };
    let off = |name: &str| {
        let sysctl = case["sysctl"].as_str().unwrap_or_default();
        sysctl.split(';').any(|pair| pair.strip_prefix(name) == Some("=0"))
    };
    let ecn = case["sysctl"].as_str().unwrap_or_default().contains("tcp_ecn=1");
    let timestamps = !off("tcp_timestamps");
    Some(LinuxOptions {
        congestion,
        sack: !off("tcp_sack"),
        timestamps,
        rack: !off("tcp_recovery"),
        tlp: !off("tcp_early_retrans"),
        frto: !off("tcp_frto"),
        ecn: ecn || congestion == Congestion::Dctcp,
        payload: if timestamps { 1448 } else { 1460 },
        group_most: case["gso"].as_u64().map_or(u32::MAX, |most| most as u32),
        clock_phase: Span::from_ns(51_968 + HEARD_NS),
        wheel_phase: 32,
        ..LinuxOptions::default()
    })
}

fn replayed(directory: &Path, case: &Value, options: LinuxOptions) -> ReplayOutcome {
    let text = text_of(directory, case);
    let case = ReplayCase { options, bytes: case["bytes"].as_u64(), writes: None };
    replay(&case, &text).expect("is a recording")
}

fn text_of(directory: &Path, case: &Value) -> String {
    let file = directory.join(case["trace"].as_str().expect("trace"));
    let mut text = String::new();
    GzDecoder::new(File::open(file).expect("is there")).read_to_string(&mut text).expect("gzip");
    text
}

fn directory() -> PathBuf {
    let own =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/burstlab/data/oracles/linux");
    std::env::var_os("BURSTLAB_LINUX_ORACLES").map_or(own, PathBuf::from)
}

fn cases(directory: &Path) -> Vec<Value> {
    let index = fs::read_to_string(directory.join("index.json")).expect("index.json is there");
    let index: Value = serde_json::from_str(&index).expect("index.json is JSON");
    index["cases"].as_array().expect("cases").clone()
}

/// The least share of cases that must match, in percent: of cases with a segment at a time, of all,
/// and of BBR, whose state and pacing depend on the microsecond.
fn least(family: &str) -> u32 {
    match family {
        _ if family.contains("bbr") => 70,
        _ if family.starts_with("one-") => 97,
        _ => 92,
    }
}

#[test]
fn recorded_connections_of_linux_are_met_segment_by_segment() {
    let directory = directory();
    let wanted = std::env::var("BURSTLAB_LINUX_CASE").unwrap_or_default();
    let mut families: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    let mut classes: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
    let (mut report, mut segments) = (String::new(), 0);
    for case in cases(&directory) {
        let name = case["case"].as_str().expect("name");
        if !name.contains(&wanted) {
            continue;
        }
        let outcome = replayed(&directory, &case, options(&case).expect("a sender"));
        let family = case["family"].as_str().expect("family");
        let class = classes.entry(least(family)).or_default();
        for count in [class, families.entry(family.into()).or_default()] {
            *count = (count.0 + u32::from(outcome.matches), count.1 + 1);
        }
        segments += outcome.rows_equal;
        if !outcome.matches {
            let ReplayOutcome { rows, rows_equal, state_rows, state_equal, .. } = outcome;
            let text = outcome.first_difference.unwrap_or_default();
            let states = format!("states {state_equal} of {state_rows}");
            writeln!(report, "{name}: {rows_equal} of {rows}, {states}\n    {text}").expect("text");
        }
    }
    for (family, (matches, cases)) in &families {
        writeln!(report, "{family:32} {matches:3} of {cases:3}").expect("text");
    }
    let (matches, cases) =
        families.values().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    assert!(segments > 0, "nothing was played");
    let own = std::env::var_os("BURSTLAB_LINUX_ORACLES").is_none();
    assert!(!own || matches == cases, "{report}{matches} of {cases}");
    for (least, (matches, cases)) in classes {
        assert!(100 * matches >= least * cases, "{report}{matches} of {cases}, not {least} %");
    }
    assert!(wanted.is_empty(), "{report}{matches} of {cases}");
}

#[test]
fn a_sender_without_a_part_parts_from_the_recordings() {
    let directory = directory();
    let parts: [(&str, Change); 6] = [
        ("rack", |options| options.rack = false),
        ("tlp", |options| options.tlp = false),
        ("hystart", |options| options.slow_start = SlowStart::Standard),
        ("timestamps", |options| options.timestamps = false),
        ("ecn", |options| options.ecn = false),
        ("parts", |options| options.parts = false),
    ];
    let cases = cases(&directory);
    for (part, take_away) in parts {
        let parted = cases.iter().any(|case| {
            let mut options = options(case).expect("a sender");
            take_away(&mut options);
            !replayed(&directory, case, options).matches
        });
        assert!(parted, "no case needs {part}");
    }
}

/// Takes a part away.
type Change = fn(&mut LinuxOptions);

/// The receiver of a recorded connection.
fn receiver_of(case: &Value) -> Option<ReceiverCase> {
    let congestion = case["cc"].as_str()?;
    let sysctl = case["sysctl"].as_str().unwrap_or_default();
    let off = |name: &str| sysctl.split(';').any(|pair| pair.strip_prefix(name) == Some("=0"));
    let timestamps = !off("tcp_timestamps");
    let law = if congestion == "reno" { "aimd" } else { congestion };
    let mut tcp = json!({
        "profile": "linux",
        "window_law": law,
        "window": 100_000,
        "sack": !off("tcp_sack"),
        "d_sack": !off("tcp_dsack"),
        "timestamps": timestamps,
        "window_scaling": !off("tcp_window_scaling"),
        "ecn": congestion == "dctcp" || sysctl.contains("tcp_ecn=1"),
        "receive_buffer": "16777216 B",
        "receive_buffer_max": "134217728 B",
        "rto_clock_phase": format!("{} ns", 51_968 + HEARD_NS),
    });
    if let Some(clamp) = case["clamp"].as_u64() {
        tcp["window_clamp"] = json!(format!("{clamp} B"));
    }
    let segment_ns = (1500.0 * 8e9 / case["rate"].as_f64()?) as u64;
    let tcp = serde_json::from_value(tcp).expect("fields");
    Some(ReceiverCase { tcp, segment_ns })
}

#[test]
fn the_receiver_acknowledges_as_linux_does() {
    let directory = directory();
    let index = fs::read_to_string(directory.join("index.json")).expect("an index");
    let index: Value = serde_json::from_str(&index).expect("JSON");
    let only = std::env::var("BURSTLAB_LINUX_CASE").ok();
    let (mut all, mut windows, mut rows) = (Vec::new(), 0, 0);
    for case in index["cases"].as_array().expect("cases") {
        let name = case["case"].as_str().expect("a name");
        if only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        let Some(receiver) = receiver_of(case) else { continue };
        let text = text_of(&directory, case);
        let outcome = replay_receiver(&receiver, &text).expect("is a recording");
        windows += outcome.windows_equal;
        rows += outcome.rows_equal;
        all.push((name.to_string(), outcome));
    }
    let matching = all.iter().filter(|(_, one)| one.matches).count();
    let mut report = format!("{matching} of {}, windows {windows} of {rows}\n", all.len());
    for (name, one) in all.iter().filter(|(_, one)| !one.matches) {
        let (equal, rows) = (one.rows_equal, one.rows);
        let text = one.first_difference.as_deref().unwrap_or_default();
        writeln!(report, "{name}: {equal} of {rows}: {text}").expect("to a string");
    }
    assert!(only.is_none() && matching == all.len(), "{report}");
}
