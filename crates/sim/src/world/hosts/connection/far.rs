//! The far end of a flow: its receiver, with its timer. It knows the packets that
//! came and the ACKs that it sent, and of the near end nothing else.

use burstlab_tcp::{Ack, AckOptions, FullAck, PacketRun, Receiver};
use burstlab_units::{Bytes, Time};
use serde::{Deserialize, Serialize};

use super::FlowKind;
use super::alarm::Alarm;
use crate::world::context::Context;
use crate::world::events::Event;
use crate::world::hosts::FAR;
use crate::world::hosts::options::CarriedOptions;
use crate::world::hosts::taken_ahead::TakenAhead;
use crate::world::packet::DataPacket;
use crate::world::tie_key::TieKey;
use crate::world::train::TimedTrain;

/// Where the ACKs of a receiver go.
pub(in crate::world) trait AckOutlet {
    /// Takes one without SACK blocks, of the usual size, that asks for `next` and advertises a
    /// window in bytes, as the `nth` one.
    fn plain(&mut self, at: Time, next: u64, window: u32, nth: u16);
    /// Takes any; `timed`: a timer sends it, and no segment.
    fn whole(&mut self, at: Time, ack: (&Ack, u32), nth: u16, timed: bool);
}

/// The packets that came to a receiver, and the ACKs that it sent.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(in crate::world::hosts) struct Got {
    pub(in crate::world::hosts) packets: u64,
    pub(in crate::world::hosts) bytes: u64,
    pub(in crate::world::hosts) acks: u64,
}

/// A receiver.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::world) struct Far {
    receiver: Receiver,
    alarm: Alarm,
    /// Segments of the flow with the SYN, if all but the last are whole; no receiver gets as many
    /// where data never ends.
    whole: u64,
    /// When the last of them came.
    received: Option<Time>,
    /// Segments taken ahead of the clock, which somebody may ask for.
    ahead: TakenAhead,
    got: Got,
}

impl Far {
    pub(in crate::world::hosts) fn new(kind: &FlowKind, bytes: Option<u64>) -> Self {
        Self {
            receiver: Receiver::new(&kind.config),
            alarm: Alarm::OFF,
            whole: bytes.map_or(u64::MAX, |bytes| 1 + bytes.div_ceil(kind.payload)),
            received: None,
            ahead: TakenAhead::default(),
            got: Got::default(),
        }
    }

    /// The receiver, which answers what it is asked.
    #[inline(always)]
    pub(in crate::world) fn receiver(&self) -> &Receiver {
        &self.receiver
    }

    /// The receiver, to which something happens.
    #[inline(always)]
    pub(in crate::world::hosts) fn receiver_mut(&mut self) -> &mut Receiver {
        &mut self.receiver
    }

    /// Its counts.
    #[inline]
    pub(in crate::world::hosts) fn got(&self) -> &Got {
        &self.got
    }

    /// Counts packets received, and their bytes.
    #[inline]
    pub(in crate::world) fn count(&mut self, packets: u64, bytes: u64) {
        self.got.packets += packets;
        self.got.bytes += bytes;
    }

    /// Counts ACKs that are sent, by it or in its name.
    #[inline]
    pub(in crate::world) fn sends(&mut self, acks: u64) {
        self.got.acks += acks;
    }

    /// When all of the flow had come.
    #[inline]
    pub(in crate::world) fn received(&self) -> Option<Time> {
        self.received
    }

    /// All of the flow has come.
    pub(in crate::world::hosts) fn has_all(&mut self, at: Time) {
        self.received = Some(at);
    }

    /// Whether as many segments have come as may be all of the flow, and nobody has said so.
    #[inline(always)]
    pub(in crate::world::hosts) fn may_have_all(&self) -> bool {
        self.receiver.next() >= self.whole && self.received.is_none()
    }

    /// A segment came while the receiver waited for segment `next`; returns whether it waits for
    /// another one now.
    #[inline]
    pub(in crate::world::hosts) fn goes_on(&self, next: u64) -> bool {
        self.receiver.next() != next
    }

    /// The time at `now` from which on a segment is there, if that is known; one that was taken
    /// ahead of the clock comes later.
    pub(in crate::world::hosts) fn has_from(&self, now: Time, seq: u64) -> Option<Time> {
        self.receiver.holds(seq).then(|| self.ahead.comes(seq).map_or(now, |at| at.max(now)))
    }

