//! Totals of rows that belong together, and running totals.

pub mod spread;

use crate::compute::loops::map::update;
use crate::compute::loops::rows::Indices;
use crate::compute::machine::cost::{self, Cost};
use crate::compute::machine::error::{Error, Result};
use crate::compute::machine::parallel::for_each_row_chunk;
use crate::compute::scalar::arith::{Float, Number, greatest, least};
use sp_plugin::allocation;

/// Computes `f(old, new)` of each row of `x` and the row of `out` that its index names; rows with a negative index are
/// left out. A row has `width` elements.
///
/// # Errors
/// Returns an error if an index is not below the number of rows of `out`. Nothing is computed then.
///
/// # Panics
/// Panics if `x` has not a row for each index.
pub fn fold_segments<T: Copy + Send + Sync>(
    indices: Indices<'_>,
    x: &[T],
    width: usize,
    segments: usize,
    out: &mut [T],
    f: impl Fn(T, T) -> T + Sync,
) -> Result<()> {
    let rows = indices.len();
    assert_eq!(x.len(), rows * width, "a row for each index");
    // As in TensorFlow, rows without elements need no valid index.
    if x.is_empty() {
        return Ok(());
    }
    if let Some(at) = indices.find_at_least(segments) {
        let index = indices.get(at);
        let message = format!("segment_ids[{at}] = {index} is out of range [0, {segments})");
        return Err(Error::Invalid(message));
    }
    match indices {
        Indices::Int32(it) => fold_rows(it, x, width, out, &f),
        Indices::Int64(it) => fold_rows(it, x, width, out, &f),
    }
    Ok(())
}

/// Computes [`fold_segments`] of indices that were checked.
fn fold_rows<T: Copy + Send + Sync>(
    indices: &[impl Copy + Into<i64>],
    x: &[T],
    width: usize,
    out: &mut [T],
    f: &(impl Fn(T, T) -> T + Sync),
) {
    let rows = indices.iter().zip(x.chunks_exact(width));
    for (row, x) in rows.filter_map(|(index, x)| Some((usize::try_from((*index).into()).ok()?, x)))
    {
        match x {
            [x] => out[row] = f(out[row], *x),
            _ => update_row(&mut out[row * width..][..width], x, f),
        }
    }
}

/// Computes `out[i] = f(out[i], x[i])` of a row, which may be short.
#[inline]
fn update_row<T: Copy + Send + Sync>(out: &mut [T], x: &[T], f: &(impl Fn(T, T) -> T + Sync)) {
    // A few elements take less time than the selection of threads and vectors.
    const SHORT: usize = 32;
    if out.len() > SHORT {
        return update(out, x, f);
    }
    for (out, x) in out.iter_mut().zip(x) {
        *out = f(*out, *x);
    }
}

/// Returns the number of segments of rows whose indices ascend: the last index and 1.
///
/// # Errors
/// Returns an error if an index is negative, or below the one before it.
pub fn count_sorted_segments(indices: Indices<'_>) -> Result<usize> {
    let Some(last) = indices.len().checked_sub(1) else {
        return Ok(0);
    };
    if (0..last).any(|at| indices.get(at) > indices.get(at + 1)) {
        return Err(Error::Invalid("segment ids are not increasing".into()));
    }
    if indices.get(0) < 0 {
        return Err(Error::Invalid("segment ids must be >= 0".into()));
    }
    let segments = usize::try_from(indices.get(last)).ok();
    let segments = segments.and_then(|it| it.checked_add(1));
    segments.ok_or_else(|| {
        Error::Invalid("segment_ids must be below the largest number of rows".into())
    })
}

/// Computes the total by `f` of the rows of each segment, and `finish(total, count)` of it. `row(at)` is the row of index
/// `at`, of `width` elements. The rows of `out` that no index names are left as they are.
///
/// # Panics
/// Panics if the indices do not ascend, or `out` has no such row.
pub fn fold_sorted<'a, T: Copy + Send + Sync + 'a>(
    indices: Indices<'_>,
    width: usize,
    row: impl Fn(usize) -> &'a [T],
    out: &mut [T],
    f: impl Fn(T, T) -> T + Sync,
    finish: impl Fn(T, usize) -> T,
) {
    let mut start = 0;
    while start < indices.len() {
        let segment = indices.get(start);
        let next = (start..indices.len()).find(|at| indices.get(*at) != segment);
        let end = next.unwrap_or(indices.len());
        // The indices were checked.
        let out = &mut out[segment as usize * width..][..width];
        out.copy_from_slice(row(start));
        (start + 1..end).for_each(|at| update_row(out, row(at), &f));
        out.iter_mut().for_each(|it| *it = finish(*it, end - start));
        start = end;
    }
}

/// A number that is divided by a count.
pub trait Divisible: Number {
    /// Returns `self / count`; integers round toward zero.
    fn over_count(self, count: usize) -> Self;

