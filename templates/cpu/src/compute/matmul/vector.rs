//! A matrix times a vector. Both loops read the matrix once, in the order in which it is stored.

use crate::compute::arith::Float;
use crate::compute::parallel;
use crate::compute::simd::Isa;

/// The lines of the stored matrix that are multiplied with the vector.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    /// Computes `out[i]`, row `i` times the vector.
    Rows,
    /// Computes `out[j]`, column `j` times the vector.
    Columns,
}

/// The minimal number of multiply-adds in a task.
const GRAIN: usize = 64 * 1024;

/// Computes `out`, the matrix times `x`. The matrix has as many lines as `out` has elements, each as long as `x`.
pub(super) fn product<T: Float>(side: Line, matrix: &[T], x: &[T], out: &mut [T]) {
    let isa = Isa::current();
    let stride = out.len();
    parallel::for_each_chunk(out, (GRAIN / x.len()).max(1), |start, out| {
        isa.vectorize(
            #[inline(always)]
            || match side {
                Line::Rows => rows(&matrix[start * x.len()..], x, out),
                Line::Columns => columns(&matrix[start..], stride, x, out),
            },
        );
    });
}

/// The number of running sums, which hides the latency of additions on all machines.
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

/// The number of columns that are summed together; their sums fit in the first cache.
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