    /// The connection is gone.
    pub(in crate::world::hosts) fn forget(&mut self) {
        self.ahead = TakenAhead::default();
    }

    #[inline(always)]
    pub(in crate::world) fn arm(&mut self, index: u32, context: &mut Context) {
        let (due, place) = (self.receiver.poll_timeout(), TieKey::RECEIVER.of(index));
        context.ahead.has_timer(FAR, due);
        self.alarm.arm(due, context, place, Event::ReceiverTimer(index));
    }

    pub(in crate::world::hosts) fn alarm_due(&mut self, now: Time) -> bool {
        self.alarm.takes(now)
    }

    /// Segments will be at the receiver; `now` is the time. Takes those in front that come in order
    /// and by `until`, and hands its ACKs `out`; returns how many.
    #[inline(always)]
    pub(in crate::world) fn receive_in_order(
        &mut self,
        (now, until): (Time, Time),
        coming: &TimedTrain<DataPacket>,
        mut out: impl FnMut(&PacketRun),
    ) -> u32 {
        let first = &coming.train.first;
        let (mut run, mut all) = (coming.run(first.seq), 0);
        loop {
            let received = self.receiver.take(&run, until);
            let taken = received.segments;
            if taken == 0 {
                break;
            }
            self.count(u64::from(taken), first.bytes().get() * u64::from(taken));
            if let Some(acks) = &received.acks {
                self.sends(u64::from(acks.count));
                out(acks);
            }
            all += taken;
            if taken == run.count {
                break;
            }
            run = run.behind(taken);
        }
        if all > 0 {
            self.ahead.take(now, PacketRun { count: all, step: 1, ..coming.run(first.seq) });
        }
        all
    }

    /// Segments behind a gap will be at the receiver; `now` is the time. Takes those in front that
    /// come by `until`; returns how many, and the ACK of the first of them.
    pub(in crate::world) fn receive_behind(
        &mut self,
        (now, until): (Time, Time),
        coming: &TimedTrain<DataPacket>,
    ) -> Option<(u32, Ack)> {
        let first = &coming.train.first;
        let run = coming.run(first.seq);
        let (taken, ack) = self.receiver.take_behind(&run, until)?;
        self.ahead.take(now, PacketRun { count: taken, step: 1, ..run });
        self.count(u64::from(taken), first.bytes().get() * u64::from(taken));
        self.sends(u64::from(taken));
        Some((taken, ack))
    }

    /// Segments with options come to the receiver: takes those in front that are in order and in
    /// time; a timer of the receiver that is due before one of them runs out first. Each has so
    /// many bytes of data. Its ACKs go `out`. Returns how many segments it took.
    #[inline]
    pub(in crate::world) fn receive_fast(
        &mut self,
        (now, until): (Time, Time),
        (coming, bytes): (&TimedTrain<DataPacket>, Bytes),
        carried: &mut CarriedOptions,
        acks: &mut Vec<FullAck>,
        out: &mut impl AckOutlet,
    ) -> u32 {
        let packet = coming.train.first;
        let plain = packet.nth == 1 && coming.train.step <= 1;
        let count = if plain { coming.train.count } else { 0 };
        let mut rest = PacketRun { step: 1, ..coming.run(packet.seq) };
        let mut taken = 0;
        while taken < count && rest.at <= until {
            let Some((options, alike)) = carried.data.alike(rest.first) else { break };
            let run = PacketRun { count: rest.count.min(alike), ..rest };
            let tell = |at, next, options: &AckOptions| {
                self.got.acks += 1;
                let nth = carried.acknowledge(next, *options);
                out.plain(at, next, options.window, nth);
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
                for (ack, options) in acks.drain(..) {
                    let (nth, window) = (carried.acknowledge(ack.next, options), options.window);
                    self.got.acks += 1;
                    out.whole(at, (&ack, window), nth, due.is_some());
                }
            }
            carried.data.take_alike(got);
            taken += got;
            if taken < count {
                rest = rest.behind(got);
            }
        }
        self.count(u64::from(taken), packet.bytes().get() * u64::from(taken));
        if taken > 0 {
            let run = coming.run(packet.seq);
            self.ahead.take(now, PacketRun { count: taken, step: 1, ..run });
        }
        taken
    }
}
