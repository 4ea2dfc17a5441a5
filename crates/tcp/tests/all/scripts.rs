//! Packet scripts: one rule each. Every line of a script says what goes in and all that comes out.

use burstlab_tcp::{
    Ack, Config, FastRecoveryExit, NewRenoTimer, Overrides, Profile, Receiver, RenoFastRetransmits,
    RtoEstimator, SackBlocks, Sender, State, Transmission, Variant,
};
use burstlab_units::{Bytes, Span, Time};

/// Nothing is sent.
const NONE: [u64; 0] = [];

/// The variants whose window follows losses.
const BY_LOSS: [Variant; 4] = [Variant::Tahoe, Variant::Reno, Variant::NewReno, Variant::Sack];

/// A sender and the clock of its script.
struct Script {
    sender: Sender,
    now: Time,
    out: Vec<Transmission>,
}

fn config(profile: Profile, variant: Variant, overrides: &Overrides) -> Config {
    let base = Overrides { profile: Some(profile), variant: Some(variant), ..Overrides::default() };
    Config::resolve(&overrides.over(&base)).expect("is valid")
}

impl Script {
    /// A connection with data without end whose SYN has just gone out.
    fn new(config: &Config) -> Self {
        let mut script = Self::silent(config);
        script.sender.supply(Time::ZERO, u64::MAX, &mut script.out);
        assert_eq!(script.sent(), NONE);
        script.sender.start(Time::ZERO, &mut script.out);
        assert_eq!(script.sent(), [0]);
        script
    }

    /// A connection that has nothing to send yet.
    fn silent(config: &Config) -> Self {
        Self { sender: Sender::new(config), now: Time::ZERO, out: Vec::new() }
    }

    /// A connection in which all went well until `window` segments, from 1 on, are outstanding and
    /// cwnd is `window`; 100 ms a round.
    fn grown(config: &Config, window: u64) -> (Self, u64) {
        let mut script = Self::new(config);
        let mut next = 0;
        script.now += Span::from_ms(100);
        while script.sender.in_flight() < window {
            next += 1;
            script.ack(next, &[]);
        }
        assert_eq!(script.sender.in_flight(), window);
        (script, next)
    }

    fn sent(&mut self) -> Vec<u64> {
        self.out.drain(..).map(|segment| segment.seq).collect()
    }

    fn ack(&mut self, next: u64, sack: &[(u64, u64)]) -> Vec<u64> {
        let mut blocks = SackBlocks::NONE;
        for &(left, right) in sack {
            blocks.push(left, right);
        }
        let ack = Ack { next, sack: blocks, size: Bytes::new(40) };
        self.sender.on_ack(self.now, &ack, &mut self.out);
        self.sent()
    }
}

/// `send!(script, ack N => [what is sent])`; also `ack N sack [(left, right), ...]`, `time-out at`
/// an instant in ms, and `wait` some ms.
macro_rules! send {
    ($script:ident, wait $ms:literal) => {
        $script.now += Span::from_ms($ms);
    };
    ($script:ident, ack $next:expr => $sent:expr) => {
        assert_eq!($script.ack($next, &[]), Vec::<u64>::from($sent), "ack {}", $next);
    };
    ($script:ident, ack $next:expr, sack $blocks:expr => $sent:expr) => {
        assert_eq!($script.ack($next, &$blocks), Vec::<u64>::from($sent), "ack {}", $next);
    };
    ($script:ident, timeout at $ms:expr => $sent:expr) => {
        let due = Time::ZERO + Span::from_ms($ms);
        assert_eq!($script.sender.poll_timeout(), Some(due), "the deadline");
        $script.sender.on_timeout(Time::from_ps(due.as_ps() - 1), &mut $script.out);
        assert_eq!($script.sent(), NONE, "before the deadline");
        $script.now = due;
        $script.sender.on_timeout(due, &mut $script.out);
        assert_eq!($script.sent(), Vec::<u64>::from($sent), "at the deadline");
    };
}

fn range(from: u64, to: u64) -> Vec<u64> {
    (from..to).collect()
}

#[test]
fn slow_start_doubles_then_the_window_grows_by_one_each_round() {
    let overrides = Overrides { initial_ssthresh: Some(4), ..Overrides::default() };
    let mut s = Script::new(&config(Profile::Ns2, Variant::Reno, &overrides));
    assert_eq!(s.sender.state(), State::SlowStart);
    send!(s, wait 100);
    send!(s, ack 1 => [1, 2]);
    send!(s, ack 2 => [3, 4]);
    send!(s, ack 3 => [5, 6]);
    assert_eq!((s.sender.cwnd(), s.sender.state()), (4.0, State::CongestionAvoidance));
    send!(s, ack 4 => [7]);
    assert_eq!(s.sender.cwnd(), 4.25);
    send!(s, ack 7 => [8, 9, 10]);
    assert!(s.sender.cwnd() < 4.5, "per ACK, not per segment");
}

