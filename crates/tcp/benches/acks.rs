//! Time per ACK: a sender with a full window, its receiver, and no network between them.
//!
//! `cargo bench -p burstlab-tcp`. Each line is the best of five runs: time per ACK at the sender
//! alone, and at both endpoints together.

use std::hint::black_box;
use std::io::Write as _;
use std::time::{Duration, Instant};

use burstlab_tcp::{Ack, Config, Overrides, Profile, Receiver, Sender, Transmission, Variant};
use burstlab_units::{Span, Time};

const ROUNDS: u64 = 4_000;

/// One round trip after another; of every `loss_every` segments one is lost (0: none). The time is
/// that of the sender alone or of both.
fn run(config: &Config, loss_every: u64, both: bool) -> f64 {
    let mut sender = Sender::new(config);
    let mut receiver = Receiver::new(config);
    let (mut out, mut flying, mut acks) = (Vec::new(), Vec::<Transmission>::new(), Vec::new());
    let mut now = Time::ZERO;
    let (mut arrived, mut acknowledged, mut spent) = (0_u64, 0_u64, Duration::ZERO);
    sender.supply(now, u64::MAX, &mut out);
    sender.start(now, &mut out);
    for _ in 0..ROUNDS {
        now += Span::from_ms(100);
        std::mem::swap(&mut flying, &mut out);
        out.clear();
        acks.clear();
        let begin = clock();
        for segment in &flying {
            arrived += 1;
            if loss_every == 0 || arrived % loss_every != 0 {
                acks.extend(receiver.on_segment(now, segment.seq));
            }
        }
        if both {
            spent += begin.elapsed();
        }
        let begin = clock();
        for ack in &acks {
            sender.on_ack(now, black_box::<&Ack>(ack), &mut out);
        }
        if out.is_empty() {
            now = sender.poll_timeout().map_or(now, |due| due.max(now));
            sender.on_timeout(now, &mut out);
        }
        spent += begin.elapsed();
        acknowledged += acks.len() as u64;
    }
    spent.as_nanos() as f64 / acknowledged as f64
}

#[allow(clippy::disallowed_methods, reason = "a benchmark measures the time of the machine")]
fn clock() -> Instant {
    Instant::now()
}

fn main() {
    let mut report = std::io::stdout();
    for (variant, name) in
        [(Variant::Reno, "reno"), (Variant::NewReno, "new-reno"), (Variant::Sack, "sack")]
    {
        for profile in [Profile::Ns2, Profile::Rfc] {
            for (window, loss_every) in [(64, 0), (64, 500), (4096, 0), (4096, 20_000), (4096, 50)]
            {
                let overrides = Overrides {
                    variant: Some(variant),
                    profile: Some(profile),
                    window: Some(window),
                    delayed_ack: Some(false),
                    ..Overrides::default()
                };
                let config = Config::resolve(&overrides).expect("is valid");
                let best = |both| {
                    (0..5).map(|_| run(&config, loss_every, both)).fold(f64::INFINITY, f64::min)
                };
                let (alone, both) = (best(false), best(true));
                writeln!(
                    report,
                    "{name:9} {profile:9} window {window:4}, one loss in {loss_every:5}: \
                     sender {alone:6.1} ns, both {both:6.1} ns",
                    profile = format!("{profile:?}"),
                )
                .expect("standard output");
            }
        }
    }
}
