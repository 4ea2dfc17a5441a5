//! The natural logarithm, by operations that are the same on every machine, and without a call, so
//! that several are worked on side by side.

/// The logarithm of a positive number that is not subnormal, nor infinite; its error is below one
/// unit in the last place.
///
/// x = 2^k (1 + f), with 1 + f from the root of 1/2 to that of 2; ln(1 + f) = 2 artanh(s), s =
/// f/(2 + f), by a polynomial in s^2. Its coefficients, and the order in which parts are added, are
/// those of `e_log.c` of Sun's fdlibm (K. C. Ng, 1993).
#[inline]
pub(super) fn ln(x: f64) -> f64 {
    const HALF_ROOT: u64 = 0x3fe6_a09e_667f_3bcd;
    const BIAS: u64 = 1024;
    const TWO_52: u64 = 0x4330_0000_0000_0000;
    const LN2_HIGH: f64 = 0.6931471803691238;
    const LN2_LOW: f64 = 1.9082149292705877e-10;
    const ODD: [f64; 4] =
        [0.6666666666666735, 0.2857142874366239, 0.1818357216161805, 0.14798198605116586];
    const EVEN: [f64; 3] = [0.3999999999940942, 0.22222198432149784, 0.15313837699209373];
    let bits = x.to_bits();
    // The exponent, above zero.
    let raised = bits.wrapping_add((BIAS << 52).wrapping_sub(HALF_ROOT)) >> 52;
    let scaled = bits.wrapping_sub(raised << 52).wrapping_add(BIAS << 52);
    let k = f64::from_bits(TWO_52 | raised) - (f64::from_bits(TWO_52) + BIAS as f64);
    let f = f64::from_bits(scaled) - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let even = w * (EVEN[0] + w * (EVEN[1] + w * EVEN[2]));
    let odd = z * (ODD[0] + w * (ODD[1] + w * (ODD[2] + w * ODD[3])));
    let half = 0.5 * f * f;
    k * LN2_HIGH - ((half - (s * (half + (odd + even)) + k * LN2_LOW)) - f)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_ends_of_its_ranges() {
        assert_eq!(ln(1.0), 0.0);
        assert_eq!(ln(2f64.powi(-53)), -53.0 * std::f64::consts::LN_2);
        for x in [0.5f64.sqrt(), 2f64.sqrt(), f64::MIN_POSITIVE, f64::MAX, 1.0 - f64::EPSILON] {
            for x in [x, x.next_down().max(f64::MIN_POSITIVE), x.next_up().min(f64::MAX)] {
                assert!((ln(x) - x.ln()).abs() <= f64::EPSILON * x.ln().abs(), "{x:e}");
            }
        }
    }

    proptest! {
        #[test]
        fn it_is_within_a_unit_of_the_library(x in 0.0..1.0, k in -60i32..60) {
            let x = (x + f64::EPSILON) * 2f64.powi(k);
            prop_assert!((ln(x) - x.ln()).abs() <= f64::EPSILON * x.ln().abs(), "{x:e}");
        }
    }
}
