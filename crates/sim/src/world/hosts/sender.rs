//! What happens at a sender: it starts, writes, hears ACKs and notices, and times out. What it
//! sends then is in [`Hosts::sending`].

use burstlab_kernel::Rank;
use burstlab_tcp::{Sender, State, Transmission, Verdict};
use burstlab_units::{Bytes, Time};

use super::{Flow, Hosts};
use crate::measure::loss::Truth;
use crate::measure::{CwndEvent, CwndRow, LedgerKind, LedgerRow, SenderBefore, SenderNow, SentRow};
use crate::world::context::Context;
use crate::world::events::Event;
use crate::world::notices::Message;
use crate::world::packet::{AckPacket, DataPacket, stamp};
use crate::world::place::Place;
use crate::world::train::TimedTrain;

/// What came of an ACK.
pub(in crate::world) struct Heard {
    pub(in crate::world) before: SenderBefore,
    /// Whether all is acknowledged now, for the first time.
    pub(in crate::world) completed: bool,
    /// Whether the sender retransmits for an ACK that an edge node wrote.
    pub(in crate::world) by_edge: bool,
}

impl Flow {
    /// ACKs without SACK blocks will be at the sender: hears those in front that let new segments
    /// go, do nothing else, and come by `until`; returns how many. `go` takes each segment: when it
    /// goes, its number, its size, and the congestion window.
    #[inline(always)]
    pub(in crate::world) fn hear_in_order(
        &mut self,
        coming: &TimedTrain<AckPacket>,
        until: Time,
        mut go: impl FnMut(Time, u64, (Bytes, f64)),
    ) -> u32 {
        let Sender::Classic(sender) = &mut self.sender else { return 0 };
        let run = coming.run(coming.train.first.next);
        let (mut clock, most) = sender.begin_run(&run, until);
        let mut digest = self.digest.clone();
        let (mut heard, mut next, mut taken) = (run.at, run.first, 0);
        while taken < most {
            let Some(segments) = clock.take(sender, heard, next) else { break };
            digest.add(heard, 2, next);
            let mut seq = segments.start;
            while seq < segments.end {
                digest.add(heard, 1, seq);
                go(heard, seq, (sender.segment_size(seq), clock.cwnd()));
                seq += 1;
            }
            heard += run.gap;
            next += u64::from(run.step);
            taken += 1;
        }
        sender.end_run(&clock, &run, taken);
        self.digest = digest;
        taken
    }
}

impl Hosts {
    /// A connection opens; returns what the sender was before, as all of these do.
    pub(in crate::world) fn start(
        &mut self,
        now: Time,
        index: u32,
        context: &Context,
    ) -> SenderBefore {
        let before = self.before(index, context);
        self.flows[index as usize].sender.start(now, &mut self.sending);
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
        self.flows[index as usize].write(now, &mut self.sending);
        before
    }

    /// Queues the next write of the application.
    pub(in crate::world) fn schedule_write(&self, now: Time, index: u32, context: &mut Context) {
        if let Some(at) = self.flows[index as usize].next_write() {
            context.queue.push(at.max(now), Rank::Timer, Event::Write(index));
        }
    }

    /// A sender to which something is about to happen.
    #[inline]
    fn before(&self, index: u32, context: &Context) -> SenderBefore {
        self.flows[index as usize].before(context.recorder.traces_ledger())
    }

