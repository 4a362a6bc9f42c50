//! Integrals without a closed form: those of Dawson, Fresnel and Spence, and the exponential integral, in `f64`.

use sp_plugin::Complex128;
use std::f64::consts::PI;

/// The ratio of a term to the sum below which it is left out.
const SMALL: f64 = f64::EPSILON / 4.0;

/// Returns `exp(-x^2)` times the integral of `exp(t^2)` from 0 to `x`.
pub fn dawson(x: f64) -> f64 {
    let size = x.abs();
    match size {
        _ if size < 0.5 => {
            let next = |k: f64| -2.0 * size * size / (2.0 * k + 1.0);
            x * series(1.0, next)
        }
        _ if size > 8.0 => {
            let next = |k: f64| (2.0 * k - 1.0) / (2.0 * size * size);
            series(1.0, next) / (2.0 * x)
        }
        _ => sampled(size).copysign(x),
    }
}

/// Sums samples of the normal curve (Rybicki's method): the error is `exp(-(pi / 2 step)^2)`.
fn sampled(x: f64) -> f64 {
    const STEP: f64 = 0.2;
    let term = |n: i32| {
        let distance = x - f64::from(n) * STEP;
        (-distance * distance).exp() / f64::from(n)
    };
    let nearest = (x / STEP / 2.0).round() as i32 * 2 + 1;
    let terms = (-32..=32).map(|i| term(nearest + 2 * i));
    terms.sum::<f64>() / PI.sqrt()
}

/// Returns the sum of a series whose first term is 1 or another one; `ratio(k)` is that of the term `k` to the one before.
/// Terms that grow are left out.
fn series(first: f64, ratio: impl Fn(f64) -> f64) -> f64 {
    let (mut sum, mut term) = (first, first);
    for k in 1..200 {
        let next = term * ratio(f64::from(k));
        if next.abs() < f64::abs(sum) * SMALL || next.abs() > f64::abs(term) {
            break;
        }
        term = next;
        sum += term;
    }
    sum
}

/// Returns the exponential integral of a number from 0; NaN below.
pub fn exponential(x: f64) -> f64 {
    const EULER: f64 = 0.577_215_664_901_532_9;
    match x {
        0.0 => f64::NEG_INFINITY,
        f64::INFINITY => f64::INFINITY,
        _ if x >= 40.0 => (x / 2.0).exp() / x * series(1.0, |k| k / x) * (x / 2.0).exp(),
        _ if x > 0.0 => {
            let (mut sum, mut power) = (0.0, 1.0);
            for k in 1..400 {
                power *= x / f64::from(k);
                let term = power / f64::from(k);
                sum += term;
                if term < sum * SMALL {
                    break;
                }
            }
            EULER + x.ln() + sum
        }
        _ => f64::NAN,
    }
}

/// Returns the integrals of the cosine and of the sine of `pi t^2 / 2` from 0 to `x`.
fn fresnel(x: f64) -> [f64; 2] {
    let size = x.abs();
    let found = match size {
        _ if size > 1e15 => [0.5, 0.5],
        _ if size < 1.6 => fresnel_series(size),
        _ => fresnel_fraction(size),
    };
    found.map(|it| it.copysign(x))
}

fn fresnel_series(x: f64) -> [f64; 2] {
    let angle = PI / 2.0 * x * x;
    // The terms of both are those of the exponential function of the angle, each integrated.
    let (mut sums, mut power) = ([0.0; 2], x);
    for k in 0..60 {
        let term = power / f64::from(2 * k + 1);
        let sign = if k / 2 % 2 == 0 { 1.0 } else { -1.0 };
        sums[k as usize % 2] += sign * term;
        power *= angle / f64::from(k + 1);
    }
    sums
}

/// Evaluates the continued fraction of the error function of a complex number by Lentz's method.
fn fresnel_fraction(x: f64) -> [f64; 2] {
    let square = PI * x * x;
    let mut b = Complex128::new(1.0, -square);
    let mut below = Complex128::ONE / b;
    let (mut above, mut fraction) = (Complex128::from(1e300), below);
    for k in 0..500 {
        let odd = f64::from(2 * k + 1);
        let a = -odd * (odd + 1.0);
        b = b + Complex128::from(4.0);
        below = Complex128::ONE / (below.scale(a) + b);
        above = b + Complex128::from(a) / above;
        let change = above * below;
        fraction = fraction * change;
        if (change.re - 1.0).abs() + change.im.abs() < f64::EPSILON {
            break;
        }
    }
    let fraction = fraction * Complex128::new(x, -x);
    let (sine, cosine) = (square / 2.0).sin_cos();
    let rest = Complex128::ONE - Complex128::new(cosine, sine) * fraction;
    let result = Complex128::new(0.5, 0.5) * rest;
    [result.re, result.im]
}

/// Returns the integral of the cosine of `pi t^2 / 2` from 0 to `x`.
pub fn fresnel_cosine(x: f64) -> f64 {
    fresnel(x)[0]
}

