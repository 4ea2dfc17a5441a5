//! The sender of Linux behind the face of all senders: given these ACKs, exactly these segments.

use burstlab_tcp::{
    Ack, Config, Detector, Overrides, Profile, SackBlocks, Sender, SlowStart, Transmission,
    WindowLaw,
};
use burstlab_units::{Bytes, Span, Time};

fn given() -> Overrides {
    Overrides {
        profile: Some(Profile::Linux),
        window_law: Some(WindowLaw::Aimd),
        ..Overrides::default()
    }
}

fn ms(ms: u64) -> Time {
    Time::from_ps(ms * 1_000_000_000)
}

fn ack(next: u64, blocks: &[(u64, u64)]) -> Ack {
    let mut sack = SackBlocks::NONE;
    blocks.iter().for_each(|&(left, right)| sack.push(left, right));
    Ack { next, sack, size: Bytes::new(52) }
}

/// A sender with `data` segments, a round trip of 100 ms, and the data it sent when the SYN was
/// acknowledged at 100 ms, behind the third packet of the handshake.
fn opened(given: &Overrides, data: u64) -> (Sender, Vec<u64>) {
    let mut sender = Sender::new(&Config::resolve(given).expect("is valid"));
    let mut out = Vec::new();
    sender.supply(Time::ZERO, data, &mut out);
    sender.start(Time::ZERO, &mut out);
    assert_eq!(seqs(&mut out), [0]);
    sender.on_ack(ms(100), &ack(1, &[]), &mut out);
    let mut sent = seqs(&mut out);
    assert_eq!(sent.remove(0), 0, "an ACK alone");
    (sender, sent)
}

fn seqs(out: &mut Vec<Transmission>) -> Vec<u64> {
    out.drain(..).map(|sent| sent.seq).collect()
}

#[test]
fn ten_segments_go_at_once_and_each_ack_lets_two_follow() {
    let (mut sender, sent) = opened(&given(), u64::MAX);
    assert_eq!(sent, (1..=10).collect::<Vec<_>>());
    let mut out = Vec::new();
    sender.on_ack(ms(200), &ack(2, &[]), &mut out);
    assert_eq!(seqs(&mut out), [11, 12]);
    assert_eq!(sender.cwnd(), 11.0);
}

#[test]
fn a_tail_is_probed_after_two_round_trips() {
    let (mut sender, sent) = opened(&given(), 4);
    assert_eq!(sent, [1, 2, 3, 4]);
    // 202 ms after it was set at 100 ms, and a bucket of eight ticks later at most.
    let due = sender.poll_timeout().expect("there is a timer");
    assert!(due >= ms(302) && due <= ms(310), "{due}");
    let mut out = Vec::new();
    sender.on_timeout(due, &mut out);
    assert_eq!(seqs(&mut out), [4]);
    assert_eq!(sender.counters().timeouts, 0);
}

#[test]
fn without_probes_the_time_out_comes() {
    let without = Overrides { tail_loss_probe: Some(false), ..given() };
    let (mut sender, _) = opened(&without, 4);
    let due = sender.poll_timeout().expect("there is a timer");
    // 300 ms: a round trip and 200 ms.
    assert!(due >= ms(400) && due <= ms(410), "{due}");
    let mut out = Vec::new();
    sender.on_timeout(due, &mut out);
    assert_eq!(seqs(&mut out), [1]);
    assert_eq!((sender.counters().timeouts, sender.cwnd()), (1, 1.0));
}

#[test]
fn what_was_for_nothing_is_taken_back_when_it_arrives_twice() {
    let (mut sender, _) = opened(&given(), u64::MAX);
    let mut out = Vec::new();
    // Segments 2 to 10 arrive before segment 1, which is taken for lost at the third.
    for high in 3..=11 {
        let at = ms(200) + Span::from_us(100 * high);
        sender.on_ack(at, &ack(1, &[(2, high)]), &mut out);
    }
    let again: Vec<u64> =
        out.drain(..).filter(|sent| sent.retransmission).map(|sent| sent.seq).collect();
    assert_eq!(again, [1]);
    assert_eq!(sender.ssthresh(), 5.0);
    // Now it is there, and then a second time.
    sender.on_ack(ms(210), &ack(11, &[]), &mut out);
    let next = 11 + sender.in_flight();
    sender.on_ack(ms(310), &ack(11, &[(1, 2)]), &mut out);
    assert!(next > 11);
    assert!(sender.cwnd() >= 10.0, "{}", sender.cwnd());
    assert_eq!(sender.ssthresh(), 2_147_483_647.0);
}

#[test]
fn what_the_sender_lacks_is_refused_with_the_mend() {
    for (wrong, field) in [
        (Overrides { window_law: Some(WindowLaw::Fast), ..given() }, "window_law"),
        (Overrides { send_jitter: Some(Span::from_ms(1)), ..given() }, "send_jitter"),
        (
            Overrides { window_law: Some(WindowLaw::Bbr), bbr_phase: Some(7), ..given() },
            "bbr_phase",
        ),
        (Overrides { window_law: Some(WindowLaw::Cubic), ..Overrides::default() }, "window_law"),
        (Overrides { slow_start: Some(SlowStart::Hystart), ..given() }, "slow_start"),
        (
            Overrides {
                window_law: Some(WindowLaw::Bbr3),
                slow_start: Some(SlowStart::HystartPlusPlus),
                ..given()
            },
            "slow_start",
        ),
        (Overrides { detector: Some(Detector::Law), ..given() }, "detector"),
        (Overrides { detector: Some(Detector::Python), ..given() }, "detector_class"),
    ] {
        let error = Config::resolve(&wrong).expect_err("is refused");
        assert_eq!(error.field, field);
        assert!(!error.fix.is_empty());
    }
}
