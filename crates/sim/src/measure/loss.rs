//! The causes of a flow's missing segments, and the kind of time-out that follows: the truth that a
//! detector is measured by.

use std::collections::VecDeque;
use std::ops::Range;

use burstlab_units::Time;
use serde::{Deserialize, Serialize};

/// The loss of a packet: its cause, place and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Loss {
    pub(crate) cause: LossCause,
    /// The burst or slot it was in; 0: none.
    pub(crate) burst: u64,
    /// Core node of a path, or node of a mesh, counted from 1; 0: an edge node of a path or an
    /// access link.
    pub(crate) node: usize,
    /// In a slotted network: the node that the output leads to, counted from 1; else 0.
    pub(crate) port: u32,
    pub(crate) at: Time,
}

impl Loss {
    /// A queue of an access link, or a wireless cell, dropped the packet.
    pub(crate) fn at_access(cause: LossCause, at: Time) -> Self {
        Self { cause, burst: 0, node: 0, port: 0, at }
    }
}

/// The kind of event that killed a packet; its number is the place of its
/// [label](LossCause::LABELS).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum LossCause {
    /// The loss process picked its burst.
    Random = 1,
    /// A script named its burst or itself.
    Scripted = 2,
    /// The queue of the sender's access link was full.
    SenderAccess = 3,
    /// The queue of the receiver's access link was full.
    ReceiverAccess = 4,
    /// Its burst found no free output at a node of a mesh, or its slot no position of the buffer
    /// while its output was not congested.
    Contention = 5,
    /// The header of its burst came too late for the burst.
    LateHeader = 6,
    /// Its burst was refused a two-way reservation too often.
    Blocked = 7,
    /// It lay in the tail of a burst that was cut.
    Cut = 8,
    /// Its burst met contention that the scenario injects, and no resolution helped.
    InjectedContention = 9,
    /// A wireless cell gave it up, or lost it all the same.
    Wireless = 10,
    /// A queue of a wireless cell was full.
    WirelessQueue = 11,
    /// The output that its slot was for was congested, and no position of the buffer free.
    Congestion = 12,
    /// Surgery killed its burst.
    Operated = 13,
    /// Its burst was on a fibre that went down, or was to go over one that was down.
    Failure = 14,
    /// Its burst was closed in a down spell.
    Outage = 15,
    /// The sender's access link lost it in one of its spells.
    SenderLink = 16,
    /// The receiver's access link did.
    ReceiverLink = 17,
    /// It is not ECN-capable, and a queue dropped it where it would have marked another one.
    NotEct = 18,
    /// Its burst had to change its wavelength, and no converter was free.
    NoConverter = 19,
}

impl LossCause {
    /// The name of each in every table; 0: nothing was lost.
    pub(crate) const LABELS: &[&str] = &[
        "none",
        "injected",
        "scripted",
        "sender-access",
        "receiver-access",
        "contention",
        "late-header",
        "blocked",
        "cut",
        "injected-contention",
        "wireless",
        "wireless-queue",
        "congestion",
        "operated",
        "failure",
        "outage",
        "sender-link",
        "receiver-link",
        "not-ect",
        "no-converter",
    ];

    /// Those that end a whole burst, in the order in which a summary lists them.
    pub(crate) const OF_BURSTS: [Self; 11] = [
        Self::Random,
        Self::Outage,
        Self::Scripted,
        Self::Contention,
        Self::NoConverter,
        Self::InjectedContention,
        Self::LateHeader,
        Self::Cut,
        Self::Blocked,
        Self::Operated,
        Self::Failure,
    ];

    /// Its name.
    pub(crate) fn label(self) -> &'static str {
        Self::LABELS[self as usize]
    }
}

impl From<LossCause> for u8 {
    fn from(cause: LossCause) -> Self {
        cause as Self
    }
}

