//! The SACK blocks of an ACK (RFC 2018), and D-SACK (RFC 2883).

use super::{Repair, Site, Stage};
use crate::linux::ack_facts::AckFacts;
use crate::linux::queue::{AGAIN, EVER, MOST_BLOCKS, SACKED};

impl Repair {
    /// Takes in the blocks of an ACK; `before` is the cumulative ACK before this one.
    pub(super) fn take_blocks(
        &mut self,
        site: &mut Site,
        blocks: &[(u64, u64)],
        before: u64,
    ) -> AckFacts {
        let mut heard = AckFacts { reordered: site.queue.next(), ..AckFacts::default() };
        site.queue.begin_reports();
        let duplicate = self.take_duplicate(site, blocks, before, &mut heard);
        if site.queue.is_empty() {
            return heard;
        }
        let mut sorted = [(0, 0, false); MOST_BLOCKS];
        let mut count = 0;
        for (i, &(left, right)) in blocks.iter().take(MOST_BLOCKS).enumerate() {
            let duplicate = i == 0 && duplicate;
            if self.is_valid(site, left, right, duplicate) && right > before {
                sorted[count] = (left, right, duplicate);
                count += 1;
            }
        }
        let sorted = &mut sorted[..count];
        sorted.sort_by_key(|block| block.0);
        let mut from = site.queue.all().start;
        for i in 0..count {
            let (left, right, duplicate) = sorted[i];
            let twice = sorted.get(i + 1).filter(|next| next.2).map_or(0..0, |next| next.0..next.1);
            from = from.max(left);
            while from < right.min(site.queue.all().end) {
                if !duplicate
                    && twice.is_empty()
                    && let Some(known) = site.queue.known_until(from)
                {
                    from = known;
                    continue;
                }
                self.take_segment(site, from, duplicate || twice.contains(&from), &mut heard);
                from += 1;
            }
        }
        site.queue.note_blocks(sorted.iter().map(|&(left, right, _)| (left, right)));
        if self.stage != Stage::Loss || self.undo.marker().is_some() {
            self.reordering.note(heard.reordered, site.queue);
        }
        heard
    }

    fn is_valid(&self, site: &Site, left: u64, right: u64, duplicate: bool) -> bool {
        if right > site.queue.next() || left >= right {
            return false;
        }
        if left > site.queue.acked() {
            return true;
        }
        let Some(marker) = self.undo.marker().filter(|_| duplicate) else { return false };
        right <= site.queue.acked() && right > marker
    }

    /// Handles a first block that reports segments that arrived twice; returns whether it does.
    fn take_duplicate(
        &mut self,
        site: &Site,
        blocks: &[(u64, u64)],
        before: u64,
        heard: &mut AckFacts,
    ) -> bool {
        let Some(&(left, right)) = blocks.first() else { return false };
        let within = blocks.get(1).is_some_and(|next| left >= next.0 && right <= next.1);
        if left >= site.queue.acked() && !within {
            return false;
        }
        if left >= right || right - left > site.peer.widest_segments() {
            return false;
        }
        let segments = (right - left) as u32;
        if segments == 1 && self.probed == Some(right) {
            heard.duplicate_of_probe = true;
        }
        self.duplicates_heard += u64::from(segments);
        if self.duplicates_heard > site.queue.sent().1 {
            // Not of what this sender sent twice.
            return false;
        }
        if self.reordering.was_seen() && !heard.duplicate_of_probe {
            self.rack.note_duplicate();
        }
        heard.duplicate = true;
        heard.delivered += segments;
        if right <= before && self.undo.marker().is_some_and(|marker| right > marker) {
            self.undo.less(segments);
        }
        true
    }

    /// Segment `seq` is in a block.
    fn take_segment(&mut self, site: &mut Site, seq: u64, duplicate: bool, heard: &mut AckFacts) {
        let end = seq + 1;
        let sent = site.queue.get(seq);
        if duplicate && sent.is(AGAIN | EVER) {
            if self.undo.marker().is_some_and(|marker| end > marker) {
                self.undo.less(1);
            }
            if sent.is(SACKED) && seq < heard.reordered {
                heard.reordered = seq;
            }
        }
        if end <= site.queue.acked() {
            return;
        }
        if !sent.is(SACKED) {
            self.take_new(site, seq, heard);
        }
        site.queue.end_report(seq, duplicate);
    }

    /// Segment `seq` is reported for the first time.
    fn take_new(&mut self, site: &mut Site, seq: u64, heard: &mut AckFacts) {
        let end = seq + 1;
        let sent = site.queue.get(seq);
        self.rack.take(site.now.us, site.path.round_trip().shortest(), seq, &sent);
        if !sent.is(AGAIN | EVER) {
            if seq < site.queue.highest_sacked() && seq < heard.reordered {
                heard.reordered = seq;
            }
            if end <= self.high {
                heard.original = true;
            }
            heard.first_sent.get_or_insert(sent.at());
            heard.last_sent = Some(sent.at());
        }
        site.queue.report(seq);
        heard.sacked = true;
        heard.delivered += 1;
        site.path.rate_mut().take(&mut heard.newest, sent.at(), end, sent.stamp);
        site.queue.count_once(seq);
    }
}