/// Returns the integral of the sine of `pi t^2 / 2` from 0 to `x`.
pub fn fresnel_sine(x: f64) -> f64 {
    fresnel(x)[1]
}

/// Returns the dilogarithm of `1 - x`, the integral of `-ln(t) / (t - 1)` from 1 to `x`; NaN below 0.
pub fn spence(x: f64) -> f64 {
    const SQUARE: f64 = PI * PI / 6.0;
    match x {
        0.0 => SQUARE,
        1.0 => 0.0,
        f64::INFINITY => f64::NEG_INFINITY,
        _ if x < 0.0 => f64::NAN,
        _ if x < 0.5 => SQUARE - x.ln() * (-x).ln_1p() - dilogarithm(-(-x).ln_1p()),
        _ if x > 2.0 => -spence(1.0 / x) - 0.5 * x.ln() * x.ln(),
        _ => dilogarithm(-(x - 1.0).ln_1p()),
    }
}

/// Returns the dilogarithm of `1 - exp(-u)` for `u` up to `ln(2)`, of either sign.
fn dilogarithm(u: f64) -> f64 {
    /// Bernoulli numbers `B(2n)` over `(2n + 1)!`.
    const TERMS: [f64; 9] = [
        1.0 / 36.0,
        -1.0 / 3600.0,
        1.0 / 211_680.0,
        -1.0 / 10_886_400.0,
        5.0 / 66.0 / 39_916_800.0,
        -691.0 / 2730.0 / 6_227_020_800.0,
        7.0 / 6.0 / 1_307_674_368_000.0,
        -3617.0 / 510.0 / 355_687_428_096_000.0,
        43_867.0 / 798.0 / 121_645_100_408_832_000.0,
    ];
    let square = u * u;
    let sum = TERMS.iter().rev().fold(0.0, |sum, it| (sum + it) * square);
    u * (1.0 - u / 4.0 + sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Integrates a function by Simpson's rule.
    fn integral(f: impl Fn(f64) -> f64, from: f64, to: f64) -> f64 {
        let count = 4000;
        let step = (to - from) / f64::from(count);
        let weight = |i| match i {
            0 => 1.0,
            _ if i == count => 1.0,
            _ => f64::from(2 + i % 2 * 2),
        };
        let terms = (0..=count).map(|i| weight(i) * f(from + f64::from(i) * step));
        terms.sum::<f64>() * step / 3.0
    }

    fn assert_near(name: &str, x: f64, found: f64, expected: f64) {
        let is_near = (found - expected).abs() <= 1e-11 * (1.0 + expected.abs());
        assert!(is_near, "{name} of {x}: {found:e}, not {expected:e}");
    }

    #[test]
    fn integrals_match_numeric_integration() {
        for i in 1..60 {
            let x = f64::from(i) * 0.05;
            let inner = integral(|t| (t * t - x * x).exp(), 0.0, x);
            assert_near("dawson", x, dawson(x), inner);
            assert_near(
                "cosine",
                x,
                fresnel_cosine(x),
                integral(|t| (PI / 2.0 * t * t).cos(), 0.0, x),
            );
            assert_near(
                "sine",
                x,
                fresnel_sine(x),
                integral(|t| (PI / 2.0 * t * t).sin(), 0.0, x),
            );
            let slope = |t: f64| if t == 1.0 { -1.0 } else { -t.ln() / (t - 1.0) };
            if i > 3 {
                assert_near("spence", x, spence(x), integral(slope, 1.0, x));
                let change = integral(|t| t.exp() / t, 1.0, x);
                assert_near(
                    "exponential",
                    x,
                    exponential(x),
                    1.895_117_816_355_936_8 + change,
                );
            }
        }
    }

    #[test]
    fn formulas_agree_where_their_ranges_meet() {
        let near = |f: fn(f64) -> f64, x: f64| {
            let (below, above) = (f(x - 1e-13 * x), f(x + 1e-13 * x));
            assert!(
                (below / above - 1.0).abs() < 1e-11,
                "{x}: {below:e} {above:e}"
            );
        };
        near(dawson, 0.5);
        near(dawson, 8.0);
        near(exponential, 40.0);
        near(fresnel_cosine, 1.6);
        near(fresnel_sine, 1.6);
        near(spence, 0.5);
        near(spence, 2.0);
    }

    #[test]
    fn limits_are_those_of_the_functions() {
        assert_eq!([dawson(0.0), spence(1.0), fresnel_sine(0.0)], [0.0; 3]);
        assert_eq!(
            [
                fresnel_cosine(f64::INFINITY),
                fresnel_sine(f64::NEG_INFINITY)
            ],
            [0.5, -0.5]
        );
        assert_eq!(
            [exponential(0.0), exponential(f64::INFINITY)],
            [f64::NEG_INFINITY, f64::INFINITY]
        );
        for f in [dawson, exponential, fresnel_cosine, fresnel_sine, spence] {
            assert!(f(f64::NAN).is_nan());
        }
        assert!(exponential(-1.0).is_nan() && spence(-1.0).is_nan());
    }
}
