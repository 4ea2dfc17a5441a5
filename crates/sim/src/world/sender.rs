//! What happens at a sender: it starts, writes, hears ACKs and notices, and times out.

use burstlab_kernel::Rank;
use burstlab_tcp::{State, Transmission, Verdict};
use burstlab_units::Time;

use super::causes::{Loss, LossCause, Truth};
use super::optics::Optics;
use super::packet::{AckPacket, DataPacket, stamp};
use super::place::Place;
use super::{Event, World};
use crate::measure::{
    CwndEvent, CwndRow, LedgerKind, LedgerRow, PacketCause, SenderBefore, SentRow,
};

impl World {
    pub(super) fn start(&mut self, index: u32) {
        let mut sending = std::mem::take(&mut self.sending);
        let before = self.before(index);
        let flow = &mut self.flows[index as usize];
        flow.sender.start(self.now, &mut sending);
        self.transmit(index, sending, &before);
        self.schedule_write(index);
    }

    fn schedule_write(&mut self, index: u32) {
        let flow = &self.flows[index as usize];
        if let Some(at) = flow.next_write() {
            self.context.queue.push(at.max(self.now), Rank::Timer, Event::Write(index));
        }
    }

    pub(super) fn write(&mut self, index: u32) {
        let mut sending = std::mem::take(&mut self.sending);
        let before = self.before(index);
        self.flows[index as usize].write(self.now, &mut sending);
        self.transmit(index, sending, &before);
        self.schedule_write(index);
    }

    /// A sender to which something is about to happen.
    #[inline]
    fn before(&self, index: u32) -> SenderBefore {
        self.flows[index as usize].before(self.context.recorder.traces_ledger())
    }

    /// Puts what a sender sends on its access link, and sees to its timer; what it was `before` is
    /// for the ledger.
    #[inline]
    fn transmit(&mut self, index: u32, mut sending: Vec<Transmission>, before: &SenderBefore) {
        let link = self.near_link(index);
        let now = self.now;
        self.context.work += sending.len() as u32;
        for sent in sending.drain(..) {
            let flow = &mut self.flows[index as usize];
            let spurious = flow.tally.spurious_retransmissions;
            let nth = flow.transmission(&sent);
            if flow.tally.spurious_retransmissions > spurious {
                let kind = LedgerKind::SpuriousRetransmission;
                let row = LedgerRow::new((now, flow.id), kind, sent.seq, before);
                self.context.recorder.ledger(&row, &flow.causes);
            }
            let row = self.context.recorder.sent(now, flow.id, &SentRow::Data(&sent, nth));
            let size = sent.size.get() as u32;
            let nth = u16::try_from(nth).unwrap_or(u16::MAX);
            let cwnd = match flow.sender.state() {
                State::Recovery => sent.cwnd.min(sent.ssthresh),
                State::SlowStart | State::CongestionAvoidance => sent.cwnd,
            };
            let cwnd = stamp(cwnd);
            flow.digest.add(now, 1, sent.seq);
            let packet = DataPacket { flow: index, nth, cwnd, size, row, seq: sent.seq };
            if self.is_on_air(index, 0) {
                self.data_on_air(packet);
            } else {
                self.send(now, link, packet);
            }
        }
        self.sending = sending;
        let flow = &mut self.flows[index as usize];
        flow.arm_sender(index, &mut self.context);
        if let Some(below) = flow.sender.asks_for_delay() {
            let at = flow.hold(now, below, &self.jitter);
            let ticket = self.context.ticket(Rank::Timer, Place::RELEASE.of(index));
            self.context.queue.push_at(at, ticket, Event::Release(index));
        }
    }

