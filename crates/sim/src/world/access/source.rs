//! A UDP source: constant rate, always or in spells that are Pareto-distributed or periodic, in
//! sessions, or Poisson.
//!
//! The mean is exact however few packets a spell has room for. A source that sends in spells counts
//! the time between two packets only while it sends, so that what a spell leaves of it is made up
//! in the next. A session sends its first packet at a random part of that time after it has begun.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use burstlab_kernel::Stream;
use burstlab_units::{Bytes, Serializer, Span, Time};
use serde::{Deserialize, Serialize};

use crate::scenario::{Pattern, Side, Traffic};
use crate::traffic::exponential;

/// A source of packets; a call of [`fire`](Self::fire) sends at most one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::world) struct Source {
    pub(in crate::world) side: Side,
    pub(in crate::world) size: Bytes,
    /// In a mesh: the nodes where its packets enter and leave, and their class.
    pub(in crate::world) ends: (u32, u32),
    pub(in crate::world) class: u32,
    /// The key of the draws for its packets.
    pub(in crate::world) key: u64,
    pattern: Pattern,
    spacing: Serializer,
    on_mean: Span,
    off_mean: Span,
    shape: f64,
    stream: Stream,
    /// Spells begun so far; packets drawn so far of a Poisson source.
    spells: u64,
    /// When the present spell ends; of a periodic source, and how long it is silent then.
    until: Time,
    on: Span,
    off: Span,
    /// By how much the length of a period varies, as a share of it.
    jitter: f64,
    /// When it sends next, or, where it has looked through many spells without a packet, goes on
    /// looking.
    pub(in crate::world) next: Time,
    /// Whether a packet goes out at `next`.
    sends: bool,
    /// Where it looks: how long it has still to send before a packet goes out.
    rest: Span,
    /// Mean time between two sessions.
    between: Span,
    /// Open sessions: when each sends next, its number, and when it ends; and when the next one
    /// begins, without an end.
    sessions: BinaryHeap<Reverse<(Time, u64, Time)>>,
}

impl Source {
    pub(in crate::world) fn new(
        traffic: &Traffic,
        (ends, key): ((u32, u32), u64),
        stream: Stream,
    ) -> Self {
        let mut source = Self {
            side: traffic.side.unwrap_or_default(),
            size: traffic.packet_size,
            ends,
            class: traffic.class,
            key,
            pattern: traffic.pattern,
            spacing: Serializer::new(traffic.rate),
            on_mean: traffic.on_mean,
            off_mean: traffic.off_mean,
            shape: traffic.shape,
            stream,
            spells: 0,
            until: Time::MAX,
            on: traffic.on(),
            off: traffic.period() - traffic.on(),
            jitter: traffic.period_jitter.unwrap_or(0.0),
            next: Time::ZERO + traffic.start,
            sends: true,
            rest: Span::ZERO,
            between: Span::from_secs_f64(traffic.sessions_per_second.map_or(0.0, f64::recip)),
            sessions: BinaryHeap::new(),
        };
        match source.pattern {
            Pattern::Cbr => source.next += traffic.phase.unwrap_or_else(|| source.gap()),
            Pattern::Pareto => source.begin_spell(source.next, Span::ZERO),
            Pattern::Poisson => source.next = source.after_wait(source.next),
            Pattern::Periodic => {
                let [phase, _] = source.stream.uniforms(0);
                let drawn = || Span::from_secs_f64(phase * traffic.period().as_secs_f64());
                source.next += traffic.phase.unwrap_or_else(drawn);
                source.until = source.next + source.on;
            }
            Pattern::Sessions => source.begin_sessions(),
        }
        source
    }

    /// When a source at constant rate sends first: a part of the time between two packets, so that
    /// sources that start together are not in step.
    fn gap(&self) -> Span {
        let [phase, _] = self.stream.uniforms(0);
        let gap = self.spacing.clone().next(self.size);
        Span::from_ps((phase * gap.as_ps() as f64) as u64)
    }

    /// The sessions that are open as the source starts, as if it had always been there. Their
    /// number is Poisson-distributed, and the rest of each has the density of the chance to last
    /// longer.
    fn begin_sessions(&mut self) {
        let now = self.next;
        // They are those that would begin as a Poisson process within so many mean times.
        let mean = self.on_mean.as_secs_f64() / self.between.as_secs_f64();
        let mut passed = 0.0;
        loop {
            let [wait, left] = self.stream.uniforms(self.spells);
            passed += -(-wait).ln_1p();
            if passed >= mean {
                break;
            }
            let number = self.spells;
            self.spells += 1;
            self.join(now, number, now.saturating_add(self.pareto_left(left)));
        }
        self.spells += 1;
        self.next_session(now);
        self.choose();
    }

