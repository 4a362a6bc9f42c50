//! Maxima and averages over windows of images, and their gradients. Tensors are in the order batch, rows, columns,
//! channels.

use super::window::{Slide, Windows};
use crate::compute::Result;
use crate::compute::elementary::Elementary;
use crate::compute::parallel::for_each_block;
use crate::compute::simd::Isa;

/// The number of elements read in a task.
const GRAIN: usize = 128 * 1024;

/// The dims of a pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pool {
    batch: usize,
    rows: Windows,
    columns: Windows,
    channels: usize,
}

impl Pool {
    /// Creates the plan for an input and windows of `size` rows and columns.
    ///
    /// # Errors
    /// Returns [`Error::WindowTooLarge`](crate::compute::Error).
    pub fn new(
        [batch, height, width, channels]: [usize; 4],
        size: [usize; 2],
        slides: [Slide; 2],
    ) -> Result<Self> {
        let (rows, columns) = (
            Windows::new(height, size[0], slides[0])?,
            Windows::new(width, size[1], slides[1])?,
        );
        Ok(Self {
            batch,
            rows,
            columns,
            channels,
        })
    }

    /// Returns the dims of the result.
    pub fn output(&self) -> [usize; 4] {
        [
            self.batch,
            self.rows.output,
            self.columns.output,
            self.channels,
        ]
    }

    /// Returns the dims of the input.
    pub fn input(&self) -> [usize; 4] {
        [
            self.batch,
            self.rows.input,
            self.columns.input,
            self.channels,
        ]
    }

    fn check<T>(&self, x: &[T], y: &[T]) {
        let lens = [self.input(), self.output()].map(|dims| dims.iter().product());
        assert_eq!(
            [x.len(), y.len()],
            lens,
            "a tensor differs in length from the plan"
        );
    }

    /// Returns the number of elements of one row of windows.
    fn output_row(&self) -> usize {
        self.columns.output * self.channels
    }

    /// Returns the number of elements of an input image.
    fn image(&self) -> usize {
        self.rows.input * self.columns.input * self.channels
    }

    /// Calls `visit` with the index, in an image, of the first channel of each element of a window.
    #[inline(always)]
    fn for_each_element(&self, (y, x): (usize, usize), mut visit: impl FnMut(usize)) {
        let ((top, bottom), (left, right)) = (self.rows.inside(y), self.columns.inside(x));
        for i in top..bottom {
            let row = y * self.rows.stride + i * self.rows.dilation - self.rows.before;
            for j in left..right {
                let column =
                    x * self.columns.stride + j * self.columns.dilation - self.columns.before;
                visit((row * self.columns.input + column) * self.channels);
            }
        }
    }

    /// Returns the number of elements of a window that are not padding.
    #[inline(always)]
    fn count(&self, (y, x): (usize, usize)) -> usize {
        let ((top, bottom), (left, right)) = (self.rows.inside(y), self.columns.inside(x));
        (bottom - top) * (right - left)
    }

    /// Calls `write(image, window, channels of the result)` for each window.
    fn for_each_window<T: Elementary>(
        &self,
        x: &[T],
        out: &mut [T],
        write: impl Fn(&[T], (usize, usize), &mut [T]) + Sync,
    ) {
        if out.is_empty() {
            return;
        }
        let row = self.output_row();
        let work =
            row * self.rows.size.min(self.rows.input) * self.columns.size.min(self.columns.input);
        let (block, isa) = ((GRAIN / work.max(1)).max(1), Isa::current());
        for_each_block(out, block * row, |index, out| {
            isa.vectorize(
                #[inline(always)]
                || {
                    for (line, out) in out.chunks_exact_mut(row).enumerate() {
                        let line = index * block + line;
                        let image = &x[line / self.rows.output * self.image()..][..self.image()];
                        for (column, out) in out.chunks_exact_mut(self.channels).enumerate() {
                            write(image, (line % self.rows.output, column), out);
                        }
                    }
                },
            );
        });
    }

