//! Transforms of the rows of matrices.

use super::lanes::{Numbers, Planes};
use super::line::Line;
use super::{LANES, Part};
use crate::compute::parallel::for_each_row_chunk;
use crate::compute::simd::transpose::{self, SIDE};

/// The least number of parts in a task.
pub const GRAIN: usize = 8 * 1024;

/// Transforms rows of parts.
///
/// # Panics
/// Panics if the operand and the result are not of the same number of rows.
pub fn transform_rows<T: Part>(line: &Line<T>, x: &[T], out: &mut [T]) {
    let [x_width, width] = line.widths();
    let groups = out.len() / (width * LANES);
    let (whole, rest) = out.split_at_mut(groups * width * LANES);
    let transform = |first: usize, out: &mut [T]| {
        let x = &x[first * x_width..][..out.len() / width * x_width];
        transform_groups(line, x, out);
    };
    // Each task has whole groups: a smaller one takes as long.
    for_each_row_chunk(whole, width * LANES, GRAIN, |first, out| {
        transform(first * LANES, out)
    });
    for_each_row_chunk(rest, width, GRAIN, |first, out| {
        transform(groups * LANES + first, out)
    });
}

fn transform_groups<T: Part>(line: &Line<T>, x: &[T], out: &mut [T]) {
    let [x_width, width] = line.widths();
    let lanes = (out.len() / width).clamp(1, LANES);
    let (mut planes, scale) = (line.planes(lanes), line.scale());
    let groups = x.chunks(lanes * x_width);
    for (x, out) in groups.zip(out.chunks_mut(lanes * width)) {
        line.isa.vectorize(
            #[inline(always)]
            || read(line, lanes, x, &mut planes[0]),
        );
        line.transform(lanes, &mut planes);
        line.isa.vectorize(
            #[inline(always)]
            || write(line, lanes, &planes[0], scale, out),
        );
    }
}

/// The elements whose parts are a side of a square.
const ELEMENTS: usize = SIDE / 2;

/// Reads the parts of rows: those of even positions are the real ones.
#[inline(always)]
fn read<T: Part>(line: &Line<T>, lanes: usize, x: &[T], planes: &mut Planes<T>) {
    let width = x.len() / lanes;
    let squares = if lanes == SIDE { width / SIDE } else { 0 };
    let mut square = [T::ZERO; SIDE * SIDE];
    for index in 0..squares {
        transpose::square(line.isa, &x[index * SIDE..], width, &mut square, SIDE);
        for (i, pair) in square.as_chunks::<{ 2 * SIDE }>().0.iter().enumerate() {
            let numbers = Numbers::<T, SIDE>::from_fn(
                #[inline(always)]
                |lane| (pair[lane], pair[SIDE + lane]),
            );
            numbers.store(planes, (index * ELEMENTS + i) * SIDE);
        }
    }
    let first = squares * ELEMENTS;
    for (lane, row) in x.chunks_exact(width).enumerate() {
        let (pairs, last) = row[2 * first..].as_chunks::<2>();
        let re = planes.re[first * lanes..]
            .iter_mut()
            .skip(lane)
            .step_by(lanes);
        let im = planes.im[first * lanes..]
            .iter_mut()
            .skip(lane)
            .step_by(lanes);
        for ((re, im), pair) in re.zip(im).zip(pairs) {
            [*re, *im] = *pair;
        }
        if let [last] = last {
            planes.re[width / 2 * lanes + lane] = *last;
        }
    }
}

/// Writes the parts of rows, scaled, as [`read`].
#[inline(always)]
fn write<T: Part>(line: &Line<T>, lanes: usize, planes: &Planes<T>, scale: T, out: &mut [T]) {
    let width = out.len() / lanes;
    let squares = if lanes == SIDE { width / SIDE } else { 0 };
    let mut square = [T::ZERO; SIDE * SIDE];
    for index in 0..squares {
        for (i, pair) in square
            .as_chunks_mut::<{ 2 * SIDE }>()
            .0
            .iter_mut()
            .enumerate()
        {
            let start = (index * ELEMENTS + i) * SIDE;
            let numbers = Numbers::<T, SIDE>::load(planes, start).scaled(scale);
            let (re, im) = pair.split_at_mut(SIDE);
            re.copy_from_slice(&numbers.re);
            im.copy_from_slice(&numbers.im);
        }
        transpose::square(line.isa, &square, SIDE, &mut out[index * SIDE..], width);
    }
    let first = squares * ELEMENTS;
    for (lane, row) in out.chunks_exact_mut(width).enumerate() {
        let (pairs, last) = row[2 * first..].as_chunks_mut::<2>();
        let re = planes.re[first * lanes..].iter().skip(lane).step_by(lanes);
        let im = planes.im[first * lanes..].iter().skip(lane).step_by(lanes);
        for ((re, im), pair) in re.zip(im).zip(pairs) {
            *pair = [re.times(scale), im.times(scale)];
        }
        if let [last] = last {
            *last = planes.re[width / 2 * lanes + lane].times(scale);
        }
    }
}
