//! Whatever arrives, with time stamps, marks, windows and D-SACK of any content, the sender of
//! Linux stays sane.

use burstlab_tcp::{Arrival, Congestion, Linux, LinuxOptions, SlowStart};
use burstlab_units::{Span, Time};

/// For each law, in the tests and in `make fuzz`.
const STEPS: u64 = 100_000;
const FUZZ_STEPS: u64 = 1_000_000;
/// Each life begins anew: the first states are the rarest.
const LIFE: u64 = 20_000;

/// Marsaglia's xorshift.
struct Xorshift(u64);

impl Xorshift {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound.max(1)
    }

    fn coin(&mut self) -> bool {
        self.below(1 << 20) & 1024 == 0
    }
}

fn options(congestion: Congestion, random: &mut Xorshift) -> LinuxOptions {
    LinuxOptions {
        congestion,
        slow_start: match random.below(3) {
            0 => SlowStart::Standard,
            1 => SlowStart::Hystart,
            _ => SlowStart::HystartPlusPlus,
        },
        pacing: random.below(4) == 0,
        restart_after_idle: random.coin(),
        sack: random.below(4) > 0,
        timestamps: random.coin(),
        rack: random.coin(),
        tlp: random.coin(),
        frto: random.coin(),
        ecn: random.coin(),
        bbr_phase: random.below(7) as u8,
        group_most: if random.coin() { 1 } else { u32::MAX },
        clock_phase: Span::from_ns(random.below(1_000_000)),
        wheel_phase: random.below(512),
        ..LinuxOptions::default()
    }
}

/// Mostly numbers near what is outstanding, now and then anything at all.
fn number(random: &mut Xorshift, sender: &Linux) -> u64 {
    let (acked, next) = (sender.info().acked, sender.info().next);
    match random.below(30) {
        0 => random.below(u64::MAX),
        1 => u64::MAX,
        2 => random.below(acked + 2),
        3 => next + random.below(5),
        _ => acked + random.below(next - acked + 1),
    }
}

fn live(options: &LinuxOptions, random: &mut Xorshift) {
    let mut sender = Linux::new(options);
    let (mut now, mut out) = (Time::ZERO + Span::from_ms(20), Vec::new());
    sender.open(Time::ZERO, now, 65_535);
    sender.offer(if random.coin() { u64::MAX } else { 1 + random.below(4_000_000) });
    sender.write_more(now, &mut out);
    // One past the last byte that a receiver has ever had room for.
    let mut edge = 65_535;
    for step in 0..LIFE {
        now += Span::from_us(random.below(4_000));
        let before = sender.info().acked;
        match random.below(10) {
            0 => {
                now = sender.poll_timeout().map_or(now, |due| due.max(now));
                sender.on_timeout(now, &mut out);
            }
            1 => sender.on_timeout(now, &mut out),
            _ => {
                let window = hear(&mut sender, now, random, &mut out);
                edge = edge.max(sender.bytes_before(sender.info().acked) + window);
            }
        }
        sender.write_more(now, &mut out);
        let context = || format!("{options:?}, step {step}, {:?}", sender.info().counts);
        let [outstanding, sacked, lost, again, reordering] = sender.info().counts;
        assert!(sender.info().cwnd >= 1 && sender.info().ssthresh >= 1, "{}", context());
        assert!(
            before <= sender.info().acked && sender.info().acked <= sender.info().next,
            "{}",
            context()
        );
        assert_eq!(
            u64::from(outstanding),
            sender.info().next - sender.info().acked,
            "{}",
            context()
        );
        assert!(sacked + lost <= outstanding && again <= outstanding, "{}", context());
        assert!((1..=300).contains(&reordering), "{}", context());
        assert!(outstanding == 0 || sender.poll_timeout().is_some(), "{}", context());
        assert!(out.iter().all(|sent| sent.seq < sender.info().next), "{}", context());
        assert!(sender.bytes_before(sender.info().next) <= edge, "{}", context());
        for sent in out.drain(..) {
            if sent.flags.probe {
                let (room, waits) = (sent.size.get() == 52, outstanding == 0);
                assert!(room && waits, "{sent:?}, {}", context());
                continue;
            }
            let bytes = sender.bytes_before(sent.seq + 1) - sender.bytes_before(sent.seq);
            assert!(bytes > 0 && sent.size.get() == bytes + 52, "{sent:?}, {}", context());
        }
        if now > Time::from_ps(1 << 61) {
            return;
        }
    }
}

fn hear(
    sender: &mut Linux,
    now: Time,
    random: &mut Xorshift,
    out: &mut Vec<burstlab_tcp::Transmission>,
) -> u64 {
    let next = match random.below(3) {
        0 => sender.info().acked,
        1 => (sender.info().acked + 1 + random.below(3)).min(sender.info().next),
        _ => number(random, sender),
    };
    let blocks: Vec<(u64, u64)> = (0..random.below(5))
        .map(|_| {
            let left = number(random, sender);
            let right = match random.below(4) {
                0 => number(random, sender),
                _ => left.saturating_add(random.below(6)),
            };
            (left, right)
        })
        .collect();
    let ms = now.as_ps() / 1_000_000_000;
    let arrival = Arrival {
        next,
        blocks: &blocks,
        window: match random.below(10) {
            0 => random.below(3_000),
            1..4 => random.below(3_000_000),
            _ => 1_448 * random.below(2_000),
        },
        echo: random.coin().then(|| ms.saturating_sub(random.below(300))),
        ece: random.below(8) == 0,
        with_data: false,
    };
    sender.on_ack(now, &arrival, out);
    arrival.window
}

#[test]
fn no_stream_of_arrivals_breaks_a_law() {
    use Congestion::{Bbr, Bbr3, Cubic, Dctcp, Reno, Vegas};
    use Congestion::{Highspeed, Htcp, Illinois, Scalable, Veno, Westwood};
    let others = [Scalable, Highspeed, Htcp, Illinois, Veno, Westwood];
    let variable = |name: &str| std::env::var(name).ok();
    let seed = variable("PROPTEST_RNG_SEED").and_then(|text| text.parse::<u64>().ok());
    let steps = if variable("BURSTLAB_FUZZ").is_some() { FUZZ_STEPS } else { STEPS };
    let mut random = Xorshift(0x9E37_79B9_7F4A_7C15 ^ seed.unwrap_or(0).rotate_left(17));
    for congestion in [Reno, Cubic, Dctcp, Vegas, Bbr, Bbr3].into_iter().chain(others) {
        for _ in 0..steps / LIFE {
            live(&options(congestion, &mut random), &mut random);
        }
    }
}
