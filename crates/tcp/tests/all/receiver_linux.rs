//! The receiver of variant `"linux"`, packet by packet.

use std::collections::BTreeMap;

use burstlab_tcp::{
    AckOptions, Config, FullAck, Overrides, Receiver, SegmentFlags, SegmentOptions,
};
use burstlab_units::{Bytes, Span, Time};

const PAYLOAD: u64 = 1448;

struct Script {
    receiver: Receiver,
    out: Vec<FullAck>,
}

fn ms(n: u64) -> Time {
    Time::ZERO + Span::from_ms(n)
}

fn stamped(stamp: u64) -> SegmentOptions {
    SegmentOptions { stamp: stamp as u32, ..SegmentOptions::default() }
}

fn markable(stamp: u64, marked: bool) -> SegmentOptions {
    let flags = SegmentFlags { markable: true, ..SegmentFlags::default() };
    SegmentOptions { flags, marked, ..stamped(stamp) }
}

impl Script {
    /// A connection that is there at 20 ms, with these parameters besides.
    fn new(fields: &str) -> Self {
        let text = format!("{{\"profile\": \"linux\"{fields}}}");
        let overrides: Overrides = serde_json::from_str(&text).expect("fields");
        let config = Config::resolve(&overrides).expect("parameters");
        let mut script = Self { receiver: Receiver::new(&config), out: Vec::new() };
        let ack = script.take(0, 0, &stamped(0));
        assert_eq!(ack.len(), 1, "the SYN is answered");
        script.receiver.on_handshake(ms(20));
        script
    }

    fn take(&mut self, at: u64, seq: u64, options: &SegmentOptions) -> Vec<FullAck> {
        let bytes = Bytes::new(if seq == 0 { 0 } else { PAYLOAD });
        self.receiver.on_packet(ms(at), (seq, bytes), options, &mut self.out);
        std::mem::take(&mut self.out)
    }

    /// Segment `seq` arrives at `at` ms; returns the numbers of the ACKs.
    fn acks(&mut self, at: u64, seq: u64) -> Vec<u64> {
        self.take(at, seq, &stamped(at)).iter().map(|(ack, _)| ack.next).collect()
    }

    /// Segments `first` to `last` arrive, one a millisecond from `at` ms on.
    fn run(&mut self, at: u64, first: u64, last: u64) -> Vec<Vec<u64>> {
        (first..=last).map(|seq| self.acks(at + seq - first, seq)).collect()
    }
}

/// Small enough that the window stops growing soon.
const SMALL: &str = ", \"receive_buffer\": \"131072 B\", \"receive_buffer_max\": \"131072 B\"";

/// A connection whose quick phase is over with segment `n - 1`, at `n + 19` ms.
fn settled() -> (Script, u64) {
    let mut script = Script::new(SMALL);
    let mut seq = 1;
    while !script.acks(20 + seq, seq).is_empty() {
        seq += 1;
        assert!(seq < 200, "the quick phase ends");
    }
    (script, seq + 1)
}

#[test]
fn each_segment_of_the_quick_phase_is_acknowledged() {
    let (_, next) = settled();
    // The window grows by two segments each to five eighths of 128 KiB, then 16 ACKs are left.
    assert!((16..40).contains(&next), "{next}");
}

#[test]
fn later_two_segments_make_an_ack() {
    let (mut script, next) = settled();
    assert_eq!(script.acks(next + 20, next), [next + 1]);
    assert_eq!(script.run(next + 21, next + 1, next + 2), [vec![], vec![next + 3]]);
}

#[test]
fn one_alone_waits_40_ms_and_longer_after_that() {
    let (mut script, next) = settled();
    let due = script.receiver.poll_timeout().expect("a delayed ACK");
    let sent = ms(next + 19);
    // It is due within 40 ticks of 1 ms and one more.
    assert!(due > sent + Span::from_ms(39) && due <= sent + Span::from_ms(41), "{due}");
    script.receiver.on_full_timeout(due, &mut script.out);
    assert_eq!(script.out.len(), 1);
    assert_eq!(script.receiver.poll_timeout(), None);
}

#[test]
fn a_push_is_acknowledged_once_it_is_read() {
    let (mut script, next) = settled();
    script.acks(next + 20, next);
    let flags = SegmentFlags { push: true, ..SegmentFlags::default() };
    let options = SegmentOptions { flags, ..stamped(next + 21) };
    assert_eq!(script.take(next + 21, next + 1, &options).len(), 1);
}

