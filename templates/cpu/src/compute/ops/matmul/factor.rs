//! Products of elements that may be computed in another type: 16-bit floats in `f32`, or bfloat16 in pairs.
//!
//! AVX512-BF16 multiplies two pairs of bfloat16 in each lane and adds both products to an `f32`. A pair has the size of an
//! `f32`, so a matrix of pairs goes through the same blocks and tiles as one of `f32` with half as many terms.

use super::tile::Tile;
use super::{Finish, Product, Tiled, block, matmul_with};
use crate::compute::loops::precision::{Precision, Widened};
use crate::compute::machine::cost::{self, Cost};
use crate::compute::machine::parallel::for_each_row_chunk;
use crate::compute::machine::simd::Isa;
use crate::compute::machine::workspace::Buffer;
use sp_plugin::{Bf16, F16};

/// A type of matrix elements.
pub trait Factor: Precision<Compute: Tiled> {
    /// Returns the tile for operands of pairs, if pairs are multiplied faster.
    fn pair_tile() -> Option<Tile<Self::Compute>> {
        None
    }

    /// Returns pairs of adjacent elements of each row of `k` elements, the first one in the lower half of the bits. A last
    /// element alone is paired with 0.
    fn pairs_of_rows(x: &[Self], _k: usize) -> Widened<'_, Self::Compute> {
        Self::widened(x)
    }

    /// Returns pairs of the elements of two adjacent rows of `width` elements. Those of a last row alone are paired with 0.
    fn pairs_of_columns(x: &[Self], _width: usize) -> Widened<'_, Self::Compute> {
        Self::widened(x)
    }

    /// Computes the product before rounding, and calls `finish`, as [`matmul_with`].
    ///
    /// # Panics
    /// Panics if a slice has another length than the product.
    fn multiply(
        product: Product,
        a: &[Self],
        b: &[Self],
        c: &mut [Self::Compute],
        finish: Option<&Finish<'_, Self::Compute>>,
    ) {
        let Product { m, k, n, .. } = product;
        let tile = Self::pair_tile().filter(|_| m > 1 && k > 1 && n > 1);
        let Some(tile) = tile else {
            return matmul_with(product, &Self::widened(a), &Self::widened(b), c, finish);
        };
        product.check(a, b, c);
        let a = match product.transpose_a {
            false => Self::pairs_of_rows(a, k),
            true => Self::pairs_of_columns(a, m),
        };
        let b = match product.transpose_b {
            false => Self::pairs_of_columns(b, n),
            true => Self::pairs_of_rows(b, k),
        };
        let k = k.div_ceil(2);
        block::product(&tile, Product { k, ..product }, &a, &b, c, finish);
    }
}

impl Factor for f32 {}
impl Factor for f64 {}
impl Factor for F16 {}

impl Factor for Bf16 {
    #[cfg(target_arch = "x86_64")]
    fn pair_tile() -> Option<Tile<f32>> {
        super::tile::pairs(Isa::current())
    }

    fn pairs_of_rows(x: &[Self], k: usize) -> Widened<'_, f32> {
        // SAFETY: all bits are an `f32`.
        let (before, pairs, after) = unsafe { x.align_to::<f32>() };
        if k.is_multiple_of(2) && before.is_empty() && after.is_empty() {
            return Widened::Same(pairs);
        }
        let width = k.div_ceil(2);
        let mut pairs = Buffer::new(x.len() / k * width);
        for_each_row_chunk(&mut pairs, width, cost::Cheap.grain(), |first, pairs| {
            for (row, pairs) in (first..).zip(pairs.chunks_exact_mut(width)) {
                for (pair, out) in x[row * k..][..k].chunks(2).zip(pairs) {
                    *out = join(pair[0], pair.get(1).copied().unwrap_or_default());
                }
            }
        });
        Widened::Converted(pairs)
    }

    fn pairs_of_columns(x: &[Self], width: usize) -> Widened<'_, f32> {
        let rows = (x.len() / width).div_ceil(2);
        let mut pairs = Buffer::new(rows * width);
        let isa = Isa::current();
        for_each_row_chunk(&mut pairs, width, cost::Cheap.grain(), |first, pairs| {
            isa.vectorize(
                #[inline(always)]
                || {
                    for (row, out) in (first..).zip(pairs.chunks_exact_mut(width)) {
                        join_rows(&x[row * 2 * width..], out);
                    }
                },
            );
        });
        Widened::Converted(pairs)
    }
}

/// Joins the first two rows, or the only one and zeros.
#[inline(always)]
fn join_rows(x: &[Bf16], out: &mut [f32]) {
    let (even, odd) = x.split_at(out.len());
    if odd.is_empty() {
        for (out, x) in out.iter_mut().zip(even) {
            *out = join(*x, Bf16::default());
        }
        return;
    }
    for ((out, x), y) in out.iter_mut().zip(even).zip(&odd[..even.len()]) {
        *out = join(*x, *y);
    }
}

#[inline(always)]
fn join(first: Bf16, second: Bf16) -> f32 {
    f32::from_bits(u32::from(first.0) | u32::from(second.0) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small(len: usize, step: usize) -> Vec<Bf16> {
        (0..len)
            .map(|i| Bf16::from_f32((i * step % 17) as f32 - 8.0))
            .collect()
    }

    /// Sums of small integers are exact, so that they have the same bits in any order.
    #[test]
    fn products_of_pairs_match_those_of_floats() {
        for (m, k, n) in [
            (2, 2, 2),
            (3, 5, 7),
            (17, 64, 33),
            (70, 301, 50),
            (64, 1200, 96),
        ] {
            for transposed in 0..4 {
                let product = Product {
                    m,
                    k,
                    n,
                    transpose_a: transposed & 1 > 0,
                    transpose_b: transposed & 2 > 0,
                };
                let (a, b) = (small(m * k, 7), small(k * n, 5));
                let mut expected = vec![0.0; m * n];
                matmul_with(
                    product,
                    &Bf16::widened(&a),
                    &Bf16::widened(&b),
                    &mut expected,
                    None,
                );
                for isa in Isa::available() {
                    let mut found = vec![f32::NAN; m * n];
                    isa.scope(|| Bf16::multiply(product, &a, &b, &mut found, None));
                    assert_eq!(found, expected, "{isa:?} {product:?}");
                }
            }
        }
    }

    #[test]
    fn unaligned_operand_is_copied() {
        let (a, b) = (small(4 * 6 + 1, 7), small(6 * 3 + 1, 5));
        let product = Product {
            m: 4,
            k: 6,
            n: 3,
            transpose_a: false,
            transpose_b: true,
        };
        let multiply = |a: &[Bf16], b: &[Bf16]| {
            let mut c = vec![f32::NAN; 12];
            Bf16::multiply(product, a, b, &mut c, None);
            c
        };
        let copies = [a[1..].to_vec(), b[1..].to_vec()];
        assert_eq!(multiply(&a[1..], &b[1..]), multiply(&copies[0], &copies[1]));
    }
}