    /// Session `number` is open from `now` to `until`, and sends if it has the time. It first sends
    /// after a part of the time between two packets that is as likely as any other, so that it has
    /// as many packets on average as its time holds. None ends at [`Time::MAX`], which marks those
    /// that have not begun.
    fn join(&mut self, now: Time, number: u64, until: Time) {
        let [first, _] = self.stream.uniforms(FIRST | number);
        let gap = self.spacing.next(self.size).as_secs_f64() * first;
        let at = now.saturating_add(Span::from_secs_f64(gap));
        let until = until.min(Time::from_ps(Time::MAX.as_ps() - 1));
        if at < until {
            self.sessions.push(Reverse((at, number, until)));
        }
    }

    /// Puts the session that begins next among those that send.
    fn next_session(&mut self, now: Time) {
        self.spells += 1;
        let [wait, _] = self.stream.uniforms(NEW | self.spells);
        let begins = now.saturating_add(exponential(self.between, wait));
        self.sessions.push(Reverse((begins, self.spells, Time::MAX)));
    }

    /// Sets `next` to the first packet of all sessions. Those that begin before it are open from
    /// then on; after many of them that send nothing, it goes on at another time.
    fn choose(&mut self) {
        for _ in 0..AT_ONCE {
            let Some(&Reverse((at, number, until))) = self.sessions.peek() else { break };
            self.next = at;
            self.sends = until != Time::MAX;
            if self.sends || at == Time::MAX {
                return;
            }
            self.sessions.pop();
            let [_, lasts] = self.stream.uniforms(NEW | number);
            let until = at.saturating_add(self.pareto(self.on_mean, lasts));
            self.join(at, number, until);
            self.next_session(at);
        }
    }

    /// A session sends.
    fn fire_session(&mut self) {
        if self.sends
            && let Some(Reverse((now, number, until))) = self.sessions.pop()
        {
            let next = now.saturating_add(self.spacing.next(self.size));
            if next < until {
                self.sessions.push(Reverse((next, number, until)));
            }
        }
        self.choose();
    }

    /// The rest of an open session, from a uniform number: below the least time it may last the
    /// density is flat, above it falls as a Pareto law of a shape that is lower by 1.
    fn pareto_left(&self, uniform: f64) -> Span {
        let least = self.on_mean.as_secs_f64() * (self.shape - 1.0) / self.shape;
        let flat = (self.shape - 1.0) / self.shape;
        Span::from_secs_f64(if uniform < flat {
            self.on_mean.as_secs_f64() * uniform
        } else {
            least * (self.shape * (1.0 - uniform)).powf(-1.0 / (self.shape - 1.0))
        })
    }

    /// Silences and spells of sending from `now` on, until it has sent for `rest`: then the next
    /// packet goes out. After many of them without a packet, it goes on at another time.
    fn begin_spell(&mut self, mut now: Time, mut rest: Span) {
        for _ in 0..AT_ONCE {
            let [silent, sending] = self.stream.uniforms(self.spells);
            self.spells += 1;
            let begins = now.saturating_add(self.pareto(self.off_mean, silent));
            let until = begins.saturating_add(self.pareto(self.on_mean, sending));
            let at = begins.saturating_add(rest);
            if at < until {
                (self.next, self.until, self.sends) = (at, until, true);
                return;
            }
            rest = at.since(until);
            now = until;
        }
        (self.next, self.rest, self.sends) = (now, rest, false);
    }

    /// The same with periods, from the silence on that begins at `now`.
    fn begin_period(&mut self, now: Time, rest: Span) {
        if self.jitter > 0.0 {
            return self.begin_varied_period(now, rest);
        }
        let whole = rest.as_ps() / self.on.as_ps();
        let passed = u128::from(whole) * u128::from((self.on + self.off).as_ps());
        let passed = Span::from_ps(u64::try_from(passed).unwrap_or(u64::MAX));
        let begins = now.saturating_add(self.off).saturating_add(passed);
        self.next = begins.saturating_add(Span::from_ps(rest.as_ps() % self.on.as_ps()));
        self.until = begins.saturating_add(self.on);
    }

