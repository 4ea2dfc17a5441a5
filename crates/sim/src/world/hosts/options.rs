//! Options of a connection's packets beyond the common header: time stamps, flags, marks, a window.
//! They stand in a table of the flow, so that packets of other connections are no larger.

use burstlab_kernel::Stream;
use burstlab_tcp::{AckOptions, SegmentOptions, SentRun, Transmission};
use burstlab_units::{Bytes, Time};
use serde::{Deserialize, Serialize};

use super::option_table::OptionTable;
use super::{Flow, Hosts};
use crate::measure::SentRow;
use crate::world::context::Context;
use crate::world::packet::{AckPacket, DataPacket};

/// The verdict of a queue that marks on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::world) enum Verdict {
    Passes,
    Marked,
    /// It is not ECN-capable, and would be marked if it were.
    Dropped,
}

/// The options in flight of one connection.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::world) struct CarriedOptions {
    pub(super) data: OptionTable<SegmentOptions>,
    acks: OptionTable<AckOptions>,
    /// The options of the last ACK that came with data of the other direction.
    piggybacked: AckOptions,
    /// The segment that the last ACK asked for, and how many ACKs have.
    asked: (u64, u16),
    /// Marks made.
    pub(in crate::world) marks: u64,
}

impl CarriedOptions {
    /// A segment is sent.
    pub(in crate::world) fn send(&mut self, seq: u64, nth: u16, options: SegmentOptions) {
        self.data.put(seq, nth, options);
    }

    /// Segments are sent for the first time.
    #[inline(always)]
    pub(super) fn send_run(&mut self, run: &SentRun) {
        let &SentRun { first, count, pushes, options, .. } = run;
        if options.flags.reduced || pushes {
            return self.send_unlike(run);
        }
        self.data.put_run(first, count, options);
    }

    /// The same where the first one is not like those behind it, or the last like those before.
    fn send_unlike(&mut self, run: &SentRun) {
        for nth in 0..run.count {
            let mut options = run.options;
            options.flags.reduced &= nth == 0;
            options.flags.push = run.pushes && nth + 1 == run.count;
            self.data.put(run.first + u64::from(nth), 1, options);
        }
    }

    /// The options of a data packet, which is there or lost.
    pub(in crate::world) fn take(&mut self, seq: u64, nth: u16) -> Option<SegmentOptions> {
        self.data.take(seq, nth)
    }

    /// A queue would mark a packet; returns whether it may.
    pub(in crate::world) fn mark(&mut self, seq: u64, nth: u16) -> bool {
        self.data.change(seq, nth, |options| {
            options.marked |= options.flags.markable;
            options.flags.markable
        })
    }

    /// An ACK is sent; returns which of those for this segment it is.
    #[inline(always)]
    pub(super) fn acknowledge(&mut self, next: u64, options: AckOptions) -> u16 {
        let (before, count) = self.asked;
        self.asked = match next == before {
            true => (next, count.wrapping_add(1).max(1)),
            false => (next, 1),
        };
        self.acks.put(next, self.asked.1, options);
        self.asked.1
    }

    /// The options of the ACK for a segment that comes next, if it comes in order.
    #[inline(always)]
    pub(super) fn of_ack(&self, next: u64) -> Option<AckOptions> {
        self.acks.get(next)
    }

    /// That ACK is at its sender.
    #[inline(always)]
    pub(super) fn hear_in_order(&mut self) {
        self.acks.take_first();
    }

    /// An ACK for `next` is at its sender with data of the other direction.
    pub(super) fn on_piggybacked_ack(&mut self, next: u64, options: AckOptions) {
        self.acks.forget_below(next);
        self.piggybacked = options;
    }

    /// The options of an ACK that is at its sender: those of ACKs that it overtook no longer count.
    pub(in crate::world) fn hear(&mut self, next: u64, nth: u16) -> Option<AckOptions> {
        let options = self.acks.take(next, nth);
        self.acks.forget_below(next);
        options
    }
}

impl Flow {
    /// Records the options of a segment that is sent now.
    #[inline]
    pub(in crate::world) fn carry(&mut self, now: Time, sent: &Transmission, nth: u16) {
        if let Some(carried) = &mut self.carried {
            carried.send(sent.seq, nth, self.near.sender().options(now, sent));
        }
    }

    /// A queue marks a packet, if it may.
    pub(in crate::world) fn mark(&mut self, packet: &DataPacket) -> bool {
        if let Some(stack) = &mut self.stack {
            return stack.mark(packet.seq);
        }
        let Some(carried) = &mut self.carried else { return false };
        let marked = carried.mark(packet.seq, packet.nth);
        carried.marks += u64::from(marked);
        marked
    }

