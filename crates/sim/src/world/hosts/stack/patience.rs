//! How much a host may do before the run ends with an error: what never stops would otherwise take
//! all memory, or all time.

use burstlab_units::{Span, Time};

/// Memory that packets in transit may take, of all hosts of a run, in bytes.
pub(super) const IN_TRANSIT: u64 = 1 << 30;

/// Packets at one instant, or alarms, or events reported at once in addition to those of packets
/// sent.
const AT_ONCE: u32 = 1 << 16;

/// Events that each packet sent lets a host tell at once: a repair may name all that wait.
const EACH: u64 = 4;

/// Packets beyond those sent of which a host may tell: it may hold them ready.
pub(super) const READY: u64 = 1 << 16;

/// Packets and alarms within a [`WHILE`].
const IN_A_WHILE: u32 = 1 << 20;
const WHILE: Span = Span::from_ms(1);

/// How many events a host may tell at once that has sent so many packets.
pub(super) fn events(sent: u64) -> u64 {
    u64::from(AT_ONCE) + EACH * sent
}

/// The recent work of a host.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Busy {
    /// At the last instant at which it did something.
    at: Time,
    times: u32,
    /// Since this instant, for a [`WHILE`] at most.
    since: Time,
    steps: u32,
}

impl Busy {
    /// Counts a packet or an alarm; answers how it goes on, where that is too long.
    pub(super) fn goes_on(&mut self, now: Time) -> Option<&'static str> {
        if self.at != now {
            (self.at, self.times) = (now, 0);
        }
        if now.since(self.since) >= WHILE {
            (self.since, self.steps) = (now, 0);
        }
        self.times += 1;
        self.steps += 1;
        if self.times > AT_ONCE {
            return Some("at one instant without end");
        }
        (self.steps > IN_A_WHILE).then_some("more than a million times within a millisecond")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_pauses_may_go_on_for_ever() {
        let steps = |count: u32, apart: u64| {
            let mut busy = Busy::default();
            (0..u64::from(count)).find_map(|n| busy.goes_on(Time::from_ps(n * apart)))
        };
        assert_eq!(steps(IN_A_WHILE * 3, 1_000), None, "a thousand a microsecond");
        assert_eq!(steps(AT_ONCE * 2, 0), Some("at one instant without end"));
        assert!(steps(IN_A_WHILE * 2, 1).is_some(), "each at an instant of its own");
    }
}
