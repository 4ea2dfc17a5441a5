//! Whatever the network loses, a transfer arrives, whole and in reasonable time.

use burstlab_tcp::{Config, Overrides, Profile, Variant};
use burstlab_units::{Span, Time};

use crate::path::{Path, World};

/// The multiples of the golden ratio, spread over 0 to 1: as good as random for choosing losses.
fn spread(n: u64) -> f64 {
    (n as f64 * 0.618_033_988_749_895).fract()
}

fn lossy(seed: u64, segments: u64, loss: f64) -> Path {
    let copies = (0..=segments).flat_map(|seq| (1..6).map(move |copy| (seq, copy)));
    Path {
        rates_bps: [8_000_000, 10_000_000_000, 10_000_000_000, 10_000_000_000, 8_000_000],
        delays: [Span::from_ms(10); 5],
        drops: copies.filter(|&(seq, copy)| spread(seed + seq * 97 + copy * 389) < loss).collect(),
        drop_acks: (2..segments).filter(|&n| spread(seed * 3 + n * 41) < loss).collect(),
        assembly: Span::from_ms(4),
        drop_bursts: (2..segments).filter(|&n| spread(seed * 7 + n * 53) < loss / 2.0).collect(),
        segments: Some(segments),
        ..Path::default()
    }
}

#[test]
fn every_transfer_arrives_whole() {
    const SEGMENTS: u64 = 400;
    for &variant in Variant::ALL {
        for &profile in Profile::ALL {
            for (seed, loss) in [(1, 0.0), (2, 0.01), (3, 0.05), (4, 0.2), (5, 0.4)] {
                let overrides = Overrides {
                    variant: Some(variant),
                    profile: Some(profile),
                    window: Some(40),
                    rto_max: Some(Span::from_secs(60)),
                    ..Overrides::default()
                };
                let config = Config::resolve(&overrides).expect("is valid");
                let mut world = World::new(lossy(seed, SEGMENTS, loss), &config);
                world.run(Time::ZERO + Span::from_secs(100_000));
                let context = format!("{variant:?}, {profile:?}, loss {loss}");
                assert!(world.sender.finished(), "{context}");
                assert_eq!(world.delivered(), SEGMENTS, "{context}");
                assert_eq!(world.sender.poll_timeout(), None, "{context}");
                let counters = world.sender.counters();
                let once = counters.segments_sent - counters.retransmissions;
                // The SYN, and what ends the handshake of a sender of Linux.
                let opening = 1 + u64::from(variant == Variant::Linux);
                let first = "each segment has one first transmission";
                assert_eq!(once, SEGMENTS + opening, "{first}: {context}");
                if loss == 0.0 {
                    assert_eq!(counters.retransmissions, 0, "{context}");
                }
            }
        }
    }
}

/// With selective acknowledgements no segment that arrived is sent again, as long as the receiver's
/// window leaves room for new ones (else rules (3) and (4) take their chance).
#[test]
fn rfc_6675_retransmits_what_was_lost_and_nothing_else() {
    for seed in 0..20 {
        let overrides =
            Overrides { window: Some(1_000), initial_ssthresh: Some(60), ..Overrides::default() };
        let config = Config::resolve(&overrides).expect("is valid");
        let mut network = lossy(seed, 2_000, 0.004);
        network.drop_acks.clear();
        network.drop_bursts.clear();
        network.drops.retain(|&(seq, copy)| copy == 1 && seq > 60 && seq < 1_900);
        let losses = network.drops.len() as u64;
        let mut world = World::new(network, &config);
        world.run(Time::ZERO + Span::from_secs(1_000));
        let counters = world.sender.counters();
        assert!(world.sender.finished() && losses > 3);
        assert_eq!((counters.timeouts, counters.retransmissions), (0, losses), "seed {seed}");
    }
}
