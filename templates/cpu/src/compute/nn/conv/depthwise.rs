//! Convolutions whose groups have one channel: each is a sum of products of few elements, so there are no matrices to
//! multiply.

use super::{Convolution, PARTIAL_SUMS, Windows};
use crate::compute::matmul::Tiled;
use crate::compute::parallel::for_each_block;
use crate::compute::simd::Isa;

/// The number of multiply-adds in a task.
const GRAIN: usize = 128 * 1024;

impl Convolution {
    /// Returns true if each group of images has one channel, and there are several.
    pub(super) fn is_depthwise(&self) -> bool {
        self.depth == 1 && self.groups > 1 && self.planes == Windows::ONE_PLANE
    }

    /// Returns the number of elements of one row of windows.
    fn output_row(&self) -> usize {
        self.columns.output * self.filters
    }

    /// Calls `visit` with the index of the first channel of each element of a window, and that of its first weight.
    #[inline(always)]
    fn for_each_element(&self, line: usize, column: usize, mut visit: impl FnMut(usize, usize)) {
        let (image, row) = (line / self.rows.output, line % self.rows.output);
        let ((top, bottom), (left, right)) = (self.rows.inside(row), self.columns.inside(column));
        for i in top..bottom {
            let y = row * self.rows.stride + i * self.rows.dilation - self.rows.before;
            for j in left..right {
                let x =
                    column * self.columns.stride + j * self.columns.dilation - self.columns.before;
                let pixel = (image * self.rows.input + y) * self.columns.input + x;
                visit(
                    pixel * self.groups,
                    (i * self.columns.size + j) * self.filters,
                );
            }
        }
    }
}

pub(super) fn forward<T: Tiled>(plan: &Convolution, x: &[T], filter: &[T], y: &mut [T]) {
    let row = plan.output_row();
    let (block, isa) = ((GRAIN / (row * plan.patch())).max(1), Isa::current());
    for_each_block(y, block * row, |index, y| {
        isa.vectorize(
            #[inline(always)]
            || {
                for (line, y) in y.chunks_exact_mut(row).enumerate() {
                    for (column, y) in y.chunks_exact_mut(plan.filters).enumerate() {
                        y.fill(T::ZERO);
                        plan.for_each_element(
                            index * block + line,
                            column,
                            #[inline(always)]
                            |pixel, weight| {
                                add_products(
                                    &x[pixel..][..plan.groups],
                                    &filter[weight..][..plan.filters],
                                    y,
                                )
                            },
                        );
                    }
                }
            },
        );
    });
}

/// Adds `x * weights` to `y`.
#[inline(always)]
fn add_products<T: Tiled>(x: &[T], weights: &[T], y: &mut [T]) {
    if x.len() == y.len() {
        for ((y, x), weight) in y.iter_mut().zip(x).zip(weights) {
            *y = y.plus(x.times(*weight));
        }
        return;
    }
    let each = y.len() / x.len();
    for ((y, weights), x) in y
        .chunks_exact_mut(each)
        .zip(weights.chunks_exact(each))
        .zip(x)
    {
        for (y, weight) in y.iter_mut().zip(weights) {
            *y = y.plus(x.times(*weight));
        }
    }
}

/// Adds the sums of `dy * weights` of each channel to `dx`.
#[inline(always)]
fn add_sums<T: Tiled>(dy: &[T], weights: &[T], dx: &mut [T]) {
    if dx.len() == dy.len() {
        return add_products(dy, weights, dx);
    }
    let each = dy.len() / dx.len();
    for ((dy, weights), dx) in dy
        .chunks_exact(each)
        .zip(weights.chunks_exact(each))
        .zip(dx)
    {
        for (dy, weight) in dy.iter().zip(weights) {
            *dx = dx.plus(dy.times(*weight));
        }
    }
}

pub(super) fn backprop_input<T: Tiled>(plan: &Convolution, filter: &[T], dy: &[T], dx: &mut [T]) {
    let image = plan.rows.input * plan.columns.input * plan.groups;
    let windows = plan.windows() * plan.filters;
    let isa = Isa::current();
    for_each_block(dx, image, |index, dx| {
        dx.fill(T::ZERO);
        let dy = &dy[index * windows..][..windows];
        isa.vectorize(
            #[inline(always)]
            || {
                for (window, dy) in dy.chunks_exact(plan.filters).enumerate() {
                    plan.for_each_element(
                        window / plan.columns.output,
                        window % plan.columns.output,
                        #[inline(always)]
                        |pixel, weight| {
                            add_sums(
                                dy,
                                &filter[weight..][..plan.filters],
                                &mut dx[pixel..][..plan.groups],
                            )
                        },
                    );
                }
            },
        );
    });
}

pub(super) fn backprop_filter<T: Tiled>(plan: &Convolution, x: &[T], dy: &[T], df: &mut [T]) {
    let (row, lines, len) = (plan.output_row(), plan.batch * plan.rows.output, df.len());
    // Parts depend on the shape only, so that the order of summation does not depend on the number of threads.
    let parts = (PARTIAL_SUMS / len).min(16).min(lines).max(1);
    let per_part = lines.div_ceil(parts);
    let mut sums = vec![T::ZERO; len * lines.div_ceil(per_part)];
    let isa = Isa::current();
    for_each_block(&mut sums, len, |part, df| {
        let lines = part * per_part..((part + 1) * per_part).min(lines);
        isa.vectorize(
            #[inline(always)]
            || {
                for line in lines {
                    for (column, dy) in dy[line * row..][..row]
                        .chunks_exact(plan.filters)
                        .enumerate()
                    {
                        plan.for_each_element(
                            line,
                            column,
                            #[inline(always)]
                            |pixel, weight| {
                                add_products(
                                    &x[pixel..][..plan.groups],
                                    dy,
                                    &mut df[weight..][..plan.filters],
                                )
                            },
                        );
                    }
                }
            },
        );
    });
    df.fill(T::ZERO);
    for part in sums.chunks_exact(len) {
        df.iter_mut()
            .zip(part)
            .for_each(|(df, part)| *df = df.plus(*part));
    }
}
