//! A matrix times a vector. Both loops read the matrix once, in the order in which it is stored.

use crate::compute::arith::Float;
use crate::compute::parallel;
use crate::compute::simd::Isa;

/// Which lines of the stored matrix meet the vector.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// `out[i]` = row `i` times the vector.
    Rows,
    /// `out[j]` = column `j` times the vector.
    Columns,
}

/// Multiply-adds that one task should have at least.
const GRAIN: usize = 64 * 1024;

/// `out` = the matrix, which has as many lines as `out` is long, each as long as `x`.
pub(super) fn product<T: Float>(side: Side, matrix: &[T], x: &[T], out: &mut [T]) {
    let isa = Isa::current();
    let stride = out.len();
    parallel::pieces(out, (GRAIN / x.len()).max(1), |start, out| {
        isa.vectorize(
            #[inline(always)]
            || match side {
                Side::Rows => rows(&matrix[start * x.len()..], x, out),
                Side::Columns => columns(&matrix[start..], stride, x, out),
            },
        );
    });
}

/// Sixty-four running sums: enough to hide the latency of additions on all machines.
const LANES: usize = 64;

#[inline(always)]
fn rows<T: Float>(matrix: &[T], x: &[T], out: &mut [T]) {
    for (row, out) in matrix.chunks_exact(x.len()).zip(out) {
        let mut sums = [T::ZERO; LANES];
        let ((a, a_rest), (b, b_rest)) = (row.as_chunks::<LANES>(), x.as_chunks::<LANES>());
        for (a, b) in a.iter().zip(b) {
            (0..LANES).for_each(
                #[inline(always)]
                |i| sums[i] = sums[i].plus(a[i].times(b[i])),
            );
        }
        let mut width = LANES;
        while width > 1 {
            width /= 2;
            (0..width).for_each(
                #[inline(always)]
                |i| sums[i] = sums[i].plus(sums[i + width]),
            );
        }
        let rest = a_rest.iter().zip(b_rest);
        *out = rest.fold(
            sums[0],
            #[inline(always)]
            |sum, (a, b)| sum.plus(a.times(*b)),
        );
    }
}

/// Columns that are summed together, so that the sums stay in the first cache.
const COLUMNS: usize = 2048;

#[inline(always)]
fn columns<T: Float>(matrix: &[T], stride: usize, x: &[T], out: &mut [T]) {
    for (block, out) in out.chunks_mut(COLUMNS).enumerate() {
        let width = out.len();
        let row = |index: usize| &matrix[index * stride + block * COLUMNS..][..width];
        out.fill(T::ZERO);
        let (fours, rest) = x.as_chunks::<4>();
        for (index, y) in fours.iter().enumerate() {
            let (a, b, c, d) = (
                row(4 * index),
                row(4 * index + 1),
                row(4 * index + 2),
                row(4 * index + 3),
            );
            for j in 0..width {
                let low = a[j].times(y[0]).plus(b[j].times(y[1]));
                let high = c[j].times(y[2]).plus(d[j].times(y[3]));
                out[j] = out[j].plus(low.plus(high));
            }
        }
        for (index, y) in rest.iter().enumerate() {
            let a = row(4 * fours.len() + index);
            out.iter_mut().zip(a).for_each(
                #[inline(always)]
                |(out, a)| *out = out.plus(a.times(*y)),
            );
        }
    }
}
