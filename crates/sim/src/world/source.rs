//! A UDP source: constant rate, always or in spells that are Pareto-distributed or periodic, in
//! sessions, or Poisson.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use burstlab_kernel::Stream;
use burstlab_units::{Bytes, Serializer, Span, Time};
use serde::{Deserialize, Serialize};

use crate::scenario::{Pattern, Side, Traffic};
use crate::traffic::exponential;

/// A source of packets; each call of [`fire`](Self::fire) sends one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Source {
    pub(super) side: Side,
    pub(super) size: Bytes,
    /// In a mesh: the nodes where its packets enter and leave, and their class.
    pub(super) ends: (u32, u32),
    pub(super) class: u32,
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
    pub(super) next: Time,
    /// Mean time between two sessions.
    between: Span,
    /// Sessions under way: when each sends next, its number, and when it ends; and when the next
    /// one begins, without an end.
    sessions: BinaryHeap<Reverse<(Time, u64, Time)>>,
}

impl Source {
    pub(super) fn new(traffic: &Traffic, ends: (u32, u32), stream: Stream) -> Self {
        let mut source = Self {
            side: traffic.side.unwrap_or_default(),
            size: traffic.packet_size,
            ends,
            class: traffic.class,
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
            next: Time::ZERO + traffic.start,
            between: Span::from_secs_f64(traffic.sessions_per_second.map_or(0.0, f64::recip)),
            sessions: BinaryHeap::new(),
        };
        match source.pattern {
            Pattern::Cbr => {}
            Pattern::Pareto => source.begin_spell(source.next),
            Pattern::Poisson => source.fire(),
            Pattern::Periodic => {
                let [phase, _] = source.stream.uniforms(0);
                let phase = Span::from_secs_f64(phase * traffic.period().as_secs_f64());
                source.next += phase;
                source.until = source.next + source.on;
            }
            Pattern::Sessions => source.begin_sessions(),
        }
        source
    }

    /// The sessions that are under way as the source starts, as if it had always been there: their
    /// number is Poisson-distributed, and what is left of each has the density of the chance to
    /// last longer.
    fn begin_sessions(&mut self) {
        let now = self.next;
        // They are those that would begin as a Poisson process within so many mean times.
        let mean = self.on_mean.as_secs_f64() / self.between.as_secs_f64();
        let mut passed = 0.0;
        loop {
            let [wait, left] = self.stream.uniforms(self.spells);
            let [first, _] = self.stream.uniforms(OLD | self.spells);
            passed += -(-wait).ln_1p();
            if passed >= mean {
                break;
            }
            self.spells += 1;
            let until = now.saturating_add(self.pareto_left(left));
            let gap = self.spacing.next(self.size).as_secs_f64() * first;
            let at = now.saturating_add(Span::from_secs_f64(gap));
            if at < until {
                self.sessions.push(Reverse((at, self.spells, until)));
            }
        }
        self.spells += 1;
        self.next_session(now);
        self.choose();
    }

    /// Puts the session that begins next among those that send.
    fn next_session(&mut self, now: Time) {
        self.spells += 1;
        let [wait, _] = self.stream.uniforms(NEW | self.spells);
        let begins = now.saturating_add(exponential(self.between, wait));
        self.sessions.push(Reverse((begins, self.spells, Time::MAX)));
    }

    /// Sets `next` to the first packet of all sessions.
    fn choose(&mut self) {
        self.next = self.sessions.peek().map_or(Time::MAX, |Reverse((at, ..))| *at);
    }

    /// A session sends, or begins and sends.
    fn fire_session(&mut self) {
        let Some(Reverse((now, number, mut until))) = self.sessions.pop() else { return };
        if until == Time::MAX {
            let [_, lasts] = self.stream.uniforms(NEW | number);
            until = now.saturating_add(self.pareto(self.on_mean, lasts));
            until = until.min(Time::from_ps(Time::MAX.as_ps() - 1));
            self.next_session(now);
        }
        let next = now + self.spacing.next(self.size);
        if next < until {
            self.sessions.push(Reverse((next, number, until)));
        }
        self.choose();
    }

    /// What is left of a session that is under way, from a uniform number: below the least time it
    /// may last the density is flat, above it falls as a Pareto law of a shape that is lower by 1.
    fn pareto_left(&self, uniform: f64) -> Span {
        let least = self.on_mean.as_secs_f64() * (self.shape - 1.0) / self.shape;
        let flat = (self.shape - 1.0) / self.shape;
        Span::from_secs_f64(if uniform < flat {
            self.on_mean.as_secs_f64() * uniform
        } else {
            least * (self.shape * (1.0 - uniform)).powf(-1.0 / (self.shape - 1.0))
        })
    }

