//! ACK pacing: an edge node holds ACKs back so that they leave to their sender evenly.

use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

/// The rule by which an edge node spaces the ACKs of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AckSpacing {
    /// The least time between two ACKs.
    pub rule: SpacingRule,
    /// No ACK waits longer.
    pub delay_max: Span,
}

/// The least time between two ACKs of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SpacingRule {
    /// Always the same.
    Fixed(Span),
    /// The mean time between the ACKs of the flow that came in the last window, divided by a gain
    /// in millionths.
    Measured {
        /// The time over which the rate is measured.
        window: Span,
        /// The rate at which ACKs may leave, in millionths of the measured rate.
        gain_ppm: u64,
    },
}

impl SpacingRule {
    /// Spaces ACKs by their rate in the last window, times `gain`.
    ///
    /// # Panics
    /// When the gain is not positive: the scenario refuses such a gain.
    #[must_use]
    pub fn measured(window: Span, gain: f64) -> Self {
        let gain_ppm = (gain * 1e6).round() as u64;
        assert!(gain_ppm > 0, "a rate is positive");
        Self::Measured { window, gain_ppm }
    }
}

/// The edge node's record of the ACKs of one flow. Times do not fall from one ACK to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AckPacer {
    /// When the last ACK leaves.
    leaves: Option<Time>,
    /// When the first ACK of the window came, and how many have come since, that one included.
    window: Option<(Time, u64)>,
    /// The mean time between ACKs in the window before, once there was one.
    gap: Option<Span>,
}

impl AckPacer {
    /// An ACK comes at `now`; returns when it leaves. If ACKs are not `held`, it leaves as soon as
    /// the ACKs before it have left.
    pub fn comes(&mut self, now: Time, spacing: &AckSpacing, held: bool) -> Time {
        let apart = match spacing.rule {
            SpacingRule::Fixed(apart) => apart,
            SpacingRule::Measured { window, gain_ppm } => {
                self.counts(now, window);
                self.gap.map_or(Span::ZERO, |gap| divided(gap, gain_ppm))
            }
        };
        let next = match self.leaves {
            None => now,
            Some(last) if held => last.saturating_add(apart),
            Some(last) => last,
        };
        let at = next.min(now.saturating_add(spacing.delay_max)).max(now);
        // An ACK never leaves before one that came earlier.
        let at = self.leaves.map_or(at, |last| at.max(last));
        self.leaves = Some(at);
        at
    }

    /// Counts an ACK at `now`. A window ends with the first ACK that comes `window` or more after
    /// its first ACK. If that takes twice as long, the flow was silent, and its rate is not known.
    fn counts(&mut self, now: Time, window: Span) {
        let (first, count) = self.window.unwrap_or((now, 0));
        let lasted = now.since(first);
        if lasted < window || count == 0 {
            self.window = Some((first, count + 1));
            return;
        }
        let silent = lasted.as_ps() / 2 >= window.as_ps();
        self.gap = (!silent).then(|| Span::from_ps(lasted.as_ps() / count));
        self.window = Some((now, 1));
    }
}

/// A span divided by a gain in millionths, rounded down.
fn divided(span: Span, gain_ppm: u64) -> Span {
    let ps = u128::from(span.as_ps()) * 1_000_000 / u128::from(gain_ppm);
    Span::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn fixed(apart: u64, delay_max: u64) -> AckSpacing {
        let rule = SpacingRule::Fixed(Span::from_ms(apart));
        AckSpacing { rule, delay_max: Span::from_ms(delay_max) }
    }

    fn measured(gain: f64) -> AckSpacing {
        let rule = SpacingRule::measured(Span::from_ms(100), gain);
        AckSpacing { rule, delay_max: Span::from_ms(50) }
    }

    fn leave(spacing: &AckSpacing, come: &[u64]) -> Vec<u64> {
        let mut pacer = AckPacer::default();
        let leave = come.iter().map(|&ms| pacer.comes(at(ms), spacing, true));
        leave.map(|time| time.as_ps() / 1_000_000_000).collect()
    }

    #[test]
    fn acks_that_come_together_leave_apart() {
        assert_eq!(leave(&fixed(10, 1000), &[0, 0, 0, 5, 100]), [0, 10, 20, 30, 100]);
    }

    #[test]
    fn acks_that_are_apart_are_not_held() {
        assert_eq!(leave(&fixed(10, 1000), &[0, 10, 25, 40]), [0, 10, 25, 40]);
    }

    #[test]
    fn no_ack_waits_longer_than_the_bound() {
        assert_eq!(leave(&fixed(10, 15), &[0, 0, 0, 0, 1]), [0, 10, 15, 15, 16]);
    }

    /// Ten ACKs in the first 100 ms: the mean distance is 10 ms. The eleventh ends the window.
    #[test]
    fn the_rate_is_that_of_the_last_window() {
        let mut come: Vec<u64> = vec![0; 10];
        come.extend([100, 100, 100, 100]);
        let mut expected = vec![0; 10];
        expected.extend([100, 110, 120, 130]);
        assert_eq!(leave(&measured(1.0), &come), expected);
        expected.splice(10.., [100, 105, 110, 115]);
        assert_eq!(leave(&measured(2.0), &come), expected);
        expected.splice(10.., [100, 120, 140, 150]);
        assert_eq!(leave(&measured(0.5), &come), expected, "and no more than 50 ms late");
    }

    #[test]
    fn after_a_silence_the_rate_is_measured_anew() {
        let mut come: Vec<u64> = vec![0; 10];
        come.extend([200, 200, 200, 300, 300]);
        let mut expected = vec![0; 10];
        expected.extend([200, 200, 200, 300, 333]);
        assert_eq!(leave(&measured(1.0), &come), expected);
    }

    /// The rate goes on being measured, and the ACKs before it come first.
    #[test]
    fn acks_that_are_not_held_leave_behind_those_that_are() {
        let (mut pacer, spacing) = (AckPacer::default(), fixed(10, 1000));
        let mut comes = |ms, held| pacer.comes(at(ms), &spacing, held).since(at(0));
        assert_eq!(comes(0, true), Span::ZERO);
        assert_eq!(comes(0, true), Span::from_ms(10));
        assert_eq!(comes(1, false), Span::from_ms(10));
        assert_eq!(comes(12, false), Span::from_ms(12));
    }

    proptest! {
        /// Each ACK leaves in order, not before it comes, and in time.
        #[test]
        fn order_and_bound_hold_for_any_arrivals(
            gaps in prop::collection::vec((0u64..400, any::<bool>()), 1..200),
            gain in 0.1..10.0f64,
            delay_max in 1u64..300,
            apart in prop::option::of(1u64..100),
        ) {
            let mut spacing = fixed(apart.unwrap_or(1), delay_max);
            if apart.is_none() {
                spacing.rule = measured(gain).rule;
            }
            let (mut pacer, mut now, mut last) = (AckPacer::default(), Time::ZERO, Time::ZERO);
            for (gap, held) in gaps {
                // Half of the ACKs come together.
                now += Span::from_ms(gap.saturating_sub(200));
                let leaves = pacer.comes(now, &spacing, held);
                prop_assert!(leaves >= now.max(last));
                prop_assert!(leaves.since(now) <= spacing.delay_max);
                last = leaves;
            }
        }
    }
}
