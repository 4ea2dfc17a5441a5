//! A receiver's window that is closed, or open for less than a segment. The tests show how the
//! sender of variant `"linux"` probes it, and when its receiver announces that it has opened.

use burstlab_tcp::{
    AckOptions, Arrival, Config, FullAck, Linux, LinuxOptions, Overrides, Receiver, SegmentFlags,
    SegmentOptions, Transmission,
};
use burstlab_units::{Bytes, Span, Time};

const PAYLOAD: u64 = 1_448;

fn ms(n: u64) -> Time {
    Time::ZERO + Span::from_ms(n)
}

struct Script {
    sender: Linux,
    out: Vec<Transmission>,
}

impl Script {
    /// A connection that is there after 20 ms, whose first window has so many bytes, and whose
    /// application writes without end.
    fn new(window: u64) -> Self {
        let mut sender = Linux::new(&LinuxOptions::default());
        sender.open(Time::ZERO, ms(20), window);
        sender.offer(u64::MAX);
        let mut script = Self { sender, out: Vec::new() };
        script.sender.write_more(ms(20), &mut script.out);
        script
    }

    /// Transmissions since the last call: segments and their bytes of data.
    fn sent(&mut self) -> Vec<(u64, u64)> {
        let bytes = |sent: &Transmission| match sent.seq {
            0 => 0,
            _ => sent.size.get() - (1_500 - PAYLOAD),
        };
        self.out.drain(..).map(|sent| (sent.seq, bytes(&sent))).collect()
    }

    fn ack(&mut self, at: u64, next: u64, window: u64) -> Vec<(u64, u64)> {
        let (blocks, ece, with_data) = (&[][..], false, false);
        let arrival = Arrival { next, blocks, window, echo: Some(at - 20), ece, with_data };
        self.sender.on_ack(ms(at), &arrival, &mut self.out);
        self.sender.write_more(ms(at), &mut self.out);
        self.sent()
    }

    /// The timer runs out: when, in ms, and what is sent then.
    fn timer(&mut self) -> (u64, Vec<(u64, u64)>) {
        let due = self.sender.poll_timeout().expect("a timer is set");
        self.sender.on_timeout(due, &mut self.out);
        (due.since(Time::ZERO).as_ps() / 1_000_000_000, self.sent())
    }
}

#[test]
fn a_closed_window_is_probed_at_intervals_that_double() {
    let mut script = Script::new(4 * PAYLOAD);
    assert_eq!(script.sent().len(), 4);
    assert_eq!(script.ack(40, 5, 0), [], "nothing may go");
    let mut waits = Vec::new();
    let mut before = 40;
    for _ in 0..12 {
        let (at, sent) = script.timer();
        assert_eq!(sent, [(0, 0)], "a probe carries nothing");
        waits.push(at - before);
        before = at;
    }
    // The time-out at first, then twice as long each time; the wheel is late by an eighth at most.
    for (nth, &wait) in waits.iter().enumerate() {
        let due = (220_u64 << nth).min(120_000);
        assert!((due..=due + due / 8).contains(&wait), "{waits:?}");
    }
    // The answer says that it is open: all goes at once, and no probe follows.
    let sent = script.ack(before + 20, 5, 4 * PAYLOAD);
    assert_eq!(sent.first(), Some(&(5, PAYLOAD)));
    assert_eq!(sent.len(), 4);
}

#[test]
fn a_window_of_less_than_a_segment_is_filled_by_the_probe() {
    let mut script = Script::new(4 * PAYLOAD);
    script.sent();
    assert_eq!(script.ack(40, 5, 1_000), []);
    let (at, sent) = script.timer();
    assert!(at >= 240, "not before the persist timer: {at}");
    assert_eq!(sent, [(5, 1_000)]);
    assert!(script.sender.poll_timeout().is_some(), "what was sent may be lost");
    // The rest of the segment is filled up from behind it.
    let sent = script.ack(at + 20, 6, 4 * PAYLOAD);
    assert_eq!(sent, (6..10).map(|seq| (seq, PAYLOAD)).collect::<Vec<_>>());
}

