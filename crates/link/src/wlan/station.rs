//! One node: its queue, its back-off, and its knowledge of the medium.

use std::collections::VecDeque;

use burstlab_units::{Bytes, Span, Time};
use serde::{Deserialize, Serialize};

use super::air::Kind;
use super::counts::Counts;
use super::timing::Rules;

/// A packet that waits, or is being sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Queued<P> {
    /// Gone once it has reached the other side.
    pub(super) packet: Option<P>,
    pub(super) to: u32,
    pub(super) size: Bytes,
    /// Whether an RTS precedes it.
    pub(super) asks: bool,
    /// Its time on the air.
    pub(super) airtime: Span,
    pub(super) queued_at: Time,
}

/// The frame that a node sends a SIFS after one that it received.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Reply {
    pub(super) at: Time,
    pub(super) to: u32,
    pub(super) kind: Kind,
    pub(super) reserves: Span,
}

/// A node of a cell.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Station<P> {
    pub(super) queue: VecDeque<Queued<P>>,
    /// Packets that may wait behind the one being sent.
    pub(super) limit: Option<u32>,
    /// Since when the first packet of the queue is.
    pub(super) serving_since: Time,
    /// Its sequence number, and whether its data frame was sent before.
    pub(super) sequence: u16,
    pub(super) retry: bool,
    /// Failures of it that count for either limit.
    pub(super) short: u32,
    pub(super) long: u32,
    /// Contention window, in slots.
    pub(super) window: u32,
    /// Slots still to be counted; none: it may send as soon as the medium has been idle.
    pub(super) backoff: Option<u32>,
    /// Frames on the air that it senses, and the one of them that it receives.
    pub(super) sensed: u32,
    pub(super) receives: Option<u64>,
    /// When it last sensed or sent something, and whether it did not understand that.
    pub(super) free_at: Time,
    pub(super) distorted: bool,
    /// Until when others have reserved the medium.
    pub(super) reserved_until: Time,
    /// When it last waited in vain for an answer.
    pub(super) gave_up: Time,
    pub(super) sending_until: Option<Time>,
    pub(super) reply: Option<Reply>,
    /// The answer that it waits for, and until when.
    pub(super) awaits: Option<(Kind, Time)>,
    /// The last sequence number from each other node.
    pub(super) seen: Vec<Option<u16>>,
    /// Back-offs drawn, and frames sent.
    pub(super) draws: u64,
    pub(super) frames: u64,
    pub(super) counts: Counts,
}

impl<P> Station<P> {
    pub(super) fn new(nodes: u32, limit: Option<u32>, rules: &Rules) -> Self {
        Self {
            queue: VecDeque::new(),
            limit,
            serving_since: Time::ZERO,
            sequence: 0,
            retry: false,
            short: 0,
            long: 0,
            window: rules.cw_min,
            backoff: None,
            sensed: 0,
            receives: None,
            free_at: Time::ZERO,
            distorted: false,
            reserved_until: Time::ZERO,
            gave_up: Time::ZERO,
            sending_until: None,
            reply: None,
            awaits: None,
            seen: vec![None; nodes as usize],
            draws: 0,
            frames: 0,
            counts: Counts::default(),
        }
    }

    /// Whether it neither senses, sends nor waits for anything.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.sensed == 0
            && self.sending_until.is_none()
            && self.reply.is_none()
            && self.awaits.is_none()
    }

    /// How long the medium is idle before it counts slots.
    #[inline]
    fn space(&self, rules: &Rules) -> Span {
        if self.distorted { rules.eifs() } else { rules.difs }
    }

    /// From when an idle node counts slots that leaves a `space` after what it heard.
    #[inline]
    fn counts_from(&self, space: Span, rules: &Rules) -> Time {
        let waited = self.reserved_until.max(self.gave_up) + rules.difs;
        waited.max(self.free_at + space)
    }

    #[inline]
    fn sends_after(&self, space: Span, rules: &Rules) -> Time {
        let slots = u64::from(self.backoff.unwrap_or(0));
        (self.counts_from(space, rules) + rules.slot * slots).max(self.serving_since)
    }

    /// When an idle node with a packet sends, if nothing comes between.
    #[inline]
    pub(super) fn sends_at(&self, rules: &Rules) -> Time {
        self.sends_after(self.space(rules), rules)
    }

    /// An idle node senses something at `now`: counts the slots that have passed. Returns whether
    /// it has to draw a back-off.
    pub(super) fn freeze(&mut self, now: Time, rules: &Rules) -> bool {
        let from = self.counts_from(self.space(rules), rules);
        if let Some(left) = self.backoff
            && now >= from
        {
            let passed = now.since(from).as_ps() / rules.slot.as_ps();
            self.backoff = u64::from(left)
                .checked_sub(passed)
                .filter(|&left| left > 0)
                .map(|left| u32::try_from(left).expect("it is no more than it was"));
        }
        self.backoff.is_none() && !self.queue.is_empty()
    }

    /// Whether a packet that comes at `now` finds the medium busy.
    pub(super) fn finds_busy(&self, now: Time) -> bool {
        !self.is_idle() || self.reserved_until > now
    }

    /// The next of its events.
    #[inline]
    pub(super) fn next(&self, rules: &Rules) -> Time {
        let mut next = self.sending_until.unwrap_or(Time::MAX);
        if let Some((_, until)) = self.awaits {
            next = next.min(until);
        }
        if let Some(reply) = &self.reply {
            next = next.min(reply.at);
        }
        if !self.queue.is_empty() && self.is_idle() {
            next = next.min(self.sends_at(rules));
        }
        next
    }

    /// Before when nothing becomes of its packets, as far as it has sent no data frame; `now` is
    /// the last instant that was dealt with, and no data frame is shorter than `least`.
    pub(super) fn no_outcome_before(&self, now: Time, rules: &Rules, least: Span) -> Time {
        let Some(head) = self.queue.front() else { return Time::MAX };
        if let Some((kind, until)) = self.awaits {
            let short = kind == Kind::Cts || !head.asks;
            let last = if short {
                self.short + 1 >= rules.short_retries
            } else {
                self.long + 1 >= rules.long_retries
            };
            let again = now + rules.sifs + rules.rts().min(least);
            return if last { until.min(again) } else { again };
        }
        // An RTS that nobody answers may be the last try.
        let shortest = if head.asks { rules.rts().min(head.airtime) } else { head.airtime };
        match &self.reply {
            Some(reply) if reply.kind == Kind::Data => reply.at + head.airtime,
            _ if self.is_idle() => {
                // A frame that it has not understood makes it wait for longer, unless it
                // understands another one before.
                let sooner = self.sends_after(rules.difs, rules).max(now + rules.difs);
                self.sends_at(rules).min(sooner) + shortest
            }
            _ => now + rules.sifs + shortest,
        }
    }
}
