//! Times of single bursts of a mesh, to the picosecond.
//!
//! Two ingresses `a` and `b` share the fibre from `c` to `d`, all 1 ms long; `c` also reaches `d`
//! through `e`. A packet of 12,500 B is a burst of 100 us; a header is processed in 10 us and takes
//! 0.512 us on its channel.

use burstlab_sim::Output;
use serde_json::{Value, json};

use crate::runs;
use crate::runs::columns::{integers, labels, table, wide};
use crate::runs::{BURSTS, merge, merged};

const US: u64 = 1_000_000;
const NONE: u64 = u64::MAX;
/// Time of a header on its control channel.
const SENDING: u64 = 512_000;

fn network() -> Value {
    json!({
        "topology": "custom",
        "link_rate": "1 Gb/s",
        "node": [
            {"name": "a", "role": "edge"}, {"name": "b", "role": "edge"},
            {"name": "c", "role": "core"}, {"name": "d", "role": "edge"},
            {"name": "e", "role": "core"},
        ],
        "link": [
            {"from": "a", "to": "c", "delay": "1 ms"}, {"from": "b", "to": "c", "delay": "1 ms"},
            {"from": "c", "to": "d", "delay": "1 ms"}, {"from": "c", "to": "e", "delay": "1 ms"},
            {"from": "e", "to": "d", "delay": "1 ms"},
        ],
    })
}

/// One burst of `a`, at 0, and one of `b`, `later` microseconds after it; then silence.
fn scenario(later: u64, change: &Value) -> Value {
    let source = |from: &str, start: u64| {
        json!({
            "from": from, "to": "d", "start": format!("{start} us"), "packet_size": "12500 B",
            "rate": "1 Mb/s", "phase": "0 s",
        })
    };
    let mut scenario = json!({
        "network": network(),
        "edge": {"assembly": "none"},
        "flows": [],
        "traffic": [source("a", 0), source("b", later)],
        "run": {"duration": "20 ms"},
    });
    merge(&mut scenario, change);
    scenario
}

fn run(scenario: &Value) -> Output {
    runs::run(scenario, 1, BURSTS)
}

/// A burst of the trace: its departure, arrival and loss in ps, and why it was lost.
#[derive(Debug, PartialEq, Eq)]
struct Burst {
    departs: u64,
    arrives: u64,
    lost: u64,
    cause: &'static str,
    attempts: u64,
}

fn delivered(departs: u64, arrives: u64) -> Burst {
    Burst { departs, arrives, lost: NONE, cause: "none", attempts: 0 }
}

fn lost(departs: u64, lost: u64, cause: &'static str) -> Burst {
    Burst { departs, arrives: NONE, lost, cause, attempts: 0 }
}

/// The bursts from a node, numbered from 1 as in the trace.
fn bursts(output: &Output, from: u64) -> Vec<Burst> {
    let bursts = table(output, "bursts");
    let times = ["departed_ps", "arrived_ps", "lost_ps"];
    let [departs, arrives, lost] = times.map(|name| wide(bursts, name));
    let [froms, attempts] = ["from", "attempts"].map(|name| integers(bursts, name));
    let causes = labels(bursts, "cause");
    let rows = (0..froms.len()).filter(|&row| froms[row] == from).map(|row| Burst {
        departs: departs[row],
        arrives: arrives[row],
        lost: lost[row],
        cause: causes[row],
        attempts: attempts[row],
    });
    rows.collect()
}

fn both(later: u64, change: &Value) -> (Burst, Burst) {
    let output = run(&scenario(later, change));
    let one = |from| bursts(&output, from).remove(0);
    (one(1), one(2))
}

/// The burst of `a` where nothing hinders it: offset 2 x 10 us + 1 us, two fibres, 100 us.
const FREE: Burst =
    Burst { departs: 21 * US, arrives: 2121 * US, lost: NONE, cause: "none", attempts: 0 };

#[test]
fn a_burst_that_comes_at_the_end_of_another_is_accepted() {
    let (a, b) = both(100, &json!({}));
    assert_eq!((a, b), (FREE, delivered(121 * US, 2221 * US)));
}

