//! Vegas and FAST: the laws that go by delay, over a path and rule by rule.

use burstlab_tcp::{
    Ack, Config, Detector, Notice, Overrides, Profile, SackBlocks, Sender, State, Transmission,
    Variant, Verdict, WindowLaw,
};
use burstlab_units::{Bytes, Span, Time};

use crate::path::{Path, World};

const SECOND: Span = Span::from_secs(1);

fn config(overrides: &Overrides) -> Config {
    let base = Overrides {
        variant: Some(Variant::Vegas),
        delayed_ack: Some(false),
        window: Some(400),
        ..Overrides::default()
    };
    Config::resolve(&overrides.over(&base)).expect("is valid")
}

/// 100 ms there and back and 8 Mb/s, 1 ms for a segment: with headers and ACKs a little more than
/// 100 segments fill it.
fn bottleneck() -> Path {
    Path {
        rates_bps: [8_000_000, 10_000_000_000, 10_000_000_000, 10_000_000_000, 8_000_000],
        delays: [Span::from_ms(10); 5],
        ..Path::default()
    }
}

/// Runs for 60 s and returns what the sender made of it: window and segments in queues, by its
/// rate.
fn settled(overrides: &Overrides) -> (World, f64) {
    let mut world = World::new(bottleneck(), &config(overrides));
    world.run(Time::ZERO + SECOND * 50);
    let before = world.delivered();
    world.run(Time::ZERO + SECOND * 60);
    let rate = (world.delivered() - before) as f64 / 10.0;
    assert_eq!(world.sender.counters().retransmissions, 0);
    let base = world.sender.base_rtt().expect("a law that goes by delay");
    let queued = world.sender.cwnd() - rate * base.as_secs_f64();
    (world, queued)
}

#[test]
fn vegas_keeps_alpha_to_beta_segments_in_the_queue_at_full_rate() {
    for profile in [Profile::Rfc, Profile::Ns2] {
        for (alpha, beta) in [(2, 5), (20, 25)] {
            let (world, queued) = settled(&Overrides {
                profile: Some(profile),
                vegas_alpha: Some(alpha),
                vegas_beta: Some(beta),
                ..Overrides::default()
            });
            let (low, high) = (f64::from(alpha) - 1.0, f64::from(beta) + 1.0);
            assert!(queued >= low && queued <= high, "{profile:?}: {queued} in the queue");
            assert_eq!(world.sender.state(), State::CongestionAvoidance);
            assert!(world.delivered() > 52_000, "{profile:?}: {} of 60,000", world.delivered());
        }
    }
}

#[test]
fn fast_settles_where_alpha_segments_are_queued() {
    for alpha in [5, 40] {
        let (world, queued) = settled(&Overrides {
            variant: Some(Variant::Sack),
            window_law: Some(WindowLaw::Fast),
            fast_alpha: Some(alpha),
            ..Overrides::default()
        });
        assert!((queued - f64::from(alpha)).abs() < 0.5, "{queued} and not {alpha} in the queue");
        assert!(world.delivered() > 55_000, "{} of 60,000", world.delivered());
    }
}

#[test]
fn reno_fills_the_window_where_vegas_does_not() {
    let overrides = Overrides {
        variant: Some(Variant::Reno),
        profile: Some(Profile::Ns2),
        ..Overrides::default()
    };
    let mut world = World::new(bottleneck(), &config(&overrides));
    world.run(Time::ZERO + SECOND * 60);
    assert!(world.sender.in_flight() > 390);
    assert_eq!(world.sender.base_rtt(), None);
}

/// A sender, its clock, and what it sent.
struct Script {
    sender: Sender,
    now: Time,
    out: Vec<Transmission>,
}

impl Script {
    fn new(overrides: &Overrides) -> Self {
        let mut script =
            Self { sender: Sender::new(&config(overrides)), now: Time::ZERO, out: Vec::new() };
        script.sender.supply(Time::ZERO, u64::MAX, &mut script.out);
        script.sender.start(Time::ZERO, &mut script.out);
        assert_eq!(script.sent(), [0]);
        script
    }

