//! The fast path of an endpoint, which takes a run of packets at once, compared with its twin,
//! which takes each alone. They send the same and are the same to the last field. The fast path
//! ends only where it has to; this file states that rule in other words than the endpoint.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

use burstlab_tcp::{
    Ack, AckClock, Classes, Config, Decision, Detector, Discriminator, ForeignLaw, Moment, Ncr,
    Notice, Overrides, PacketRun, Profile, PythonClass, Receiver, SackBlocks, SegmentFlags, Sender,
    State, Transmission, Variant, WindowLaw,
};
use burstlab_units::{Span, Time};
use proptest::prelude::*;

use crate::random::{Xorshift, mix};

const STEPS: u32 = 120;

fn chance(random: &mut Xorshift, one_in: u64) -> bool {
    random.below(one_in) == 0
}

/// None, or up to some milliseconds, or as long as a time-out.
fn any_span(random: &mut Xorshift) -> Span {
    match random.below(8) {
        0 => Span::ZERO,
        1 => Span::from_ms(random.below(400)),
        2 if chance(random, 4) => Span::from_ms(random.below(8_000)),
        _ => Span::from_us(random.below(3_000)),
    }
}

/// A time at `now` or later: at times just when a timer is `due`.
fn any_later(random: &mut Xorshift, now: Time, due: Option<Time>) -> Time {
    let due = due.filter(|&due| due >= now && chance(random, 8));
    due.unwrap_or_else(|| now + any_span(random))
}

/// From each packet of a run to the next: at times so that one comes just when a timer is `due`.
fn any_gap(random: &mut Xorshift, at: Time, due: Option<Time>) -> Span {
    match due {
        Some(due) if due > at && chance(random, 6) => due.since(at) / (1 + random.below(3)),
        _ => any_span(random),
    }
}

/// Until when packets that come from `at` on may be taken.
fn any_bound(random: &mut Xorshift, at: Time) -> Time {
    match random.below(6) {
        0 => at.before(),
        1 => at,
        2 => at + any_span(random),
        _ => Time::NEVER,
    }
}

fn assert_equal<E: std::fmt::Debug>(fast: &E, slow: &E) {
    assert_eq!(format!("{fast:?}"), format!("{slow:?}"));
}

/// The segments that have arrived: all below a number, and some above it.
#[derive(Default)]
struct Arrived {
    next: u64,
    above: BTreeSet<u64>,
    /// How many came though they were there.
    twice: u64,
}

impl Arrived {
    fn is_in_order(&self, seq: u64) -> bool {
        seq == self.next && self.above.is_empty()
    }

    /// Whether a segment is behind a gap and beyond all others, within the window.
    fn is_beyond(&self, seq: u64, window: u64) -> bool {
        let gap = self.next < seq && self.above.last().is_none_or(|&last| last < seq);
        gap && seq < self.next + window
    }

    fn holds(&self, seq: u64) -> bool {
        seq < self.next || self.above.contains(&seq)
    }

    fn insert(&mut self, seq: u64, window: u64) {
        self.twice += u64::from(self.holds(seq));
        if (self.next..self.next + window).contains(&seq) {
            self.above.insert(seq);
        }
        while self.above.remove(&self.next) {
            self.next += 1;
        }
    }

    /// The runs of those above, each from one up to but not including another.
    fn runs(&self) -> Vec<(u64, u64)> {
        let apart = |seq: u64| !self.above.contains(&seq);
        let firsts = self.above.iter().copied().filter(|&seq| apart(seq - 1));
        let lasts = self.above.iter().copied().filter(|&seq| apart(seq + 1));
        firsts.zip(lasts.map(|seq| seq + 1)).collect()
    }
}

/// A receiver that takes runs, one that takes segments, and what has arrived there.
struct Receivers {
    fast: Receiver,
    slow: Receiver,
    arrived: Arrived,
    window: u64,
    delays: bool,
}

impl Receivers {
    fn new(config: &Config) -> Self {
        Self {
            fast: Receiver::new(config),
            slow: Receiver::new(config),
            arrived: Arrived::default(),
            window: u64::from(config.window),
            delays: config.delayed_ack && config.delayed_ack_every > 1,
        }
    }

