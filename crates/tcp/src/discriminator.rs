//! A discriminator distinguishes the loss of one burst from congestion: the trait, the reports that
//! come to it, and its answer.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::moment::Moment;

/// The answer of a discriminator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Verdict {
    /// Congestion: slow start from one segment.
    True,
    /// One lost burst: half the window, no slow start, no back-off.
    False,
}

/// The kinds of a node's report about a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Notice {
    /// The ingress edge has sent the burst (burst ACK of the ingress).
    Left,
    /// The egress edge has received the burst (burst ACK of the egress).
    Arrived,
    /// A core node has dropped the burst (burst NAK).
    Dropped,
}

/// The report of a node of the optical network to a sender.
#[derive(Clone, Copy, Debug)]
pub struct BurstReport<'a> {
    /// Its kind.
    pub notice: Notice,
    /// The number of the burst.
    pub burst: u64,
    /// Segments of this connection in the burst, rising.
    pub segments: &'a [u64],
}

impl BurstReport<'_> {
    /// Whether the burst carries every segment that the loss may be about, of which there is one.
    #[must_use]
    pub fn covers(&self, moment: &Moment) -> bool {
        let mut suspects = moment.suspects();
        !suspects.is_empty() && suspects.all(|seq| self.segments.binary_search(&seq).is_ok())
    }
}

/// A detector of lost bursts. Each method is a report to it, some with its answer; a detector
/// ignores a report whose method it leaves as it is. The senders call them in this order: at a
/// loss, at an ACK, at progress, at retransmissions.
pub trait Discriminator: fmt::Debug + Send + Sync + Duplicate {
    /// The retransmission timer has fired. Is one lost burst behind it?
    fn on_timeout(&mut self, moment: &Moment) -> Verdict;

    /// A sender that needs no time-out to find losses has reduced its window, and no mark was the
    /// cause. Asks the same question; [`Moment::window`] is the window before the reduction.
    fn on_reduction(&mut self, moment: &Moment) -> Verdict {
        self.on_timeout(moment)
    }

    /// A loss that no time-out found has cost a part of [`Moment::window`].
    fn on_loss(&mut self, _: &Moment) {}

    /// An ACK of new data has arrived. Only classes get it: their senders leave the fast path.
    fn on_ack(&mut self, _: &Moment) {}

    /// An ACK has arrived, of `new` data or not. Only classes get it, after what the ACK does.
    fn on_feedback(&mut self, moment: &Moment, new: bool) {
        if new {
            self.on_ack(moment);
        }
    }

    /// An ACK has echoed [`Moment::marked`] marks. Only classes get it.
    fn on_mark(&mut self, _: &Moment) {}

    /// All segments below `next` have arrived; one call may stand for many ACKs.
    fn on_progress(&mut self, _next: u64) {}

    /// Segment `seq` goes out again: earlier knowledge of it is out of date.
    fn on_retransmission(&mut self, _seq: u64) {}

    /// A burst ACK arrives. Only classes get the moment.
    fn on_burst_ack(&mut self, _: &BurstReport, _: &Moment) {}

    /// A burst NAK arrives. Returns whether the sender repairs the loss at once.
    fn on_burst_nak(&mut self, _: &BurstReport, _: &Moment) -> bool {
        false
    }

    /// The simulator reports the truth about a time-out that would come now.
    fn on_truth(&mut self, _: Verdict) {}

    /// Whether it never errs, so that it may excuse a sender with any window.
    fn is_sure(&self) -> bool {
        false
    }
}

/// A copy in the same state, for a connection that continues separately. Every discriminator that
/// is [`Clone`] has it.
pub trait Duplicate {
    /// Returns the copy.
    fn duplicate(&self) -> Box<dyn Discriminator>;
}

impl<T: Discriminator + Clone + 'static> Duplicate for T {
    fn duplicate(&self) -> Box<dyn Discriminator> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Discriminator> {
    fn clone(&self) -> Self {
        (**self).duplicate()
    }
}

/// A verdict from the answer to "was it one burst?".
pub(crate) fn false_if(one_burst: bool) -> Verdict {
    if one_burst { Verdict::False } else { Verdict::True }
}
