//! Endpoints of a connection with data in both directions: ACKs that go with data, and what a
//! sender makes of them.

use burstlab_tcp::{
    Ack, AckOptions, Config, Overrides, Profile, Receiver, SackBlocks, SackRecovery, SegmentFlags,
    SegmentOptions, Sender, Transmission, Variant,
};
use burstlab_units::{Bytes, Span, Time};

fn config(variant: Variant) -> Config {
    let rules = Overrides {
        variant: Some(variant),
        profile: Some(Profile::Rfc),
        initial_window: Some(10),
        delayed_ack: Some(true),
        delayed_ack_timeout: Some(Span::from_ms(100)),
        ..Overrides::default()
    };
    Config::resolve(&rules).expect("sound")
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

fn ack(next: u64, blocks: &[(u64, u64)]) -> Ack {
    let mut sack = SackBlocks::NONE;
    blocks.iter().for_each(|&(left, right)| sack.push(left, right));
    Ack { next, sack, size: Bytes::new(40) }
}

/// A sender with segments 1 to 10 in flight.
fn opened(config: &Config) -> Sender {
    let (mut sender, mut out) = (Sender::new(config), Vec::new());
    sender.supply(at(0), 100, &mut out);
    sender.start(at(0), &mut out);
    sender.on_ack_with_data(at(10), &ack(1, &[]), &mut out);
    let sent: Vec<_> = out.iter().map(|sent| sent.seq).collect();
    assert_eq!(sent, (0..=10).collect::<Vec<_>>(), "progress is heard as ever");
    sender
}

const CLASSIC: [Variant; 5] =
    [Variant::Tahoe, Variant::Reno, Variant::NewReno, Variant::Sack, Variant::Vegas];

#[test]
fn data_segments_that_repeat_an_ack_say_nothing() {
    for variant in CLASSIC {
        let config = config(variant);
        let (mut sender, mut out) = (opened(&config), Vec::new());
        let (before, counters) = (sender.cwnd(), *sender.counters());
        for n in 0..20 {
            sender.on_ack_with_data(at(20 + n), &ack(1, &[]), &mut out);
        }
        assert_eq!((out.len(), sender.cwnd()), (0, before), "{variant:?}");
        assert_eq!(*sender.counters(), counters, "{variant:?}");
        // They do not end a row of duplicates either.
        let blocks = |n| [(2, 3 + n)];
        for n in 0..3 {
            sender.on_ack(at(50 + n), &ack(1, &blocks(n)), &mut out);
            sender.on_ack_with_data(at(50 + n), &ack(1, &blocks(n)), &mut out);
        }
        assert!(out.iter().any(|sent| sent.seq == 1 && sent.retransmission), "{variant:?}");
        assert_eq!(sender.counters().fast_retransmits, 1, "{variant:?}");
    }
}

#[test]
fn data_segments_whose_blocks_bring_news_are_duplicates_to_sack() {
    for recovery in [SackRecovery::Rfc6675, SackRecovery::Ns2] {
        let rules = Config { sack_recovery: recovery, ..config(Variant::Sack) };
        let (mut sender, mut out) = (opened(&rules), Vec::new());
        for n in 0..2 {
            sender.on_ack_with_data(at(20 + n), &ack(1, &[(2, 3 + n)]), &mut out);
            sender.on_ack_with_data(at(20 + n), &ack(1, &[(2, 3 + n)]), &mut out);
        }
        assert!(out.iter().all(|sent| !sent.retransmission), "{recovery:?}: two are not enough");
        sender.on_ack_with_data(at(30), &ack(1, &[(2, 5)]), &mut out);
        assert!(out.iter().any(|sent| sent.seq == 1 && sent.retransmission), "{recovery:?}");
        assert_eq!(sender.counters().acks, 0, "none went alone");
    }
}

#[test]
fn an_ack_that_goes_with_data_cancels_the_delayed_one() {
    let mut receiver = Receiver::new(&config(Variant::Reno));
    assert_eq!(receiver.piggyback(), None, "nothing has come");
    assert_eq!(receiver.on_segment(at(0), 0).map(|ack| ack.next), Some(1));
    assert_eq!(receiver.on_segment(at(1), 1), None);
    assert_eq!(receiver.poll_timeout(), Some(at(101)));
    assert_eq!(receiver.piggyback().map(|ack| ack.next), Some(2));
    assert_eq!(receiver.poll_timeout(), None);
    assert_eq!(receiver.on_timeout(at(101)), None);
    // The count of segments begins anew.
    assert_eq!(receiver.on_segment(at(102), 2), None);
    assert_eq!(receiver.poll_timeout(), Some(at(202)));
    assert_eq!(receiver.on_segment(at(103), 3).map(|ack| ack.next), Some(4));
}

#[test]
fn every_ride_reports_all_blocks_the_most_recent_first() {
    let mut receiver = Receiver::new(&config(Variant::Sack));
    let blocks = |ack: Option<Ack>| ack.map(|ack| ack.sack.as_slice().to_vec());
    receiver.on_segment(at(0), 0);
    let alone = [3, 6].map(|seq| receiver.on_segment(at(1), seq));
    assert_eq!(blocks(alone[1]), Some(vec![(6, 7), (3, 4)]));
    for _ in 0..3 {
        let ride = receiver.piggyback();
        assert_eq!(ride.map(|ack| ack.size), alone[1].map(|ack| ack.size));
        assert_eq!(blocks(ride), Some(vec![(6, 7), (3, 4)]));
    }
    for seq in [1, 2] {
        receiver.on_segment(at(2), seq);
    }
    assert_eq!(receiver.piggyback().map(|ack| ack.next), Some(4));
    assert_eq!(blocks(receiver.piggyback()), Some(vec![(6, 7)]));
    for seq in [4, 5] {
        receiver.on_segment(at(3), seq);
    }
    assert_eq!(receiver.piggyback(), Some(ack(7, &[])));
}

fn linux(sack: bool) -> Config {
    let rules = Overrides {
        profile: Some(Profile::Linux),
        segment_size: Some(Bytes::new(1000)),
        sack: Some(sack),
        ..Overrides::default()
    };
    Config::resolve(&rules).expect("sound")
}

fn options(stamp: u32, echo: u32, window: u32) -> AckOptions {
    AckOptions { stamp, echo, window, marked: false, opens: false }
}

#[test]
fn a_sender_of_linux_ends_no_handshake_and_takes_windows_from_segments() {
    let (mut sender, mut out) = (Sender::new(&linux(false)), Vec::new());
    sender.go_both_ways();
    sender.supply(at(0), 100, &mut out);
    sender.start(at(0), &mut out);
    let seqs = |out: &[Transmission]| out.iter().map(|sent| sent.seq).collect::<Vec<_>>();
    sender.on_full_ack_with_data(at(10), &ack(1, &[]), &options(10, 0, 5_000), &mut out);
    assert_eq!(sender.known_round_trip(), Some((10_000, 210)));
    // No ACK of its own, and as much as the window has room for.
    assert_eq!(seqs(&out), [0, 1, 2, 3, 4, 5]);
    out.clear();
    // Without data such a window would be an old one.
    sender.on_full_ack(at(20), &ack(2, &[]), &options(20, 10, 5_000), &mut out);
    assert_eq!(seqs(&out), [6]);
    out.clear();
    sender.on_full_ack(at(21), &ack(2, &[]), &options(20, 10, 3_000), &mut out);
    sender.on_full_ack_with_data(at(22), &ack(2, &[]), &options(22, 10, 9_000), &mut out);
    assert_eq!(seqs(&out), [7, 8, 9, 10]);
}

#[test]
fn data_segments_are_no_duplicate_acks_to_linux() {
    for alone in [false, true] {
        let (mut sender, mut out) = (opened_linux(), Vec::new());
        for n in 0..20 {
            let (now, options) = (at(20 + n), options(20, 10, 60_000));
            match alone {
                true => sender.on_full_ack(now, &ack(2, &[]), &options, &mut out),
                false => sender.on_full_ack_with_data(now, &ack(2, &[]), &options, &mut out),
            }
        }
        let repaired = out.iter().any(|sent| sent.seq == 2 && sent.retransmission);
        assert_eq!(repaired, alone);
        assert_eq!(sender.counters().duplicate_acks > 0, alone);
    }
}

/// A sender without SACK that has segments from 2 on in flight.
fn opened_linux() -> Sender {
    let (mut sender, mut out) = (Sender::new(&linux(false)), Vec::new());
    sender.go_both_ways();
    sender.supply(at(0), 100, &mut out);
    sender.start(at(0), &mut out);
    sender.on_full_ack_with_data(at(10), &ack(1, &[]), &options(10, 0, 60_000), &mut out);
    sender.on_full_ack_with_data(at(20), &ack(2, &[]), &options(20, 10, 60_000), &mut out);
    sender
}

/// A receiver of Linux to which segment `seq` comes, with its ACKs.
fn segment(receiver: &mut Receiver, ms: u64, seq: u64, bytes: u64) -> Vec<u64> {
    let mut acks = Vec::new();
    let flags = SegmentFlags { push: true, ..SegmentFlags::default() };
    let options = SegmentOptions { stamp: ms as u32, echo: 1, flags, marked: false };
    receiver.on_packet(at(ms), (seq, Bytes::new(bytes)), &options, &mut acks);
    acks.iter().map(|(ack, _)| ack.next).collect()
}

#[test]
fn a_receiver_of_linux_leaves_its_acks_to_data_that_answer() {
    let mut receiver = Receiver::new(&linux(true));
    assert_eq!(receiver.piggyback_full(at(0)), None, "nothing has come");
    assert_eq!(segment(&mut receiver, 1, 0, 0), [1]);
    let (_, options) = receiver.piggyback_full(at(1)).expect("the SYN of this host");
    assert_eq!((options.stamp, options.echo), (1, 1));
    receiver.on_handshake(at(10));
    // The end of a push is acknowledged as it is read, as long as nothing has answered.
    assert_eq!(segment(&mut receiver, 20, 1, 500), [2]);
    receiver.ack_was_piggybacked(at(20));
    assert_eq!(segment(&mut receiver, 30, 2, 500), [] as [u64; 0]);
    assert!(receiver.poll_timeout().is_some_and(|due| due > at(60)), "it waits");
    let (ride, options) = receiver.piggyback_full(at(35)).expect("the answer");
    assert_eq!((ride.next, options.stamp, options.echo), (3, 35, 30));
    assert_eq!(receiver.poll_timeout(), None);
    // Where no answer comes the delayed ACK goes, and the next ones do not wait for data.
    assert_eq!(segment(&mut receiver, 50, 3, 500), [] as [u64; 0]);
    let due = receiver.poll_timeout().expect("it waits");
    let mut acks = Vec::new();
    receiver.on_full_timeout(due, &mut acks);
    assert_eq!(acks.len(), 1);
    assert_eq!(segment(&mut receiver, 200, 4, 500), [5]);
}

#[test]
fn the_host_that_opens_acknowledges_the_other_syn_at_once() {
    let mut receiver = Receiver::new(&linux(true));
    let (mut acks, syn) = (Vec::new(), SegmentOptions { stamp: 7, ..SegmentOptions::default() });
    for ms in [10, 40] {
        receiver.on_answer(at(ms), &syn, &mut acks);
        let (ack, options) = acks.pop().expect("it goes now");
        assert_eq!((ack.next, ack.size, options.echo), (1, receiver.ack_size(), 7));
        assert!(acks.is_empty());
    }
    assert_eq!(receiver.duplicates(), 1);
    assert_eq!(segment(&mut receiver, 50, 1, 948), [2]);
}
