//! Where a connection of Linux opens late, pauses, or has a receiver that takes back what it said.

use burstlab_tcp::{
    Ack, AckOptions, Arrival, Config, Linux, LinuxOptions, Overrides, Profile, SackBlocks, Sender,
    Transmission,
};
use burstlab_units::{Bytes, Span, Time};

const WINDOW: u64 = 1_000_000;

fn ms(ms: u64) -> Time {
    Time::from_ps(ms * 1_000_000_000)
}

/// A sender whose SYN is sent at 0 and again at each time-out before `at`, when an ACK of the SYN
/// with the time stamp `echo` comes.
fn opened_late(at: Time, echo: u32) -> Sender {
    let given = Overrides { profile: Some(Profile::Linux), ..Overrides::default() };
    let mut sender = Sender::new(&Config::resolve(&given).expect("is valid"));
    let mut out = Vec::new();
    sender.supply(Time::ZERO, 100, &mut out);
    sender.start(Time::ZERO, &mut out);
    while let Some(due) = sender.poll_timeout().filter(|&due| due < at) {
        sender.on_timeout(due, &mut out);
    }
    let ack = Ack { next: 1, sack: SackBlocks::NONE, size: Bytes::new(52) };
    let options = AckOptions { stamp: 1, echo, window: WINDOW as u32, marked: false, opens: true };
    sender.on_full_ack(at, &ack, &options, &mut out);
    sender
}

#[test]
fn a_time_stamp_measures_the_round_trip_of_a_repeated_syn() {
    let sender = opened_late(ms(1_034), 1_000);
    assert_eq!(sender.rtt().smoothed, Span::from_ms(34));
    assert_eq!((sender.rto(), sender.cwnd()), (Span::from_ms(234), 10.0));
}

#[test]
fn without_an_echo_the_time_out_is_three_seconds_behind_a_repeated_syn() {
    let given = Overrides {
        profile: Some(Profile::Linux),
        timestamps: Some(false),
        ..Overrides::default()
    };
    let mut sender = Sender::new(&Config::resolve(&given).expect("is valid"));
    let mut out = Vec::new();
    sender.supply(Time::ZERO, 100, &mut out);
    sender.start(Time::ZERO, &mut out);
    let due = sender.poll_timeout().expect("there is a timer");
    sender.on_timeout(due, &mut out);
    let ack = Ack { next: 1, sack: SackBlocks::NONE, size: Bytes::new(40) };
    let options =
        AckOptions { stamp: 0, echo: 0, window: WINDOW as u32, marked: false, opens: true };
    sender.on_full_ack(ms(1_034), &ack, &options, &mut out);
    assert_eq!(sender.rto(), Span::from_secs(3));
}

#[test]
fn a_syn_that_was_late_and_not_lost_leaves_the_first_window() {
    // Sent at 0, 1 and 2 s: the ACK is of the first.
    assert_eq!(opened_late(ms(2_500), 0).cwnd(), 10.0);
    // It is of the last: two were lost.
    assert_eq!(opened_late(ms(2_500), 2_000).cwnd(), 1.0);
}

/// A sender with `data` segments and a round trip of 100 ms.
fn opened(options: &LinuxOptions, data: u64) -> (Linux, Vec<Transmission>) {
    let mut sender = Linux::new(options);
    let mut out = Vec::new();
    sender.open(Time::ZERO, ms(100), WINDOW);
    sender.offer(data * options.payload);
    sender.write_more(ms(100), &mut out);
    (sender, out)
}

fn arrives(sender: &mut Linux, at: Time, next: u64, blocks: &[(u64, u64)]) -> Vec<u64> {
    let mut out = Vec::new();
    let ack = Arrival { next, blocks, window: WINDOW, echo: None, ece: false, with_data: false };
    sender.on_ack(at, &ack, &mut out);
    out.iter().map(|sent| sent.seq).collect()
}

#[test]
fn a_receiver_that_drops_what_it_reported_is_waited_for_half_a_round_trip() {
    let (mut sender, out) = opened(&LinuxOptions::default(), 10);
    assert_eq!(out.len(), 10);
    arrives(&mut sender, ms(200), 1, &[(2, 5)]);
    // It asks for segment 2, which it had.
    arrives(&mut sender, ms(210), 2, &[]);
    let due = sender.poll_timeout().expect("there is a timer");
    assert!(due > ms(255) && due < ms(270), "half a round trip behind 210 ms, not {due}");
    let mut out = Vec::new();
    sender.on_timeout(due, &mut out);
    assert_eq!(out.first().map(|sent| sent.seq), Some(2));
    assert_eq!(sender.info().counts[1], 0, "nothing is taken for reported any more");
}

#[test]
fn without_a_restart_after_idleness_no_unused_window_shrinks() {
    for (restart, expected) in [(true, 10), (false, 20)] {
        let options = LinuxOptions { restart_after_idle: restart, ..LinuxOptions::default() };
        let (mut sender, _) = opened(&options, 10);
        for next in 2..=11 {
            arrives(&mut sender, ms(200 + next), next, &[]);
        }
        assert_eq!(sender.info().cwnd, 20);
        // Another segment, after more than a time-out.
        let mut out = Vec::new();
        sender.offer(11 * options.payload);
        sender.write_more(ms(611), &mut out);
        assert_eq!(out.len(), 1);
        assert_eq!(sender.info().cwnd, expected, "{restart}");
    }
}

#[test]
fn reports_end_the_wait_for_reordering_unless_they_do_not_count() {
    for (counts, expected) in [(true, vec![1]), (false, vec![])] {
        let options = LinuxOptions { rack_counts: counts, ..LinuxOptions::default() };
        let (mut sender, _) = opened(&options, 10);
        assert_eq!(arrives(&mut sender, ms(200), 1, &[(2, 5)]), expected, "{counts}");
        let due = sender.poll_timeout().expect("there is a timer");
        assert_eq!(due < ms(240), !counts, "a quarter of a round trip, or a time-out, not {due}");
    }
}

#[test]
fn what_arrives_twice_widens_the_wait_for_reordering_unless_it_is_fixed() {
    let mut waits = Vec::new();
    for adapts in [true, false] {
        let options = LinuxOptions { rack_adapts: adapts, ..LinuxOptions::default() };
        let (mut sender, _) = opened(&options, 100);
        arrives(&mut sender, ms(200), 1, &[(2, 3)]);
        // Segment 1 was late, and segment 3 is, too, but is sent again before it comes.
        arrives(&mut sender, ms(201), 3, &[]);
        arrives(&mut sender, ms(202), 3, &[(4, 8)]);
        let due = sender.poll_timeout().expect("there is a timer");
        let mut out = Vec::new();
        sender.on_timeout(due, &mut out);
        assert!(out.iter().any(|sent| sent.seq == 3 && sent.retransmission));
        arrives(&mut sender, due + Span::from_ms(1), 8, &[(3, 4)]);
        let (acked, next) = (sender.info().acked, sender.info().next);
        arrives(&mut sender, ms(310), acked, &[(next - 1, next)]);
        waits.push(sender.poll_timeout().expect("there is a timer"));
    }
    assert!(waits[0] > waits[1] + Span::from_ms(15), "{waits:?}");
}
