//! Incomplete gamma and beta functions, and the zeta function of Hurwitz, in `f64`.

use crate::compute::scalar::special::Special;

/// The largest number of terms of a series or of a continued fraction.
const TERMS: usize = 20_000;
/// The ratio of a term to the sum below which it is left out.
const SMALL: f64 = f64::EPSILON / 4.0;
/// A number in the place of 0 in a continued fraction.
const TINY: f64 = 1e-300;

/// Returns the regularized lower incomplete gamma function.
pub fn lower_gamma(a: f64, x: f64) -> f64 {
    match (a, x) {
        _ if x == 0.0 && a >= 0.0 => 0.0,
        _ if !is_in_domain(a, x) => f64::NAN,
        (f64::INFINITY, _) => 0.0,
        (_, f64::INFINITY) => 1.0,
        _ if x < a + 1.0 => gamma_series(a, x),
        _ => 1.0 - gamma_fraction(a, x),
    }
}

/// Returns the regularized upper incomplete gamma function.
pub fn upper_gamma(a: f64, x: f64) -> f64 {
    match (a, x) {
        _ if !is_in_domain(a, x) => f64::NAN,
        (_, f64::INFINITY) => 0.0,
        (f64::INFINITY, _) | (_, 0.0) => 1.0,
        _ if x < a + 1.0 => 1.0 - gamma_series(a, x),
        _ => gamma_fraction(a, x),
    }
}

fn is_in_domain(a: f64, x: f64) -> bool {
    a > 0.0 && x >= 0.0
}

/// Returns `x^a exp(-x) / gamma(a)`.
fn gamma_factor(a: f64, x: f64) -> f64 {
    (a * x.ln() - x - a.log_gamma()).exp()
}

fn gamma_series(a: f64, x: f64) -> f64 {
    let (mut term, mut sum, mut divisor) = (1.0 / a, 1.0 / a, a);
    for _ in 0..TERMS {
        divisor += 1.0;
        term *= x / divisor;
        sum += term;
        if term < sum * SMALL {
            break;
        }
    }
    sum * gamma_factor(a, x)
}

/// Computes the upper function by the continued fraction of Legendre.
fn gamma_fraction(a: f64, x: f64) -> f64 {
    let factor = gamma_factor(a, x);
    let fraction = fraction(x + 1.0 - a, |n| (-n * (n - a), x + 2.0 * n + 1.0 - a));
    factor / fraction
}

/// Evaluates `first + a(1) / (b(1) + a(2) / (b(2) + ...))` by Lentz's method; `term(n)` returns `a(n)` and `b(n)`.
fn fraction(first: f64, term: impl Fn(f64) -> (f64, f64)) -> f64 {
    let above_zero = |x: f64| if x.abs() < TINY { TINY } else { x };
    let (mut value, mut above, mut below) = (above_zero(first), above_zero(first), 0.0);
    for n in 1..TERMS {
        let (a, b) = term(n as f64);
        below = 1.0 / above_zero(b + a * below);
        above = above_zero(b + a / above);
        let change = above * below;
        value *= change;
        if (change - 1.0).abs() < SMALL * 4.0 {
            break;
        }
    }
    value
}

/// Returns the regularized incomplete beta function.
pub fn beta(a: f64, b: f64, x: f64) -> f64 {
    match x {
        _ if !(a > 0.0 && b > 0.0 && (0.0..=1.0).contains(&x)) => f64::NAN,
        0.0 | 1.0 => x,
        _ if x > (a + 1.0) / (a + b + 2.0) => 1.0 - beta_fraction(b, a, 1.0 - x, x),
        _ => beta_fraction(a, b, x, 1.0 - x),
    }
}

