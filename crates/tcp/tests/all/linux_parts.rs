//! Parts of segments: which of them the sender of Linux sends, and when it waits.

use burstlab_tcp::{Arrival, CallEnds, Linux, LinuxOptions, Transmission};
use burstlab_units::Time;

const FULL: u64 = 1_448;

fn ms(ms: u64) -> Time {
    Time::from_ps(ms * 1_000_000_000)
}

/// A sender whose receiver has room for `window` bytes, which nobody has written to.
fn opened(options: &LinuxOptions, window: u64) -> Linux {
    let options = LinuxOptions { group_most: u32::MAX, ..options.clone() };
    let mut sender = Linux::new(&options);
    sender.open(ms(0), ms(100), window);
    sender
}

fn hear(sender: &mut Linux, at: u64, next: u64, window: u64) -> Vec<(u64, u64)> {
    let (mut out, blocks) = (Vec::new(), &[][..]);
    let arrival = Arrival { next, blocks, window, echo: None, ece: false, with_data: false };
    sender.on_ack(ms(at), &arrival, &mut out);
    lengths(&out)
}

/// Segments and how many bytes they have.
fn lengths(out: &[Transmission]) -> Vec<(u64, u64)> {
    out.iter().map(|sent| (sent.seq, sent.size.get() - 52)).collect()
}

fn write(sender: &mut Linux, total: u64) -> Vec<(u64, u64)> {
    let mut out = Vec::new();
    sender.offer(total);
    sender.write_more(ms(100), &mut out);
    lengths(&out)
}

#[test]
fn the_rest_of_a_window_takes_a_part_and_no_second_one_before_its_ack() {
    let window = 5 * FULL + 500;
    let mut sender = opened(&LinuxOptions::default(), window);
    // Half the window is a group; the third one has room for one segment and 500 bytes.
    let sent = write(&mut sender, u64::MAX);
    assert_eq!(sent, [(1, FULL), (2, FULL), (3, FULL), (4, FULL), (5, FULL), (6, 500)]);
    // The part is in flight: where the window ends within a segment again, that segment waits.
    // (Long before the next ACK is expected no group waits for it.)
    assert_eq!(hear(&mut sender, 110, 3, window + 300), [(7, FULL), (8, FULL)]);
    assert_eq!(hear(&mut sender, 111, 6, window + 300), [(9, FULL), (10, FULL), (11, FULL)]);
    // It is acknowledged: the 800 bytes that are left of the window are less than a segment and go
    // with the next one.
    assert_eq!(hear(&mut sender, 112, 8, window + 300), [(12, FULL), (13, 800)]);
    assert_eq!(sender.bytes_before(14), 11 * FULL + 500 + 800);
    assert_eq!(sender.bytes_before(13), 11 * FULL + 500);
}

#[test]
fn without_parts_segments_are_whole() {
    let options = LinuxOptions { parts: false, ..LinuxOptions::default() };
    let mut sender = opened(&options, 5 * FULL + 500);
    let sent = write(&mut sender, u64::MAX);
    assert_eq!(sent, [(1, FULL), (2, FULL), (3, FULL), (4, FULL), (5, FULL)]);
}

#[test]
fn a_window_below_a_segment_takes_none() {
    let mut sender = opened(&LinuxOptions::default(), 2 * FULL);
    assert_eq!(write(&mut sender, u64::MAX), [(1, FULL), (2, FULL)]);
    assert_eq!(hear(&mut sender, 200, 3, FULL - 1), []);
}

#[test]
fn the_end_of_what_is_written_is_short_and_waits_for_an_earlier_short_one() {
    let mut sender = opened(&LinuxOptions::default(), 100_000);
    assert_eq!(write(&mut sender, 2 * FULL + 10), [(1, FULL), (2, FULL), (3, 10)]);
    // Ten bytes are in flight, so that twenty more wait for their ACK (RFC 896).
    assert_eq!(write(&mut sender, 2 * FULL + 30), []);
    assert_eq!(hear(&mut sender, 200, 3, 100_000), []);
    assert_eq!(hear(&mut sender, 201, 4, 100_000), [(4, 20)]);
}

#[test]
fn what_is_known_to_be_the_last_waits_for_nothing() {
    let mut sender = opened(&LinuxOptions::default(), 100_000);
    write(&mut sender, FULL + 10);
    write(&mut sender, FULL + 30);
    let mut out = Vec::new();
    sender.close(ms(101), &mut out);
    assert_eq!(lengths(&out), [(3, 20)]);
}

#[test]
fn a_part_that_was_lost_goes_again_as_it_was() {
    let window = 5 * FULL + 500;
    let mut sender = opened(&LinuxOptions::default(), window);
    write(&mut sender, u64::MAX);
    let due = sender.poll_timeout().expect("a timer");
    hear(&mut sender, 200, 6, 0);
    let (mut out, mut again) = (Vec::new(), Vec::new());
    let mut at = due;
    while again.is_empty() {
        at = sender.poll_timeout().expect("a timer").max(at);
        sender.on_timeout(at, &mut out);
        again = lengths(&out);
        out.clear();
    }
    assert_eq!(again, [(6, 500)]);
}

#[test]
fn segments_of_calls_that_end_records_are_whole_for_the_caller() {
    let options = LinuxOptions { parts: false, ..LinuxOptions::default() };
    let mut sender = opened(&options, 100_000);
    let mut out = Vec::new();
    assert_eq!(sender.append(ms(100), 3, CallEnds::Record, &mut out), 3);
    assert_eq!(lengths(&out), [(1, FULL), (2, FULL), (3, FULL)]);
}

#[test]
fn a_call_that_announces_more_ends_no_push_before_half_a_window_is_written() {
    let options = LinuxOptions { parts: false, ..LinuxOptions::default() };
    let pushes = |window: u64, ends: CallEnds| {
        let (mut sender, mut out) = (opened(&options, window), Vec::new());
        for _ in 0..2 {
            sender.append(ms(100), 1, ends, &mut out);
        }
        out[1].flags.push
    };
    assert!(pushes(100_000, CallEnds::Pushed));
    assert!(!pushes(100_000, CallEnds::More));
    assert!(pushes(4 * FULL - 2, CallEnds::More), "two are more than half the window");
    assert!(!pushes(4 * FULL, CallEnds::More), "half the window");
}
