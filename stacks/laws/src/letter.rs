//! CUBIC as RFC 9438 has it, in real numbers, with departures where they are asked for.

use crate::{Acked, Departure, INITIAL_WINDOW, Law, Lost};

/// Section 4.6 and section 5: beta_cubic and C.
const BETA: f64 = 0.7;
const C: f64 = 0.4;
/// Section 4.3: alpha_cubic until the window is what it was before the loss.
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);
/// Section 4.2: the target is at most this many windows.
const TARGET_MOST: f64 = 1.5;
/// The least window in packets (RFC 9002 section 7.2).
const LEAST: f64 = 2.0;
const SECOND: f64 = 1e6;

/// The state that a reduction changes.
#[derive(Clone, Debug)]
struct Course {
    cwnd: f64,
    ssthresh: f64,
    /// W_max, and the window before the last loss.
    maximum: f64,
    prior: f64,
    k: f64,
    /// W_est and alpha_cubic.
    estimate: f64,
    alpha: f64,
    epoch: Option<u64>,
    /// When the last repair began.
    repair: Option<u64>,
    /// Whether no loss but a time-out was the last.
    anew: bool,
}

/// RFC 9438 with some departures.
#[derive(Clone, Debug)]
pub struct Letter {
    departures: u32,
    course: Course,
    before: Option<Box<Course>>,
    /// Packets that were acknowledged towards the next whole packet.
    credit: f64,
    shortest: u64,
    /// Since when the application is what limits the sender.
    limited: Option<u64>,
    last: u64,
    /// Packets lost since the repair began.
    lost: u64,
}

impl Letter {
    /// A connection at its beginning.
    #[must_use]
    pub fn new(departures: &[Departure]) -> Self {
        let course = Course {
            cwnd: INITIAL_WINDOW as f64,
            ssthresh: f64::INFINITY,
            maximum: 0.0,
            prior: 0.0,
            k: 0.0,
            estimate: 0.0,
            alpha: ALPHA,
            epoch: None,
            repair: None,
            anew: true,
        };
        Self {
            departures: departures.iter().fold(0, |all, &one| all | 1 << one as u32),
            course,
            before: None,
            credit: 0.0,
            shortest: u64::MAX,
            limited: None,
            last: 0,
            lost: 0,
        }
    }

    /// Whether the window is below the threshold.
    #[must_use]
    pub fn in_slow_start(&self) -> bool {
        self.course.cwnd < self.course.ssthresh
    }

    /// Whether the curve is below Reno's window, in congestion avoidance.
    #[must_use]
    pub fn is_friendly(&self, now: u64) -> bool {
        let course = &self.course;
        course.epoch.is_some_and(|epoch| curve(course, seconds(now, epoch)) < course.estimate)
    }

    fn departs(&self, departure: Departure) -> bool {
        self.departures & (1 << departure as u32) != 0
    }

    /// Section 5.8: time in which the application limits the sender is no time of the curve.
    fn passes(&mut self, now: u64, limited: bool) {
        if limited {
            self.limited.get_or_insert(now);
        } else if let Some(since) = self.limited.take() {
            let counts = self.departs(Departure::LimitedCounts)
                || self.departs(Departure::LimitedCountsUnlessIdle);
            if let Some(epoch) = self.course.epoch.as_mut().filter(|_| !counts) {
                *epoch += now - since;
            }
        }
    }

    fn begin(&mut self, now: u64) {
        let at_loss = self.departs(Departure::EpochAtLoss);
        let of_maximum = self.departs(Departure::KOfMaximum);
        let course = &mut self.course;
        if course.anew {
            // Sections 4.8 and 4.10: no maximum is known.
            (course.maximum, course.prior, course.k) = (course.cwnd, course.cwnd, 0.0);
            course.epoch = Some(now);
        } else {
            let gap = match of_maximum {
                true => course.maximum * (1.0 - BETA),
                false => (course.maximum - course.cwnd).max(0.0),
            };
            course.k = (gap / C).cbrt();
            course.epoch = course.repair.filter(|_| at_loss).or(Some(now));
        }
        (course.estimate, course.alpha) = (course.cwnd, ALPHA);
    }

    /// Sections 4.2 to 4.5: the window after a packet is acknowledged in congestion avoidance.
    fn avoid(&mut self, now: u64, smoothed: f64) {
        if self.course.epoch.is_none() {
            self.begin(now);
        }
        let shortest = self.departs(Departure::ShortestRoundTrip);
        let rtt = if shortest { self.shortest as f64 / SECOND } else { smoothed };
        let time = seconds(now, self.course.epoch.unwrap_or(now));
        self.estimate(time, rtt);
        let (now_at, ahead) = (curve(&self.course, time), curve(&self.course, time + rtt));
        let cwnd = self.course.cwnd;
        let region = if self.departs(Departure::RegionAhead) { ahead } else { now_at };
        let mut grown = match region < self.course.estimate {
            true => cwnd.max(self.course.estimate),
            false => cwnd + (ahead.clamp(cwnd, TARGET_MOST * cwnd) - cwnd) / cwnd,
        };
        if self.course.anew && self.departs(Departure::TimeoutProbes) {
            grown = grown.max(cwnd + 1.0 / 20.0);
        }
        self.step(grown);
    }

