//! Which packets a queue marks rather than drops (RFC 3168): those that find more than a threshold
//! waiting (RFC 8257 section 3.1), or at random, the more the longer the queue has been (RED, Floyd
//! and Jacobson 1993).

use burstlab_units::{Bytes, Span, Time};
use serde::{Deserialize, Serialize};

/// When a queue marks, and its treatment of packets that cannot carry a mark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Marking {
    /// When it marks.
    pub rule: MarkingRule,
    /// Whether it drops a packet that is not ECN-capable where it would mark another one (RFC 3168
    /// section 5, RFC 7567 section 4.2.1); else it passes it.
    pub drops: bool,
}

/// When a queue marks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum MarkingRule {
    /// A packet that finds more bytes than this.
    Above(Bytes),
    /// Random early detection.
    Red(Red),
}

/// Random early detection: by the mean queue that packets found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Red {
    /// Below this mean nothing is marked; from there on the chance rises from 0.
    pub least: Bytes,
    /// To `chance` at this mean, from which on every packet is marked. Above `least`.
    pub most: Bytes,
    /// The chance just below `most`.
    pub chance: f64,
    /// Weight of the latest packet in the mean, above 0 and at most 1.
    pub weight: f64,
    /// How long a packet takes to leave: while nothing waits the mean falls as if so many had come.
    pub each: Span,
}

/// The marks of one queue. It owns no generator: it answers with a probability, and the caller
/// draws and reports the result.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Marker {
    marking: Marking,
    mean: f64,
    /// When nothing waited any more.
    idle: Option<Time>,
    /// Packets since the last mark.
    since: u64,
}

impl Marker {
    /// The marks of a queue that is empty.
    #[must_use]
    pub fn new(marking: Marking) -> Self {
        Self { marking, mean: 0.0, idle: Some(Time::ZERO), since: 0 }
    }

    /// Whether it drops a packet that is not ECN-capable where it would mark another one.
    #[must_use]
    pub fn drops(&self) -> bool {
        self.marking.drops
    }

    /// The chance that a packet is marked that comes at `now` and finds `waiting` bytes, which
    /// leave by `until`.
    pub fn chance(&mut self, now: Time, waiting: Bytes, until: Time) -> f64 {
        let red = match &self.marking.rule {
            MarkingRule::Above(most) => return f64::from(u8::from(waiting > *most)),
            MarkingRule::Red(red) => red,
        };
        if let Some(idle) = self.idle.filter(|&idle| idle < now) {
            let gone = now.since(idle).as_ps() as f64 / red.each.as_ps().max(1) as f64;
            self.mean *= (1.0 - red.weight).powf(gone.floor());
        }
        self.idle = Some(until.max(now));
        self.mean += red.weight * (waiting.get() as f64 - self.mean);
        let (least, most) = (red.least.get() as f64, red.most.get() as f64);
        if self.mean < least {
            self.since = 0;
            return 0.0;
        }
        if self.mean >= most {
            return 1.0;
        }
        let plain = red.chance * (self.mean - least) / (most - least);
        // So that the packets between two marks are spread evenly (section 7 of the paper).
        let spread = 1.0 - self.since as f64 * plain;
        if spread > plain { plain / spread } else { 1.0 }
    }

    /// Takes the result for the packet that was asked for last: whether it is marked, or dropped in
    /// place of that.
    pub fn settle(&mut self, marked: bool) {
        self.since = if marked { 0 } else { self.since + 1 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn red() -> Marker {
        let (least, most) = (Bytes::new(10_000), Bytes::new(30_000));
        let rule = Red { least, most, chance: 0.1, weight: 1.0, each: Span::from_ms(1) };
        Marker::new(Marking { rule: MarkingRule::Red(rule), drops: false })
    }

    fn chance(marker: &mut Marker, waiting: u64) -> f64 {
        marker.chance(Time::from_ps(1), Bytes::new(waiting), Time::from_ps(2))
    }

    #[test]
    fn a_threshold_marks_what_finds_more() {
        let rule = MarkingRule::Above(Bytes::new(3000));
        let mut marker = Marker::new(Marking { rule, drops: false });
        assert_eq!((chance(&mut marker, 3000), chance(&mut marker, 3001)), (0.0, 1.0));
    }

    #[test]
    fn the_chance_rises_from_the_least_to_the_most() {
        let mut marker = red();
        assert_eq!(chance(&mut marker, 9_999), 0.0);
        assert_eq!(chance(&mut marker, 10_000), 0.0);
        assert!((chance(&mut marker, 20_000) - 0.05).abs() < 1e-12);
        assert_eq!(chance(&mut marker, 30_000), 1.0);
    }

    #[test]
    fn marks_are_spread_evenly() {
        // With a plain chance of 1/20 the gap is uniform on 1 to 20: the 20th is marked for sure.
        let mut marker = red();
        for nth in 0..19 {
            let expected = 0.05 / (1.0 - 0.05 * f64::from(nth));
            assert!((chance(&mut marker, 20_000) - expected).abs() < 1e-9);
            marker.settle(false);
        }
        assert!((chance(&mut marker, 20_000) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_mean_falls_while_nothing_waits() {
        let (least, most) = (Bytes::new(10), Bytes::new(30));
        let rule = Red { least, most, chance: 0.1, weight: 0.5, each: Span::from_ms(1) };
        let mut marker = Marker::new(Marking { rule: MarkingRule::Red(rule), drops: false });
        let at = |ms: u64| Time::ZERO + Span::from_ms(ms);
        marker.chance(at(0), Bytes::new(40), at(1));
        assert_eq!(marker.mean, 20.0);
        // Three packets might have come: 20 falls to 2.5, and the new one finds nothing.
        marker.chance(at(4), Bytes::ZERO, at(4));
        assert_eq!(marker.mean, 1.25);
    }
}
