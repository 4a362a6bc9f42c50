//! Maxima and averages over windows of images and volumes, and their gradients. Tensors are in the order batch, planes,
//! rows, columns, channels. An image is a volume of one plane.

use super::window::{Slide, Windows};
use crate::compute::elementary::Elementary;
use crate::compute::parallel::for_each_block;
use crate::compute::simd::Isa;
use crate::compute::{Result, len};

/// The number of elements read in a task.
const GRAIN: usize = 128 * 1024;
/// The number of channels whose largest elements are found together, so that these need no memory.
const CHANNELS: usize = 32;

/// The indices of a window along the planes, rows and columns.
type Window = [usize; 3];

/// A window, and the index of its first channel in the result.
struct Place {
    window: Window,
    first: usize,
}

/// The dims of a pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pool {
    batch: usize,
    planes: Windows,
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
        let [rows, columns] = slides;
        Self::new_3d(
            [batch, 1, height, width, channels],
            [1, size[0], size[1]],
            [Slide::NONE, rows, columns],
        )
    }

    /// Creates the plan for an input and windows of `size` planes, rows and columns.
    ///
    /// # Errors
    /// Returns [`Error::WindowTooLarge`](crate::compute::Error).
    pub fn new_3d(input: [usize; 5], size: [usize; 3], slides: [Slide; 3]) -> Result<Self> {
        let windows = |i: usize| Windows::new(input[i + 1], size[i], slides[i]);
        Ok(Self {
            batch: input[0],
            planes: windows(0)?,
            rows: windows(1)?,
            columns: windows(2)?,
            channels: input[4],
        })
    }

    /// Returns the dims of the result of images.
    pub fn output(&self) -> [usize; 4] {
        let [batch, _, rows, columns, channels] = self.output_3d();
        [batch, rows, columns, channels]
    }

    /// Returns the dims of the input images.
    pub fn input(&self) -> [usize; 4] {
        let [batch, _, rows, columns, channels] = self.input_3d();
        [batch, rows, columns, channels]
    }

    /// Returns the dims of the result.
    pub fn output_3d(&self) -> [usize; 5] {
        [
            self.batch,
            self.planes.output,
            self.rows.output,
            self.columns.output,
            self.channels,
        ]
    }

    /// Returns the dims of the input.
    pub fn input_3d(&self) -> [usize; 5] {
        [
            self.batch,
            self.planes.input,
            self.rows.input,
            self.columns.input,
            self.channels,
        ]
    }

    fn check<T>(&self, x: &[T], y: &[T]) {
        let lens = [len(&self.input_3d()), len(&self.output_3d())];
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

    /// Returns the number of elements of an input image or volume.
    fn image(&self) -> usize {
        self.planes.input * self.rows.input * self.columns.input * self.channels
    }

    /// Returns the window with this index in an image: along the planes, rows and columns.
    #[inline(always)]
    fn window(&self, index: usize) -> Window {
        let (line, x) = (index / self.columns.output, index % self.columns.output);
        [line / self.rows.output, line % self.rows.output, x]
    }

    /// Calls `visit` with the index, in an image, of the first channel of each element of a window.
    #[inline(always)]
    fn for_each_element(&self, [z, y, x]: Window, mut visit: impl FnMut(usize)) {
        let (front, back) = self.planes.inside(z);
        let ((top, bottom), (left, right)) = (self.rows.inside(y), self.columns.inside(x));
        for k in front..back {
            let plane = self.planes.element(z, k) * self.rows.input;
            for i in top..bottom {
                let row = (plane + self.rows.element(y, i)) * self.columns.input;
                for j in left..right {
                    visit((row + self.columns.element(x, j)) * self.channels);
                }
            }
        }
    }

    /// Returns the largest number of elements of a window that are not padding.
    fn most_elements(&self) -> usize {
        let sides = [&self.planes, &self.rows, &self.columns].map(|it| it.size.min(it.input));
        sides.iter().product()
    }

    /// Returns the number of elements of a window that are not padding.
    #[inline(always)]
    fn count(&self, [z, y, x]: Window) -> usize {
        let sides = [
            self.planes.inside(z),
            self.rows.inside(y),
            self.columns.inside(x),
        ];
        sides.iter().map(|(first, last)| last - first).product()
    }

    /// Adds the gradients of some channels of a window, from the channel `start` on, to those of its first largest elements.
    #[inline(always)]
    fn add_to_largest<T: Elementary>(
        &self,
        window: Window,
        start: usize,
        x: &[T],
        dx: &mut [T],
        dy: &[T],
    ) {
        let (mut largest, mut winner) = ([T::ZERO; CHANNELS], [0; CHANNELS]);
        let mut element = 0_u32;
        self.for_each_element(
            window,
            #[inline(always)]
            |index| {
                let x = &x[index + start..][..dy.len()];
                // Selections instead of branches, so that the loop is vectorized.
                for ((x, largest), winner) in x.iter().zip(&mut largest).zip(&mut winner) {
                    let is_larger = element == 0 || *x > *largest;
                    *largest = if is_larger { *x } else { *largest };
                    *winner = if is_larger { element } else { *winner };
                }
                element += 1;
            },
        );
        element = 0;
        self.for_each_element(
            window,
            #[inline(always)]
            |index| {
                let dx = &mut dx[index + start..][..dy.len()];
                for ((dx, dy), winner) in dx.iter_mut().zip(dy).zip(&winner) {
                    *dx = if *winner == element {
                        dx.plus(*dy)
                    } else {
                        *dx
                    };
                }
                element += 1;
            },
        );
    }

    /// Calls `write(image, window, channels of the result)` for each window.
    fn for_each_window<T: Elementary>(
        &self,
        x: &[T],
        out: &mut [T],
        write: impl Fn(&[T], Window, &mut [T]) + Sync,
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
            isa.vectorize(
                #[inline(always)]
                || {
                    for (line, out) in out.chunks_exact_mut(row).enumerate() {
                        let line = index * block + line;
                        let image = &x[line / lines * self.image()..][..self.image()];
                        let [plane, row, _] = self.window(line % lines * self.columns.output);
                        for (column, out) in out.chunks_exact_mut(self.channels).enumerate() {
                            write(image, [plane, row, column], out);
                        }
                    }
                },
            );
        });
    }

    /// Calls `add(index of the image, place of the window, image of dx, channels of dy)` for each window.
    fn for_each_gradient<T: Elementary>(
        &self,
        dy: &[T],
        dx: &mut [T],
        add: impl Fn(usize, Place, &mut [T], &[T]) + Sync,
    ) {
        if dx.is_empty() || dy.is_empty() {
            return dx.fill(T::ZERO);
        }
        let isa = Isa::current();
        let windows = self.planes.output * self.rows.output * self.output_row();
        for_each_block(dx, self.image(), |index, dx| {
            dx.fill(T::ZERO);
            let dy = &dy[index * windows..][..windows];
            isa.vectorize(
                #[inline(always)]
                || {
                    for (at, dy) in dy.chunks_exact(self.channels).enumerate() {
                        let first = index * windows + at * self.channels;
                        let window = self.window(at);
                        add(index, Place { window, first }, dx, dy);
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
/// Panics if a slice has another length than the plan, or a window has 2^32 elements.
pub fn max_pool_grad<T: Elementary>(plan: &Pool, x: &[T], dy: &[T], dx: &mut [T]) {
    plan.check(x, dy);
    assert_eq!(x.len(), dx.len(), "operand and gradient differ in length");
    assert!(
        dx.is_empty() || u32::try_from(plan.most_elements()).is_ok(),
        "a window of 2^32 elements"
    );
    plan.for_each_gradient(
        dy,
        dx,
        #[inline(always)]
        |image, Place { window, .. }, dx, dy| {
            let x = &x[image * plan.image()..][..plan.image()];
            for (part, dy) in dy.chunks(CHANNELS).enumerate() {
                let start = part * CHANNELS;
                match <&[T; CHANNELS]>::try_from(dy) {
                    Ok(dy) => plan.add_to_largest(window, start, x, dx, &dy[..]),
                    Err(_) => plan.add_to_largest(window, start, x, dx, dy),
                }
            }
        },
    );
}

/// The distance to the largest element below which an element of a window of a volume has the gradient, as in
/// TensorFlow.
const TIE: f64 = 1e-5;

/// Computes the gradient of [`max_pool`] of volumes from its result `y`: that of a window goes to each element that is
/// as large as the result, but for 0.00001.
///
/// # Panics
/// Panics if a slice has another length than the plan.
pub fn max_pool_3d_grad<T: Elementary>(plan: &Pool, [x, y]: [&[T]; 2], dy: &[T], dx: &mut [T]) {
    plan.check(x, y);
    plan.check(dx, dy);
    plan.for_each_gradient(
        dy,
        dx,
        #[inline(always)]
        |image, Place { window, first }, dx, dy| {
            let x = &x[image * plan.image()..][..plan.image()];
            let y = &y[first..][..dy.len()];
            plan.for_each_element(
                window,
                #[inline(always)]
                |index| {
                    for (channel, dy) in dy.iter().enumerate() {
                        let is_tie =
                            x[index + channel].minus(y[channel]).absolute() < T::constant(TIE);
                        let share = if is_tie { *dy } else { T::ZERO };
                        dx[index + channel] = dx[index + channel].plus(share);
                    }
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
        |_, Place { window, .. }, dx, dy| {
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