    fn sent(&mut self) -> Vec<u64> {
        self.out.drain(..).map(|segment| segment.seq).collect()
    }

    fn wait(&mut self, ms: u64) {
        self.now += Span::from_ms(ms);
    }

    fn ack(&mut self, next: u64) -> Vec<u64> {
        let ack = Ack { next, sack: SackBlocks::NONE, size: Bytes::new(40) };
        self.sender.on_ack(self.now, &ack, &mut self.out);
        self.sent()
    }

    /// After `ms` everything outstanding is acknowledged, one segment after the other.
    fn round(&mut self, ms: u64) {
        self.wait(ms);
        let acked = self.sender.highest_acked().map_or(0, |last| last + 1);
        for next in acked + 1..=acked + self.sender.in_flight() {
            self.ack(next);
        }
    }

    /// Rounds of 100 ms until so many segments are outstanding; returns the first of them.
    fn grown(overrides: &Overrides, outstanding: u64) -> (Self, u64) {
        let mut script = Self::new(overrides);
        script.round(100);
        for _ in 0..100 {
            script.round(100);
            if script.sender.in_flight() >= outstanding {
                let first = script.sender.highest_acked().map_or(0, |last| last + 1);
                return (script, first);
            }
        }
        panic!("the window stays at {}", script.sender.cwnd());
    }

    fn timeout(&mut self) -> Vec<u64> {
        self.now = self.sender.poll_timeout().expect("something is outstanding");
        self.sender.on_timeout(self.now, &mut self.out);
        self.sent()
    }
}

/// A window of 16 from the start, and never more.
fn sixteen() -> Overrides {
    Overrides {
        window: Some(16),
        initial_window: Some(16),
        initial_ssthresh: Some(16),
        ..Overrides::default()
    }
}

#[test]
fn slow_start_doubles_every_other_round() {
    for (profile, windows) in [
        (Profile::Rfc, [4.0, 8.0, 8.0, 16.0, 16.0, 32.0]),
        (Profile::Ns2, [1.0, 3.0, 3.0, 6.0, 6.0, 12.0]),
    ] {
        let mut s = Script::new(&Overrides { profile: Some(profile), ..Overrides::default() });
        for window in windows {
            s.round(100);
            assert_eq!(s.sender.cwnd(), window, "{profile:?}");
            assert_eq!(s.sender.state(), State::SlowStart);
        }
    }
}

#[test]
fn slow_start_ends_when_the_delay_rises() {
    let mut s = Script::new(&Overrides::default());
    let mut windows = Vec::new();
    for ms in [100, 100, 100, 100, 100, 120, 120, 120] {
        s.round(ms);
        windows.push(s.sender.cwnd());
    }
    // Doubled, held, and 32 × (1 − 100/120) = 5.3 segments in queues are more than gamma: an eighth
    // less.
    assert_eq!(windows[4..], [16.0, 32.0, 32.0, 28.0]);
    assert_eq!((s.sender.state(), s.sender.ssthresh()), (State::CongestionAvoidance, 2.0));
}

#[test]
fn the_window_takes_one_step_a_round_or_none() {
    let (mut s, _) = Script::grown(&Overrides { window: Some(400), ..sixteen() }, 16);
    let mut windows = Vec::new();
    // 16 segments and 100 ms: 0 in queues, then 17 × (1 − 100/125) = 3.4, then 17 × (1 − 100/150).
    for ms in [100, 100, 125, 125, 125, 150, 150, 150] {
        s.round(ms);
        windows.push(s.sender.cwnd());
    }
    for pair in windows.windows(2) {
        assert!((pair[1] - pair[0]).abs() <= 1.0, "{windows:?}");
    }
    assert!(windows[1] > windows[0] && windows[4] == windows[3], "{windows:?}");
    assert!(windows[7] < windows[6], "{windows:?}");
}