#[test]
fn a_burst_that_overlaps_is_lost_when_its_header_is_there() {
    let (a, b) = both(99, &json!({}));
    let header = (99 + 10 + 1000) * US + SENDING;
    assert_eq!((a, b), (FREE, lost(120 * US, header, "contention")));
}

#[test]
fn a_lost_burst_knows_which_one_was_in_its_way() {
    let output = run(&scenario(99, &json!({})));
    let of = |name| wide(table(&output, "bursts"), name);
    // The loss ends first; the other burst, number 1, arrives later and has no rival.
    assert_eq!((of("burst")[0], of("rival")[0]), (2, 1));
    assert_eq!((of("burst")[1], of("rival")[1]), (1, NONE));
}

#[test]
fn jit_holds_the_fibre_from_the_header_on() {
    // The burst comes when the fibre is free, its header 10 us before.
    let (a, b) = both(105, &json!({"signalling": {"protocol": "jit"}}));
    assert_eq!((a, b.cause), (FREE, "contention"));
    let (_, b) = both(105, &json!({"signalling": {"protocol": "jet"}}));
    assert_eq!(b, delivered(126 * US, 2226 * US));
}

#[test]
fn switching_time_is_part_of_the_reservation() {
    let switching = json!({"signalling": {"switching": "5 us", "guard": "8 us"}});
    assert_eq!(both(104, &switching).1.cause, "contention");
    assert_eq!(both(105, &switching).1, delivered((105 + 28) * US, (105 + 28 + 2100) * US));
}

#[test]
fn a_second_wavelength_takes_the_second_burst() {
    let (a, b) = both(50, &json!({"network": {"wavelengths": 2}}));
    assert_eq!((a, b), (FREE, delivered(71 * US, 2171 * US)));
}

#[test]
fn without_conversion_a_burst_needs_its_own_wavelength() {
    // Both come on wavelength 0, the first that each ingress has.
    let none = json!({"network": {"wavelengths": 2}, "core": {"conversion": "none"}});
    assert_eq!(both(50, &none).1.cause, "contention");
    let far = json!({
        "network": {"wavelengths": 2},
        "core": {"conversion": "limited", "conversion_range": 1},
    });
    assert_eq!(both(50, &far).1, delivered(71 * US, 2171 * US));
    let step = json!({"network": {"wavelengths": 2}, "core": {"contention": ["conversion"]}});
    let output = run(&scenario(50, &step));
    let network = output.summary.network.expect("a mesh");
    assert_eq!((network.all.bursts_lost, network.all.resolutions.converted), (0, 1));
}

#[test]
fn a_delay_line_holds_a_burst_as_long_as_it_is() {
    let line = |delay: &str| {
        let lines = json!({"delays": [delay]});
        json!({"core": {"contention": ["delay-line"], "delay_lines": lines}})
    };
    assert_eq!(both(50, &line("100 us")).1, delivered(71 * US, 2271 * US));
    assert_eq!(both(50, &line("49 us")).1.cause, "contention");
}

#[test]
fn a_burst_goes_round_in_delay_lines_as_often_as_it_may() {
    // The second burst is 90 us too early. Of lines of 40 us it needs three, one behind the other;
    // each time round it takes another, since it is longer than they are.
    let change = |lines: usize, passes: u32| {
        let lines = json!({"delays": vec!["40 us"; lines], "passes": passes});
        json!({"core": {"contention": ["delay-line"], "delay_lines": lines}})
    };
    let (_, plain) = both(10, &json!({}));
    let (_, round) = both(10, &change(3, 3));
    assert_eq!((round.departs, round.cause), (plain.departs, "none"));
    let free = both(10, &json!({"network": {"wavelengths": 2}})).1;
    assert_eq!(round.arrives, free.arrives + 120 * US);
    assert_eq!(both(10, &change(3, 2)).1, plain, "two times 40 us are not enough");
    assert_eq!(both(10, &change(2, 3)).1, plain, "both lines are still taken");
    assert_eq!(both(10, &change(3, 1)).1, plain);
}

