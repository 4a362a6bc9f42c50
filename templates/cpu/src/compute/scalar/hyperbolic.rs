//! Inverse hyperbolic functions of `f32`, computed in `f64`: their error is at most 1 unit in the last place. They have no
//! branches, so that loops over them are vectorized.

use crate::compute::scalar::approximation64::{ln, polynomial};

/// The argument below which a few terms of a series are exact enough, and a logarithm near 1 is not.
const SMALL: f64 = 0.01;

/// Returns the number whose hyperbolic cosine is `x`; NaN of numbers below 1.
#[inline(always)]
pub fn inverse_cosh(x: f64) -> f64 {
    let result = ln(x + ((x - 1.0) * (x + 1.0)).sqrt());
    let result = if x < f64::INFINITY { result } else { x };
    if x < 1.0 { f64::NAN } else { result }
}

/// Returns the number whose hyperbolic sine is `x`.
#[inline(always)]
pub fn inverse_sinh(x: f64) -> f64 {
    let size = x.abs();
    let series = polynomial([3.0 / 40.0, -1.0 / 6.0, 1.0], x * x) * x;
    let result = ln(size + (size * size + 1.0).sqrt()).copysign(x);
    let result = if size < SMALL { series } else { result };
    if size < f64::INFINITY { result } else { x }
}

/// Returns the number whose hyperbolic tangent is `x`; NaN of numbers above 1 and below -1.
#[inline(always)]
pub fn inverse_tanh(x: f64) -> f64 {
    let size = x.abs();
    let series = polynomial([0.2, 1.0 / 3.0, 1.0], x * x) * x;
    let result = 0.5 * ln((1.0 + size) / (1.0 - size)).copysign(x);
    let result = if size < SMALL { series } else { result };
    let result = if size < 1.0 { result } else { f64::NAN };
    let infinite = f64::INFINITY.copysign(x);
    if size == 1.0 { infinite } else { result }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Panics if a function of floats from all binades differs from one of `f64` by more than a unit in the last place.
    fn assert_near(function: fn(f64) -> f64, exact: impl Fn(f64) -> f64) {
        let numbers = (0..1_000_000).map(|i| f32::from_bits(i * 4_293));
        for x in numbers {
            let (found, expected) = (function(x.into()) as f32, exact(x.into()) as f32);
            let units = found.to_bits().abs_diff(expected.to_bits());
            let is_nan = found.is_nan() && expected.is_nan();
            assert!(units <= 1 || is_nan, "{x:e}: {found:e}, not {expected:e}");
        }
    }

    #[test]
    fn results_are_within_a_unit_in_the_last_place() {
        use crate::compute::scalar::special::Special;
        assert_near(inverse_cosh, Special::inverse_cosh);
        assert_near(inverse_sinh, Special::inverse_sinh);
        assert_near(inverse_tanh, Special::inverse_tanh);
    }

    #[test]
    fn limits_and_signs_are_those_of_the_functions() {
        let infinity = f64::INFINITY;
        assert_eq!([1.0, infinity].map(inverse_cosh), [0.0, infinity]);
        assert_eq!(
            [-infinity, infinity].map(inverse_sinh),
            [-infinity, infinity]
        );
        assert_eq!([-1.0, 1.0].map(inverse_tanh), [-infinity, infinity]);
        for function in [inverse_sinh, inverse_tanh] {
            assert!(function(-0.0).is_sign_negative() && function(0.0).is_sign_positive());
        }
        let undefined = [
            inverse_cosh(0.5),
            inverse_cosh(-infinity),
            inverse_tanh(1.5),
        ];
        let of_nan = [inverse_cosh, inverse_sinh, inverse_tanh].map(|it| it(f64::NAN));
        assert!(undefined.iter().chain(&of_nan).all(|it| it.is_nan()));
    }
}