    /// A silence from `now`, then a spell of sending.
    fn begin_spell(&mut self, now: Time) {
        let [silent, sending] = self.stream.uniforms(self.spells);
        self.spells += 1;
        self.next = now.saturating_add(self.pareto(self.off_mean, silent));
        self.until = self.next.saturating_add(self.pareto(self.on_mean, sending));
    }

    /// A Pareto time of this mean and the source's shape, from a uniform number.
    fn pareto(&self, mean: Span, uniform: f64) -> Span {
        let scale = mean.as_secs_f64() * (self.shape - 1.0) / self.shape;
        Span::from_secs_f64(scale / (1.0 - uniform).powf(1.0 / self.shape))
    }

    /// A packet goes out at `next`; moves `next` to the one after it.
    pub(super) fn fire(&mut self) {
        let now = self.next;
        if self.pattern == Pattern::Sessions {
            self.fire_session();
            return;
        }
        if self.pattern == Pattern::Poisson {
            // Each wait is that of a packet on the line on average.
            let [wait, _] = self.stream.uniforms(self.spells);
            self.spells += 1;
            let mean = self.spacing.next(self.size);
            self.next = now.saturating_add(exponential(mean, wait));
            return;
        }
        self.next = now + self.spacing.next(self.size);
        if self.next >= self.until {
            if self.pattern == Pattern::Periodic {
                self.next = self.until + self.off;
                self.until = self.next + self.on;
            } else {
                self.begin_spell(self.until);
            }
        }
    }
}

/// Bits that set draws of sessions apart: for the phases of those that are there at first, and for
/// those that come.
const OLD: u64 = 1 << 62;
const NEW: u64 = 1 << 63;

#[cfg(test)]
mod tests {
    use super::*;
    use burstlab_kernel::RandomSource;
    use burstlab_units::Rate;

    fn packets(traffic: &Traffic, seconds: u64) -> Vec<Time> {
        let mut source = Source::new(traffic, (0, 0), RandomSource::new(1, 0).stream("test"));
        let mut sent = Vec::new();
        while source.next < Time::ZERO + Span::from_secs(seconds) {
            sent.push(source.next);
            source.fire();
        }
        sent
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

    #[test]
    fn pareto_spells_have_their_mean_rate() {
        // Shape 2.5: the mean converges in a run of this length; 1.5 would not.
        let traffic = Traffic {
            pattern: Pattern::Pareto,
            rate: Rate::from_bps(800_000),
            shape: 2.5,
            ..Traffic::default()
        };
        let sent = packets(&traffic, 20_000).len() as f64;
        // Half the time on, 100 packets/s; a spell also sends the packet that it begins with.
        let expected = 20_000.0 * 100.0 * 0.5 + 20_000.0 * 0.5;
        assert!((sent / expected - 1.0).abs() < 0.03, "{sent} of {expected}");
    }

    /// 5 sessions a second of 0.4 s on average: 2 at a time, from the very beginning. A session
    /// sends one packet more than its time has room for, since it begins with one: half a packet on
    /// average, beside those of 100 a second.
    #[test]
    fn sessions_have_their_mean_rate_from_the_start() {
        let traffic = Traffic {
            pattern: Pattern::Sessions,
            rate: Rate::from_bps(800_000),
            sessions_per_second: Some(5.0),
            on_mean: Span::from_ms(400),
            shape: 2.5,
            ..Traffic::default()
        };
        let expected = 2.0 * 100.0 + 5.0 * 0.5;
        let sent = packets(&traffic, 4000).len() as f64 / 4000.0;
        assert!((sent / expected - 1.0).abs() < 0.03, "{sent} of {expected}");
        let first = (0..4000).map(|n| {
            let stream = RandomSource::new(1, n).stream("test");
            let mut source = Source::new(&traffic, (0, 0), stream);
            let mut sent = 0;
            while source.next < Time::ZERO + Span::from_ms(100) {
                sent += 1;
                source.fire();
            }
            sent
        });
        let sent = f64::from(first.sum::<i32>()) / 400.0;
        assert!((sent / expected - 1.0).abs() < 0.05, "{sent} of {expected}");
    }
}