#[test]
fn a_burst_behind_a_delay_line_needs_its_switching_time_too() {
    // The second burst waits 100 us for a fibre that is free after 50 us, and 5 us later.
    let line = |length: &str| {
        let lines = json!({"delays": [length, length], "passes": 2});
        json!({"core": {"contention": ["delay-line"], "delay_lines": lines},
               "signalling": {"switching": "5 us", "guard": "8 us"}})
    };
    assert_eq!(both(50, &line("55 us")).1, delivered(78 * US, (78 + 2100 + 55) * US));
    assert_eq!(both(51, &line("54 us")).1.departs, 79 * US);
    assert_eq!(both(50, &line("54 us")).1, delivered(78 * US, (78 + 2100 + 108) * US));
}

#[test]
fn a_burst_passes_delay_lines_on_its_path_as_often_as_it_may() {
    // The burst of `b` waits for that of `a` at `c`, and 100 us later for that of `g` at `d`.
    let network = json!({
        "topology": "custom",
        "link_rate": "1 Gb/s",
        "node": [
            {"name": "a", "role": "edge"}, {"name": "b", "role": "edge"},
            {"name": "c", "role": "core"}, {"name": "d", "role": "core"},
            {"name": "g", "role": "edge"}, {"name": "h", "role": "edge"},
        ],
        "link": [
            {"from": "a", "to": "c", "delay": "1 ms"}, {"from": "b", "to": "c", "delay": "1 ms"},
            {"from": "c", "to": "d", "delay": "1 ms"}, {"from": "g", "to": "d", "delay": "1 ms"},
            {"from": "d", "to": "h", "delay": "1 ms"},
        ],
    });
    let source = |from: &str, start: &str, class: u32| {
        json!({
            "from": from, "to": "h", "start": start, "packet_size": "12500 B", "rate": "1 Mb/s",
            "phase": "0 s", "class": class,
        })
    };
    let of_b = |most: Value| {
        let mut lines = json!({"delays": ["100 us"]});
        lines["passes_on_path"] = most;
        let scenario = json!({
            "network": network,
            "edge": {"assembly": "none", "queues": "class", "class_offsets": ["0 s", "200 us"]},
            "core": {"contention": ["delay-line"], "delay_lines": lines},
            "flows": [],
            "traffic": [source("a", "0 s", 0), source("b", "50 us", 0), source("g", "940 us", 1)],
            "run": {"duration": "20 ms"},
        });
        bursts(&run(&scenario), 2).remove(0)
    };
    assert_eq!(of_b(Value::Null), delivered(83 * US, (83 + 3100 + 200) * US));
    assert_eq!(of_b(json!(1)).cause, "contention");
}

#[test]
fn a_deflected_burst_goes_the_longer_way() {
    let deflection = json!({
        "core": {"contention": ["deflection"], "deflection": {"hop_limit": 1}},
        "signalling": {"guard": "2 us"},
    });
    let (a, b) = both(50, &deflection);
    assert_eq!(a, delivered(32 * US, 2132 * US), "the offset has room for a third header");
    assert_eq!(b, delivered(82 * US, 3182 * US));
    let none = json!({"core": {"contention": ["deflection"], "deflection": {"hop_limit": 0}}});
    assert_eq!(both(50, &none).1.cause, "contention");
}

#[test]
fn a_burst_that_is_sent_again_pays_the_way_back() {
    let again = json!({"core": {"contention": ["retransmission"]}});
    let (a, b) = both(50, &again);
    let header = (50 + 10 + 1000) * US + SENDING;
    let departs = header + (10 + 1000 + 21) * US;
    assert_eq!(a, FREE);
    assert_eq!(b, Burst { attempts: 1, ..delivered(departs, departs + 2100 * US) });
    let bounded = json!({
        "core": {"contention": ["retransmission"], "retransmission": {"buffer": "12 KB"}},
    });
    assert_eq!(both(50, &bounded).1.cause, "contention", "there is no room for the copy");
}

#[test]
fn a_header_that_waits_too_long_is_late() {
    let one = json!({"network": {"wavelengths": 2}, "signalling": {"processors": 1}});
    let (a, b) = both(0, &one);
    assert_eq!(a, FREE);
    let begins = (10 + 1000 + 10) * US + SENDING;
    assert_eq!(b, lost(21 * US, begins, "late-header"));
    let spare = json!({
        "network": {"wavelengths": 2}, "signalling": {"processors": 1, "guard": "11 us"},
    });
    assert_eq!(both(0, &spare).1, delivered(31 * US, 2131 * US));
}