#[test]
fn the_initial_window_follows_rfc_5681() {
    for (segment, window) in [(500, 4), (1000, 4), (1500, 3), (3000, 2)] {
        let overrides =
            Overrides { segment_size: Some(Bytes::new(segment)), ..Overrides::default() };
        let mut s = Script::new(&config(Profile::Rfc, Variant::Sack, &overrides));
        send!(s, ack 1 => range(1, 1 + window));
    }
}

#[test]
fn a_lost_syn_costs_the_initial_window_and_sets_the_time_out() {
    let mut s = Script::new(&config(Profile::Rfc, Variant::Sack, &Overrides::default()));
    send!(s, timeout at 1_000 => [0]);
    send!(s, timeout at 3_000 => [0]);
    send!(s, wait 100);
    send!(s, ack 1 => [1]);
    assert_eq!(s.sender.rtt().samples, 0, "Karn");
    // RFC 6298 (5.7).
    send!(s, timeout at 6_100 => [1]);

    let mut s = Script::new(&config(Profile::Ns2, Variant::Reno, &Overrides::default()));
    send!(s, timeout at 3_000 => [0]);
    send!(s, ack 1 => [1]);
    // The back-off lasts until a segment that was sent once is acknowledged.
    send!(s, timeout at 9_000 => [1]);
}

#[test]
fn acks_of_what_was_never_sent_are_ignored() {
    for variant in BY_LOSS {
        let mut s = Script::new(&config(Profile::Ns2, variant, &Overrides::default()));
        send!(s, ack 2 => NONE);
        send!(s, ack 0 => NONE);
        send!(s, ack 1 => [1, 2]);
        send!(s, ack u64::MAX => NONE);
        send!(s, ack 4 => NONE);
        send!(s, ack 3 => [3, 4, 5]);
        assert_eq!(s.sender.counters().invalid_acks, 4);
        assert_eq!(s.sender.highest_acked(), Some(2));
    }
}

#[test]
fn limited_transmit_sends_one_segment_for_each_early_duplicate() {
    for &variant in &[Variant::Tahoe, Variant::Reno, Variant::NewReno] {
        for limited_transmit in [true, false] {
            let overrides =
                Overrides { limited_transmit: Some(limited_transmit), ..Overrides::default() };
            let (mut s, una) = Script::grown(&config(Profile::Ns2, variant, &overrides), 8);
            let end = una + 8;
            let one = |seq| if limited_transmit { vec![seq] } else { vec![] };
            send!(s, ack una => one(end));
            send!(s, ack una => one(end + 1));
            send!(s, ack una => [una]);
        }
    }
}

#[test]
fn tahoe_goes_back_and_starts_again() {
    let (mut s, una) = Script::grown(&config(Profile::Ns2, Variant::Tahoe, &no_limited()), 8);
    send!(s, ack una => NONE);
    send!(s, ack una => NONE);
    send!(s, ack una => [una]);
    assert_eq!((s.sender.cwnd(), s.sender.ssthresh()), (1.0, 4.0));
    send!(s, ack una => NONE);
    // All behind the lost segment is sent again.
    send!(s, ack una + 1 => [una + 1, una + 2]);
}

fn no_limited() -> Overrides {
    Overrides { limited_transmit: Some(false), ..Overrides::default() }
}

#[test]
fn reno_halves_inflates_and_deflates() {
    let (mut s, una) = Script::grown(&config(Profile::Ns2, Variant::Reno, &no_limited()), 8);
    send!(s, ack una => NONE);
    send!(s, ack una => NONE);
    send!(s, ack una => [una]);
    assert_eq!((s.sender.cwnd(), s.sender.ssthresh()), (4.0, 4.0));
    assert_eq!(s.sender.state(), State::Recovery);
    // 4 + 3 + 1 are as many as are out; each further duplicate releases one.
    send!(s, ack una => NONE);
    send!(s, ack una => [una + 8]);
    send!(s, ack una => [una + 9]);
    send!(s, ack una + 8 => [una + 10, una + 11]);
    assert_eq!(s.sender.cwnd(), 4.25, "ns-2 keeps the window, and the ACK opens it");
    assert_eq!(s.sender.state(), State::CongestionAvoidance);
}

#[test]
fn reno_of_the_rfc_leaves_with_the_threshold() {
    let overrides =
        Overrides { fast_recovery_exit: Some(FastRecoveryExit::Ssthresh), ..no_limited() };
    let (mut s, una) = Script::grown(&config(Profile::Rfc, Variant::Reno, &overrides), 9);
    for _ in 0..3 {
        s.ack(una, &[]);
    }
    assert_eq!((s.sender.cwnd(), s.sender.ssthresh()), (4.0, 4.0));
    send!(s, ack una + 9 => range(una + 9, una + 13));
    assert_eq!(s.sender.cwnd(), 4.0);
}

