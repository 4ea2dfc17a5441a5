//! Whatever arrives, a sender stays sane: no panic, nothing beyond the receiver's window, no ACK
//! taken back.

use burstlab_tcp::{
    Ack, Config, Overrides, Profile, Receiver, SackBlocks, Sender, SlowStart, Variant, WindowLaw,
};
use burstlab_units::{Bytes, Span, Time};

use crate::random::{Xorshift, mix};

/// In all, divided among the combinations below.
const STEPS: u64 = 3_000_000;
/// At least so many must have run: a life ends early when long back-off exhausts the clock.
const STEPS_MIN: u64 = 1_000_000;

/// Mostly numbers near what is outstanding, now and then anything at all.
fn number(random: &mut Xorshift, acked: u64, sent: u64) -> u64 {
    match random.below(40) {
        0 => random.next(),
        1 => u64::MAX - random.below(3),
        2 => random.below(acked + 2),
        3 => sent + random.below(5),
        _ => acked + random.below(sent - acked + 1),
    }
}

fn ack(random: &mut Xorshift, acked: u64, sent: u64) -> Ack {
    let next = match random.below(3) {
        0 => acked,
        1 => (acked + 1 + random.below(3)).min(sent + 1),
        _ => number(random, acked, sent),
    };
    let mut sack = SackBlocks::NONE;
    for _ in 0..random.below(5) {
        let left = number(random, acked, sent);
        let right = match random.below(4) {
            0 => number(random, acked, sent),
            _ => left.saturating_add(random.below(6)),
        };
        sack.push(left, right);
    }
    Ack { next, sack, size: Bytes::new(40) }
}

/// One life of a sender; returns how many steps it lasted.
fn run(config: &Config, seed: u64, steps: u64) -> u64 {
    let mut random = Xorshift(seed);
    let mut sender = Sender::new(config);
    let mut out = Vec::new();
    let mut now = Time::ZERO;
    let (mut sent, mut supplied) = (0, 1 + random.below(500));
    let payload = config.segment_size.get() - config.headers().get();
    let window = u64::from(config.window) * payload;
    sender.supply(now, supplied, &mut out);
    sender.start(now, &mut out);
    for step in 0..steps {
        let context = || format!("seed {seed}, step {step}, {:?}", config.variant);
        for segment in out.drain(..) {
            if config.variant == Variant::Linux && segment.seq == 0 && !segment.retransmission {
                // The SYN, the ACK that ends the handshake, or a probe of the window.
                sent = sent.max(1);
                continue;
            }
            assert_eq!(segment.retransmission, segment.seq < sent, "{}", context());
            sent = sent.max(segment.seq + 1);
            let acked = sender.highest_acked().map_or(0, |seq| seq + 1);
            // Segments may be shorter than others where the window has room for one or none.
            let [from, to] = [acked, segment.seq + 1].map(|seq| sender.bytes_before(seq));
            assert!(to <= from + window, "{}", context());
            assert!(to <= supplied * payload, "{}", context());
            assert!(segment.cwnd.is_finite() && segment.ssthresh >= 1.0, "{}", context());
        }
        let before = sender.highest_acked().map_or(0, |seq| seq + 1);
        now += Span::from_ps(random.below(20_000_000_000));
        match random.below(12) {
            0 => {
                now = sender.poll_timeout().map_or(now, |due| due.max(now));
                sender.on_timeout(now, &mut out);
            }
            1 => sender.on_timeout(now, &mut out),
            2 => {
                supplied += random.below(50);
                sender.supply(now, supplied, &mut out);
            }
            _ => sender.on_ack(now, &ack(&mut random, before, sent), &mut out),
        }
        // The clock of the simulator ends after 213 days; long back-off gets there.
        if now > Time::from_ps(1 << 62) {
            return step;
        }
        assert!(sender.rto() <= config.rto_max, "{}", context());
        let after = sender.highest_acked().map_or(0, |seq| seq + 1);
        assert!(after >= before, "{}", context());
        let highest = out.iter().map(|segment| segment.seq + 1).max().unwrap_or(0).max(sent);
        assert_eq!(sender.in_flight(), highest - after, "{}", context());
        let flight = sender.bytes_before(highest) - sender.bytes_before(after);
        assert!(flight <= window, "{}", context());
        assert!(
            sender.poll_timeout().is_some() || sender.in_flight() == 0,
            "something is outstanding and nothing waits for it: {}",
            context()
        );
        let all = after > 0 && sender.bytes_before(after) >= supplied * payload;
        assert_eq!(sender.finished(), all, "{}", context());
    }
    steps
}