/// The true kind of a time-out; the order is that of its labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Truth {
    /// All that was lost was in one burst, or in one slot that no congestion cost.
    False = 0,
    /// Several bursts or slots were lost, or one by congestion, or packets outside the optical
    /// network.
    True = 1,
    /// Nothing was lost: the ACKs were late or lost.
    Spurious = 2,
}

/// The cause of a reduction of the window; the order is that of its labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReductionCause {
    /// All that was lost was in one burst, and no queue was full.
    OneBurst = 0,
    /// Several bursts were lost, and no queue was full.
    SeveralBursts = 1,
    /// A queue was full, or marked, or dropped in place of a mark.
    Congestion = 2,
    /// Nothing was lost: reordering or delay.
    Reordering = 3,
    /// Packets were lost on the air, on an access link, or alone by a script.
    Outside = 4,
}

impl ReductionCause {
    /// How many there are.
    pub(crate) const COUNT: usize = 5;

    /// The name of each in the ledger; 0: the event is no reduction.
    pub(crate) const LABELS: &[&str] =
        &["none", "one-burst", "several-bursts", "congestion", "reordering", "outside"];
}

impl LossCause {
    /// Whether a queue is the cause that is full, or too long.
    fn is_congestion(self) -> bool {
        use LossCause::{Congestion, NotEct, ReceiverAccess, SenderAccess, WirelessQueue};
        matches!(self, SenderAccess | ReceiverAccess | WirelessQueue | Congestion | NotEct)
    }
}

/// The segments of a flow whose last transmission was lost, and the causes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Causes {
    /// Rising by segment. Losses come in runs at the back and are repaired from the front, so that
    /// a ring does what a tree would, in a fraction of the time.
    missing: VecDeque<(u64, Loss)>,
}

