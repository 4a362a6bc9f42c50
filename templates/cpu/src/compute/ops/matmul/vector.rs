//! A matrix times a vector. Both loops read the matrix once, in the order in which it is stored.
//!
//! A short row has 8 running sums, a long one four registers of them: the addition of many sums takes longer than a
//! short row.

use crate::compute::machine::parallel;
use crate::compute::machine::simd::{Isa, Lanes, LanesBody, MAX_LANES, Registers, Vector};
use crate::compute::scalar::arith::Float;

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
pub(super) fn product<T: Vector + Float>(side: Line, matrix: &[T], x: &[T], out: &mut [T]) {
    let isa = Isa::current();
    let stride = out.len();
    parallel::for_each_chunk(out, (GRAIN / x.len()).max(1), |start, out| {
        isa.vectorize(
            #[inline(always)]
            || match side {
                Line::Rows => rows(isa, &matrix[start * x.len()..], x, out),
                Line::Columns => columns(&matrix[start..], stride, x, out),
            },
        );
    });
}

/// The number of registers of running sums, which hides the latency of additions on all machines.
const REGISTERS: usize = 4;
/// The number of elements from which rows are multiplied in registers.
pub(super) const LONG_ROW: usize = 64;
/// The number of running sums of a short row.
const LANES: usize = 8;

#[inline(always)]
fn rows<T: Vector + Float>(isa: Isa, matrix: &[T], x: &[T], out: &mut [T]) {
    if x.len() >= LONG_ROW {
        return T::with_lanes(isa, Dots { matrix, x, out });
    }
    for (row, out) in matrix.chunks_exact(x.len()).zip(out) {
        *out = dot([T::ZERO; LANES], row, x);
    }
}

/// Products of long rows and a vector.
struct Dots<'a, T> {
    matrix: &'a [T],
    x: &'a [T],
    out: &'a mut [T],
}

impl<T: Vector + Float> LanesBody<T> for Dots<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<Scalar = T>>(self, registers: Registers<V>) {
        let step = REGISTERS * V::COUNT;
        let (x, x_rest) = self.x.split_at(self.x.len() / step * step);
        for (row, out) in self.matrix.chunks_exact(self.x.len()).zip(self.out) {
            let (row, row_rest) = row.split_at(x.len());
            let mut sums = registers.splat::<REGISTERS>(T::ZERO);
            for (row, x) in row.chunks_exact(step).zip(x.chunks_exact(step)) {
                registers.mul_add(&mut sums, &registers.load(row), &registers.load(x));
            }
            let mut lanes = [T::ZERO; REGISTERS * MAX_LANES];
            registers.store(&sums, &mut lanes);
            *out = dot(fold(lanes), row_rest, x_rest);
        }
    }
}

/// Returns the sum of `sums` and of the products of `x` and `y`.
#[inline(always)]
fn dot<T: Float>(mut sums: [T; LANES], x: &[T], y: &[T]) -> T {
    let ((x, x_rest), (y, y_rest)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
    for (x, y) in x.iter().zip(y) {
        for (sum, (x, y)) in sums.iter_mut().zip(x.iter().zip(y)) {
            *sum = sum.plus(x.times(*y));
        }
    }
    let [mut sum] = fold(sums);
    for (x, y) in x_rest.iter().zip(y_rest) {
        sum = sum.plus(x.times(*y));
    }
    sum
}

/// Adds the second half of the sums to the first, until `M` are left. `N` is `M` times a power of two.
#[inline(always)]
fn fold<const N: usize, const M: usize, T: Float>(mut sums: [T; N]) -> [T; M] {
    let mut width = N;
    while width > M {
        width /= 2;
        for i in 0..width {
            sums[i] = sums[i].plus(sums[i + width]);
        }
    }
    *sums.first_chunk().expect("there are `M` sums or more")
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
