//! The effects of a dropped slot: losses, and with congestion control notifications, a lower rate,
//! and ACKs in the name of receivers.

use burstlab_kernel::Rank;
use burstlab_optical::slotted::DropCause;
use burstlab_units::Time;

use super::notice::CongestionNotice;
use super::pair::Pair;
use super::{CellSlot, InFlight, SlotNetwork};
use crate::measure::loss::{Loss, LossCause};
use crate::measure::{PacketCause, RateEvent, RateRow};
use crate::scenario::{Notification, Share};
use crate::slab::Slot;
use crate::world::context::Context;
use crate::world::core::effects::Effect;
use crate::world::core::payload::Payload;
use crate::world::events::SlotEvent;
use crate::world::packet::Packet;

impl SlotNetwork {
    /// The switch before `link` drops a cell.
    pub(super) fn drops(&mut self, slot: u64, link: u32, cell: CellSlot, context: &mut Context) {
        if self.goes_beside(slot, link, cell, context) {
            return;
        }
        let now = self.clock.start(slot);
        let fibre = &mut self.fibres[link as usize];
        let why = fibre.descriptor.drops(slot);
        let congested = why == DropCause::Congestion;
        fibre.tally.dropped[usize::from(congested)] += 1;
        let flying = self.cells.take(cell);
        self.tally.kinds[flying.kind()].dropped[usize::from(congested)] += 1;
        let (pair, hop, left) = (flying.pair, flying.hop, flying.left);
        let cause = if congested { LossCause::Congestion } else { LossCause::Contention };
        let segments = self.ends_lost((now, link), &flying, cause, context);
        if congested {
            self.notify(slot, link, (pair, hop), left, segments, context);
        }
    }

    /// A cell is lost at the node before `link`; returns the segments that are with it.
    pub(super) fn ends_lost(
        &mut self,
        (now, link): (Time, u32),
        flying: &InFlight,
        cause: LossCause,
        context: &mut Context,
    ) -> Vec<(u32, u32, u64)> {
        let ends = self.fixed.graph.link(link);
        let (node, port) = (ends.from as usize + 1, ends.to + 1);
        if context.surgery.notes_losses() {
            let what = self.happened(flying, (now, Some(cause), node));
            context.surgery.lost(what, context.now);
        }
        let &InFlight { pair, label, .. } = flying;
        context.digest.add(now, 5, label);
        let loss = Loss { cause, burst: label, node, port, at: now };
        let (mut segments, mut lost) = (Vec::new(), Payload::default());
        for piece in flying.left() {
            let whole = &mut self.pairs[pair as usize].whole;
            if piece.parts > 1 && !whole.loses(piece.number, piece.parts) {
                continue;
            }
            match piece.datagram {
                Packet::Data(packet) if packet.is_cross() => self.cross_lost += 1,
                Packet::Data(packet) => {
                    let id = self.flows.address(packet.flow()).id;
                    segments.push((packet.flow(), id, packet.seq));
                }
                Packet::Ack(_) => {}
            }
            lost.push(piece.datagram);
        }
        if !lost.is_empty() {
            self.effects.list.push(Effect::Lost(lost, loss, PacketCause::Slot));
        }
        segments
    }

    /// The edge of a slot that is lost by congestion is notified.
    fn notify(
        &mut self,
        slot: u64,
        link: u32,
        (pair, hops): (u32, u32),
        left: u64,
        segments: Vec<(u32, u32, u64)>,
        context: &mut Context,
    ) {
        let Some(dlcc) = &self.fixed.rules.dlcc else { return };
        let now = self.clock.start(slot);
        let Pair { route, ends: (edge, _), .. } = &self.pairs[pair as usize];
        let (back, edge) = (&route[..hops as usize], *edge);
        let ends = back.last().map(|&last| self.fixed.graph.link(last));
        let home = ends.and_then(|last| self.fixed.graph.link_between(last.to, last.from));
        let loss = self.fibres[link as usize].descriptor.loss_rate(slot);
        let leaves = now + dlcc.piggyback_wait;
        let left = self.clock.start(left);
        let notice = CongestionNotice { edge, left, link, loss, segments, pair, hops, leaves };
        self.tally.notifications += 1;
        match (dlcc.notification, home) {
            (Notification::Piggybacked, Some(home)) => {
                self.fibres[home as usize].waiting.push(notice);
                self.at_once |= leaves <= now;
                self.times(home, context);
            }
            _ => self.leaves_by_itself(now, notice, context),
        }
    }

