//! What a dropped slot brings about: losses, and with congestion control notifications, a lower
//! rate, and ACKs in the name of receivers.

use burstlab_kernel::Rank;
use burstlab_optical::slotted::DropCause;
use burstlab_tcp::{Ack, SackBlocks, Transmission};
use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::super::causes::{Loss, LossCause};
use super::super::flow::Flow;
use super::super::packet::AckPacket;
use super::super::{Context, Event, Optics, World};
use super::{InFlight, Load, Ops};
use crate::measure::{NO_BURST, PacketCause, SentRow};
use crate::scenario::{Notification, Share};

/// ACKs of a set: one that may be new to the sender, and three that repeat it.
const ACKS: usize = 4;

/// A notification of a slot lost by congestion.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Notice {
    /// The edge that sent the slot, and when.
    edge: u32,
    left: Time,
    /// The congested link and its loss rate.
    link: u32,
    loss: f64,
    /// Segments that were in the slot: slot of the flow, its number, the segment.
    segments: Vec<(u32, u32, u64)>,
    /// Time from the drop to the edge.
    delay: Span,
    /// When it leaves by itself at the latest.
    leaves: Time,
}

impl Ops {
    /// The switch before `link` drops a cell.
    pub(super) fn drops(
        &mut self,
        slot: u64,
        link: u32,
        cell: u32,
        context: &mut Context,
        flows: &mut [Flow],
    ) {
        let now = self.clock.start(slot);
        let fibre = &mut self.fibres[link as usize];
        let why = fibre.descriptor.drops(slot);
        let congested = why == DropCause::Congestion;
        fibre.tally.dropped[usize::from(congested)] += 1;
        let flying = self.cells.take(cell);
        self.tally.kinds[flying.kind()].dropped[usize::from(congested)] += 1;
        let InFlight { cell, pair, hop, number, left } = flying;
        context.digest.add(now, 5, number);
        let ends = self.fixed.graph.link(link);
        let cause = if congested { LossCause::Congestion } else { LossCause::Contention };
        let (node, port) = (ends.from as usize + 1, ends.to + 1);
        let loss = Loss { cause, burst: number, node, port, at: now };
        let mut segments = Vec::new();
        for piece in cell.pieces() {
            let whole = &mut self.pairs[pair as usize].whole;
            if piece.parts > 1 && !whole.loses(piece.number, piece.parts) {
                continue;
            }
            context.recorder.lost(piece.datagram.row(), PacketCause::Slot);
            match piece.datagram {
                Load::Data(packet) if packet.is_other() => self.others_lost += 1,
                Load::Data(packet) => {
                    let flow = &mut flows[packet.flow as usize];
                    flow.lose(packet.transmission(), loss);
                    segments.push((packet.flow, flow.id, packet.seq));
                }
                Load::Ack(packet) => flows[packet.flow as usize].tally.acks_lost += 1,
            }
        }
        if congested {
            self.notify(slot, link, (pair, hop), left, segments, context);
        }
    }

    /// The edge of a slot that is lost by congestion is told.
    fn notify(
        &mut self,
        slot: u64,
        link: u32,
        (pair, hop): (u32, u32),
        left: u64,
        segments: Vec<(u32, u32, u64)>,
        context: &mut Context,
    ) {
        let Some(dlcc) = &self.fixed.rules.dlcc else { return };
        let now = self.clock.start(slot);
        let pair = &self.pairs[pair as usize];
        let back = &pair.route[..hop as usize];
        let delay = dlcc.notification_delay.unwrap_or_else(|| self.fixed.graph.delay(back));
        let ends = back.last().map(|&last| self.fixed.graph.link(last));
        let home = ends.and_then(|last| self.fixed.graph.link_between(last.to, last.from));
        let loss = self.fibres[link as usize].descriptor.loss_rate(slot);
        let (edge, leaves) = (pair.ends.0, now + dlcc.piggyback_wait);
        let left = self.clock.start(left);
        let notice = Notice { edge, left, link, loss, segments, delay, leaves };
        self.tally.notifications += 1;
        match (dlcc.notification, home) {
            (Notification::Piggybacked, Some(home)) => {
                let waiting = &mut self.fibres[home as usize].waiting;
                waiting.push(notice);
                if waiting.len() == 1 {
                    let event = Event::NoticesLeave(home);
                    context.queue.push(leaves, Rank::Timer, event);
                }
            }
            _ => self.leaves_by_itself(now, notice, context),
        }
    }