#[test]
fn control_channels_carry_one_header_at_a_time() {
    // A header of 1.25 KB takes 10 us; two that leave `c` together need two channels or 10 us more.
    let slow = |channels: u32, guard: &str| {
        json!({
            "network": {"wavelengths": 2, "link": [
                {"from": "a", "to": "c", "delay": "1 ms"},
                {"from": "b", "to": "c", "delay": "1 ms"},
                {"from": "c", "to": "e", "delay": "1 ms"},
                {"from": "e", "to": "d", "delay": "1 ms"},
            ]},
            "signalling": {"header_size": "1250 B", "channels": channels, "guard": guard},
        })
    };
    assert_eq!(both(0, &slow(2, "20 us")).1.cause, "none");
    assert_eq!(both(0, &slow(1, "20 us")).1.cause, "late-header");
    assert_eq!(both(0, &slow(1, "30 us")).1.cause, "none");
}

#[test]
fn a_two_way_reservation_waits_for_its_answer() {
    let two_way = json!({"signalling": {"protocol": "two-way", "retry": "1 ms"}});
    let (a, b) = both(50, &two_way);
    let departs = |start: u64| start + (21 + 2000) * US;
    assert_eq!(a, delivered(departs(0), departs(0) + 2100 * US));
    // The request is refused at `c`, and made again a while after the refusal is back at `b`.
    let refused = (50 + 10 + 1000 + 10 + 1000) * US + SENDING;
    let again = departs(refused + 1000 * US);
    assert_eq!(b, Burst { attempts: 1, ..delivered(again, again + 2100 * US) });
    let once = json!({"signalling": {"protocol": "two-way", "requests": 1}});
    assert_eq!(both(50, &once).1, Burst { attempts: 1, ..lost(NONE, refused, "blocked") });
}

/// The second burst of `a` asks at 50 us, and is refused there when its header is worked on, at 60.
#[test]
fn an_ingress_that_refuses_a_burst_counts_it_once_its_header_is_worked_on() {
    let lost = |span: Value| {
        let once = json!({"protocol": "two-way", "requests": 1});
        let shared = json!({"edge": {"port": "shared"}, "signalling": once});
        let mut scenario = scenario(50, &shared);
        scenario["traffic"][1]["from"] = json!("a");
        merge(&mut scenario, &json!({"run": span}));
        let output = run(&scenario);
        let shown = bursts(&output, 1).iter().filter(|burst| burst.lost == 60 * US).count();
        (shown, output.summary.network.expect("a mesh").all.bursts_lost)
    };
    assert_eq!(lost(json!({"warmup": "55 us"})), (1, 1));
    assert_eq!(lost(json!({"warmup": "61 us"})), (1, 0));
    assert_eq!(lost(json!({"duration": "55 us"})), (0, 0));
    assert_eq!(lost(json!({"duration": "61 us"})), (1, 1));
}

/// Ten packets of 1,250 B make a burst of 100 us; that of `b` begins in the middle of that of `a`.
fn segments(change: &Value) -> Output {
    let source = |from: &str, start: &str| {
        json!({
            "from": from, "to": "d", "start": start, "packet_size": "1250 B", "rate": "100 Mb/s",
            "phase": "0 s",
        })
    };
    let mut scenario = json!({
        "network": network(),
        "edge": {"assembly": "size", "size": "12500 B"},
        "flows": [],
        "traffic": [source("a", "0 us"), source("b", "50 us")],
        "core": {"contention": ["segmentation"]},
        "run": {"duration": "2999 us"},
    });
    merge(&mut scenario, change);
    run(&scenario)
}

