//! Losses that a scenario prescribes.

use burstlab_link::{GilbertElliott, LossProcess};
use burstlab_units::Probability;

use crate::scenario::{LossKind, LossRule};

/// The loss process of a checked rule.
pub(super) fn process(rule: &LossRule) -> LossProcess {
    let number = |value: Option<u64>| value.expect("a checked rule has its numbers");
    let chance = |value: Option<Probability>| value.expect("a checked rule has its probabilities");
    match rule.process {
        LossKind::None => LossProcess::None,
        LossKind::Bernoulli => LossProcess::Bernoulli(chance(rule.probability)),
        LossKind::Every => LossProcess::Periodic { size: 1, period: number(rule.n) },
        LossKind::Batch => {
            LossProcess::Periodic { size: number(rule.size), period: number(rule.n) }
        }
        LossKind::GilbertElliott => LossProcess::GilbertElliott(GilbertElliott::new(
            chance(rule.good_to_bad),
            chance(rule.bad_to_good),
            rule.loss_good.unwrap_or_default(),
            rule.loss_bad.or_else(|| Probability::new(1.0)).unwrap_or_default(),
        )),
        LossKind::Script => {
            let mut bursts = rule.bursts.clone().unwrap_or_default();
            bursts.sort_unstable();
            bursts.dedup();
            LossProcess::Listed(bursts)
        }
    }
}