    /// Section 4.3.
    fn estimate(&mut self, time: f64, rtt: f64) {
        let by_time = self.departs(Departure::EstimateByTime);
        let (stays, by_maximum) =
            (self.departs(Departure::AlphaStays), self.departs(Departure::AlphaByMaximum));
        let course = &mut self.course;
        if by_time {
            course.estimate = course.maximum * BETA + ALPHA * time / rtt;
            return;
        }
        course.estimate += course.alpha / course.cwnd;
        let from = if by_maximum { course.maximum } else { course.prior };
        if course.estimate >= from && !stays {
            course.alpha = 1.0;
        }
    }

    fn step(&mut self, grown: f64) {
        let dropped = self.departs(Departure::RestDropped);
        let whole = dropped || self.departs(Departure::WholePackets);
        let course = &mut self.course;
        if !whole {
            course.cwnd = grown;
            return;
        }
        self.credit += grown - course.cwnd;
        if self.credit >= 1.0 {
            course.cwnd += 1.0;
            self.credit = if dropped { 0.0 } else { self.credit - 1.0 };
        }
    }

    /// A fifth of the window, or two packets, is what a reduction is worth.
    fn forgives(&mut self) -> bool {
        let worth = (self.course.cwnd as u64 / 5).max(2);
        self.departs(Departure::FewLostForgiven) && self.lost < worth && self.take_back()
    }

    fn take_back(&mut self) -> bool {
        let Some(before) = self.before.as_deref() else { return false };
        // Slow start does not come back where losses are forgiven.
        let starts = before.cwnd < before.ssthresh && self.departs(Departure::FewLostForgiven);
        if starts || self.course.cwnd >= before.cwnd {
            return false;
        }
        let now = self.course.clone();
        self.course = before.clone();
        if self.departs(Departure::SpuriousWindowOnly) {
            let ssthresh = before.ssthresh.max(0.75 * before.cwnd);
            self.course = Course { cwnd: before.cwnd, ssthresh, epoch: None, ..now };
        } else if self.departs(Departure::FewLostForgiven) {
            (self.course.estimate, self.course.alpha) = (now.estimate, now.alpha);
        }
        true
    }

    fn time_out(&mut self) {
        let twice = self.departs(Departure::TimeoutTwice);
        let cwnd = if self.departs(Departure::TimeoutProbes) { 1.0 } else { LEAST };
        let course = &mut self.course;
        if twice {
            course.ssthresh = (course.ssthresh * BETA).max(LEAST);
        }
        (course.cwnd, course.anew, course.repair) = (cwnd, true, None);
    }
}

impl Law for Letter {
    fn on_sent(&mut self, now: u64, _number: u64, in_flight: u64) {
        let idle = in_flight == 0 && self.departs(Departure::LimitedCountsUnlessIdle);
        if let Some(epoch) = self.course.epoch.as_mut().filter(|_| idle) {
            *epoch += now - self.last;
        }
        self.last = now;
    }

    fn on_ack(&mut self, now: u64, acked: &Acked) {
        self.last = self.last.max(now);
        self.shortest = self.shortest.min(acked.rtt);
        if self.course.repair.is_some_and(|repair| acked.sent <= repair) {
            return;
        }
        self.passes(now, acked.limited);
        if acked.limited || self.forgives() {
            return;
        }
        if self.in_slow_start() {
            self.course.cwnd += 1.0;
        } else {
            self.avoid(now, acked.smoothed_ms as f64 / 1000.0);
        }
    }

    /// Sections 4.6 and 4.7, and 4.8 where it is a time-out.
    fn on_loss(&mut self, now: u64, lost: &Lost) {
        if self.course.repair.is_some_and(|repair| lost.sent <= repair) {
            self.lost += lost.packets;
            return;
        }
        self.before = Some(Box::new(self.course.clone()));
        self.lost = lost.packets;
        let course = &mut self.course;
        let cwnd = course.cwnd;
        course.maximum = if cwnd < course.maximum { cwnd * (1.0 + BETA) / 2.0 } else { cwnd };
        course.prior = cwnd;
        course.ssthresh = (cwnd * BETA).max(LEAST);
        course.cwnd = course.ssthresh;
        (course.epoch, course.repair, course.anew) = (None, Some(now), false);
        self.credit *= BETA;
        if lost.persistent && !self.departs(Departure::TimeoutIsLoss) {
            self.time_out();
        }
    }

    /// Section 4.9.
    fn on_spurious(&mut self, _now: u64) {
        if !self.departs(Departure::SpuriousStays) {
            self.take_back();
        }
    }

    fn window(&self) -> f64 {
        self.course.cwnd
    }
}

/// W_cubic of section 4.2, `time` seconds after the epoch.
fn curve(course: &Course, time: f64) -> f64 {
    C * (time - course.k).powi(3) + course.maximum
}

fn seconds(now: u64, since: u64) -> f64 {
    now.saturating_sub(since) as f64 / SECOND
}
