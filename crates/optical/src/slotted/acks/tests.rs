//! Scripts, and a sender and a receiver with a network between them that loses and reorders.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

const RULES: ProxyRules = ProxyRules {
    keep: Span::from_secs(1),
    filter: Filter::All,
    guard: Guard::Copies,
    again: Span::from_ms(400),
};

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// A proxy past the ACK `acked` that has forwarded up to and with `last`; packets are segments.
fn proxy(acked: u64, last: u64) -> AckProxy<u64> {
    let mut proxy = AckProxy::default();
    assert!(proxy.passes(at(0), acked, &RULES).on);
    (acked..=last).for_each(|segment| proxy.forwards(segment, segment));
    proxy
}

#[test]
fn one_set_a_window_for_the_lowest_hole() {
    let mut proxy = proxy(10, 30);
    assert_eq!(proxy.loses(at(5), 15, at(0), &RULES), Some(15));
    assert_eq!(proxy.loses(at(5), 17, at(0), &RULES), None, "beyond a hole");
    proxy.forwards(31, 31);
    assert_eq!(proxy.loses(at(7), 12, at(0), &RULES), None, "of the same window");
    let mut passes = |next| proxy.passes(at(9), next, &RULES).on;
    assert!(passes(18), "all holes are repaired");
    assert!(passes(31));
    assert_eq!(proxy.loses(at(10), 31, at(0), &RULES), Some(31), "of the next window");
}

#[test]
fn nothing_is_written_that_the_edge_cannot_answer_for() {
    assert_eq!(
        AckProxy::<u64>::default().loses(at(1), 0, at(0), &RULES),
        None,
        "no connection yet"
    );
    assert_eq!(proxy(10, 30).loses(at(1), 40, at(0), &RULES), None, "it never saw the segment");
    assert_eq!(proxy(10, 30).loses(at(1), 5, at(0), &RULES), None, "the receiver has it");
    assert_eq!(proxy(10, 30).loses(at(1001), 15, at(0), &RULES), None, "too long ago");
    let mut gap: AckProxy<u64> = AckProxy::default();
    gap.passes(at(0), 10, &RULES);
    (11..20).for_each(|segment| gap.forwards(segment, segment));
    assert_eq!(gap.loses(at(1), 15, at(0), &RULES), None, "it has no copy of 10");
    let known = ProxyRules { guard: Guard::KnownHoles, ..RULES };
    assert_eq!(gap.loses(at(1), 15, at(0), &known), Some(15));
}

#[test]
fn acks_that_repeat_what_was_written_are_dropped() {
    let script = |filter| {
        let rules = ProxyRules { filter, ..RULES };
        let mut proxy = proxy(10, 30);
        proxy.loses(at(5), 15, at(0), &rules);
        let on = [13, 15, 15, 15, 15, 15, 20, 15].map(|next| proxy.passes(at(6), next, &rules).on);
        on.map(u8::from)
    };
    assert_eq!(script(Filter::All), [1, 0, 0, 0, 0, 0, 1, 1]);
    assert_eq!(script(Filter::FirstThree), [1, 0, 0, 0, 1, 1, 1, 1]);
    assert_eq!(script(Filter::Off), [1; 8]);
    let mut late = proxy(10, 30);
    late.loses(at(5), 15, at(0), &RULES);
    assert!(late.passes(at(1006), 15, &RULES).on, "the record has expired");
}

#[test]
fn the_receiver_gets_what_was_acknowledged_for_it() {
    let mut proxy = proxy(10, 30);
    proxy.loses(at(5), 15, at(0), &RULES);
    let mut asks = |ms, next| proxy.passes(at(ms), next, &RULES).copy;
    assert_eq!(asks(6, 12), None, "it may be in flight");
    assert_eq!(asks(7, 12), Some(12), "it is asked for again");
    assert_eq!(asks(8, 12), None, "a copy is in flight");
    assert_eq!(asks(407, 12), Some(12), "and was lost too");
    assert_eq!(asks(408, 15), None);
    assert_eq!(asks(409, 15), None, "the sender has it");
}

/// A sender with a window and little sense: it repeats what three ACKs in a row ask for, and what
/// it has waited for too long.
struct Sender {
    total: u64,
    una: u64,
    next: u64,
    repeats: u32,
    waited: u32,
}

impl Sender {
    fn window(&mut self) -> Vec<u64> {
        let sent = (self.next..self.total.min(self.una + 12)).collect::<Vec<_>>();
        self.next += sent.len() as u64;
        sent
    }

    fn acked(&mut self, next: u64) -> Option<u64> {
        if next > self.una {
            (self.una, self.repeats, self.waited) = (next, 0, 0);
            self.next = self.next.max(next);
        } else if next == self.una {
            self.repeats += 1;
        }
        (self.repeats == 3 && self.una < self.total).then_some(self.una)
    }

