//! The gradient of the filter of a depthwise convolution.

use super::channels::{Channels, for_each_group};
use super::repeat;
use crate::compute::matmul::Tiled;
use crate::compute::nn::conv::Convolution;
use crate::compute::nn::window::Windows;
use crate::compute::parallel::for_each_block;
use crate::compute::simd::{Isa, Lanes, LanesBody, Registers};
use std::ops::Range;

/// The number of multiply-adds in a part of a filter's gradient, about.
const PART: usize = 256 * 1024;
/// The largest number of parts of a filter's gradient.
const PARTS: usize = 16;

/// Computes the gradient of the filter of a convolution that is not trivial.
pub(in crate::compute::nn::conv) fn backprop_filter<T: Tiled>(
    plan: &Convolution,
    x: &[T],
    dy: &[T],
    df: &mut [T],
) {
    let (lines, len) = (plan.batch * plan.rows.output, df.len());
    // Parts depend on the shape only, so that the order of summation does not depend on the number of threads.
    let work = lines
        .saturating_mul(plan.columns.output)
        .saturating_mul(len);
    let parts = (work / PART).clamp(1, PARTS).min(lines);
    let per_part = lines.div_ceil(parts);
    let mut sums = vec![T::ZERO; len * lines.div_ceil(per_part)];
    let (x, isa) = (repeat(plan, x), Isa::current());
    for_each_block(&mut sums, len, |part, df| {
        let lines = part * per_part..((part + 1) * per_part).min(lines);
        let x = &x;
        T::with_lanes(
            isa,
            AddLines {
                plan,
                x,
                dy,
                lines,
                df,
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

/// Adds the part of the filter's gradient that comes from some lines of windows.
struct AddLines<'a, T> {
    plan: &'a Convolution,
    x: &'a [T],
    dy: &'a [T],
    lines: Range<usize>,
    df: &'a mut [T],
}

impl<T: Tiled> LanesBody<T> for AddLines<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<Scalar = T>>(self, registers: Registers<V>) {
        let (plan, rows, columns) = (self.plan, &self.plan.rows, &self.plan.columns);
        let channels = plan.filters;
        for line in self.lines {
            let (image, row) = (line / rows.output, line % rows.output);
            let dy = &self.dy[line * columns.output * channels..][..columns.output * channels];
            let (top, bottom) = rows.inside(row);
            for i in top..bottom {
                let y = image * rows.input + rows.element(row, i);
                let x = &self.x[y * columns.input * channels..][..columns.input * channels];
                for j in 0..columns.size {
                    let df = &mut self.df[(i * columns.size + j) * channels..][..channels];
                    let mut pair = Pair::new(columns, j, [x, dy], df);
                    for_each_group::<V, 4>(registers, channels, &mut pair);
                }
            }
        }
    }
}

/// A row of pixels, the gradients of the windows in which they are one element, and the gradient of that element.
struct Pair<'a, T> {
    x: &'a [T],
    /// The distance of two pixels.
    step: usize,
    dy: &'a [T],
    df: &'a mut [T],
}

impl<'a, T: Tiled> Pair<'a, T> {
    #[inline]
    fn new(columns: &Windows, element: usize, [x, dy]: [&'a [T]; 2], df: &'a mut [T]) -> Self {
        let (channels, offset) = (df.len(), element.saturating_mul(columns.dilation));
        let end = (columns.input + columns.before).saturating_sub(offset);
        let last = end.div_ceil(columns.stride).min(columns.output);
        let first = columns
            .before
            .saturating_sub(offset)
            .div_ceil(columns.stride)
            .min(last);
        let start = (first * columns.stride)
            .saturating_add(offset)
            .saturating_sub(columns.before);
        Self {
            x: &x[start.saturating_mul(channels).min(x.len())..],
            step: columns.stride * channels,
            dy: &dy[first * channels..last * channels],
            df,
        }
    }

    /// Calls `visit` with each pixel and the gradients of its window.
    #[inline(always)]
    fn for_each_pixel(&self, mut visit: impl FnMut(&[T], &[T])) {
        let channels = self.df.len();
        for (x, dy) in self.x.chunks(self.step).zip(self.dy.chunks_exact(channels)) {
            visit(x, dy);
        }
    }
}

impl<T: Tiled> Channels<T> for Pair<'_, T> {
    #[inline(always)]
    fn several<V: Lanes<Scalar = T>, const N: usize>(
        &mut self,
        registers: Registers<V>,
        channel: usize,
    ) {
        let mut sums = registers.load::<N>(&self.df[channel..]);
        self.for_each_pixel(
            #[inline(always)]
            |x, dy| {
                let x = registers.load(&x[channel..]);
                registers.mul_add(&mut sums, &x, &registers.load(&dy[channel..]));
            },
        );
        registers.store(&sums, &mut self.df[channel..]);
    }

    #[inline(always)]
    fn one(&mut self, channel: usize) {
        let mut sum = self.df[channel];
        self.for_each_pixel(
            #[inline(always)]
            |x, dy| sum = sum.plus(x[channel].times(dy[channel])),
        );
        self.df[channel] = sum;
    }
}
