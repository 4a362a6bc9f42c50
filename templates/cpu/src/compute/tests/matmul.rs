//! Products: floats within the error bound of any summation order, integers exactly, NaN and infinities as in the
//! triple loop.

use super::*;
use crate::compute::matmul::{Product, Tiled, matmul, matmul_int};
use crate::compute::oracle;

/// Returns functions for the index of `(i, p)` in `a` and of `(p, j)` in `b`.
fn index_functions(
    p: &Product,
) -> (
    impl Fn(usize, usize) -> usize,
    impl Fn(usize, usize) -> usize,
) {
    let Product {
        m,
        k,
        n,
        transpose_a,
        transpose_b,
    } = *p;
    (
        move |i, p| if transpose_a { p * m + i } else { i * k + p },
        move |p, j| if transpose_b { j * k + p } else { p * n + j },
    )
}

fn check<T: Tiled + Into<f64> + std::fmt::Debug>(product: Product, a: &[T], b: &[T], epsilon: f64) {
    let (left, right) = index_functions(&product);
    let dims = [product.m, product.k, product.n];
    let plain = oracle::matmul(dims, |i, p| a[left(i, p)], |p, j| b[right(p, j)]);
    let exact = oracle::matmul(
        dims,
        |i, p| a[left(i, p)].into(),
        |p, j| b[right(p, j)].into(),
    );
    let size = oracle::matmul(
        dims,
        |i, p| a[left(i, p)].into().abs(),
        |p, j| b[right(p, j)].into().abs(),
    );
    on_every_isa(|isa| {
        let mut c = vec![T::NAN; plain.len()];
        matmul(product, a, b, &mut c);
        for (i, actual) in c.iter().enumerate() {
            let (actual, plain): (f64, f64) = ((*actual).into(), plain[i].into());
            let fine = match plain.is_finite() {
                true => (actual - exact[i]).abs() <= (product.k as f64 + 2.0) * epsilon * size[i],
                false => actual.is_nan() && plain.is_nan() || actual == plain,
            };
            assert!(fine, "{isa} {product:?} element {i}: {actual}, not {plain}");
        }
    });
}

fn product() -> impl Strategy<Value = Product> {
    let size =
        || prop_oneof![1 => Just(0_usize), 2 => Just(1), 8 => 2..20_usize, 4 => 20..80_usize];
    (size(), size(), size(), any::<bool>(), any::<bool>()).prop_map(
        |(m, k, n, transpose_a, transpose_b)| Product {
            m,
            k,
            n,
            transpose_a,
            transpose_b,
        },
    )
}

/// Returns numbers whose products and sums do not overflow.
fn entry() -> impl Strategy<Value = f64> {
    prop_oneof![
        300 => -10.0..10.0_f64,
        1 => proptest::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0])
    ]
}

fn case() -> impl Strategy<Value = (Product, Vec<f64>, Vec<f64>)> {
    product().prop_flat_map(|p| (Just(p), vec(entry(), p.m * p.k), vec(entry(), p.k * p.n)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn floats_match_oracle((product, a, b) in case()) {
        let (s, t) = (convert_all(&a, |x| x as f32), convert_all(&b, |x| x as f32));
        check(product, &s, &t, f32::EPSILON.into());
        check(product, &a, &b, f64::EPSILON);
    }

    #[test]
    fn integers_match_oracle((product, a, b) in case()) {
        let (a, b) = (convert_all(&a, |x| (x * 1e8) as i32), convert_all(&b, |x| (x * 1e8) as i32));
        let (left, right) = index_functions(&product);
        let expected = oracle::matmul([product.m, product.k, product.n], |i, p| a[left(i, p)], |p, j| b[right(p, j)]);
        let wide = |x: &[i32]| x.iter().map(|x| i64::from(*x) << 8).collect::<Vec<_>>();
        let (a_wide, b_wide) = (wide(&a), wide(&b));
        let expected_wide =
            oracle::matmul([product.m, product.k, product.n], |i, p| a_wide[left(i, p)], |p, j| b_wide[right(p, j)]);
        on_every_isa(|isa| {
            let mut c = vec![-1; expected.len()];
            matmul_int(product, &a, &b, &mut c);
            assert_same(isa, &c, &expected);
            let mut c = vec![-1_i64; expected.len()];
            matmul_int(product, &a_wide, &b_wide, &mut c);
            assert_same(isa, &c, &expected_wide);
        });
    }
}

/// The shapes cover several blocks of `k`, rows and columns, packed and unpacked strips, many tasks, short and long rows
/// of vectors, and small right matrices.
#[test]
fn large_products_of_small_integers_are_exact() {
    for (m, k, n) in [
        (3, 600, 5),
        (70, 1100, 50),
        (300, 7, 100),
        (9, 3, 2200),
        (100, 130, 200),
        (1, 3000, 300),
        (300, 3000, 1),
        (300, 7, 1),
        (70, 133, 1),
        (1, 100, 40),
        (3, 130, 20),
        (64, 4, 3),
        (129, 1, 2),
        (131, 4, 2),
        (200, 3, 3),
        (9000, 3, 4),
    ] {
        for (transpose_a, transpose_b) in
            [(false, false), (true, false), (false, true), (true, true)]
        {
            let product = Product {
                m,
                k,
                n,
                transpose_a,
                transpose_b,
            };
            let small = |len: usize, step: usize| {
                (0..len)
                    .map(|i| (i * step % 11) as f32 - 5.0)
                    .collect::<Vec<_>>()
            };
            let (a, b) = (small(m * k, 7), small(k * n, 3));
            let (left, right) = index_functions(&product);
            let expected = oracle::matmul([m, k, n], |i, p| a[left(i, p)], |p, j| b[right(p, j)]);
            on_every_isa(|isa| {
                let mut c = vec![f32::NAN; m * n];
                matmul(product, &a, &b, &mut c);
                assert_same(isa, &c, &expected);
            });
        }
    }
}

#[test]
fn product_without_terms_is_zero() {
    let product = Product::new([2, 0], [0, 3], false, false).unwrap();
    let mut c = [f32::NAN; 6];
    matmul(product, &[], &[], &mut c);
    assert_eq!(c, [0.0; 6]);
    let mut c = [1; 6];
    matmul_int(product, &[], &[], &mut c);
    assert_eq!(c, [0; 6]);
}

#[test]
fn product_uses_stored_dims() {
    let product = Product::new([5, 2], [3, 5], true, true).unwrap();
    assert_eq!([product.m, product.k, product.n], [2, 5, 3]);
    assert_eq!(Product::new([2, 3], [2, 3], false, false), None);
}

/// A product whose lengths wrap to those of the slices: without a check the tiles would access memory far outside.
const WRAPPED: Product = Product {
    m: 1 << 62,
    k: 4,
    n: 1 << 62,
    transpose_a: false,
    transpose_b: false,
};

#[test]
#[should_panic(expected = "a is not m x k")]
fn rejects_product_whose_size_overflows() {
    matmul::<f32>(WRAPPED, &[], &[], &mut []);
}

#[test]
#[should_panic(expected = "a is not m x k")]
fn rejects_product_of_integers_whose_size_overflows() {
    matmul_int::<i64>(WRAPPED, &[], &[], &mut []);
}
