//! The cell, which jumps from frame to frame, against one that looks at every microsecond.

mod air;

use air::ticks::{Ended, Ticks};
use burstlab_link::wlan::{Cell, Outcome, Preamble, Reach, Rules, Speed};
use burstlab_units::{Bytes, Probability, Span, Time};
use proptest::prelude::*;

const MICROS: u64 = 40_000;

fn at(micros: u64) -> Time {
    Time::ZERO + Span::from_us(micros)
}

fn any_reach() -> impl Strategy<Value = Reach> {
    let chance = || prop_oneof![3 => Just(0.0), 1 => 0.0..0.6, 1 => Just(1.0)];
    let heard = prop_oneof![6 => Just(true), 1 => Just(false)];
    let bit = || prop_oneof![3 => Just(0.0), 1 => 1e-6..1e-3];
    (heard.clone(), heard, chance(), chance(), bit(), bit()).prop_map(
        |(senses, understands, data, control, data_bit, control_bit)| {
            let chance = |value| Probability::new(value).expect("a probability");
            Reach {
                senses,
                understands,
                data_error: chance(data),
                control_error: chance(control),
                data_bit_error: chance(data_bit),
                control_bit_error: chance(control_bit),
            }
        },
    )
}

fn any_rules(stations: usize) -> impl Strategy<Value = Rules> {
    let speed =
        || prop_oneof![Just(Speed::Mb1), Just(Speed::Mb2), Just(Speed::Mb5), Just(Speed::Mb11)];
    let own = prop_oneof![Just(Vec::new()), prop::collection::vec(speed(), stations),];
    let preamble = prop_oneof![Just(Preamble::Long), Just(Preamble::Short)];
    let window = (0u32..8, 0u32..3);
    let retries = (1u32..8, 1u32..5);
    let threshold = prop_oneof![Just(None), (28u64..1000).prop_map(Some)];
    (speed(), own, speed(), preamble, window, retries, threshold, 0u64..3).prop_map(
        |(data, stations, basic, preamble, (low, doublings), (short, long), threshold, delay)| {
            Rules {
                data,
                stations,
                basic,
                preamble,
                cw_min: low,
                cw_max: (low + 1) * (1 << doublings) - 1,
                short_retries: short,
                long_retries: long,
                rts_threshold: threshold.map(Bytes::new),
                delay: Span::from_us(delay),
                ..Rules::default()
            }
        },
    )
}

/// Packets that come in clumps: at one instant, close together, far apart.
fn any_packets(nodes: usize) -> impl Strategy<Value = Vec<(u64, usize, usize, u64)>> {
    let gap = prop_oneof![Just(0u64), 0u64..60, 0u64..700, 0u64..8000];
    let one = (gap, 0..nodes, 1..nodes, prop_oneof![Just(40u64), 1u64..1200]);
    prop::collection::vec(one, 1..40).prop_map(|packets| {
        let mut now = 0;
        let placed = packets.into_iter().map(|(gap, from, other, size)| {
            now += gap;
            // A station sends to the base station, and that to any station.
            let to = if from == 0 { other } else { 0 };
            (now, from, to, size)
        });
        placed.collect()
    })
}

type Setup = (Rules, Vec<Vec<Reach>>, Vec<(u64, usize, usize, u64)>);

fn any_cell() -> impl Strategy<Value = Setup> {
    (2usize..6).prop_flat_map(|nodes| {
        let row = prop::collection::vec(any_reach(), nodes);
        let reach = prop::collection::vec(row, nodes).prop_map(|mut reach: Vec<Vec<Reach>>| {
            for (node, row) in reach.iter_mut().enumerate() {
                row[node] = Reach::hidden();
            }
            reach
        });
        (any_rules(nodes - 1), reach, any_packets(nodes))
    })
}

/// As [`Ticks::run`], by the cell; each outcome at the time at which it was polled for.
fn jump(cell: &mut Cell<u64>, seed: u64, packets: &[(u64, usize, usize, u64)]) -> Vec<Ended> {
    let draw = |draw| air::uniform(seed, draw);
    let (mut ended, mut outcomes) = (Vec::new(), Vec::new());
    let mut advance = |cell: &mut Cell<u64>, until: Time| {
        while let Some(now) = cell.poll_timeout().filter(|&now| now <= until) {
            cell.advance(now, &draw, &mut outcomes);
            let micros = now.as_ps() / 1_000_000;
            ended.extend(outcomes.drain(..).map(|outcome| match outcome {
                Outcome::Delivered { packet, .. } => (micros, packet, None),
                Outcome::Lost { packet, reason, .. } => (micros, packet, Some(reason)),
            }));
        }
        cell.advance(until, &draw, &mut outcomes);
        assert!(outcomes.is_empty(), "an outcome came before it was polled for");
    };
    for (name, &(time, from, to, size)) in (0..).zip(packets) {
        let now = at(time);
        advance(cell, now);
        let ends = (from as u32, to as u32);
        let _full = cell.enqueue(now, ends, name, Bytes::new(size), &draw);
    }
    advance(cell, at(MICROS));
    ended
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn jumping_from_frame_to_frame_is_looking_at_every_microsecond(
        setup in any_cell(),
        limit in prop_oneof![Just(None), (0u32..4).prop_map(Some)],
        residual in prop_oneof![Just(0.0), 0.0..0.5],
        seed in any::<u64>(),
    ) {
        let (rules, reach, packets) = setup;
        let limits = [limit, None];
        let packets: Vec<_> = packets.into_iter().filter(|packet| packet.0 < MICROS).collect();
        let mut ticks = Ticks::new(&rules, &reach, limits, residual, seed);
        ticks.run(MICROS, &packets);
        let mut cell = Cell::new(rules, Ticks::paths(&reach), limits, residual);
        let mut ended = jump(&mut cell, seed, &packets);
        // At one instant the order is another.
        ended.sort_unstable_by_key(|one| (one.0, one.1));
        ticks.ended.sort_unstable_by_key(|one| (one.0, one.1));
        prop_assert_eq!(&ended, &ticks.ended);
        for node in 0..reach.len() {
            prop_assert_eq!(cell.counts(node as u32), ticks.counts(node));
        }
    }
}