    /// What a sender sends, as a packet; what it was `before` is for the ledger.
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
        let spurious = flow.tally.spurious_retransmissions;
        let nth = flow.transmission(sent);
        if flow.tally.spurious_retransmissions > spurious {
            let kind = LedgerKind::SpuriousRetransmission;
            let row = LedgerRow::new((now, flow.id), kind, sent.seq, before);
            context.recorder.ledger(&row, &flow.causes);
        }
        let row = context.recorder.sent(now, flow.id, &SentRow::Data(sent, nth));
        let size = sent.size.get() as u32;
        let nth = u16::try_from(nth).unwrap_or(u16::MAX);
        let cwnd = match flow.sender.state() {
            State::Recovery => sent.cwnd.min(sent.ssthresh),
            _ => sent.cwnd,
        };
        flow.carry(now, sent, nth);
        flow.digest.add(now, 1, sent.seq);
        DataPacket { flow: index, nth, cwnd: stamp(cwnd), size, row, seq: sent.seq }
    }

    /// A sender has sent: sees to its timer, and to its delay where it asks for one.
    #[inline]
    pub(in crate::world) fn has_sent(&mut self, now: Time, index: u32, context: &mut Context) {
        let flow = &mut self.flows[index as usize];
        flow.arm_sender(index, context);
        if let Some(below) = flow.sender.asks_for_delay() {
            let at = flow.hold(now, below, &self.jitter);
            let ticket = context.ticket(Rank::Timer, Place::RELEASE.of(index));
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
        if flow.vacant || flow.sender.poll_release() != Some(now) {
            context.stale += 1;
            return None;
        }
        let before = flow.before(context.recorder.traces_ledger());
        flow.sender.on_release(now, &mut self.sending);
        Some(before)
    }

    /// A sender hears an ACK.
    #[inline(always)]
    pub(in crate::world) fn hear(
        &mut self,
        now: Time,
        packet: &AckPacket,
        context: &mut Context,
    ) -> Heard {
        self.hear_as::<false>(now, packet, context)
    }

    /// The same, of an ACK that came by itself or with data of the other direction.
    #[inline(always)]
    pub(super) fn hear_as<const WITH_DATA: bool>(
        &mut self,
        now: Time,
        packet: &AckPacket,
        context: &mut Context,
    ) -> Heard {
        let before = self.before(packet.flow, context);
        let flow = &mut self.flows[packet.flow as usize];
        flow.settle(now);
        flow.digest.add(now, 2, packet.next);
        context.recorder.delivered(packet.row, now);
        context.recorder.acked(flow.id, now, packet.next);
        let cuts = flow.sender.counters().fast_retransmits;
        let was = flow.window_before();
        flow.tell_truth(&before);
        let (measured, _) = flow.sender.round_trips();
        match flow.carried {
            None if WITH_DATA => {
                flow.sender.on_ack_with_data(now, &packet.ack(), &mut self.sending);
            }
            None => flow.sender.on_ack(now, &packet.ack(), &mut self.sending),
            Some(_) if WITH_DATA => flow.hear_full_aboard(now, packet, &mut self.sending),
            Some(_) => flow.hear_full(now, packet, &mut self.sending),
        }
        if context.recorder.traces_cwnd() {
            let sender = SenderNow::of(&flow.sender);
            let ack = packet.next as i64 - 1;
            let (count, last) = flow.sender.round_trips();
            let (id, event) = (flow.id, CwndEvent::Ack);
            let sample = (count > measured).then_some(last);
            let mut row = CwndRow { now, flow: id, event, ack, sample, sender };
            context.recorder.cwnd(&row);
            (row.event, row.sample) = (CwndEvent::FastRetransmit, None);
            for _ in cuts..flow.sender.counters().fast_retransmits {
                context.recorder.cwnd(&row);
            }
        }
        let repairs = flow.sender.counters().fast_retransmits > cuts;
        let after = flow.window_after(&was, &before);
        if repairs {
            flow.cut(&before);
            let by_edge = LedgerKind::EdgeRetransmit;
            let kind = if packet.written { by_edge } else { LedgerKind::FastRetransmit };
            let mut row = LedgerRow::new((now, flow.id), kind, packet.next, &before);
            row.reduction = after.reduced;
            context.recorder.ledger(&row, &flow.causes);
        }
        flow.note_window(now, &after, repairs, &before, context);
        Heard { before, completed: flow.has_completed(now), by_edge: repairs && packet.written }
    }

    /// The retransmission timer of a sender may be due.
    pub(in crate::world) fn sender_timer(
        &mut self,
        now: Time,
        index: u32,
        context: &mut Context,
    ) -> Option<SenderBefore> {
        let flow = &mut self.flows[index as usize];
        if !flow.sender_alarm_due(now) {
            context.stale += 1;
            return None;
        }
        if flow.sender.poll_timeout().is_none_or(|at| at > now) {
            context.stale += 1;
            flow.arm_sender(index, context);
            return None;
        }
        flow.settle(now.before());
        let before = flow.before(context.recorder.traces_ledger());
        let counters = *flow.sender.counters();
        let truth = flow.causes.truth(0..before.waits_until);
        flow.sender.tell(if truth == Truth::True { Verdict::True } else { Verdict::False });
        let was = flow.window_before();
        flow.sender.on_timeout(now, &mut self.sending);
        let changed = flow.window_after(&was, &before);
        flow.digest.add(now, 3, u64::from(index));
        let after = *flow.sender.counters();
        if after.timeouts > counters.timeouts {
            flow.begins_again();
            let (kind, seq) = (LedgerKind::Timeout, flow.first_missing());
            let mut row = LedgerRow::new((now, flow.id), kind, seq, &before);
            row.truth = Some(truth);
            row.reduction = changed.reduced;
            let excused = after.excused_timeouts > counters.excused_timeouts;
            flow.tally.timeouts[truth as usize][usize::from(excused)] += 1;
            row.excused = flow.detects().then_some(excused);
            let ack = flow.sender.highest_acked().map_or(-1, |seq| seq as i64);
            let sender = SenderNow::of(&flow.sender);
            let (event, id) = (CwndEvent::Timeout, flow.id);
            context.recorder.cwnd(&CwndRow { now, flow: id, event, ack, sample: None, sender });
            context.recorder.ledger(&row, &flow.causes);
        }
        let told = after.timeouts > counters.timeouts;
        flow.note_window(now, &changed, told, &before, context);
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
        let repairs = flow.sender.counters().early_repairs;
        let was = flow.window_before();
        flow.tell_truth(&before);
        let Message { notice, burst, segments, .. } = message;
        flow.sender.on_notice(now, *notice, *burst, segments, &mut self.sending);
        if flow.sender.counters().early_repairs > repairs {
            flow.begins_again();
            let (kind, seq) = (LedgerKind::EarlyRepair, flow.first_missing());
            let mut row = LedgerRow::new((now, flow.id), kind, seq, &before);
            row.reduction = flow.window_after(&was, &before).reduced;
            context.recorder.ledger(&row, &flow.causes);
        }
        before
    }
}
