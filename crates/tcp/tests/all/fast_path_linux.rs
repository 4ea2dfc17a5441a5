//! The fast path of Linux endpoints, which take packets at once, compared with their twins, which
//! take each alone. They send the same and are the same to the last field.

use std::collections::VecDeque;

use burstlab_tcp::{
    Ack, AckOptions, Config, Detector, FullAck, Outlet, Overrides, PacketRun, Profile, Receiver,
    SackBlocks, SegmentOptions, Sender, SentRun, SlowStart, Transmission, WindowLaw, Wires,
};
use burstlab_units::{Bytes, Span, Time};
use proptest::prelude::*;

use crate::random::Xorshift;

const STEPS: u32 = 150;

fn chance(random: &mut Xorshift, one_in: u64) -> bool {
    random.below(one_in) == 0
}

/// A segment that goes out, with what it carries.
type Sent = (Time, Transmission, SegmentOptions);
/// An ACK that goes out.
type Answered = (Time, FullAck);

/// A sender's actions on the fast path, segment by segment.
struct Recorded<'a> {
    acks: &'a [FullAck],
    short: Option<(u64, Bytes)>,
    sent: Vec<Sent>,
    heard: Vec<(Time, u64)>,
}

impl Wires for Recorded<'_> {
    fn carried(&self, next: u64) -> Option<AckOptions> {
        let (ack, options) = self.acks[self.heard.len()];
        assert_eq!(ack.next, next);
        (ack.sack.is_empty() && !options.marked).then_some(options)
    }

    fn hear(&mut self, now: Time, next: u64) {
        self.heard.push((now, next));
    }
}

impl Outlet for Recorded<'_> {
    fn put(&mut self, now: Time, run: &SentRun) {
        assert!(run.count > 0);
        for nth in 0..run.count {
            let seq = run.first + u64::from(nth);
            let mut options = run.options;
            options.flags.push = run.pushes && nth + 1 == run.count;
            options.flags.reduced &= nth == 0;
            let sent = Transmission {
                seq,
                size: self.short.filter(|short| short.0 == seq).map_or(run.size, |short| short.1),
                retransmission: false,
                cwnd: f64::from(run.cwnd),
                ssthresh: f64::from(run.ssthresh),
                flags: options.flags,
            };
            self.sent.push((now, sent, options));
        }
    }
}

/// A connection both of whose ends are there twice, and the packets in flight.
struct Twins {
    senders: [Sender; 2],
    receivers: [Receiver; 2],
    packets: VecDeque<(u64, Bytes, SegmentOptions)>,
    acks: VecDeque<FullAck>,
    headers: u64,
    /// One packet in so many is lost, or late.
    loses: u64,
    /// ACKs and segments taken on the fast path, and all.
    fast: [u64; 2],
    all: [u64; 2],
}

impl Twins {
    fn new(config: &Config, segments: u64, loses: u64) -> Self {
        let (sender, receiver) = (Sender::new(config), Receiver::new(config));
        let mut twins = Self {
            senders: [sender.clone(), sender],
            receivers: [receiver.clone(), receiver],
            packets: VecDeque::new(),
            acks: VecDeque::new(),
            headers: config.headers().get(),
            loses,
            fast: [0; 2],
            all: [0; 2],
        };
        twins.both(Time::ZERO, |sender, out| {
            sender.supply_bytes(Time::ZERO, Bytes::new(segments.saturating_mul(997)), true, out);
            sender.start(Time::ZERO, out);
        });
        twins
    }

    /// Does the same with both senders, which must send the same and be the same.
    fn both(&mut self, now: Time, mut act: impl FnMut(&mut Sender, &mut Vec<Transmission>)) {
        let [fast, slow] = &mut self.senders;
        let (mut one, mut other) = (Vec::new(), Vec::new());
        act(fast, &mut one);
        act(slow, &mut other);
        assert_eq!(one, other);
        let sent = other.into_iter().map(|sent| (now, sent, slow.options(now, &sent)));
        let sent = sent.collect::<Vec<_>>();
        self.go(&sent);
    }

