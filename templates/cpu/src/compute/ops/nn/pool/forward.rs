//! Maxima and averages of windows.

use super::Pool;
use super::folds::{Fold, RowBuffer, RowFolds};
use crate::compute::machine::parallel::for_each_block;
use crate::compute::machine::simd::Isa;
use crate::compute::ops::nn::activation;
use crate::compute::scalar::arith::Number;
use crate::compute::scalar::elementary::Elementary;

/// The number of elements read in a task.
const GRAIN: usize = 128 * 1024;

impl Pool {
    /// Returns the approximate number of elements that are read for a row of windows.
    fn work_of_row(&self) -> usize {
        /// The number of elements that are read in the time that a window of one element takes.
        const LEAST: usize = 8;
        let [planes, rows, columns] = self.windows().map(|it| it.size.min(it.input));
        let of_rows = planes * rows * self.columns.input * self.channels;
        of_rows + columns * self.columns.output * self.channels.max(LEAST)
    }

    /// Writes the result of each window.
    fn write_folds<T: Number, F: Fold<T>>(&self, x: &[T], out: &mut [T]) {
        if out.is_empty() {
            return;
        }
        let (row, folds) = (self.output_row(), RowFolds::new(self));
        let (block, isa) = ((GRAIN / self.work_of_row().max(1)).max(1), Isa::current());
        for_each_block(out, block * row, |index, out| {
            let mut buffer = RowBuffer::default();
            isa.vectorize(
                #[inline(always)]
                || {
                    for line in 0..out.len() / row {
                        let out = &mut out[line * row..];
                        folds.write::<T, F>(x, index * block + line, &mut buffer, out);
                    }
                },
            );
        });
    }
}

/// The maximum: NaN if one element is NaN.
struct Largest;

impl<T: Number> Fold<T> for Largest {
    const EMPTY: T = T::LOWEST;

    #[inline(always)]
    fn combine(x: T, y: T) -> T {
        activation::maximum(x, y)
    }

    #[inline(always)]
    fn finish(folded: T, _: usize) -> T {
        folded
    }
}

/// The sum divided by the number of elements.
struct Average;

impl<T: Elementary> Fold<T> for Average {
    const EMPTY: T = T::ZERO;

    #[inline(always)]
    fn combine(x: T, y: T) -> T {
        x.plus(y)
    }

    #[inline(always)]
    fn finish(folded: T, count: usize) -> T {
        folded.over(T::from_count(count))
    }
}

/// Computes the largest element of each window; NaN if one is NaN, and the lowest value of the type if it has padding only.
///
/// # Panics
/// Panics if a slice has another length than the plan.
pub fn max_pool<T: Number>(plan: &Pool, x: &[T], y: &mut [T]) {
    plan.check(x, y);
    plan.write_folds::<T, Largest>(x, y);
}

/// Computes the average of each window, without its padding.
///
/// # Panics
/// Panics if a slice has another length than the plan.
pub fn average_pool<T: Elementary>(plan: &Pool, x: &[T], y: &mut [T]) {
    plan.check(x, y);
    plan.write_folds::<T, Average>(x, y);
}