#[test]
fn the_first_duplicate_retransmits_what_is_overdue_and_no_earlier() {
    let (mut s, first) = Script::grown(&sixteen(), 16);
    // Round trips of 100 ms: a segment is overdue after 106 ms or a little more.
    s.wait(50);
    assert_eq!(s.ack(first), Vec::<u64>::new(), "not yet");
    s.wait(150);
    assert_eq!(s.ack(first), [first], "the second duplicate, and overdue");
    assert_eq!((s.sender.counters().fast_retransmits, s.sender.state()), (1, State::Recovery));
    let window = s.sender.cwnd();
    // Three quarters of what it was.
    assert_eq!(window, 12.0);
    // The first ACK of new data: the next segment is overdue too. The window has been cut once.
    s.wait(1);
    let sent = s.ack(first + 1);
    assert_eq!(sent[0], first + 1);
    assert!(s.sender.cwnd() >= window);
    s.wait(1);
    assert_eq!(s.ack(first + 2)[0], first + 2, "and the second ACK");
    s.wait(1);
    assert_ne!(s.ack(first + 3).first(), Some(&(first + 3)), "not the third");
    assert_eq!(s.sender.state(), State::CongestionAvoidance);
}

#[test]
fn the_third_duplicate_retransmits_what_is_not_overdue() {
    let (mut s, first) = Script::grown(&sixteen(), 16);
    s.wait(50);
    assert_eq!(s.ack(first), Vec::<u64>::new());
    assert_eq!(s.ack(first), Vec::<u64>::new());
    assert_eq!(s.ack(first), [first]);
    assert_eq!(s.sender.cwnd(), 12.0);
    assert_eq!(s.sender.rtt().backoff, 1);
}

#[test]
fn a_segment_lost_again_halves_the_window() {
    let (mut s, first) = Script::grown(&sixteen(), 16);
    s.wait(50);
    for _ in 0..3 {
        s.ack(first);
    }
    assert_eq!(s.sender.cwnd(), 12.0);
    // So is the next segment, which is now overdue, and its retransmission.
    s.wait(200);
    assert_eq!(s.ack(first + 1)[0], first + 1);
    s.wait(300);
    assert_eq!(s.ack(first + 1)[0], first + 1);
    assert_eq!(s.sender.cwnd(), 6.0);
}

#[test]
fn after_a_time_out_the_window_is_two() {
    for profile in [Profile::Rfc, Profile::Ns2] {
        let overrides = Overrides { profile: Some(profile), ..sixteen() };
        let (mut s, first) = Script::grown(&overrides, 16);
        assert_eq!(s.timeout(), [first, first + 1]);
        assert_eq!((s.sender.cwnd(), s.sender.ssthresh()), (2.0, 8.0), "{profile:?}");
        assert_eq!(s.sender.rtt().backoff, 2);
    }
}

/// Segments sent twice give no measurement, which must not keep the window small.
#[test]
fn after_a_time_out_the_window_climbs_as_after_the_syn() {
    for profile in [Profile::Rfc, Profile::Ns2] {
        let overrides = Overrides {
            window: Some(128),
            profile: Some(profile),
            initial_ssthresh: Some(128),
            rto_fixed: Some(Span::from_ms(200)),
            ..Overrides::default()
        };
        let (mut s, first) = Script::grown(&overrides, 128);
        s.round(100);
        assert!(s.timeout().starts_with(&[first + 128, first + 129]), "{profile:?}");
        assert_eq!(s.sender.ssthresh(), 64.0);
        let mut rounds = 0;
        while s.sender.cwnd() < 64.0 {
            s.round(100);
            rounds += 1;
            assert!(rounds < 12, "{profile:?}: {} after 12 rounds", s.sender.cwnd());
        }
        for _ in 0..10 {
            s.round(100);
        }
        assert!((72.0..76.0).contains(&s.sender.cwnd()), "{profile:?}: {}", s.sender.cwnd());
    }
}