/// Computes the function where its continued fraction converges; `rest` is `1 - x`.
fn beta_fraction(a: f64, b: f64, x: f64, rest: f64) -> f64 {
    let scale = (a + b).log_gamma() - a.log_gamma() - b.log_gamma();
    let factor = (scale + a * x.ln() + b * rest.ln()).exp() / a;
    let term = |n: f64| {
        let m = (n / 2.0).floor();
        let above = match n % 2.0 == 0.0 {
            true => m * (b - m) * x / ((a + n - 1.0) * (a + n)),
            false => -(a + m) * (a + b + m) * x / ((a + n - 1.0) * (a + n)),
        };
        (above, 1.0)
    };
    factor / fraction(1.0, term)
}

/// The coefficients of the formula of Euler and Maclaurin: Bernoulli numbers `B(2n)` over `(2n)!`.
const CORRECTIONS: [f64; 12] = [
    1.0 / 12.0,
    -1.0 / 720.0,
    1.0 / 30_240.0,
    -1.0 / 1_209_600.0,
    1.0 / 47_900_160.0,
    -691.0 / 1_307_674_368_000.0,
    1.0 / 74_724_249_600.0,
    -3617.0 / 10_670_622_842_880_000.0,
    43_867.0 / 5_109_094_217_170_944_000.0,
    -174_611.0 / 802_857_662_698_291_200_000.0,
    77_683.0 / 14_101_100_039_391_805_440_000.0,
    -236_364_091.0 / 1_693_824_136_731_743_669_452_800_000.0,
];

/// Returns the sum of `(q + n)^-x` for all integers from 0.
pub fn zeta(x: f64, q: f64) -> f64 {
    match x {
        1.0 => return f64::INFINITY,
        _ if x.is_nan() || q.is_nan() || x < 1.0 => return f64::NAN,
        _ if q <= 0.0 && q == q.floor() => return f64::INFINITY,
        _ if q.is_infinite() => return 0.0,
        f64::INFINITY if q > 0.0 => return q.powf(-x),
        // A power of a negative number has an integer exponent.
        _ if q <= 0.0 && x != x.floor() => return f64::NAN,
        _ => {}
    }
    if q < 0.0 {
        // The exponent is an integer, so the terms below 0 are those of another sum, of one sign.
        let (part, sign) = (q - q.floor(), if x % 2.0 == 0.0 { 1.0 } else { -1.0 });
        // The distance to the pole above is exact, which `1 - part` is not.
        return zeta(x, part) + sign * (zeta(x, q.ceil() - q) - zeta(x, 1.0 - q));
    }
    let (mut sum, mut base) = (0.0, q);
    while base < 10.0 {
        let term = base.powf(-x);
        sum += term;
        base += 1.0;
        if term < sum * SMALL {
            return sum;
        }
    }
    let power = base.powf(-x);
    let (mut factor, mut scale) = (x, power / base);
    sum += power * base / (x - 1.0) + 0.5 * power;
    for (n, correction) in CORRECTIONS.iter().enumerate() {
        let term = correction * factor * scale;
        sum += term;
        if term.abs() < sum.abs() * SMALL {
            break;
        }
        let n = 2.0 * n as f64 + 1.0;
        factor *= (x + n) * (x + n + 1.0);
        scale /= base * base;
    }
    sum
}

