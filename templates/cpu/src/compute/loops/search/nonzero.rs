//! The coordinates of the elements that are not zero.

use crate::compute::machine::inline::InlineList;
use std::mem::MaybeUninit;

/// An element with a truth value: false is zero, of either sign.
pub trait Truth: Copy + Sync {
    /// Returns true if the element is not zero.
    fn is_true(self) -> bool;
}

/// Returns the number of elements that are not zero.
pub fn count_nonzero<T: Truth>(x: &[T]) -> usize {
    x.iter().map(|it| usize::from(it.is_true())).sum()
}

/// Writes the coordinates of each element that is not zero, in row-major order: `dims.len()` items for each.
///
/// # Panics
/// Panics if `out` is too short for them.
pub fn nonzero<T: Truth>(dims: &[usize], x: &[T], out: &mut [MaybeUninit<i64>]) {
    let Some((inner, outer)) = dims.split_last() else {
        return;
    };
    let mut rest = out;
    let mut coordinates = InlineList::repeat(0_i64, outer.len());
    for row in x.chunks_exact((*inner).max(1)) {
        for (column, _) in row.iter().enumerate().filter(|(_, it)| it.is_true()) {
            let (item, after) = rest.split_at_mut(dims.len());
            for (out, coordinate) in item.iter_mut().zip(coordinates.iter()) {
                out.write(*coordinate);
            }
            item[outer.len()].write(column as i64);
            rest = after;
        }
        for (coordinate, dim) in coordinates.iter_mut().zip(outer).rev() {
            *coordinate += 1;
            if *coordinate < *dim as i64 {
                break;
            }
            *coordinate = 0;
        }
    }
}
