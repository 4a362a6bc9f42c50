//! Inverse trigonometric functions of `f32`, without branches, so that loops over them are vectorized.
//!
//! As those of [`approximation`](crate::compute::approximation), they use `mul_add`, and their coefficients minimize the largest
//! relative error.

use crate::compute::scalar::approximation::polynomial;
use std::f32::consts::{FRAC_PI_2, PI};

/// The difference of pi/2 and its nearest `f32`.
const FRAC_PI_2_LOW: f32 = -4.371_139e-8;

/// Returns true and the angle whose sine is the root of `(1 - |x|) / 2` if `|x|` is above 1/2, or else false and the angle
/// whose sine is `|x|`.
#[inline(always)]
fn reduced_arc_sine(x: f32) -> (bool, f32) {
    let magnitude = x.abs();
    let is_far = magnitude > 0.5;
    let half_distance = 0.5 - 0.5 * magnitude;
    let (sine, square) = if is_far {
        (half_distance.sqrt(), half_distance)
    } else {
        (magnitude, magnitude * magnitude)
    };
    let coefficients = [
        0.042_166_334,
        0.024_179_501,
        0.045_470_38,
        0.074_952_975,
        0.166_667_52,
    ];
    let angle = (sine * square).mul_add(polynomial(coefficients, square), sine);
    (is_far, angle)
}

/// Returns the angle of a sine, from -pi/2 to pi/2, with an error of 2.5 units in the last place; NaN for numbers beyond 1.
#[inline(always)]
pub fn arc_sine(x: f32) -> f32 {
    let (is_far, angle) = reduced_arc_sine(x);
    let far = FRAC_PI_2 - (2.0 * angle - FRAC_PI_2_LOW);
    (if is_far { far } else { angle }).copysign(x)
}

/// Returns the angle of a cosine, from 0 to pi, with an error of 1.5 units in the last place; NaN for numbers beyond 1.
#[inline(always)]
pub fn arc_cosine(x: f32) -> f32 {
    let (is_far, angle) = reduced_arc_sine(x);
    let (far, near) = (2.0 * angle, angle.copysign(x));
    let far = if x < 0.0 {
        PI - (far - 2.0 * FRAC_PI_2_LOW)
    } else {
        far
    };
    if is_far {
        far
    } else {
        FRAC_PI_2 - (near - FRAC_PI_2_LOW)
    }
}

/// Returns the angle of a tangent, from -pi/2 to pi/2, with an error of 1.5 units in the last place.
#[inline(always)]
pub fn arc_tangent(x: f32) -> f32 {
    let magnitude = x.abs();
    let is_steep = magnitude > 1.0;
    let tangent = if is_steep { 1.0 } else { magnitude } / if is_steep { magnitude } else { 1.0 };
    let square = tangent * tangent;
    let coefficients = [
        0.002_920_684_6,
        -0.016_367_9,
        0.043_211_814,
        -0.075_522_1,
        0.106_660_03,
        -0.142_110_56,
        0.199_937_73,
        -0.333_331_53,
    ];
    let angle = (tangent * square).mul_add(polynomial(coefficients, square), tangent);
    let steep = FRAC_PI_2 - (angle - FRAC_PI_2_LOW);
    (if is_steep { steep } else { angle }).copysign(x)
}