    fn leaves_by_itself(&mut self, now: Time, notice: CongestionNotice, context: &mut Context) {
        let given = self.fixed.rules.dlcc.as_ref().and_then(|dlcc| dlcc.notification_delay);
        let back = &self.pairs[notice.pair as usize].route[..notice.hops as usize];
        let by_fibre = || self.fixed.fibres.signal_back(back, now);
        let at = given.map_or_else(by_fibre, |delay| now + delay);
        let slot = self.notices.keep(notice).number();
        self.at_once |= at <= now;
        context.queue.push(at, Rank::Timer, SlotEvent::CongestionNotice.of(slot));
    }

    /// Sets a timer, if there is none, where notifications wait for a slot on `link`. One that was
    /// set for notifications that are gone comes no later, and goes on from there.
    fn times(&mut self, link: u32, context: &mut Context) {
        let fibre = &mut self.fibres[link as usize];
        if let (false, Some(first)) = (fibre.timed, fibre.waiting.first()) {
            fibre.timed = true;
            let event = SlotEvent::NoticesLeave.of(link);
            context.queue.push(first.leaves, Rank::Timer, event);
        }
    }

    /// The timer of `link` is there: the notifications that have waited long enough leave.
    pub(super) fn waited(&mut self, now: Time, link: u32, context: &mut Context) {
        let fibre = &mut self.fibres[link as usize];
        fibre.timed = false;
        let due = fibre.waiting.partition_point(|notice| notice.leaves <= now);
        let leaving: Vec<CongestionNotice> = fibre.waiting.drain(..due).collect();
        context.stale += u64::from(leaving.is_empty());
        for notice in leaving {
            self.leaves_by_itself(now, notice, context);
        }
        self.times(link, context);
    }

    /// A slot leaves on `link` at `now` and takes its notifications along.
    pub(super) fn flush(&mut self, now: Time, link: u32, context: &mut Context) {
        let waiting = std::mem::take(&mut self.fibres[link as usize].waiting);
        for notice in waiting {
            self.leaves_by_itself(now, notice, context);
        }
    }

    /// The buffers of `edge` over the congested link of a notification cut their rates.
    fn cut(&mut self, now: Time, notice: &CongestionNotice, share: Share, context: &mut Context) {
        for index in 0..self.nodes[notice.edge as usize].pairs.len() {
            let number = self.nodes[notice.edge as usize].pairs[index] as usize;
            let pair = &mut self.pairs[number];
            let over = pair.route.contains(&notice.link);
            let Some(smooth) = pair.smooth.as_mut().filter(|smooth| over && smooth.holds) else {
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
            let before = smooth.rate.rate();
            smooth.rate.hears(notice.loss * part);
            let after = smooth.rate.rate();
            pair.tally.cuts += 1;
            self.paces(now, number, context);
            let loss = notice.loss * part;
            let what = (number as u32, RateEvent::Cut);
            self.records_notice(now, notice, what, [loss, before, after], context);
        }
    }

    /// Records the effect of a notification on a buffer: the loss rate, and its rates.
    fn records_notice(
        &self,
        now: Time,
        notice: &CongestionNotice,
        (number, event): (u32, RateEvent),
        [loss, before, after]: [f64; 3],
        context: &mut Context,
    ) {
        if !context.recorder.traces_packets() {
            return;
        }
        let link = self.fixed.graph.link(notice.link);
        let &Pair { ends, place, ref buffer, .. } = &self.pairs[number as usize];
        let backlog = buffer.backlog();
        let (output, asked) = ((link.from + 1, link.to + 1), f64::NAN);
        let row = RateRow { now, ends, place, event, output, loss, asked, backlog, before, after };
        context.recorder.rate(&row);
    }
}

impl SlotNetwork {
    /// A notification reaches its edge: it cuts rates, and writes ACKs in the name of receivers.
    pub(super) fn notified(
        &mut self,
        now: Time,
        slot: Slot<CongestionNotice>,
        context: &mut Context,
    ) {
        let notice = self.notices.take(slot);
        let Some(dlcc) = &self.fixed.rules.dlcc else { return };
        let (rate_cut, share) = (dlcc.rate_cut, dlcc.share);
        if let Some(reroute) = &dlcc.reroute {
            self.detours.hears(now, (notice.edge, notice.link), reroute);
        }
        self.take_in(notice.edge, self.present);
        let what = (notice.pair, RateEvent::Notified);
        self.records_notice(now, &notice, what, [notice.loss, f64::NAN, f64::NAN], context);
        if rate_cut {
            self.cut(now, &notice, share, context);
        }
        let Some(rules) = self.fixed.proxy else { return };
        for (flow, id, segment) in notice.segments {
            if !self.flows.is_there(flow, id) {
                continue;
            }
            let proxy = &mut self.known(flow, id).proxy;
            if let Some(number) = proxy.loses(now, segment, notice.left, &rules) {
                self.tally.ack_sets += 1;
                self.effects.list.push(Effect::Acknowledge(flow, number));
            }
        }
    }
}
