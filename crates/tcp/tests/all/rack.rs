//! RACK-TLP of the Linux sender (RFC 8985), as scripts: given these ACKs, exactly these segments at
//! these times.

use burstlab_tcp::{Arrival, Congestion, Linux, LinuxOptions, Transmission};
use burstlab_units::Time;

/// Room at the receiver.
const WINDOW: u64 = 1 << 20;
const FULL: u64 = 1_448;
/// The round trip, in microseconds.
const RTT: u64 = 100_000;
/// Time that Linux adds to a wait for reordering, in microseconds.
const LEAST: u64 = 2_000;

fn at(us: u64) -> Time {
    Time::from_ps(us * 1_000_000)
}

fn plain() -> LinuxOptions {
    LinuxOptions {
        congestion: Congestion::Reno,
        timestamps: false,
        restart_after_idle: false,
        ..LinuxOptions::default()
    }
}

/// A sender, and what it has been given to send, in segments.
struct Script {
    sender: Linux,
    given: u64,
}

impl Script {
    /// A connection whose handshake took `rtt` microseconds, and is over at that time.
    fn new(options: &LinuxOptions, rtt: u64) -> Self {
        let mut sender = Linux::new(options);
        sender.open(at(0), at(rtt), WINDOW);
        Self { sender, given: 0 }
    }

    /// The application writes so many segments; returns those that go.
    fn write(&mut self, us: u64, segments: u64) -> Vec<u64> {
        let mut out = Vec::new();
        self.given += segments;
        self.sender.offer(self.given * FULL);
        self.sender.write_more(at(us), &mut out);
        seqs(&out)
    }

    /// An ACK that asks for `next` and reports `blocks`; returns what it lets go.
    fn hear(&mut self, us: u64, next: u64, blocks: &[(u64, u64)]) -> Vec<u64> {
        let mut out = Vec::new();
        let (echo, ece, with_data) = (None, false, false);
        let arrival = Arrival { next, blocks, window: WINDOW, echo, ece, with_data };
        self.sender.on_ack(at(us), &arrival, &mut out);
        seqs(&out)
    }

    /// When the timer runs out, in microseconds.
    fn due(&self) -> u64 {
        self.sender.poll_timeout().expect("there is a timer").as_ps() / 1_000_000
    }

    /// Lets the timer run out; returns what it sends.
    fn run_out(&mut self) -> Vec<u64> {
        let mut out = Vec::new();
        self.sender.on_timeout(at(self.due()), &mut out);
        seqs(&out)
    }

    /// Reordering is seen: of three segments, the first arrives last. Returns when that was.
    fn reorder(&mut self, us: u64) -> u64 {
        assert_eq!(self.write(us, 3), [1, 2, 3]);
        self.hear(us + RTT, 1, &[(2, 3)]);
        self.hear(us + RTT + 1, 4, &[]);
        us + RTT + 1
    }

    /// Two segments are sent, of which the first is late for so long that it is sent again. Returns
    /// how long that takes, and when its ACK arrives. `late`: it was late and no more, and arrives
    /// twice.
    fn repair(&mut self, us: u64, late: bool) -> (u64, u64) {
        let first = self.given + 1;
        assert_eq!(self.write(us, 2), [first, first + 1]);
        let heard = us + RTT;
        assert!(self.hear(heard, first, &[(first + 1, first + 2)]).is_empty());
        let due = self.due();
        assert_eq!(self.run_out(), [first], "{due}");
        let over = due + RTT;
        if late {
            self.hear(due + 1, first + 2, &[]);
            self.hear(over, first + 2, &[(first, first + 1)]);
        } else {
            self.hear(over, first + 2, &[]);
        }
        (due - heard, over)
    }
}

fn seqs(out: &[Transmission]) -> Vec<u64> {
    out.iter().map(|sent| sent.seq).collect()
}

/// Whether a timer that is set for `us` runs out after `found`: never early, and late by a bucket
/// of the wheel at most.
fn is_for(found: u64, us: u64) -> bool {
    let bucket = if us < 63_000 { 2_000 } else { 9_000 };
    (us..us + bucket).contains(&found)
}

/// How long reordered segments are waited for in repairs, one after the other.
fn waits(script: &mut Script, us: &mut u64, late: bool, repairs: usize) -> Vec<u64> {
    let mut waits = Vec::new();
    for _ in 0..repairs {
        let (wait, over) = script.repair(*us, late);
        waits.push(wait);
        *us = over + 10_000;
    }
    waits
}

