//! Transforms of the rows of matrices.

use super::lanes::{Numbers, Planes};
use super::line::Line;
use super::{LANES, Part};
use crate::compute::machine::parallel::for_each_row_chunk;
use crate::compute::machine::simd::transpose::{self, SIDE};

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
    if out.is_empty() {
        return;
    }
    let [x_width, width] = line.widths();
    let lanes = (out.len() / width).min(LANES);
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

/// Returns the number of elements of each row that are in squares.
fn elements_in_squares(lanes: usize, width: usize) -> usize {
    if lanes == SIDE {
        width / SIDE * ELEMENTS
    } else {
        0
    }
}

/// Reads the parts of rows: those of even positions are the real ones.
#[inline(always)]
fn read<T: Part>(line: &Line<T>, lanes: usize, x: &[T], planes: &mut Planes<T>) {
    let width = x.len() / lanes;
    let first = elements_in_squares(lanes, width);
    let mut square = [T::ZERO; SIDE * SIDE];
    for element in (0..first).step_by(ELEMENTS) {
        transpose::square(line.isa, &x[2 * element..], width, &mut square, SIDE);
        for (i, pair) in square.as_chunks::<{ 2 * SIDE }>().0.iter().enumerate() {
            let numbers = Numbers::<T, SIDE>::from_fn(
                #[inline(always)]
                |lane| (pair[lane], pair[SIDE + lane]),
            );
            numbers.store(planes, (element + i) * SIDE);
        }
    }
    for (lane, row) in x.chunks_exact(width).enumerate() {
        read_row(row, first, (lane, lanes), planes);
    }
}

/// Reads the parts of a row from the element `first` on.
#[inline(always)]
fn read_row<T: Part>(
    row: &[T],
    first: usize,
    (lane, lanes): (usize, usize),
    planes: &mut Planes<T>,
) {
    let (pairs, last) = row[2 * first..].as_chunks::<2>();
    let [re, im] = [&mut planes.re, &mut planes.im].map(|it| &mut it[first * lanes..]);
    let re = re.iter_mut().skip(lane).step_by(lanes);
    let im = im.iter_mut().skip(lane).step_by(lanes);
    for ((re, im), pair) in re.zip(im).zip(pairs) {
        [*re, *im] = *pair;
    }
    if let [last] = last {
        planes.re[row.len() / 2 * lanes + lane] = *last;
    }
}

/// Writes the parts of rows, scaled, as [`read`].
#[inline(always)]
fn write<T: Part>(line: &Line<T>, lanes: usize, planes: &Planes<T>, scale: T, out: &mut [T]) {
    let width = out.len() / lanes;
    let first = elements_in_squares(lanes, width);
    let mut square = [T::ZERO; SIDE * SIDE];
    for element in (0..first).step_by(ELEMENTS) {
        let pairs = square.as_chunks_mut::<{ 2 * SIDE }>().0.iter_mut();
        for (i, pair) in pairs.enumerate() {
            let numbers = Numbers::<T, SIDE>::load(planes, (element + i) * SIDE).scaled(scale);
            let (re, im) = pair.split_at_mut(SIDE);
            re.copy_from_slice(&numbers.re);
            im.copy_from_slice(&numbers.im);
        }
        transpose::square(line.isa, &square, SIDE, &mut out[2 * element..], width);
    }
    for (lane, row) in out.chunks_exact_mut(width).enumerate() {
        write_row(planes, first, (lane, lanes), scale, row);
    }
}

/// Writes the parts of a row from the element `first` on, scaled.
#[inline(always)]
fn write_row<T: Part>(
    planes: &Planes<T>,
    first: usize,
    (lane, lanes): (usize, usize),
    scale: T,
    row: &mut [T],
) {
    let width = row.len();
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
