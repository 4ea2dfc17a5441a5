//! The fast path of the Linux sender: a run of ACKs, of segments that were sent once and about
//! which nothing else was reported.
//!
//! It assumes that nothing is being repaired, that SACK is on, and that the connection neither
//! paces nor groups. It does the work of `hear`, `acked` and `send` without the steps that cannot
//! arise here. Each ACK is checked before it is taken: it must acknowledge new data, come before
//! the timer, and be plain (`Queue::take_plain`). The first ACK that fails a check ends the run and
//! goes to the slow path. State that only the last ACK determines is written once, after the run.
//! The segments that an ACK releases leave as a run.

use burstlab_units::{Bytes, Time};

use super::clock::Reading;
use super::queue::Plain;
use super::send::validate;
use super::timer::Purpose;
use super::{Linux, Stage};
use crate::packet_run::PacketRun;
use crate::segment::{AckOptions, Outlet, SegmentFlags, SentRun, Transmission, Wires};

impl Outlet for Vec<Transmission> {
    fn put(&mut self, _: Time, run: &SentRun) {
        for nth in 0..run.count {
            let flags = SegmentFlags {
                push: run.pushes && nth + 1 == run.count,
                reduced: run.options.flags.reduced && nth == 0,
                ..run.options.flags
            };
            self.push(Transmission {
                seq: run.first + u64::from(nth),
                size: run.size,
                retransmission: false,
                cwnd: f64::from(run.cwnd),
                ssthresh: f64::from(run.ssthresh),
                flags,
            });
        }
    }
}

impl Linux {
    /// ACKs come for segments below `end`. Takes those in front that are on
    /// the fast path and surely come before a timer runs out; returns how many.
    pub(crate) fn on_acks_fast(
        &mut self,
        run: &PacketRun,
        (until, end): (Time, u64),
        wires: &mut impl Wires,
    ) -> u32 {
        let calm = self.is_fast() && self.repair.is_at_rest();
        let plain = self.options.sack && !self.path.law().paces() && self.sends_freely();
        if !calm || !plain || self.path.pace().deadline().is_some() {
            return 0;
        }
        let (mut at, mut next, mut taken) = (run.at, run.first, 0);
        let mut last = None;
        while taken < run.count && at <= until {
            let news = self.queue.acked() < next && next <= self.queue.next() && next < end;
            let now = self.clock.read(at);
            if !news || !self.timer.is_after(now.tick) {
                break;
            }
            let Some(options) = wires.carried(next) else { break };
            // `tcp_clean_rtx_queue`.
            let Some(plain) = self.queue.take_plain(next) else { break };
            wires.hear(at, next);
            self.take_fast(now, &options, &plain);
            let others = self.queue.outstanding();
            self.push_fast(now, others, wires);
            if !self.application.has_data(&self.queue) || self.application.is_bounded() {
                self.application.make_room(
                    &mut self.path,
                    now.tick,
                    self.queue.in_flight().min(others + 1),
                );
                self.write_more_fast(now, wires);
            }
            last = Some((now.us, plain, others));
            (at, next, taken) = (at + run.gap, next + u64::from(run.step), taken + 1);
        }
        if let Some((us, plain, others)) = last {
            self.repair.take_plain(us, &plain, self.queue.acked());
            self.path.pace_by_window(others);
            if !self.application.is_done() {
                self.application.write_single(&self.queue, &self.peer);
            }
            debug_assert_eq!(self.repair.stage(), Stage::Open, "nothing is repaired");
        }
        taken
    }

    /// The options of an ACK, and the segments that it acknowledges.
    #[inline(always)]
    fn take_fast(&mut self, now: Reading, options: &AckOptions, plain: &Plain) {
        // RFC 7323 section 3 (`tcp_rtt_tsopt_us`).
        self.peer.take_stamp(options.stamp);
        self.peer.take_echo(Some(u64::from(options.echo)));
        self.repair.note_progress();
        let window = u64::from(options.window);
        let plain_window = window == self.peer.window();
        self.application.take_window(&mut self.peer, window, self.queue.next());
        self.path.rate_mut().take_plain(plain.last_at);
        let rtt = now.us - plain.last_at;
        // `tcp_rtt_estimator`.
        self.path.round_trip_mut().measure(
            now.us - plain.first_at,
            rtt,
            self.queue.acked(),
            self.queue.next(),
        );
        let context = self.context(now);
        self.path.measured(Some(rtt), &context);
        self.path.arrives(plain_window, &context);
        self.path.grow(plain.count, &context);
    }

