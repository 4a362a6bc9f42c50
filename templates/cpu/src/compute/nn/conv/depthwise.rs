//! Convolutions whose groups have one channel: each is a sum of products of few elements, so there are no matrices to
//! multiply. Some channels at a time are summed in registers.

use super::Convolution;
use crate::compute::matmul::Tiled;
use crate::compute::nn::window::Windows;
use crate::compute::parallel::for_each_block;
use crate::compute::precision::Widened;
use crate::compute::simd::{Isa, Lanes, LanesBody, Registers};
use crate::compute::workspace::Buffer;
use std::ops::Range;

/// The number of multiply-adds in a task.
const GRAIN: usize = 128 * 1024;
/// The number of multiply-adds in a part of a filter's gradient, about.
const PART: usize = 256 * 1024;
/// The largest number of parts of a filter's gradient.
const PARTS: usize = 16;

impl Convolution {
    /// Returns true if each group of images has one channel, and there are several.
    pub(super) fn is_depthwise(&self) -> bool {
        self.depth == 1 && self.groups > 1 && self.planes == Windows::ONE_PLANE
    }
}

/// The elements of a window that a position of a result is summed over, and the positions of the operand that they are
/// multiplied with. Both are progressions.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Taps {
    count: usize,
    position: usize,
    /// Added to the position of one tap for that of the next, modulo 2^64.
    position_step: usize,
    element: usize,
    element_step: usize,
}

impl Taps {
    /// Returns the elements of the input that a window has.
    fn of_window(windows: &Windows, window: usize) -> Self {
        let (first, last) = windows.inside(window);
        Self {
            count: last - first,
            position: if first < last {
                windows.element(window, first)
            } else {
                0
            },
            position_step: windows.dilation,
            element: first,
            element_step: 1,
        }
    }

    /// Returns the windows that have an element of the input.
    fn of_element(windows: &Windows, position: usize) -> Self {
        let Windows {
            stride, dilation, ..
        } = *windows;
        let window = |element: usize| {
            let start = (position + windows.before).checked_sub(element * dilation)?;
            let is_one = start.is_multiple_of(stride) && start / stride < windows.output;
            is_one.then_some(start / stride)
        };
        // Windows descend as elements ascend, so those of the output are the elements of one range.
        let element_step = stride / greatest_common_divisor(stride, dilation);
        let last = ((position + windows.before) / dilation + 1).min(windows.size);
        let too_late = (position + windows.before + 1).saturating_sub(windows.output * stride);
        let first = too_late.div_ceil(dilation).min(last);
        let found = (first..last.min(first + element_step)).find_map(|it| Some((it, window(it)?)));
        let (element, position) = found.unwrap_or((last, 0));
        Self {
            count: (last - element).div_ceil(element_step),
            position,
            position_step: (element_step * dilation / stride).wrapping_neg(),
            element,
            element_step,
        }
    }

    /// Calls `visit` with the position and the element of each tap.
    #[inline(always)]
    fn for_each(self, mut visit: impl FnMut(usize, usize)) {
        let (mut position, mut element) = (self.position, self.element);
        for _ in 0..self.count {
            visit(position, element);
            position = position.wrapping_add(self.position_step);
            element += self.element_step;
        }
    }
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}

/// Sums of products of the pixels of an operand and of a filter, for each pixel of a result.
struct Sums<'a, T> {
    rows: Vec<Taps>,
    columns: Vec<Taps>,
    x: &'a [T],
    /// The rows and columns of the operand's images.
    size: [usize; 2],
    filter: &'a [T],
    /// The number of columns of the filter.
    filter_columns: usize,
    channels: usize,
}

impl<T: Tiled> Sums<'_, T> {
    /// Writes all pixels of the result.
    fn write(&self, out: &mut [T]) {
        let row = self.columns.len() * self.channels;
        let work = row * (self.filter.len() / self.channels);
        let (block, isa) = ((GRAIN / work).max(1), Isa::current());
        for_each_block(out, block * row, |index, out| {
            let sums = self;
            let first = index * block;
            T::with_lanes(isa, WriteLines { sums, first, out });
        });
    }
}

/// Writes lines of the result from line `first` on.
struct WriteLines<'a, T> {
    sums: &'a Sums<'a, T>,
    first: usize,
    out: &'a mut [T],
}

