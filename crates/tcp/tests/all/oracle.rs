//! Traces of ns-2, replayed packet by packet.
//!
//! `BURSTLAB_ORACLES=DIR` compares with all cases in DIR in place of the selection that comes with
//! the project. A trace must agree in every row: what was sent when and with which window, every
//! ACK, every state of the round-trip estimator, every time-out, fast retransmit and loss.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path as FilePath, PathBuf};

use burstlab_tcp::{Config, Overrides, Profile, Variant};
use burstlab_units::{Bytes, Span, Time};
use flate2::read::GzDecoder;
use serde_json::Value;

use crate::path::{Path, Row, World};

/// Times are printed with nine decimals.
const TIME_TOLERANCE: Span = Span::from_ps(1_000);
/// Windows are printed with six significant digits.
const WINDOW_TOLERANCE: f64 = 6e-6;

fn directory() -> PathBuf {
    std::env::var_os("BURSTLAB_ORACLES").map_or_else(
        || FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../../python/burstlab/data/oracles/ns2"),
        PathBuf::from,
    )
}

fn number(case: &Value, field: &str) -> f64 {
    case[field].as_f64().unwrap_or_else(|| panic!("{field} is a number"))
}

fn numbers(case: &Value, field: &str) -> Vec<u64> {
    let list = case[field].as_array().unwrap_or_else(|| panic!("{field} is a list"));
    list.iter().map(|value| value.as_u64().expect("is a number")).collect()
}

fn time(seconds: f64) -> Time {
    Time::from_ps(Span::from_secs_f64(seconds).as_ps())
}

fn seconds(value: &Value) -> Span {
    Span::from_secs_f64(value.as_f64().expect("is a number"))
}

fn config(case: &Value) -> Config {
    let variant = match case["tcp"].as_str() {
        Some("Tahoe") => Variant::Tahoe,
        Some("Reno") => Variant::Reno,
        Some("Newreno") => Variant::NewReno,
        Some("Sack1") => Variant::Sack,
        Some("Vegas") => Variant::Vegas,
        other => panic!("unknown agent {other:?}"),
    };
    let (profile, limited_transmit) = match case["profile"].as_str() {
        Some("ns235") => (Profile::Ns2, true),
        Some("era226") => (Profile::Ns2Of2003, true),
        Some("nolt") => (Profile::Ns2, false),
        other => panic!("unknown profile {other:?}"),
    };
    let overrides = Overrides {
        variant: Some(variant),
        profile: Some(profile),
        limited_transmit: (!limited_transmit).then_some(false),
        window: Some(number(case, "window") as u32),
        initial_ssthresh: Some(number(case, "ssthresh_init") as u32),
        segment_size: Some(Bytes::new(number(case, "packet_bytes") as u64)),
        syn_size: Some(Bytes::new(number(case, "syn_bytes") as u64)),
        rto_tick: Some(Span::from_secs_f64(number(case, "tick"))),
        rto_clock_phase: Some(Span::from_secs_f64(number(case, "boot_time"))),
        delayed_ack: case["delayed_ack"].as_bool(),
        vegas_alpha: option(case, "v_alpha_"),
        vegas_beta: option(case, "v_beta_"),
        vegas_gamma: option(case, "v_gamma_"),
        ..Overrides::default()
    };
    // The parameters that a case overrides, in the words of a scenario.
    let own = case.get("overrides").map_or_else(Overrides::default, |own| {
        serde_json::from_value(own.clone()).expect("overrides are parameters")
    });
    Config::resolve(&own.over(&overrides)).unwrap_or_else(|error| panic!("{error}"))
}

/// The value of `variable` in the options of the case, triples of class, variable and value.
fn option(case: &Value, variable: &str) -> Option<u32> {
    let words: Vec<&str> = case["opts"].as_str().unwrap_or_default().split(' ').collect();
    let triple = words.chunks_exact(3).find(|triple| triple[1] == variable)?;
    Some(triple[2].parse().expect("is a whole number"))
}

fn network(case: &Value) -> Path {
    let (access, core) = (number(case, "access_bps") as u64, number(case, "core_bps") as u64);
    let delays = case["delays_ms"].as_array().expect("delays");
    let delay = |link: usize| Span::from_secs_f64(delays[link].as_f64().expect("ms") / 1e3);
    let drops = case["drops"].as_array().expect("drops");
    Path {
        rates_bps: [access, core, core, core, access],
        delays: std::array::from_fn(delay),
        drops: drops
            .iter()
            .map(|pair| (pair[0].as_u64().expect("seq"), pair[1].as_u64().expect("n")))
            .collect(),
        drop_acks: numbers(case, "drop_acks").into_iter().collect(),
        assembly: Span::from_secs_f64(number(case, "assembly_tb")),
        drop_bursts: numbers(case, "drop_bursts").into_iter().collect(),
        start: time(number(case, "t_start")),
        segments: None,
        jitter: case["jitter"].as_array().into_iter().flatten().map(seconds).collect(),
    }
}

