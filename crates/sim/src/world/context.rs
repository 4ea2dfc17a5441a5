//! What every part of the world may touch: the order of events, what is recorded, what is counted.

use burstlab_kernel::{EventQueue, Rank, Ticket};
use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::events::Event;
use super::notices::Notices;
use super::place::Place;
use super::surgery::Surgery;
use crate::measure::{Digest, Recorder};

/// What every part of the world may touch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Context {
    pub(crate) queue: EventQueue<Event>,
    /// Not stored: a traced run is not, and any other records nothing.
    #[serde(skip)]
    pub(crate) recorder: Recorder,
    pub(crate) digest: Digest,
    pub(super) notices: Notices,
    pub(super) surgery: Surgery,
    /// The time.
    pub(super) clock: Time,
    /// Up to when hosts, and bursts on ways of their own, may be ahead of the clock: the end of the
    /// warm-up, or of the run; zero where they may not.
    pub(super) safe: Time,
    /// Alarms that came before their time, or too late.
    pub(super) stale: u64,
    /// What events have done beyond what one does: batches that were looked at, bursts closed. Not
    /// stored: each call of `advance` counts from 0.
    #[serde(skip)]
    pub(super) work: u32,
}

impl Context {
    pub(super) fn new(queue: EventQueue<Event>, recorder: Recorder, surgery: Surgery) -> Self {
        let (digest, notices) = (Digest::default(), Notices::default());
        let (clock, safe) = (Time::ZERO, Time::ZERO);
        Self { queue, recorder, digest, notices, surgery, clock, safe, stale: 0, work: 0 }
    }

    /// Up to when the hosts of a flow may be ahead of the clock if its sender acts on being told of
    /// lost bursts: before the next message, which is on its way, or comes `after` a burst that is
    /// yet to be closed.
    pub(super) fn safe_of(&self, flow: u32, after: Span) -> Time {
        let written = self.clock.saturating_add(after);
        self.safe.min(self.notices.next_loss(flow).min(written).before())
    }

    /// An event deals with so many packets, or trains of them, one by one.
    #[inline]
    pub(super) fn works(&mut self, packets: usize) {
        self.work = self.work.saturating_add(packets.try_into().unwrap_or(u32::MAX));
    }

    /// The place in the order of an instant of what happens at `place`: ties of what happens at
    /// hosts are broken by place, not by who was queued first, so that hosts may be ahead of the
    /// clock.
    #[inline]
    pub(super) fn ticket(&mut self, rank: Rank, place: Place) -> Ticket {
        if self.queue.draws_ties() { self.queue.ticket(rank) } else { place.ticket(rank) }
    }
}
