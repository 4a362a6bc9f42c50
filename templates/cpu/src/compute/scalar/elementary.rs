//! Elementary functions of one element. Those of `f64`, and the hyperbolic sine and cosine of `f32`, are the C library's.
//! The others of `f32` are approximations.
//!
//! The approximations are own code, since a call of libm or sleef cannot be inlined: in a kernel's loop these are
//! vector code. The tests below have the bounds of their errors, up to 2 units in the last place and up to 5 for
//! `erfc`. `sin`, `cos`, `tan` and `atan2` are computed in `f64` (`trigonometric.rs`, up to 0.53 units).

use crate::compute::scalar::approximation;
use crate::compute::scalar::arc;
use crate::compute::scalar::arith::Float;
use crate::compute::scalar::trigonometric;
use std::ops::{Add, Div, Mul, Sub};

/// A float with elementary functions. NaN gives NaN.
pub trait Elementary: Float {
    /// Converts a constant, rounding to nearest.
    fn constant(value: f64) -> Self;
    /// Returns the absolute value.
    fn absolute(self) -> Self;
    /// Returns `e^self - 1`, precise near 0.
    fn exp_minus_one(self) -> Self;
    /// Returns the logarithm of `1 + self`, precise near 0.
    fn ln_plus_one(self) -> Self;
    /// Returns the natural logarithm.
    fn natural_log(self) -> Self;
    /// Returns the hyperbolic tangent.
    fn hyperbolic_tangent(self) -> Self;
    /// Returns `1 / (1 + e^-self)`.
    fn logistic(self) -> Self;
    /// Returns the error function.
    fn error_function(self) -> Self;
    /// Returns 1 minus the error function, precise for large numbers.
    fn error_complement(self) -> Self;
    /// Returns the sine.
    fn sine(self) -> Self;
    /// Returns the cosine.
    fn cosine(self) -> Self;
    /// Returns the tangent.
    fn tangent(self) -> Self;
    /// Returns the angle of a sine.
    fn arc_sine(self) -> Self;
    /// Returns the angle of a cosine.
    fn arc_cosine(self) -> Self;
    /// Returns the angle of a tangent.
    fn arc_tangent(self) -> Self;
    /// Returns the hyperbolic sine.
    fn hyperbolic_sine(self) -> Self;
    /// Returns the hyperbolic cosine.
    fn hyperbolic_cosine(self) -> Self;
    /// Rounds toward negative infinity.
    fn round_down(self) -> Self;
    /// Rounds toward positive infinity.
    fn round_up(self) -> Self;
    /// Rounds to the nearest integer, halves to the even one.
    fn round_even(self) -> Self;
}

/// A float with operators, for formulas.
pub trait Real:
    Elementary + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
}

impl<T> Real for T where
    T: Elementary + Add<Output = T> + Sub<Output = T> + Mul<Output = T> + Div<Output = T>
{
}

#[allow(unsafe_code)]
#[cfg_attr(unix, link(name = "m"))]
unsafe extern "C" {
    safe fn erf(x: f64) -> f64;
    safe fn erfc(x: f64) -> f64;
}

macro_rules! floats {
    ($($float:ident { $($name:ident: |$x:ident| $result:expr;)* })*) => {$(
        impl Elementary for $float {
            #[inline(always)]
            fn constant(value: f64) -> Self { value as $float }
            #[inline(always)]
            fn absolute(self) -> Self { self.abs() }
            #[inline(always)]
            fn hyperbolic_sine(self) -> Self { self.sinh() }
            #[inline(always)]
            fn hyperbolic_cosine(self) -> Self { self.cosh() }
            #[inline(always)]
            fn round_down(self) -> Self { self.floor() }
            #[inline(always)]
            fn round_up(self) -> Self { self.ceil() }
            #[inline(always)]
            fn round_even(self) -> Self { self.round_ties_even() }
            $(
                #[inline(always)]
                fn $name(self) -> Self {
                    let $x = self;
                    $result
                }
            )*
        }
    )*};
}

floats! {
    f32 {
        exp_minus_one: |x| approximation::exp_minus_one(x);
        ln_plus_one: |x| approximation::ln_plus_one(x);
        natural_log: |x| approximation::ln(x);
        hyperbolic_tangent: |x| approximation::hyperbolic_tangent(x);
        logistic: |x| approximation::logistic(x);
        error_function: |x| approximation::error_function(x);
        error_complement: |x| approximation::error_complement(x);
        sine: |x| trigonometric::sine(x);
        cosine: |x| trigonometric::cosine(x);
        tangent: |x| trigonometric::tangent(x);
        arc_sine: |x| arc::arc_sine(x);
        arc_cosine: |x| arc::arc_cosine(x);
        arc_tangent: |x| arc::arc_tangent(x);
    }
    f64 {
        exp_minus_one: |x| x.exp_m1();
        ln_plus_one: |x| x.ln_1p();
        natural_log: |x| x.ln();
        hyperbolic_tangent: |x| x.tanh();
        logistic: |x| 1.0 / (1.0 + (-x).exp());
        error_function: |x| erf(x);
        error_complement: |x| erfc(x);
        sine: |x| x.sin();
        cosine: |x| x.cos();
        tangent: |x| x.tan();
        arc_sine: |x| x.asin();
        arc_cosine: |x| x.acos();
        arc_tangent: |x| x.atan();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of all magnitudes, and special ones.
    fn numbers() -> impl Iterator<Item = f32> {
        let magnitudes = (0..60_000).map(|i| f32::from_bits(i * 71_579));
        let special = [
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::NAN,
            -0.0,
            1.0,
            -1.0,
            0.25,
            0.05,
            f32::MIN_POSITIVE,
            88.7,
            -103.9,
        ];
        magnitudes
            .clone()
            .chain(magnitudes.map(|x| -x))
            .chain(special)
    }

    /// Compares a function with the exact one, rounded: they may differ by this number of units in the last place.
    fn check(name: &str, units: u32, f: impl Fn(f32) -> f32, exact: impl Fn(f64) -> f64) {
        for x in numbers() {
            let (found, exact) = (f(x), exact(x.into()));
            let nearest = exact as f32;
            let is_near = found.to_bits().abs_diff(nearest.to_bits()) <= units || found == nearest;
            assert!(
                is_near || found.is_nan() && nearest.is_nan(),
                "{name} {x:e}: {found:e}, not {nearest:e}"
            );
        }
    }

    #[test]
    fn functions_are_within_units_in_the_last_place() {
        check("exp", 1, <f32 as Float>::exp, f64::exp);
        check("expm1", 2, f32::exp_minus_one, f64::exp_m1);
        check("log1p", 2, f32::ln_plus_one, f64::ln_1p);
        check("log", 1, f32::natural_log, f64::ln);
        check("tanh", 2, f32::hyperbolic_tangent, f64::tanh);
        check("erf", 2, f32::error_function, f64::error_function);
        check("erfc", 5, f32::error_complement, f64::error_complement);
        check("asin", 2, f32::arc_sine, f64::asin);
        check("acos", 1, f32::arc_cosine, f64::acos);
        check("atan", 1, f32::arc_tangent, f64::atan);
        check("sigmoid", 2, f32::logistic, |x| 1.0 / (1.0 + (-x).exp()));
    }
}
