//! The fast path: an ACK of segments that were sent once and of which nothing else was heard, while
//! nothing is being repaired, of a connection that neither paces nor groups. What is done is what
//! `hear`, `acked` and `send` do of any ACK, without what does not arise here.

use burstlab_units::Time;

use super::{Linux, Stage};
use crate::segment::{AckOptions, SegmentFlags, Transmission};

impl Linux {
    /// Takes an ACK on the fast path; returns whether it is one, and otherwise does nothing.
    pub(crate) fn on_ack_fast(
        &mut self,
        now: Time,
        next: u64,
        options: &AckOptions,
        out: &mut Vec<Transmission>,
    ) -> bool {
        let fits = self.options.sack && !self.law.paces() && self.sends_freely();
        let Some((first_at, last)) = self.queue.plain_below(next).filter(|_| fits) else {
            return false;
        };
        let (last_at, prior) = (last.at(), last.stamp.delivered);
        let count = (next - self.queue.first()) as u32;
        let (us, tick) = self.instant(now);
        self.heard = self.heard.max(options.stamp);
        self.echo = self.options.timestamps.then_some(u64::from(options.echo));
        self.timeouts = 0;
        self.acked = next;
        self.take_window(u64::from(options.window));
        self.queue.pop_plain(count);
        self.delivered += u64::from(count);
        self.rack.take_plain(us, last_at, next);
        self.rate.take_plain(last_at);
        let rtt = us - last_at;
        self.measure(us - first_at, rtt);
        let facts = self.facts_at((us, tick));
        self.law.measured(&mut self.window, Some(rtt), &facts);
        if let Some(start) = &mut self.start {
            start.measured(&mut self.window, rtt, &facts);
        }
        self.law.arrives(&facts);
        self.rack.adapt(prior, self.delivered);
        let acked = self.start.as_mut().map_or(count, |start| start.allow(&self.window, count));
        self.law.grow(&mut self.window, acked, &facts);
        self.window.stamp = tick;
        self.update_pacing_rate();
        self.push_fast(now, out);
        self.make_room(now);
        self.write_more(now, out);
        debug_assert_eq!(self.stage, Stage::Open, "nothing is repaired");
        true
    }

    /// Sets the timer for the ACK, and sends what it lets go.
    #[inline]
    fn push_fast(&mut self, now: Time, out: &mut Vec<Transmission>) {
        let others = self.outstanding();
        if others > 0 && self.options.tlp && self.has_data() {
            let sent = self.write_freely(now, out);
            self.end_write(now, sent, false);
            match sent {
                0 => _ = self.schedule_probe(now, true),
                _ => self.schedule_probe_fast(now, others),
            }
            return;
        }
        if !self.schedule_probe(now, true) {
            self.rearm(now);
        }
        self.push(now, out);
    }

    /// Whether what goes out goes segment by segment, when the window allows.
    #[inline]
    pub(super) fn sends_freely(&self) -> bool {
        self.pace.is_off() && !self.unsent.is_grouped() && self.sacked | self.lost == 0
    }

    /// Sends the new data that both windows allow, where that [goes
    /// freely](Self::sends_freely); returns how many segments.
    pub(super) fn write_freely(&mut self, now: Time, out: &mut Vec<Transmission>) -> u32 {
        let flight = self.in_flight();
        let room = u64::from(self.window.cwnd.saturating_sub(flight));
        if room == 0 {
            return 0;
        }
        let end = self.edge().min(self.limit);
        let count = end.saturating_sub(self.next).min(room) as u32;
        if count == 0 {
            return 0;
        }
        let (ns, alone) = (self.clock.ns(now), self.queue.is_empty());
        self.note_sending(now);
        let losses = (flight + 1, self.lost_ever);
        let stamp = self.rate.stamp(ns / 1000, alone, self.delivered, losses);
        for nth in 0..count {
            let seq = self.next;
            self.next += 1;
            let push = self.ends_push(seq);
            self.queue.push_alone(seq, ns, stamp.behind(nth), push);
            let reduced = std::mem::take(&mut self.tells_reduction);
            let flags = SegmentFlags { push, reduced, markable: self.options.ecn };
            self.emit(seq, false, flags, out);
        }
        self.pace.sends_freely(ns, count);
        count
    }
}