    /// Calls `add(index of the image, window, image of dx, channels of dy)` for each window, image by image.
    fn for_each_gradient<T: Elementary>(
        &self,
        dy: &[T],
        dx: &mut [T],
        add: impl Fn(usize, (usize, usize), &mut [T], &[T]) + Sync,
    ) {
        dx.fill(T::ZERO);
        if dx.is_empty() || dy.is_empty() {
            return;
        }
        let isa = Isa::current();
        let windows = self.rows.output * self.output_row();
        for_each_block(dx, self.image(), |index, dx| {
            let dy = &dy[index * windows..][..windows];
            isa.vectorize(
                #[inline(always)]
                || {
                    for (window, dy) in dy.chunks_exact(self.channels).enumerate() {
                        let at = (window / self.columns.output, window % self.columns.output);
                        add(index, at, dx, dy);
                    }
                },
            );
        });
    }
}

/// Computes the largest element of each window; NaN if one is NaN.
///
/// # Panics
/// Panics if a slice has another length than the plan.
pub fn max_pool<T: Elementary>(plan: &Pool, x: &[T], y: &mut [T]) {
    plan.check(x, y);
    plan.for_each_window(
        x,
        y,
        #[inline(always)]
        |image, window, out| {
            out.fill(T::constant(f64::NEG_INFINITY));
            plan.for_each_element(
                window,
                #[inline(always)]
                |index| {
                    let x = &image[index..index + out.len()];
                    out.iter_mut().zip(x).for_each(
                        #[inline(always)]
                        |(out, x)| *out = super::activation::maximum(*out, *x),
                    );
                },
            );
        },
    );
}

/// Computes the gradient of [`max_pool`]: that of a window goes to its first largest element.
///
/// # Panics
/// Panics if a slice has another length than the plan.
pub fn max_pool_grad<T: Elementary>(plan: &Pool, x: &[T], dy: &[T], dx: &mut [T]) {
    plan.check(x, dy);
    assert_eq!(x.len(), dx.len(), "operand and gradient differ in length");
    plan.for_each_gradient(
        dy,
        dx,
        #[inline(always)]
        |image, window, dx, dy| {
            let x = &x[image * plan.image()..][..plan.image()];
            // Some channels at a time, so that their maxima need no memory.
            const CHANNELS: usize = 32;
            for (part, dy) in dy.chunks(CHANNELS).enumerate() {
                let (mut largest, mut place) = ([T::ZERO; CHANNELS], [usize::MAX; CHANNELS]);
                plan.for_each_element(
                    window,
                    #[inline(always)]
                    |index| {
                        let x = &x[index + part * CHANNELS..][..dy.len()];
                        for (channel, x) in x.iter().enumerate() {
                            if place[channel] == usize::MAX || *x > largest[channel] {
                                (largest[channel], place[channel]) =
                                    (*x, index + part * CHANNELS + channel);
                            }
                        }
                    },
                );
                for (dy, place) in dy.iter().zip(&place) {
                    if let Some(dx) = dx.get_mut(*place) {
                        *dx = dx.plus(*dy);
                    }
                }
            }
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
        |image, window, out| {
            out.fill(T::ZERO);
            plan.for_each_element(
                window,
                #[inline(always)]
                |index| {
                    let x = &image[index..index + out.len()];
                    out.iter_mut().zip(x).for_each(
                        #[inline(always)]
                        |(out, x)| *out = out.plus(*x),
                    );
                },
            );
            let count = T::from_count(plan.count(window));
            out.iter_mut().for_each(
                #[inline(always)]
                |out| *out = out.over(count),
            );
        },
    );
}

/// Computes the gradient of [`average_pool`].
///
/// # Panics
/// Panics if a slice has another length than the plan.
pub fn average_pool_grad<T: Elementary>(plan: &Pool, dy: &[T], dx: &mut [T]) {
    plan.check(dx, dy);
    plan.for_each_gradient(
        dy,
        dx,
        #[inline(always)]
        |_, window, dx, dy| {
            let share = T::ONE.over(T::from_count(plan.count(window)));
            plan.for_each_element(
                window,
                #[inline(always)]
                |index| {
                    let dx = &mut dx[index..index + dy.len()];
                    dx.iter_mut().zip(dy).for_each(
                        #[inline(always)]
                        |(dx, dy)| *dx = dx.plus(dy.times(share)),
                    );
                },
            );
        },
    );
}
