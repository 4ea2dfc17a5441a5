//! Connections whose packets carry options, ahead of the clock: as long as all is in order, nothing
//! but its packets and its own timers changes a host.

use burstlab_tcp::{Ack, AckOptions, FullAck, PacketRun, SackBlocks, SegmentOptions, Transmission};
use burstlab_units::{Bytes, Time};

use super::Flow;
use crate::measure::NO_ROW;
use crate::world::packet::{AckPacket, DataPacket};
use crate::world::train::TimedTrain;

impl Flow {
    /// Whether all that an ACK does at the sender is to let new segments go, if it is in order and
    /// heard before a timer runs out.
    #[inline]
    pub(in crate::world) fn goes_straight_on_with_options(&self) -> bool {
        self.carried.is_some()
            && self.next_write().is_none()
            && self.completed.is_none()
            && !self.kind.is_by_the_clock()
    }

    /// What an ACK carries that will be at the sender at `at`, if that may be dealt with now.
    #[inline]
    pub(in crate::world) fn hears_fast(&self, at: Time, next: u64) -> Option<AckOptions> {
        let in_time = self.sender.poll_timeout().is_none_or(|due| due > at);
        let may = in_time && self.sender.takes_full_fast(next);
        let carried = self.carried.as_ref().filter(|_| may)?;
        carried.of_ack(next).filter(|options| !options.marked)
    }

    /// Takes that ACK; what the sender lets go is in `out`.
    #[inline]
    pub(in crate::world) fn hear_fast(
        &mut self,
        at: Time,
        (next, size): (u64, Bytes),
        options: &AckOptions,
        out: &mut Vec<Transmission>,
    ) {
        if let Some(carried) = &mut self.carried {
            carried.hear_in_order();
        }
        let ack = Ack { next, sack: SackBlocks::NONE, size };
        self.sender.on_full_ack_fast(at, &ack, options, out);
    }

    /// The time is `now`, at which something happens to its hosts.
    #[inline]
    pub(super) fn settle(&mut self, now: Time) {
        if let Some(carried) = &mut self.carried {
            carried.ahead.settle(now, &mut self.causes);
        }
    }

    /// Whether segment `seq`, whose last transmission is lost at `now`, is not there by then.
    pub(super) fn lacks(&mut self, now: Time, seq: u64) -> bool {
        let ahead = self.carried.as_mut().map(|carried| &mut carried.ahead);
        !self.receiver.holds(seq) || ahead.is_some_and(|ahead| ahead.misses(now, seq))
    }

    /// Until when a packet that is on its way to the receiver may be dealt with now, if it comes in
    /// order. Who asks whether a segment is there that was lost again is told the truth by
    /// [`TakenAhead`](super::taken_ahead::TakenAhead).
    #[inline]
    pub(in crate::world) fn receives_with_options_until(&self, ahead: Time) -> Time {
        let calm = self.carried.is_some()
            && self.causes.is_empty()
            && self.completed.is_none()
            && !self.kind.is_by_the_clock();
        if calm { ahead } else { Time::ZERO }
    }

    /// Segments come to the receiver: takes those in front that are in order and in time; a timer
    /// of the receiver that is due before one of them runs out first. Calls `answer` for each ACK
    /// with the time it goes. Returns how many it took.
    #[inline]
    pub(in crate::world) fn receive_fast(
        &mut self,
        (now, until): (Time, Time),
        (index, coming): (u32, &TimedTrain<DataPacket>),
        acks: &mut Vec<FullAck>,
        mut answer: impl FnMut(Time, AckPacket),
    ) -> u32 {
        let Some(mut carried) = self.carried.take() else { return 0 };
        let (packet, all) = (coming.train.first, coming.train.count);
        let count = if packet.nth == 1 && coming.train.step <= 1 { all } else { 0 };
        let bytes = Bytes::new(self.kind.data_of(packet.bytes().get()));
        let (mut at, mut seq, mut taken) = (coming.at, packet.seq, 0);
        let (mut options, mut alike, mut used) = (SegmentOptions::default(), 0, 0);
        while taken < count && at <= until && self.receiver.takes_full_fast(seq) {
            if used == alike {
                carried.data.take_alike(used);
                (options, alike) = carried.data.alike(seq).unwrap_or((options, 0));
                used = 0;
                if alike == 0 {
                    break;
                }
            }
            let due = self.receiver.poll_timeout().filter(|&due| due <= at);
            match due {
                Some(due) => self.receiver.on_full_timeout(due, acks),
                None => self.receiver.on_packet_fast(at, (seq, bytes), &options, acks),
            }
            if !acks.is_empty() {
                for (ack, options) in acks.drain(..) {
                    let nth = carried.acknowledge(&ack, options);
                    self.tally.acks_sent += 1;
                    answer(due.unwrap_or(at), AckPacket::new(index, NO_ROW, &ack).nth(nth));
                }
            }
            if due.is_none() {
                (at, seq, taken, used) = (at + coming.gap, seq + 1, taken + 1, used + 1);
            }
        }
        carried.data.take_alike(used);
        if taken > 0 && self.has_received() {
            self.received = Some(coming.at(taken - 1));
        }
        self.count(u64::from(taken), packet.bytes().get() * u64::from(taken));
        if taken > 0 {
            let run = coming.run(packet.seq);
            carried.ahead.take(now, PacketRun { count: taken, step: 1, ..run });
        }
        self.carried = Some(carried);
        taken
    }
}