#[test]
fn what_arrives_twice_comes_first_and_may_lie_below() {
    let mut script = Script::new("");
    script.acks(30, 1);
    script.acks(31, 3);
    let acks = script.take(32, 1, &stamped(32));
    assert_eq!(acks[0].0.next, 2);
    assert_eq!(acks[0].0.sack.as_slice(), [(1, 2), (3, 4)]);
    // 4 bytes of padding and length, and 8 for each block.
    assert_eq!(acks[0].0.size, Bytes::new(52 + 4 + 16));
    let acks = script.take(33, 3, &stamped(33));
    assert_eq!(acks[0].0.sack.as_slice(), [(3, 4), (3, 4)]);
}

#[test]
fn without_d_sack_what_arrives_twice_is_not_reported() {
    let mut script = Script::new(", \"d_sack\": false");
    script.acks(30, 1);
    script.acks(31, 3);
    let acks = script.take(32, 1, &stamped(32));
    assert_eq!(acks[0].0.next, 2);
    assert_eq!(acks[0].0.sack.as_slice(), [(3, 4)]);
}

#[test]
fn an_ack_echoes_the_first_segment_that_it_covers() {
    let (mut script, next) = settled();
    script.acks(next + 20, next);
    assert!(script.acks(next + 21, next + 1).is_empty());
    let acks = script.take(next + 25, next + 2, &stamped(next + 25));
    assert_eq!(u64::from(acks[0].1.echo), next + 21);
}

#[test]
fn out_of_order_three_acks_go_at_once_and_then_one_for_several() {
    let (mut script, next) = settled();
    script.acks(next + 20, next);
    let from = next + 2;
    // As the first comes, the buffer holds one segment less than it does for one in order: the
    // window grows once more, which is worth a quick ACK before the three.
    let at = Time::ZERO + Span::from_ms(next + 30);
    let mut stamp = 0;
    let mut counts = Vec::new();
    for i in 0..6 {
        let (now, seq) = (at + Span::from_us(10 * i), from + i);
        let bytes = Bytes::new(PAYLOAD);
        // They echo what was said 20 ms ago.
        let options = SegmentOptions { echo: (next + 10) as u32, ..stamped(next + 30) };
        script.receiver.on_packet(now, (seq, bytes), &options, &mut script.out);
        stamp = script.out.first().map_or(stamp, |(_, carried)| carried.stamp);
        counts.push(std::mem::take(&mut script.out).len());
    }
    assert_eq!(counts, [1, 1, 1, 1, 0, 0]);
    // A twentieth of these 20 ms, and 0.1 ms that the timer may be late.
    let due = script.receiver.poll_timeout().expect("one for several");
    assert_eq!(due, at + Span::from_us(40) + Span::from_us(1_100));
    script.receiver.on_full_timeout(due, &mut script.out);
    assert_eq!(script.out[0].0.sack.as_slice(), [(from, from + 6)]);
    // Its timer does not read the clock, which is a millisecond on.
    assert_eq!(script.out[0].1.stamp, stamp);
}

#[test]
fn a_timer_that_is_left_on_the_wheel_sends_what_was_left_out() {
    let (mut script, next) = settled();
    let left = script.receiver.poll_timeout().expect("a delayed ACK");
    assert_eq!(script.acks(next + 20, next), [next + 1]);
    assert_eq!(script.receiver.poll_timeout(), None, "nothing waits for it");
    // Segments above a hole come 0.1 ms before it runs out; their own timer takes 1.1 ms.
    let now = Time::from_ps(left.as_ps() - 100_000_000);
    let mut counts = Vec::new();
    for seq in next + 2..next + 8 {
        let options = SegmentOptions { echo: (next + 35) as u32, ..stamped(next + 55) };
        script.receiver.on_packet(now, (seq, Bytes::new(PAYLOAD)), &options, &mut script.out);
        counts.push(std::mem::take(&mut script.out).len());
    }
    assert_eq!(counts, [1, 1, 1, 1, 0, 0]);
    assert_eq!(script.receiver.poll_timeout(), Some(left));
    script.receiver.on_full_timeout(left, &mut script.out);
    assert_eq!(script.out[0].0.sack.as_slice(), [(next + 2, next + 8)]);
    assert_eq!(script.receiver.poll_timeout(), None);
}

