//! One-hot vectors.

use super::gather::Index;
use super::{by_width, elements, elements_mut};
use crate::compute::machine::cost::{self, Cost};
use crate::compute::machine::parallel::for_each_row_chunk;

/// Writes, for each index, a vector of `depth` elements `off` with `on` at the index. `suffix` elements are after the
/// new axis: the result is `[prefix, depth, suffix]`, the indices are `[prefix, suffix]`. An index that is not below
/// `depth` has no `on`.
///
/// # Panics
/// Panics if `on` or `off` is not one element, or the result has another length.
pub fn one_hot<B: Copy + Send + Sync, I: Index>(
    [depth, suffix, width]: [usize; 3],
    indices: &[I],
    [on, off]: [&[B]; 2],
    out: &mut [B],
) {
    by_width!(width, N => {
        let (on, off) = (elements::<B, N>(on)[0], elements::<B, N>(off)[0]);
        one_hot_elements([depth, suffix], indices, [on, off], elements_mut::<B, N>(out));
    });
}

fn one_hot_elements<T: Copy + Send + Sync, I: Index>(
    [depth, suffix]: [usize; 2],
    indices: &[I],
    [on, off]: [T; 2],
    out: &mut [T],
) {
    if out.is_empty() {
        return;
    }
    let plane = depth * suffix;
    for_each_row_chunk(out, plane, cost::Cheap.grain(), |first, out| {
        out.fill(off);
        for (row, out) in out.chunks_exact_mut(plane).enumerate() {
            let indices = &indices[(first + row) * suffix..][..suffix];
            for (column, index) in indices.iter().enumerate() {
                if let Some(index) = index.checked(depth) {
                    out[index * suffix + column] = on;
                }
            }
        }
    });
}