    fn go(&mut self, sent: &[Sent]) {
        for (_, sent, options) in sent {
            let data = sent.size.get().saturating_sub(self.headers);
            let data = Bytes::new(if sent.seq == 0 { 0 } else { data });
            self.packets.push_back((sent.seq, data, *options));
        }
        assert_eq!(format!("{:?}", self.senders[0]), format!("{:?}", self.senders[1]));
    }

    /// Packets in flight arrive, each a gap after the one before, and may be lost or late.
    fn deliver(&mut self, random: &mut Xorshift, now: Time, gap: Span) {
        let mut coming = Vec::new();
        for _ in 0..1 + random.below(24) {
            let Some(packet) = self.packets.pop_front() else { break };
            if chance(random, self.loses) {
                continue;
            }
            if chance(random, self.loses) {
                self.packets.push_back(packet);
                continue;
            }
            coming.push(packet);
        }
        let (mut fast, mut slow) = (Vec::new(), Vec::new());
        let mut rest = &coming[..];
        let mut at = now;
        while let Some(&(seq, bytes, options)) = rest.first() {
            let alike = |&(nth, one): &(usize, &(u64, Bytes, SegmentOptions))| {
                *one == (seq + nth as u64, bytes, options)
            };
            let count = rest.iter().enumerate().take_while(alike).count();
            let run = PacketRun { first: seq, count: count as u32, step: 1, at, gap };
            self.take_fast(run, bytes, &options, &mut fast);
            (rest, at) = (&rest[count..], at + gap * count as u64);
        }
        for (nth, &(seq, bytes, options)) in coming.iter().enumerate() {
            let at = now + gap * nth as u64;
            time_out(&mut self.receivers[1], at, &mut slow);
            take(&mut self.receivers[1], at, (seq, bytes), &options, &mut slow);
        }
        self.all[1] += coming.len() as u64;
        self.answer(&fast, slow);
    }

    fn take_fast(
        &mut self,
        mut rest: PacketRun,
        bytes: Bytes,
        options: &SegmentOptions,
        acks: &mut Vec<Answered>,
    ) {
        let receiver = &mut self.receivers[0];
        let size = receiver.ack_size();
        loop {
            let taken = receiver.on_packets_fast(
                &rest,
                (Time::NEVER, bytes),
                options,
                |at, next, options| {
                    acks.push((at, (Ack { next, sack: SackBlocks::NONE, size }, *options)));
                },
            );
            self.fast[1] += u64::from(taken);
            if taken == 0 {
                time_out(receiver, rest.at, acks);
                take(receiver, rest.at, (rest.first, bytes), options, acks);
            }
            if taken.max(1) == rest.count {
                return;
            }
            rest = rest.behind(taken.max(1));
        }
    }

    /// The answers of the receivers, which must be the same.
    fn answer(&mut self, fast: &[Answered], slow: Vec<Answered>) {
        assert_eq!(fast, slow);
        assert_eq!(format!("{:?}", self.receivers[0]), format!("{:?}", self.receivers[1]));
        self.acks.extend(slow.into_iter().map(|(_, ack)| ack));
    }

    /// The receiver's timer runs out.
    fn wake(&mut self, now: Time) {
        let mut acks = [Vec::new(), Vec::new()];
        for (receiver, acks) in self.receivers.iter_mut().zip(&mut acks) {
            time_out(receiver, now, acks);
        }
        let [fast, slow] = acks;
        self.answer(&fast, slow);
    }

