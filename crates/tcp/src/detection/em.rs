//! EM-TCP: the number of bursts between failures distinguishes contention from congestion.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::named::Named;
use crate::config::Config;
use crate::discriminator::{BurstReport, Discriminator, Notice, Verdict, false_if};
use crate::moment::Moment;

/// Bursts whose place among all is known: the newest.
const KNOWN: usize = 4096;
/// Steps of the algorithm after each failure.
const STEPS: u32 = 10;
/// The least deviation of a class: half a burst.
const LEAST: f64 = 0.5;

/// Jayaraj, Venkatesh and Murthy 2008, the unsupervised variant, built from the paper's abstract:
/// the number of bursts between failures (NBBF) is Gaussian, with other parameters for contention
/// and for congestion, and clustering by expectation maximisation finds the classes. Choices are:
/// the newest failures alone are clustered; congestion is the class with fewer bursts between its
/// failures; as long as the means differ by no more than both deviations there is one class,
/// contention. The paper counts all bursts of an ingress. Here burst ACKs report the bursts with
/// segments of the connection, and those are counted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Em {
    most: usize,
    sure: f64,
    /// The place of each burst among all that have left, from 1.
    places: BTreeMap<u64, u64>,
    left: u64,
    /// The place of the last failure.
    failed: u64,
    /// The numbers of bursts between failures, newest last.
    between: VecDeque<u64>,
    /// Congestion, and contention.
    classes: [Class; 2],
    /// Segments of bursts that contention took.
    named: Named,
}

/// A Gaussian, and the share of the failures that are of its kind.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Class {
    share: f64,
    mean: f64,
    deviation: f64,
}

impl Class {
    fn density(&self, at: f64) -> f64 {
        let distance = (at - self.mean) / self.deviation;
        self.share / self.deviation * (-0.5 * distance * distance).exp()
    }
}

/// The probability that `at` is of the second class.
fn of_second(classes: &[Class; 2], at: f64) -> f64 {
    let [first, second] = classes.each_ref().map(|class| class.density(at));
    match first + second > 0.0 {
        true => second / (first + second),
        // Far from both: the nearer one.
        false => f64::from(u8::from(at > (classes[0].mean + classes[1].mean) / 2.0)),
    }
}

impl Em {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            most: config.em_recent.unwrap_or(100) as usize,
            sure: config.em_sure.unwrap_or(0.5),
            places: BTreeMap::new(),
            left: 0,
            failed: 0,
            between: VecDeque::new(),
            classes: [Class::default(); 2],
            named: Named::default(),
        }
    }

    /// Takes account of a failure; returns whether it is contention.
    fn fails(&mut self, burst: u64) -> bool {
        // A burst ACK may come late, or never.
        let place = self.places.get(&burst).copied().unwrap_or(self.left + 1);
        let between = place.saturating_sub(self.failed + 1);
        self.failed = place.max(self.failed);
        if self.between.len() == self.most {
            self.between.pop_front();
        }
        self.between.push_back(between);
        self.cluster();
        let [congestion, contention] = &self.classes;
        let apart = contention.mean - congestion.mean;
        apart <= congestion.deviation + contention.deviation
            || of_second(&self.classes, between as f64) >= self.sure
    }

    /// Expectation maximisation from the extremes, so that no state but the failures counts.
    fn cluster(&mut self) {
        let (least, most) =
            self.between.iter().fold((u64::MAX, 0), |(a, b), &n| (a.min(n), b.max(n)));
        let deviation = (most.saturating_sub(least) as f64 / 4.0).max(LEAST);
        self.classes = [least, most].map(|mean| Class { share: 0.5, mean: mean as f64, deviation });
        for _ in 0..STEPS {
            self.step();
        }
    }

    fn step(&mut self) {
        let mut sums = [[0.0; 3]; 2];
        for at in self.between.iter().map(|&n| n as f64) {
            let second = of_second(&self.classes, at);
            for (sum, weight) in sums.iter_mut().zip([1.0 - second, second]) {
                sum[0] += weight;
                sum[1] += weight * at;
                sum[2] += weight * at * at;
            }
        }
        for (class, [weight, sum, squares]) in self.classes.iter_mut().zip(sums) {
            if weight > 0.0 {
                let mean = sum / weight;
                let variance = (squares / weight - mean * mean).max(0.0);
                let share = weight / self.between.len() as f64;
                *class = Class { share, mean, deviation: variance.sqrt().max(LEAST) };
            }
        }
    }
}

