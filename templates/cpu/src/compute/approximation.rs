//! Approximations of elementary functions in `f64`, without branches, so that loops over them are vectorized. Their errors are
//! smaller than the rounding to `f32`.

use std::f64::consts::{LN_2, LOG2_E, SQRT_2};

/// Returns `e^x` with a relative error of 1e-10, for `x` within 138.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    const SHIFT: f64 = 6_755_399_441_055_744.0; // 1.5 * 2^52: adding it rounds to an integer in the low bits
    let scaled = (x * LOG2_E).clamp(-200.0, 200.0);
    let shifted = scaled + SHIFT;
    let r = (scaled - (shifted - SHIFT)) * LN_2;
    let coefficients = [
        1.0 / 5040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ];
    let p = polynomial(1.0 / 40320.0, coefficients, r);
    f64::from_bits(p.to_bits().wrapping_add(shifted.to_bits() << 52))
}

/// Returns the polynomial with these coefficients, the highest first.
#[inline(always)]
fn polynomial<const N: usize>(first: f64, coefficients: [f64; N], x: f64) -> f64 {
    let mut sum = first;
    for coefficient in coefficients {
        sum = sum * x + coefficient;
    }
    sum
}

/// Returns `e^x - 1` with a relative error of 1e-9.
#[inline(always)]
pub fn exp_minus_one(x: f64) -> f64 {
    let near = x * polynomial(
        1.0 / 40320.0,
        [
            1.0 / 5040.0,
            1.0 / 720.0,
            1.0 / 120.0,
            1.0 / 24.0,
            1.0 / 6.0,
            0.5,
            1.0,
        ],
        x,
    );
    let far = exp(x) - 1.0;
    if x.abs() < 0.25 { near } else { far }
}

/// Returns the logarithm of a normal number with a relative error of 1e-10, that of 1 exactly.
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    // x = m * 2^e, with m from sqrt(1/2) to sqrt(2)
    let bits = x
        .to_bits()
        .wrapping_add((1.0_f64.to_bits()).wrapping_sub((SQRT_2 / 2.0).to_bits()));
    let e = (bits >> 52) as i32 - 1023;
    let m = f64::from_bits((bits & 0x000F_FFFF_FFFF_FFFF).wrapping_add((SQRT_2 / 2.0).to_bits()));
    let s = (m - 1.0) / (m + 1.0);
    let coefficients = [2.0 / 11.0, 2.0 / 9.0, 2.0 / 7.0, 2.0 / 5.0, 2.0 / 3.0, 2.0];
    let ln = s * polynomial(2.0 / 13.0, coefficients, s * s) + f64::from(e) * LN_2;
    let ln = if x < f64::INFINITY { ln } else { x };
    let ln = if x > 0.0 { ln } else { f64::NAN };
    if x == 0.0 { f64::NEG_INFINITY } else { ln }
}

/// Returns the logarithm of `1 + x` with a relative error of 1e-9.
#[inline(always)]
pub fn ln_plus_one(x: f64) -> f64 {
    let near = x * polynomial(
        -1.0 / 8.0,
        [1.0 / 7.0, -1.0 / 6.0, 0.2, -0.25, 1.0 / 3.0, -0.5, 1.0],
        x,
    );
    let far = ln(1.0 + x);
    if x.abs() < 0.05 { near } else { far }
}

/// Returns the hyperbolic tangent with a relative error of 1e-9.
#[inline(always)]
pub fn hyperbolic_tangent(x: f64) -> f64 {
    let e = exp_minus_one((2.0 * x).clamp(-60.0, 60.0));
    e / (e + 2.0)
}

/// Returns `x` if it is NaN, else `value`: minima and comparisons above lose NaN.
#[inline(always)]
pub fn or_nan(x: f32, value: f64) -> f32 {
    if x.is_nan() { x } else { value as f32 }
}

/// Returns `e^x`. Underflow is gradual.
#[inline(always)]
pub fn exp_f32(x: f32) -> f32 {
    or_nan(x, exp(x.into()))
}
