//! Complex numbers, compared with plain formulas and with each other.

use crate::compute::complex::*;
use crate::compute::matmul::{Multiplied, Product};
use sp_plugin::Complex64;

fn numbers() -> Vec<Complex64> {
    let parts = [-30.0_f32, -1.5, -0.25, 1e-3, 0.75, 2.0, 30.0];
    let pairs = parts.iter().flat_map(|re| parts.map(|im| (*re, im)));
    pairs.map(|(re, im)| Complex64::new(re, im)).collect()
}

fn assert_near(found: Complex64, expected: Complex64, x: Complex64) {
    let error = (found - expected).abs();
    let limit = 4.0 * f32::EPSILON * expected.abs().max(f32::MIN_POSITIVE);
    assert!(error <= limit, "{found:?}, expected {expected:?}, of {x:?}");
}

#[test]
fn functions_match_their_inverses() {
    for x in numbers() {
        assert_near(exp(ln(x)), x, x);
        assert_near(square(sqrt(x)), x, x);
        assert!(sqrt(x).re >= 0.0, "{x:?}");
        assert_near(mul(rsqrt(x), sqrt(x)), Complex64::ONE, x);
        assert_near(reciprocal(reciprocal(x)), x, x);
        assert_near(pow(x, Complex64::new(3.0, 0.0)), mul(square(x), x), x);
        assert_near(sign(x).scale(abs(x)), x, x);
    }
}

#[test]
fn quotients_of_sines_and_cosines_are_tangents() {
    for x in numbers() {
        assert_near(tan(x), div(sin(x), cos(x)), x);
        assert_near(tanh(x), div(sinh(x), cosh(x)), x);
    }
}

#[test]
fn functions_near_zero_keep_their_digits() {
    let small = Complex64::new(1e-20, -1e-20);
    assert_eq!(exp_minus_one(small), small);
    assert_eq!(ln_plus_one(small), small);
    // The logarithm of |x| is that of 1 + 1e-10.
    assert_near(
        ln(Complex64::new(1.0, 1e-5)),
        Complex64::new(5e-11, 1e-5),
        small,
    );
}

#[test]
fn large_numbers_do_not_overflow() {
    let large = Complex64::new(3e38, -3e38);
    assert_eq!(div(large, large), Complex64::ONE);
    assert_eq!(sigmoid(Complex64::new(-1e30, 1.0)), Complex64::ZERO);
    assert_eq!(sigmoid(Complex64::new(1e30, 1.0)), Complex64::ONE);
    assert_eq!(tanh(Complex64::new(-1e30, 1.0)), Complex64::new(-1.0, 0.0));
    assert_eq!(
        exp(Complex64::new(f32::NEG_INFINITY, f32::INFINITY)),
        Complex64::ZERO
    );
}

#[test]
fn zero_has_results_without_nan() {
    let (zero, x) = (Complex64::ZERO, Complex64::new(2.0, 3.0));
    assert_eq!([sqrt(zero), sign(zero), pow(zero, x)], [zero; 3]);
    assert_eq!(
        [div_no_nan(x, zero), mul_no_nan(x, zero), xlogy(zero, zero)],
        [zero; 3]
    );
    assert_eq!(ln(zero).re, f32::NEG_INFINITY);
    assert!(div(x, zero).re.is_nan());
}

#[test]
fn products_match_the_triple_loop() {
    let (m, k, n) = (5, 7, 3);
    let matrix = |len: usize, step: usize| -> Vec<Complex64> {
        let part = |at: usize| (at % 11) as f32 - 5.0;
        (0..len)
            .map(|i| Complex64::new(part(i * step), part(i * step + 4)))
            .collect()
    };
    let (a, b) = (matrix(m * k, 3), matrix(k * n, 7));
    for [transpose_a, transpose_b] in [[false, false], [true, false], [false, true], [true, true]] {
        let product = Product {
            m,
            k,
            n,
            transpose_a,
            transpose_b,
        };
        let mut found = vec![Complex64::ONE; m * n];
        Complex64::write_product(product, &a, &b, &mut found);
        for (at, found) in found.iter().enumerate() {
            let (i, j) = (at / n, at % n);
            let left = |p: usize| a[if transpose_a { p * m + i } else { i * k + p }];
            let right = |p: usize| b[if transpose_b { j * k + p } else { p * n + j }];
            let expected = (0..k).fold(Complex64::ZERO, |sum, p| sum + left(p) * right(p));
            assert_eq!(*found, expected, "{product:?}");
        }
    }
}

#[test]
fn parts_are_those_of_each_number_in_order() {
    let mut x = [Complex64::new(1.0, 2.0), Complex64::new(3.0, 4.0)];
    assert_eq!(parts(&x), [1.0, 2.0, 3.0, 4.0]);
    parts_mut(&mut x)[2] = 5.0;
    assert_eq!(x[1], Complex64::new(5.0, 4.0));
}