    /// ACKs in flight arrive, each a gap after the one before.
    fn hear(&mut self, random: &mut Xorshift, now: Time, gap: Span) {
        let mut coming = Vec::new();
        for _ in 0..1 + random.below(16) {
            let Some(ack) = self.acks.pop_front() else { break };
            if !chance(random, self.loses) {
                coming.push(ack);
            }
        }
        let (mut fast, mut slow) = (Vec::new(), Vec::new());
        let mut rest = &coming[..];
        let mut at = now;
        while let Some((ack, _)) = rest.first() {
            let step = rest.get(1).map_or(0, |second| second.0.next.saturating_sub(ack.next));
            let alike =
                |&(nth, one): &(usize, &FullAck)| one.0.next == ack.next + step * nth as u64;
            let count = rest.iter().enumerate().take_while(alike).count();
            let step = if count > 1 { step as u32 } else { 0 };
            let run = PacketRun { first: ack.next, count: count as u32, step, at, gap };
            self.hear_fast(run, &rest[..count], &mut fast);
            (rest, at) = (&rest[count..], at + gap * count as u64);
        }
        for (nth, one) in coming.iter().enumerate() {
            hear_one(&mut self.senders[1], now + gap * nth as u64, one, &mut slow);
        }
        assert_eq!(fast, slow);
        self.all[0] += coming.len() as u64;
        self.go(&slow);
    }

    fn hear_fast(&mut self, mut rest: PacketRun, acks: &[FullAck], sent: &mut Vec<Sent>) {
        let sender = &mut self.senders[0];
        let mut acks = acks;
        while let Some(ack) = acks.first() {
            let short = sender.short_segment();
            let mut recorded = Recorded { acks, short, sent: Vec::new(), heard: Vec::new() };
            let taken = sender.on_full_acks_fast(&rest, Time::NEVER, &mut recorded);
            self.fast[0] += u64::from(taken);
            let heard = (0..taken).map(|nth| (rest.time(nth), rest.number(nth)));
            assert_eq!(recorded.heard, heard.collect::<Vec<_>>());
            sent.append(&mut recorded.sent);
            if taken == 0 {
                hear_one(sender, rest.at, ack, sent);
            }
            let done = taken.max(1);
            acks = &acks[done as usize..];
            if !acks.is_empty() {
                rest = rest.behind(done);
            }
        }
    }
}

fn time_out(receiver: &mut Receiver, now: Time, acks: &mut Vec<Answered>) {
    while let Some(due) = receiver.poll_timeout().filter(|&due| due <= now) {
        let mut out = Vec::new();
        receiver.on_full_timeout(due, &mut out);
        acks.extend(out.into_iter().map(|ack| (due, ack)));
    }
}

fn take(
    receiver: &mut Receiver,
    now: Time,
    (seq, bytes): (u64, Bytes),
    options: &SegmentOptions,
    acks: &mut Vec<Answered>,
) {
    let mut out = Vec::new();
    match seq == 0 && receiver.next() > 0 {
        true => receiver.on_handshake(now),
        false => receiver.on_packet(now, (seq, bytes), options, &mut out),
    }
    acks.extend(out.into_iter().map(|ack| (now, ack)));
}

/// An ACK arrives, before which timers may run out.
fn hear_one(sender: &mut Sender, now: Time, (ack, options): &FullAck, sent: &mut Vec<Sent>) {
    let mut act = |sender: &mut Sender, now, options: Option<&AckOptions>| {
        let mut out = Vec::new();
        match options {
            Some(options) => sender.on_full_ack(now, ack, options, &mut out),
            None => sender.on_timeout(now, &mut out),
        }
        sent.extend(out.into_iter().map(|one| (now, one, sender.options(now, &one))));
    };
    while let Some(due) = sender.poll_timeout().filter(|&due| due <= now) {
        act(sender, due, None);
    }
    act(sender, now, Some(options));
}

