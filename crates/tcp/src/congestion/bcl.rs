//! TCP-BCL: the steps of AIMD follow reports of bursts that were lost in contention.

use serde::{Deserialize, Serialize};

use super::Aimd;
use crate::config::Config;
use crate::detection::named::Named;
use crate::discriminator::{BurstReport, Discriminator, Verdict, false_if};
use crate::moment::Moment;

/// AIMD with two pairs of steps (Shihada and Ho 2008). Built from the paper's abstract: an explicit
/// notice of a burst lost in contention, from the edge node, tunes alpha and beta. The abstract has
/// no rule. Here a loss is contention if a burst NAK has named the first missing segment. The pair
/// of the last loss is in force. The repair begins with the NAK if its burst holds all that is
/// missing, as with the detector `"bnak"`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Bcl {
    usual: Aimd,
    contended: Aimd,
    /// Whether the last loss was contention.
    was_contention: bool,
    named: Named,
}

impl Bcl {
    pub(crate) fn new(config: &Config) -> Self {
        let contended = Aimd {
            alpha: config.bcl_alpha.unwrap_or(Aimd::USUAL.alpha),
            beta: config.bcl_beta.unwrap_or(0.875),
        };
        Self { usual: Aimd::new(config), contended, was_contention: false, named: Named::default() }
    }

    /// The steps in force.
    pub(super) fn steps(&self) -> &Aimd {
        if self.was_contention { &self.contended } else { &self.usual }
    }

    /// The rest of `window` after the loss of segment `first`.
    pub(super) fn reduced(&mut self, window: f64, first: u64) -> f64 {
        self.was_contention = self.named.holds(first);
        self.steps().reduced(window)
    }

    /// The rest of `window` after a loss that is contention.
    pub(super) fn excused(&mut self, window: f64) -> f64 {
        self.was_contention = true;
        self.contended.reduced(window)
    }
}

impl Discriminator for Bcl {
    fn on_timeout(&mut self, moment: &Moment) -> Verdict {
        false_if(self.named.holds(moment.first))
    }

    fn on_progress(&mut self, next: u64) {
        self.named.forget(next);
    }

    fn on_retransmission(&mut self, seq: u64) {
        self.named.remove(seq);
    }

    fn on_burst_nak(&mut self, report: &BurstReport, moment: &Moment) -> bool {
        self.named.add(report, moment);
        report.covers(moment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Detector, Overrides, WindowLaw};
    use crate::discriminator::Notice;

    fn law() -> Bcl {
        let given = Overrides {
            window_law: Some(WindowLaw::Bcl),
            detector: Some(Detector::Law),
            bcl_alpha: Some(2.0),
            bcl_beta: Some(0.75),
            ..Overrides::default()
        };
        Bcl::new(&Config::resolve(&given).expect("is valid"))
    }

    fn waiting(first: u64, end: u64) -> Moment {
        Moment { first, suspects: (first, end), ..Moment::default() }
    }

    fn nak(law: &mut Bcl, segments: &[u64], moment: &Moment) -> bool {
        law.on_burst_nak(&BurstReport { notice: Notice::Dropped, burst: 1, segments }, moment)
    }

    #[test]
    fn a_loss_that_a_notice_named_has_steps_of_its_own_until_the_next_loss() {
        let mut law = law();
        assert_eq!((law.steps().grown(8.0), law.reduced(8.0, 5)), (8.125, 4.0));
        assert!(!nak(&mut law, &[5, 6], &waiting(5, 9)), "7 and 8 are missing too");
        assert_eq!((law.reduced(8.0, 5), law.steps().grown(8.0)), (6.0, 8.25));
        assert_eq!((law.reduced(8.0, 7), law.steps().grown(8.0)), (4.0, 8.125), "was not named");
    }

    #[test]
    fn a_notice_of_all_that_is_missing_repairs_at_once() {
        let mut law = law();
        assert!(nak(&mut law, &[5, 6, 7, 8], &waiting(5, 9)));
        assert_eq!(law.excused(8.0), 6.0);
        assert_eq!(law.steps().grown(8.0), 8.25);
    }

    #[test]
    fn a_timeout_is_excused_if_a_notice_named_the_first_missing_segment() {
        let mut law = law();
        nak(&mut law, &[5, 6], &waiting(5, 9));
        assert_eq!(law.on_timeout(&waiting(5, 9)), Verdict::False);
        assert_eq!(law.on_timeout(&waiting(7, 9)), Verdict::True);
        law.on_retransmission(5);
        assert_eq!(law.on_timeout(&waiting(5, 9)), Verdict::True, "it was lost again");
        law.on_progress(7);
        assert!((5..9).all(|seq| !law.named.holds(seq)));
        nak(&mut law, &[5, 6], &waiting(7, 9));
        assert!((5..9).all(|seq| !law.named.holds(seq)), "they have arrived");
    }
}
