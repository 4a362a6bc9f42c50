//! Approximations in `f64`, for functions of `f32` with an error below 1 unit in the last place.
//!
//! They have no branches, so that loops over them are vectorized. Their relative errors are at most 2e-9, which is some
//! hundredths of a unit in the last place of `f32`. They have no `mul_add`, which is a call in the code of the baseline of
//! x86-64.

use std::f64::consts::{FRAC_1_SQRT_2, LN_2, LOG2_E};

/// The number of bits of a fraction.
const FRACTION_BITS: u32 = f64::MANTISSA_DIGITS - 1;
/// The exponent of 1.
const BIAS: u64 = 1023;

/// Returns the polynomial with these coefficients, the highest first.
#[inline(always)]
pub fn polynomial<const N: usize>(coefficients: [f64; N], x: f64) -> f64 {
    let mut sum = coefficients[0];
    for coefficient in &coefficients[1..] {
        sum = sum * x + *coefficient;
    }
    sum
}

/// Returns the natural logarithm with a relative error of 2e-12, for normal positive numbers; some number for others.
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    // 2^52: the integers below it are the bits of the fraction of its sums with them.
    const INTEGERS: f64 = (1_u64 << FRACTION_BITS) as f64;
    let offset = 1.0_f64.to_bits() - FRAC_1_SQRT_2.to_bits();
    // x = m * 2^e, with m from sqrt(1/2) to sqrt(2)
    let bits = x.to_bits().wrapping_add(offset);
    let e = f64::from_bits(bits >> FRACTION_BITS | INTEGERS.to_bits()) - (INTEGERS + BIAS as f64);
    let fraction = bits & ((1 << FRACTION_BITS) - 1);
    let m = f64::from_bits(fraction.wrapping_add(FRAC_1_SQRT_2.to_bits()));
    // The series of the inverse hyperbolic tangent.
    let t = (m - 1.0) / (m + 1.0);
    let coefficients = [
        2.0 / 13.0,
        2.0 / 11.0,
        2.0 / 9.0,
        2.0 / 7.0,
        2.0 / 5.0,
        2.0 / 3.0,
        2.0,
    ];
    e * LN_2 + t * polynomial(coefficients, t * t)
}

/// Returns `e^x` with a relative error of 3e-10, for `x` from -700 to 700; NaN for NaN.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    const SHIFT: f64 = 6_755_399_441_055_744.0; // 1.5 * 2^52: adding it rounds to an integer in the low bits
    let shifted = x * LOG2_E + SHIFT;
    let r = x - (shifted - SHIFT) * LN_2;
    let coefficients = [
        1.0 / 40320.0,
        1.0 / 5040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ];
    let n = shifted.to_bits().wrapping_sub(SHIFT.to_bits());
    polynomial(coefficients, r) * f64::from_bits(n.wrapping_add(BIAS) << FRACTION_BITS)
}

/// Returns `x^y` with an error of 1 unit in the last place, for normal positive `x` and finite `y`. The result may be infinite,
/// subnormal or 0.
#[inline(always)]
pub fn power(x: f32, y: f32) -> f32 {
    let exponent = ln(x.into()) * f64::from(y);
    exp(exponent.clamp(-110.0, 110.0)) as f32
}

/// Returns the number below which a normally distributed number is with this probability, with a relative error of 2e-9
/// for probabilities that an `f32` may have. NaN for numbers below 0 and above 1.
#[inline(always)]
pub fn normal_quantile(p: f64) -> f64 {
    // The smaller probability. Both differences are exact for an `f32` above 1/2.
    let quantile = inner_quantile(p - 0.5, (1.0 - p).min(p));
    let quantile = if (p > 0.0) & (p < 1.0) {
        quantile
    } else {
        f64::NAN
    };
    let quantile = if p == 0.0 {
        f64::NEG_INFINITY
    } else {
        quantile
    };
    if p == 1.0 { f64::INFINITY } else { quantile }
}

/// Returns the number whose error function is `x`, with the relative error of [`normal_quantile`] for numbers that an `f32` may
/// have. NaN for numbers above 1 and below -1.
#[inline(always)]
pub fn inverse_erf(x: f64) -> f64 {
    let size = x.abs();
    let inverse = inner_quantile(0.5 * x, 0.5 * (1.0 - size)) * FRAC_1_SQRT_2;
    let inverse = if size < 1.0 { inverse } else { f64::NAN };
    let infinite = f64::INFINITY.copysign(x);
    if size == 1.0 { infinite } else { inverse }
}

/// Returns [`normal_quantile`] of `q + 0.5`, which is above 0 and below 1; some number for others. `tail` is the smaller one of
/// this probability and its complement.
#[inline(always)]
fn inner_quantile(q: f64, tail: f64) -> f64 {
    let is_near = q.abs() < 7.0 / 16.0;
    let (square, x) = (q * q, (-ln(tail)).sqrt());
    // Rational functions with the least largest errors. Both are computed, since a selection of coefficients becomes a
    // branch.
    let near = [
        [
            12.745_223_947_74,
            -63.935_173_046_77,
            63.548_081_875_85,
            -22.054_981_366_38,
            2.506_628_276_783,
        ],
        [
            17.117_161_707_54,
            -44.016_003_084_99,
            33.359_640_419_42,
            -9.845_861_720_077,
            1.0,
        ],
    ];
    let far = [
        [
            0.995_540_152_044_4,
            7.000_732_813_311,
            5.753_786_731_039,
            -6.627_650_092_866,
            -2.987_936_614_511,
        ],
        [
            5.793_353_535_716e-6,
            0.703_539_706_773,
            4.969_466_350_737,
            5.577_499_636_245,
            1.0,
        ],
    ];
    let [above, below] = [polynomial(near[0], square) * q, polynomial(near[1], square)];
    let [far_above, far_below] = [polynomial(far[0], x).copysign(q), polynomial(far[1], x)];
    let above = if is_near { above } else { far_above };
    above / if is_near { below } else { far_below }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Panics if a number is not this near another one, relative to it.
    fn assert_near(x: f64, found: f64, expected: f64, error: f64) {
        let is_near = (found - expected).abs() <= error * expected.abs();
        assert!(is_near, "{x:e}: {found:e}, not {expected:e}");
    }

    #[test]
    fn logarithm_and_exponential_are_within_their_errors() {
        for i in 1..200_000_u32 {
            let x = f64::from(f32::from_bits(i * 10_000 + (1 << 23)));
            assert_near(x, ln(x), x.ln(), 2e-12);
            let x = f64::from(i) * 0.007 - 700.0;
            assert_near(x, exp(x), x.exp(), 3e-10);
        }
        assert_eq!([ln(1.0), exp(0.0)], [0.0, 1.0]);
        assert!(exp(f64::NAN).is_nan());
    }

    #[test]
    fn powers_are_within_a_unit_in_the_last_place() {
        for i in 1..100_000_u32 {
            let x = f32::from_bits(i * 20_000 + (1 << 23));
            for y in [-0.75, -0.5, 1.0, 2.5, 0.0] {
                let (found, expected) = (power(x, y), f64::from(x).powf(y.into()) as f32);
                let units = found.to_bits().abs_diff(expected.to_bits());
                assert!(units <= 1, "{x:e}^{y}: {found:e}, not {expected:e}");
            }
        }
    }
}
