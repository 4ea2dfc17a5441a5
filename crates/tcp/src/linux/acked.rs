//! What the cumulative ACK takes away, and the round trips that follow from it.

use super::clock::Reading;
use super::queue::{AGAIN, EVER, SACKED};
use super::{Arrival, Heard, Linux};

impl Linux {
    /// Takes away what is acknowledged. `high` is the highest segment reported before this ACK.
    pub(super) fn take_acked(&mut self, now: Reading, ack: &Arrival, high: u64, heard: &mut Heard) {
        let us = now.us;
        let mut lowest = self.queue.next();
        let mut sent_at = None;
        let mut count: u32 = 0;
        let (plain, begins) =
            (self.queue.counts()[0] == 0, self.bytes_before(self.queue.all().start));
        while let Some((seq, sent)) = self.queue.first_acked() {
            if sent.is(AGAIN | EVER) {
                heard.again_acked = true;
            } else if !sent.is(SACKED) {
                sent_at = Some((sent_at.map_or(sent.at(), |(first, _)| first), sent.at()));
                lowest = lowest.min(seq);
                heard.original |= seq < self.high;
            }
            if self.options.sack && !sent.is(SACKED) {
                self.queue.count_delivered(1, ack.ece);
                let early = sent.is(AGAIN | EVER) && self.peer.echoes_before(sent.at() / 1000);
                if !early {
                    self.rack_advance(us, sent.is(AGAIN | EVER), sent.at(), seq + 1);
                }
            }
            self.path.deliver(&mut heard.newest, sent.at(), seq + 1, sent.stamp);
            self.queue.pop(&sent);
            count += 1;
        }
        heard.acked = count > 0;
        let short =
            count == 1 && self.bytes_before(self.queue.acked()) - begins < self.options.payload;
        let alone = heard.newest.prior().is_some_and(|prior| prior + 1 == self.queue.totals().0);
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
                if self.queue.remove_duplicates(count, ack.ece) {
                    self.reorder(self.queue.outstanding() + count);
                }
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
        self.path.measure(
            measured,
            last.unwrap_or(measured),
            self.queue.acked(),
            self.queue.next(),
        );
        last
    }

    /// Without SACK duplicate ACKs stand for segments that arrived.
    pub(super) fn add_duplicates(&mut self, count: u32, ece: bool) {
        if self.queue.add_duplicates(count, ece) {
            self.reorder(self.queue.outstanding());
        }
    }

    /// The network reorders by so many segments.
    fn reorder(&mut self, segments: u32) {
        self.reordering = segments.min(self.options.reordering_max);
        self.reordering_seen = true;
    }
}
