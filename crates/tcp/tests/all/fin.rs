//! The end and the beginning of a connection of variant `"linux"`: the FIN as a segment of its own,
//! and the answer to the SYN that goes again.

use burstlab_tcp::{
    Ack, AckOptions, Config, FullAck, Overrides, Receiver, SackBlocks, SegmentOptions, Sender,
    Transmission,
};
use burstlab_units::{Bytes, Span, Time};

const PAYLOAD: u64 = 1_448;

fn us(n: u64) -> Time {
    Time::ZERO + Span::from_us(n)
}

fn config(fields: &str) -> Config {
    let text = format!("{{\"profile\": \"linux\"{fields}}}");
    let overrides: Overrides = serde_json::from_str(&text).expect("fields");
    Config::resolve(&overrides).expect("parameters")
}

struct Script {
    sender: Sender,
    out: Vec<Transmission>,
}

impl Script {
    /// A connection that is there at 28 ms, whose application writes so many bytes and closes.
    fn new(fields: &str, bytes: u64, open: bool) -> Self {
        let mut sender = Sender::new(&config(fields));
        let mut out = Vec::new();
        if open {
            sender.stay_open();
        }
        sender.start(us(0), &mut out);
        sender.supply_bytes(us(0), Bytes::new(bytes), true, &mut out);
        out.clear();
        let mut script = Self { sender, out };
        let opens = AckOptions { window: 65_535, opens: true, ..AckOptions::default() };
        script.hear(28_000, 1, &[], &opens);
        script
    }

    fn hear(&mut self, at: u64, next: u64, blocks: &[(u64, u64)], options: &AckOptions) {
        let mut sack = SackBlocks::NONE;
        blocks.iter().for_each(|&(left, right)| sack.push(left, right));
        let ack = Ack { next, sack, size: Bytes::new(52) };
        self.sender.on_full_ack(us(at), &ack, options, &mut self.out);
    }

    fn ack(&mut self, at: u64, next: u64, blocks: &[(u64, u64)]) {
        let (stamp, window) = ((at / 1_000) as u32, 1_000_000);
        let options = AckOptions { stamp, echo: 28, window, ..AckOptions::default() };
        self.hear(at, next, blocks, &options);
    }

    /// Segments that were sent since the last look, and their bytes of data.
    fn sent(&mut self) -> Vec<(u64, u64)> {
        let segments = self.out.drain(..).filter(|sent| sent.seq > 0);
        segments.map(|sent| (sent.seq, sent.size.get() - 52)).collect()
    }
}

#[test]
fn what_has_left_before_the_application_closes_is_followed_by_a_fin_alone() {
    for fields in ["", r#", "grouping": true"#] {
        let mut script = Script::new(fields, 2 * PAYLOAD + 100, false);
        assert_eq!(script.sent(), [(1, PAYLOAD), (2, PAYLOAD), (3, 100), (4, 0)], "{fields}");
        // All data are acknowledged: the transfer is complete, and the FIN is still waited for.
        script.ack(58_000, 4, &[]);
        assert!(script.sender.finished() && script.sender.poll_timeout().is_some(), "{fields}");
        script.ack(58_100, 5, &[]);
        assert_eq!((script.sent(), script.sender.poll_timeout()), (vec![], None), "{fields}");
    }
}

#[test]
fn what_waits_takes_the_fin_with_it() {
    let mut script = Script::new("", 12 * PAYLOAD, false);
    assert_eq!(script.sent().len(), 10, "the first window");
    script.ack(58_000, 3, &[]);
    assert_eq!(script.sent(), [(11, PAYLOAD), (12, PAYLOAD)]);
    script.ack(58_100, 11, &[]);
    assert_eq!(script.sent(), []);
}

#[test]
fn a_window_of_data_keeps_the_fin_back() {
    let mut script = Script::new("", 10 * PAYLOAD, false);
    assert_eq!(script.sent().len(), 10);
    script.ack(58_000, 2, &[]);
    assert_eq!(script.sent(), [(11, 0)]);
}

