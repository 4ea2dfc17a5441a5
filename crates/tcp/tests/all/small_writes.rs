//! An application that writes less than a segment at a time: what goes out is what is written.

use burstlab_tcp::{
    Ack, Config, Overrides, Profile, SackBlocks, Sender, Transmission, Variant, WindowLaw,
};
use burstlab_units::{Bytes, Time};

fn ms(ms: u64) -> Time {
    Time::from_ps(ms * 1_000_000_000)
}

fn ack(next: u64) -> Ack {
    Ack { next, sack: SackBlocks::NONE, size: Bytes::new(52) }
}

/// A sender whose SYN is acknowledged, and what its segments are longer by than their data.
fn opened(given: &Overrides) -> (Sender, u64) {
    let config = Config::resolve(given).expect("is valid");
    let mut sender = Sender::new(&config);
    // Data alone are looked at: no FIN follows them.
    sender.stay_open();
    sender.start(Time::ZERO, &mut Vec::new());
    sender.on_ack(ms(10), &ack(1), &mut Vec::new());
    (sender, config.headers().get())
}

/// Has the application write up to byte `total`; answers the number and the data of each segment
/// that goes.
fn write(
    (sender, headers): &mut (Sender, u64),
    at: Time,
    (total, closes): (u64, bool),
) -> Vec<(u64, u64)> {
    let mut out = Vec::new();
    sender.supply_bytes(at, Bytes::new(total), closes, &mut out);
    data(&out, *headers)
}

fn data(out: &[Transmission], headers: u64) -> Vec<(u64, u64)> {
    out.iter().map(|sent| (sent.seq, sent.size.get() - headers)).collect()
}

fn kinds() -> Vec<Overrides> {
    let all = [
        (Profile::Rfc, Variant::NewReno),
        (Profile::Rfc, Variant::Sack),
        (Profile::Ns2, Variant::NewReno),
        (Profile::Linux, Variant::Linux),
    ];
    let of = |&(profile, variant): &(Profile, Variant)| Overrides {
        profile: Some(profile),
        variant: Some(variant),
        segment_size: Some(Bytes::new(1_500)),
        ..Overrides::default()
    };
    all.iter().map(of).collect()
}

#[test]
fn a_segment_has_nothing_that_is_not_written_yet() {
    for given in kinds() {
        let mut host = opened(&given);
        let mut sent = Vec::new();
        for n in 1..=4 {
            let at = ms(1_000 * n);
            let now = write(&mut host, at, (1_000 * n, n == 4));
            assert_eq!(now, [(n, 1_000)], "{given:?}");
            sent.extend(now);
            host.0.on_ack(at + ms(100).since(Time::ZERO), &ack(n + 1), &mut Vec::new());
            assert_eq!(host.0.bytes_before(n + 1), 1_000 * n, "acknowledged");
            assert!(host.0.finished(), "all that is written");
        }
    }
}

#[test]
fn what_waits_for_the_window_takes_more_up_to_a_segment() {
    let rfc = Overrides {
        profile: Some(Profile::Rfc),
        initial_window: Some(2),
        segment_size: Some(Bytes::new(1_040)),
        ..Overrides::default()
    };
    let mut host = opened(&rfc);
    assert_eq!(write(&mut host, ms(20), (2_300, false)), [(1, 1_000), (2, 1_000)]);
    // 300 bytes wait, and 1,200 more come.
    assert_eq!(write(&mut host, ms(30), (3_500, false)), []);
    let mut out = Vec::new();
    host.0.on_ack(ms(120), &ack(2), &mut out);
    assert_eq!(data(&out, host.1), [(3, 1_000), (4, 500)]);
    // A segment that has been sent takes no more data.
    host.0.on_ack(ms(130), &ack(3), &mut Vec::new());
    assert_eq!(write(&mut host, ms(140), (3_600, true)), [(5, 100)]);
    // It goes again as it was.
    let due = host.0.poll_timeout().expect("there is a timer");
    let mut out = Vec::new();
    host.0.on_timeout(due, &mut out);
    assert_eq!(data(&out, host.1), [(3, 1_000)]);
    let mut again = Vec::new();
    host.0.on_ack(due + ms(10).since(Time::ZERO), &ack(4), &mut again);
    assert_eq!(data(&again, host.1), [(4, 500), (5, 100)]);
}

#[test]
fn linux_holds_a_second_short_segment_until_the_first_is_acknowledged() {
    let linux = Overrides {
        profile: Some(Profile::Linux),
        window_law: Some(WindowLaw::Aimd),
        ..Overrides::default()
    };
    let mut host = opened(&linux);
    assert_eq!(write(&mut host, ms(20), (1_000, false)), [(1, 1_000)]);
    assert_eq!(write(&mut host, ms(30), (1_400, false)), []);
    // A whole one goes, and what is left of 2,000 bytes waits (RFC 896 as Minshall has it).
    assert_eq!(write(&mut host, ms(40), (3_000, false)), [(2, 1_448)]);
    let mut out = Vec::new();
    host.0.on_ack(ms(50), &ack(2), &mut out);
    assert_eq!(data(&out, host.1), [(3, 552)]);
    // So does the last write where the connection stays open: it carries no FIN.
    assert_eq!(write(&mut host, ms(60), (3_010, true)), []);
    let mut out = Vec::new();
    host.0.on_ack(ms(70), &ack(4), &mut out);
    assert_eq!(data(&out, host.1), [(4, 10)]);
}

#[test]
fn linux_counts_in_bytes_from_the_first_short_segment_on() {
    let linux = Overrides {
        profile: Some(Profile::Linux),
        window_law: Some(WindowLaw::Aimd),
        initial_window: Some(4),
        ..Overrides::default()
    };
    let mut host = opened(&linux);
    // Ten whole segments, six of which wait as it comes to part of one.
    let whole: Vec<_> = (1..=4).map(|seq| (seq, 1_448)).collect();
    assert_eq!(write(&mut host, ms(20), (14_480, false)), whole);
    assert_eq!(write(&mut host, ms(30), (15_000, false)), []);
    let (mut out, mut next) = (Vec::new(), 5);
    while next < 12 {
        host.0.on_ack(ms(100 + next), &ack(next), &mut out);
        next = out.last().expect("more goes").seq + 1;
    }
    let mut all: Vec<_> = (5..=10).map(|seq| (seq, 1_448)).collect();
    all.push((11, 520));
    assert_eq!(data(&out, host.1), all);
    assert_eq!((host.0.bytes_before(12), host.0.limit()), (15_000, 12));
}
