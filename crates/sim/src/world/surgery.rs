//! Operations on single bursts, and what came of them. Whatever does not touch an operated burst
//! asks once whether there is any operation at all.

use std::collections::BTreeSet;

use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::measure::loss::LossCause;
use crate::measure::{LostBurst, SurgerySummary};
use crate::scenario::{Direction, Operation, Scenario};

/// A burst, by how it is numbered: 0, or 1 for what goes back on a path.
pub(super) type Named = (usize, u64);

/// The operation that was done to a burst, or to the first of several.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Done {
    at: Time,
    /// Why it would have been lost.
    cause: Option<LossCause>,
    /// Where: as in the trace of bursts.
    node: usize,
    /// The connections that it carried packets or ACKs of, rising.
    connections: Vec<u32>,
}

/// An entry of the scenario.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SurgeryEntry {
    operation: Operation,
    direction: usize,
    /// `None`: every burst.
    burst: Option<u64>,
    delay: Span,
    /// To how many bursts it was done, and what to the first.
    count: u64,
    first: Option<Done>,
}

impl SurgeryEntry {
    #[inline]
    fn names(&self, (direction, number): Named) -> bool {
        self.direction == direction && self.burst.is_none_or(|burst| burst == number)
    }
}

/// The operations on the bursts of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Surgery {
    entries: Vec<SurgeryEntry>,
    /// The bursts that were lost, where somebody wants to know. Not stored: only a run whose losses
    /// are priced notes them, and that writes no checkpoint.
    #[serde(skip)]
    lost: Option<Lost>,
}

/// Lost bursts. Each is listed once, as soon as its loss or its first cut is certain.
#[derive(Clone, Debug, Default)]
struct Lost {
    noted: BTreeSet<Named>,
    bursts: Vec<LostBurst>,
}

/// The fate of a burst that is operated on, or is lost.
pub(super) struct Happened {
    pub(super) burst: Named,
    /// Whether it carries ACKs alone.
    pub(super) acks: bool,
    pub(super) at: Time,
    pub(super) cause: Option<LossCause>,
    pub(super) node: usize,
    pub(super) connections: Vec<u32>,
}

impl Happened {
    /// The same with each connection once, rising.
    pub(super) fn in_order(mut self) -> Self {
        self.connections.sort_unstable();
        self.connections.dedup();
        self
    }
}

