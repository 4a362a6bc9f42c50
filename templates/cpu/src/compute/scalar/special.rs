//! Special functions of one or two floats. Those of `f32` are computed in `f64`, most of them vectorized.

use crate::compute::scalar::approximation64;
use crate::compute::scalar::elementary::Elementary;
use crate::compute::scalar::hyperbolic;
use crate::compute::scalar::trigonometric;
use std::f64::consts::{FRAC_1_SQRT_2, PI, SQRT_2};

/// The slope of the error function at 0: 2 over the root of pi.
const ERF_SLOPE: f64 = std::f64::consts::FRAC_2_SQRT_PI;
/// The argument from which the asymptotic series of the digamma function has an error below that of `f64`.
const DIGAMMA_LARGE: f64 = 10.0;
/// The coefficients of that series in `1 / x^2`: the Bernoulli numbers `B(2n)` over `2n`.
const DIGAMMA_SERIES: [f64; 7] = [
    1.0 / 12.0,
    -1.0 / 120.0,
    1.0 / 252.0,
    -1.0 / 240.0,
    1.0 / 132.0,
    -691.0 / 32760.0,
    1.0 / 12.0,
];

/// A float with special functions. NaN gives NaN.
pub trait Special: Elementary + Into<f64> {
    /// Returns the number whose hyperbolic cosine this is.
    fn inverse_cosh(self) -> Self;
    /// Returns the number whose hyperbolic sine this is.
    fn inverse_sinh(self) -> Self;
    /// Returns the number whose hyperbolic tangent this is.
    fn inverse_tanh(self) -> Self;
    /// Returns the logarithm of the absolute value of the gamma function.
    fn log_gamma(self) -> Self;
    /// Returns the slope of the logarithm of the gamma function; NaN of 0 and the negative integers.
    fn digamma(self) -> Self;
    /// Returns the number whose error function this is; NaN of numbers above 1 and below -1.
    fn inverse_erf(self) -> Self;
    /// Returns the number below which a normally distributed number is with this probability.
    fn normal_quantile(self) -> Self;
    /// Returns the angle of the point `(x, self)`.
    fn angle(self, x: Self) -> Self;
    /// Returns the next number in the direction of `to`; `to` if both are equal.
    fn next_after(self, to: Self) -> Self;
}

macro_rules! special {
    ($($float:ident: [$cosh:path, $sinh:path, $tanh:path], [$erf:path, $quantile:path], $angle:path;)*) => {$(
        impl Special for $float {
            #[inline(always)]
            fn inverse_cosh(self) -> Self { $cosh(self.into()) as $float }
            #[inline(always)]
            fn inverse_sinh(self) -> Self { $sinh(self.into()) as $float }
            #[inline(always)]
            fn inverse_tanh(self) -> Self { $tanh(self.into()) as $float }
            fn log_gamma(self) -> Self { log_gamma(self.into()) as $float }
            fn digamma(self) -> Self { digamma(self.into()) as $float }
            #[inline(always)]
            fn inverse_erf(self) -> Self { $erf(self.into()) as $float }
            #[inline(always)]
            fn normal_quantile(self) -> Self { $quantile(self.into()) as $float }
            #[inline(always)]
            fn angle(self, x: Self) -> Self { $angle(self, x) }

            fn next_after(self, to: Self) -> Self {
                if self == to || self.is_nan() || to.is_nan() {
                    return if self.is_nan() { self } else { to };
                }
                if self < to { self.next_up() } else { self.next_down() }
            }
        }
    )*};
}

special! {
    f32: [hyperbolic::inverse_cosh, hyperbolic::inverse_sinh, hyperbolic::inverse_tanh],
        [approximation64::inverse_erf, approximation64::normal_quantile], trigonometric::angle;
    f64: [acosh, asinh, atanh], [inverse_erf, normal_quantile], f64::atan2;
}

#[allow(unsafe_code)]
#[cfg_attr(unix, link(name = "m"))]
unsafe extern "C" {
    // Those of the standard library overflow for large arguments, and lose digits near 1.
    safe fn acosh(x: f64) -> f64;
    safe fn asinh(x: f64) -> f64;
    safe fn atanh(x: f64) -> f64;
    safe fn erf(x: f64) -> f64;
    safe fn erfc(x: f64) -> f64;
    /// Stores the sign of the gamma function, so that no global variable is written.
    safe fn lgamma_r(x: f64, sign: &mut std::ffi::c_int) -> f64;
}