    /// Segments mostly in order, or behind a gap, or that were there before.
    fn any_run(&self, random: &mut Xorshift, at: Time) -> PacketRun {
        let next = self.arrived.next;
        let behind = self.arrived.above.last().map_or(next + 1, |last| last + 1);
        let first = match random.below(12) {
            0 => next + random.below(4),
            1 => next.saturating_sub(random.below(4)),
            2..5 if next > 0 => behind + random.below(3),
            _ => next,
        };
        let step = if chance(random, 8) { random.below(3) as u32 } else { 1 };
        let count = 1 + random.below(9) as u32;
        let gap = any_gap(random, at, self.slow.poll_timeout());
        PacketRun { first, count, step, at, gap }
    }

    fn take(&mut self, run: &PacketRun, until: Time) {
        let received = self.fast.take(run, until);
        let mut acks = Vec::new();
        for index in 0..received.segments {
            let (at, seq) = (run.time(index), run.number(index));
            assert!(self.arrived.is_in_order(seq) && self.is_undisturbed(at, until), "{run:?}");
            self.arrived.insert(seq, self.window);
            acks.extend(self.slow.on_segment(at, seq).map(|ack| (at, ack)));
        }
        let size = self.fast.ack_size();
        let plain = |next| Ack { next, sack: SackBlocks::NONE, size };
        assert!(received.acks.is_none_or(|acks| acks.count > 0));
        let evenly = received.acks.iter();
        let evenly =
            evenly.flat_map(|acks| (0..acks.count).map(|i| (acks.time(i), acks.number(i))));
        assert_eq!(evenly.map(|(at, next)| (at, plain(next))).collect::<Vec<_>>(), acks);
        if received.segments < run.count {
            let (at, seq) = (run.time(received.segments), run.number(received.segments));
            let behind_the_syn = self.delays && run.first == 0 && received.segments == 1;
            let goes_on = self.arrived.is_in_order(seq) && self.is_undisturbed(at, until);
            assert!(!goes_on || behind_the_syn, "{run:?}: {} are taken", received.segments);
        }
        let mut taken = received.segments;
        if taken < run.count {
            let rest = if taken == 0 { *run } else { run.behind(taken) };
            taken += self.take_behind(&rest, until);
        }
        for index in taken..run.count {
            let (at, seq) = (run.time(index), run.number(index));
            assert_eq!(self.fast.on_segment(at, seq), self.slow.on_segment(at, seq));
            self.arrived.insert(seq, self.window);
        }
        self.compare();
    }

    /// Segments that may come behind a gap; returns how many of them are taken as such.
    fn take_behind(&mut self, run: &PacketRun, until: Time) -> u32 {
        let (taken, ack) = self.fast.take_behind(run, until).unzip();
        let taken = taken.unwrap_or(0);
        for index in 0..taken {
            let (at, seq) = (run.time(index), run.number(index));
            assert!(self.arrived.is_beyond(seq, self.window), "{run:?}");
            assert!(self.is_undisturbed(at, until), "{run:?}");
            let mut wanted = ack.expect("it has an ACK");
            if let [(left, right), older @ ..] = wanted.sack.as_slice() {
                let mut sack = SackBlocks::NONE;
                sack.push(*left, right + u64::from(index));
                older.iter().for_each(|&(left, right)| sack.push(left, right));
                wanted.sack = sack;
            }
            assert_eq!(self.slow.on_segment(at, seq), Some(wanted), "{run:?}: {index}");
            self.arrived.insert(seq, self.window);
        }
        if taken < run.count {
            let (at, seq) = (run.time(taken), run.number(taken));
            let follows = taken == 0 || run.step == 1;
            let beyond = self.arrived.is_beyond(seq, self.window);
            assert!(!(follows && beyond && self.is_undisturbed(at, until)), "{run:?}: {taken}");
        }
        taken
    }

    /// Whether a segment at `at` comes before anything else.
    fn is_undisturbed(&self, at: Time, until: Time) -> bool {
        at <= until && self.slow.poll_timeout().is_none_or(|due| due > at)
    }

    fn time_out(&mut self, now: Time) {
        assert_eq!(self.fast.on_timeout(now), self.slow.on_timeout(now));
        self.compare();
    }