    /// The same with periods of different lengths; after many of them without a packet, it goes on
    /// at another time.
    fn begin_varied_period(&mut self, mut now: Time, mut rest: Span) {
        let period = (self.on + self.off).as_secs_f64();
        for _ in 0..AT_ONCE {
            self.spells += 1;
            let [length, _] = self.stream.uniforms(self.spells);
            let length = period * (1.0 + self.jitter * (2.0 * length - 1.0));
            let off = Span::from_secs_f64((length - self.on.as_secs_f64()).max(0.0));
            let begins = now.saturating_add(off);
            self.until = begins.saturating_add(self.on);
            if rest < self.on {
                (self.next, self.sends) = (begins.saturating_add(rest), true);
                return;
            }
            rest = rest - self.on;
            now = self.until;
        }
        (self.next, self.rest, self.sends) = (now, rest, false);
    }

    /// When the packet after one at `now` goes out, of a Poisson source: each wait is that of a
    /// packet on the line on average.
    fn after_wait(&mut self, now: Time) -> Time {
        let [wait, _] = self.stream.uniforms(self.spells);
        self.spells += 1;
        let mean = self.spacing.next(self.size);
        now.saturating_add(exponential(mean, wait))
    }

    /// A Pareto time of this mean and the source's shape, from a uniform number.
    fn pareto(&self, mean: Span, uniform: f64) -> Span {
        let scale = mean.as_secs_f64() * (self.shape - 1.0) / self.shape;
        Span::from_secs_f64(scale / (1.0 - uniform).powf(1.0 / self.shape))
    }

    /// It is `next`: returns whether a packet goes out, and moves on.
    pub(in crate::world) fn fire(&mut self) -> bool {
        let (now, sends) = (self.next, self.sends);
        match self.pattern {
            Pattern::Sessions => self.fire_session(),
            Pattern::Poisson => self.next = self.after_wait(now),
            Pattern::Cbr => self.next = now + self.spacing.next(self.size),
            Pattern::Pareto if !sends => self.begin_spell(now, self.rest),
            Pattern::Periodic if !sends => self.begin_varied_period(now, self.rest),
            Pattern::Pareto | Pattern::Periodic => {
                self.next = now.saturating_add(self.spacing.next(self.size));
                if self.next >= self.until {
                    let rest = self.next.since(self.until);
                    match self.pattern {
                        Pattern::Periodic => self.begin_period(self.until, rest),
                        _ => self.begin_spell(self.until, rest),
                    }
                }
            }
        }
        sends
    }
}

/// Bits that set draws of sessions apart: for when each sends first, and for those that come.
const FIRST: u64 = 1 << 62;
const NEW: u64 = 1 << 63;

/// Spells, or sessions, that are looked through at a time for one that sends a packet.
const AT_ONCE: u32 = 1000;

#[cfg(test)]
mod tests {
    use super::*;
    use burstlab_kernel::RandomSource;
    use burstlab_units::Rate;

    /// When packets go out in the first `span`, with this replication's draws.
    fn sent(traffic: &Traffic, span: Span, replication: u64) -> Vec<Time> {
        let stream = RandomSource::new(1, replication).stream("test");
        let mut source = Source::new(traffic, ((0, 0), 0), stream);
        let mut sent = Vec::new();
        while source.next < Time::ZERO + span {
            let at = source.next;
            if source.fire() {
                sent.push(at);
            }
        }
        sent
    }

    fn packets(traffic: &Traffic, seconds: u64) -> Vec<Time> {
        sent(traffic, Span::from_secs(seconds), 0)
    }

    #[test]
    fn constant_rate_is_constant() {
        let traffic = Traffic { rate: Rate::from_bps(80_000), ..Traffic::default() };
        let sent = packets(&traffic, 10);
        assert_eq!(sent.len(), 100, "one packet of 8,000 bits each 100 ms");
        assert!(sent.windows(2).all(|pair| pair[1].since(pair[0]) == Span::from_ms(100)));
    }

    #[test]
    fn periodic_spells_are_as_long_as_they_should_be() {
        let traffic = Traffic {
            pattern: Pattern::Periodic,
            rate: Rate::from_bps(800_000),
            ..Traffic::default()
        };
        let sent = packets(&traffic, 100);
        assert_eq!(sent.len(), 10 * 20, "100 packets a second, 200 ms of 10 s");
        let gaps: Vec<Span> = sent.windows(2).map(|pair| pair[1].since(pair[0])).collect();
        assert_eq!(gaps.iter().filter(|gap| **gap == Span::from_ms(10)).count(), 190);
        assert_eq!(gaps.iter().filter(|gap| **gap == Span::from_ms(9810)).count(), 9);
    }