    /// The sender of a connection with options hears an ACK.
    pub(super) fn hear_full(&mut self, now: Time, ack: &AckPacket, out: &mut Vec<Transmission>) {
        let carried = self.carried.as_mut().and_then(|one| one.hear(ack.next, ack.nth));
        self.hears_alone(now, ack.next);
        match carried {
            Some(options) => self.near.sender_mut().on_full_ack(now, &ack.ack(), &options, out),
            None => self.near.sender_mut().on_ack(now, &ack.ack(), out),
        }
    }

    /// The same, of an ACK that came with data.
    pub(super) fn hear_full_aboard(
        &mut self,
        now: Time,
        ack: &AckPacket,
        out: &mut Vec<Transmission>,
    ) {
        let options = self.carried.as_ref().map(|one| one.piggybacked).unwrap_or_default();
        self.near.sender_mut().on_full_ack_with_data(now, &ack.ack(), &options, out);
    }

    /// The verdict on a packet of a queue that marks with this chance, and may drop a packet in
    /// place of that.
    fn draws_mark(
        &mut self,
        (chance, drops): (f64, bool),
        packet: &DataPacket,
        draws: &Stream,
    ) -> Verdict {
        let markable = self.carried.is_some() || self.stack.is_some();
        if chance <= 0.0 || !markable && !drops {
            return Verdict::Passes;
        }
        if chance < 1.0 {
            let drawn = match &mut self.stack {
                Some(stack) => stack.draws(),
                None => {
                    self.mark_draws = self.mark_draws.wrapping_add(1);
                    u64::from(self.mark_draws.wrapping_sub(1))
                }
            };
            let ordinal = u64::from(self.id) << 32 | drawn;
            if draws.uniforms(ordinal)[0] >= chance {
                return Verdict::Passes;
            }
        }
        match self.mark(packet) {
            true => Verdict::Marked,
            false if drops => Verdict::Dropped,
            false => Verdict::Passes,
        }
    }
}

impl Hosts {
    /// The verdict on a packet of a queue that marks with this chance, and may drop a packet in
    /// place of that.
    pub(in crate::world) fn draws_mark(
        &mut self,
        rule: (f64, bool),
        packet: &DataPacket,
    ) -> Verdict {
        self.flows[packet.flow as usize].draws_mark(rule, packet, &self.marks)
    }

    /// A data packet of a connection with options is at its receiver; returns the first ACK that is
    /// sent now, and keeps those behind it.
    pub(super) fn receive_full(
        &mut self,
        now: Time,
        packet: &DataPacket,
        context: &mut Context,
    ) -> Option<AckPacket> {
        let flow = &mut self.flows[packet.flow as usize];
        let carried = flow.carried.as_mut().and_then(|one| one.take(packet.seq, packet.nth));
        let probe = carried.is_some_and(|options| options.flags.probe);
        let again = packet.nth > 1 || flow.far.receiver().next() == 0 || probe;
        let handshake = packet.seq == 0 && !again;
        if handshake {
            flow.far.receiver_mut().on_handshake(now);
        } else {
            let bytes = flow.kind.data_of(u64::from(packet.size));
            let data = (packet.seq, Bytes::new(if packet.seq == 0 { 0 } else { bytes }));
            let next = flow.far.receiver().next();
            let options = carried.unwrap_or_default();
            flow.far.receiver_mut().on_packet(now, data, &options, &mut self.full_acks);
            flow.has_taken(now, next);
        }
        self.answer_full(now, packet.flow, context)
    }

    /// A timer of the receiver of a connection with options is due.
    pub(super) fn full_timer(
        &mut self,
        now: Time,
        index: u32,
        context: &mut Context,
    ) -> Option<AckPacket> {
        self.flows[index as usize].far.receiver_mut().on_full_timeout(now, &mut self.full_acks);
        self.answer_full(now, index, context)
    }

    /// The ACKs of a receiver as packets: returns the first.
    pub(super) fn answer_full(
        &mut self,
        now: Time,
        index: u32,
        context: &mut Context,
    ) -> Option<AckPacket> {
        let flow = &mut self.flows[index as usize];
        flow.far.arm(index, context);
        let mut first = None;
        for (ack, options) in self.full_acks.drain(..) {
            let sent = SentRow::Ack(&ack, Some(options.window));
            let row = context.recorder.sent(now, flow.id, &sent);
            let nth = flow.carried.as_mut().map_or(0, |one| one.acknowledge(ack.next, options));
            let packet = AckPacket::new(index, row, &ack).nth(nth);
            match first {
                None => first = Some(packet),
                Some(_) => self.more_acks.push(packet),
            }
        }
        first
    }
}
