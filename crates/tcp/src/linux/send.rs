//! Transmissions: new data within both windows, in groups where segments are grouped, and lost
//! segments.

use burstlab_units::{Bytes, Time};

use super::clock::Reading;
use super::queue::LAST;
use super::rate::Stamp;
use super::repair::Rexmit;
use super::timer::Purpose;
use super::{Congestion, Linux, Stage};
use crate::segment::{SegmentFlags, Transmission};

/// Why new data may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Push {
    /// An ACK came, or all that the application wrote is there.
    All,
    /// The application wrote a group: that one goes.
    One,
    /// A tail loss probe: one segment, whatever the window.
    Probe,
}

/// Notes how much of the window is used, `outstanding` segments in all.
#[inline(always)]
pub(super) fn validate(own: &mut Linux, tick: u64, outstanding: u32, limited: bool) {
    let place = (own.queue.acked(), own.queue.next());
    if own.path.validate(tick, place, outstanding, limited) {
        // An application that waits for room to write does not limit the connection.
        let free = own.repair.stage() == Stage::Open && !own.application.waits();
        own.path.shrink_unused(tick, free);
    }
}

impl Linux {
    /// Sends new data.
    pub(super) fn write(&mut self, now: Reading, push: Push, out: &mut Vec<Transmission>) {
        if push == Push::All && self.sends_freely() {
            return self.write_all_freely(now, out);
        }
        let mut limited = false;
        let mut sent = 0;
        let group = self.path.group_size(self.application.full());
        while self.application.has_data(&self.queue) {
            if self.path.pace_mut().holds(now.ns) {
                break;
            }
            let mut quota = self.path.quota(self.queue.in_flight());
            if quota == 0 {
                if push != Push::Probe {
                    break;
                }
                quota = 1;
            }
            quota = quota.min(group);
            let Some(bytes) = self.next_group(now, push, (quota, group), &mut limited) else {
                break;
            };
            let (count, pushes) = self.application.part_group(self.queue.next(), bytes);
            for left in (0..count).rev() {
                // Whatever was written, a group of several ends with a push (`tcp_output.c`).
                self.send_new(now, left == 0 && (pushes || count > 1), out);
            }
            self.queue.end_group(count, pushes);
            self.application.count_segments(self.queue.next());
            self.application.make_room(&mut self.path, now.tick, self.queue.in_flight());
            self.path.pace_group(now.ns, (count, bytes));
            let first = self.queue.outstanding() == count;
            if first || self.timer.purpose() == Some(Purpose::Probe) {
                self.site(now).1.rearm();
            }
            sent += count;
            if push != Push::All {
                break;
            }
        }
        self.end_write(now.tick, sent, limited);
        if sent > 0 && push != Push::Probe {
            let (repair, mut site) = self.site(now);
            repair.schedule_probe(&mut site, false);
        }
    }

    /// So many segments went; `limited`: the window keeps others back.
    #[inline]
    pub(super) fn end_write(&mut self, tick: u64, sent: u32, limited: bool) {
        let limited = limited || self.queue.in_flight() >= self.path.cwnd();
        if sent > 0 || limited {
            let outstanding = self.queue.outstanding();
            validate(self, tick, outstanding, limited);
        }
        if self.repair.stage().reduces() {
            self.path.count_reduced(sent);
        }
    }

    pub(super) fn send_new(&mut self, now: Reading, pushes: bool, out: &mut Vec<Transmission>) {
        let seq = self.queue.next();
        let stamp = self.stamp(now);
        let single = !self.application.is_grouped() && !self.application.is_fin(seq);
        let push = pushes || (single && self.application.ends_push(seq));
        self.queue.send(now.ns, stamp, push);
        let ecn = self.options.ecn;
        let reduced = self.repair.tell_reduction();
        self.emit(seq, false, SegmentFlags { push, reduced, markable: ecn, probe: false }, out);
    }

    /// The state that is noted with a segment that goes now.
    fn stamp(&mut self, now: Reading) -> Stamp {
        let (flight, others) = (self.queue.in_flight(), (&self.queue, &self.peer));
        self.path.stamp(now, flight, others, self.repair.standing())
    }

    pub(super) fn emit(
        &mut self,
        seq: u64,
        retransmission: bool,
        flags: SegmentFlags,
        out: &mut Vec<Transmission>,
    ) {
        self.queue.count_sent(1);
        out.push(Transmission {
            seq,
            size: Bytes::new(self.options.segment_size - self.application.lengths().lacking(seq)),
            retransmission,
            cwnd: f64::from(self.path.cwnd()),
            ssthresh: f64::from(self.path.ssthresh()),
            flags,
        });
    }

