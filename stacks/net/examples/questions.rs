//! Three series of transfers, after questions in the trackers of stacks: does BBRv3 stay below
//! CUBIC where packets come in bursts (n0-computer/noq#819), what do bursts of losses do
//! (mozilla/neqo#779), and what do spells of loss to CUBIC over a satellite
//! (private-octopus/picoquic#1221)? Prints a line of CSV for each run. A run has a seed and nothing
//! else that changes, so that the lines are always the same:
//!
//! ```sh
//! cargo run --release --example questions > questions.csv
//! ```

use std::io::Write;
use std::sync::Arc;
use std::thread;

use burstlab_net::{Lab, Stacks};
use burstlab_stacks::AllStacks;
use serde_json::json;

const SEEDS: u64 = 5;

/// The senders that are compared.
const SENDERS: [(&str, &str); 5] = [
    ("quinn", "cubic"),
    ("noq", "cubic"),
    ("noq", "bbr3"),
    ("quinn", "new-reno"),
    ("quinn", "bbr"),
];

/// One run: which question it is of, its series, where it stands in the plot, and its network.
struct Point {
    question: &'static str,
    series: String,
    x: f64,
    lab: Lab,
    sender: (&'static str, &'static str),
    seed: u64,
}

/// 100 Mb/s, 10 ms in each direction, a queue of one product of the two, and bursts of the packets
/// that come within a time: that much later the first packet of a burst is, and the last one not at
/// all.
fn jitter(points: &mut Vec<Point>) {
    for ms in [0.0, 0.5, 1.0, 2.0, 5.0, 10.0] {
        for loss in [0.0, 0.005] {
            let lab = Lab::path().with("access.rate", "100 Mb/s").with("access.queue", 170);
            let mut lab = lab.carrying(10_000_000);
            lab = match ms {
                0.0 => lab.with("edge", json!({"assembly": "none"})),
                _ => lab.with("edge.timer", format!("{ms} ms")),
            };
            if loss > 0.0 {
                lab = lab.losing(loss);
            }
            let series = format!("{} % of bursts lost", loss * 100.0);
            add(points, ("jitter", series, ms), &lab, &SENDERS[..3]);
        }
    }
}

/// 2 % lost: each burst by itself (0), or in outages on a clock, whose mean length is so many
/// milliseconds. A burst is what comes within one.
fn spells(points: &mut Vec<Point>) {
    const LOSS: f64 = 0.02;
    for length in [0, 2, 4, 8, 16] {
        let lab = Lab::path().with("access.queue", 70).carrying(5_000_000);
        let lab = match length {
            0 => lab.losing(LOSS),
            _ => lab.losing_in_outages(&format!("{} ms", 49 * length), &format!("{length} ms")),
        };
        add(points, ("spells", "2 % lost".into(), f64::from(length)), &lab, &SENDERS);
    }
}

/// A satellite: 12 Mb/s, half a second there and back, a queue of 1.2 products of the two, 2.56 %
/// of the time lost, in spells of 16.7 ms on average, each as long as six bursts.
fn satellite(points: &mut Vec<Point>) {
    const LOSS: f64 = 0.0256;
    let lab = Lab::path().with("access.rate", "12 Mb/s").with("access.queue", 600);
    let lab = lab.with("network.link_delay", "83 ms").with("edge.timer", "2.78 ms");
    let lab = lab.lasting(2000.0).carrying(20_000_000);
    let in_outages = lab.clone().losing_in_outages("635.6 ms", "16.7 ms");
    for (x, name, lab) in [
        (0.0, "no loss", lab.clone()),
        (1.0, "each burst by itself", lab.losing(LOSS)),
        (2.0, "outages of 16.7 ms", in_outages),
    ] {
        add(points, ("satellite", name.into(), x), &lab, &SENDERS);
    }
}

fn add(
    points: &mut Vec<Point>,
    (question, series, x): (&'static str, String, f64),
    lab: &Lab,
    senders: &[(&'static str, &'static str)],
) {
    for &sender in senders {
        for seed in 1..=SEEDS {
            let (lab, series) = (lab.clone().seeded(seed), series.clone());
            points.push(Point { question, series, x, lab, sender, seed });
        }
    }
}

fn line(point: &Point, stacks: Arc<dyn Stacks>) -> String {
    let (stack, control) = point.sender;
    let run = point.lab.run(stacks, stack, Some(control)).unwrap_or_else(|error| panic!("{error}"));
    let flow = &run.summary().flows[0];
    let time = run.acknowledged_after_s().map_or(String::new(), |time| format!("{time:.6}"));
    let (lost, timeouts) = (flow.packets_lost, flow.timeouts);
    let ended = flow.ended.as_deref().unwrap_or("");
    let at = flow.ended_s.map_or(String::new(), |at| format!("{at:.3}"));
    let Point { question, series, x, seed, .. } = point;
    let end = format!("{lost},{timeouts},{ended},{at}");
    format!("{question},{series},{x},{stack} {control},{seed},{time},{end}")
}

fn main() {
    let mut points = Vec::new();
    jitter(&mut points);
    spells(&mut points);
    satellite(&mut points);
    let wanted = std::env::args().nth(1);
    points.retain(|point| wanted.as_deref().is_none_or(|wanted| wanted == point.question));
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let stacks = AllStacks::shared();
    let lines = thread::scope(|scope| {
        let all: Vec<_> = (0..workers)
            .map(|worker| {
                let (points, stacks) = (&points, Arc::clone(&stacks));
                scope.spawn(move || {
                    let mine = points.iter().enumerate().skip(worker).step_by(workers);
                    mine.map(|(place, point)| (place, line(point, Arc::clone(&stacks))))
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        let done = all.into_iter().flat_map(|worker| worker.join().expect("a worker ends"));
        let mut lines: Vec<_> = done.collect();
        lines.sort();
        lines
    });
    let mut out = std::io::stdout().lock();
    let head = "question,series,x,sender,seed,time_s,packets_lost,timeouts,ended,ended_s";
    writeln!(out, "{head}").expect("the output is open");
    for (_, line) in lines {
        writeln!(out, "{line}").expect("the output is open");
    }
}