    fn compare(&self) {
        assert_equal(&self.fast, &self.slow);
        let next = self.arrived.next;
        assert_eq!(self.fast.next(), next);
        for seq in next.saturating_sub(2)..next + 3 {
            assert_eq!(self.fast.takes_fast(seq), self.arrived.is_in_order(seq));
        }
        assert_eq!(self.fast.early(), self.arrived.runs());
        for seq in 0..next + self.window + 2 {
            assert_eq!(self.fast.holds(seq), self.arrived.holds(seq), "{seq} of {next}");
        }
        assert_eq!(self.fast.duplicates(), self.arrived.twice);
        assert_eq!(self.fast.acknowledges_each(), !self.delays);
    }
}

proptest! {
    #[test]
    fn a_receiver_takes_runs_as_it_takes_segments(
        variant in prop::sample::select(vec![Variant::Reno, Variant::Sack]),
        (delayed_ack, every, timeout_ms) in (any::<bool>(), 1u32..6, 1u64..200),
        (window, seed) in (1u32..40, 1u64..u64::MAX),
    ) {
        let config = Config::resolve(&Overrides {
            variant: Some(variant),
            window: Some(window),
            delayed_ack: Some(delayed_ack),
            delayed_ack_every: Some(every),
            delayed_ack_timeout: Some(Span::from_ms(timeout_ms)),
            ..Overrides::default()
        });
        let mut receivers = Receivers::new(&config.expect("is valid"));
        let (mut random, mut now) = (Xorshift(seed), Time::ZERO);
        for _ in 0..STEPS {
            now = any_later(&mut random, now, receivers.slow.poll_timeout());
            if let Some(due) = receivers.slow.poll_timeout().filter(|&due| due <= now)
                && !chance(&mut random, 4)
            {
                receivers.time_out(due);
            }
            let run = receivers.any_run(&mut random, now);
            receivers.take(&run, any_bound(&mut random, now));
            now = run.time(run.count - 1);
        }
    }
}

/// A law that opens the window by half a segment, and the moment that it received last.
#[derive(Clone, Debug, Default)]
struct ByHalves(Option<Moment>);

impl ForeignLaw for ByHalves {
    fn rules_slow_start(&self) -> bool {
        false
    }

    fn on_ack(&mut self, moment: &Moment) -> Decision {
        self.0 = Some(*moment);
        Decision::Window(moment.cwnd + 0.5)
    }

    fn on_loss(&mut self, _: &Moment) -> Decision {
        Decision::Usual
    }

    fn on_timeout(&mut self, _: &Moment) -> Decision {
        Decision::Usual
    }

    fn duplicate(&self) -> Box<dyn ForeignLaw> {
        Box::new(self.clone())
    }
}

impl Classes for ByHalves {
    fn law(&self, _: &PythonClass) -> Box<dyn ForeignLaw> {
        Box::new(self.clone())
    }

    fn detector(&self, _: &PythonClass) -> Box<dyn Discriminator> {
        unreachable!("no detector of Python is drawn")
    }
}

/// The sender of Linux takes each ACK alone.
fn with_fast_path() -> Vec<Variant> {
    Variant::ALL.iter().copied().filter(|&variant| variant != Variant::Linux).collect()
}

/// Any sender, with the quirks of all profiles mixed.
fn any_config(random: &mut Xorshift) -> Config {
    let variants = with_fast_path();
    let variant = variants[random.below(variants.len() as u64) as usize];
    let profile = Profile::ALL[random.below(Profile::ALL.len() as u64) as usize];
    let mut overrides = Overrides {
        variant: Some(variant),
        profile: Some(profile),
        window: Some(1 + random.below(24) as u32),
        delayed_ack: Some(chance(random, 2)),
        ..Overrides::default()
    };
    if chance(random, 2) {
        mix(&mut overrides, 1 + random.below(1 << 20));
    }
    if chance(random, 6) && variant != Variant::Vegas {
        overrides.window_law = Some(WindowLaw::Python);
        overrides.window_law_class = Some(PythonClass {
            file: None,
            class: "ByHalves".into(),
            options: std::collections::BTreeMap::new(),
            source: Some(String::new()),
            name: None,
        });
    }
    if chance(random, 6) && variant != Variant::Tahoe {
        let native =
            [Detector::Ble, Detector::Back, Detector::Bnak, Detector::Oracle, Detector::Em];
        overrides.detector = Some(native[random.below(5) as usize]);
    }
    let scheme = chance(random, 6) && overrides.window_law.is_none();
    if scheme && !matches!(variant, Variant::Vegas | Variant::Tahoe) {
        let bcl = chance(random, 2);
        overrides.window_law = Some(if bcl { WindowLaw::Bcl } else { WindowLaw::Saimd });
        overrides.detector = Some(Detector::Law);
        (overrides.saimd_short, overrides.saimd_long) = (Some(2), Some(20));
        overrides.bcl_alpha = Some(2.5);
    }
    if chance(random, 3) {
        overrides.ncr = Some(Ncr::ALL[random.below(3) as usize]);
    }
    if chance(random, 3) {
        overrides.vegas_threshold = Some(1 + random.below(3) as u32);
    }
    if chance(random, 8) {
        overrides.send_jitter = Some(Span::from_us(500));
    }
    if chance(random, 4) {
        overrides.aimd_alpha = Some(0.125 + random.below(40) as f64 / 8.0);
        overrides.aimd_beta = chance(random, 2).then_some(0.875);
    }
    Config::resolve(&overrides).expect("is valid")
}