#[test]
fn the_advertised_window_grows_by_two_segments_and_is_scaled() {
    let mut script = Script::new(
        ", \"receive_buffer\": \"16777216 B\", \"receive_buffer_max\": \"134217728 B\"",
    );
    let windows: Vec<_> =
        (1..=4).map(|seq| script.take(30 + seq, seq, &stamped(30 + seq))[0].1.window).collect();
    // As Linux 6.12 was recorded with these buffers.
    assert_eq!(windows, [8_392_704, 8_396_800, 8_396_800, 8_400_896]);
}

#[test]
fn a_segment_above_a_hole_shows_what_segments_take() {
    let mut script = Script::new(
        ", \"receive_buffer\": \"16777216 B\", \"receive_buffer_max\": \"134217728 B\"",
    );
    // The first four are lost. While the window grows each ACK goes at once, also behind the third.
    let acks: Vec<_> =
        (5..=10).flat_map(|seq| script.take(30 + seq, seq, &stamped(30 + seq))).collect();
    assert!(acks.iter().all(|(ack, _)| ack.next == 1));
    let windows: Vec<_> = acks.iter().map(|(_, carried)| carried.window).collect();
    // As Linux 6.12 was recorded with these buffers (`reno-random-005`).
    assert_eq!(windows, [8_392_704, 8_396_800, 8_396_800, 8_400_896, 8_404_992, 8_404_992]);
}

#[test]
fn a_shorter_round_trip_counts_at_once() {
    let mut script = Script::new("");
    let echoing = |at: u64, echo: u64| SegmentOptions { echo: echo as u32, ..stamped(at) };
    // A round trip of 400 ms, then one of 20 ms.
    script.take(440, 1, &echoing(440, 40));
    let mut widest = 0;
    for seq in 2..402 {
        let at = 450 + seq / 10;
        for (_, carried) in script.take(at, seq, &echoing(at, 430)) {
            widest = widest.max(carried.window);
        }
    }
    // The buffer has grown after 20 ms, and not after what the mean would be, 350 ms. Of 128 KiB
    // five eighths would be 81,920.
    assert!(widest > 200_000, "{widest}");
}

#[test]
fn what_waits_above_a_hole_takes_room_from_the_window() {
    let (mut script, next) = settled();
    script.acks(next + 20, next);
    // Two segments are missing, and ten are there behind them. At the first the window is as wide
    // as it becomes.
    let first = script.take(next + 21, next + 3, &stamped(next + 21));
    let before = u64::from(first[0].1.window);
    for seq in next + 4..next + 13 {
        let acks = script.take(next + 21, seq, &stamped(next + 21));
        // The window that was offered is not taken back.
        assert!(acks.iter().all(|(_, carried)| u64::from(carried.window) == before));
    }
    // As the first of the two arrives its end stays where it was.
    let acks = script.take(next + 22, next + 1, &stamped(next + 22));
    assert_eq!(acks[0].0.next, next + 2);
    assert_eq!(u64::from(acks[0].1.window), before - PAYLOAD);
}

#[test]
fn the_buffer_grows_with_what_is_read() {
    let mut script = Script::new("");
    let mut widest = 0;
    let mut seq = 0;
    // As in slow start: each round trip of 20 ms has twice what the one before had, up to 200.
    for round in 0..20 {
        let segments = (10 << round.min(10)).min(200);
        for n in 0..segments {
            seq += 1;
            let at = 40 + 20 * round + 20 * n / segments;
            // Segments echo an ACK of 20 ms ago.
            let options = SegmentOptions { echo: (at - 20) as u32, ..stamped(at) };
            for (_, AckOptions { window, .. }) in script.take(at, seq, &options) {
                widest = widest.max(window);
            }
        }
    }
    // Twice what is read in a round trip fits, and what a sender that doubles it would send; it is
    // not the 3.9 MB for which 6 MiB have room.
    assert!((2 * 200 * PAYLOAD..2_000_000).contains(&u64::from(widest)), "{widest}");
}

