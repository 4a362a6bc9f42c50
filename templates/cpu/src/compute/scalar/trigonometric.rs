//! Trigonometric functions of `f32`, without branches, so that loops over them are vectorized. Loops over sine, cosine and
//! tangent have to be those of [`Tabulated`](crate::compute::machine::cost::Tabulated).
//!
//! They are computed in `f64` and rounded once. They use no `mul_add`: it is a call in code for the baseline of x86-64, and
//! a slow one on a machine without the instruction. So loops for the baseline are vectorized too, and
//! all levels give the same bits. The coefficients minimize the largest relative error.

use crate::compute::scalar::approximation64::polynomial;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// The first 256 bits of the fraction `1 / (2 pi)`, the higher half first.
const TURN_BITS: [u128; 2] = [
    0x28BE_60DB_9391_054A_7F09_D5F4_7D4D_3770,
    0x36D8_A566_4F10_E410_7F94_58EA_F7AE_F158,
];

/// The largest `s` of [`to_turns`], of a finite number.
const MAX_SCALE: usize = 104;

/// The fractions of [`turns`].
const TURNS: &[[f64; 128]; 2] = &turns();

/// Returns the fractions of `2^s / (2 pi)`, from -1/2 to 1/2, as sums of a higher and a lower part; NaN for `s` of infinities
/// and NaN.
///
/// The higher part has 29 bits, so that its products with numbers of 24 bits are exact. The error of the sum is below
/// `2^-84`.
const fn turns() -> [[f64; 128]; 2] {
    const UNIT: f64 = 1.0 / (1_u64 << 32) as f64;
    let mut turns = [[f64::NAN; 128]; 2];
    let mut s = 0;
    while s <= MAX_SCALE {
        // Two shifts, since a shift by 128 is an error.
        let bits = (TURN_BITS[0] << s | TURN_BITS[1] >> 1 >> (127 - s)) as i128;
        let high = (bits + (1 << 98)) >> 99;
        turns[0][s] = high as f64 * 8.0 * UNIT;
        turns[1][s] = (bits - (high << 99)) as f64 * UNIT * UNIT * UNIT * UNIT;
        s += 1;
    }
    turns
}

/// Returns `x / (2 pi)`, less some whole number, as the sum of an exact part and one below `2^-6`; NaN for infinities and NaN.
///
/// `x` is `m 2^s` with `m` below `2^24`, so its number of turns is `m` times the fraction of `2^s / (2 pi)`. The error of the
/// sum is below `2^-59` for all numbers. No `f32` except 0 is nearer to a multiple of a quarter turn than `2^-32`.
#[inline(always)]
fn to_turns(x: f32) -> (f64, f64) {
    let bits = x.to_bits();
    let s = (bits >> 23 & 0xFF).max(150).wrapping_sub(150);
    let m = f64::from(f32::from_bits(bits.wrapping_sub(s << 23)));
    // The mask removes the check of the bounds.
    let s = (s & 127) as usize;
    (m * TURNS[0][s], m * TURNS[1][s])
}

/// Returns a number whose sum with some `x` is `x`, rounded to a multiple of `2^-bits`, plus this number. The lowest bit of
/// the sum is that of the multiple.
const fn rounding_shift(bits: u32) -> f64 {
    1.5 * (1_u64 << (52 - bits)) as f64
}

/// Returns the sine of `f` turns, with a relative error of `2^-35` for `f` from -1/4 to 1/4, and of `2^-30` up to `2^-6` beyond.
#[inline(always)]
fn sine_of_turns(f: f64) -> f64 {
    let coefficients = [
        -14.381_390_676_148_33,
        42.007_797_129_748_376,
        -76.704_170_252_153_13,
        81.605_223_690_136_03,
        -41.341_702_096_926_13,
        6.283_185_307_046_692,
    ];
    f * polynomial(coefficients, f * f)
}

/// Returns `x`, negated if the lowest bit of `count` is 1.
#[inline(always)]
fn negate_if_odd(x: f64, count: f64) -> f64 {
    f64::from_bits(x.to_bits() ^ count.to_bits() << 63)
}

/// Returns the sine with an error of 0.52 units in the last place; NaN for infinities.
#[inline(always)]
pub fn sine(x: f32) -> f32 {
    const SHIFT: f64 = rounding_shift(1);
    let (high, low) = to_turns(x);
    let shifted = high + SHIFT;
    let sine = sine_of_turns((high - (shifted - SHIFT)) + low);
    negate_if_odd(sine, shifted) as f32
}

/// Returns the cosine with an error of 0.52 units in the last place; NaN for infinities.
#[inline(always)]
pub fn cosine(x: f32) -> f32 {
    const SHIFT: f64 = rounding_shift(1);
    let (high, low) = to_turns(x.abs());
    // The cosine is a sine of the distance to a half turn plus a quarter.
    let shifted = (high - 0.25) + SHIFT;
    let sine = sine_of_turns((((shifted - SHIFT) + 0.25) - high) - low);
    negate_if_odd(sine, shifted) as f32
}

/// Returns the tangent with an error of 0.53 units in the last place; NaN for infinities.
#[inline(always)]
pub fn tangent(x: f32) -> f32 {
    const SHIFT: f64 = rounding_shift(2);
    let (high, low) = to_turns(x);
    let shifted = high + SHIFT;
    let f = (high - (shifted - SHIFT)) + low;
    let square = f * f;
    // The quotient is the tangent of f turns, with a relative error of 2^-35 for f from -1/8 to 1/8, and of 2^-28 up to
    // 2^-6 beyond.
    let numerator = [
        10.528_591_646_606_365,
        -27.623_228_752_729_123,
        6.283_185_307_318_364,
    ];
    let denominator = [24.895_256_984_555_882, -17.555_845_869_333_726, 1.0];
    let numerator = f * polynomial(numerator, square);
    let denominator = polynomial(denominator, square);
    let is_odd = shifted.to_bits() & 1 == 1;
    let tangent = if is_odd { -denominator } else { numerator }
        / if is_odd { numerator } else { denominator };
    tangent as f32
}