impl Causes {
    /// Whether nothing is missing.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.missing.is_empty()
    }

    /// The last transmission of `seq` is lost.
    pub(crate) fn lost(&mut self, seq: u64, loss: Loss) {
        if self.missing.back().is_none_or(|&(last, _)| last < seq) {
            self.missing.push_back((seq, loss));
            return;
        }
        match self.place(seq) {
            Ok(place) => self.missing[place].1 = loss,
            Err(place) => self.missing.insert(place, (seq, loss)),
        }
    }

    /// `seq` has arrived, or is sent again; returns whether it was missing.
    #[inline]
    pub(crate) fn found(&mut self, seq: u64) -> bool {
        // Most arrive in order, behind nothing that is missing.
        if self.missing.front().is_none_or(|&(first, _)| seq < first) {
            return false;
        }
        let place = self.place(seq);
        place.is_ok_and(|place| self.missing.remove(place).is_some())
    }

    /// As [`found`](Self::found), and answers why it was missing.
    pub(crate) fn take(&mut self, seq: u64) -> Option<Loss> {
        let place = self.place(seq).ok()?;
        self.missing.remove(place).map(|(_, loss)| loss)
    }

    /// Nobody waits for segments below `seq`.
    pub(crate) fn forget_below(&mut self, seq: u64) {
        while self.missing.front().is_some_and(|&(first, _)| first < seq) {
            self.missing.pop_front();
        }
    }

    fn place(&self, seq: u64) -> Result<usize, usize> {
        self.missing.binary_search_by_key(&seq, |&(missing, _)| missing)
    }

    /// The losses among `segments`.
    pub(crate) fn among(&self, segments: Range<u64>) -> impl Iterator<Item = (u64, &Loss)> {
        let first = self.missing.partition_point(|&(seq, _)| seq < segments.start);
        let losses = self.missing.range(first..).map(|(seq, loss)| (*seq, loss));
        losses.take_while(move |&(seq, _)| seq < segments.end)
    }

    /// The cause of a reduction while `segments` are waited for; a mark is a sign of a queue.
    pub(crate) fn reduction(&self, segments: Range<u64>, by_mark: bool) -> ReductionCause {
        let mut losses = self.among(segments).map(|(_, loss)| loss);
        if by_mark {
            return ReductionCause::Congestion;
        }
        let Some(first) = losses.next() else { return ReductionCause::Reordering };
        let (mut one, mut outside) = (true, first.burst == 0);
        let mut congestion = first.cause.is_congestion();
        for loss in losses {
            one &= loss.burst == first.burst;
            outside |= loss.burst == 0;
            congestion |= loss.cause.is_congestion();
        }
        match (congestion, outside, one) {
            (true, ..) => ReductionCause::Congestion,
            (_, true, _) => ReductionCause::Outside,
            (.., true) => ReductionCause::OneBurst,
            _ => ReductionCause::SeveralBursts,
        }
    }

    /// The true kind of a time-out that waits for `segments`.
    pub(crate) fn truth(&self, segments: Range<u64>) -> Truth {
        let mut losses = self.among(segments);
        let Some((_, first)) = losses.next() else { return Truth::Spurious };
        let alone = first.burst != 0 && first.cause != LossCause::Congestion;
        let one_burst = alone && losses.all(|(_, loss)| loss.burst == first.burst);
        if one_burst { Truth::False } else { Truth::True }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(cause: LossCause, burst: u64) -> Loss {
        Loss { cause, burst, node: 1, port: 0, at: Time::ZERO }
    }

    #[test]
    fn the_truth_is_what_the_missing_segments_have_in_common() {
        let mut causes = Causes::default();
        assert_eq!(causes.truth(3..9), Truth::Spurious);
        causes.lost(4, loss(LossCause::Random, 7));
        causes.lost(5, loss(LossCause::Random, 7));
        assert_eq!(causes.truth(3..9), Truth::False);
        causes.lost(8, loss(LossCause::Random, 8));
        assert_eq!(causes.truth(3..9), Truth::True, "two bursts");
        assert_eq!(causes.truth(3..8), Truth::False, "8 is not waited for");
        assert!(causes.found(8) && !causes.found(8));
        causes.lost(6, loss(LossCause::SenderAccess, 0));
        assert_eq!(causes.truth(3..9), Truth::True, "an access loss");
        assert_eq!(causes.truth(6..7), Truth::True, "an access loss alone");
        assert_eq!(causes.truth(6..6), Truth::Spurious, "nothing is waited for");
    }

    #[test]
    fn a_reduction_has_one_cause() {
        use ReductionCause::{Congestion, OneBurst, Outside, Reordering, SeveralBursts};
        let mut causes = Causes::default();
        assert_eq!(causes.reduction(1..9, false), Reordering);
        assert_eq!(causes.reduction(1..9, true), Congestion, "a mark");
        causes.lost(4, loss(LossCause::Contention, 7));
        causes.lost(5, loss(LossCause::Contention, 7));
        assert_eq!(causes.reduction(1..9, false), OneBurst);
        causes.lost(6, loss(LossCause::Random, 8));
        assert_eq!(causes.reduction(1..9, false), SeveralBursts);
        causes.lost(7, loss(LossCause::Wireless, 0));
        assert_eq!(causes.reduction(1..9, false), Outside, "one on the air is enough");
        causes.lost(8, loss(LossCause::SenderAccess, 0));
        assert_eq!(causes.reduction(1..9, false), Congestion, "and one full queue");
        assert_eq!(causes.reduction(1..6, false), OneBurst, "of what is waited for");
        causes.lost(4, loss(LossCause::NotEct, 0));
        assert_eq!(causes.reduction(1..5, false), Congestion, "dropped in place of a mark");
    }

    #[test]
    fn a_slot_that_congestion_cost_is_a_true_reason_and_one_that_contention_cost_is_none() {
        let mut causes = Causes::default();
        causes.lost(4, loss(LossCause::Contention, 7));
        assert_eq!(causes.truth(3..9), Truth::False);
        causes.lost(4, loss(LossCause::Congestion, 7));
        assert_eq!(causes.truth(3..9), Truth::True, "though it is one slot");
        causes.lost(5, loss(LossCause::Congestion, 7));
        assert_eq!(causes.truth(3..9), Truth::True, "and all are in it");
    }
}