#[test]
fn no_stream_of_acks_breaks_a_sender() {
    let windows = [1, 2, 7, 64, 1000];
    let variants = Variant::ALL;
    let combinations = windows.len() * variants.len() * Profile::ALL.len();
    let steps = STEPS / combinations as u64;
    let (mut seed, mut lasted) = (1_u64, 0);
    for &window in &windows {
        for &variant in variants {
            for &profile in Profile::ALL {
                let mut overrides = Overrides {
                    variant: Some(variant),
                    profile: Some(profile),
                    window: Some(window),
                    ..Overrides::default()
                };
                // Several short lives: the first states are the rarest.
                for life in 0..10 {
                    seed += 1;
                    if life >= 5 {
                        mix(&mut overrides, seed);
                    }
                    if variant == Variant::Linux {
                        of_linux(&mut overrides, seed);
                    }
                    let config = Config::resolve(&overrides).expect("is valid");
                    lasted +=
                        run(&config, seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1, steps / 10);
                }
            }
        }
    }
    assert!(lasted >= STEPS_MIN, "only {lasted} steps");
}

/// Sets what the sender of Linux has, and what it insists on.
fn of_linux(overrides: &mut Overrides, seed: u64) {
    let mut random = Xorshift(seed * 104_729);
    let mut bit = || Some(random.next() >> 40 & 1 == 0);
    (overrides.sack, overrides.rack, overrides.tail_loss_probe) = (bit(), bit(), bit());
    (overrides.f_rto, overrides.grouping) = (bit(), bit());
    use WindowLaw::{Aimd, Bbr, Bbr3, Cubic, Dctcp, Vegas};
    use WindowLaw::{Highspeed, Htcp, Illinois, Scalable, Veno, Westwood};
    let laws = [Aimd, Cubic, Dctcp, Vegas, Bbr, Bbr3];
    let others = [Scalable, Highspeed, Htcp, Illinois, Veno, Westwood];
    let law = if seed % 12 < 6 { laws } else { others }[(seed % 6) as usize];
    overrides.window_law = Some(law);
    overrides.slow_start = match law {
        Aimd | Cubic | Dctcp if bit() == Some(true) => Some(SlowStart::HystartPlusPlus),
        _ => None,
    };
}

#[test]
fn no_stream_of_segments_breaks_a_receiver() {
    for &variant in &[Variant::Reno, Variant::Sack] {
        for delayed_ack in [false, true] {
            let overrides = Overrides {
                variant: Some(variant),
                window: Some(50),
                delayed_ack: Some(delayed_ack),
                ..Overrides::default()
            };
            let config = Config::resolve(&overrides).expect("is valid");
            let mut receiver = Receiver::new(&config);
            let mut random = Xorshift(4711);
            // The obviously correct twin.
            let mut arrived = std::collections::BTreeSet::new();
            let (mut next, mut now) = (0, Time::ZERO);
            for step in 0..100_000 {
                now += Span::from_ms(random.below(30));
                let seq = match random.below(50) {
                    0 => random.next(),
                    1 => u64::MAX,
                    2 | 3 => next,
                    _ => (next + random.below(60)).saturating_sub(10),
                };
                if seq < next + 50 {
                    arrived.insert(seq);
                }
                while arrived.contains(&next) {
                    next += 1;
                }
                let ack = match random.below(9) {
                    0 => receiver.on_timeout(now),
                    _ => None,
                };
                for ack in [ack, receiver.on_segment(now, seq)].into_iter().flatten() {
                    check(&ack, &arrived, next, step);
                }
                assert_eq!(receiver.delivered(), next.saturating_sub(1), "step {step}");
            }
            assert!(next > 1000 && receiver.duplicates() > 1000);
        }
    }
}

/// Every block is a whole run that has arrived, above the cumulative ACK.
fn check(ack: &Ack, arrived: &std::collections::BTreeSet<u64>, next: u64, step: u64) {
    assert!(ack.next <= next, "step {step}");
    for &(left, right) in ack.sack.as_slice() {
        assert!(left > ack.next && left < right, "step {step}: {ack:?}");
        assert!((left..right).all(|seq| arrived.contains(&seq)), "step {step}: {ack:?}");
    }
    if let Some((left, right)) = ack.sack.as_slice().first() {
        let whole = !arrived.contains(&(left - 1)) && !arrived.contains(right);
        assert!(whole || ack.next < next, "step {step}: {ack:?}");
    }
}