#[test]
fn a_segment_is_no_longer_than_half_the_widest_window() {
    let mut script = Script::new(2_048);
    assert_eq!(script.sent(), [(1, 1_024), (2, 1_024)]);
    // It grows with the window, up to what the path takes.
    assert_eq!(script.ack(40, 3, 2_400), [(3, 1_200), (4, 1_200)]);
    let sent = script.ack(60, 5, 8_000);
    assert_eq!(sent[0], (5, PAYLOAD));
    assert!(sent.iter().all(|&(_, bytes)| bytes <= PAYLOAD), "{sent:?}");
    assert!(sent.iter().map(|&(_, bytes)| bytes).sum::<u64>() > 8_000 - PAYLOAD, "{sent:?}");
}

#[test]
fn a_window_up_to_536_bytes_is_not_halved() {
    let mut script = Script::new(500);
    assert_eq!(script.sent(), [(1, 500)]);
}

struct Reader {
    receiver: Receiver,
    out: Vec<FullAck>,
}

impl Reader {
    fn new(fields: &str) -> Self {
        let text = format!("{{\"profile\": \"linux\"{fields}}}");
        let overrides: Overrides = serde_json::from_str(&text).expect("fields");
        let config = Config::resolve(&overrides).expect("parameters");
        let mut reader = Self { receiver: Receiver::new(&config), out: Vec::new() };
        reader.take(0, 0, 0);
        reader.receiver.on_handshake(ms(20));
        reader
    }

    fn take(&mut self, at: u64, seq: u64, bytes: u64) -> Vec<(u64, u32)> {
        let options = SegmentOptions { stamp: at as u32, ..SegmentOptions::default() };
        self.receiver.on_packet(ms(at), (seq, Bytes::new(bytes)), &options, &mut self.out);
        self.answers()
    }

    fn probe(&mut self, at: u64) -> Vec<(u64, u32)> {
        let flags = SegmentFlags { probe: true, ..SegmentFlags::default() };
        let options = SegmentOptions { flags, ..SegmentOptions::default() };
        self.receiver.on_packet(ms(at), (0, Bytes::ZERO), &options, &mut self.out);
        self.answers()
    }

    fn answers(&mut self) -> Vec<(u64, u32)> {
        let window = |&(ack, AckOptions { window, .. }): &FullAck| (ack.next, window);
        let answers = self.out.iter().map(window).collect();
        self.out.clear();
        answers
    }
}

#[test]
fn a_window_closes_before_it_is_silly_and_its_opening_is_told() {
    // 131,072 bytes of buffer, of which each segment of 8,948 takes 12,544.
    let mut reader = Reader::new(r#", "segment_size": "9000 B", "receive_buffer_max": "128 KiB""#);
    reader.take(40, 1, 8_948);
    // Segment 2 is lost. The segments behind it fill the buffer.
    let early: Vec<_> = (3..=11).flat_map(|seq| reader.take(38 + seq, seq, 8_948)).collect();
    assert!(early.iter().all(|&(next, _)| next == 2), "{early:?}");
    let acks = reader.take(60, 2, 8_948);
    assert_eq!(acks.iter().map(|&(next, _)| next).collect::<Vec<_>>(), [12, 12]);
    // Before the application reads it is almost closed, and right after that it is open again.
    assert!(acks[0].1 < 8_948 && acks[1].1 >= 2 * acks[0].1, "{acks:?}");
    assert!(acks[1].1 > 4 * 8_948, "{acks:?}");
}

#[test]
fn a_probe_is_answered_and_that_twice_a_second_at_most() {
    let mut reader = Reader::new("");
    reader.take(40, 1, PAYLOAD);
    let [(2, window)] = reader.probe(300)[..] else { panic!("one answer") };
    assert!(window > 0);
    assert_eq!(reader.probe(700), [], "too soon");
    assert_eq!(reader.probe(801).len(), 1);
    assert_eq!(reader.receiver.duplicates(), 0, "a probe is no segment");
}
