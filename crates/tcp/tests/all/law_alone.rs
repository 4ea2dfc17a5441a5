//! The window law by itself has the windows of a whole sender that has it.

use burstlab_tcp::{Congestion, LawAlone, LinuxOptions, Stage};
use burstlab_units::{Span, Time};

use crate::bottleneck::{Bottleneck, Network};

const ROUND_TRIP: Span = Span::from_ms(60);

/// Runs a sender that loses the segments in `lost` once each, and the law next to it. Returns how
/// often their windows were compared, and how many repairs there were.
fn compare(congestion: Congestion, lost: &'static [(u64, u64)]) -> (u32, u32) {
    let options = LinuxOptions {
        congestion,
        timestamps: false,
        tlp: false,
        send_buffer: (u64::MAX / 4, u64::MAX / 4),
        ..LinuxOptions::default()
    };
    let path = Bottleneck { service: Span::from_us(120), ..Bottleneck::wide(ROUND_TRIP) };
    let mut network = Network::new(path, std::slice::from_ref(&options), Span::ZERO);
    network.loses = Box::new(move |_, seq, again| {
        !again && lost.iter().any(|&(from, to)| (from..to).contains(&seq))
    });
    let mut alone: Option<LawAlone> = None;
    let (mut sent_at, mut before) = (vec![Time::ZERO], (1, 1, Stage::Open));
    let (mut compared, mut repairs) = (0, 0);
    network.run(Time::from_ps(20_000_000_000_000), |network, _| {
        let (now, sender) = (network.now, &network.flows[0].sender);
        let law = alone.get_or_insert_with(|| LawAlone::new(&options, now));
        let (acked, delivered) = (sender.info().acked, sender.info().delivered);
        let stage = sender.info().stage;
        assert_ne!(stage, Stage::Loss, "nothing times out");
        if stage == Stage::Recovery && before.2 != Stage::Recovery {
            law.on_loss(now);
            repairs += 1;
        } else if stage != Stage::Recovery && before.2 == Stage::Recovery {
            law.on_repaired(now);
        }
        if acked > before.0 {
            let rtt = now.since(sent_at[acked as usize - 1]);
            law.on_ack(now, rtt, (delivered - before.1) as u32, true);
        }
        if stage != Stage::Recovery {
            assert_eq!(
                law.cwnd(),
                sender.info().cwnd,
                "{congestion:?} at {now}, {acked} acknowledged"
            );
            compared += 1;
        }
        while (sent_at.len() as u64) < sender.info().next {
            law.on_sent(now, false);
            sent_at.push(now);
        }
        before = (acked, delivered, stage);
    });
    (compared, repairs)
}

#[test]
fn windows_are_those_of_the_sender() {
    // Single losses and bursts of them: in slow start, below the last maximum, so that fast
    // convergence counts, and after a long time without.
    let lost: &[_] = &[(300, 301), (4_000, 4_020), (6_000, 6_001), (40_000, 40_030)];
    for congestion in [Congestion::Cubic, Congestion::Reno] {
        let (compared, repairs) = compare(congestion, lost);
        assert!(compared > 10_000, "{congestion:?}: {compared}");
        assert!(repairs >= 3, "{congestion:?}: {repairs} repairs");
    }
}

#[test]
fn a_time_out_begins_anew_and_a_reduction_for_nothing_is_taken_back() {
    let at = |ms: u64| Time::ZERO + Span::from_ms(ms);
    let options = LinuxOptions { initial_window: 40, ..LinuxOptions::default() };
    let mut law = LawAlone::new(&options, at(1));
    law.on_loss(at(10));
    assert_eq!((law.cwnd(), law.ssthresh()), (28, Some(28)));
    law.on_spurious(at(20));
    assert_eq!((law.cwnd(), law.ssthresh()), (40, None));
    law.on_timeout(at(30));
    assert_eq!((law.cwnd(), law.ssthresh()), (1, Some(28)));
    law.on_ack(at(90), ROUND_TRIP, 1, false);
    assert_eq!(law.cwnd(), 1, "what the application limits does not grow");
    law.on_ack(at(90), ROUND_TRIP, 1, true);
    assert_eq!(law.cwnd(), 2);
}

#[test]
#[should_panic(expected = "only Reno and CUBIC")]
fn a_law_that_goes_by_more_is_refused() {
    let options = LinuxOptions { congestion: Congestion::Bbr, ..LinuxOptions::default() };
    let _ = LawAlone::new(&options, Time::ZERO);
}
