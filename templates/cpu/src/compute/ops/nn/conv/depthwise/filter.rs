//! The gradient of the filter of a depthwise convolution.

use super::channels::{Channels, for_each_group, padded_copy};
use super::repeat_channels;
use crate::compute::loops::precision::Widened;
use crate::compute::machine::parallel::for_each_block;
use crate::compute::machine::simd::{Isa, Lanes, LanesBody, MAX_LANES, Registers};
use crate::compute::machine::workspace::zeroed;
use crate::compute::ops::matmul::Tiled;
use crate::compute::ops::nn::conv::Convolution;
use crate::compute::ops::nn::window::Windows;
use std::ops::Range;

/// The approximate number of multiply-adds in a part of a filter's gradient.
const PART: usize = 256 * 1024;
/// The largest number of parts of a filter's gradient.
const PARTS: usize = 16;

/// Computes the gradient of the filter of a convolution that is not trivial.
pub(in crate::compute::ops::nn::conv) fn backprop_filter<T: Tiled>(
    plan: &Convolution,
    x: &[T],
    dy: &[T],
    df: &mut [T],
) {
    let (lines, channels) = (plan.batch * plan.rows.output, plan.filters);
    // Each element of the filter has whole registers of channels.
    let padded = channels.next_multiple_of(MAX_LANES);
    let len = df.len() / channels * padded;
    // Parts depend on the shape only, so that the order of summation does not depend on the number of threads.
    let work = lines
        .saturating_mul(plan.columns.output)
        .saturating_mul(df.len());
    let parts = (work / PART).clamp(1, PARTS).min(lines);
    let per_part = lines.div_ceil(parts);
    let mut sums = zeroed(len * lines.div_ceil(per_part));
    let (x, isa) = (repeat_channels(plan, x), Isa::current());
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
        let padded = part.chunks_exact(padded);
        for (df, part) in df.chunks_exact_mut(channels).zip(padded) {
            add(df, part);
        }
    }
}

/// Adds the first elements of `x`.
fn add<T: Tiled>(sums: &mut [T], x: &[T]) {
    for (sum, x) in sums.iter_mut().zip(x) {
        *sum = sum.plus(*x);
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
        let padded = channels.next_multiple_of(MAX_LANES);
        for line in self.lines {
            let (image, row) = (line / rows.output, line % rows.output);
            let dy = padded_line(self.dy, line, columns.output * channels);
            let (top, bottom) = rows.inside(row);
            for i in top..bottom {
                let y = image * rows.input + rows.element(row, i);
                let x = padded_line(self.x, y, columns.input * channels);
                for j in 0..columns.size {
                    let df = &mut self.df[(i * columns.size + j) * padded..][..padded];
                    let mut pair = Pair::new((columns, channels), j, [&x, &dy], df);
                    let channels = channels.next_multiple_of(V::COUNT);
                    for_each_group::<V, 2>(registers, channels, &mut pair);
                }
            }
        }
    }
}

/// Returns the elements from the start of line `index` on, so that a register can be read from the line's last one.
fn padded_line<T: Tiled>(x: &[T], index: usize, len: usize) -> Widened<'_, T> {
    let x = &x[index * len..];
    match x.len() < len + MAX_LANES {
        true => Widened::Converted(padded_copy(&x[..len])),
        false => Widened::Same(x),
    }
}

/// The number of sums that pixels are added to in turn, since an addition waits for the one before to the same sum.
const SUMS: usize = 4;

/// A row of pixels, the gradients of the windows in which they are one element, and the gradient of that element.
struct Pair<'a, T> {
    x: &'a [T],
    /// The distance of two pixels.
    step: usize,
    dy: &'a [T],
    channels: usize,
    pixels: usize,
    df: &'a mut [T],
}

impl<'a, T: Tiled> Pair<'a, T> {
    #[inline]
    fn new(
        (columns, channels): (&Windows, usize),
        element: usize,
        [x, dy]: [&'a [T]; 2],
        df: &'a mut [T],
    ) -> Self {
        let offset = element.saturating_mul(columns.dilation);
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
            dy: &dy[first * channels..],
            channels,
            pixels: last - first,
            df,
        }
    }

    /// Adds the products of some channels of a pixel.
    #[inline(always)]
    fn add<V: Lanes<Scalar = T>, const N: usize>(
        &self,
        registers: Registers<V>,
        [pixel, channel]: [usize; 2],
        sums: &mut [V; N],
    ) {
        let x = registers.load(&self.x[pixel * self.step + channel..]);
        let dy = registers.load(&self.dy[pixel * self.channels + channel..]);
        registers.mul_add(sums, &x, &dy);
    }
}

impl<T: Tiled> Channels<T> for Pair<'_, T> {
    #[inline(always)]
    fn several<V: Lanes<Scalar = T>, const N: usize>(
        &mut self,
        registers: Registers<V>,
        channel: usize,
    ) {
        let mut sums = [registers.splat::<N>(T::ZERO); SUMS];
        let in_turn = self.pixels / SUMS * SUMS;
        for pixel in (0..in_turn).step_by(SUMS) {
            for (i, sums) in sums.iter_mut().enumerate() {
                self.add(registers, [pixel + i, channel], sums);
            }
        }
        for pixel in in_turn..self.pixels {
            self.add(registers, [pixel, channel], &mut sums[0]);
        }
        let mut total = registers.load::<N>(&self.df[channel..]);
        let ones = registers.splat(T::ONE);
        for sums in &sums {
            registers.mul_add(&mut total, sums, &ones);
        }
        registers.store(&total, &mut self.df[channel..]);
    }
}