fn log_gamma(x: f64) -> f64 {
    lgamma_r(x, &mut 0)
}

/// Moves `x` up to the range of the asymptotic series; negative numbers are reflected.
fn digamma(x: f64) -> f64 {
    if x <= 0.0 {
        let is_pole = x == x.floor();
        // The distance to the nearest pole is exact, and that to the one below is not.
        let reflected = digamma(1.0 - x) - PI / (PI * (x - x.round())).tan();
        return if is_pole { f64::NAN } else { reflected };
    }
    let (mut sum, mut x) = (0.0, x);
    while x < DIGAMMA_LARGE {
        sum -= 1.0 / x;
        x += 1.0;
    }
    if x.is_infinite() {
        return x;
    }
    let square = 1.0 / (x * x);
    let series = DIGAMMA_SERIES
        .iter()
        .rev()
        .fold(0.0, |series, it| (series + it) * square);
    sum + x.ln() - 0.5 / x - series
}

fn inverse_erf(x: f64) -> f64 {
    let size = x.abs();
    match size {
        0.0..=0.5 => inverse_erf_near_0(x),
        0.5..1.0 => inverse_erfc(1.0 - size).copysign(x),
        1.0 => f64::INFINITY.copysign(x),
        _ => f64::NAN,
    }
}

fn normal_quantile(p: f64) -> f64 {
    match p {
        0.0 => f64::NEG_INFINITY,
        1.0 => f64::INFINITY,
        0.25..=0.75 => SQRT_2 * inverse_erf_near_0(2.0 * (p - 0.5)),
        0.0..=0.5 => -SQRT_2 * inverse_erfc(2.0 * p),
        0.5..=1.0 => SQRT_2 * inverse_erfc(2.0 * (1.0 - p)),
        _ => f64::NAN,
    }
}

/// Improves an approximation of a root by Halley's method. `error` is the value of the error function, or of its
/// complement, minus the wanted one; it and `slope` may be divided by the wanted one.
fn halley(y: f64, error: impl Fn(f64) -> f64, slope: f64) -> f64 {
    let improve = |y: f64| {
        let (error, slope) = (error(y), slope * (-y * y).exp());
        y - error / (slope + y * error)
    };
    improve(improve(improve(y)))
}

/// Returns the number whose error function is `x`, which is at most 0.5.
fn inverse_erf_near_0(x: f64) -> f64 {
    let start = x / ERF_SLOPE * (1.0 + PI / 12.0 * x * x);
    halley(start, |y| erf(y) - x, ERF_SLOPE)
}