#[test]
fn an_idealised_reno_halves_at_each_hole_down_to_the_threshold() {
    let choice = RenoFastRetransmits::EachHole;
    let overrides = Overrides { reno_fast_retransmits: Some(choice), ..no_limited() };
    let (mut s, una) = Script::grown(&config(Profile::Ns2, Variant::Reno, &overrides), 16);
    for _ in 0..3 {
        s.ack(una, &[]);
    }
    let windows: Vec<f64> = (1..5)
        .map(|hole| {
            assert_eq!(s.ack(una + hole, &[]).contains(&(una + hole)), hole < 3);
            s.sender.cwnd()
        })
        .collect();
    // 16, then 8 by duplicate ACKs; 4 and 2 by partial ACKs, and no hole is found below 3.
    assert_eq!(windows[..2], [4.0, 2.0]);
}

#[test]
fn reno_reduces_once_or_several_times_for_one_window_of_data() {
    for several in [false, true] {
        let choice = match several {
            true => RenoFastRetransmits::Several,
            false => RenoFastRetransmits::OncePerWindow,
        };
        let overrides = Overrides { reno_fast_retransmits: Some(choice), ..no_limited() };
        let (mut s, una) = Script::grown(&config(Profile::Ns2, Variant::Reno, &overrides), 16);
        for _ in 0..3 {
            s.ack(una, &[]);
        }
        // Only the first of two losses is repaired.
        s.ack(una + 2, &[]);
        let sent: Vec<u64> = (0..3).flat_map(|_| s.ack(una + 2, &[])).collect();
        assert_eq!(sent.contains(&(una + 2)), several);
        assert_eq!(s.sender.counters().fast_retransmits, 1 + u64::from(several));
    }
}

#[test]
fn new_reno_repairs_one_hole_for_each_partial_ack() {
    let (mut s, una) = Script::grown(&config(Profile::Ns2, Variant::NewReno, &no_limited()), 8);
    for _ in 0..2 {
        send!(s, ack una => NONE);
    }
    send!(s, ack una => [una]);
    for _ in 0..2 {
        s.ack(una, &[]);
    }
    // Window 4 and inflation 5; the partial ACK takes two away and gives one back.
    send!(s, ack una + 2 => [una + 2, una + 9]);
    assert_eq!((s.sender.cwnd(), s.sender.state()), (4.0, State::Recovery));
    // Beyond what the inflation holds the window itself shrinks, RFC 6582 section 3.2 step 3.
    send!(s, ack una + 7 => [una + 7, una + 10]);
    assert_eq!(s.sender.cwnd(), 3.0);
    // 8 is the first segment not outstanding at the start.
    send!(s, ack una + 8 => [una + 11]);
    assert_eq!((s.sender.cwnd(), s.sender.state()), (4.0, State::CongestionAvoidance));
    assert_eq!(s.sender.counters().fast_retransmits, 1);
}

#[test]
fn an_impatient_new_reno_restarts_its_timer_once() {
    for timer in [NewRenoTimer::Impatient, NewRenoTimer::SlowButSteady] {
        let overrides = Overrides { new_reno_timer: Some(timer), ..no_limited() };
        let (mut s, una) = Script::grown(&config(Profile::Ns2, Variant::NewReno, &overrides), 8);
        for _ in 0..3 {
            s.ack(una, &[]);
        }
        send!(s, wait 50);
        s.ack(una + 2, &[]);
        let first = s.sender.poll_timeout();
        assert_eq!(first, Some(s.now + s.sender.rto()));
        send!(s, wait 50);
        s.ack(una + 4, &[]);
        let steady = timer == NewRenoTimer::SlowButSteady;
        assert_eq!(s.sender.poll_timeout() > first, steady);
    }
}

#[test]
fn new_reno_of_the_rfc_leaves_without_a_burst() {
    let (mut s, una) = Script::grown(&config(Profile::Rfc, Variant::NewReno, &no_limited()), 20);
    for _ in 0..3 {
        s.ack(una, &[]);
    }
    assert_eq!(s.sender.ssthresh(), 10.0);
    // Nothing remains in flight: RFC 6582 section 3.2 step 3 (1).
    send!(s, ack una + 20 => [una + 20, una + 21]);
    assert_eq!(s.sender.cwnd(), 2.0);
}