    fn tick(&mut self) -> Option<u64> {
        self.waited += 1;
        let due = self.una < self.total && self.waited >= 40;
        if due {
            self.waited = 0;
        }
        due.then_some(self.una)
    }
}

/// Whether a transfer of `total` segments over a network whose dice are `dice` ends within 200,000
/// steps of 10 ms. Each segment may be lost, with or without a notification, or be late.
fn completes(total: u64, dice: &[u8], rules: &ProxyRules) -> bool {
    let mut sender = Sender { total, una: 0, next: 0, repeats: 0, waited: 0 };
    let mut proxy: AckProxy<u64> = AckProxy::default();
    let mut got: BTreeSet<u64> = BTreeSet::new();
    let mut on_way: Vec<(u64, u8, u64)> = Vec::new();
    let mut tries = vec![0u32; total as usize];
    let mut rolled = 0;
    let mut expected = 0;
    for step in 0..200_000u64 {
        let now = at(step * 10);
        let mut sends = sender.window();
        sends.extend(sender.tick());
        let (mut copies, mut acks) = (Vec::new(), Vec::new());
        on_way.sort_unstable();
        let due = on_way.partition_point(|&(at, ..)| at <= step);
        for (_, kind, number) in on_way.drain(..due).collect::<Vec<_>>() {
            match kind {
                // A segment is at the receiver.
                0 => {
                    got.insert(number);
                    while got.contains(&expected) {
                        expected += 1;
                    }
                    on_way.push((step + 4, 1, expected));
                }
                // An ACK is at the edge.
                1 => {
                    let passed = proxy.passes(now, number, rules);
                    copies.extend(passed.copy);
                    if passed.on {
                        acks.push(number);
                    }
                }
                // So is a notification.
                _ => acks
                    .extend(proxy.loses(now, number, now, rules).into_iter().flat_map(|n| [n; 4])),
            }
        }
        sends.extend(acks.into_iter().filter_map(|next| sender.acked(next)));
        for &segment in &sends {
            proxy.forwards(segment, segment);
        }
        for segment in sends.into_iter().chain(copies) {
            let die = dice[rolled % dice.len()];
            rolled += 1;
            // Each segment is spared every 8th time, whatever the dice, so that there is an end.
            let tries = &mut tries[segment as usize];
            *tries += 1;
            match die % 8 {
                _ if tries.is_multiple_of(8) => on_way.push((step + 5, 0, segment)),
                0 => {}
                1 => on_way.push((step + 1 + u64::from(die) % 5, 2, segment)),
                2 => on_way.push((step + 2 + u64::from(die) / 8, 0, segment)),
                _ => on_way.push((step + 5, 0, segment)),
            }
        }
        if sender.una == total {
            return expected == total;
        }
    }
    false
}

#[test]
fn without_the_guard_data_is_lost() {
    // Losses unseen and losses notified in one window: the ACKs go beyond what was lost unseen.
    let dice: Vec<u8> = (0..97u8).map(|n| [3, 3, 0, 3, 1, 3, 3][usize::from(n) % 7]).collect();
    assert!(completes(400, &dice, &RULES));
    assert!(!completes(400, &dice, &ProxyRules { guard: Guard::KnownHoles, ..RULES }));
}

#[test]
fn a_copy_is_sent_as_often_as_it_is_lost() {
    // The edge has acknowledged up to segment 12, and the receiver waits for 1. Only when a
    // repetition of 12 gets through does it ask, and so only then is 1 sent again.
    assert!(completes(13, &[73], &RULES));
}

proptest! {
    /// The obviously correct twin is a map.
    #[test]
    fn it_has_the_last_packet_of_each_segment_that_is_not_acknowledged(
        steps in prop::collection::vec((0u8..5, 0u64..12), 1..80),
    ) {
        let (mut proxy, mut twin, mut acked) = (AckProxy::default(), BTreeMap::new(), 0);
        for (packet, (kind, offset)) in (0u64..).zip(steps) {
            if kind == 0 {
                let next = (acked + offset / 2).saturating_sub(1);
                proxy.passes(at(0), next, &RULES);
                acked = acked.max(next);
                twin = twin.split_off(&acked);
            } else {
                let segment = (acked + offset).saturating_sub(3);
                proxy.forwards(segment, packet);
                if segment >= acked {
                    twin.insert(segment, packet);
                }
            }
            let held = proxy.forwarded.iter().map(|entry| (entry.segment, entry.packet));
            prop_assert!(held.eq(twin.iter().map(|(&segment, &packet)| (segment, packet))));
        }
    }

    #[test]
    fn every_segment_arrives_always(
        total in 1u64..120,
        dice in prop::collection::vec(any::<u8>(), 1..200),
        filter in prop::sample::select(vec![Filter::All, Filter::FirstThree, Filter::Off]),
    ) {
        let done = completes(total, &dice, &ProxyRules { filter, ..RULES });
        prop_assert!(done);
    }
}
