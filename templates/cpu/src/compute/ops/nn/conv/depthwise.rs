//! Convolutions whose groups have one channel: each is a sum of products of few elements, so there are no matrices to
//! multiply. Some channels at a time are summed in registers.

mod channels;
mod filter;
mod taps;

use super::Convolution;
use crate::compute::loops::precision::Widened;
use crate::compute::machine::parallel::for_each_block;
use crate::compute::machine::simd::{Isa, Lanes, LanesBody, MAX_LANES, Registers};
use crate::compute::machine::workspace::Buffer;
use crate::compute::ops::matmul::Tiled;
use crate::compute::ops::nn::window::Windows;
use channels::{Channels, for_each_group, padded_copy};
use sp_plugin::allocation;
use taps::Taps;

pub(super) use filter::backprop_filter;

/// The number of multiply-adds in a task.
const GRAIN: usize = 128 * 1024;

impl Convolution {
    /// Returns true if each group of images has one channel, and there are several.
    pub(super) fn is_depthwise(&self) -> bool {
        self.depth == 1 && self.groups > 1 && self.planes == Windows::ONE_PLANE
    }
}

/// Sums of products of the pixels of an operand and of a filter, for each pixel of a result.
struct Sums<'a, T> {
    rows: Vec<Taps>,
    /// The taps of each column, in channels.
    columns: Vec<Taps>,
    x: &'a [T],
    /// The rows and columns of the operand's images.
    size: [usize; 2],
    /// The filter, from whose last element a register can be read.
    filter: &'a [T],
    /// The number of columns of the filter.
    filter_columns: usize,
    channels: usize,
}

impl<T: Tiled> Sums<'_, T> {
    /// Writes all pixels of the result.
    fn write(&self, out: &mut [T]) {
        let row = self.columns.len() * self.channels;
        let work = row * ((self.filter.len() - MAX_LANES) / self.channels);
        let (block, isa) = ((GRAIN / work).max(1), Isa::current());
        for_each_block(out, block * row, |index, out| {
            let sums = self;
            let first = index * block;
            T::with_lanes(isa, WriteLines { sums, first, out });
        });
    }
}

impl<T: Tiled> Sums<'_, T> {
    /// Writes adjacent pixels to the start of `out`, which are in these rows and whose first one has these columns. The
    /// elements after them have any value.
    #[inline(always)]
    fn write_pixels<V: Lanes<Scalar = T>, const P: usize>(
        &self,
        registers: Registers<V>,
        (rows, columns): ((usize, Taps), Taps),
        shift: usize,
        out: &mut [T],
    ) {
        let mut pixels = Pixels::<T, P> {
            sums: self,
            rows,
            columns,
            shift,
            out,
        };
        if self.channels < V::COUNT && pixels.accessible_len() < V::COUNT {
            return pixels.write_copied(registers);
        }
        for_each_group::<V, 2>(registers, self.channels, &mut pixels);
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
        for line in 0..out.len() / row {
            let mut out = &mut out[line * row..];
            let (image, row) = (
                (first + line) / sums.rows.len(),
                (first + line) % sums.rows.len(),
            );
            let rows = (image * sums.size[0], sums.rows[row]);
            let mut columns = &sums.columns[..];
            while let Some(first) = columns.first() {
                let shift = shift_of_alike(columns);
                let count = if shift.is_some() { ALIKE } else { 1 };
                let taps = (rows, *first);
                match shift {
                    Some(shift) => sums.write_pixels::<V, ALIKE>(registers, taps, shift, out),
                    None => sums.write_pixels::<V, 1>(registers, taps, 0, out),
                }
                (columns, out) = (&columns[count..], &mut out[count * sums.channels..]);
            }
        }
    }
}

/// The number of pixels with the same weights that are summed at a time.
const ALIKE: usize = 4;

/// Returns the distance of the first columns' taps in the operand, if they are equal otherwise.
fn shift_of_alike(columns: &[Taps]) -> Option<usize> {
    let (first, others) = columns.get(..ALIKE)?.split_first()?;
    let shift = others[0].distance(first)?;
    let is_alike = |(i, it): (usize, &Taps)| *it == first.shifted((i + 1) * shift);
    others.iter().enumerate().all(is_alike).then_some(shift)
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
        self.rows.1.for_each(
            #[inline(always)]
            |y, i| {
                let line = (self.rows.0 + y) * sums.size[1] * sums.channels;
                let weights = i * sums.filter_columns * sums.channels;
                self.columns.for_each(
                    #[inline(always)]
                    |x, j| visit(line + x, weights + j),
                );
            },
        );
    }

    /// Returns the number of elements that can be read and written from each pixel's first channel on.
    #[inline(always)]
    fn accessible_len(&self) -> usize {
        let line = (self.rows.0 + self.rows.1.greatest_position()) * self.sums.size[1];
        let pixel = line * self.sums.channels + self.columns.greatest_position();
        let read = self
            .sums
            .x
            .len()
            .saturating_sub(pixel + (P - 1) * self.shift);
        read.min(self.out.len() - (P - 1) * self.sums.channels)
    }

    /// Writes the pixels from copies of their operands, which are less than a register. All pixels have the same arithmetic.
    #[inline(always)]
    fn write_copied<V: Lanes<Scalar = T>>(&mut self, registers: Registers<V>) {
        let (channels, x) = (self.sums.channels, self.sums.x);
        for pixel in 0..P {
            let mut sum = registers.splat::<1>(T::ZERO);
            self.for_each_tap(
                #[inline(always)]
                |first, weights| {
                    let mut copy = [T::ZERO; MAX_LANES];
                    let x = &x[first + pixel * self.shift..][..channels];
                    copy[..channels].copy_from_slice(x);
                    let weights = registers.load(&self.sums.filter[weights..]);
                    registers.mul_add(&mut sum, &registers.load(&copy), &weights);
                },
            );
            let mut copy = [T::ZERO; MAX_LANES];
            registers.store(&sum, &mut copy);
            self.out[pixel * channels..][..channels].copy_from_slice(&copy[..channels]);
        }
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
}

/// Computes a convolution that is not trivial.
pub(super) fn forward<T: Tiled>(plan: &Convolution, x: &[T], filter: &[T], y: &mut [T]) {
    let x = repeat_channels(plan, x);
    let sums = Sums {
        rows: collect_taps(plan.rows.output, |it| Taps::of_window(&plan.rows, it)),
        columns: collect_taps(plan.columns.output, |it| {
            Taps::of_window(&plan.columns, it).times(plan.filters)
        }),
        x: &x,
        size: [plan.rows.input, plan.columns.input],
        filter: &padded_copy(filter),
        filter_columns: plan.columns.size,
        channels: plan.filters,
    };
    sums.write(y);
}

/// Computes the gradient of the input of a convolution that is not trivial, whose input is not empty.
pub(super) fn backprop_input<T: Tiled>(plan: &Convolution, filter: &[T], dy: &[T], dx: &mut [T]) {
    let sums = Sums {
        rows: collect_taps(plan.rows.input, |it| Taps::of_element(&plan.rows, it)),
        columns: collect_taps(plan.columns.input, |it| {
            Taps::of_element(&plan.columns, it).times(plan.filters)
        }),
        x: dy,
        size: [plan.rows.output, plan.columns.output],
        filter: &padded_copy(filter),
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

fn collect_taps(count: usize, taps: impl Fn(usize) -> Taps) -> Vec<Taps> {
    allocation::collect((0..count).map(taps))
}

/// Returns the input with each channel once for each of its filters.
fn repeat_channels<'a, T: Tiled>(plan: &Convolution, x: &'a [T]) -> Widened<'a, T> {
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