/// RFC 6582 section 3.2 step 3 (1): the threshold, or one more than what is in flight.
#[test]
fn fast_recovery_leaves_room_for_one_segment_above_the_flight() {
    for (flight, window) in [(0, 2.0), (1, 2.0), (3, 4.0), (8, 9.0), (9, 10.0)] {
        let (mut s, una) =
            Script::grown(&config(Profile::Rfc, Variant::NewReno, &no_limited()), 20);
        // Ten duplicates give back what the halving took; each further one lets a segment go.
        for _ in 0..10 + flight {
            s.ack(una, &[]);
        }
        assert_eq!((s.sender.in_flight(), s.sender.ssthresh()), (20 + flight, 10.0));
        let room = window as u64 - flight;
        send!(s, ack una + 20 => range(una + 20 + flight, una + 20 + flight + room));
        assert_eq!(s.sender.cwnd(), window);
        assert_ne!(s.sender.state(), State::Recovery);
    }
    // Reno leaves with the first ACK of new data: there the threshold is the smaller.
    let overrides =
        Overrides { fast_recovery_exit: Some(FastRecoveryExit::Flight), ..no_limited() };
    let (mut s, una) = Script::grown(&config(Profile::Rfc, Variant::Reno, &overrides), 20);
    for _ in 0..3 {
        s.ack(una, &[]);
    }
    send!(s, ack una + 1 => NONE);
    assert_eq!((s.sender.cwnd(), s.sender.in_flight()), (10.0, 19));
}

/// An ACK that ends no recovery opens the window as ever, however recoveries end.
#[test]
fn only_a_recovery_that_ends_sets_the_window() {
    for &exit in FastRecoveryExit::ALL {
        for variant in [Variant::Reno, Variant::NewReno] {
            let overrides = Overrides {
                fast_recovery_exit: Some(exit),
                initial_ssthresh: Some(4),
                ..no_limited()
            };
            let (mut s, una) = Script::grown(&config(Profile::Rfc, variant, &overrides), 4);
            let before = s.sender.cwnd();
            send!(s, ack una + 1 => [una + 4]);
            assert_eq!(s.sender.cwnd(), before + 1.0 / before, "{exit:?}, {variant:?}");
        }
    }
}

#[test]
fn the_threshold_leaves_out_what_limited_transmit_released() {
    let (mut s, una) =
        Script::grown(&config(Profile::Rfc, Variant::NewReno, &Overrides::default()), 20);
    send!(s, ack una => [una + 20]);
    send!(s, ack una => [una + 21]);
    send!(s, ack una => [una]);
    assert_eq!(s.sender.ssthresh(), 10.0);
}

#[test]
fn a_pipe_of_ns2_counts_acks() {
    let (mut s, una) = Script::grown(&config(Profile::Ns2, Variant::Sack, &no_limited()), 8);
    send!(s, ack una => NONE);
    assert_eq!(s.sender.cwnd(), 8.0, "no SACK block, no duplicate");
    send!(s, ack una, sack [(una + 1, una + 2)] => NONE);
    send!(s, ack una, sack [(una + 1, una + 2)] => NONE);
    send!(s, ack una, sack [(una + 1, una + 3)] => NONE);
    send!(s, ack una, sack [(una + 1, una + 4)] => [una]);
    // The pipe is 8 - 3 = 5, the window 4.
    send!(s, ack una, sack [(una + 1, una + 5)] => NONE);
    send!(s, ack una, sack [(una + 6, una + 7), (una + 1, una + 5)] => [una + 5]);
    send!(s, ack una, sack [(una + 6, una + 8), (una + 1, una + 5)] => [una + 8]);
    // A partial ACK takes two off.
    send!(s, ack una + 5, sack [(una + 6, una + 8)] => [una + 9, una + 10]);
    send!(s, ack una + 8 => [una + 11]);
    assert_eq!((s.sender.cwnd(), s.sender.state()), (4.0, State::CongestionAvoidance));
}

#[test]
fn rfc_6675_enters_when_three_segments_above_have_arrived() {
    let (mut s, una) = Script::grown(&config(Profile::Rfc, Variant::Sack, &no_limited()), 10);
    // One ACK is enough if its blocks show the loss: "IsLost (HighACK + 1)".
    send!(s, ack una, sack [(una + 1, una + 4)] => [una]);
    assert_eq!((s.sender.cwnd(), s.sender.ssthresh()), (5.0, 5.0));
    // The pipe is 6 + 1; two more arrive, and then each makes room for one.
    send!(s, ack una, sack [(una + 1, una + 6)] => NONE);
    send!(s, ack una, sack [(una + 1, una + 7)] => [una + 10]);
    send!(s, ack una + 10 => range(una + 11, una + 15));
    assert_eq!((s.sender.cwnd(), s.sender.state()), (5.0, State::CongestionAvoidance));
}