    /// A packet takes 80 ms, a spell lasts 100 ms: five packets in four spells.
    #[test]
    fn a_spell_goes_on_where_the_last_one_ended() {
        let traffic = Traffic {
            pattern: Pattern::Periodic,
            rate: Rate::from_bps(100_000),
            on: Some(Span::from_ms(100)),
            period: Some(Span::from_secs(1)),
            ..Traffic::default()
        };
        let sent = packets(&traffic, 100);
        let gaps: Vec<Span> = sent.windows(2).map(|pair| pair[1].since(pair[0])).collect();
        let cycle = [80, 980, 980, 980, 980].map(Span::from_ms);
        assert!(gaps.chunks(5).all(|gaps| gaps == &cycle[..gaps.len()]), "{:?}", &gaps[..8]);
        // Spells that are shorter than a packet: every fifth sends one.
        let traffic = Traffic { on: Some(Span::from_ms(16)), ..traffic };
        let sent = packets(&traffic, 100);
        assert!(sent.windows(2).all(|pair| pair[1].since(pair[0]) == Span::from_secs(5)));
    }

    #[test]
    fn periods_vary_by_their_jitter_and_send_what_they_should() {
        let traffic = Traffic {
            pattern: Pattern::Periodic,
            rate: Rate::from_bps(800_000),
            period_jitter: Some(0.5),
            ..Traffic::default()
        };
        let sent = packets(&traffic, 10_000);
        let gaps: Vec<f64> = sent.windows(2).map(|w| w[1].since(w[0]).as_secs_f64()).collect();
        let silent: Vec<f64> = gaps.iter().copied().filter(|gap| *gap > 1.0).collect();
        let periods = || silent.iter().map(|gap| gap + 0.19);
        assert!(periods().all(|period| (5.0..15.0).contains(&period)));
        assert!(periods().any(|period| period < 6.0) && periods().any(|period| period > 14.0));
        let mean = periods().sum::<f64>() / silent.len() as f64;
        // Uniform over 10 s: the standard deviation is 10 s / sqrt(12), of the mean a 32nd of it.
        assert!((mean - 10.0).abs() < 5.0 * 2.9 / (silent.len() as f64).sqrt(), "{mean}");
        assert!((sent.len() as f64 / 20_000.0 - 1.0).abs() < 0.05, "20 packets a period");
        // A packet takes five times as long as a spell: every fifth spell sends one.
        let seldom = Traffic { on: Some(Span::from_ms(2)), period: None, ..traffic.clone() };
        let count = packets(&seldom, 10_000).len();
        assert!((190..=210).contains(&count), "{count} packets in 1000 spells of a fifth each");
    }

    /// The mean and the variance of the packets that a source sends in `seconds`; one at either end
    /// aside.
    fn expected(traffic: &Traffic, seconds: f64) -> (f64, f64) {
        let rate = traffic.rate.as_bps() as f64 / 8.0 / traffic.packet_size.get() as f64;
        let (on, off) = (traffic.on_mean.as_secs_f64(), traffic.off_mean.as_secs_f64());
        let spread = 1.0 / (traffic.shape * (traffic.shape - 2.0));
        match traffic.pattern {
            Pattern::Cbr => (rate * seconds, 0.0),
            Pattern::Poisson => (rate * seconds, rate * seconds),
            Pattern::Periodic => {
                let share = traffic.on().as_secs_f64() / traffic.period().as_secs_f64();
                let spell = rate * traffic.on().as_secs_f64();
                (rate * seconds * share, spell * spell)
            }
            // The time that an alternating renewal process is on.
            Pattern::Pareto => {
                let both = 2.0 * spread * (on * off).powi(2) / (on + off).powi(3);
                (rate * seconds * on / (on + off), rate * rate * both * seconds)
            }
            // A Poisson number of sessions, each with its packets and their rounding.
            Pattern::Sessions => {
                let sessions = traffic.sessions_per_second.unwrap_or_default() * seconds;
                let each = (rate * on).powi(2) * (1.0 + spread) + 0.25;
                (sessions * rate * on, sessions * each)
            }
        }
    }

