//! Shared by the tests of a cell: uniform numbers, and stations that always have something to send.

#![allow(dead_code, reason = "each test binary uses a part of it")]

pub(crate) mod ticks;

use burstlab_link::wlan::{Cell, Counts, Draw, Drawn, Outcome, Paths, Reach, Rules};
use burstlab_units::{Bytes, Span, Time};

/// A uniform number of `seed` for a draw: SplitMix64 (Steele, Lea and Flood, 2014) of its place.
pub(crate) fn uniform(seed: u64, draw: Draw) -> f64 {
    let what = match draw.what {
        Drawn::Backoff => 1,
        Drawn::Frame => 2,
        Drawn::Packet => 3,
    };
    let mut state = mixed(seed);
    for word in [u64::from(draw.node), what, draw.ordinal] {
        state = mixed(state.wrapping_add(word.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
    }
    (state >> 11) as f64 / (1u64 << 53) as f64
}

fn mixed(mut word: u64) -> u64 {
    word = word.wrapping_add(0x9E37_79B9_7F4A_7C15);
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// A cell in which everybody hears everybody.
pub(crate) fn clear(rules: Rules, stations: u32) -> Cell<u64> {
    Cell::new(rules, Paths::new(stations + 1, |_, _| Reach::clear()), [None; 2], 0.0)
}

/// Lets each station always have packets of `size` for the base station; returns what each did.
pub(crate) fn saturate(mut cell: Cell<u64>, seed: u64, size: Bytes, span: Span) -> Vec<Counts> {
    let draw = |draw| uniform(seed, draw);
    let (mut outcomes, mut next) = (Vec::new(), 0);
    for station in 1..cell.nodes() {
        for _ in 0..2 {
            let taken = cell.enqueue(Time::ZERO, (station, 0), next, size, &draw);
            assert_eq!(taken, Ok(()), "there is room");
            next += 1;
        }
    }
    while let Some(now) = cell.poll_timeout().filter(|&now| now < Time::ZERO + span) {
        cell.advance(now, &draw, &mut outcomes);
        for outcome in outcomes.drain(..) {
            let (Outcome::Delivered { from, .. } | Outcome::Lost { from, .. }) = outcome;
            let taken = cell.enqueue(now, (from, 0), next, size, &draw);
            assert_eq!(taken, Ok(()), "there is room");
            next += 1;
        }
    }
    (0..cell.nodes()).map(|node| cell.counts(node).clone()).collect()
}