    fn leaves_by_itself(&mut self, now: Time, notice: Notice, context: &mut Context) {
        let at = now + notice.delay;
        let slot = self.free_notices.pop().unwrap_or_else(|| {
            self.notices.push(None);
            self.notices.len() as u32 - 1
        });
        self.notices[slot as usize] = Some(notice);
        context.queue.push(at, Rank::Timer, Event::CongestionNotice(slot));
    }

    /// A slot leaves on `link` at `now`, or its notifications have waited long enough: they leave.
    pub(super) fn flush(&mut self, now: Time, link: u32, context: &mut Context) {
        let waiting = std::mem::take(&mut self.fibres[link as usize].waiting);
        for notice in waiting {
            self.leaves_by_itself(now, notice, context);
        }
    }

    /// The buffers of `edge` over the congested link of a notification cut their rates.
    fn cut(&mut self, now: Time, notice: &Notice, share: Share, context: &mut Context) {
        for index in 0..self.nodes[notice.edge as usize].pairs.len() {
            let number = self.nodes[notice.edge as usize].pairs[index] as usize;
            let pair = &mut self.pairs[number];
            let Some(smooth) = pair.smooth.as_mut().filter(|_| pair.route.contains(&notice.link))
            else {
                continue;
            };
            let part = match share {
                Share::Full => 1.0,
                Share::Proportional => {
                    smooth.rate.scheduled() / self.admission.granted(notice.link)
                }
            };
            if !smooth.rate.is_frozen() {
                smooth.mark = pair.buffer.bytes() as f64 * 8.0;
            }
            smooth.rate.hears(notice.loss * part);
            pair.tally.cuts += 1;
            self.paces(now, number, context);
        }
    }
}

impl World {
    /// A notification reaches its edge.
    pub(in crate::world) fn notified(&mut self, slot: u32) {
        let Optics::Ops(ops) = &mut self.optics else { return };
        ops.free_notices.push(slot);
        let notice = ops.notices[slot as usize].take().expect("a notification arrives once");
        let Some(dlcc) = ops.fixed.rules.dlcc.clone() else { return };
        if dlcc.rate_cut {
            ops.cut(self.now, &notice, dlcc.share, &mut self.context);
        }
        let Some(rules) = ops.fixed.proxy else { return };
        for (index, id, segment) in notice.segments {
            let flow = &mut self.flows[index as usize];
            let ops = self.optics.ops();
            if flow.id != id || flow.vacant {
                continue;
            }
            let proxy = &mut ops.known(index, id).proxy;
            let Some(number) = proxy.loses(self.now, segment, notice.left, &rules) else {
                continue;
            };
            ops.tally.ack_sets += 1;
            flow.tally.acks_sent += ACKS as u64;
            let size = flow.receiver.ack_size();
            let ack = Ack { next: number, sack: SackBlocks::NONE, size };
            for _ in 0..ACKS {
                let row = self.context.recorder.sent(self.now, id, &SentRow::Ack(&ack));
                self.ack_on_link(self.now, AckPacket::of_edge(index, row, number, size));
            }
        }
    }

    /// An ACK of a receiver is at the edge of its sender at `at`.
    #[inline]
    pub(super) fn ack_home(&mut self, at: Time, packet: AckPacket) {
        let Optics::Ops(ops) = &mut self.optics else { return };
        let flow = &mut self.flows[packet.flow as usize];
        let Some(rules) = ops.fixed.proxy else { return self.ack_on_link(at, packet) };
        let passed = ops.known(packet.flow, flow.id).proxy.passes(at, packet.next, &rules);
        if let Some(mut copy) = passed.copy {
            ops.tally.copies += 1;
            let nth = flow.copied(copy.seq);
            copy.nth = u16::try_from(nth).unwrap_or(u16::MAX);
            let (none, size) = (f64::NAN, copy.bytes());
            let sent = Transmission {
                seq: copy.seq,
                size,
                retransmission: true,
                cwnd: none,
                ssthresh: none,
            };
            copy.row = self.context.recorder.sent(at, flow.id, &SentRow::Data(&sent, nth));
            self.context.recorder.joined(copy.row, at, NO_BURST);
            let ends = (flow.from, flow.to);
            ops.enters(at, ends, Load::Data(copy), copy.size, &mut self.context);
        }
        if !passed.on {
            ops.tally.filtered += 1;
            flow.tally.acks_lost += 1;
            self.context.recorder.lost(packet.row, PacketCause::Filtered);
            return;
        }
        self.ack_on_link(at, packet);
    }
}
