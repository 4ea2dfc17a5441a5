//! State that every part of the world may use: the order of events, the recording, the counts.

use burstlab_kernel::{EventQueue, Rank, Ticket};
use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use super::ahead::policy::Lookahead;
use super::events::Event;
use super::notices::{NextMessage, Notices};
use super::phase::RunPhase;
use super::surgery::Surgery;
use super::tie_key::TieKey;
use crate::measure::{Digest, Recorder};

/// State that every part of the world may use.
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
    pub(super) now: Time,
    /// Which part of the run goes on.
    pub(super) phase: RunPhase,
    /// How far hosts and bursts may be ahead of it.
    pub(super) ahead: Lookahead,
    /// Alarms that came before their time, or too late.
    pub(super) stale: u64,
    /// The extra work of events beyond that of one event: batches that were looked at, bursts
    /// closed. Not stored: each call of `advance` counts from 0.
    #[serde(skip)]
    pub(super) work: u32,
}

impl Context {
    pub(super) fn new(
        queue: EventQueue<Event>,
        recorder: Recorder,
        notices: Notices,
        surgery: Surgery,
        ahead: Lookahead,
    ) -> Self {
        let (digest, now, phase) = (Digest::default(), Time::ZERO, RunPhase::WarmUp);
        Self { queue, recorder, digest, notices, surgery, now, phase, ahead, stale: 0, work: 0 }
    }

    /// The next message about a lost burst to the sender of a flow.
    #[inline(always)]
    pub(super) fn next_message(&self, flow: u32) -> NextMessage<'_> {
        self.notices.next_message(flow, self.now)
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
    pub(super) fn ticket(&mut self, rank: Rank, place: TieKey) -> Ticket {
        if self.queue.draws_ties() { self.queue.ticket(rank) } else { place.ticket(rank) }
    }
}