#[test]
fn plain_progress_takes_the_fast_path_and_nothing_else() {
    let (mut s, first) = Script::grown(&sixteen(), 16);
    assert!(s.sender.is_fast());
    s.wait(300);
    assert_eq!(s.ack(first), [first]);
    assert!(!s.sender.is_fast(), "it will ask what else is overdue");
    s.ack(first + 1);
    assert!(!s.sender.is_fast(), "and once more");
}

/// ns-2's Vegas goes on asking what is overdue when a time-out has come in between.
#[test]
fn a_time_out_in_a_repair_of_ns2_is_no_end_of_it() {
    let overrides = Overrides { profile: Some(Profile::Ns2), window: Some(2), ..sixteen() };
    let (mut s, first) = Script::grown(&overrides, 2);
    s.wait(300);
    assert_eq!(s.ack(first), [first]);
    assert_eq!(s.timeout(), [first, first + 1], "all that is outstanding");
    assert_eq!(s.sender.state(), State::Recovery);
    assert!(!s.sender.is_fast());
}

#[test]
fn detectors_of_false_time_outs_combine_with_vegas() {
    for window_law in [WindowLaw::Vegas, WindowLaw::Fast] {
        for detector in [Detector::Ble, Detector::Back, Detector::Bnak, Detector::Oracle] {
            let overrides =
                Overrides { detector: Some(detector), window_law: Some(window_law), ..sixteen() };
            let (mut s, first) = Script::grown(&overrides, 16);
            let window = s.sender.cwnd();
            let segments: Vec<u64> = s.sender.outstanding().collect();
            let notice = match detector {
                Detector::Back => Notice::Left,
                _ => Notice::Dropped,
            };
            s.sender.tell(Verdict::False);
            s.sender.on_notice(s.now, notice, 1, &segments, &mut s.out);
            let mut sent = s.sent();
            if sent.is_empty() {
                sent = s.timeout();
            }
            assert_eq!(sent[0], first, "{detector:?}");
            assert_eq!(s.sender.cwnd(), window / 2.0, "{detector:?}: half, and no slow start");
            assert_eq!(sent.len() as f64, (window / 2.0).floor());
            assert_eq!(s.sender.rtt().backoff, 1, "{detector:?}");
            // And the law goes on from there.
            for _ in 0..4 {
                s.round(100);
            }
            assert!(s.sender.cwnd() > window / 2.0, "{detector:?}: {}", s.sender.cwnd());
        }
    }
}

#[test]
fn a_true_time_out_is_one_with_a_detector_too() {
    let overrides = Overrides { detector: Some(Detector::Oracle), ..sixteen() };
    let (mut s, first) = Script::grown(&overrides, 16);
    s.sender.tell(Verdict::True);
    assert_eq!(s.timeout(), [first, first + 1]);
    assert_eq!((s.sender.cwnd(), s.sender.counters().excused_timeouts), (2.0, 0));
}

#[test]
fn the_law_combines_with_any_recovery() {
    for variant in [Variant::Reno, Variant::NewReno, Variant::Sack] {
        let overrides = Overrides {
            variant: Some(variant),
            window_law: Some(WindowLaw::Vegas),
            ..Overrides::default()
        };
        let mut network = bottleneck();
        network.drops = [(3_000, 1), (9_000, 1), (9_003, 1)].into();
        let mut world = World::new(network, &config(&overrides));
        world.run(Time::ZERO + SECOND * 60);
        let counters = world.sender.counters();
        assert!(counters.fast_retransmits >= 2 && counters.retransmissions >= 3, "{variant:?}");
        assert!(world.sender.cwnd() < 130.0, "{variant:?}: {}", world.sender.cwnd());
        assert!(world.delivered() > 45_000, "{variant:?}: {}", world.delivered());
    }
}
