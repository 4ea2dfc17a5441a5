//! Endpoints of a connection with data in both directions: ACKs that go with data, and what a
//! sender makes of them.

use burstlab_tcp::{
    Ack, Config, Overrides, Profile, Receiver, SackBlocks, SackRecovery, Sender, Variant,
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

/// A sender with segments 1 to 10 under way.
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
    assert_eq!(receiver.on_ride(), None, "nothing has come");
    assert_eq!(receiver.on_segment(at(0), 0).map(|ack| ack.next), Some(1));
    assert_eq!(receiver.on_segment(at(1), 1), None);
    assert_eq!(receiver.poll_timeout(), Some(at(101)));
    assert_eq!(receiver.on_ride().map(|ack| ack.next), Some(2));
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
        let ride = receiver.on_ride();
        assert_eq!(ride.map(|ack| ack.size), alone[1].map(|ack| ack.size));
        assert_eq!(blocks(ride), Some(vec![(6, 7), (3, 4)]));
    }
    for seq in [1, 2] {
        receiver.on_segment(at(2), seq);
    }
    assert_eq!(receiver.on_ride().map(|ack| ack.next), Some(4));
    assert_eq!(blocks(receiver.on_ride()), Some(vec![(6, 7)]));
    for seq in [4, 5] {
        receiver.on_segment(at(3), seq);
    }
    assert_eq!(receiver.on_ride(), Some(ack(7, &[])));
}