    /// Sets the timer for the ACK, and sends the segments that it releases behind the `others` that
    /// are outstanding.
    #[inline(always)]
    fn push_fast(&mut self, now: Reading, others: u32, out: &mut impl Outlet) {
        if others > 0 && self.options.tlp && self.application.has_data(&self.queue) {
            let sent = self.write_freely(now, others, out);
            // Nothing is being repaired: all that is outstanding is in flight.
            let outstanding = others + sent;
            let limited = outstanding >= self.path.cwnd();
            if sent > 0 || limited {
                // `tcp_cwnd_validate`.
                validate(self, now.tick, outstanding, limited);
            }
            // The timer of a tail loss probe (RFC 8985 section 7).
            let (repair, mut site) = self.site(now);
            match sent {
                0 => _ = repair.schedule_probe(&mut site, true),
                _ => site.schedule_probe_after(others),
            }
            return;
        }
        // The timer of a tail loss probe, else of the time-out (`tcp_rearm_rto`).
        let (repair, mut site) = self.site(now);
        if !repair.schedule_probe(&mut site, true) {
            site.rearm();
        }
        if self.application.has_data(&self.queue) {
            self.write_all_freely(now, out);
        }
    }

    /// Whether new data leave segment by segment, as soon as the window allows.
    #[inline]
    pub(super) fn sends_freely(&self) -> bool {
        self.path.pace().is_off()
            && self.application.goes_freely()
            && self.queue.counts()[..2] == [0; 2]
    }

    /// Sends the new data that both windows allow, where that [goes freely](Self::sends_freely),
    /// and sets the timer.
    pub(super) fn write_all_freely(&mut self, now: Reading, out: &mut impl Outlet) {
        let (alone, flight) = (self.queue.is_empty(), self.queue.in_flight());
        let sent = self.write_freely(now, flight, out);
        if sent > 0 {
            self.application.make_room(&mut self.path, now.tick, flight + 1);
        }
        if sent > 0 && (alone || self.timer.purpose() == Some(Purpose::Probe)) {
            self.site(now).1.rearm();
        }
        self.end_write(now.tick, sent, false);
        let (repair, mut site) = self.site(now);
        if sent > 0 {
            repair.schedule_probe(&mut site, false);
        } else if alone {
            site.check_persist();
        }
    }

    /// Sends these data, with so many segments in flight; returns how many.
    #[inline(always)]
    fn write_freely(&mut self, now: Reading, flight: u32, out: &mut impl Outlet) -> u32 {
        let room = u64::from(self.path.cwnd().saturating_sub(flight));
        let end = (self.queue.acked() + self.peer.segments())
            .min(self.application.limit())
            .min(self.queue.next() + room);
        if end <= self.queue.next() {
            return 0;
        }
        let standing = self.repair.standing();
        let mut stamp = self.path.stamp(now, flight, (&self.queue, &self.peer), standing);
        let first = self.queue.next();
        let reduced = self.repair.tell_reduction();
        let flags = SegmentFlags { push: false, reduced, markable: self.options.ecn, probe: false };
        let mut run = SentRun {
            first,
            count: 0,
            pushes: false,
            size: Bytes::new(self.options.segment_size),
            cwnd: self.path.cwnd(),
            ssthresh: self.path.ssthresh(),
            options: self.peer.options(now.tick, flags),
        };
        while self.queue.next() < end {
            run.first = self.queue.next();
            let (behind, pushes) = self.application.up_to_push(run.first, end);
            (run.count, run.pushes) = ((behind - run.first) as u32, pushes);
            self.queue.send_run(&run, now.ns, &stamp);
            out.put(now.now, &run);
            stamp.flight += run.count;
            run.options.flags.reduced = false;
        }
        let count = (end - first) as u32;
        self.path.pace_mut().sends_freely(now.ns, count);
        count
    }
}
