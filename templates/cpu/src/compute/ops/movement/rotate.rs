//! Elements moved along an axis: rolled around its end, or reversed up to a length.

use crate::compute::machine::cost::{self, Cost};
use crate::compute::machine::parallel::for_each_row_chunk;
use crate::compute::machine::shape::len;

/// Writes the tensor with the elements of each axis moved by `shifts[axis]`, which is below its length; those that are
/// moved beyond the end are at the beginning. An element has `width` bytes.
///
/// # Panics
/// Panics if a slice has another length than the dims imply.
pub fn roll<B: Copy + Send + Sync>(
    dims: &[usize],
    shifts: &[usize],
    width: usize,
    source: &[B],
    out: &mut [B],
) {
    assert_eq!([source.len(), out.len()], [len(dims) * width; 2], "length");
    if out.is_empty() {
        return;
    }
    let Some(last) = shifts.iter().rposition(|it| *it > 0) else {
        return out.copy_from_slice(source);
    };
    let inner = len(&dims[last + 1..]) * width;
    let (row, split) = (dims[last] * inner, shifts[last] * inner);
    for_each_row_chunk(out, row, grain(), |first, out| {
        for (index, out) in out.chunks_exact_mut(row).enumerate() {
            let from = rolled_row(&dims[..last], shifts, first + index);
            let (end, start) = source[from * row..][..row].split_at(row - split);
            out[..split].copy_from_slice(start);
            out[split..].copy_from_slice(end);
        }
    });
}

/// Returns the row that is moved to `row`.
fn rolled_row(dims: &[usize], shifts: &[usize], row: usize) -> usize {
    let (mut rest, mut from, mut step) = (row, 0, 1);
    for (dim, shift) in dims.iter().zip(shifts).rev() {
        from += (rest % dim + dim - shift) % dim * step;
        rest /= dim;
        step *= dim;
    }
    from
}

/// The axes of a reversal, of a tensor `[outer, first, middle, second, inner]`: one has the batch, the other is reversed.
#[derive(Clone, Copy, Debug)]
pub struct Sequences {
    /// The elements before, between and after the axes, and of the axes, in the order above. `inner` counts bytes.
    pub shape: [usize; 5],
    /// True if the first axis has the batch.
    pub is_batch_first: bool,
}

impl Sequences {
    /// Writes the tensor with the first `lengths[batch]` elements along the other axis reversed.
    ///
    /// # Panics
    /// Panics if a slice has another length than the dims imply, or a length is beyond the axis.
    pub fn reverse<B: Copy + Send + Sync>(self, lengths: &[usize], source: &[B], out: &mut [B]) {
        let [_, first, middle, second, inner] = self.shape;
        if out.is_empty() {
            return;
        }
        for_each_row_chunk(out, inner, grain(), |start, out| {
            for (index, out) in out.chunks_exact_mut(inner).enumerate() {
                let (rest, j) = ((start + index) / second, (start + index) % second);
                let (rest, between) = (rest / middle, rest % middle);
                let (outer, i) = (rest / first, rest % first);
                let (i, j) = match self.is_batch_first {
                    true => (i, reversed(j, lengths[i])),
                    false => (reversed(i, lengths[j]), j),
                };
                let row = ((outer * first + i) * middle + between) * second + j;
                out.copy_from_slice(&source[row * inner..][..inner]);
            }
        });
    }
}

/// Returns the position whose element is moved to `at`, if the first `len` are reversed.
fn reversed(at: usize, len: usize) -> usize {
    if at < len { len - 1 - at } else { at }
}

/// Returns the number of bytes of a task.
fn grain() -> usize {
    cost::Cheap.grain() * 4
}
