//! The segments that the cumulative ACK takes away, and the round trips that follow from it.

use super::{Repair, Site};
use crate::linux::ack_facts::{AckFacts, Arrival};
use crate::linux::queue::{AGAIN, EVER, SACKED};

impl Repair {
    /// Removes the acknowledged segments. `high` is the highest segment reported before this ACK.
    pub(crate) fn take_acked(
        &mut self,
        site: &mut Site,
        ack: &Arrival,
        high: u64,
        heard: &mut AckFacts,
    ) {
        let us = site.now.us;
        let mut lowest = site.queue.next();
        let mut sent_at = None;
        let mut count: u32 = 0;
        let (plain, begins) = (site.queue.counts()[0] == 0, site.queue.all().start);
        while let Some((seq, sent)) = site.queue.first_acked() {
            if sent.is(AGAIN | EVER) {
                heard.again_acked = true;
            } else if !sent.is(SACKED) {
                sent_at = Some((sent_at.map_or(sent.at(), |(first, _)| first), sent.at()));
                lowest = lowest.min(seq);
                heard.original |= seq < self.high;
            }
            if site.options.sack && !sent.is(SACKED) {
                site.queue.count_delivered(1, ack.ece);
                let early = sent.is(AGAIN | EVER) && site.peer.echoes_before(sent.at() / 1000);
                if !early {
                    self.rack.take(site.now.us, site.path.round_trip().shortest(), seq, &sent);
                }
            }
            site.path.rate_mut().take(&mut heard.newest, sent.at(), seq + 1, sent.stamp);
            site.queue.pop(&sent);
            count += 1;
        }
        heard.acked = count > 0;
        let short = count == 1 && site.application.lengths().lacking(begins) > 0;
        let alone = heard.newest.prior().is_some_and(|prior| prior + 1 == site.queue.totals().0);
        // A receiver may delay the ACK of a single short segment (`tcp_clean_rtx_queue`).
        heard.delayed = short && plain && alone && !(heard.again_acked || heard.ece);
        heard.reneged = site.queue.head().is_some_and(|head| head.is(SACKED));
        let rtt = site.take_round_trip(sent_at, heard);
        if heard.acked {
            heard.set_timer = true;
            if site.options.sack {
                if lowest < high {
                    self.reordering.note(lowest, site.queue);
                }
            } else {
                if site.queue.remove_duplicates(count, ack.ece) {
                    self.reordering.set(site.queue.outstanding() + count);
                }
                heard.original &= !heard.again_acked;
            }
        } else if let (Some(sacked), Some(head)) = (heard.first_sent, site.queue.head()) {
            // The round trip is of data sent before the head was last sent: no reason to wait
            // longer for it.
            heard.set_timer |= us - sacked > us - head.at();
        }
        site.path.measured(rtt, &self.context(site));
        heard.rtt = rtt;
        site.path.arrives(heard.plain, &self.context(site));
        if site.options.rack_adapts {
            self.rack.adapt(heard.newest.prior(), site.queue.totals().0);
        }
    }

    /// Without SACK duplicate ACKs stand for segments that arrived.
    pub(super) fn add_duplicates(&mut self, site: &mut Site, count: u32, ece: bool) {
        if site.queue.add_duplicates(count, ece) {
            self.reordering.set(site.queue.outstanding());
        }
    }

    /// The report of the blocks and flags of an ACK say.
    pub(crate) fn take_reports(&mut self, site: &mut Site, ack: &Arrival, before: u64) -> AckFacts {
        let mut heard = AckFacts { reordered: site.queue.next(), ..AckFacts::default() };
        if site.options.sack && !ack.blocks.is_empty() {
            heard = self.take_blocks(site, ack.blocks, before);
        }
        heard.ece = ack.ece && site.options.ecn;
        site.queue.count_delivered(heard.delivered, heard.ece);
        heard
    }
}