/// Returns the derivative of order `n` of the digamma function; NaN if the order is no integer from 0.
pub fn polygamma(n: f64, x: f64) -> f64 {
    match n {
        0.0 => x.digamma(),
        _ if n < 0.0 || n != n.floor() => f64::NAN,
        _ => {
            let sign = if n % 2.0 == 0.0 { -1.0 } else { 1.0 };
            sign * (n + 1.0).log_gamma().exp() * zeta(n + 1.0, x)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    fn assert_near(found: f64, expected: f64) {
        let is_near = (found - expected).abs() <= 1e-13 * expected.abs().max(1e-3);
        assert!(is_near, "{found:e}, not {expected:e}");
    }

    /// Integrates a function by the trapezoidal rule in a variable for which it falls steeply to both sides.
    fn integral(f: impl Fn(f64) -> f64, from: f64, to: f64) -> f64 {
        let step = 1.0 / 64.0;
        let at = |i: i32| {
            let t = f64::from(i) * step;
            let (u, slope) = (PI / 2.0 * t.sinh(), PI / 2.0 * t.cosh());
            let weight = slope / (u.cosh() * u.cosh());
            f((from + to) / 2.0 + (to - from) / 2.0 * u.tanh()) * weight * (to - from) / 2.0
        };
        (-210..=210)
            .map(at)
            .filter(|it| it.is_finite())
            .sum::<f64>()
            * step
    }

    #[test]
    fn incomplete_gamma_matches_its_integral() {
        for a in [0.7, 1.0, 2.5, 7.0, 20.0] {
            for x in [0.1_f64, 0.9, 2.0, 8.0, 25.0] {
                let part = integral(|t| t.powf(a - 1.0) * (-t).exp(), 0.0, x) / a.log_gamma().exp();
                assert!((lower_gamma(a, x) - part).abs() < 1e-9, "{a} {x}");
                assert_near(lower_gamma(a, x) + upper_gamma(a, x), 1.0);
            }
        }
        assert_near(upper_gamma(1.0, 30.0), (-30.0_f64).exp());
        assert_near(lower_gamma(1.0, 1e-3), -(-1e-3_f64).exp_m1());
        assert_eq!(
            [lower_gamma(2.0, 0.0), lower_gamma(2.0, f64::INFINITY)],
            [0.0, 1.0]
        );
        assert!(lower_gamma(-1.0, 1.0).is_nan() && upper_gamma(1.0, -1.0).is_nan());
    }

    #[test]
    fn incomplete_beta_matches_its_integral() {
        for (a, b) in [(0.7, 0.9), (1.0, 3.0), (5.0, 2.0), (12.0, 9.0)] {
            let f = |t: f64| t.powf(a - 1.0) * (1.0 - t).powf(b - 1.0);
            for x in [0.05, 0.3, 0.5, 0.8, 0.99] {
                let part = integral(f, 0.0, x) / integral(f, 0.0, 1.0);
                assert!((beta(a, b, x) - part).abs() < 1e-6, "{a} {b} {x}");
                assert_near(beta(a, b, x) + beta(b, a, 1.0 - x), 1.0);
            }
            assert_eq!([beta(a, b, 0.0), beta(a, b, 1.0)], [0.0, 1.0]);
        }
        assert_near(beta(1.0, 1.0, 0.3), 0.3);
        assert!(beta(0.0, 1.0, 0.5).is_nan() && beta(1.0, 1.0, 1.5).is_nan());
    }

    #[test]
    fn zeta_and_its_relatives_have_known_values() {
        assert_near(zeta(2.0, 1.0), PI * PI / 6.0);
        assert_near(zeta(4.0, 1.0), PI.powi(4) / 90.0);
        assert_near(zeta(1.5, 1.0), 2.612_375_348_685_488);
        for q in [-2.75_f64, -0.5] {
            assert_near(zeta(3.0, q), q.powf(-3.0) + zeta(3.0, q + 1.0));
        }
        for q in [-1e-10_f64, -1e-17, -1.0 - 1e-10] {
            assert_near(
                zeta(2.0, q) * 1e-20,
                (q.powf(-2.0) + zeta(2.0, q + 1.0)) * 1e-20,
            );
        }
        for q in [0.25, 0.5, 3.0, 40.0] {
            assert_near(zeta(3.5, q), q.powf(-3.5) + zeta(3.5, q + 1.0));
        }
        assert_near(polygamma(1.0, 1.0), PI * PI / 6.0);
        assert_near(polygamma(2.0, 1.0), -2.0 * 1.202_056_903_159_594);
        assert_near(polygamma(0.0, 1.0), -0.577_215_664_901_532_9);
        assert!(polygamma(0.5, 1.0).is_nan() && zeta(0.5, 1.0).is_nan());
        assert_eq!([zeta(1.0, 2.0), zeta(2.0, -3.0)], [f64::INFINITY; 2]);
    }
}
