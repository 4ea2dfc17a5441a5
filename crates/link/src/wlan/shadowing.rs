//! Log-distance path loss with log-normal shadowing.

use burstlab_units::Probability;
use serde::{Deserialize, Serialize};

use super::air::Reach;

/// How the power of a frame falls with distance: mean power(d) = `reference_power_dbm` - 10
/// `exponent` log10(d / `reference_m`), and for each frame a normal deviation of `sigma_db` of its
/// own (Rappaport, Wireless communications, section 4.9).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shadowing {
    /// Path loss exponent; 2 in free space.
    pub exponent: f64,
    /// Standard deviation, in dB; 0: none.
    pub sigma_db: f64,
    /// Distance of the reference power, in m, positive.
    pub reference_m: f64,
    /// Mean power received there, in dBm.
    pub reference_power_dbm: f64,
    /// A frame of at least this power is received.
    pub receive_dbm: f64,
    /// A frame of at least this mean power is sensed.
    pub sense_dbm: f64,
}

impl Shadowing {
    /// By how many dB the mean power at `distance_m` (no less than the reference distance) is above
    /// the threshold for reception.
    #[must_use]
    pub fn margin_db(&self, distance_m: f64) -> f64 {
        let ratio = distance_m.max(self.reference_m) / self.reference_m;
        self.reference_power_dbm - 10.0 * self.exponent * ratio.log10() - self.receive_dbm
    }

    /// The reach between two nodes at `distance_m`. The mean power decides whether a node senses a
    /// frame, and whether it understands one for others.
    #[must_use]
    pub fn reach(&self, distance_m: f64) -> Reach {
        let margin = self.margin_db(distance_m);
        let error = Self::frame_error(margin, self.sigma_db);
        Reach {
            senses: margin + self.receive_dbm >= self.sense_dbm,
            understands: margin >= 0.0,
            data_error: error,
            control_error: error,
            ..Reach::clear()
        }
    }

    /// Chance that a frame of mean power `margin_db` above the threshold falls below it: Q(margin /
    /// sigma). Sigma 0 makes it 0 or 1.
    #[must_use]
    pub fn frame_error(margin_db: f64, sigma_db: f64) -> Probability {
        let chance = if sigma_db > 0.0 {
            normal_tail(margin_db / sigma_db)
        } else {
            f64::from(u8::from(margin_db < 0.0))
        };
        Probability::new(chance.clamp(0.0, 1.0)).expect("it is in range")
    }
}

/// The chance that a standard normal variable exceeds `x`; relative error below 1e-12 for |x| < 30.
fn normal_tail(x: f64) -> f64 {
    if x < 0.0 {
        return 1.0 - normal_tail(-x);
    }
    let density = (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
    if x < 3.0 {
        // Marsaglia (2004): the sum of x^(2k+1) / (1 3 5 ... (2k+1)), times the density.
        let (mut term, mut sum, mut odd) = (x, x, 1.0);
        while term > sum * 1e-17 {
            odd += 2.0;
            term *= x * x / odd;
            sum += term;
        }
        return 0.5 - density * sum;
    }
    // Laplace's continued fraction, from its end.
    let fraction = (1..=200).rev().fold(x, |tail, k| x + f64::from(k) / tail);
    density / fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normal_tail_has_its_tabulated_values() {
        // Abramowitz and Stegun, table 26.1 and 26.2.
        for (x, tail) in [
            (0.0, 0.5),
            (1.0, 0.158_655_253_931_457),
            (2.0, 0.022_750_131_948_179),
            (3.0, 1.349_898_031_630_09e-3),
            (5.0, 2.866_515_718_791_94e-7),
        ] {
            assert!((normal_tail(x) / tail - 1.0).abs() < 1e-12, "Q({x}) = {}", normal_tail(x));
            assert!((normal_tail(-x) - (1.0 - tail)).abs() < 1e-12);
        }
    }

    #[test]
    fn margin_and_sigma_make_the_error() {
        let model = Shadowing {
            exponent: 2.0,
            sigma_db: 4.0,
            reference_m: 1.0,
            reference_power_dbm: -20.0,
            receive_dbm: -64.0,
            sense_dbm: -78.0,
        };
        assert!((model.margin_db(100.0) - 4.0).abs() < 1e-12, "20 dB a decade");
        let near = model.reach(100.0);
        assert!(near.senses && near.understands);
        assert!((near.data_error.get() - 0.158_655_253_931_457).abs() < 1e-12);
        let far = model.reach(500.0);
        assert!(far.senses && !far.understands && far.data_error.get() > 0.5);
        assert!(!model.reach(1000.0).senses);
        let sharp = Shadowing { sigma_db: 0.0, ..model };
        assert_eq!(sharp.reach(158.0).data_error.get(), 0.0);
        assert_eq!(sharp.reach(159.0).data_error.get(), 1.0);
    }
}
