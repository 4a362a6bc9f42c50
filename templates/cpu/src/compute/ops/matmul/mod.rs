//! Matrix products: `c = op(a) * op(b)`, row-major, where `op` transposes or not.
//!
//! Floats go through register tiles (`tile`) for each instruction set, blocked for the caches (`block`), packed
//! only if that is faster (`pack`). Products with a vector (`vector`), with a small matrix (`thin`), of few terms and of
//! integers (`integer`) have their own loops; `batch` has many of one shape; `factor` has 16-bit floats. The left
//! operands of `indirect` are at offsets. The order of summation depends on the shapes and the instruction set, never on the number of cores.

mod batch;
mod block;
mod factor;
mod finish;
mod indirect;
mod integer;
mod pack;
mod thin;
mod tile;
mod vector;

pub use batch::{Batch, Multiplied, Multiply, multiply_batch};
pub use factor::Factor;
pub use finish::{Finish, Part, finish_rows};
pub use indirect::{Indirect, Right, Source, Target};
pub use tile::{Tile, Tiled};

use crate::compute::machine::parallel;
use crate::compute::machine::simd::Isa;
use crate::compute::scalar::arith::Integer;

/// The shape of a product: `op(a)` is `m` x `k`, `op(b)` is `k` x `n`, the result `m` x `n`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Product {
    /// The number of rows of the result.
    pub m: usize,
    /// The number of terms of each sum.
    pub k: usize,
    /// The number of columns of the result.
    pub n: usize,
    /// True if `a` is stored as `k` x `m`.
    pub transpose_a: bool,
    /// True if `b` is stored as `n` x `k`.
    pub transpose_b: bool,
}

impl Product {
    /// Returns the product of matrices that are stored with these dims, or `None` if the inner dims differ.
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

    fn check<T, C>(&self, a: &[T], b: &[T], c: &[C]) {
        // The fields are public: with a size that wraps, the tiles would access memory outside of the slices.
        let is_matrix = |len, rows: usize, columns| rows.checked_mul(columns) == Some(len);
        assert!(is_matrix(a.len(), self.m, self.k), "a is not m x k");
        assert!(is_matrix(b.len(), self.k, self.n), "b is not k x n");
        assert!(is_matrix(c.len(), self.m, self.n), "c is not m x n");
    }
}

/// Computes `c = op(a) * op(b)` of `f32` or `f64`: zeros if `k` is 0, NaN and infinities where the triple loop gives
/// them.
///
/// # Panics
/// Panics if a slice has another length than the product.
pub fn matmul<T: Tiled>(product: Product, a: &[T], b: &[T], c: &mut [T]) {
    matmul_with(product, a, b, c, None);
}

/// Computes the product as [`matmul`], and calls `finish` once for each element, in parts that are still in the caches.
///
/// # Panics
/// Panics if a slice has another length than the product.
pub fn matmul_with<T: Tiled>(
    product: Product,
    a: &[T],
    b: &[T],
    c: &mut [T],
    finish: Option<&Finish<'_, T>>,
) {
    product.check(a, b, c);
    let Product {
        m,
        k,
        n,
        transpose_a,
        transpose_b,
    } = product;
    match (m, n, k) {
        (0, ..) | (_, 0, _) => return,
        (_, _, 0) => c.fill(T::ZERO),
        _ if k <= MAX_CHAIN && m * n * k <= MAX_FEW_TERMS => multiply_few_terms(product, a, b, c),
        // `a` is a row vector: each result is a product with a column of b, which is a stored row if b is transposed.
        (1, ..) => vector::product(
            if transpose_b {
                vector::Line::Rows
            } else {
                vector::Line::Columns
            },
            b,
            a,
            c,
        ),
        (_, 1, _) => vector::product(
            if transpose_a {
                vector::Line::Columns
            } else {
                vector::Line::Rows
            },
            a,
            b,
            c,
        ),
        (..=MAX_SEPARATE_ROWS, _, vector::LONG_ROW..) if transpose_b && !transpose_a => {
            for (row, out) in a.chunks_exact(k).zip(c.chunks_exact_mut(n)) {
                vector::product(vector::Line::Rows, b, row, out);
            }
        }
        (thin::MIN_ROWS.., 1..=thin::MAX_SIDE, 1..=thin::MAX_SIDE) => {
            thin::product(product, a, b, c);
        }
        _ => return block::product(&T::tile(Isa::current()), product, a, b, c, finish),
    }
    if let Some(finish) = finish {
        finish_rows(c, n, finish);
    }
}

/// The number of rows of `a` that are multiplied one after the other with a transposed `b`. Packing `b` takes longer.
const MAX_SEPARATE_ROWS: usize = 3;
/// The number of terms up to which a product takes less time than the choice of its tiles.
const MAX_FEW_TERMS: usize = 200;
/// The largest number of terms of one of its sums, of which each addition waits for the one before.
const MAX_CHAIN: usize = 32;

/// Computes a product of a few terms.
fn multiply_few_terms<T: Tiled>(product: Product, a: &[T], b: &[T], c: &mut [T]) {
    let Product { m, k, n, .. } = product;
    let a_steps = if product.transpose_a { [1, m] } else { [k, 1] };
    let b_steps = if product.transpose_b { [1, k] } else { [n, 1] };
    for (i, row) in c.chunks_exact_mut(n).enumerate() {
        for (j, c) in row.iter_mut().enumerate() {
            let mut sum = T::ZERO;
            for p in 0..k {
                let x = a[i * a_steps[0] + p * a_steps[1]];
                sum = sum.plus(x.times(b[p * b_steps[0] + j * b_steps[1]]));
            }
            *c = sum;
        }
    }
}

/// Computes `c = op(a) * op(b)` of integers, wrapping.
///
/// # Panics
/// Panics if a slice has another length than the product.
pub fn matmul_int<T: Integer>(product: Product, a: &[T], b: &[T], c: &mut [T]) {
    product.check(a, b, c);
    let isa = Isa::current();
    let grain = (256 * 1024 / product.k.max(1)).max(1);
    parallel::for_each_row_chunk(c, product.n, grain, |first, rows| {
        isa.vectorize(
            #[inline(always)]
            || integer::rows(&product, a, b, first, rows),
        );
    });
}
