//! Transforms along the last axes of tensors. Tensors of complex numbers are slices of their parts.

use super::columns::transform_columns;
use super::line::{Kind, Line};
use super::rows::transform_rows;
use super::{Direction, Part};
use crate::compute::len;
use sp_plugin::allocation;
use std::borrow::Cow;

/// Transforms complex numbers along the last `rank` axes.
///
/// # Panics
/// Panics if there are fewer axes, or if a slice has another length than the dims.
pub fn complex<T: Part>(dims: &[usize], rank: usize, direction: Direction, x: &[T], out: &mut [T]) {
    if out.is_empty() {
        return;
    }
    let last = dims.len() - 1;
    transform_rows(&Line::new(Kind::Complex(direction), dims[last]), x, out);
    transform_others(dims, rank, direction, out);
}

/// Transforms along all of the last `rank` axes but the last one.
fn transform_others<T: Part>(dims: &[usize], rank: usize, direction: Direction, parts: &mut [T]) {
    let last = dims.len() - 1;
    for axis in (dims.len() - rank..last).rev() {
        transform_columns(dims, axis, direction, parts);
    }
}

/// Transforms the first `lengths` real numbers of the last axes, and writes the first half of the frequencies of the last
/// axis and one.
///
/// # Panics
/// Panics if the tensor is empty, an axis is shorter than its length, or a slice differs in length.
pub fn from_real<T: Part>(dims: &[usize], lengths: &[usize], x: &[T], out: &mut [T]) {
    let rank = lengths.len();
    let (mut dims, x) = crop(dims, lengths, 1, x);
    let last = dims.len() - 1;
    transform_rows(&Line::new(Kind::FromReal, dims[last]), &x, out);
    dims[last] = dims[last] / 2 + 1;
    transform_others(&dims, rank, Direction::Forward, out);
}

/// Computes the inverse of [`from_real`].
///
/// # Panics
/// Panics as [`from_real`].
pub fn to_real<T: Part>(dims: &[usize], lengths: &[usize], x: &[T], out: &mut [T]) {
    let rank = lengths.len();
    let size = lengths[rank - 1];
    let needed = [&lengths[..rank - 1], &[size / 2 + 1]].concat();
    let (dims, mut x) = crop(dims, &needed, 2, x);
    if rank > 1 {
        // `Cow::to_mut` ends the process if there is not enough memory.
        let mut numbers = match x {
            Cow::Borrowed(x) => allocation::copied(x),
            Cow::Owned(x) => x,
        };
        transform_others(&dims, rank, Direction::Inverse, &mut numbers);
        x = Cow::Owned(numbers);
    }
    transform_rows(&Line::new(Kind::ToReal, size), &x, out);
}

/// Crops the last axes to `lengths` elements of `parts` parts each; returns the dims and the elements.
fn crop<'a, T: Part>(
    dims: &[usize],
    lengths: &[usize],
    parts: usize,
    x: &'a [T],
) -> (Vec<usize>, Cow<'a, [T]>) {
    let (mut dims, mut x) = (dims.to_vec(), Cow::Borrowed(x));
    let first = dims.len() - lengths.len();
    for (axis, size) in (first..).zip(lengths) {
        let (old, inner) = (dims[axis], len(&dims[axis + 1..]) * parts);
        if old != *size {
            assert!(*size < old, "{size} of {old} elements");
            let mut cropped = allocation::with_capacity(x.len() / old * size);
            let blocks = x.chunks_exact(old * inner);
            blocks.for_each(|it| cropped.extend_from_slice(&it[..size * inner]));
            x = Cow::Owned(cropped);
            dims[axis] = *size;
        }
    }
    (dims, x)
}