impl Surgery {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let entry = |entry: &crate::scenario::Surgery| SurgeryEntry {
            operation: entry.operation,
            direction: usize::from(entry.direction == Some(Direction::Ack)),
            burst: entry.burst,
            delay: entry.delay.unwrap_or_default(),
            count: 0,
            first: None,
        };
        Self { entries: scenario.surgery.iter().map(entry).collect(), lost: None }
    }

    /// Asks for one operation more.
    pub(crate) fn add(&mut self, operation: Operation, direction: usize, burst: Option<u64>) {
        let delay = Span::ZERO;
        self.entries.push(SurgeryEntry {
            operation,
            direction,
            burst,
            delay,
            count: 0,
            first: None,
        });
    }

    /// Notes from now on which bursts are lost.
    pub(super) fn note_losses(&mut self) {
        self.lost.get_or_insert_default();
    }

    /// Whether losses are noted.
    #[inline]
    pub(super) fn notes_losses(&self) -> bool {
        self.lost.is_some()
    }

    /// Hands over the losses that were noted.
    pub(super) fn take_losses(&mut self) -> Vec<LostBurst> {
        self.lost.take().unwrap_or_default().bursts
    }

    /// Whether no burst is operated on.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether other operations are asked for than `other` asks for.
    pub(crate) fn differs(&self, other: &Self) -> bool {
        let asked =
            |entry: &SurgeryEntry| (entry.operation, entry.direction, entry.burst, entry.delay);
        !self.entries.iter().map(asked).eq(other.entries.iter().map(asked))
    }

    /// The bursts that are operated on; `None`: every one of a direction.
    pub(crate) fn named(&self) -> impl Iterator<Item = (usize, Option<u64>)> {
        self.entries.iter().map(|entry| (entry.direction, entry.burst))
    }

    #[inline]
    fn asks(&self, operation: Operation, burst: Named) -> bool {
        self.entries.iter().any(|entry| entry.operation == operation && entry.names(burst))
    }

    /// Whether a burst that is lost or cut is not to be. One that is to be killed as well is lost
    /// as it is.
    #[inline]
    pub(super) fn spares(&self, burst: Named) -> bool {
        self.asks(Operation::Spare, burst) && !self.asks(Operation::Kill, burst)
    }

    /// Whether a burst is to be lost.
    #[inline]
    pub(super) fn kills(&self, burst: Named) -> bool {
        self.asks(Operation::Kill, burst)
    }

    /// Whether a burst may change its wavelength at will.
    #[inline]
    pub(super) fn converts(&self, burst: Named) -> bool {
        self.asks(Operation::Convert, burst)
    }

    /// By how much later than else a burst lands.
    #[inline]
    pub(super) fn delay(&self, burst: Named) -> Span {
        let delays =
            |entry: &&SurgeryEntry| entry.operation == Operation::Delay && entry.names(burst);
        let entries = self.entries.iter().filter(delays);
        entries.fold(Span::ZERO, |sum, entry| sum + entry.delay)
    }

    /// Whether a burst of a direction that would be `lost`, or not, meets with anything else.
    #[inline]
    pub(super) fn changes(&self, burst: Named, lost: bool) -> bool {
        if self.is_empty() {
            return false;
        }
        match lost {
            true => self.spares(burst),
            false => self.kills(burst) || !self.delay(burst).is_zero(),
        }
    }

    /// Whether a burst of a direction with a number above `numbered` is to be lost or late.
    #[inline]
    pub(super) fn awaits(&self, (direction, numbered): Named) -> bool {
        self.entries.iter().any(|entry| {
            entry.direction == direction
                && matches!(entry.operation, Operation::Kill | Operation::Delay)
                && entry.burst.is_none_or(|burst| burst > numbered)
        })
    }

    /// An operation was done to a burst.
    pub(super) fn done(&mut self, operation: Operation, what: &Happened) {
        let asked =
            |entry: &&mut SurgeryEntry| entry.operation == operation && entry.names(what.burst);
        let Happened { at, cause, node, connections, .. } = what;
        for entry in self.entries.iter_mut().filter(asked) {
            entry.count += 1;
            let connections = connections.clone();
            entry.first.get_or_insert(Done { at: *at, cause: *cause, node: *node, connections });
        }
    }

    /// A burst is lost or cut, or that is certain, at an instant `decided` of the clock.
    pub(super) fn lost(&mut self, what: Happened, decided: Time) {
        let Some(lost) = &mut self.lost else { return };
        if !lost.noted.insert(what.burst) {
            return;
        }
        lost.bursts.push(LostBurst {
            burst: what.burst.1,
            back: what.burst.0 > 0,
            acks: what.acks,
            decided_ps: decided.as_ps(),
            cause: what.cause.map_or("none", LossCause::label).into(),
            node: what.node,
            connections: what.connections,
        });
    }

    /// The results of each operation in a run that has numbered so many bursts in each direction,
    /// of which those listed are still to be decided.
    pub(super) fn summary(&self, numbered: [u64; 2], on_path: bool) -> Vec<SurgerySummary> {
        let one = |entry: &SurgeryEntry| {
            let there = entry.burst.map_or(1, |burst| burst) <= numbered[entry.direction];
            let effect = match (entry.count, there) {
                (0, false) => "absent",
                (0, true) => "nothing",
                _ => "done",
            };
            let seconds = |span: Span| span.as_secs_f64();
            let first = entry.first.as_ref();
            SurgerySummary {
                burst: entry.burst,
                direction: on_path.then(|| if entry.direction > 0 { "ack" } else { "data" }.into()),
                operation: match entry.operation {
                    Operation::Spare => "spare",
                    Operation::Kill => "kill",
                    Operation::Delay => "delay",
                    Operation::Convert => "convert",
                }
                .into(),
                delay_s: (!entry.delay.is_zero()).then(|| seconds(entry.delay)),
                effect: effect.into(),
                bursts: entry.count,
                at_s: first.map(|done| done.at.as_secs_f64()),
                cause: first.and_then(|done| done.cause).map(|cause| cause.label().into()),
                node: first.map(|done| done.node as u32),
                connections: first.map(|done| done.connections.clone()).unwrap_or_default(),
            }
        };
        self.entries.iter().map(one).collect()
    }
}