#[test]
fn rfc_6675_sends_lost_segments_then_new_ones_then_what_may_be_lost() {
    let overrides = Overrides { window: Some(12), ..no_limited() };
    let (mut s, una) = Script::grown(&config(Profile::Rfc, Variant::Sack, &overrides), 12);
    // 0, 2 and 9 are missing; 2 has three above it, 9 has one.
    let blocks = [(una + 10, una + 11), (una + 3, una + 9), (una + 1, una + 2)];
    // The pipe is 9 and 11, the window 6. The lost ones go, rule (1); rule (2) finds the receiver's
    // window full; rule (3) takes 9; 11 is no hole, and rule (4) rescues it, once for a recovery.
    send!(s, ack una, sack blocks => [una, una + 2, una + 9, una + 11]);
    send!(s, ack una, sack [(una + 10, una + 12), (una + 3, una + 9)] => NONE);
    assert_eq!(s.sender.counters().fast_retransmits, 1);
}

#[test]
fn rfc_6675_passes_over_what_was_reported_since_the_time_out() {
    let (mut s, una) = Script::grown(&config(Profile::Rfc, Variant::Sack, &no_limited()), 8);
    s.now = s.sender.poll_timeout().expect("running");
    let now = s.now;
    s.sender.on_timeout(now, &mut s.out);
    assert_eq!(s.sent(), [una]);
    send!(s, ack una + 1, sack [(una + 2, una + 4), (una + 5, una + 8)] => [una + 1]);
    send!(s, ack una + 4, sack [(una + 5, una + 8)] => [una + 4]);
    send!(s, ack una + 8 => range(una + 8, una + 12));
}

#[test]
fn a_time_out_forgets_what_was_reported_before() {
    for &profile in Profile::ALL {
        let overrides = Overrides { initial_window: Some(2), ..no_limited() };
        let (mut s, una) = Script::grown(&config(profile, Variant::Sack, &overrides), 8);
        send!(s, ack una, sack [(una + 1, una + 3)] => NONE);
        s.now = s.sender.poll_timeout().expect("running");
        let now = s.now;
        s.sender.on_timeout(now, &mut s.out);
        assert_eq!(s.sent(), [una]);
        // RFC 2018 section 8: the receiver may have thrown it away.
        send!(s, ack una + 1 => [una + 1, una + 2]);
    }
}

#[test]
fn a_partial_ack_ends_the_back_off_of_the_pipe_of_ns2() {
    let overrides = Overrides { syn_loss_initial_window: Some(8), ..Overrides::default() };
    let mut s = Script::new(&config(Profile::Ns2, Variant::Sack, &overrides));
    send!(s, timeout at 3_000 => [0]);
    send!(s, ack 1 => range(1, 9));
    s.ack(1, &[(2, 3)]);
    s.ack(1, &[(2, 4)]);
    send!(s, ack 1, sack [(2, 5)] => [1]);
    assert_eq!(s.sender.rtt().backoff, 2);
    s.ack(5, &[]);
    assert_eq!((s.sender.rtt().backoff, s.sender.rtt().samples), (1, 0));
}

#[test]
fn a_time_out_backs_off_goes_back_and_restarts() {
    for variant in BY_LOSS {
        let overrides = Overrides { rto_fixed: Some(Span::from_ms(300)), ..Overrides::default() };
        let (mut s, una) = Script::grown(&config(Profile::Ns2, variant, &overrides), 8);
        send!(s, timeout at 400 => [una]);
        assert_eq!((s.sender.cwnd(), s.sender.ssthresh()), (1.0, 4.0));
        assert_eq!(s.sender.rtt().backoff, 2);
        send!(s, timeout at 1_000 => [una]);
        assert_eq!(s.sender.ssthresh(), 2.0);
        send!(s, timeout at 2_200 => [una]);
        send!(s, ack una + 1 => [una + 1, una + 2]);
        assert_eq!(s.sender.rtt().backoff, 8, "{variant:?}: nothing was measured");
        assert_eq!(s.sender.counters().timeouts, 3);
    }
}

#[test]
fn the_same_segment_lowers_the_threshold_once() {
    let (mut s, una) = Script::grown(&config(Profile::Rfc, Variant::NewReno, &no_limited()), 16);
    for _ in 0..4 {
        s.now = s.sender.poll_timeout().expect("running");
        let now = s.now;
        s.sender.on_timeout(now, &mut s.out);
        assert_eq!(s.sent(), [una]);
        assert_eq!((s.sender.cwnd(), s.sender.ssthresh()), (1.0, 8.0));
    }
}

#[test]
fn back_off_stops_at_its_bounds() {
    for (past_max, longest, backoff) in [(false, 4, 4), (true, 10, 16)] {
        let overrides = Overrides {
            rto_fixed: Some(Span::from_secs(1)),
            rto_max: Some(Span::from_secs(10)),
            rto_backoff_max: Some(4),
            rto_backoff_past_max: Some(past_max),
            ..Overrides::default()
        };
        let mut s = Script::new(&config(Profile::Ns2, Variant::Reno, &overrides));
        for _ in 0..8 {
            s.now = s.sender.poll_timeout().expect("running");
            let now = s.now;
            s.sender.on_timeout(now, &mut s.out);
        }
        assert_eq!(s.sender.rto(), Span::from_secs(longest));
        assert_eq!(s.sender.rtt().backoff, backoff);
    }
}

