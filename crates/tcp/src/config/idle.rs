//! Parameters that an endpoint never reads, because of the choice that another parameter makes.

use crate::detection::{Listens, NakDelay};

use super::{
    BackMode, Config, Detector, RtoEstimator, SackRecovery, SsthreshBasis, Variant, WindowLaw,
};

/// Parameters, whether an endpoint reads them, and the choice that lets it.
type Rule = (&'static [&'static str], fn(&Config) -> bool, &'static str);

const RULES: &[Rule] = &[
    (
        &["vegas_rules", "vegas_alpha", "vegas_beta", "vegas_gamma", "vegas_threshold"],
        has_vegas,
        "variant = \"vegas\"",
    ),
    (
        &["vegas_recent", "vegas_margin"],
        |c| has_vegas(c) && c.vegas_threshold.is_some(),
        "variant = \"vegas\" and vegas_threshold = 5",
    ),
    (
        &["aimd_alpha", "aimd_beta"],
        |c| is_classic(c) && matches!(c.window_law, WindowLaw::Aimd | WindowLaw::Bcl),
        "variant = \"sack\" and window_law = \"aimd\"",
    ),
    (
        &["saimd_short", "saimd_long"],
        |c| c.window_law == WindowLaw::Saimd,
        "window_law = \"saimd\"",
    ),
    (
        &["saimd_sure"],
        |c| c.window_law == WindowLaw::Saimd && c.detector == Detector::Law,
        "window_law = \"saimd\" and detector = \"law\"",
    ),
    (&["bcl_alpha", "bcl_beta"], |c| c.window_law == WindowLaw::Bcl, "window_law = \"bcl\""),
    (&["fast_alpha", "fast_gamma"], |c| c.window_law == WindowLaw::Fast, "window_law = \"fast\""),
    (&["sack_block_size", "sack_blocks"], Config::has_sack, "variant = \"sack\""),
    (
        &["ncr"],
        |c| c.variant == Variant::Sack && c.sack_recovery == SackRecovery::Rfc6675,
        "variant = \"sack\" and sack_recovery = \"rfc6675\"",
    ),
    (&["sack_recovery"], |c| c.variant == Variant::Sack, "variant = \"sack\""),
    (
        &["limited_transmit"],
        |c| !matches!(c.variant, Variant::Linux | Variant::Vegas),
        "variant = \"sack\"",
    ),
    (
        &[
            "max_burst",
            "ssthresh_basis",
            "cwnd_limited",
            "first_window_fast_retransmit",
            "syn_loss_initial_window",
            "rto_estimator",
            "rto_tick",
            "rto_backoff_max",
            "rto_backoff_past_max",
            "rto_backoff_end",
            "rto_fixed",
        ],
        is_classic,
        "variant = \"sack\"",
    ),
    (
        &["window_halving"],
        |c| is_classic(c) && c.ssthresh_basis == SsthreshBasis::Window,
        "ssthresh_basis = \"window\"",
    ),
    (
        &["rto_clock_phase"],
        |c| !is_classic(c) || c.rto_estimator == RtoEstimator::Ticks,
        "rto_estimator = \"ticks\"",
    ),
    (
        &["delayed_ack_timeout", "delayed_ack_every"],
        |c| is_classic(c) && c.delayed_ack,
        "delayed_ack = true",
    ),
    (
        &["fast_recovery_exit", "inflate_always"],
        |c| matches!(c.variant, Variant::Reno | Variant::NewReno),
        "variant = \"reno\"",
    ),
    (&["reno_fast_retransmits"], |c| c.variant == Variant::Reno, "variant = \"reno\""),
    (
        &["new_reno_timer", "new_reno_deflation", "new_reno_burst"],
        |c| c.variant == Variant::NewReno,
        "variant = \"new-reno\"",
    ),
    (
        &["detector_window_min"],
        |c| !matches!(c.detector, Detector::None | Detector::Oracle),
        "detector = \"ble\"",
    ),
    (&["ble_order", "ble_burst_min"], |c| c.detector == Detector::Ble, "detector = \"ble\""),
    (&["class_notices"], Config::has_judging_class, "detector = \"law\""),
    (&["em_recent", "em_sure"], |c| c.detector == Detector::Em, "detector = \"em\""),
    (
        &["back_mode"],
        |c| Listens::of(c).to_edges() && c.detector != Detector::Em,
        "detector = \"back\"",
    ),
    (
        &["back_egress_unknown"],
        |c| c.detector == Detector::Back && c.back_mode == BackMode::Egress,
        "detector = \"back\" and back_mode = \"egress\"",
    ),
    (&["bnak_partial"], |c| c.detector == Detector::Bnak, "detector = \"bnak\""),
    (
        &["bnak_delay"],
        |c| matches!(Listens::of(c).dropped, Some(NakDelay::Path | NakDelay::Rtt)),
        "detector = \"bnak\"",
    ),
    (&["d_sack"], Config::has_sack, "sack = true"),
    (&["rack_adapts", "rack_counts"], |c| c.rack == Some(true), "rack = true"),
    (
        &["bbr_phase"],
        |c| matches!(c.window_law, WindowLaw::Bbr | WindowLaw::Bbr3),
        "window_law = \"bbr\"",
    ),
];