    /// Returns `self / sqrt(count)`; integers round toward zero.
    fn over_root(self, count: usize) -> Self;
}

macro_rules! divisible {
    ($($ty:ident as $wide:ident)*) => {$(
        impl Divisible for $ty {
            fn over_count(self, count: usize) -> Self {
                (self as $wide / count as $wide) as $ty
            }

            fn over_root(self, count: usize) -> Self {
                (self as f64 / (count as f64).sqrt()) as $ty
            }
        }
    )*};
}

divisible!(u8 as i64 i8 as i64 u16 as i64 i16 as i64 u32 as i64 i32 as i64 u64 as i128 i64 as i128 f32 as f32 f64 as f64);

/// Returns the larger number, `new` if one is NaN.
#[inline(always)]
pub fn larger<T: PartialOrd>(old: T, new: T) -> T {
    greatest(new, old)
}

/// Returns the smaller number, `new` if one is NaN.
#[inline(always)]
pub fn smaller<T: PartialOrd>(old: T, new: T) -> T {
    least(new, old)
}

/// Returns the logarithm of `exp(x) + exp(y)`.
#[inline(always)]
#[allow(clippy::eq_op, reason = "true for NaN, and for infinity minus itself")]
pub fn log_add_exp<T: Float>(x: T, y: T) -> T {
    let (max, min) = if x > y || x != x { (x, y) } else { (y, x) };
    if max.minus(max) != T::ZERO {
        return max;
    }
    max.plus(T::ONE.plus(min.minus(max).exp()).ln())
}

/// The dims and the order of running totals along one axis.
#[derive(Clone, Copy, Debug)]
pub struct Running {
    /// The number of elements before, along and after the axis.
    pub shape: [usize; 3],
    /// True if an element is not part of its own total.
    pub is_exclusive: bool,
    /// True if totals run from the last element to the first.
    pub is_reverse: bool,
}

impl Running {
    /// Returns the position along the axis at which a total is extended.
    #[inline]
    fn position(&self, step: usize) -> usize {
        match self.is_reverse {
            true => self.shape[1] - 1 - step,
            false => step,
        }
    }

    /// Extends a total by an element, and writes the total up to it.
    #[inline(always)]
    fn extend<T: Copy>(&self, total: &mut T, x: T, out: &mut T, f: &impl Fn(T, T) -> T) {
        let next = f(*total, x);
        *out = if self.is_exclusive { *total } else { next };
        *total = next;
    }
}

/// Writes the totals of the elements up to each one by `f`, from `start` on.
///
/// # Panics
/// Panics if `x` or `out` has another length than the shape.
pub fn running<T: Copy + Send + Sync>(
    plan: Running,
    start: T,
    f: impl Fn(T, T) -> T + Sync,
    x: &[T],
    out: &mut [T],
) {
    let [outer, count, inner] = plan.shape;
    // The dims beside a 0 may be of any size.
    if x.is_empty() && out.is_empty() {
        return;
    }
    assert_eq!([x.len(), out.len()], [outer * count * inner; 2], "length");
    for_each_row_chunk(out, count * inner, cost::Moderate.grain(), |first, out| {
        let x = &x[first * count * inner..][..out.len()];
        match inner {
            1 => running_in_rows(plan, start, &f, x, out),
            _ => running_over_rows(plan, start, &f, x, out),
        }
    });
}

/// The number of rows whose totals are extended in turn, since each addition waits for the one before it.
const ROWS: usize = 8;

/// Writes the totals along rows of adjacent elements.
fn running_in_rows<T: Copy>(
    plan: Running,
    start: T,
    f: &impl Fn(T, T) -> T,
    x: &[T],
    out: &mut [T],
) {
    let count = plan.shape[1];
    let groups = x.chunks(ROWS * count).zip(out.chunks_mut(ROWS * count));
    for (x, out) in groups {
        let mut totals = [start; ROWS];
        let totals = &mut totals[..x.len() / count];
        for at in (0..count).map(|step| plan.position(step)) {
            for (row, total) in totals.iter_mut().enumerate() {
                let index = row * count + at;
                plan.extend(total, x[index], &mut out[index], f);
            }
        }
    }
}

/// Writes the totals of rows, each element of which has its own total.
fn running_over_rows<T: Copy>(
    plan: Running,
    start: T,
    f: &impl Fn(T, T) -> T,
    x: &[T],
    out: &mut [T],
) {
    let [_, count, inner] = plan.shape;
    let mut totals = allocation::filled(start, inner);
    let blocks = x
        .chunks_exact(count * inner)
        .zip(out.chunks_exact_mut(count * inner));
    for (x, out) in blocks {
        totals.fill(start);
        for first in (0..count).map(|step| plan.position(step) * inner) {
            let row = x[first..][..inner].iter().zip(&mut out[first..][..inner]);
            for (total, (x, out)) in totals.iter_mut().zip(row) {
                plan.extend(total, *x, out, f);
            }
        }
    }
}