impl<T: Tiled> LanesBody<T> for WriteLines<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<Scalar = T>>(self, registers: Registers<V>) {
        let Self { sums, first, out } = self;
        let row = sums.columns.len() * sums.channels;
        for (line, out) in (first..).zip(out.chunks_exact_mut(row)) {
            let (image, row) = (line / sums.rows.len(), line % sums.rows.len());
            let rows = (image * sums.size[0], sums.rows[row]);
            let (mut columns, mut out) = (&sums.columns[..], out);
            while let Some(first) = columns.first() {
                let shift = shift_of_alike(columns);
                let count = if shift.is_some() { ALIKE } else { 1 };
                let (pixels, rest) = out.split_at_mut(count * sums.channels);
                (columns, out) = (&columns[count..], rest);
                let mut work = Pixels::<T, 1> {
                    sums,
                    rows,
                    columns: *first,
                    shift: 0,
                    out: pixels,
                };
                match shift {
                    None => for_each_group::<V, 2>(registers, sums.channels, &mut work),
                    Some(shift) => {
                        let mut work = Pixels::<T, ALIKE> {
                            sums,
                            rows,
                            columns: *first,
                            shift: shift * sums.channels,
                            out: work.out,
                        };
                        for_each_group::<V, 2>(registers, sums.channels, &mut work)
                    }
                }
            }
        }
    }
}

/// The number of pixels with the same weights that are summed at a time.
const ALIKE: usize = 4;

/// Returns the distance of the first columns' taps in the operand, if they are equal otherwise.
fn shift_of_alike(columns: &[Taps]) -> Option<usize> {
    let (first, others) = columns.get(..ALIKE)?.split_first()?;
    let shift = others[0].position.checked_sub(first.position)?;
    let is_alike = |(i, it): (usize, &Taps)| {
        let position = first.position + (i + 1) * shift;
        *it == Taps { position, ..*first }
    };
    others.iter().enumerate().all(is_alike).then_some(shift)
}

/// A computation on some channels at a time.
trait Channels<T> {
    /// Computes `N` registers of channels.
    fn several<V: Lanes<Scalar = T>, const N: usize>(
        &mut self,
        registers: Registers<V>,
        channel: usize,
    );

    /// Computes one channel.
    fn one(&mut self, channel: usize);
}

/// Computes each group of channels: `N` registers, one register, and single channels of less than a register.
#[inline(always)]
fn for_each_group<V: Lanes, const N: usize>(
    registers: Registers<V>,
    channels: usize,
    work: &mut impl Channels<V::Scalar>,
) {
    let wide = N * V::COUNT;
    let (wides, ones) = (channels / wide * wide, channels / V::COUNT * V::COUNT);
    for channel in (0..wides).step_by(wide) {
        work.several::<V, N>(registers, channel);
    }
    for channel in (wides..ones).step_by(V::COUNT) {
        work.several::<V, 1>(registers, channel);
    }
    for channel in ones..channels {
        work.one(channel);
    }
}

/// Adjacent pixels of the result, whose taps are `shift` elements apart.
struct Pixels<'a, T, const P: usize> {
    sums: &'a Sums<'a, T>,
    /// The first row of the image, and the taps in it.
    rows: (usize, Taps),
    /// The taps of the first pixel.
    columns: Taps,
    shift: usize,
    out: &'a mut [T],
}

impl<T: Tiled, const P: usize> Pixels<'_, T, P> {
    /// Calls `visit` with the index of the first channel of each tap in the operand, and that of its weights.
    #[inline(always)]
    fn for_each_tap(&self, mut visit: impl FnMut(usize, usize)) {
        let sums = self.sums;
        let step = self.columns.position_step.wrapping_mul(sums.channels);
        let weight_step = self.columns.element_step * sums.channels;
        self.rows.1.for_each(
            #[inline(always)]
            |y, i| {
                let x = (self.rows.0 + y) * sums.size[1] + self.columns.position;
                let weights = i * sums.filter_columns + self.columns.element;
                let (mut x, mut weights) = (x * sums.channels, weights * sums.channels);
                for _ in 0..self.columns.count {
                    visit(x, weights);
                    x = x.wrapping_add(step);
                    weights += weight_step;
                }
            },
        );
    }
}

