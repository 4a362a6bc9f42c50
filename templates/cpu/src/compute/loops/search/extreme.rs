//! The index of the largest or smallest element along an axis.

use super::write_indices;
use crate::compute::machine::cost::{self, Cost};
use crate::compute::machine::parallel::for_each_row_chunk;
use std::mem::MaybeUninit;

/// The element that is searched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extreme {
    /// The largest.
    Largest,
    /// The smallest.
    Smallest,
}

/// Columns that are searched together.
const BLOCK: usize = 32;

/// Writes, for each vector along the axis of `[outer, axis, inner]`, the index of the first element that is better than
/// `start` and all elements before it; 0 if there is none. So NaN is never selected. An index has `width` bytes.
///
/// # Panics
/// Panics if `x` or `out` has another length than the dims imply.
pub fn arg_extreme<T: PartialOrd + Copy + Sync>(
    extreme: Extreme,
    start: T,
    [axis, inner]: [usize; 2],
    x: &[T],
    out: &mut [MaybeUninit<u8>],
    width: usize,
) {
    match extreme {
        Extreme::Largest => search(|x, best| x > best, start, [axis, inner], x, out, width),
        Extreme::Smallest => search(|x, best| x < best, start, [axis, inner], x, out, width),
    }
}

fn search<T: Copy + Sync>(
    is_better: impl Fn(T, T) -> bool + Sync + Copy,
    start: T,
    [axis, inner]: [usize; 2],
    x: &[T],
    out: &mut [MaybeUninit<u8>],
    width: usize,
) {
    assert_eq!(
        x.len() * width,
        out.len() * axis,
        "operand and result differ in length"
    );
    if out.is_empty() {
        return;
    }
    let grain = (cost::Cheap.grain() / axis.max(1)).max(1) * width;
    for_each_row_chunk(out, inner * width, grain, |first, out| {
        for (row, out) in out.chunks_exact_mut(inner * width).enumerate() {
            let plane = &x[(first + row) * axis * inner..][..axis * inner];
            match inner {
                1 => {
                    let index = search_vector(is_better, start, plane);
                    write_indices(out, width, std::iter::once(index));
                }
                _ => search_columns(is_better, start, plane, out, width),
            }
        }
    });
}

/// The number of elements up to which a vector is searched in one pass.
const SHORT_VECTOR: usize = 16;

fn search_vector<T: Copy>(is_better: impl Fn(T, T) -> bool + Copy, start: T, x: &[T]) -> usize {
    match x.len() <= SHORT_VECTOR {
        true => search_short(is_better, start, x),
        false => search_long(is_better, start, x),
    }
}

fn search_short<T: Copy>(is_better: impl Fn(T, T) -> bool, start: T, x: &[T]) -> usize {
    let (mut best, mut found) = (start, 0);
    for (index, x) in x.iter().enumerate() {
        let is_new = is_better(*x, best);
        best = if is_new { *x } else { best };
        found = if is_new { index } else { found };
    }
    found
}

/// Finds the best value and the part that has it, and then its position in the part. A loop without positions is
/// vectorized.
fn search_long<T: Copy>(is_better: impl Fn(T, T) -> bool + Copy, start: T, x: &[T]) -> usize {
    const PART: usize = 1024;
    let (mut best, mut first) = (start, 0);
    for (index, part) in x.chunks(PART).enumerate() {
        let best_of_part = find_best(is_better, start, part);
        if is_better(best_of_part, best) {
            (best, first) = (best_of_part, index * PART);
        }
    }
    // The best element is the first that no element is better than, of those that are better than `start`.
    let is_best = |it: &T| is_better(*it, start) && !is_better(best, *it);
    let part = x[first..].iter().take(PART);
    part.copied()
        .position(|it| is_best(&it))
        .map_or(0, |at| first + at)
}

/// Returns the best of some elements and `start`.
fn find_best<T: Copy>(is_better: impl Fn(T, T) -> bool + Copy, start: T, x: &[T]) -> T {
    let best_of = |best, x: &T| if is_better(*x, best) { *x } else { best };
    let mut lanes = [start; 16];
    let (chunks, rest) = x.as_chunks::<16>();
    for chunk in chunks {
        for (best, x) in lanes.iter_mut().zip(chunk) {
            *best = best_of(*best, x);
        }
    }
    rest.iter().chain(&lanes).fold(start, best_of)
}

fn search_columns<T: Copy>(
    is_better: impl Fn(T, T) -> bool + Copy,
    start: T,
    plane: &[T],
    out: &mut [MaybeUninit<u8>],
    width: usize,
) {
    let inner = out.len() / width;
    for (block, out) in out.chunks_mut(BLOCK * width).enumerate() {
        let columns = out.len() / width;
        let mut best = [start; BLOCK];
        let mut indices = [0; BLOCK];
        for (index, row) in plane.chunks_exact(inner).enumerate() {
            let row = &row[block * BLOCK..][..columns];
            for ((best, found), x) in best.iter_mut().zip(&mut indices).zip(row) {
                if is_better(*x, *best) {
                    (*best, *found) = (*x, index);
                }
            }
        }
        write_indices(out, width, indices.into_iter());
    }
}