#[test]
fn rfc_6298_by_its_numbers() {
    let overrides = Overrides { rto_min: Some(Span::ZERO), ..Overrides::default() };
    let mut s = Script::new(&config(Profile::Rfc, Variant::Sack, &overrides));
    assert_eq!(s.sender.rto(), Span::from_secs(1));
    send!(s, wait 100);
    s.ack(1, &[]);
    assert_eq!(s.sender.rto(), Span::from_ms(300), "(2.2)");
    send!(s, wait 200);
    s.ack(2, &[]);
    let rtt = s.sender.rtt();
    assert_eq!(rtt.sample, Span::from_ms(200));
    assert_eq!(rtt.smoothed, Span::from_us(112_500), "(2.3)");
    assert_eq!(rtt.variance, Span::from_us(62_500), "(2.3)");
    assert_eq!((s.sender.rto(), rtt.samples), (Span::from_us(362_500), 2));
}

#[test]
fn ticks_by_their_numbers() {
    let overrides = Overrides {
        rto_estimator: Some(RtoEstimator::Ticks),
        rto_clock_phase: Some(Span::from_ms(4)),
        ..Overrides::default()
    };
    let mut s = Script::new(&config(Profile::Ns2, Variant::Reno, &overrides));
    send!(s, wait 107);
    s.ack(1, &[]);
    // 107 ms, begun 4 ms after a tick: 11 ticks; then SRTT = 11, RTTVAR = 5.5 ticks.
    let rtt = s.sender.rtt();
    assert_eq!((rtt.sample, rtt.smoothed), (Span::from_ms(110), Span::from_ms(110)));
    assert_eq!((rtt.variance, s.sender.rto()), (Span::from_ms(55), Span::from_ms(330)));
    send!(s, wait 199);
    s.ack(2, &[]);
    // Begun 1 ms after a tick: 20 ticks; SRTT = 11 + 9/8, RTTVAR = 5.5 + (9 - 5)/4.
    let rtt = s.sender.rtt();
    assert_eq!((rtt.sample, rtt.smoothed), (Span::from_ms(200), Span::from_us(121_250)));
    assert_eq!((rtt.variance, s.sender.rto()), (Span::from_ms(65), Span::from_ms(380)));
}

#[test]
fn a_finite_transfer_ends_and_its_last_segment_is_short() {
    let mut s = Script::silent(&config(Profile::Rfc, Variant::Sack, &Overrides::default()));
    s.sender.start(Time::ZERO, &mut s.out);
    s.sender.supply_bytes(Time::ZERO, Bytes::new(960 * 2 + 10), true, &mut s.out);
    assert_eq!(s.out.drain(..).map(|t| t.size.get()).collect::<Vec<_>>(), [40]);
    s.sender.on_ack(
        s.now,
        &Ack { next: 1, sack: SackBlocks::NONE, size: Bytes::new(40) },
        &mut s.out,
    );
    assert_eq!(s.out.drain(..).map(|t| t.size.get()).collect::<Vec<_>>(), [1000, 1000, 50]);
    send!(s, ack 3 => NONE);
    assert!(!s.sender.finished() && s.sender.poll_timeout().is_some());
    send!(s, ack 4 => NONE);
    assert!(s.sender.finished() && s.sender.poll_timeout().is_none());
    send!(s, ack 4 => NONE);
    assert_eq!(s.sender.counters().duplicate_acks, 0, "nothing is outstanding");
}

#[test]
fn after_idleness_the_window_starts_again() {
    for (profile, burst) in [(Profile::Ns2, 1), (Profile::Rfc, 4)] {
        for idle_ms in [10, 5_000] {
            let mut s = Script::silent(&config(profile, Variant::Reno, &Overrides::default()));
            s.sender.supply(s.now, 14, &mut s.out);
            s.sender.start(s.now, &mut s.out);
            send!(s, wait 100);
            for next in 1..=15 {
                s.ack(next, &[]);
            }
            assert!(s.sender.finished() && s.sender.cwnd() >= 8.0);
            s.now += Span::from_ms(idle_ms);
            let now = s.now;
            s.sender.supply(now, 22, &mut s.out);
            let count = s.sent().len();
            assert_eq!(count, if idle_ms < 100 { 8 } else { burst });
            assert!(s.sender.poll_timeout().is_some());
        }
    }
}

#[test]
fn a_burst_limit_holds() {
    let overrides = Overrides { max_burst: Some(3), ..Overrides::default() };
    let (mut s, una) = Script::grown(&config(Profile::Rfc, Variant::Sack, &overrides), 12);
    send!(s, ack una + 12 => range(una + 12, una + 15));
    send!(s, ack una + 13 => range(una + 15, una + 18));
}