    /// A sender has held back what it sends for long enough.
    pub(super) fn release(&mut self, index: u32) {
        let flow = &mut self.flows[index as usize];
        if flow.vacant || flow.sender.poll_release() != Some(self.now) {
            // It was of the connection that had the slot before.
            self.context.stale += 1;
            return;
        }
        let mut sending = std::mem::take(&mut self.sending);
        let before = flow.before(self.context.recorder.traces_ledger());
        flow.sender.on_release(self.now, &mut sending);
        self.transmit(index, sending, &before);
    }

    /// Puts a packet on its sender's access link at `now`, which may be ahead of the clock.
    #[inline]
    pub(super) fn send(&mut self, now: Time, link: u32, packet: DataPacket) {
        let flow = &mut self.flows[packet.flow as usize];
        let access = &mut self.data_up[link as usize];
        let Some(at) = access.wire.send(now, packet.bytes()) else {
            flow.lose(packet.transmission(), Loss::at_access(LossCause::SenderAccess, now));
            self.sender_drops += 1;
            self.context.recorder.lost(packet.row, PacketCause::Overflow);
            return;
        };
        match &mut self.optics {
            Optics::Mesh(mesh) if mesh.expects_data() => {
                mesh.expect_data(at, packet, flow, &mut self.context);
            }
            _ => {
                let ticket = self.context.ticket(Rank::Arrival, Place::DATA_UP.of(link));
                let (queue, event) = (&mut self.context.queue, Event::DataAtIngress(link));
                access.lane.push_in(queue, at, ticket, event, packet);
            }
        }
    }

    /// An ACK is at its sender, or at the base station of it.
    #[inline]
    pub(super) fn ack_at_sender(&mut self, link: u32) {
        let event = Event::AckAtSender(link);
        let packet = self.ack_down[link as usize].lane.pop(&mut self.context.queue, event);
        if self.is_on_air(packet.flow, 0) {
            self.ack_at_base(packet);
        } else {
            self.hear(packet);
        }
    }

    /// A sender hears an ACK.
    #[inline(always)]
    pub(super) fn hear(&mut self, packet: AckPacket) {
        let now = self.now;
        let mut sending = std::mem::take(&mut self.sending);
        let before = self.before(packet.flow);
        let flow = &mut self.flows[packet.flow as usize];
        flow.digest.add(now, 2, packet.next);
        self.context.recorder.delivered(packet.row, now);
        self.context.recorder.acked(flow.id, now, packet.next);
        let cuts = flow.sender.counters().fast_retransmits;
        let (measured, _) = flow.sender.round_trips();
        flow.sender.on_ack(now, &packet.ack(), &mut sending);
        if self.context.recorder.traces_cwnd() {
            let sender = &flow.sender;
            let ack = packet.next as i64 - 1;
            let (count, last) = sender.round_trips();
            let (flow, event) = (flow.id, CwndEvent::Ack);
            let sample = (count > measured).then_some(last);
            let mut row = CwndRow { now, flow, event, ack, sample, sender };
            self.context.recorder.cwnd(&row);
            (row.event, row.sample) = (CwndEvent::FastRetransmit, None);
            for _ in cuts..sender.counters().fast_retransmits {
                self.context.recorder.cwnd(&row);
            }
        }
        if flow.sender.counters().fast_retransmits > cuts {
            flow.cut(&before);
            let by_edge = LedgerKind::EdgeRetransmit;
            let kind = if packet.written { by_edge } else { LedgerKind::FastRetransmit };
            let row = LedgerRow::new((now, flow.id), kind, packet.next, &before);
            self.context.recorder.ledger(&row, &flow.causes);
            if let (true, Optics::Ops(ops)) = (packet.written, &mut self.optics) {
                ops.tally.retransmissions += 1;
            }
        }
        let completed = flow.has_completed(now);
        if completed {
            self.active -= 1;
        }
        self.transmit(packet.flow, sending, &before);
        if completed {
            self.leave(packet.flow);
        }
    }