impl<T: Tiled, const P: usize> Channels<T> for Pixels<'_, T, P> {
    #[inline(always)]
    fn several<V: Lanes<Scalar = T>, const N: usize>(
        &mut self,
        registers: Registers<V>,
        channel: usize,
    ) {
        let (x, filter) = (self.sums.x, self.sums.filter);
        let mut sums = [registers.splat::<N>(T::ZERO); P];
        self.for_each_tap(
            #[inline(always)]
            |pixel, weights| {
                let weights = registers.load(&filter[weights + channel..]);
                for (i, sums) in sums.iter_mut().enumerate() {
                    let x = registers.load(&x[pixel + i * self.shift + channel..]);
                    registers.mul_add(sums, &x, &weights);
                }
            },
        );
        for (i, sums) in sums.iter().enumerate() {
            registers.store(sums, &mut self.out[i * self.sums.channels + channel..]);
        }
    }

    #[inline(always)]
    fn one(&mut self, channel: usize) {
        let (x, filter) = (self.sums.x, self.sums.filter);
        let mut sums = [T::ZERO; P];
        self.for_each_tap(
            #[inline(always)]
            |pixel, weights| {
                for (i, sum) in sums.iter_mut().enumerate() {
                    let x = x[pixel + i * self.shift + channel];
                    *sum = sum.plus(x.times(filter[weights + channel]));
                }
            },
        );
        for (i, sum) in sums.iter().enumerate() {
            self.out[i * self.sums.channels + channel] = *sum;
        }
    }
}

/// Computes a convolution that is not trivial.
pub(super) fn forward<T: Tiled>(plan: &Convolution, x: &[T], filter: &[T], y: &mut [T]) {
    let x = repeat(plan, x);
    let sums = Sums {
        rows: of_all(plan.rows.output, |it| Taps::of_window(&plan.rows, it)),
        columns: of_all(plan.columns.output, |it| Taps::of_window(&plan.columns, it)),
        x: &x,
        size: [plan.rows.input, plan.columns.input],
        filter,
        filter_columns: plan.columns.size,
        channels: plan.filters,
    };
    sums.write(y);
}

/// Computes the gradient of the input of a convolution that is not trivial, whose input is not empty.
pub(super) fn backprop_input<T: Tiled>(plan: &Convolution, filter: &[T], dy: &[T], dx: &mut [T]) {
    let sums = Sums {
        rows: of_all(plan.rows.input, |it| Taps::of_element(&plan.rows, it)),
        columns: of_all(plan.columns.input, |it| Taps::of_element(&plan.columns, it)),
        x: dy,
        size: [plan.rows.output, plan.columns.output],
        filter,
        filter_columns: plan.columns.size,
        channels: plan.filters,
    };
    let each = plan.group_filters();
    if each == 1 {
        return sums.write(dx);
    }
    let mut all = Buffer::new(dx.len() * each);
    sums.write(&mut all);
    for (dx, all) in dx.iter_mut().zip(all.chunks_exact(each)) {
        *dx = all.iter().fold(T::ZERO, |sum, it| sum.plus(*it));
    }
}

fn of_all(count: usize, taps: impl Fn(usize) -> Taps) -> Vec<Taps> {
    (0..count).map(taps).collect()
}

/// Returns the input with each channel once for each of its filters.
fn repeat<'a, T: Tiled>(plan: &Convolution, x: &'a [T]) -> Widened<'a, T> {
    let each = plan.group_filters();
    if each == 1 {
        return Widened::Same(x);
    }
    let mut all = Buffer::new(x.len() * each);
    for (all, x) in all.chunks_exact_mut(each).zip(x) {
        all.fill(*x);
    }
    Widened::Converted(all)
}

/// Computes the gradient of the filter of a convolution that is not trivial.
pub(super) fn backprop_filter<T: Tiled>(plan: &Convolution, x: &[T], dy: &[T], df: &mut [T]) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::nn::window::{Padding, Slide};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn taps_of_elements_are_the_windows_that_have_them(
            input in 1..20_usize, size in 1..7_usize, stride in 1..7_usize, dilation in 1..7_usize, pads in (0..9_usize, 0..9_usize),
        ) {
            let slide = Slide { stride, dilation, padding: Padding::Explicit(pads.0, pads.1) };
            let Ok(windows) = Windows::new(input, size, slide) else { return Ok(()) };
            for position in 0..input {
                let mut found = Vec::new();
                Taps::of_element(&windows, position).for_each(|window, k| found.push((window, k)));
                let mut expected: Vec<_> = (0..windows.output)
                    .flat_map(|o| (0..size).map(move |k| (o, k)))
                    .filter(|(o, k)| windows.index(*o, *k) == Some(position))
                    .collect();
                expected.sort_by_key(|it| it.1);
                prop_assert_eq!(found, expected);
            }
        }
    }
}
