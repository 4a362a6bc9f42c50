//! Gradients of maxima and averages of windows.

use super::Pool;
use super::windows::Elements;
use crate::compute::machine::parallel::for_each_block;
use crate::compute::machine::simd::Isa;
use crate::compute::scalar::arith::Number;
use crate::compute::scalar::elementary::Elementary;

/// The number of channels whose largest elements are found together, so that these need no memory.
const CHANNELS: usize = 32;
/// The number of channels up to which one after the other is faster.
const FEW_CHANNELS: usize = 12;

/// A window of an image, and the index of its first channel in the result.
struct PoolWindow<'a> {
    image: usize,
    elements: &'a Elements,
    first: usize,
}

impl Pool {
    /// Calls `add(window, image of dx, channels of dy)` for each window.
    fn for_each_gradient<T: Number>(
        &self,
        dy: &[T],
        dx: &mut [T],
        add: impl Fn(PoolWindow<'_>, &mut [T], &[T]) + Sync,
    ) {
        if dx.is_empty() || dy.is_empty() {
            return dx.fill(T::ZERO);
        }
        let isa = Isa::current();
        let windows = self.planes.output * self.rows.output * self.output_row();
        for_each_block(dx, self.image(), |image, dx| {
            let dy = &dy[image * windows..][..windows];
            let (mut elements, mut first) = (Elements::default(), image * windows);
            let mut begun = 0;
            isa.vectorize(
                #[inline(always)]
                || {
                    for (line, dy) in dy.chunks_exact(self.output_row()).enumerate() {
                        let [plane, row] = self.row_of_windows(line);
                        // Zeros are still in the first cache when they are added to.
                        let end = self.end_of_row(plane, row).max(begun);
                        dx[begun..end].fill(T::ZERO);
                        begun = end;
                        for (column, dy) in dy.chunks_exact(self.channels).enumerate() {
                            self.find([plane, row, column], &mut elements);
                            let elements = &elements;
                            let window = PoolWindow {
                                image,
                                elements,
                                first,
                            };
                            add(window, dx, dy);
                            first += dy.len();
                        }
                    }
                    dx[begun..].fill(T::ZERO);
                },
            );
        });
    }
}

/// Computes the gradient of [`max_pool`](super::max_pool): that of a window goes to its first largest element.
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
        |PoolWindow {
             image, elements, ..
         },
         dx,
         dy| {
            let x = &x[image * plan.image()..][..plan.image()];
            for (part, dy) in dy.chunks(CHANNELS).enumerate() {
                let start = part * CHANNELS;
                match dy.len() {
                    // Loops of a length that the compiler knows are vectorized.
                    CHANNELS => add_to_largest(elements, [start, CHANNELS], x, dx, dy),
                    ..=FEW_CHANNELS => add_to_largest_of_each(elements, start, x, dx, dy),
                    channels => add_to_largest(elements, [start, channels], x, dx, dy),
                }
            }
        },
    );
}

/// Adds the gradients of a few channels, as [`add_to_largest`], one channel after the other.
#[inline(always)]
fn add_to_largest_of_each<T: Number>(
    elements: &Elements,
    start: usize,
    x: &[T],
    dx: &mut [T],
    dy: &[T],
) {
    for (channel, dy) in (start..).zip(dy) {
        let mut largest = None;
        elements.for_each(
            #[inline(always)]
            |index| {
                let x = x[index + channel];
                if largest.is_none_or(|(_, old)| x > old) {
                    largest = Some((index + channel, x));
                }
            },
        );
        if let Some((index, _)) = largest {
            dx[index] = dx[index].plus(*dy);
        }
    }
}

/// Adds the gradients of some channels of a window, from the channel `start` on, to those of its first largest elements.
///
/// # Panics
/// Panics if there are more than [`CHANNELS`], or if a slice has fewer.
#[inline(always)]
fn add_to_largest<T: Number>(
    elements: &Elements,
    [start, channels]: [usize; 2],
    x: &[T],
    dx: &mut [T],
    dy: &[T],
) {
    let (mut largest, mut winner) = ([T::ZERO; CHANNELS], [0; CHANNELS]);
    let mut element = 0_u32;
    // Both loops write into copies: a loop that writes where it reads has conditional stores, or is not vectorized.
    elements.for_each(
        #[inline(always)]
        |index| {
            let x = &x[index + start..][..channels];
            let (mut next_largest, mut next_winner) = (largest, winner);
            let mut channel = 0;
            // Selections instead of branches, so that the loop is vectorized.
            while channel < channels {
                let (old, x) = (largest[channel], x[channel]);
                let is_larger = (element == 0) | (x > old);
                next_largest[channel] = if is_larger { x } else { old };
                next_winner[channel] = if is_larger { element } else { winner[channel] };
                channel += 1;
            }
            (largest, winner) = (next_largest, next_winner);
            element += 1;
        },
    );
    element = 0;
    elements.for_each(
        #[inline(always)]
        |index| {
            let (dx, dy) = (&mut dx[index + start..][..channels], &dy[..channels]);
            let mut sums = [T::ZERO; CHANNELS];
            sums[..channels].copy_from_slice(dx);
            let mut channel = 0;
            while channel < channels {
                let (old, sum) = (sums[channel], sums[channel].plus(dy[channel]));
                sums[channel] = if winner[channel] == element { sum } else { old };
                channel += 1;
            }
            dx.copy_from_slice(&sums[..channels]);
            element += 1;
        },
    );
}

/// The distance to the largest element below which an element of a window of a volume has the gradient, as in
/// TensorFlow.
const TIE: f64 = 1e-5;

/// Computes the gradient of [`max_pool`](super::max_pool) of volumes from its result `y`: that of a window goes to each
/// element that is as large as the result, but for 0.00001.
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
        |window, dx, dy| {
            let PoolWindow {
                image,
                elements,
                first,
            } = window;
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

/// Computes the gradient of [`average_pool`](super::average_pool).
///
/// # Panics
/// Panics if a slice has another length than the plan.
pub fn average_pool_grad<T: Elementary>(plan: &Pool, dy: &[T], dx: &mut [T]) {
    plan.check(dx, dy);
    plan.for_each_gradient(
        dy,
        dx,
        #[inline(always)]
        |PoolWindow { elements, .. }, dx, dy| {
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