    /// As [`ack_at_sender`](Self::ack_at_sender), for an ACK after which the sender goes straight
    /// on, at `now`, which may be ahead of the clock.
    #[inline]
    pub(super) fn hear_in_stride(&mut self, now: Time, ack: &AckPacket) {
        let index = ack.flow as usize;
        let link = self.near_link(ack.flow);
        let mut new = std::mem::take(&mut self.released);
        let flow = &mut self.flows[index];
        let mut digest = flow.digest.clone();
        for seq in flow.go_on(now, ack.next, &mut digest) {
            digest.add(now, 1, seq);
            let size = flow.sender.segment_size(seq);
            new.push(DataPacket::first(ack.flow, seq, size, flow.sender.cwnd()));
        }
        flow.digest = digest;
        flow.arm_sender(ack.flow, &mut self.context);
        for packet in new.drain(..) {
            self.send(now, link, packet);
        }
        self.released = new;
    }

    pub(super) fn sender_timer(&mut self, index: u32) {
        let flow = &mut self.flows[index as usize];
        if !flow.sender_alarm_due(self.now) {
            self.context.stale += 1;
            return;
        }
        if flow.sender.poll_timeout().is_some_and(|at| at <= self.now) {
            let mut sending = std::mem::take(&mut self.sending);
            let before = flow.before(self.context.recorder.traces_ledger());
            let counters = *flow.sender.counters();
            let truth = flow.causes.truth(0..before.waits_until);
            flow.sender.tell(if truth == Truth::True { Verdict::True } else { Verdict::False });
            flow.sender.on_timeout(self.now, &mut sending);
            flow.digest.add(self.now, 3, u64::from(index));
            let after = *flow.sender.counters();
            if after.timeouts > counters.timeouts {
                flow.begins_again();
                let (kind, seq) = (LedgerKind::Timeout, flow.first_missing());
                let mut row = LedgerRow::new((self.now, flow.id), kind, seq, &before);
                row.truth = Some(truth);
                let excused = after.excused_timeouts > counters.excused_timeouts;
                flow.tally.timeouts[truth as usize][usize::from(excused)] += 1;
                row.excused = flow.detects().then_some(excused);
                let ack = flow.sender.highest_acked().map_or(-1, |seq| seq as i64);
                let (sender, event) = (&flow.sender, CwndEvent::Timeout);
                let (now, flow_id) = (self.now, flow.id);
                let cwnd = CwndRow { now, flow: flow_id, event, ack, sample: None, sender };
                self.context.recorder.cwnd(&cwnd);
                self.context.recorder.ledger(&row, &flow.causes);
            }
            self.transmit(index, sending, &before);
        } else {
            self.context.stale += 1;
            flow.arm_sender(index, &mut self.context);
        }
    }

    /// A message reaches the sender's access link, or the sender itself.
    pub(super) fn notice(&mut self, slot: u32) {
        let mut message = self.context.notices.take(slot);
        let index = message.flow;
        if self.flows[index as usize].id != message.id {
            return;
        }
        if message.in_band {
            let link = self.near_link(index);
            match self.ack_down[link as usize].wire.send(self.now, self.notice_size) {
                Some(at) => {
                    message.in_band = false;
                    let slot = self.context.notices.keep(message);
                    self.context.queue.push(at, Rank::Arrival, Event::Notice(slot));
                }
                None => self.context.notices.lost += 1,
            }
            return;
        }
        let mut sending = std::mem::take(&mut self.sending);
        let before = self.before(index);
        let flow = &mut self.flows[index as usize];
        let repairs = flow.sender.counters().early_repairs;
        let segments = &message.segments;
        flow.sender.on_notice(self.now, message.notice, message.burst, segments, &mut sending);
        if flow.sender.counters().early_repairs > repairs {
            flow.begins_again();
            let (kind, seq) = (LedgerKind::EarlyRepair, flow.first_missing());
            let row = LedgerRow::new((self.now, flow.id), kind, seq, &before);
            self.context.recorder.ledger(&row, &flow.causes);
        }
        self.transmit(index, sending, &before);
    }
}
