//! The events of a sender: it starts, writes, receives ACKs and notices, and times out. The
//! segments that it sends then are in [`Hosts::sending`].

use burstlab_kernel::Rank;
use burstlab_tcp::{State, Transmission, Verdict};
use burstlab_units::Time;

use super::Hosts;
use crate::measure::loss::Truth;
use crate::measure::{CwndEvent, CwndRow, LedgerKind, LedgerRow, SenderBefore, SenderNow, SentRow};
use crate::world::context::Context;
use crate::world::events::Event;
use crate::world::notices::Message;
use crate::world::packet::{AckPacket, DataPacket, Owner, stamp};
use crate::world::tie_key::TieKey;

/// The result of an ACK.
pub(in crate::world) struct AckOutcome {
    pub(in crate::world) before: SenderBefore,
    /// Whether all is acknowledged now, for the first time.
    pub(in crate::world) completed: bool,
    /// Whether the sender retransmits for an ACK that an edge node wrote.
    pub(in crate::world) by_edge: bool,
}

impl Hosts {
    /// A connection opens; returns the sender's state before, as all of these do.
    pub(in crate::world) fn start(
        &mut self,
        now: Time,
        index: u32,
        context: &Context,
    ) -> SenderBefore {
        let before = self.before(index, context);
        self.flows[index as usize].near.sender_mut().start(now, &mut self.sending);
        before
    }

    /// The application writes.
    pub(in crate::world) fn write(
        &mut self,
        now: Time,
        index: u32,
        context: &Context,
    ) -> SenderBefore {
        let before = self.before(index, context);
        self.flows[index as usize].near.write(now, &mut self.sending);
        before
    }

    /// Queues the next write of the application.
    pub(in crate::world) fn schedule_write(&self, now: Time, index: u32, context: &mut Context) {
        if let Some(at) = self.flows[index as usize].near.next_write() {
            context.queue.push(at.max(now), Rank::Timer, Event::Write(index));
        }
    }

    /// A sender to which something is about to happen.
    #[inline]
    fn before(&self, index: u32, context: &Context) -> SenderBefore {
        self.flows[index as usize].near.before(context.recorder.traces_ledger())
    }

    /// A segment of a sender as a packet; its state `before` is for the ledger.
    #[inline]
    pub(in crate::world) fn packet(
        &mut self,
        now: Time,
        index: u32,
        (sent, before): (&Transmission, &SenderBefore),
        context: &mut Context,
    ) -> DataPacket {
        let flow = &mut self.flows[index as usize];
        flow.settle(now.before());
        let spurious = flow.counted.spurious_retransmissions;
        let nth = flow.transmission(sent);
        if flow.counted.spurious_retransmissions > spurious {
            let kind = LedgerKind::SpuriousRetransmission;
            let row = LedgerRow::new((now, flow.id), kind, sent.seq, before);
            context.recorder.ledger(&row, &flow.causes);
        }
        let row = context.recorder.sent(now, flow.id, &SentRow::Data(sent, nth));
        let size = sent.size.get() as u32;
        let nth = u16::try_from(nth).unwrap_or(u16::MAX);
        let cwnd = match flow.near.sender().state() {
            State::Recovery => sent.cwnd.min(sent.ssthresh),
            _ => sent.cwnd,
        };
        flow.carry(now, sent, nth);
        flow.near.note(now, 1, sent.seq);
        DataPacket { owner: Owner::flow(index), nth, cwnd: stamp(cwnd), size, row, seq: sent.seq }
    }

    /// A sender has sent: sees to its timer, and to its delay where it asks for one.
    #[inline]
    pub(in crate::world) fn has_sent(&mut self, now: Time, index: u32, context: &mut Context) {
        let flow = &mut self.flows[index as usize];
        flow.near.arm(index, context);
        if let Some(below) = flow.near.sender().asks_for_delay() {
            let at = flow.near.hold(now, (below, flow.key), &self.jitter);
            let ticket = context.ticket(Rank::Timer, TieKey::RELEASE.of(index));
            context.queue.push_at(at, ticket, Event::Release(index));
        }
    }

    /// A sender has held back what it sends for long enough; `None`: that was of the connection
    /// that had the slot before.
    pub(in crate::world) fn release(
        &mut self,
        now: Time,
        index: u32,
        context: &mut Context,
    ) -> Option<SenderBefore> {
        let flow = &mut self.flows[index as usize];
        if flow.vacant || flow.near.sender().poll_release() != Some(now) {
            context.stale += 1;
            return None;
        }
        let before = flow.near.before(context.recorder.traces_ledger());
        flow.near.sender_mut().on_release(now, &mut self.sending);
        Some(before)
    }

    /// A sender hears an ACK.
    #[inline(always)]
    pub(in crate::world) fn hear(
        &mut self,
        now: Time,
        packet: &AckPacket,
        context: &mut Context,
    ) -> AckOutcome {
        self.hear_as::<false>(now, packet, context)
    }

