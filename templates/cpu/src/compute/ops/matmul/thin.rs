//! Products of many short rows and a small matrix, such as a transform of points.
//!
//! Rows are computed side by side, each in a lane.

use super::Product;
use crate::compute::machine::interleave::{MAX_ROW_LEN, by_row_len, deinterleave, interleave};
use crate::compute::machine::parallel;
use crate::compute::machine::simd::Isa;
use crate::compute::scalar::arith::Float;

/// The largest number of rows and columns of the small matrix.
pub(super) const MAX_SIDE: usize = MAX_ROW_LEN;
/// The number of rows from which the loops below are faster than tiles.
pub(super) const MIN_ROWS: usize = 64;
/// The number of rows that are computed together.
const BLOCK: usize = 64;
/// The minimal number of elements of the result in a task.
const GRAIN: usize = 8192;

/// The columns of a block of rows.
type Columns<T> = [[T; BLOCK]; MAX_SIDE];

/// Computes `c = op(a) * op(b)`, where `op(b)` has at most [`MAX_SIDE`] rows and columns.
pub(super) fn product<T: Float>(product: Product, a: &[T], b: &[T], c: &mut [T]) {
    let isa = Isa::current();
    parallel::for_each_row_chunk(c, product.n, GRAIN, |first, c| {
        isa.vectorize(
            #[inline(always)]
            || write_rows(product, (a, first), b, c),
        );
    });
}

/// Writes the rows of the result from the row `first` on.
#[inline(always)]
fn write_rows<T: Float>(product: Product, (a, first): (&[T], usize), b: &[T], c: &mut [T]) {
    let Product { m, k, n, .. } = product;
    let mut columns = [[T::ZERO; BLOCK]; MAX_SIDE];
    for (block, c) in c.chunks_mut(BLOCK * n).enumerate() {
        let (start, rows) = (first + block * BLOCK, c.len() / n);
        match product.transpose_a {
            true => load_columns(&a[start..], m, rows, &mut columns[..k]),
            false => read_rows(&a[start * k..][..rows * k], k, &mut columns),
        }
        write_columns(&multiply(&product, &columns, b), n, c);
    }
}

/// Copies the first `rows` elements of columns that are `stride` apart.
#[inline(always)]
fn load_columns<T: Copy>(a: &[T], stride: usize, rows: usize, columns: &mut [[T; BLOCK]]) {
    for (p, column) in columns.iter_mut().enumerate() {
        column[..rows].copy_from_slice(&a[p * stride..][..rows]);
    }
}

/// Copies the elements of rows of `k` elements to columns.
#[inline(always)]
fn read_rows<T: Copy>(a: &[T], k: usize, columns: &mut Columns<T>) {
    by_row_len!(k, K => {
        let columns = columns.first_chunk_mut::<K>().expect("there are `MAX_SIDE` columns");
        deinterleave(a, columns.each_mut().map(#[inline(always)] |it| &mut it[..a.len() / K]));
    });
}

/// Returns the columns of the result.
#[inline(always)]
fn multiply<T: Float>(product: &Product, columns: &Columns<T>, b: &[T]) -> Columns<T> {
    let Product { k, n, .. } = *product;
    let [p_step, j_step] = if product.transpose_b { [1, k] } else { [n, 1] };
    let mut results = [[T::ZERO; BLOCK]; MAX_SIDE];
    for (j, sums) in results[..n].iter_mut().enumerate() {
        for (p, column) in columns[..k].iter().enumerate() {
            let y = b[p * p_step + j * j_step];
            for (sum, x) in sums.iter_mut().zip(column) {
                *sum = sum.plus(x.times(y));
            }
        }
    }
    results
}

/// Writes columns as rows of `n` elements.
#[inline(always)]
fn write_columns<T: Copy>(columns: &Columns<T>, n: usize, c: &mut [T]) {
    by_row_len!(n, N => {
        let columns = columns.first_chunk::<N>().expect("there are `MAX_SIDE` columns");
        interleave(columns.each_ref().map(#[inline(always)] |it| &it[..]), c);
    });
}
