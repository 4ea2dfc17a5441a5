//! The quantile of the normal distribution: algorithm AS 241 (`PPND16`) of M. J. Wichura, The
//! percentage points of the normal distribution, Applied Statistics 37(3), 1988. Rational functions
//! in three ranges; relative error about 1e-16.

/// Numerator and denominator of a rational function of degree 7, highest power first.
type Rational = ([f64; 8], [f64; 8]);

/// For |p - 1/2| <= 0.425, in 0.425^2 - (p - 1/2)^2.
const CENTRE: Rational = (
    [
        2509.0809287301227,
        33430.57558358813,
        67265.7709270087,
        45921.95393154987,
        13731.69376550946,
        1971.5909503065514,
        133.14166789178438,
        3.3871328727963665,
    ],
    [
        5226.495278852854,
        28729.085735721943,
        39307.89580009271,
        21213.794301586597,
        5394.196021424751,
        687.1870074920579,
        42.31333070160091,
        1.0,
    ],
);
/// Further out to a tail of exp(-25), in sqrt(-ln tail) - 1.6.
const SHOULDER: Rational = (
    [
        0.0007745450142783414,
        0.022723844989269184,
        0.2417807251774506,
        1.2704582524523684,
        3.6478483247632045,
        5.769497221460691,
        4.630337846156546,
        1.4234371107496835,
    ],
    [
        1.0507500716444169e-09,
        0.0005475938084995345,
        0.015198666563616457,
        0.14810397642748008,
        0.6897673349851,
        1.6763848301838038,
        2.053191626637759,
        1.0,
    ],
);
/// Beyond that, in sqrt(-ln tail) - 5.
const TAIL: Rational = (
    [
        2.0103343992922881e-07,
        2.7115555687434876e-05,
        0.0012426609473880784,
        0.026532189526576124,
        0.29656057182850487,
        1.7848265399172913,
        5.463784911164114,
        6.657904643501103,
    ],
    [
        2.0442631033899397e-15,
        1.421511758316446e-07,
        1.8463183175100548e-05,
        0.0007868691311456133,
        0.014875361290850615,
        0.1369298809227358,
        0.599832206555888,
        1.0,
    ],
);

/// The z with a chance of `probability` to fall below it; minus infinity at 0.
pub(super) fn quantile(probability: f64) -> f64 {
    let centred = probability - 0.5;
    if centred.abs() <= 0.425 {
        return centred * ratio(&CENTRE, 0.180625 - centred * centred);
    }
    let tail = if centred < 0.0 { probability } else { 1.0 - probability };
    if tail == 0.0 {
        return centred.signum() * f64::INFINITY;
    }
    let root = (-tail.ln()).sqrt();
    let z = if root <= 5.0 { ratio(&SHOULDER, root - 1.6) } else { ratio(&TAIL, root - 5.0) };
    z.copysign(centred)
}

/// The chance of a draw below `z`: J. F. Hart et al., Computer Approximations (1968), algorithm
/// 5666, as given by G. West, Better approximations to cumulative normal functions, Wilmott 2005.
pub(super) fn cumulative(z: f64) -> f64 {
    const ABOVE: [f64; 7] = [
        0.0352624965998911,
        0.700383064443688,
        6.37396220353165,
        33.912866078383,
        112.079291497871,
        221.213596169931,
        220.206867912376,
    ];
    const BELOW: [f64; 8] = [
        0.0883883476483184,
        1.75566716318264,
        16.064177579207,
        86.7807322029461,
        296.564248779674,
        637.333633378831,
        793.826512519948,
        440.413735824752,
    ];
    let x = z.abs();
    let bell = (-0.5 * x * x).exp();
    let horner = |terms: &[f64]| terms.iter().fold(0.0, |sum, term| sum * x + term);
    let tail = if x < 7.07106781186547 {
        bell * horner(&ABOVE) / horner(&BELOW)
    } else {
        let fraction = [4.0, 3.0, 2.0, 1.0].iter().fold(x + 0.65, |sum, n| x + n / sum);
        bell / fraction / 2.506628274631
    };
    if z > 0.0 { 1.0 - tail } else { tail }
}

fn ratio((numerator, denominator): &Rational, x: f64) -> f64 {
    let horner = |terms: &[f64; 8]| terms.iter().fold(0.0, |sum, term| sum * x + term);
    horner(numerator) / horner(denominator)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Check values printed with the algorithm (its introduction, PPND16), and the 97.5 % point.
    #[test]
    fn the_published_points() {
        let cases = [
            (0.25, -0.674_489_750_196_081_7),
            (0.001, -3.090_232_306_167_814),
            (1e-20, -9.262_340_089_798_408),
            (0.975, 1.959_963_984_540_054),
            (0.5, 0.0),
        ];
        for (probability, z) in cases {
            assert!((quantile(probability) - z).abs() <= 2e-15 * z.abs(), "{probability}");
        }
        assert_eq!(quantile(0.0), f64::NEG_INFINITY);
    }

    #[test]
    fn the_two_functions_invert_each_other() {
        for step in -700..=700 {
            let z = f64::from(step) * 0.01;
            let chance = cumulative(z);
            assert!((cumulative(-z) + chance - 1.0).abs() < 1e-14, "{z}");
            let back = if z > 0.0 { -quantile(cumulative(-z)) } else { quantile(chance) };
            assert!((back - z).abs() < 1e-9, "{z}: {back}");
        }
        for z in [-8.0, -12.0, -30.0] {
            assert!((quantile(cumulative(z)) - z).abs() < 1e-7, "{z}");
        }
        assert_eq!((cumulative(f64::NEG_INFINITY), cumulative(f64::INFINITY)), (0.0, 1.0));
    }

    #[test]
    fn the_ranges_join_and_mirror() {
        for edge in [0.075, (-25f64).exp()] {
            let (below, above) = (quantile(edge * (1.0 - 1e-12)), quantile(edge * (1.0 + 1e-12)));
            assert!(below < above && above - below < 1e-11, "{edge}: {below} {above}");
        }
        for exponent in 1..50 {
            let p = 2f64.powi(-exponent);
            assert!((quantile(p) + quantile(1.0 - p)).abs() < 1e-12, "{p}");
        }
    }
}