fn any_config(random: &mut Xorshift) -> Config {
    use WindowLaw::{Aimd, Bbr, Cubic, Dctcp, Vegas};
    let law = [Cubic, Cubic, Cubic, Aimd, Vegas, Dctcp, Bbr][random.below(7) as usize];
    let mut rarely_off = || Some(!chance(random, 6));
    let mut overrides = Overrides {
        profile: Some(Profile::Linux),
        window_law: Some(law),
        segment_size: Some(Bytes::new(1049)),
        sack: rarely_off(),
        timestamps: rarely_off(),
        f_rto: rarely_off(),
        delayed_ack: rarely_off(),
        ..Overrides::default()
    };
    overrides.rack = Some(overrides.sack == Some(true) && !chance(random, 6));
    overrides.tail_loss_probe = Some(overrides.sack == Some(true) && !chance(random, 6));
    overrides.grouping = Some(chance(random, 8));
    overrides.window = Some([4 + random.below(60) as u32, 200, 8192][random.below(3) as usize]);
    overrides.rto_min = chance(random, 3).then(|| Span::from_ms(20));
    overrides.rto_clock_phase = chance(random, 2).then(|| Span::from_us(random.below(1000)));
    overrides.send_buffer = chance(random, 4).then(|| Bytes::new(60_000));
    if matches!(law, Cubic | Aimd) && chance(random, 4) {
        overrides.slow_start = Some(SlowStart::HystartPlusPlus);
    }
    if chance(random, 3) {
        let detectors = [Detector::Ble, Detector::Back, Detector::Bnak, Detector::Oracle];
        overrides.detector = Some(detectors[random.below(4) as usize]);
    }
    Config::resolve(&overrides).expect("is valid")
}

proptest! {
    #[test]
    fn endpoints_of_linux_take_runs_as_they_take_packets(seed in 1u64..u64::MAX) {
        let mut random = Xorshift(seed);
        let config = any_config(&mut random);
        let segments = [u64::MAX, 40 + random.below(3000)][random.below(2) as usize];
        let loses = [u64::MAX, 300, 40][random.below(3) as usize];
        let mut twins = Twins::new(&config, segments, loses);
        let mut now = Time::ZERO;
        for _ in 0..STEPS {
            let most = [40_000, 300, 90_000][random.below(3) as usize];
            now += Span::from_us(random.below(most));
            let most = [200_000, 5_000_000][random.below(2) as usize];
            let gap = Span::from_ns(random.below(most));
            if chance(&mut random, 3) || twins.acks.is_empty() {
                twins.deliver(&mut random, now, gap);
                now += gap * 24;
            }
            if twins.acks.is_empty() && twins.packets.is_empty() {
                let due = [twins.senders[1].poll_timeout(), twins.receivers[1].poll_timeout()];
                now = now.max(due.into_iter().flatten().min().unwrap_or(now));
                twins.wake(now);
                if twins.senders[1].poll_timeout().is_some_and(|due| due <= now) {
                    twins.both(now, |sender, out| sender.on_timeout(now, out));
                }
            }
            twins.hear(&mut random, now, gap);
            now += gap * 16;
        }
    }
}

/// A connection on which nothing is lost needs little but the fast path.
#[test]
fn without_losses_almost_all_is_taken_at_once() {
    let config = Config::resolve(&Overrides {
        profile: Some(Profile::Linux),
        window_law: Some(WindowLaw::Cubic),
        window: Some(200),
        ..Overrides::default()
    });
    let mut twins = Twins::new(&config.expect("is valid"), u64::MAX, u64::MAX);
    let (mut random, mut now) = (Xorshift(7), Time::ZERO);
    for _ in 0..600 {
        let gap = Span::from_us(80);
        now += Span::from_ms(20);
        twins.deliver(&mut random, now, gap);
        now += Span::from_ms(20);
        if twins.packets.is_empty() {
            twins.wake(now);
        }
        twins.hear(&mut random, now, gap);
    }
    assert!(twins.all[0] > 2000 && twins.all[1] > 4000, "{:?}", twins.all);
    for (fast, all) in twins.fast.into_iter().zip(twins.all) {
        assert!(fast * 20 > all * 19, "{fast} of {all}");
    }
}