#[test]
fn a_connection_that_stays_open_sends_no_fin() {
    let mut script = Script::new("", 2 * PAYLOAD, true);
    assert_eq!(script.sent(), [(1, PAYLOAD), (2, PAYLOAD)]);
    script.ack(58_000, 3, &[]);
    assert_eq!((script.sent(), script.sender.poll_timeout()), (vec![], None));
}

#[test]
fn a_fin_that_is_reported_starts_the_repair_of_a_lost_tail() {
    let mut script = Script::new("", 5 * PAYLOAD, false);
    assert_eq!(script.sent().last(), Some(&(6, 0)));
    for next in 2..=5 {
        script.ack(57_000 + 1_000 * next, next, &[]);
    }
    script.ack(62_100, 5, &[(6, 7)]);
    assert_eq!(script.sent(), [], "it may be reordered");
    let due = script.sender.poll_timeout().expect("RACK waits");
    assert!(due < us(80_000), "a quarter of a round trip, not a time-out: {due}");
    script.sender.on_timeout(due, &mut script.out);
    assert_eq!(script.sent(), [(5, PAYLOAD)]);
}

struct Answers {
    receiver: Receiver,
    out: Vec<FullAck>,
}

impl Answers {
    fn new() -> Self {
        let config = config(r#", "rto_clock_phase": "51968 ns", "wheel_phase": 32"#);
        Self { receiver: Receiver::new(&config), out: Vec::new() }
    }

    fn take(&mut self, at: u64, seq: u64, bytes: u64) -> Vec<FullAck> {
        let options = SegmentOptions { stamp: (at / 1_000) as u32, ..SegmentOptions::default() };
        self.receiver.on_packet(us(at), (seq, Bytes::new(bytes)), &options, &mut self.out);
        std::mem::take(&mut self.out)
    }

    fn timer(&mut self) -> (u64, Vec<FullAck>) {
        let due = self.receiver.poll_timeout().expect("a timer");
        self.receiver.on_full_timeout(due, &mut self.out);
        (due.since(Time::ZERO).as_ps() / 1_000_000, std::mem::take(&mut self.out))
    }
}

#[test]
fn a_syn_is_answered_again_by_the_timer_of_its_host() {
    let mut answers = Answers::new();
    assert_eq!(answers.take(21_084, 0, 0).len(), 1);
    let (at, again) = answers.timer();
    // Linux 6.12 repeats the one of 21.084 ms at 1,055.950 ms, its time stamp with it.
    assert_eq!((at, again.len()), (1_055_948, 1));
    assert!(again[0].1.opens && again[0].1.echo == 21, "{again:?}");
    // A SYN that comes again is answered at once.
    assert_eq!(answers.take(1_077_033, 0, 0).len(), 1);
    answers.receiver.on_handshake(us(1_120_000));
    assert_eq!(answers.receiver.poll_timeout(), None);
}

#[test]
fn a_syn_is_answered_again_five_times() {
    let mut answers = Answers::new();
    answers.take(21_084, 0, 0);
    let mut before = 21_084;
    for nth in 0..5 {
        let (at, again) = answers.timer();
        // The wheel is late by an eighth at most.
        let (wait, due) = (at - before, 1_000_000_u64 << nth);
        assert!(again.len() == 1 && (due - 1_000..=due + due / 8).contains(&wait), "{wait}");
        before = at;
    }
    assert_eq!(answers.receiver.poll_timeout(), None);
}

#[test]
fn a_fin_is_acknowledged_with_the_data_before_it_or_late() {
    let mut answers = Answers::new();
    answers.take(21_084, 0, 0);
    answers.receiver.on_handshake(us(42_000));
    answers.take(60_000, 1, PAYLOAD);
    // Out of order it is reported at once.
    let early = answers.take(61_000, 3, 0);
    assert_eq!(early[0].0.sack.as_slice(), [(3, 4)]);
    let both = answers.take(62_000, 2, PAYLOAD);
    assert_eq!(both.iter().map(|(ack, _)| ack.next).collect::<Vec<_>>(), [4]);
    assert_eq!(answers.receiver.delivered(), 2, "the FIN is no data");
}