#[test]
fn a_burst_limit_holds_after_a_time_out_too_but_for_the_vegas_of_ns2() {
    for (profile, variant, sent) in [
        (Profile::Ns2, Variant::Tahoe, vec![1]),
        (Profile::Ns2, Variant::Reno, vec![1]),
        (Profile::Ns2, Variant::NewReno, vec![1]),
        (Profile::Ns2, Variant::Sack, vec![1]),
        // Its window after a time-out is two, and it sends both.
        (Profile::Ns2, Variant::Vegas, vec![1, 2]),
        (Profile::Rfc, Variant::Vegas, vec![1]),
    ] {
        let fixed = Some(Span::from_ms(300));
        let overrides = Overrides { max_burst: Some(1), rto_fixed: fixed, ..Overrides::default() };
        let mut s = Script::new(&config(profile, variant, &overrides));
        send!(s, wait 100);
        send!(s, ack 1 => [1]);
        send!(s, timeout at 400 => sent);
    }
}

/// The sender asks for a delay, and the answer is `ms` after now.
fn hold(s: &mut Script, ms: u64) {
    assert_eq!(s.sender.asks_for_delay(), Some(Span::from_ms(10)));
    s.sender.hold_until(s.now + Span::from_ms(ms));
    assert_eq!(s.sender.asks_for_delay(), None, "asked once");
}

fn release(s: &mut Script) -> Vec<u64> {
    let at = s.sender.poll_release().expect("something is held back");
    s.sender.on_release(Time::from_ps(at.as_ps() - 1), &mut s.out);
    assert_eq!(s.sent(), NONE, "before the delay ends");
    s.now = at;
    s.sender.on_release(at, &mut s.out);
    assert_eq!(s.sender.poll_release(), None);
    s.sent()
}

#[test]
fn what_the_window_lets_go_waits_for_one_delay_together() {
    for variant in [BY_LOSS[0], BY_LOSS[1], BY_LOSS[2], BY_LOSS[3], Variant::Vegas] {
        for profile in [Profile::Ns2, Profile::Rfc] {
            let jitter = Some(Span::from_ms(10));
            let overrides = Overrides {
                send_jitter: jitter,
                initial_window: Some(4),
                initial_ssthresh: Some(4),
                ..Overrides::default()
            };
            let mut s = Script::silent(&config(profile, variant, &overrides));
            s.sender.supply(Time::ZERO, u64::MAX, &mut s.out);
            s.sender.start(Time::ZERO, &mut s.out);
            assert_eq!(s.sent(), NONE, "the SYN waits too");
            hold(&mut s, 3);
            assert_eq!(release(&mut s), [0]);
            assert_eq!(s.sender.asks_for_delay(), None, "{variant:?}: all went");
            s.now += Span::from_ms(100);
            send!(s, ack 1 => NONE);
            hold(&mut s, 9);
            let first = release(&mut s);
            assert_eq!(first[0], 1, "{variant:?}");
            let count = first.len() as u64;
            s.now += Span::from_ms(100);
            // The second ACK finds the delay running and adds to what goes with it.
            send!(s, ack 2 => NONE);
            hold(&mut s, 9);
            s.now += Span::from_ms(5);
            if count > 1 {
                send!(s, ack 3 => NONE);
                assert_eq!(s.sender.asks_for_delay(), None, "one delay at a time");
            }
            let then = release(&mut s);
            assert!(then.len() as u64 >= count.min(2), "{variant:?} {profile:?}: {then:?}");
            assert_eq!(then[0], count + 1);
            assert!(then.windows(2).all(|pair| pair[1] == pair[0] + 1), "in order: {then:?}");
        }
    }
}

#[test]
fn fast_retransmits_and_limited_transmit_do_not_wait() {
    let overrides = Overrides { send_jitter: Some(Span::from_ms(10)), ..Overrides::default() };
    let mut s = Script::silent(&config(Profile::Ns2, Variant::Reno, &overrides));
    s.sender.supply(Time::ZERO, u64::MAX, &mut s.out);
    s.sender.start(Time::ZERO, &mut s.out);
    hold(&mut s, 1);
    release(&mut s);
    let mut next = 0;
    while s.sender.in_flight() < 8 {
        next += 1;
        send!(s, ack next => NONE);
        hold(&mut s, 1);
        release(&mut s);
    }
    let edge = next + s.sender.in_flight();
    send!(s, ack next => [edge]);
    send!(s, ack next => [edge + 1]);
    send!(s, ack next => [next]);
    assert_eq!(s.sender.counters().fast_retransmits, 1);
    // The segments that the inflated window releases do.
    for _ in 0..6 {
        send!(s, ack next => NONE);
    }
    hold(&mut s, 4);
    assert!(!release(&mut s).is_empty());
}

