//! Connections whose packets carry options, ahead of the clock: as long as all is in order, nothing
//! but its packets and its own timers changes a host.

use std::ops::Range;

use burstlab_tcp::{
    Ack, AckOptions, FullAck, Outlet, PacketRun, SackBlocks, SentRun, Transmission, Wires,
};
use burstlab_units::{Bytes, Time};

use super::Flow;
use super::options::CarriedOptions;
use crate::measure::Digest;
use crate::world::packet::DataPacket;
use crate::world::train::TimedTrain;

/// What ACKs carry that come to a sender and segments that go, and what is noted of both.
struct Carrying<'a, F> {
    carried: &'a mut CarriedOptions,
    digest: &'a mut Digest,
    short: Option<(u64, Bytes)>,
    /// Takes segments of one size: their numbers, the size, and the congestion window.
    go: F,
}

impl<F: FnMut(Time, Range<u64>, (Bytes, f64))> Outlet for Carrying<'_, F> {
    #[inline(always)]
    fn put(&mut self, now: Time, run: &SentRun) {
        self.carried.send_run(run);
        let end = run.first + u64::from(run.count);
        for seq in run.first..end {
            self.digest.add(now, 1, seq);
        }
        let cwnd = f64::from(run.cwnd);
        match self.short.filter(|(seq, _)| (run.first..end).contains(seq)) {
            None => (self.go)(now, run.first..end, (run.size, cwnd)),
            Some((seq, size)) => {
                (self.go)(now, run.first..seq, (run.size, cwnd));
                (self.go)(now, seq..seq + 1, (size, cwnd));
                (self.go)(now, seq + 1..end, (run.size, cwnd));
            }
        }
    }
}

impl<F: FnMut(Time, Range<u64>, (Bytes, f64))> Wires for Carrying<'_, F> {
    #[inline(always)]
    fn carried(&self, next: u64) -> Option<AckOptions> {
        self.carried.of_ack(next).filter(|options| !options.marked)
    }

    #[inline(always)]
    fn hear(&mut self, now: Time, next: u64) {
        self.digest.add(now, 2, next);
        self.carried.hear_in_order();
    }
}

/// Where the ACKs of a receiver go.
pub(in crate::world) trait AckOutlet {
    /// Takes one without SACK blocks, of the usual size, that asks for `next`, as the `nth` one.
    fn plain(&mut self, at: Time, next: u64, nth: u16);
    /// Takes any.
    fn whole(&mut self, at: Time, ack: &Ack, nth: u16);
}

impl Flow {
    /// ACKs will be at the sender. Takes those in front that are on the fast path and come by
    /// `until`; returns how many. `go` takes segments of one size that go: their numbers, the
    /// size, and the congestion window.
    #[inline]
    pub(in crate::world) fn hear_fast(
        &mut self,
        run: &PacketRun,
        until: Time,
        go: impl FnMut(Time, Range<u64>, (Bytes, f64)),
    ) -> u32 {
        let Some(carried) = &mut self.carried else { return 0 };
        let short = self.sender.short_segment();
        let mut wires = Carrying { carried, digest: &mut self.digest, short, go };
        self.sender.on_full_acks_fast(run, until, &mut wires)
    }

    /// An ACK will be at the sender that is not: takes it as any, if that may be dealt with now.
    /// What the sender lets go is in `out`. Returns whether it did.
    pub(in crate::world) fn hear_slowly(
        &mut self,
        at: Time,
        (next, size): (u64, Bytes),
        out: &mut Vec<Transmission>,
    ) -> bool {
        let Some(carried) = self.carried.as_mut().filter(|_| self.sender.takes_full_fast(at, next))
        else {
            return false;
        };
        let Some(options) = carried.of_ack(next).filter(|options| !options.marked) else {
            return false;
        };
        carried.hear_in_order();
        self.digest.add(at, 2, next);
        let ack = Ack { next, sack: SackBlocks::NONE, size };
        self.sender.on_full_ack(at, &ack, &options, out);
        for sent in out {
            self.digest.add(at, 1, sent.seq);
            self.carry(at, sent, 1);
        }
        true
    }

    /// Whether a packet that is on its way to the receiver is in order, and may be dealt with now.
    #[inline]
    pub(in crate::world) fn receives_fast(&self, packet: &DataPacket) -> bool {
        let options = self.carried.as_ref().and_then(|carried| carried.data.alike(packet.seq));
        packet.nth == 1 && options.is_some() && self.receiver.takes_full_fast(packet.seq)
    }

    /// Segments come to the receiver: takes those in front that are in order and in time; a timer
    /// of the receiver that is due before one of them runs out first. Its ACKs go `out`. Returns
    /// how many segments it took.
    #[inline]
    pub(in crate::world) fn receive_fast(
        &mut self,
        (now, until): (Time, Time),
        coming: &TimedTrain<DataPacket>,
        acks: &mut Vec<FullAck>,
        out: &mut impl AckOutlet,
    ) -> u32 {
        let Some(mut carried) = self.carried.take() else { return 0 };
        let packet = coming.train.first;
        let plain = packet.nth == 1 && coming.train.step <= 1;
        let count = if plain { coming.train.count } else { 0 };
        let bytes = Bytes::new(self.kind.data_of(packet.bytes().get()));
        let mut rest = PacketRun { step: 1, ..coming.run(packet.seq) };
        let mut taken = 0;
        while taken < count && rest.at <= until {
            let Some((options, alike)) = carried.data.alike(rest.first) else { break };
            let run = PacketRun { count: rest.count.min(alike), ..rest };
            let tell = |at, next, options: &AckOptions| {
                self.tally.acks_sent += 1;
                let nth = carried.acknowledge(next, *options);
                out.plain(at, next, nth);
            };
            let mut got = self.receiver.on_packets_fast(&run, (until, bytes), &options, tell);
            if got == 0 {
                if !self.receiver.takes_full_fast(rest.first) {
                    break;
                }
                let due = self.receiver.poll_timeout().filter(|&due| due <= rest.at);
                match due {
                    Some(due) => self.receiver.on_full_timeout(due, acks),
                    None => self.receiver.on_packet(rest.at, (rest.first, bytes), &options, acks),
                }
                got = u32::from(due.is_none());
                let at = due.unwrap_or(rest.at);
                self.answer_each(at, (&mut carried, acks), out);
            }
            carried.data.take_alike(got);
            taken += got;
            if taken < count {
                rest = rest.behind(got);
            }
        }
        if taken > 0 && self.has_received() {
            self.received = Some(coming.at(taken - 1));
        }
        self.count(u64::from(taken), packet.bytes().get() * u64::from(taken));
        if taken > 0 {
            let run = coming.run(packet.seq);
            self.ahead.take(now, PacketRun { count: taken, step: 1, ..run });
        }
        self.carried = Some(carried);
        taken
    }

    /// Each of these ACKs goes `out` at `at`.
    fn answer_each(
        &mut self,
        at: Time,
        (carried, acks): (&mut CarriedOptions, &mut Vec<FullAck>),
        out: &mut impl AckOutlet,
    ) {
        for (ack, options) in acks.drain(..) {
            let nth = carried.acknowledge(ack.next, options);
            self.tally.acks_sent += 1;
            out.whole(at, &ack, nth);
        }
    }
}
