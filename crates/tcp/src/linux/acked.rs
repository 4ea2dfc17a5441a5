//! What the cumulative ACK takes away, and the round trips that follow from it.

use super::clock::Reading;
use super::queue::{AGAIN, EVER, LOST, SACKED};
use super::{Arrival, Heard, Linux};

impl Linux {
    /// Takes away what is acknowledged. `high` is the highest segment reported before this ACK.
    pub(super) fn take_acked(&mut self, now: Reading, ack: &Arrival, high: u64, heard: &mut Heard) {
        let us = now.us;
        let mut lowest = self.next;
        let mut sent_at = None;
        let mut count: u32 = 0;
        let (plain, begins) = (self.sacked == 0, self.bytes_before(self.queue.first()));
        while !self.queue.is_empty() && self.queue.first() < self.acked {
            let seq = self.queue.first();
            let sent = self.queue.get(seq);
            if sent.is(AGAIN | EVER) {
                self.again -= u32::from(sent.is(AGAIN));
                heard.again_acked = true;
            } else if !sent.is(SACKED) {
                sent_at = Some((sent_at.map_or(sent.at(), |(first, _)| first), sent.at()));
                lowest = lowest.min(seq);
                heard.original |= seq < self.high;
            }
            if sent.is(SACKED) {
                self.sacked -= 1;
            } else if self.options.sack {
                self.count_delivered(1, ack.ece);
                let early = sent.is(AGAIN | EVER) && self.peer.echoes_before(sent.at() / 1000);
                if !early {
                    self.rack_advance(us, sent.is(AGAIN | EVER), sent.at(), seq + 1);
                }
            }
            self.lost -= u32::from(sent.is(LOST));
            self.sample_rate(seq, heard);
            self.queue.pop();
            count += 1;
        }
        heard.acked = count > 0;
        let short = count == 1 && self.bytes_before(self.acked) - begins < self.options.payload;
        let alone = heard.newest.prior().is_some_and(|prior| prior + 1 == self.delivered);
        // What a receiver has of one short segment it may acknowledge late (`tcp_clean_rtx_queue`).
        heard.delayed = short && plain && alone && !(heard.again_acked || heard.ece);
        heard.reneged = self.queue.head().is_some_and(|head| head.is(SACKED));
        let rtt = self.take_round_trip(us, sent_at, heard);
        if heard.acked {
            heard.set_timer = true;
            if self.options.sack {
                if lowest < high {
                    self.check_reordering(lowest);
                }
            } else {
                self.remove_duplicates(count, ack.ece);
                heard.original &= !heard.again_acked;
            }
        } else if let (Some(sacked), Some(head)) = (heard.first_sent, self.queue.head()) {
            // The round trip is of data sent before the head was last sent: no reason to wait
            // longer for it.
            heard.set_timer |= us - sacked > us - head.at();
        }
        let context = self.context(now);
        self.path.measured(rtt, &context);
        heard.rtt = rtt;
    }

    /// Takes the round trip that an ACK measures, by what was acknowledged, else reported, else by
    /// its time stamp; returns the one that the law hears of.
    fn take_round_trip(
        &mut self,
        us: u64,
        sent_at: Option<(u64, u64)>,
        heard: &Heard,
    ) -> Option<u64> {
        let sent_at = sent_at.filter(|_| !heard.again_acked);
        let mut measured = sent_at.map(|(first, _)| us - first);
        let mut last = sent_at.map(|(_, last)| us - last);
        if let (Some(first), Some(sacked)) = (heard.first_sent, heard.last_sent) {
            last = Some(us - sacked);
            measured = measured.or(Some(us - first));
        }
        if measured.is_none() && heard.acked {
            measured = self.peer.echoed_round_trip(us);
            last = measured;
        }
        let measured = measured?;
        self.path.measure(measured, last.unwrap_or(measured), self.acked, self.next);
        last
    }

    pub(super) fn count_delivered(&mut self, segments: u32, ece: bool) {
        self.delivered += u64::from(segments);
        if ece {
            self.marked += u64::from(segments);
        }
    }
}

/// Without SACK duplicate ACKs stand for segments that arrived.
impl Linux {
    pub(super) fn add_duplicates(&mut self, count: u32, ece: bool) {
        if count == 0 {
            return;
        }
        let before = self.sacked;
        self.sacked += count;
        self.bound_duplicates(0);
        self.count_delivered(self.sacked.saturating_sub(before), ece);
    }

    fn remove_duplicates(&mut self, acked: u32, ece: bool) {
        self.count_delivered(acked.saturating_sub(self.sacked).max(1), ece);
        self.sacked = self.sacked.saturating_sub(acked - 1);
        self.bound_duplicates(acked);
    }

    /// More duplicate ACKs than could be of the segments above a hole tell of reordering.
    fn bound_duplicates(&mut self, more: u32) {
        let outstanding = self.outstanding();
        let holes = self.lost.max(1).min(outstanding);
        if self.sacked + holes > outstanding {
            self.sacked = outstanding - holes;
            self.reordering = (outstanding + more).min(self.options.reordering_max);
            self.reordering_seen = true;
        }
    }

    pub(super) fn forget_duplicates(&mut self) {
        self.sacked = 0;
    }
}
