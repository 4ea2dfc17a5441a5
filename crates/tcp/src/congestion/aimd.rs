//! Additive increase, multiplicative decrease.

use serde::{Deserialize, Serialize};

use crate::config::Config;

/// By `alpha` segments each round trip, to `beta` of the window at a loss (GAIMD: Yang and Lam,
/// "General AIMD congestion control", ICNP 2000).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Aimd {
    pub(crate) alpha: f64,
    pub(super) beta: f64,
}

impl Aimd {
    /// RFC 5681 sections 3.1 (3) and (4); ns-2 `windowOption_ 1`, `increase_num_ 1`,
    /// `decrease_num_ 0.5`.
    pub(crate) const USUAL: Self = Self { alpha: 1.0, beta: 0.5 };

    /// Without an `aimd_alpha` of its own it has the mean window of RFC 5681, as long as no timer
    /// fires: sqrt(alpha (1 + beta) / (2 (1 - beta) p)) where every 1/p-th segment is lost (Floyd,
    /// Handley and Padhye 2000, section 2).
    pub(crate) fn new(config: &Config) -> Self {
        let beta = config.aimd_beta.unwrap_or(Self::USUAL.beta);
        let alpha = config.aimd_alpha.unwrap_or(3.0 * (1.0 - beta) / (1.0 + beta));
        Self { alpha, beta }
    }

    pub(crate) fn grown(&self, cwnd: f64) -> f64 {
        cwnd + self.alpha / cwnd.max(1.0)
    }

    pub(crate) fn reduced(&self, window: f64) -> f64 {
        window * self.beta
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Overrides;

    fn law(alpha: Option<f64>, beta: Option<f64>) -> Aimd {
        let given = Overrides { aimd_alpha: alpha, aimd_beta: beta, ..Overrides::default() };
        Aimd::new(&Config::resolve(&given).expect("is valid"))
    }

    #[test]
    fn without_fields_it_is_rfc_5681() {
        let usual = law(None, None);
        assert_eq!((usual.grown(8.0), usual.reduced(9.0)), (8.125, 4.5));
        assert_eq!((usual.alpha, usual.beta), (Aimd::USUAL.alpha, Aimd::USUAL.beta));
    }

    #[test]
    fn alpha_and_beta_set_the_steps() {
        let law = law(Some(0.25), Some(0.75));
        assert_eq!((law.grown(8.0), law.reduced(8.0)), (8.03125, 6.0));
    }

    #[test]
    fn alpha_follows_beta_so_that_the_mean_window_stays() {
        assert_eq!(law(None, Some(0.8)).alpha, 3.0 * (1.0 - 0.8) / 1.8);
        assert!((law(None, Some(0.875)).alpha - 0.2).abs() < 1e-12);
    }

    #[test]
    fn what_is_no_law_is_refused() {
        for (alpha, beta, field) in [
            (Some(0.0), None, "aimd_alpha"),
            (Some(f64::NAN), None, "aimd_alpha"),
            (Some(1001.0), None, "aimd_alpha"),
            (None, Some(1.0), "aimd_beta"),
            (None, Some(0.0), "aimd_beta"),
        ] {
            let given = Overrides { aimd_alpha: alpha, aimd_beta: beta, ..Overrides::default() };
            let error = Config::resolve(&given).expect_err("is refused");
            assert_eq!(error.field, field);
            assert!(error.fix.starts_with("write "), "{error}");
        }
    }
}