/// Gives a sender the ACKs of a run, and calls back with the segments that each releases, by its
/// place; returns how many it took.
fn take(
    sender: &mut Sender,
    run: &PacketRun,
    until: Time,
    mut emit: impl FnMut(&AckClock, u32, Range<u64>),
) -> u32 {
    let Sender::Classic(sender) = sender else { panic!("a sender without options") };
    let (mut clock, most) = sender.begin_run(run, until);
    let mut taken = 0;
    while taken < most {
        let Some(segments) = clock.take(sender, run.time(taken), run.number(taken)) else { break };
        emit(&clock, taken, segments);
        taken += 1;
    }
    sender.end_run(&clock, run, taken);
    taken
}

/// A sender that takes runs of ACKs, one that takes ACKs, and the network behind both.
struct Senders {
    fast: Sender,
    slow: Sender,
    /// Whether nothing but losses keeps it from the fast path.
    may: bool,
    /// Whether the last ACK acknowledged something.
    progresses: bool,
    supplied: u64,
    receiver: Receiver,
    segments: VecDeque<u64>,
    acks: VecDeque<Ack>,
    /// One packet in so many is lost.
    loses: u64,
}

impl Senders {
    fn new(config: &Config, random: &mut Xorshift) -> Self {
        let sender = Sender::with_classes(config, Some(&ByHalves::default()));
        let loses = [u64::MAX, 60, 12][random.below(3) as usize];
        let supplied = if chance(random, 2) { u64::MAX - 1 } else { random.below(200) };
        let mut senders = Self {
            fast: sender.clone(),
            slow: sender,
            may: config.detector != Detector::Python && config.send_jitter.is_zero(),
            progresses: true,
            supplied,
            receiver: Receiver::new(config),
            segments: VecDeque::new(),
            acks: VecDeque::new(),
            loses,
        };
        senders.both(|sender, out| sender.supply(Time::ZERO, supplied, out));
        senders.both(|sender, out| sender.start(Time::ZERO, out));
        senders
    }

    /// Does the same with both, which must send the same and be the same.
    fn both(&mut self, mut act: impl FnMut(&mut Sender, &mut Vec<Transmission>)) {
        let (mut fast, mut slow) = (Vec::new(), Vec::new());
        act(&mut self.fast, &mut fast);
        act(&mut self.slow, &mut slow);
        assert_eq!(fast, slow);
        self.segments.extend(slow.iter().map(|sent| sent.seq));
        self.compare();
    }

    /// An ACK arrives that nobody takes.
    fn hear(&mut self, at: Time, ack: &Ack) {
        self.progresses = (self.acked() + 1..=self.sent()).contains(&ack.next);
        self.both(|sender, out| sender.on_ack(at, ack, out));
    }

    fn compare(&self) {
        assert_equal(&self.fast, &self.slow);
        let acked = self.acked();
        for next in acked.saturating_sub(1)..acked + 30 {
            assert_eq!(self.fast.covers(next), self.is_news(next, self.sent()), "{next}");
            assert_eq!(self.fast.limit(), self.supplied + 1);
        }
        if self.may && self.is_straight() {
            assert!(self.fast.is_fast(), "{:?}", self.fast);
        }
    }

    fn acked(&self) -> u64 {
        self.slow.highest_acked().map_or(0, |seq| seq + 1)
    }

    fn sent(&self) -> u64 {
        self.acked() + self.slow.in_flight()
    }

