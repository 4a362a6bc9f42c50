//! Sums of rows that belong together, and running totals.

use super::arith::Number;
use super::error::{Error, Result};
use super::map::update;
use super::rows::Indices;

/// Adds each row of `x` to the row of `out` that its index names; rows with a negative index are left out. A row has
/// `width` elements.
///
/// # Errors
/// Returns an error if an index is not below the number of rows of `out`. Nothing is added then.
///
/// # Panics
/// Panics if `x` has not a row for each index.
pub fn segment_sum<T: Number>(
    indices: Indices<'_>,
    x: &[T],
    width: usize,
    segments: usize,
    out: &mut [T],
) -> Result<()> {
    let rows = indices.len();
    assert_eq!(x.len(), rows * width, "a row for each index");
    let is_outside = |at: &usize| usize::try_from(indices.get(*at)).is_ok_and(|it| it >= segments);
    if let Some(at) = (0..rows).find(is_outside) {
        let index = indices.get(at);
        let message = format!("segment_ids[{at}] = {index} is out of range [0, {segments})");
        return Err(Error::Invalid(message));
    }
    for at in 0..rows {
        if let Ok(row) = usize::try_from(indices.get(at)) {
            let out = &mut out[row * width..][..width];
            update(out, &x[at * width..][..width], T::plus);
        }
    }
    Ok(())
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

/// Writes the totals of the elements up to each one by `f`, from `start` on.
///
/// # Panics
/// Panics if `x` or `out` has another length than the shape.
pub fn running<T: Number>(plan: Running, start: T, f: impl Fn(T, T) -> T, x: &[T], out: &mut [T]) {
    let [outer, count, inner] = plan.shape;
    // The dims beside a 0 may be of any size.
    if x.is_empty() && out.is_empty() {
        return;
    }
    assert_eq!([x.len(), out.len()], [outer * count * inner; 2], "length");
    let mut totals = vec![start; inner];
    for block in 0..outer {
        totals.fill(start);
        for step in 0..count {
            let at = if plan.is_reverse {
                count - 1 - step
            } else {
                step
            };
            let first = (block * count + at) * inner;
            let row = x[first..][..inner].iter().zip(&mut out[first..][..inner]);
            for (total, (x, out)) in totals.iter_mut().zip(row) {
                let next = f(*total, *x);
                *out = if plan.is_exclusive { *total } else { next };
                *total = next;
            }
        }
    }
}