/// The rows of a trace file, without its header.
fn read_trace(file: &FilePath) -> Vec<Row> {
    let mut text = String::new();
    let open = File::open(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    GzDecoder::new(open).read_to_string(&mut text).expect("is gzip");
    let row = |line: &str| {
        let mut columns = line.split(',');
        let kind = columns.next().and_then(|kind| kind.chars().next()).expect("kind");
        let time = time(columns.next().expect("time").parse().expect("is a number"));
        let mut values = [0.0; 4];
        for (value, column) in values.iter_mut().zip(columns) {
            *value = if column.is_empty() { 0.0 } else { column.parse().expect("is a number") };
        }
        Row { kind, time, values }
    };
    text.lines().skip(1).map(row).collect()
}

fn agree(ours: &Row, theirs: &Row) -> bool {
    let apart = ours.time.max(theirs.time).since(ours.time.min(theirs.time));
    // Of an ACK row `b` is the window, of a send row `c`; all else is whole numbers.
    let window = match ours.kind {
        'A' => 1,
        'S' => 2,
        _ => usize::MAX,
    };
    let same = |i: usize| {
        let (a, b) = (ours.values[i], theirs.values[i]);
        if i == window { (a - b).abs() <= WINDOW_TOLERANCE * b.abs() } else { a == b }
    };
    apart <= TIME_TOLERANCE && (0..4).all(same)
}

/// Compares row by row, each kind for itself, since rows of one instant have no order across kinds.
/// Describes the earliest difference, and names the last instant before it at which the order of
/// events was open.
fn compare(ours: &[Row], theirs: &[Row], ties: &[Time]) -> Result<usize, String> {
    let mut first: Option<(Time, String)> = None;
    for kind in ['S', 'A', 'R', 'T', 'F', 'D', 'B', 'd'] {
        let of = |rows: &[Row]| -> Vec<Row> {
            rows.iter().filter(|row| row.kind == kind).cloned().collect()
        };
        let (a, b) = (of(ours), of(theirs));
        let differs = |&i: &usize| match (a.get(i), b.get(i)) {
            (Some(a), Some(b)) => !agree(a, b),
            _ => true,
        };
        if let Some(i) = (0..a.len().max(b.len())).find(differs) {
            let at = a.get(i).or(b.get(i)).expect("one of them").time;
            if first.as_ref().is_none_or(|(time, _)| at < *time) {
                first = Some((at, describe(kind, i, &a, &b)));
            }
        }
    }
    let Some((at, text)) = first else { return Ok(theirs.len()) };
    match ties.iter().rfind(|&&tie| tie <= at) {
        Some(tie) => Err(format!("{text}several events fell on {tie}\n")),
        None => Err(text),
    }
}

fn describe(kind: char, i: usize, ours: &[Row], theirs: &[Row]) -> String {
    let mut text = format!("row {i} of kind {kind}\n");
    for (name, rows) in [("ours", ours), ("ns-2", theirs)] {
        for (j, row) in rows.iter().enumerate().skip(i.saturating_sub(3)).take(6) {
            let mark = if j == i { ">" } else { " " };
            writeln!(text, "{mark} {name} {} {:?}", row.time, row.values).expect("to a string");
        }
    }
    text
}

/// Where the directory has counts of the whole run, they must agree too.
fn compare_summary(world: &World, line: &str) -> Result<(), String> {
    let counters = world.sender.counters();
    let highest = world.sender.highest_acked().map_or(-1.0, |seq| seq as f64);
    let sent = highest + world.sender.in_flight() as f64;
    let ours = [
        counters.timeouts as f64,
        counters.fast_retransmits as f64,
        counters.segments_sent as f64,
        counters.retransmissions as f64,
        highest,
        sent,
        counters.acks as f64,
    ];
    let theirs: Vec<f64> = line.split(',').skip(3).take(7).flat_map(str::parse).collect();
    if ours == theirs[..] { Ok(()) } else { Err(format!("counts {ours:?}, ns-2 {theirs:?}")) }
}

fn replay(directory: &FilePath, case: &Value, summary: Option<&str>) -> Result<usize, String> {
    let mut world = World::new(network(case), &config(case));
    let recorded = time(number(case, "t_rec"));
    world.run(recorded);
    let mut theirs = read_trace(&directory.join(case["trace"].as_str().expect("trace")));
    if case["jitter"].is_array() {
        // The log notes a time-out with what is sent next, which here is later.
        theirs.retain(|row| row.kind != 'T');
        world.rows.retain(|row| row.kind != 'T');
    }
    let rows = compare(&world.rows, &theirs, &world.ties)?;
    if let Some(line) = summary {
        world.run(time(number(case, "t_end") + 1e-7));
        compare_summary(&world, line)?;
    }
    let acknowledged = world.sender.highest_acked().unwrap_or(0);
    assert!(world.delivered() >= acknowledged, "what is acknowledged was delivered");
    Ok(rows)
}

#[test]
fn traces_of_ns2_are_met_packet_by_packet() {
    let directory = directory();
    let index = fs::read_to_string(directory.join("index.json")).expect("index.json is there");
    let index: Vec<Value> = serde_json::from_str(&index).expect("index.json is JSON");
    let summary = fs::read_to_string(directory.join("summary.csv")).unwrap_or_default();
    let (mut cases, mut rows, mut failures) = (0, 0, Vec::new());
    for case in &index {
        let name = case["case"].as_str().expect("name");
        let line = summary.lines().find(|line| line.split(',').next() == Some(name));
        cases += 1;
        match replay(&directory, case, line) {
            Ok(count) => rows += count,
            Err(difference) => failures.push(format!("{name}: {difference}")),
        }
    }
    assert!(cases >= 1, "no case in {}", directory.display());
    assert!(
        failures.is_empty(),
        "{} of {cases} cases differ ({rows} rows agree); the first:\n{}\nall: {:?}",
        failures.len(),
        failures[..failures.len().min(3)].join("\n"),
        failures.iter().map(|text| text.split(':').next()).collect::<Vec<_>>(),
    );
    assert!(rows > 100 * cases, "only {rows} rows in {cases} cases");
}