#[test]
fn segmentation_cuts_the_tail_of_the_burst_before() {
    let output = segments(&json!({}));
    // Closed at 900 us; cut where the other begins at `c`, 50 us after its own beginning.
    assert_eq!(bursts(&output, 1)[0], delivered(921 * US, 2971 * US));
    assert_eq!(output.summary.counters.other_delivered, 5);
    let whole = segments(&json!({"run": {"duration": "3072 us"}}));
    assert_eq!(bursts(&whole, 2)[0], delivered(971 * US, 3071 * US));
    let network = whole.summary.network.expect("a mesh");
    assert_eq!(network.all.bursts_lost, 0);
    assert_eq!(whole.summary.counters.other_delivered, 15);
    assert_eq!(
        network.all.resolutions.packets_cut, whole.summary.counters.other_lost,
        "what is lost was cut"
    );
}

/// On one wavelength least is cut, and yet no packet of the burst would be left there: on the other
/// it goes out whole.
#[test]
fn segmentation_takes_a_wavelength_on_which_a_packet_is_left() {
    let source = |from: &str, start: &str, class: u32| {
        json!({"from": from, "to": "d", "start": start, "packet_size": "12500 B", "rate": "1 Mb/s",
            "class": class, "phase": "0 s"})
    };
    // At `c`: a burst of `b` from 186 us on, whose offset is 50 us longer and which reserves first;
    // one of `a` from 171 us on, and the one in question, 5 us later. If it shared a wavelength
    // with the former, it would be cut by 90 of its 100 us; with the latter, that one is cut by 95
    // us.
    let output = run(&json!({
        "network": merged(network(), &json!({"wavelengths": 2})),
        "edge": {"assembly": "none", "queues": "class", "class_offsets": ["0 us", "50 us"]},
        "flows": [],
        "traffic": [source("b", "115 us", 1), source("a", "150 us", 0), source("a", "155 us", 0)],
        "core": {"contention": ["segmentation"]},
        "run": {"duration": "20 ms"},
    }));
    assert_eq!(bursts(&output, 2), [delivered(186 * US, 2286 * US)]);
    let of_a = bursts(&output, 1);
    assert_eq!((of_a[0].departs, of_a[0].cause), (171 * US, "cut"));
    assert_eq!(of_a[1], delivered(176 * US, 2276 * US));
}

/// Shared access links: one for the senders of an edge node, one for the receivers of another.
#[test]
fn flows_share_the_access_links_of_their_edge_nodes() {
    let goodput = |shared: bool, ends: [(&str, &str); 2]| {
        let flows = ends.map(|(from, to)| json!({"from": from, "to": to}));
        let output = run(&json!({
            "network": network(),
            "edge": {"assembly": "timer", "timer": "1 ms"},
            "signalling": {"guard": "10 us"},
            "access": {"rate": "2 Mb/s", "delay": "1 ms", "shared": shared, "queue": 10},
            "tcp": {"variant": "sack", "window": 40},
            "flows": flows,
            "run": {"duration": "20 s", "warmup": "5 s"},
        }));
        let flows = output.summary.flows.iter().map(|flow| flow.goodput_bps / 1e6);
        (flows.sum::<f64>(), output.summary.counters.access_lost)
    };
    let same = [("a", "d"), ("a", "b")];
    let (own, _) = goodput(false, same);
    assert!(own > 3.4 && own < 4.0, "{own} Mb/s over two links");
    let (sum, lost) = goodput(true, same);
    assert!(sum > 1.7 && sum < 2.0, "{sum} Mb/s over the one link of `a`");
    assert!(lost > 0, "its queue is full at times");
    let (sum, lost) = goodput(true, [("a", "d"), ("b", "d")]);
    assert!(sum > 1.7 && sum < 2.0, "{sum} Mb/s over the one link of the receivers at `d`");
    assert!(lost > 0, "its queue is full at times");
    let (sum, _) = goodput(true, [("a", "d"), ("b", "a")]);
    assert!(sum > 3.4 && sum < 4.0, "{sum} Mb/s, and no link in common");
}