/// Returns the number whose complement of the error function is `q`, which is above 0 and at most 0.5.
fn inverse_erfc(q: f64) -> f64 {
    // Abramowitz and Stegun, formula 26.2.23.
    let t = (-2.0 * (q / 2.0).ln()).sqrt();
    let above = 2.515517 + t * (0.802853 + t * 0.010328);
    let below = 1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308));
    let start = (t - above / below) * FRAC_1_SQRT_2;
    // The error is relative to `q`: a difference of small numbers would be subnormal, which TensorFlow's threads flush to zero.
    halley(start, |y| erfc(y) / q - 1.0, -ERF_SLOPE / q)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(found: f64, expected: f64) {
        let is_near = (found - expected).abs() <= 1e-14 * (1.0 + expected.abs());
        assert!(is_near, "{found}, not {expected}");
    }

    #[test]
    fn inverses_of_the_error_function_match_it() {
        for i in 1..2000 {
            let x = f64::from(i) / 1000.0 - 1.0;
            assert_near(erf(x.inverse_erf()), x);
            assert_near(erfc(-((x + 1.0) / 2.0).normal_quantile() / SQRT_2), x + 1.0);
        }
        assert_eq!(0.5_f64.normal_quantile(), 0.0);
        // From the tables of the normal distribution.
        assert_near(0.975_f64.normal_quantile(), 1.959_963_984_540_054);
        let tail = erfc(-1e-300_f64.normal_quantile() / SQRT_2);
        assert!((tail / 2e-300 - 1.0).abs() < 1e-10, "{tail}");
        assert_near(f64::MIN_POSITIVE.normal_quantile(), -37.519_379_347_144_5);
        let special = [-1.0, 1.0, 1.5, f64::NAN].map(f64::inverse_erf);
        assert_eq!(special[..2], [f64::NEG_INFINITY, f64::INFINITY]);
        assert!(special[2].is_nan() && special[3].is_nan());
        assert!((-0.1_f64).normal_quantile().is_nan());
    }

    #[test]
    fn inverses_of_the_error_function_of_f32_are_within_a_unit_in_the_last_place() {
        let numbers = (1..250_000).map(|i| f32::from_bits(i * 4_261));
        for x in numbers.flat_map(|x| [x, 1.0 - x]).filter(|x| *x < 1.0) {
            let (found, exact) = (x.inverse_erf(), f64::from(x).inverse_erf() as f32);
            let units = found.to_bits().abs_diff(exact.to_bits());
            assert!(units <= 1, "{x:e}: {found:e}, not {exact:e}");
            assert_eq!((-x).inverse_erf(), -found);
        }
        let limits = [-1.0, 1.0].map(f32::inverse_erf);
        assert!((-0.0_f32).inverse_erf().is_sign_negative());
        assert_eq!(limits, [f32::NEG_INFINITY, f32::INFINITY]);
        assert!(
            [1.5, f32::NAN]
                .map(f32::inverse_erf)
                .iter()
                .all(|it| it.is_nan())
        );
    }

    #[test]
    fn quantiles_of_f32_are_within_a_unit_in_the_last_place() {
        let probabilities = (1..250_000).map(|i| f32::from_bits(i * 4_261));
        for p in probabilities
            .flat_map(|p| [p, 1.0 - p])
            .filter(|p| *p < 1.0)
        {
            let (found, exact) = (p.normal_quantile(), f64::from(p).normal_quantile() as f32);
            let units = found.to_bits().abs_diff(exact.to_bits());
            assert!(units <= 1, "{p:e}: {found:e}, not {exact:e}");
        }
        let special = [0.0, -0.0, 1.0, 0.5].map(f32::normal_quantile);
        assert_eq!(
            special,
            [f32::NEG_INFINITY, f32::NEG_INFINITY, f32::INFINITY, 0.0]
        );
        for p in [
            -1e-45,
            1.0_f32.next_up(),
            f32::NAN,
            f32::INFINITY,
            f32::NEG_INFINITY,
        ] {
            assert!(p.normal_quantile().is_nan(), "{p}");
        }
    }

    #[test]
    fn digamma_matches_differences_of_the_logarithm_of_gamma() {
        // The digamma function of 1 is the constant of Euler, negated.
        assert_near(1.0_f64.digamma(), -0.577_215_664_901_532_9);
        for i in 0..4000 {
            let x = f64::from(i) / 100.0 - 19.995;
            let step = 1e-5;
            let slope = (log_gamma(x + step) - log_gamma(x - step)) / (2.0 * step);
            let size = 1.0 + x.digamma().abs();
            assert!((x.digamma() - slope).abs() < 1e-4 * size * size, "{x}");
        }
        assert!(0.0_f64.digamma().is_nan() && (-3.0_f64).digamma().is_nan());
    }

    #[test]
    fn digamma_near_its_poles_is_the_reciprocal_of_the_distance() {
        for distance in [-1e-30_f64, 1e-30, -1e-12] {
            assert!((distance.digamma() * distance + 1.0).abs() < 1e-11);
        }
        let near = -3.0_f64 - 2.0_f64.powi(-40);
        assert!((near.digamma() * 2.0_f64.powi(-40) - 1.0).abs() < 1e-10);
    }

    #[test]
    fn inverse_hyperbolic_functions_have_no_overflow_and_keep_digits_near_1() {
        let expected = f64::MAX.ln() + 2.0_f64.ln();
        assert_near(f64::MAX.inverse_cosh(), expected);
        assert_near(f64::MAX.inverse_sinh(), expected);
        assert_near((-f64::MAX).inverse_sinh(), -expected);
        let step = f64::EPSILON;
        assert!(((1.0 + step).inverse_cosh() / (2.0 * step).sqrt() - 1.0).abs() < 1e-14);
        assert_eq!(1e-20_f64.inverse_tanh(), 1e-20);
    }

    #[test]
    fn next_after_moves_by_one_unit() {
        assert_eq!(1.0_f32.next_after(2.0).to_bits(), 1.0_f32.to_bits() + 1);
        assert_eq!(0.0_f32.next_after(-1.0).to_bits(), 0x8000_0001);
        assert_eq!(0.0_f32.next_after(-0.0).to_bits(), 0x8000_0000);
        assert!(f64::NAN.next_after(1.0).is_nan() && 1.0_f64.next_after(f64::NAN).is_nan());
    }
}