fn is_classic(config: &Config) -> bool {
    config.variant != Variant::Linux
}

/// Vegas of Linux has the numbers of Linux.
fn has_vegas(config: &Config) -> bool {
    is_classic(config)
        && (config.variant == Variant::Vegas || config.window_law == WindowLaw::Vegas)
}

impl Config {
    /// The setting that lets an endpoint look at a parameter, if this one never does.
    #[must_use]
    pub fn lacks(&self, field: &str) -> Option<&'static str> {
        let rule = RULES.iter().find(|(fields, ..)| fields.contains(&field));
        rule.filter(|(_, looks, _)| !looks(self)).map(|&(_, _, what)| what)
    }

    /// Whether a class of Python judges losses.
    pub(crate) fn has_judging_class(&self) -> bool {
        match self.detector {
            Detector::Law => self.window_law == WindowLaw::Python,
            other => other == Detector::Python,
        }
    }

    /// Whether ACKs carry SACK blocks.
    fn has_sack(&self) -> bool {
        match self.variant {
            Variant::Sack => true,
            Variant::Linux => self.sack == Some(true),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Overrides;

    fn config(overrides: &Overrides) -> Config {
        Config::resolve(overrides).expect("it is an endpoint")
    }

    #[test]
    fn a_parameter_of_another_choice_is_lacked() {
        let sack = config(&Overrides::default());
        assert_eq!(sack.lacks("vegas_alpha"), Some("variant = \"vegas\""));
        assert_eq!(sack.lacks("new_reno_burst"), Some("variant = \"new-reno\""));
        assert_eq!(sack.lacks("ble_order"), Some("detector = \"ble\""));
        for field in ["window", "sack_blocks", "rto_tick", "delayed_ack_every"] {
            assert_eq!(sack.lacks(field), None, "{field}");
        }
        let late = config(&Overrides { delayed_ack: Some(false), ..Overrides::default() });
        assert_eq!(late.lacks("delayed_ack_every"), Some("delayed_ack = true"));
        let linux = config(&Overrides { variant: Some(Variant::Linux), ..Overrides::default() });
        assert_eq!(linux.lacks("rto_fixed"), Some("variant = \"sack\""));
        assert_eq!(linux.lacks("rto_clock_phase"), None);
        assert_eq!(linux.lacks("bbr_phase"), Some("window_law = \"bbr\""));
    }

    /// A rule of no parameter would be of nothing.
    #[test]
    fn every_rule_is_of_parameters_that_there_are() {
        let schema = schemars::schema_for!(Overrides).to_value();
        for field in RULES.iter().flat_map(|(fields, ..)| *fields) {
            assert!(schema["properties"].get(*field).is_some(), "{field}");
        }
    }
}