#[test]
fn a_delay_that_nobody_asked_for_and_a_release_before_its_time_do_nothing() {
    let mut s = Script::new(&config(Profile::Ns2, Variant::Reno, &Overrides::default()));
    s.sender.hold_until(s.now);
    assert_eq!((s.sender.asks_for_delay(), s.sender.poll_release()), (None, None));
    s.sender.on_release(s.now, &mut s.out);
    assert_eq!(s.sent(), NONE);
    let long = Overrides { send_jitter: Some(Span::from_secs(2)), ..Overrides::default() };
    let error = Config::resolve(&long).expect_err("too long");
    assert_eq!((error.field, error.value.as_str()), ("send_jitter", "2 s"));
}

/// `receive!(receiver, at ms, segment => what is sent)`: `none`, or `ack next [blocks]`.
macro_rules! receive {
    ($receiver:ident, at $ms:literal, $seq:expr => none) => {
        let now = Time::ZERO + Span::from_ms($ms);
        assert_eq!($receiver.on_segment(now, $seq), None, "segment {}", $seq);
    };
    ($receiver:ident, at $ms:literal, $seq:expr => ack $next:literal $blocks:expr) => {
        let now = Time::ZERO + Span::from_ms($ms);
        let ack = $receiver.on_segment(now, $seq).expect("an ACK");
        let blocks: &[(u64, u64)] = &$blocks;
        assert_eq!((ack.next, ack.sack.as_slice()), ($next, blocks), "segment {}", $seq);
        assert_eq!(ack.size, Bytes::new(40 + 8 * blocks.len() as u64));
    };
}

#[test]
fn sack_blocks_report_the_latest_run_first() {
    let mut r = Receiver::new(&config(Profile::Ns2, Variant::Sack, &Overrides::default()));
    receive!(r, at 0, 0 => ack 1 []);
    receive!(r, at 1, 2 => ack 1 [(2, 3)]);
    receive!(r, at 2, 4 => ack 1 [(4, 5), (2, 3)]);
    receive!(r, at 3, 6 => ack 1 [(6, 7), (4, 5), (2, 3)]);
    receive!(r, at 4, 8 => ack 1 [(8, 9), (6, 7), (4, 5)]);
    receive!(r, at 5, 7 => ack 1 [(6, 9), (4, 5)]);
    receive!(r, at 6, 1 => ack 3 [(6, 9), (4, 5)]);
    receive!(r, at 7, 1 => ack 3 [(6, 9), (4, 5)]);
    receive!(r, at 8, 3 => ack 5 [(6, 9)]);
    receive!(r, at 9, 5 => ack 9 []);
    assert_eq!((r.delivered(), r.duplicates()), (8, 1));
}

#[test]
fn without_sack_there_are_no_blocks() {
    let mut r = Receiver::new(&config(Profile::Ns2, Variant::Reno, &Overrides::default()));
    receive!(r, at 0, 0 => ack 1 []);
    receive!(r, at 1, 2 => ack 1 []);
    receive!(r, at 2, 1 => ack 3 []);
}

#[test]
fn what_lies_beyond_the_window_is_dropped() {
    let overrides = Overrides { window: Some(4), ..Overrides::default() };
    let mut r = Receiver::new(&config(Profile::Ns2, Variant::Sack, &overrides));
    receive!(r, at 0, 0 => ack 1 []);
    receive!(r, at 1, 5 => ack 1 []);
    receive!(r, at 2, 4 => ack 1 [(4, 5)]);
    receive!(r, at 3, u64::MAX => ack 1 [(4, 5)]);
}

#[test]
fn delayed_acks_wait_for_a_second_segment_or_the_timer() {
    let overrides = Overrides { delayed_ack: Some(true), ..Overrides::default() };
    let mut r = Receiver::new(&config(Profile::Ns2, Variant::Sack, &overrides));
    receive!(r, at 0, 0 => ack 1 []);
    receive!(r, at 10, 1 => none);
    assert_eq!(r.poll_timeout(), Some(Time::ZERO + Span::from_ms(110)));
    receive!(r, at 20, 2 => ack 3 []);
    assert_eq!(r.poll_timeout(), None);
    receive!(r, at 30, 3 => none);
    assert_eq!(r.on_timeout(Time::ZERO + Span::from_ms(129)), None);
    let ack = r.on_timeout(Time::ZERO + Span::from_ms(130)).expect("is due");
    assert_eq!((ack.next, r.poll_timeout()), (4, None));
    // Out of order, and filling a hole: at once.
    receive!(r, at 140, 5 => ack 4 [(5, 6)]);
    receive!(r, at 150, 4 => ack 6 []);
    receive!(r, at 160, 6 => none);
    receive!(r, at 170, 8 => ack 7 [(8, 9)]);
}