impl Discriminator for Em {
    fn on_timeout(&mut self, moment: &Moment) -> Verdict {
        false_if(self.named.holds(moment.suspects().start))
    }

    fn on_progress(&mut self, next: u64) {
        self.named.forget(next);
    }

    fn on_retransmission(&mut self, seq: u64) {
        self.named.remove(seq);
    }

    fn on_burst_ack(&mut self, report: &BurstReport, _: &Moment) {
        if report.notice == Notice::Left {
            self.left += 1;
            self.places.insert(report.burst, self.left);
            if self.places.len() > KNOWN {
                self.places.pop_first();
            }
        }
    }

    /// Contention is repaired at once if it took all that may be missing, as by `"bnak"`.
    fn on_burst_nak(&mut self, report: &BurstReport, moment: &Moment) -> bool {
        let contention = self.fails(report.burst);
        if contention {
            self.named.add(report, moment);
        }
        contention && report.covers(moment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Detector, Overrides};

    fn em(recent: u32) -> Em {
        let given = Overrides {
            detector: Some(Detector::Em),
            em_recent: Some(recent),
            ..Overrides::default()
        };
        Em::new(&Config::resolve(&given).expect("is valid"))
    }

    fn report(notice: Notice, burst: u64) -> BurstReport<'static> {
        BurstReport { notice, burst, segments: &[5, 6] }
    }

    /// Bursts leave, and after so many each time one is lost; returns which losses count as
    /// contention.
    fn verdicts(em: &mut Em, between: &[u64]) -> Vec<bool> {
        let moment = Moment { first: 5, suspects: (5, 7), ..Moment::default() };
        let mut burst = 0;
        let mut found = Vec::new();
        for &between in between {
            for _ in 0..=between {
                burst += 3;
                em.on_burst_ack(&report(Notice::Left, burst), &moment);
            }
            found.push(em.on_burst_nak(&report(Notice::Dropped, burst), &moment));
        }
        found
    }

    #[test]
    fn two_kinds_of_failures_are_distinguished() {
        let between = [50, 3, 47, 2, 4, 52, 1, 3, 49, 2];
        let mut em = em(100);
        let found = verdicts(&mut em, &between);
        // The first is of one class, and the second is apart from it.
        assert_eq!(found, between.map(|n| n > 40));
        assert_eq!(em.between, between);
        let [congestion, contention] = em.classes.map(|class| (class.share, class.mean));
        // Far apart, each failure is of its class surely: the means of both halves.
        assert!((congestion.0 - 0.6).abs() < 1e-9 && (congestion.1 - 2.5).abs() < 1e-9);
        assert!((contention.0 - 0.4).abs() < 1e-9 && (contention.1 - 49.5).abs() < 1e-9);
        let spread = (5.5_f64 / 6.0).sqrt();
        assert!((em.classes[0].deviation - spread).abs() < 1e-9);
    }

    #[test]
    fn failures_of_one_kind_are_contention() {
        assert_eq!(verdicts(&mut em(100), &[20; 8]), [true; 8]);
        assert_eq!(verdicts(&mut em(100), &[20, 21, 20, 21, 20, 21]), [true; 6]);
    }

    #[test]
    fn only_the_newest_failures_count() {
        let mut em = em(4);
        let found = verdicts(&mut em, &[50, 50, 2, 2, 2, 2, 2]);
        assert_eq!(found, [true, true, false, false, false, true, true]);
    }

    #[test]
    fn a_timeout_is_excused_if_contention_took_the_first_missing_segment() {
        let waiting = |first| Moment { first, suspects: (first, 9), ..Moment::default() };
        let mut em = em(100);
        assert!(!em.on_burst_nak(&report(Notice::Dropped, 1), &waiting(5)), "7 and 8 are missing");
        assert_eq!(em.on_timeout(&waiting(5)), Verdict::False);
        assert_eq!(em.on_timeout(&waiting(7)), Verdict::True);
    }
}