    /// Whether an ACK for `next` covers new segments below `sent`, with more to follow.
    fn is_news(&self, next: u64, sent: u64) -> bool {
        (self.acked() + 1..=sent).contains(&next) && next <= self.supplied
    }

    /// Whether nothing is being repaired, nothing goes out again and the last ACK was not one too
    /// many.
    fn is_straight(&self) -> bool {
        self.slow.state() != State::Recovery
            && self.slow.outstanding().end == self.sent()
            && self.progresses
    }

    /// Whether an ACK at `at` comes before anything else.
    fn is_undisturbed(&self, at: Time, until: Time) -> bool {
        at <= until && self.slow.poll_timeout().is_none_or(|due| due > at)
    }

    /// Some segments arrive, some are lost, some come late.
    fn deliver(&mut self, random: &mut Xorshift, now: Time) {
        for _ in 0..random.below(8) {
            let Some(seq) = self.segments.pop_front() else { break };
            if chance(random, self.loses) {
                continue;
            }
            if chance(random, self.loses) {
                self.segments.push_back(seq);
                continue;
            }
            let ack = self.receiver.on_segment(now, seq);
            self.acks.extend(ack.filter(|_| !chance(random, self.loses)));
        }
        if self.segments.is_empty() {
            let due = self.receiver.poll_timeout().unwrap_or(now);
            self.acks.extend(self.receiver.on_timeout(due));
        }
    }

    /// A node reports on a burst with some of the outstanding segments.
    fn notify(&mut self, random: &mut Xorshift, now: Time) {
        let notice = [Notice::Left, Notice::Arrived, Notice::Dropped][random.below(3) as usize];
        let Range { start, end } = self.slow.outstanding();
        let (burst, segments) = (random.next(), (start + random.below(3)..end).collect::<Vec<_>>());
        self.both(|sender, out| sender.on_notice(now, notice, burst, &segments, out));
    }

    /// The ACKs at the front that are a run, at most `count`; if the first is none, that one goes
    /// to both senders. Or what no network makes.
    fn any_run(&mut self, random: &mut Xorshift, at: Time) -> Option<PacketRun> {
        let gap = any_gap(random, at, self.slow.poll_timeout());
        let count = 1 + random.below(8) as u32;
        if chance(random, 15) {
            let first = (self.acked() + random.below(6)).saturating_sub(1);
            let step = random.below(3) as u32;
            return Some(PacketRun { first, count, step, at, gap });
        }
        let ack = self.acks.pop_front()?;
        if !ack.sack.is_empty() {
            self.hear(at, &ack);
            return None;
        }
        let mut run = PacketRun { gap, ..PacketRun::one(at, ack.next) };
        while let Some(ack) = self.acks.front().filter(|ack| ack.sack.is_empty()) {
            let last = run.number(run.count - 1);
            let step = ack.next.checked_sub(last).map(|step| step as u32);
            if run.count == count || step.is_none_or(|step| run.count > 1 && step != run.step) {
                break;
            }
            run.step = step.unwrap_or(0);
            run.count += 1;
            self.acks.pop_front();
        }
        Some(run)
    }

    fn take(&mut self, run: &PacketRun, until: Time) {
        let (may, sent) = (self.may && self.is_straight(), self.sent());
        let mut emitted = Vec::new();
        let slow = &self.slow;
        let taken = take(&mut self.fast, run, until, |clock, index, segments| {
            let (cwnd, ssthresh) = (clock.cwnd(), clock.ssthresh());
            let list = segments.map(|seq| Transmission {
                seq,
                size: slow.segment_size(seq),
                retransmission: false,
                cwnd,
                ssthresh,
                flags: SegmentFlags::default(),
            });
            emitted.push((run.time(index), run.number(index), list.collect::<Vec<_>>()));
        });
        let mut one_by_one = Vec::new();
        for index in 0..taken {
            let (at, next) = (run.time(index), run.number(index));
            assert!(self.is_news(next, sent) && self.is_undisturbed(at, until), "{run:?}");
            let mut out = Vec::new();
            self.slow.on_ack(at, &self.plain(next), &mut out);
            self.segments.extend(out.iter().map(|sent| sent.seq));
            one_by_one.push((at, next, out));
        }
        assert_eq!(emitted, one_by_one);
        self.progresses |= taken > 0;
        if taken < run.count {
            let (at, next) = (run.time(taken), run.number(taken));
            let goes_on = may && self.is_news(next, sent) && self.is_undisturbed(at, until);
            assert!(!goes_on, "{run:?}: {taken} are taken");
        }
        self.compare();
        for index in taken..run.count {
            self.fire(run.time(index));
            self.hear(run.time(index), &self.plain(run.number(index)));
        }
    }