    /// The same, of an ACK that came by itself or with data of the other direction.
    #[inline(always)]
    pub(super) fn hear_as<const WITH_DATA: bool>(
        &mut self,
        now: Time,
        packet: &AckPacket,
        context: &mut Context,
    ) -> AckOutcome {
        let before = self.before(packet.flow, context);
        let flow = &mut self.flows[packet.flow as usize];
        flow.settle(now);
        flow.near.note(now, 2, packet.next);
        context.recorder.delivered(packet.row, now);
        context.recorder.acked(flow.id, now, packet.next);
        let cuts = flow.near.sender().counters().fast_retransmits;
        let was = flow.window_before();
        flow.tell_truth(&before);
        let (measured, _) = flow.near.sender().round_trips();
        match flow.carried {
            None if WITH_DATA => {
                flow.near.sender_mut().on_ack_with_data(now, &packet.ack(), &mut self.sending);
            }
            None => flow.near.sender_mut().on_ack(now, &packet.ack(), &mut self.sending),
            Some(_) if WITH_DATA => flow.hear_full_aboard(now, packet, &mut self.sending),
            Some(_) => flow.hear_full(now, packet, &mut self.sending),
        }
        if context.recorder.traces_cwnd() {
            let (of, sender) = ((flow.id, packet.flow), flow.near.sender());
            let mut row = CwndRow::heard(now, of, packet.next, (sender, measured));
            context.recorder.cwnd(&row);
            (row.event, row.sample) = (CwndEvent::FastRetransmit, None);
            for _ in cuts..flow.near.sender().counters().fast_retransmits {
                context.recorder.cwnd(&row);
            }
        }
        let repairs = flow.near.sender().counters().fast_retransmits > cuts;
        let after = flow.window_after(&was, &before);
        if repairs {
            flow.near.cut(&before);
            let by_edge = LedgerKind::EdgeRetransmit;
            let kind = if packet.written { by_edge } else { LedgerKind::FastRetransmit };
            let mut row = LedgerRow::new((now, flow.id), kind, packet.next, &before);
            row.reduction = after.reduced;
            context.recorder.ledger(&row, &flow.causes);
        }
        flow.note_window(now, &after, repairs, &before, context);
        AckOutcome {
            before,
            completed: flow.near.has_completed(now),
            by_edge: repairs && packet.written,
        }
    }

    /// The retransmission timer of a sender may be due.
    pub(in crate::world) fn sender_timer(
        &mut self,
        now: Time,
        index: u32,
        context: &mut Context,
    ) -> Option<SenderBefore> {
        let flow = &mut self.flows[index as usize];
        if !flow.near.alarm_due(now) {
            context.stale += 1;
            return None;
        }
        if flow.near.sender().poll_timeout().is_none_or(|at| at > now) {
            context.stale += 1;
            flow.near.arm(index, context);
            return None;
        }
        flow.settle(now.before());
        let before = flow.near.before(context.recorder.traces_ledger());
        let counters = *flow.near.sender().counters();
        let truth = flow.causes.truth(0..before.waits_until);
        let verdict = if truth == Truth::True { Verdict::True } else { Verdict::False };
        flow.near.sender_mut().tell(verdict);
        let was = flow.window_before();
        flow.near.sender_mut().on_timeout(now, &mut self.sending);
        let changed = flow.window_after(&was, &before);
        flow.near.note(now, 3, u64::from(index));
        let after = *flow.near.sender().counters();
        if after.timeouts > counters.timeouts {
            flow.near.begins_again();
            let (kind, seq) = (LedgerKind::Timeout, flow.near.first_missing());
            let mut row = LedgerRow::new((now, flow.id), kind, seq, &before);
            row.truth = Some(truth);
            row.reduction = changed.reduced;
            let excused = after.excused_timeouts > counters.excused_timeouts;
            flow.counted.timeouts[truth as usize][usize::from(excused)] += 1;
            row.excused = flow.kind.detects.then_some(excused);
            let ack = flow.near.sender().highest_acked().map_or(-1, |seq| seq as i64);
            let sender = SenderNow::of(flow.near.sender());
            let (event, id, slot) = (CwndEvent::Timeout, flow.id, index);
            let window = CwndRow { now, flow: id, slot, event, ack, sample: None, sender };
            context.recorder.cwnd(&window);
            context.recorder.ledger(&row, &flow.causes);
        }
        let recorded = after.timeouts > counters.timeouts;
        flow.note_window(now, &changed, recorded, &before, context);
        Some(before)
    }

    /// A message of a node reaches its sender.
    pub(in crate::world) fn notice(
        &mut self,
        now: Time,
        message: &Message,
        context: &mut Context,
    ) -> SenderBefore {
        let before = self.before(message.flow, context);
        let flow = &mut self.flows[message.flow as usize];
        flow.settle(now);
        let repairs = flow.near.sender().counters().early_repairs;
        let was = flow.window_before();
        flow.tell_truth(&before);
        let Message { notice, burst, segments, .. } = message;
        flow.near.sender_mut().on_notice(now, *notice, *burst, segments, &mut self.sending);
        if flow.near.sender().counters().early_repairs > repairs {
            flow.near.begins_again();
            let (kind, seq) = (LedgerKind::EarlyRepair, flow.near.first_missing());
            let mut row = LedgerRow::new((now, flow.id), kind, seq, &before);
            row.reduction = flow.window_after(&was, &before).reduced;
            context.recorder.ledger(&row, &flow.causes);
        }
        before
    }
}