    /// Every pattern sends its mean, from a fifth of a packet a spell to thirty; within five
    /// standard deviations each, and without a lean of them all.
    #[test]
    fn each_source_sends_its_mean() {
        let draws = RandomSource::new(7, 0).stream("cases");
        let all = [Pattern::Cbr, Pattern::Poisson, Pattern::Periodic, Pattern::Pareto];
        for pattern in all.into_iter().chain([Pattern::Sessions]) {
            let (mut lean, cases) = (0.0, 24);
            for case in 0..cases {
                let [size, shape] = draws.uniforms(2 * case);
                let [silent, density] = draws.uniforms(2 * case + 1);
                let of_spell = 0.2 * 150f64.powf(size);
                let on = Span::from_secs_f64(of_spell / 1000.0);
                let off = on.as_secs_f64() * 0.3 * 10f64.powf(silent);
                let periodic = pattern == Pattern::Periodic;
                let traffic = Traffic {
                    pattern,
                    rate: Rate::from_bps(8_000_000),
                    on_mean: on,
                    off_mean: Span::from_secs_f64(off),
                    shape: 2.5 + 3.0 * shape,
                    sessions_per_second: Some((0.1 + 3.0 * density) / on.as_secs_f64()),
                    on: periodic.then_some(on),
                    period: periodic.then(|| Span::from_secs_f64(on.as_secs_f64() + off)),
                    ..Traffic::default()
                };
                let seconds = 10_000.0 * (on.as_secs_f64() + off);
                let (mean, variance) = expected(&traffic, seconds);
                let sent = sent(&traffic, Span::from_secs_f64(seconds), case).len() as f64;
                // A packet more or less at the ends.
                let beyond = ((sent - mean).abs() - 1.0).max(0.0).copysign(sent - mean);
                let score = beyond / variance.sqrt().max(1.0);
                assert!(score.abs() < 5.0, "{sent} of {mean}, {score}: {traffic:?}");
                let sure = variance.sqrt() < 0.05 * mean;
                assert!(sure, "a run that shows nothing: {mean}, {variance}, {traffic:?}");
                lean += score;
            }
            let bound = 4.0 * (cases as f64).sqrt();
            assert!(lean.abs() < bound, "{pattern:?} leans by {lean}");
        }
    }

    /// A source that hardly ever sends looks on only so often before others have their turn.
    #[test]
    fn spells_without_a_packet_are_looked_through_in_parts() {
        let seldom = Traffic {
            rate: Rate::from_bps(8),
            on_mean: Span::from_us(10),
            off_mean: Span::from_us(10),
            shape: 3.0,
            ..Traffic::default()
        };
        let often = Some(50_000.0);
        for (pattern, sessions_per_second) in [(Pattern::Pareto, None), (Pattern::Sessions, often)]
        {
            let traffic = Traffic { pattern, sessions_per_second, ..seldom.clone() };
            let stream = RandomSource::new(1, 0).stream("test");
            let mut source = Source::new(&traffic, ((0, 0), 0), stream);
            let (mut last, mut idle) = (source.next, 0);
            while source.next < Time::ZERO + Span::from_secs(2) {
                let before = source.spells;
                idle += u32::from(!source.fire());
                assert!(source.spells - before <= u64::from(AT_ONCE));
                assert!(source.next > last, "{pattern:?}: it goes on");
                last = source.next;
            }
            assert!(idle > 50, "{pattern:?}: {idle}");
        }
    }

    /// 5 sessions a second of 0.4 s on average: 2 at a time, from the very beginning.
    #[test]
    fn sessions_have_their_mean_rate_from_the_start() {
        let traffic = Traffic {
            pattern: Pattern::Sessions,
            rate: Rate::from_bps(160_000),
            sessions_per_second: Some(5.0),
            on_mean: Span::from_ms(400),
            shape: 2.5,
            ..Traffic::default()
        };
        // 20 packets a second each; in 100 ms there are 4 on average, and two of a session at most.
        let counts = (0..4000).map(|n| sent(&traffic, Span::from_ms(100), n).len() as f64);
        let (sum, squares) = counts.fold((0.0, 0.0), |(s, q), x| (s + x, q + x * x));
        let (mean, variance) = (sum / 4000.0, squares / 4000.0 - (sum / 4000.0).powi(2));
        assert!(variance < 16.0, "{variance}");
        assert!((mean - 4.0).abs() < 5.0 * (variance / 4000.0).sqrt(), "{mean}");
    }
}
