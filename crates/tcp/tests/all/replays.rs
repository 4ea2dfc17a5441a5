//! Recordings that are written by hand: what an application writes at times, and a connection that
//! the other side opened.

use burstlab_tcp::{Congestion, LinuxOptions, ReplayCase, ReplayOutcome, replay};
use burstlab_units::Span;

fn case(bytes: Option<u64>, writes: Option<Vec<(u64, u64)>>) -> ReplayCase {
    let options = LinuxOptions {
        congestion: Congestion::Reno,
        group_most: 1,
        clock_phase: Span::from_us(54),
        ..LinuxOptions::default()
    };
    ReplayCase { options, bytes, writes }
}

/// A segment at so many microseconds; `flags`: 2 is a SYN, 17 a FIN.
fn sent(us: u64, seq: u64, length: u64, flags: u32) -> String {
    format!("S,{us}000,{seq},{length},{flags},0,10,2147483647,0,211000,0\n")
}

/// An ACK, after which the window is `cwnd`; `flags`: 18 is that of a SYN.
fn heard(us: u64, ack: u64, flags: u32, cwnd: u32) -> String {
    let rest = "10000,5000,211000,0,0,0,0,3,0,2400000,10000,1,0";
    format!("A,{us}000,{ack},65536,{},{flags},,{cwnd},2147483647,0,{rest}\n", us / 1000 - 10)
}

fn play(case: &ReplayCase, rows: &[String]) -> ReplayOutcome {
    replay(case, &rows.concat()).expect("is a recording")
}

#[test]
fn what_is_written_later_leaves_when_it_is_written() {
    let opening = [sent(0, 0, 0, 2), heard(10_000, 1, 18, 10)];
    let later = [
        sent(150_000, 1, 1448, 16),
        heard(160_000, 1449, 16, 11),
        sent(400_000, 1449, 1448, 16),
        sent(400_000, 2897, 1448, 16),
        heard(410_000, 4345, 16, 13),
    ];
    let rows = [&opening[..], &later].concat();
    let writes = |first| case(None, Some(vec![(first, 1448), (400, 2896)]));
    let outcome = play(&writes(150), &rows);
    assert!(outcome.rows_equal == 3 && outcome.rows == 3, "{outcome:?}");
    let early = play(&writes(100), &rows);
    assert_eq!(early.rows_equal, 0, "it leaves as it is written");
    assert_eq!(play(&case(None, None), &rows).rows_equal, 0, "and not before");
    // No FIN follows: the connection stays open.
    let closed = [&rows[..], &[sent(400_000, 4345, 0, 17)]].concat();
    assert!(!play(&writes(150), &closed).matches);
    // Data written before the connection is open leave with it.
    let at_once =
        [&opening[..], &[sent(10_000, 1, 1448, 16), sent(10_000, 1449, 1448, 16)]].concat();
    let before = play(&case(None, Some(vec![(3, 1448), (4, 1448)])), &at_once);
    assert_eq!((before.rows_equal, before.rows), (2, 2), "{before:?}");
}

#[test]
fn the_side_that_was_called_sends_once_the_handshake_is_over() {
    let rows = [
        sent(42_000, 1, 1448, 16),
        sent(42_000, 1449, 1448, 16),
        sent(42_000, 2897, 0, 17),
        heard(52_000, 2897, 16, 12),
    ];
    let outcome = play(&case(Some(2896), None), &rows);
    assert!(outcome.rows_equal >= 2, "{outcome:?}");
    let first = outcome.first_difference.unwrap_or_default();
    assert!(!first.contains("segment 1:"), "{first}");
    // Its round trip is that of the handshake: 10 ms, and not from time 0.
    assert!(first.is_empty() || !first.contains("srtt 42"), "{first}");
}

#[test]
fn rows_beyond_what_can_be_counted_are_refused() {
    let fails = |row: &str| replay(&case(None, None), row).expect_err(row);
    for row in [
        "S,18446744073709551615,1,1448,16,0,10,9,0,9,0",
        "S,0,1,18446744073709551615,16,0,10,9,0,9,0",
        "A,5,18446744073709551615,9,0,16,,10,9,0,1,1,1,0,0,0,0,3,0",
        "A,5,1,18446744073709551615,0,16,,10,9,0,1,1,1,0,0,0,0,3,0",
        "A,5,1,9,0,16,1-18446744073709551615,10,9,0,1,1,1,0,0,0,0,3,0",
    ] {
        assert!(fails(row).contains("line 1"), "{row}");
    }
    let (late, early) = (heard(20_000, 1, 18, 10), heard(19_000, 1, 16, 10));
    assert!(fails(&[late, early].concat()).contains("line 2: "), "the ACK before is later");
}