#[test]
fn each_round_trip_with_a_d_sack_widens_the_reordering_window_up_to_the_smoothed_round_trip() {
    // RFC 8985 section 6.2 step 4: a quarter of the shortest round trip more, at most SRTT.
    let mut script = Script::new(&plain(), RTT);
    let mut us = script.reorder(RTT) + 10_000;
    let waits = waits(&mut script, &mut us, true, 7);
    let expected = [25, 50, 75, 100, 100, 100, 100].map(|ms| 1000 * ms + LEAST);
    let fits = waits.iter().zip(expected).all(|(&wait, expected)| is_for(wait, expected));
    assert!(fits, "{waits:?}, not {expected:?}");
}

#[test]
fn sixteen_recoveries_without_a_d_sack_make_the_reordering_window_small_again() {
    // RFC 8985 section 6.2 step 4.
    let mut script = Script::new(&plain(), RTT);
    let mut us = script.reorder(RTT) + 10_000;
    waits(&mut script, &mut us, true, 2);
    let waits = waits(&mut script, &mut us, false, 19);
    let wide = waits.iter().position(|&wait| !is_for(wait, 75_000 + LEAST));
    let wide = wide.unwrap_or_else(|| panic!("it stays wide: {waits:?}"));
    assert_eq!(wide, 16, "{waits:?}");
    assert!(waits[wide..].iter().all(|&wait| is_for(wait, 25_000 + LEAST)), "{waits:?}");
}

#[test]
fn a_time_out_with_reports_takes_the_network_to_reorder_no_more_than_at_first() {
    // Without RACK: three reports of a hole are a loss, unless the network reorders by more.
    let options = LinuxOptions { rack: false, tlp: false, ..plain() };
    let mut script = Script::new(&options, RTT);
    let us = RTT;
    assert_eq!(script.write(us, 10).len(), 10);
    // Segment 1 arrives behind six others.
    assert!(script.hear(us + RTT, 1, &[(2, 3)]).is_empty());
    script.hear(us + RTT + 1, 8, &[]);
    script.hear(us + RTT + 2, 11, &[]);
    let reordering = |script: &Script| script.sender.info().counts[4];
    assert_eq!(reordering(&script), 7);
    // So four reports are no loss, until the time-out.
    let us = us + RTT + 10_000;
    assert_eq!(script.write(us, 6), [11, 12, 13, 14, 15, 16]);
    for high in 13..=16 {
        assert!(script.hear(us + RTT, 11, &[(12, high)]).is_empty());
    }
    assert_eq!(script.run_out(), [11]);
    assert_eq!(reordering(&script), 3);
}

#[test]
fn a_probe_on_its_way_has_to_arrive_twice_too_before_a_reduction_is_taken_back() {
    // `tcp_init_undo` of Linux: two segments are sent again, the probe and a repair.
    let mut script = Script::new(&plain(), RTT);
    assert_eq!(script.write(RTT, 2), [1, 2]);
    assert_eq!(script.run_out(), [2], "the probe");
    // The last segment arrives, and the first is taken for lost.
    let us = 3 * RTT + 20_000;
    assert!(script.hear(us, 1, &[(2, 3)]).is_empty());
    assert_eq!(script.run_out(), [1], "the repair");
    let reduced = script.sender.info().ssthresh;
    assert!(reduced < 10, "{reduced}");
    // It was late and no more: both arrive twice.
    script.hear(us + 40_000, 3, &[]);
    script.hear(us + RTT, 3, &[(1, 2)]);
    assert_eq!(script.sender.info().ssthresh, reduced, "the probe may still be in flight");
    script.hear(us + RTT + 1, 3, &[(2, 3)]);
    assert!(script.sender.info().ssthresh > reduced);
}

#[test]
fn the_probe_of_a_lone_segment_allows_for_a_delayed_ack() {
    // RFC 8985 section 7.2: two round trips, and for a lone segment the longest delay of its ACK,
    // for which Linux takes the least time-out.
    let rtt = 400_000;
    for (segments, expected) in [(1, 1_000_000), (2, 802_000)] {
        let mut script = Script::new(&plain(), rtt);
        assert_eq!(script.write(rtt, segments).len() as u64, segments);
        let wait = script.due() - rtt;
        assert!((expected..expected + 65_000).contains(&wait), "{segments}: {wait}");
        assert_eq!(script.run_out(), [segments]);
    }
}