#[test]
fn unscaled_windows_stay_within_16_bits() {
    let mut script = Script::new(", \"window_scaling\": false");
    let widest = (1..200).flat_map(|seq| script.take(30 + seq, seq, &stamped(30 + seq)));
    assert_eq!(widest.map(|(_, options)| options.window).max(), Some(65_535));
}

#[test]
fn with_dctcp_a_mark_makes_two_acks_where_one_waits() {
    let (mut script, next) = {
        let mut script = Script::new(&format!("{SMALL}, \"window_law\": \"dctcp\""));
        let mut seq = 1;
        while !script.take(20 + seq, seq, &markable(20 + seq, false)).is_empty() {
            seq += 1;
            assert!(seq < 200, "the quick phase ends");
        }
        (script, seq + 1)
    };
    // The ACK of one segment waits. The next segment is marked. That ACK goes first, without the
    // echo of a mark; the ACK with the echo follows at once (RFC 8257 section 3.2).
    let acks = script.take(next + 20, next, &markable(next + 20, true));
    let carried: Vec<_> = acks.iter().map(|(ack, carried)| (ack.next, carried.marked)).collect();
    assert_eq!(carried, [(next, false), (next + 1, true)]);
}

#[test]
fn a_time_stamp_may_be_a_tick_behind() {
    // RFC 7323 section 5.3, with the tick of grace of Linux (`TCP_PAWS_WINDOW`).
    let mut script = Script::new("");
    assert_eq!(script.acks(30, 1), [2]);
    let acks = script.take(31, 2, &stamped(29));
    assert_eq!(acks.last().map(|(ack, _)| ack.next), Some(3), "a tick behind it is taken");
    let acks = script.take(32, 3, &stamped(28));
    assert_eq!(acks.len(), 1, "it is answered at once");
    assert_eq!(acks[0].0.next, 3, "two ticks behind it is old");
}

#[test]
fn a_segment_beyond_the_window_takes_no_room() {
    let fields = format!("{SMALL}, \"window\": 20");
    let (mut script, mut twin) = (Script::new(&fields), Script::new(&fields));
    for seq in 1..10 {
        for script in [&mut script, &mut twin] {
            assert_eq!(script.acks(20 + seq, seq), [seq + 1]);
        }
    }
    for seq in 100..140 {
        let acks = script.take(30, seq, &stamped(30));
        assert_eq!(acks.len(), 1);
        assert_eq!((acks[0].0.next, acks[0].0.sack.as_slice()), (10, &[][..]));
    }
    // As many windows as segments are acknowledged alike.
    let [windows, expected] = [&mut script, &mut twin].map(|script| {
        let acks = (10..60).flat_map(|seq| script.take(31 + seq, seq, &stamped(31 + seq)));
        acks.map(|(ack, carried)| (ack.next, carried.window)).collect::<BTreeMap<_, _>>()
    });
    let shared = windows.keys().filter(|next| expected.contains_key(next)).count();
    assert!(shared > 20, "{shared}");
    for (next, window) in windows.iter().filter(|(next, _)| expected.contains_key(next)) {
        assert_eq!(window, &expected[next], "{next}");
    }
}

#[test]
fn a_third_run_of_early_segments_ends_the_wait_of_an_ack_for_several() {
    let (mut script, next) = settled();
    script.acks(next + 20, next);
    let at = Time::ZERO + Span::from_ms(next + 30);
    let mut number = 0;
    let mut take = |script: &mut Script, seq: u64| {
        number += 1;
        let options = SegmentOptions { echo: (next + 10) as u32, ..stamped(next + 30) };
        let now = at + Span::from_us(10 * number);
        script.receiver.on_packet(now, (seq, Bytes::new(PAYLOAD)), &options, &mut script.out);
        std::mem::take(&mut script.out)
    };
    // Above a hole four ACKs go at once, then one for several waits.
    let first = next + 2;
    let counts: Vec<_> = (0..6).map(|i| take(&mut script, first + i).len()).collect();
    assert_eq!(counts, [1, 1, 1, 1, 0, 0]);
    // A second run waits with it. The third is more than two blocks tell: what waits goes first.
    assert_eq!(take(&mut script, first + 10).len(), 0);
    let acks = take(&mut script, first + 20);
    assert_eq!(acks.len(), 1);
    let blocks = [(first + 10, first + 11), (first, first + 6)];
    assert_eq!(acks[0].0.sack.as_slice(), blocks, "the third run is reported later");
}
