//! Matrix products: `c = op(a) * op(b)`, row-major, where `op` transposes or not.
//!
//! Floats go through register tiles ([`tile`]) for each instruction set, blocked for the caches ([`block`]), packed only where
//! that pays ([`pack`]); products with a vector have loops of their own ([`vector`]), and so have integers ([`integer`]). Each
//! element's terms are summed in an order that depends on the shapes and the instruction set, never on the number of cores.

mod block;
mod integer;
mod pack;
mod tile;
mod vector;

pub use tile::Tiled;

use super::arith::Integer;
use super::parallel;
use super::simd::Isa;

/// The shape of a product: `op(a)` is `m` x `k`, `op(b)` is `k` x `n`, the result `m` x `n`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Product {
    /// Rows of the result.
    pub m: usize,
    /// Terms of each sum.
    pub k: usize,
    /// Columns of the result.
    pub n: usize,
    /// `a` is stored `k` x `m`.
    pub transpose_a: bool,
    /// `b` is stored `n` x `k`.
    pub transpose_b: bool,
}

impl Product {
    /// The product of matrices stored with these dims; `None` if the inner dims differ.
    pub fn new(a: [usize; 2], b: [usize; 2], transpose_a: bool, transpose_b: bool) -> Option<Self> {
        let [m, k] = if transpose_a { [a[1], a[0]] } else { a };
        let [other, n] = if transpose_b { [b[1], b[0]] } else { b };
        (k == other).then_some(Self {
            m,
            k,
            n,
            transpose_a,
            transpose_b,
        })
    }

    fn check<T>(&self, a: &[T], b: &[T], c: &[T]) {
        // The fields are anybody's: a product that wraps would let the tiles run past the slices.
        let is_matrix = |x: &[T], rows: usize, columns| rows.checked_mul(columns) == Some(x.len());
        assert!(is_matrix(a, self.m, self.k), "a is not m x k");
        assert!(is_matrix(b, self.k, self.n), "b is not k x n");
        assert!(is_matrix(c, self.m, self.n), "c is not m x n");
    }
}

/// `c = op(a) * op(b)` of `f32` or `f64`. Zeros if `k` is 0; NaN and infinities go where the plain triple loop has them.
///
/// # Panics
/// If a slice is not as long as the product says.
pub fn matmul<T: Tiled>(product: Product, a: &[T], b: &[T], c: &mut [T]) {
    product.check(a, b, c);
    let Product {
        m,
        k,
        n,
        transpose_a,
        transpose_b,
    } = product;
    match (m, n, k) {
        (0, ..) | (_, 0, _) => {}
        (_, _, 0) => c.fill(T::ZERO),
        // A row vector: b's columns; b is stored with them as rows if transposed.
        (1, ..) => vector::product(
            if transpose_b {
                vector::Side::Rows
            } else {
                vector::Side::Columns
            },
            b,
            a,
            c,
        ),
        (_, 1, _) => vector::product(
            if transpose_a {
                vector::Side::Columns
            } else {
                vector::Side::Rows
            },
            a,
            b,
            c,
        ),
        _ => block::product(product, a, b, c),
    }
}

/// `c = op(a) * op(b)` of integers, wrapping.
///
/// # Panics
/// If a slice is not as long as the product says.
pub fn matmul_int<T: Integer>(product: Product, a: &[T], b: &[T], c: &mut [T]) {
    product.check(a, b, c);
    let isa = Isa::current();
    let grain = (256 * 1024 / product.k.max(1)).max(1);
    parallel::rows(c, product.n, grain, |first, rows| {
        isa.vectorize(
            #[inline(always)]
            || integer::rows(&product, a, b, first, rows),
        );
    });
}