/// A burst that sets out on a wavelength that was drawn, and may not leave it.
#[test]
fn a_burst_sets_out_on_a_wavelength_that_is_drawn() {
    let output = |change: Value| {
        let mut scenario = json!({
            "network": merged(network(), &json!({"wavelengths": 4})),
            "edge": {"port": "shared"},
            "flows": [],
            "core": {"conversion": "none"},
            "bursts": [{"from": "a", "to": "d", "erlangs": 1.6, "length": {"mean": "12500 B"}}],
            "run": {"duration": "1 s"},
        });
        merge(&mut scenario, &change);
        run(&scenario).summary.network.expect("a mesh")
    };
    // Four fibres of one wavelength each with 0.4 Erlang, or one of four with 1.6.
    let lost = |change| output(change).all.burst_loss_ratio;
    let (free, random) = (json!({}), json!({"edge": {"wavelength": "random"}}));
    // 16,000 bursts: four standard deviations.
    assert!((lost(random.clone()) - 0.4 / 1.4).abs() < 0.015, "{}", lost(random));
    assert!((lost(free) - 0.0565).abs() < 0.008, "Erlang B");
    let converted = json!({"edge": {"wavelength": "random"}, "core": {"conversion": "full"}});
    assert!((lost(converted) - 0.0565).abs() < 0.008, "the ingress converts");
    let copies = json!({"edge": {"wavelength": "random"}, "core": {"contention": ["retransmission"],
        "retransmission": {"attempts": 3, "wait": "1 ms"}}});
    assert!(lost(copies) < 0.15, "each attempt has a draw of its own");
}

#[test]
fn an_ingress_queue_sends_one_burst_behind_the_other() {
    let source = json!({
        "from": "a", "to": "d", "packet_size": "12500 B", "rate": "1 Mb/s", "phase": "0 s",
    });
    let mut scenario = scenario(0, &json!({}));
    scenario["traffic"] = json!([source, source, source]);
    let output = run(&scenario);
    let departs: Vec<u64> = bursts(&output, 1).iter().map(|burst| burst.departs).collect();
    assert_eq!(departs, [21 * US, 121 * US, 221 * US]);
    scenario["edge"]["port"] = json!("shared");
    let causes: Vec<_> = bursts(&run(&scenario), 1).iter().map(|burst| burst.cause).collect();
    assert_eq!(causes, ["contention", "contention", "none"], "in the order of their end");
}

#[test]
fn short_bursts_are_padded() {
    let (a, _) = both(500, &json!({"edge": {"min_size": "25 KB"}}));
    assert_eq!(a, delivered(21 * US, 2221 * US));
}

#[test]
fn a_trailer_gives_back_what_a_cut_burst_no_longer_needs() {
    // `a` goes to `d` by `c` and `g`; `b` cuts its tail between `c` and `g`, and leaves at `k`;
    // `h` wants the fibre from `g` to `d` when the tail would have been there.
    let scenario = |trailer: bool| {
        let fibre = |from: &str, to: &str| json!({"from": from, "to": to, "delay": "1 ms"});
        let edge = |name: &str| json!({"name": name, "role": "edge"});
        let core = |name: &str| json!({"name": name, "role": "core"});
        let source = |from: &str, to: &str, start: &str| {
            json!({"from": from, "to": to, "start": start, "packet_size": "1250 B",
                "rate": "100 Mb/s", "phase": "0 s"})
        };
        json!({
            "network": {
                "topology": "custom", "link_rate": "1 Gb/s",
                "node": [edge("a"), edge("b"), edge("h"), edge("d"), edge("k"), core("c"),
                    core("g")],
                "link": [fibre("a", "c"), fibre("b", "c"), fibre("c", "g"), fibre("h", "g"),
                    fibre("g", "d"), fibre("g", "k")],
            },
            "edge": {"assembly": "size", "size": "12500 B"},
            "flows": [],
            "traffic": [source("a", "d", "0 us"), source("b", "k", "50 us"),
                source("h", "d", "1064 us")],
            "core": {"contention": ["segmentation"], "segmentation": {"trailer": trailer}},
            "signalling": {"guard": "2 us"},
            "run": {"duration": "3900 us", "warmup": "0 s"},
        })
    };
    let contentions = |trailer| {
        let network = run(&scenario(trailer)).summary.network.expect("a mesh");
        (network.all.resolutions.contentions, network.all.resolutions.packets_cut)
    };
    // The next bursts of `a` and `b` meet 1 ms later, once more.
    assert_eq!(contentions(true), (2, 10));
    assert_eq!(contentions(false), (3, 10), "the burst of `h` meets a tail that is not there");
}
