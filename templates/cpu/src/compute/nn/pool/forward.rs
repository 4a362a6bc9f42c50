//! Maxima and averages of windows.

use super::Pool;
use super::windows::Elements;
use crate::compute::arith::Number;
use crate::compute::elementary::Elementary;
use crate::compute::nn::activation;
use crate::compute::parallel::for_each_block;
use crate::compute::simd::Isa;

/// The number of elements read in a task.
const GRAIN: usize = 128 * 1024;

impl Pool {
    /// Calls `write(image, elements of the window, channels of the result)` for each window.
    fn for_each_window<T: Number>(
        &self,
        x: &[T],
        out: &mut [T],
        write: impl Fn(&[T], &Elements, &mut [T]) + Sync,
    ) {
        if out.is_empty() {
            return;
        }
        let row = self.output_row();
        let (work, lines) = (
            row * self.most_elements(),
            self.planes.output * self.rows.output,
        );
        let (block, isa) = ((GRAIN / work.max(1)).max(1), Isa::current());
        for_each_block(out, block * row, |index, out| {
            let mut elements = Elements::default();
            isa.vectorize(
                #[inline(always)]
                || {
                    for (line, out) in out.chunks_exact_mut(row).enumerate() {
                        let line = index * block + line;
                        let image = &x[line / lines * self.image()..][..self.image()];
                        let [plane, row] = self.row_of_windows(line % lines);
                        for (column, out) in out.chunks_exact_mut(self.channels).enumerate() {
                            self.find([plane, row, column], &mut elements);
                            write(image, &elements, out);
                        }
                    }
                },
            );
        });
    }
}

/// Computes the largest element of each window; NaN if one is NaN, and the lowest value of the type if it has padding only.
///
/// # Panics
/// Panics if a slice has another length than the plan.
pub fn max_pool<T: Number>(plan: &Pool, x: &[T], y: &mut [T]) {
    plan.check(x, y);
    plan.for_each_window(
        x,
        y,
        #[inline(always)]
        |image, elements, out| {
            out.fill(T::LOWEST);
            elements.for_each(
                #[inline(always)]
                |index| {
                    let x = &image[index..index + out.len()];
                    out.iter_mut().zip(x).for_each(
                        #[inline(always)]
                        |(out, x)| *out = activation::maximum(*out, *x),
                    );
                },
            );
        },
    );
}

/// Computes the average of each window, without its padding.
///
/// # Panics
/// Panics if a slice has another length than the plan.
pub fn average_pool<T: Elementary>(plan: &Pool, x: &[T], y: &mut [T]) {
    plan.check(x, y);
    plan.for_each_window(
        x,
        y,
        #[inline(always)]
        |image, elements, out| {
            out.fill(T::ZERO);
            elements.for_each(
                #[inline(always)]
                |index| {
                    let x = &image[index..index + out.len()];
                    out.iter_mut().zip(x).for_each(
                        #[inline(always)]
                        |(out, x)| *out = out.plus(*x),
                    );
                },
            );
            let count = T::from_count(elements.count());
            out.iter_mut().for_each(
                #[inline(always)]
                |out| *out = out.over(count),
            );
        },
    );
}