    /// Sends segment `seq` again; returns whether it went.
    pub(super) fn send_again(
        &mut self,
        now: Reading,
        seq: u64,
        out: &mut Vec<Transmission>,
    ) -> bool {
        if seq != self.queue.acked() && self.application.is_beyond(seq, &self.queue, &self.peer) {
            return false;
        }
        let stamp = self.stamp(now);
        let push = self.queue.send_again(seq, now.ns, stamp);
        let markable = self.options.ecn && self.options.congestion == Congestion::Dctcp;
        self.emit(seq, true, SegmentFlags { push, markable, ..SegmentFlags::default() }, out);
        true
    }

    /// Sends a lost segment again, which counts as in flight.
    pub(super) fn send_repair(
        &mut self,
        now: Reading,
        seq: u64,
        out: &mut Vec<Transmission>,
    ) -> bool {
        if !self.send_again(now, seq, out) {
            return false;
        }
        let (repair, mut site) = self.site(now);
        repair.note_repair(&mut site, seq);
        true
    }

    /// Retransmits lost segments, as far as the window allows.
    pub(super) fn send_lost(&mut self, now: Reading, out: &mut Vec<Transmission>) {
        let (mut first, mut group, most) =
            (false, (0, 0), self.path.group_size(self.application.full()));
        for seq in self.queue.unrepaired() {
            if group.0 == 0 && self.path.pace_mut().holds(now.ns) {
                break;
            }
            if self.queue.in_flight() >= self.path.cwnd() || !self.queue.has_unrepaired() {
                break;
            }
            let Some(sent) = self.queue.take_unrepaired(seq) else {
                self.path.pace_group(now.ns, std::mem::take(&mut group));
                continue;
            };
            if !self.send_repair(now, seq, out) {
                break;
            }
            group = (group.0 + 1, group.1 + self.application.lengths().of(seq));
            if group.0 >= most || sent.is(LAST) {
                self.path.pace_group(now.ns, std::mem::take(&mut group));
            }
            self.path.count_reduced(u32::from(self.repair.stage().reduces()));
            let waits = self.timer.purpose() == Some(Purpose::Reordering);
            first |= seq == self.queue.all().start && !waits;
        }
        self.path.pace_group(now.ns, group);
        if first {
            let wait = self.path.round_trip().rto();
            self.site(now).1.set_timer(Purpose::Timeout, wait);
        }
    }

    /// The tail of a flight is probed (RFC 8985 section 7): by a new segment if there is one, else
    /// the last goes again.
    pub(super) fn send_probe(&mut self, now: Reading, out: &mut Vec<Transmission>) {
        if self.queue.is_empty() {
            self.timer.clear();
            return;
        }
        if self.repair.may_probe() {
            let next = self.queue.next();
            let new = self.application.can_send(&self.queue, &self.peer);
            let sent = if new {
                self.write(now, Push::Probe, out);
                self.queue.next() > next
            } else {
                let sent = self.send_again(now, next - 1, out);
                let bytes = self.application.lengths().of(next - 1);
                self.path.pace_group(now.ns, (u32::from(sent), bytes));
                sent
            };
            if sent {
                self.repair.note_probe(self.queue.next(), !new);
                self.timer.clear();
            }
        }
        self.site(now).1.rearm();
    }

    /// Notes what a reduction that follows would change.
    pub(crate) fn remember(&mut self) {
        self.repair.remember(&self.path);
    }

    /// The reduction that was just made is excused: all is as before it but for the repair.
    pub(crate) fn excuse(&mut self, now: Time, out: &mut Vec<Transmission>) {
        let now = self.clock.read(now);
        let (repair, mut site) = self.site(now);
        if repair.excuse(&mut site) {
            self.path.update_pacing_rate(self.queue.outstanding());
            self.send_lost(now, out);
            self.push(now, out);
            if !self.queue.is_empty() {
                self.timer.set(now, Purpose::Timeout, self.path.round_trip().rto());
            }
        }
    }

    /// A burst that held `segments`, which rise, is known to be lost: what is outstanding of them
    /// goes out again, and costs no window.
    pub(crate) fn repair_burst(
        &mut self,
        now: Time,
        segments: &[u64],
        out: &mut Vec<Transmission>,
    ) {
        let (repair, mut site) = self.site(self.clock.read(now));
        repair.take_lost_burst(&mut site, segments);
        self.excuse(now, out);
    }

    /// After an ACK of a connection that repairs losses.
    pub(super) fn send_repairs(
        &mut self,
        now: Reading,
        rexmit: Rexmit,
        out: &mut Vec<Transmission>,
    ) {
        if rexmit == Rexmit::None {
            return;
        }
        if rexmit == Rexmit::New {
            self.push(now, out);
            if !self.repair.goes_back(self.queue.next()) {
                return;
            }
        }
        self.send_lost(now, out);
    }

    /// Sends segments that may go, if there are any.
    pub(super) fn push(&mut self, now: Reading, out: &mut Vec<Transmission>) {
        if self.application.has_data(&self.queue) {
            self.write(now, Push::All, out);
            self.site(now).1.check_persist();
        }
    }
}
