//! Bessel functions of order 0 and 1, in `f64`. Those of the first and second kind are the C library's.

use std::f64::consts::PI;

#[allow(unsafe_code)]
mod library {
    // SAFETY: the C library has these functions of any `f64`; they read and write no memory of the caller.
    #[cfg_attr(unix, link(name = "m"))]
    unsafe extern "C" {
        pub safe fn j0(x: f64) -> f64;
        pub safe fn j1(x: f64) -> f64;
        pub safe fn y0(x: f64) -> f64;
        pub safe fn y1(x: f64) -> f64;
    }
}

/// The argument from which an asymptotic series is as precise as `f64`.
const LARGE: f64 = 40.0;

/// Returns the modified function of the first kind of an order, times `exp(-|x|)`.
fn scaled_i(order: i32, x: f64) -> f64 {
    let size = x.abs();
    let value = match size < LARGE {
        true => power_series(order, size) * (-size).exp(),
        false => asymptotic_series(order, -1.0 / size) / (2.0 * PI * size).sqrt(),
    };
    if order == 1 { value.copysign(x) } else { value }
}

fn power_series(order: i32, x: f64) -> f64 {
    let square = x * x / 4.0;
    let (mut term, mut sum, order) = ((x / 2.0).powi(order), 0.0, f64::from(order));
    for k in 1..200 {
        sum += term;
        let k = f64::from(k);
        term *= square / (k * (k + order));
        if term <= sum * f64::EPSILON / 4.0 {
            break;
        }
    }
    sum
}

/// Returns the series of the modified functions in `1 / x`; the first kind has that of `-1 / x`.
fn asymptotic_series(order: i32, reciprocal: f64) -> f64 {
    let (mut term, mut sum) = (1.0_f64, 1.0);
    for k in 1..40 {
        let odd = f64::from(2 * k - 1);
        term *= (f64::from(4 * order * order) - odd * odd) * reciprocal / (8.0 * f64::from(k));
        sum += term;
        if term.abs() < f64::EPSILON / 4.0 {
            break;
        }
    }
    sum
}

/// Returns the modified function of the second kind of an order, times `exp(x)`; infinity of numbers up to 0.
fn scaled_k(order: i32, x: f64) -> f64 {
    match x {
        f64::INFINITY => 0.0,
        _ if x <= 0.0 => f64::INFINITY,
        _ if x >= LARGE => asymptotic_series(order, 1.0 / x) * (PI / (2.0 * x)).sqrt(),
        _ if x > 0.0 => integral(order, x),
        _ => f64::NAN,
    }
}

/// Integrates `exp(-x (cosh(t) - 1)) cosh(order t)` over all positive numbers. The trapezoidal rule is as precise as
/// `f64`: its error falls exponentially with the reciprocal of the step.
fn integral(order: i32, x: f64) -> f64 {
    const STEP: f64 = 0.125;
    let (mut sum, order) = (0.5, f64::from(order));
    for i in 1..8_000 {
        let t = f64::from(i) * STEP;
        // cosh(t) - 1, without cancellation.
        let half = (t / 2.0).sinh();
        let term = (-2.0 * x * half * half).exp() * (order * t).cosh();
        sum += term;
        if term < sum * f64::EPSILON / 16.0 {
            break;
        }
    }
    sum * STEP
}

/// Functions of one number.
macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($x:ident) => $result:expr;)*) => {$(
        $(#[$doc])*
        pub fn $name($x: f64) -> f64 {
            $result
        }
    )*};
}

functions! {
    /// Returns the function of the first kind of order 0.
    j0(x) => library::j0(x);
    /// Returns the function of the first kind of order 1.
    j1(x) => library::j1(x);
    /// Returns the function of the second kind of order 0; negative infinity of numbers up to 0.
    y0(x) => if x <= 0.0 { f64::NEG_INFINITY } else { library::y0(x) };
    /// Returns the function of the second kind of order 1; negative infinity of numbers up to 0.
    y1(x) => if x <= 0.0 { f64::NEG_INFINITY } else { library::y1(x) };
    /// Returns the modified function of the first kind of order 0.
    i0(x) => unscaled(scaled_i(0, x), x.abs());
    /// Returns that function times `exp(-|x|)`.
    i0e(x) => scaled_i(0, x);
    /// Returns the modified function of the first kind of order 1.
    i1(x) => unscaled(scaled_i(1, x), x.abs());
    /// Returns that function times `exp(-|x|)`.
    i1e(x) => scaled_i(1, x);
    /// Returns the modified function of the second kind of order 0.
    k0(x) => unscaled(scaled_k(0, x), -x);
    /// Returns that function times `exp(x)`.
    k0e(x) => scaled_k(0, x);
    /// Returns the modified function of the second kind of order 1.
    k1(x) => unscaled(scaled_k(1, x), -x);
    /// Returns that function times `exp(x)`.
    k1e(x) => scaled_k(1, x);
}

/// Returns the product of a number and of the exponential function, of which either may be infinite or 0.
fn unscaled(scaled: f64, exponent: f64) -> f64 {
    match exponent {
        f64::INFINITY => f64::INFINITY.copysign(scaled),
        f64::NEG_INFINITY => 0.0,
        _ => scaled * (exponent / 2.0).exp() * (exponent / 2.0).exp(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(found: f64, expected: f64) {
        let is_near = (found - expected).abs() <= 2e-14 * expected.abs();
        assert!(is_near, "{found:e}, not {expected:e}");
    }

    #[test]
    fn modified_functions_have_known_values() {
        // From the tables of Abramowitz and Stegun.
        assert_near(i0(1.0), 1.266_065_877_752_008_4);
        assert_near(i1(1.0), 0.565_159_103_992_485_1);
        assert_near(k0(1.0), 0.421_024_438_240_708_34);
        assert_near(k1(1.0), 0.601_907_230_197_234_6);
        assert_eq!([i0(0.0), i1(0.0)], [1.0, 0.0]);
        assert_eq!(
            [k0(0.0), k1e(0.0), k0(f64::INFINITY)],
            [f64::INFINITY, f64::INFINITY, 0.0]
        );
        assert!(i0(f64::NAN).is_nan() && k1(f64::NAN).is_nan());
        assert_eq!(i1(-2.0), -i1(2.0));
        assert_eq!(
            [i0(f64::INFINITY), i1(f64::NEG_INFINITY)],
            [f64::INFINITY, f64::NEG_INFINITY]
        );
    }

    #[test]
    fn modified_functions_satisfy_the_formula_of_wronski() {
        for i in 1..400 {
            let x = f64::from(i) * 0.2;
            let product = i0e(x) * k1e(x) + i1e(x) * k0e(x);
            assert_near(product, 1.0 / x);
        }
    }

    #[test]
    fn functions_of_both_kinds_satisfy_the_formula_of_wronski() {
        for i in 1..100 {
            let x = f64::from(i) * 0.3;
            let product = j1(x) * y0(x) - j0(x) * y1(x);
            assert!((product * x * PI / 2.0 - 1.0).abs() < 1e-13, "{x}");
        }
    }
}