/// Returns the angle of a point whose coordinates are positive or 0, from 0 to pi/2, with a relative error of `2^-31`.
#[inline(always)]
fn positive_angle(y: f64, x: f64) -> f64 {
    const TAN_FRAC_PI_8: f64 = std::f64::consts::SQRT_2 - 1.0;
    let is_steep = y > x;
    let (smaller, larger) = if is_steep { (x, y) } else { (y, x) };
    let is_far = smaller > TAN_FRAC_PI_8 * larger;
    let numerator = if is_far { smaller - larger } else { smaller };
    let denominator = if is_far { smaller + larger } else { larger };
    let tangent = numerator / denominator;
    let coefficients = [
        -0.060_347_904_816_713_83,
        0.105_734_798_743_209_25,
        -0.142_400_830_207_872_8,
        0.199_982_169_484_974_13,
        -0.333_333_076_258_621_74,
        0.999_999_999_396_673_3,
    ];
    let angle = tangent * polynomial(coefficients, tangent * tangent);
    let angle = if is_far { angle + FRAC_PI_4 } else { angle };
    if is_steep { FRAC_PI_2 - angle } else { angle }
}

/// Returns the angle of the point `(x, y)`, from -pi to pi, with an error of 0.52 units in the last place.
///
/// Zeros and infinities give the angles of the C library's `atan2`: those of points near them, and for negative zeros those
/// of points below `y = 0` and left of `x = 0`.
#[inline(always)]
pub fn angle(y: f32, x: f32) -> f32 {
    let is_origin = x == 0.0 && y == 0.0;
    // Quotients of finite numbers and the limit are 0 in `f32`. That of the limit and itself is 1.
    let height = at_most(f64::from(y.abs()), 1e200);
    let width = at_most(f64::from(x.abs()), 1e200);
    let angle = positive_angle(height, if is_origin { 1.0 } else { width });
    let angle = if x.is_sign_negative() {
        PI - angle
    } else {
        angle
    };
    (angle as f32).copysign(y)
}

/// Returns the smaller number; NaN for NaN.
#[inline(always)]
fn at_most(x: f64, limit: f64) -> f64 {
    if x > limit { limit } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::{Isa, cost, map};

    const SPECIAL: [f32; 12] = [
        0.0,
        -0.0,
        0.5,
        -0.5,
        1.0,
        -1.0,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        f32::MAX,
        f32::MIN_POSITIVE,
        // The nearest of all to a multiple of a quarter turn.
        7.729_179e28,
    ];

    /// Returns numbers of all magnitudes, and those next to multiples of a quarter turn.
    fn numbers() -> Vec<f32> {
        let all = (0..=u32::MAX).step_by(40_009).map(f32::from_bits);
        let powers = (10..124).map(|i| f64::from(i).exp2());
        let multiples = (1..2000).map(f64::from).chain(powers).flat_map(|count| {
            let multiple = (count * FRAC_PI_2) as f32;
            [multiple.next_down(), multiple, -multiple.next_up()]
        });
        all.chain(multiples).chain(SPECIAL).collect()
    }

    /// Compares a result with the exact one: it has its sign, and differs by 0.53 units in the last place at most.
    fn is_near(found: f32, exact: f64) -> bool {
        let nearest = (exact as f32).abs();
        let unit = f64::from(nearest.next_up()) - f64::from(nearest);
        let is_near = (f64::from(found) - exact).abs() <= 0.53 * unit;
        let has_sign = found.is_sign_negative() == exact.is_sign_negative();
        is_near && has_sign || found.is_nan() && exact.is_nan()
    }

    /// Compares a function with that of `f64`, on every instruction set.
    fn check(name: &str, f: impl Fn(f32) -> f32 + Sync, exact: fn(f64) -> f64) {
        let x = numbers();
        let results = Isa::available().map(|isa| {
            let mut results = vec![0.0; x.len()];
            isa.scope(|| map::map1_with_cost(cost::Tabulated, &x, &mut results, &f));
            results
        });
        let results: Vec<_> = results.collect();
        for (i, x) in x.iter().enumerate() {
            let found = results[0][i];
            let exact = exact(f64::from(*x));
            assert!(
                is_near(found, exact),
                "{name} {x:e}: {found:e}, not {exact:e}"
            );
            for other in &results {
                let is_same =
                    other[i].to_bits() == found.to_bits() || found.is_nan() && other[i].is_nan();
                assert!(is_same, "{name} {x:e}: {found:e} and {:e}", other[i]);
            }
        }
    }

    #[test]
    fn functions_are_within_units_in_the_last_place_on_every_isa() {
        check("sin", sine, f64::sin);
        check("cos", cosine, f64::cos);
        check("tan", tangent, f64::tan);
    }

    #[test]
    fn angles_of_points_are_those_of_the_c_library() {
        let some = numbers().into_iter().step_by(331);
        let numbers: Vec<_> = some.chain(SPECIAL).collect();
        for y in &numbers {
            for x in &numbers {
                let exact = f64::from(*y).atan2(f64::from(*x));
                let found = angle(*y, *x);
                assert!(
                    is_near(found, exact),
                    "{y:e} {x:e}: {found:e}, not {exact:e}"
                );
            }
        }
    }
}