    fn plain(&self, next: u64) -> Ack {
        Ack { next, sack: SackBlocks::NONE, size: self.receiver.ack_size() }
    }

    /// Does all that is due at `now`.
    fn fire(&mut self, now: Time) {
        if self.slow.asks_for_delay().is_some() {
            self.both(|sender, _| sender.hold_until(now + Span::from_us(300)));
        }
        if let Some(due) = self.slow.poll_release().filter(|&due| due <= now) {
            self.both(|sender, out| sender.on_release(due, out));
        }
        if let Some(due) = self.slow.poll_timeout().filter(|&due| due <= now) {
            self.both(|sender, out| sender.on_timeout(due, out));
        }
    }
}

proptest! {
    #[test]
    fn a_sender_takes_runs_as_it_takes_acks(seed in 1u64..u64::MAX) {
        let (mut random, mut now) = (Xorshift(seed), Time::ZERO);
        let config = any_config(&mut random);
        let mut senders = Senders::new(&config, &mut random);
        for _ in 0..STEPS {
            now = any_later(&mut random, now, senders.slow.poll_timeout());
            senders.deliver(&mut random, now);
            if senders.acks.is_empty() {
                now = senders.slow.poll_timeout().unwrap_or(now).max(now);
            }
            if !chance(&mut random, 8) {
                senders.fire(now);
            }
            if chance(&mut random, 20) && senders.supplied < u64::MAX / 2 {
                senders.supplied += random.below(60);
                let supplied = senders.supplied;
                senders.both(|sender, out| sender.supply(now, supplied, out));
            }
            if chance(&mut random, 6) {
                senders.notify(&mut random, now);
            }
            if let Some(run) = senders.any_run(&mut random, now) {
                senders.take(&run, any_bound(&mut random, now));
                now = run.time(run.count - 1);
            }
            // The clock of the simulator ends after 213 days; long back-off gets there.
            if now > Time::from_ps(1 << 62) {
                break;
            }
        }
    }
}

/// A connection on which nothing is lost needs nothing but the fast path.
#[test]
fn without_losses_all_is_taken() {
    const ROUNDS: u64 = 30;
    for (variant, &profile) in
        with_fast_path().into_iter().flat_map(|v| Profile::ALL.iter().map(move |p| (v, p)))
    {
        for delayed_ack in [false, true] {
            let config = Config::resolve(&Overrides {
                variant: Some(variant),
                profile: Some(profile),
                delayed_ack: Some(delayed_ack),
                window: Some(40),
                ..Overrides::default()
            })
            .expect("is valid");
            let (mut sender, mut receiver) = (Sender::new(&config), Receiver::new(&config));
            sender.supply(Time::ZERO, u64::MAX, &mut Vec::new());
            sender.start(Time::ZERO, &mut Vec::new());
            let mut sent = 0..1;
            for round in 1..=ROUNDS {
                let at = Time::ZERO + Span::from_ms(400) * round;
                let count = (sent.end - sent.start) as u32;
                let gap = Span::from_us(80);
                let run = PacketRun { first: sent.start, count, step: 1, at, gap };
                let received = receiver.take(&run, Time::NEVER);
                assert_eq!(received.segments, count, "{variant:?}, {profile:?}");
                let late = receiver.poll_timeout().and_then(|due| {
                    receiver.on_timeout(due).map(|ack| PacketRun::one(due, ack.next))
                });
                sent.start = sent.end;
                for acks in received.acks.into_iter().chain(late) {
                    let taken = take(&mut sender, &acks, Time::NEVER, |_, _, segments| {
                        assert_eq!(segments.start, sent.end);
                        sent.end = segments.end;
                    });
                    assert_eq!(taken, acks.count, "{variant:?}, {profile:?}");
                }
            }
            assert_eq!(sender.highest_acked(), Some(receiver.delivered()));
            assert!(receiver.delivered() > 3 * ROUNDS, "{variant:?}, {profile:?}");
        }
    }
}
