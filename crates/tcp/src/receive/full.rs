//! The receiver of Linux: the segments that have arrived, and the ACKs that answer them.
//!
//! `on_packet` takes any packet and is the slow twin. `on_packets_fast` takes a run of data in
//! order, with the same options and nothing missing. It assumes that no timer of the receiver runs
//! out before a segment. `Answers` checks this and ends the run where it is not sure. `is_fast`
//! excludes old time stamps, SACK blocks and marks, so the steps for these are skipped. Tests
//! compare both twins field by field.

use burstlab_units::{Bytes, Time};
use serde::{Deserialize, Serialize};

use super::arrived::Arrived;
use super::linux::{Answers, FullAck, Place};
use crate::config::Config;
use crate::packet_run::PacketRun;
use crate::segment::{AckOptions, SegmentOptions};

/// Its methods are those of [`Receiver`](crate::Receiver).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LinuxReceiver {
    pub(super) arrived: Arrived,
    pub(super) answers: Answers,
    pub(super) ack_size: Bytes,
}

impl LinuxReceiver {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            arrived: Arrived::new(u64::from(config.window)),
            answers: Answers::new(config),
            ack_size: config.ack_size,
        }
    }

    /// See [`Receiver::takes_full_fast`](crate::Receiver::takes_full_fast).
    #[inline]
    pub(super) fn takes_fast(&self, seq: u64) -> bool {
        seq == self.arrived.next && !self.arrived.has_early() && seq > 0
    }

    pub(super) fn on_packet(
        &mut self,
        now: Time,
        (seq, bytes): (u64, Bytes),
        options: &SegmentOptions,
        out: &mut Vec<FullAck>,
    ) {
        let answers = &mut self.answers;
        if options.flags.probe {
            answers.open(now);
            return answers.on_probe(now, self.arrived.next, out);
        }
        if seq == 0 && self.arrived.next <= 1 {
            self.arrived.store(0);
            return out.push(answers.on_syn(now, options));
        }
        answers.open(now);
        let mut place = Place::of(&self.arrived, seq);
        if seq == 0 || answers.is_old(options) || answers.is_before_the_last_ack(seq) {
            self.arrived.duplicates += u64::from(place.twice);
            answers.on_old(now, seq, &place, out);
        } else {
            self.arrived.store(seq);
            (place.next, place.has_early) = (self.arrived.next, self.arrived.has_early());
            answers.count_early(seq, &mut place);
            answers.on_data(now, (seq, bytes.get()), options, &place, out);
        }
    }

    #[inline]
    pub(super) fn on_packets_fast(
        &mut self,
        run: &PacketRun,
        (until, bytes): (Time, Bytes),
        options: &SegmentOptions,
        mut answer: impl FnMut(Time, u64, &AckOptions),
    ) -> u32 {
        let in_order = self.takes_fast(run.first) && bytes > Bytes::ZERO;
        let answers = &mut self.answers;
        if !in_order || !answers.is_fast(options) {
            return 0;
        }
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
            self.arrived.in_order(seq);
        }
        (seq - run.first) as u32
    }

    pub(super) fn on_answer(
        &mut self,
        now: Time,
        options: &SegmentOptions,
        out: &mut Vec<FullAck>,
    ) {
        let first = self.arrived.next == 0;
        self.arrived.store(0);
        out.push(self.answers.on_answer(now, options.stamp, (first, self.arrived.next)));
    }

    pub(super) fn block_bytes(&self, coming: Option<u64>) -> u64 {
        let place = coming.map(|seq| (seq, Place::of(&self.arrived, seq)));
        self.answers.block_bytes(place.as_ref())
    }

    /// See [`Receiver::piggyback_full`](crate::Receiver::piggyback_full).
    pub(super) fn piggyback(&mut self, now: Time) -> Option<FullAck> {
        let next = self.arrived.next;
        (next > 0).then(|| self.answers.piggyback(now, next))
    }
}
