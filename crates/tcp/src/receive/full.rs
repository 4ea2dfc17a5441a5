//! A receiver of a connection whose packets carry options.

use burstlab_units::{Bytes, Time};

use super::Receiver;
use super::linux::{Answers, FullAck, Place};
use crate::packet_run::PacketRun;
use crate::segment::{AckOptions, SegmentOptions};

impl Receiver {
    /// Whether packets of the connection carry options, so that they go to
    /// [`on_packet`](Self::on_packet).
    #[inline]
    #[must_use]
    pub fn has_options(&self) -> bool {
        self.answers.is_some()
    }

    /// Whether segment `seq` has data, is the one it waits for, and none arrived before its turn,
    /// on a connection with options.
    #[inline]
    #[must_use]
    pub fn takes_full_fast(&self, seq: u64) -> bool {
        seq == self.next && self.high <= self.next && seq > 0 && self.answers.is_some()
    }

    /// A data packet of a connection with options arrives: segment `seq` with `bytes` of data. The
    /// SYN has none, and neither has segment 0 when it is the ACK of the SYN's ACK. Appends the
    /// ACKs that go out at once, in order, with what they carry besides.
    pub fn on_packet(
        &mut self,
        now: Time,
        (seq, bytes): (u64, Bytes),
        options: &SegmentOptions,
        out: &mut Vec<FullAck>,
    ) {
        let Some(mut answers) = self.answers.take() else { return };
        if options.flags.probe {
            answers.open(now);
            answers.on_probe(now, self.next, out);
        } else if seq == 0 && self.next <= 1 {
            self.store(0);
            out.push(answers.on_syn(now, options));
        } else {
            answers.open(now);
            let mut place = self.place(seq);
            if seq == 0 || answers.is_old(options) || answers.is_before_the_last_ack(seq) {
                self.duplicates += u64::from(place.twice);
                answers.on_old(now, seq, &place, out);
            } else {
                self.store(seq);
                (place.next, place.has_early) = (self.next, self.high > self.next);
                answers.count_early(seq, &mut place);
                answers.on_data(now, (seq, bytes.get()), options, &place, out);
            }
        }
        self.answers = Some(answers);
    }

    /// As [`on_packet`](Self::on_packet) for segments with `bytes` of data each that carry the
    /// same. Takes those in front that are [on the fast path](Self::takes_full_fast), and simply
    /// so, come by `until`, and surely before a timer runs out; returns how many.
    /// `answer` is told of each ACK: when it goes, what it asks for, and what it carries; it is of
    /// [`ack_size`](Self::ack_size).
    #[inline]
    pub fn on_packets_fast(
        &mut self,
        run: &PacketRun,
        (until, bytes): (Time, Bytes),
        options: &SegmentOptions,
        mut answer: impl FnMut(Time, u64, &AckOptions),
    ) -> u32 {
        let in_order = self.takes_full_fast(run.first) && bytes > Bytes::ZERO;
        let fast = |answers: &&mut Box<Answers>| in_order && answers.is_fast(options);
        let Some(answers) = self.answers.as_mut().filter(fast) else { return 0 };
        let (mut at, mut seq) = (run.at, run.first);
        let end = run.first + u64::from(run.count);
        let mut even = answers.is_even((seq, bytes.get()), options);
        while seq < end && at <= until {
            if !even || !answers.on_data_even(at, seq, options, &mut answer) {
                if !answers.on_data_fast(at, (seq, bytes.get()), options, &mut answer) {
                    break;
                }
                even = answers.is_even((seq + 1, bytes.get()), options);
            }
            (at, seq) = (at + run.gap, seq + 1);
        }
        if seq > run.first {
            (self.next, self.high) = (seq, seq);
        }
        (seq - run.first) as u32
    }

    /// As [`on_packet`](Self::on_packet), of the SYN that answers the one of this host: it is
    /// acknowledged at once, and needs no answer.
    pub fn on_answer(&mut self, now: Time, options: &SegmentOptions, out: &mut Vec<FullAck>) {
        let first = self.next == 0;
        if first {
            self.store(0);
        } else {
            self.duplicates += 1;
        }
        let next = self.next;
        if let Some(answers) = &mut self.answers {
            out.push(answers.on_answer(now, options.stamp, (first, next)));
        }
    }

    /// The answer to the SYN goes with data, whose sender repeats it.
    pub fn leave_syn(&mut self) {
        if let Some(answers) = &mut self.answers {
            answers.leave_syn();
        }
    }

    /// The ACK of the SYN's ACK arrives, which carries no data.
    pub fn on_handshake(&mut self, now: Time) {
        if let Some(answers) = &mut self.answers {
            answers.open(now);
        }
    }

    /// A timer of a connection with options is due. Does nothing before its time.
    pub fn on_full_timeout(&mut self, now: Time, out: &mut Vec<FullAck>) {
        let next = self.next;
        if let Some(answers) = &mut self.answers {
            answers.on_timeout(now, next, out);
        }
    }

    /// The next packet has so many bytes of SACK blocks besides its data.
    pub fn note_blocks(&mut self, blocks: u64) {
        if let Some(answers) = &mut self.answers {
            answers.note_blocks(blocks);
        }
    }

    /// Bytes that SACK blocks take in an ACK that goes now, or that goes once segment `coming` has
    /// arrived.
    #[must_use]
    pub fn block_bytes(&self, coming: Option<u64>) -> u64 {
        let place = coming.map(|seq| (seq, self.place(seq)));
        self.answers.as_ref().map_or(0, |answers| answers.block_bytes(place.as_ref()))
    }

    /// Where the receiver stands as segment `seq` comes.
    fn place(&self, seq: u64) -> Place {
        let has_early = self.high > self.next;
        Place {
            before: self.next,
            next: self.next,
            had_early: has_early,
            has_early,
            early: 0,
            twice: self.holds(seq),
            beyond: seq >= self.next + self.window,
        }
    }
}
