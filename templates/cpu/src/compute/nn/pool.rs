//! Maxima and averages over windows of images and volumes, and their gradients. Tensors are in the order batch, planes,
//! rows, columns, channels. An image is a volume of one plane.

use super::window::{Slide, Windows};
use crate::compute::arith::Number;
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

/// The elements of a window that are not padding, in lines along the columns.
#[derive(Default)]
struct Elements {
    /// The index, in an image, of the first channel of the first element of each line.
    lines: Vec<usize>,
    /// The number of elements of each line.
    line: usize,
    /// The distance of two elements of a line.
    step: usize,
}

impl Elements {
    /// Calls `visit` with the index, in an image, of the first channel of each element.
    #[inline(always)]
    fn for_each(&self, mut visit: impl FnMut(usize)) {
        for first in &self.lines {
            let mut index = *first;
            for _ in 0..self.line {
                visit(index);
                index = index.wrapping_add(self.step);
            }
        }
    }

    /// Returns the number of elements.
    fn count(&self) -> usize {
        self.lines.len() * self.line
    }
}

/// A window of an image, and the index of its first channel in the result.
struct Place<'a> {
    image: usize,
    elements: &'a Elements,
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

    /// Finds the elements of a window.
    fn find(&self, [z, y, x]: Window, elements: &mut Elements) {
        let (front, back) = self.planes.inside(z);
        let ((top, bottom), (left, right)) = (self.rows.inside(y), self.columns.inside(x));
        elements.lines.clear();
        elements.line = right - left;
        elements.step = self.columns.dilation * self.channels;
        if elements.line == 0 {
            return;
        }
        let column = self.columns.element(x, left);
        for k in front..back {
            let plane = self.planes.element(z, k) * self.rows.input;
            for i in top..bottom {
                let row = (plane + self.rows.element(y, i)) * self.columns.input;
                elements.lines.push((row + column) * self.channels);
            }
        }
    }

    /// Returns the largest number of elements of a window that are not padding.
    fn most_elements(&self) -> usize {
        let sides = [&self.planes, &self.rows, &self.columns].map(|it| it.size.min(it.input));
        sides.iter().product()
    }

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

    /// Calls `add(window, image of dx, channels of dy)` for each window.
    fn for_each_gradient<T: Number>(
        &self,
        dy: &[T],
        dx: &mut [T],
        add: impl Fn(Place<'_>, &mut [T], &[T]) + Sync,
    ) {
        if dx.is_empty() || dy.is_empty() {
            return dx.fill(T::ZERO);
        }
        let isa = Isa::current();
        let windows = self.planes.output * self.rows.output * self.output_row();
        for_each_block(dx, self.image(), |image, dx| {
            dx.fill(T::ZERO);
            let dy = &dy[image * windows..][..windows];
            let (mut elements, mut first) = (Elements::default(), image * windows);
            isa.vectorize(
                #[inline(always)]
                || {
                    for (line, dy) in dy.chunks_exact(self.output_row()).enumerate() {
                        let [plane, row] = self.row_of_windows(line);
                        for (column, dy) in dy.chunks_exact(self.channels).enumerate() {
                            self.find([plane, row, column], &mut elements);
                            let elements = &elements;
                            let place = Place {
                                image,
                                elements,
                                first,
                            };
                            add(place, dx, dy);
                            first += dy.len();
                        }
                    }
                },
            );
        });
    }

    /// Returns the indices along the planes and rows of a row of windows of an image.
    fn row_of_windows(&self, index: usize) -> [usize; 2] {
        [index / self.rows.output, index % self.rows.output]
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
pub fn max_pool_grad<T: Number>(plan: &Pool, x: &[T], dy: &[T], dx: &mut [T]) {
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
        |Place {
             image, elements, ..
         },
         dx,
         dy| {
            let x = &x[image * plan.image()..][..plan.image()];
            for (part, dy) in dy.chunks(CHANNELS).enumerate() {
                let start = part * CHANNELS;
                match <&[T; CHANNELS]>::try_from(dy) {
                    Ok(dy) => add_to_largest(elements, start, x, dx, &dy[..]),
                    Err(_) => add_to_largest(elements, start, x, dx, dy),
                }
            }
        },
    );
}

/// Adds the gradients of some channels of a window, from the channel `start` on, to those of its first largest elements.
#[inline(always)]
fn add_to_largest<T: Number>(elements: &Elements, start: usize, x: &[T], dx: &mut [T], dy: &[T]) {
    let (mut largest, mut winner) = ([T::ZERO; CHANNELS], [0; CHANNELS]);
    let mut element = 0_u32;
    elements.for_each(
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
    elements.for_each(
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
        |place, dx, dy| {
            let Place {
                image,
                elements,
                first,
            } = place;
            let x = &x[image * plan.image()..][..plan.image()];
            let y = &y[first..][..dy.len()];
            elements.for_each(
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
        |Place { elements, .. }, dx, dy| {
            let share = T::ONE.over(T::from_count(elements.count()));
            elements.for_each(
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
