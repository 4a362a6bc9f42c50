//! Tensors joined along an axis, and parts of one.

use super::view::View;
use crate::compute::machine::cost::{self, Cost};
use crate::compute::machine::parallel::for_each_row_chunk;

/// Joins rows: row `i` of the result is row `i` of each part, one after the other. The parts have the bytes of their
/// rows.
///
/// # Panics
/// Panics if a part, or the result, does not consist of `rows` rows.
pub fn concat<B: Copy + Send + Sync>(rows: usize, parts: &[(&[B], usize)], out: &mut [B]) {
    let row_len: usize = parts.iter().map(|(_, len)| len).sum();
    assert_eq!(
        out.len(),
        rows * row_len,
        "result and parts differ in length"
    );
    if out.is_empty() {
        return;
    }
    if rows == 1 {
        return concat_row(parts, out);
    }
    for_each_row_chunk(out, row_len, grain(), |first, out| {
        for (row, out) in out.chunks_exact_mut(row_len).enumerate() {
            let mut rest = out;
            for (part, len) in parts {
                let (target, after) = rest.split_at_mut(*len);
                target.copy_from_slice(&part[(first + row) * len..][..*len]);
                rest = after;
            }
        }
    });
}

/// Copies one part after the other, each on all cores.
fn concat_row<B: Copy + Send + Sync>(parts: &[(&[B], usize)], out: &mut [B]) {
    let mut rest = out;
    for (part, len) in parts {
        let (target, after) = rest.split_at_mut(*len);
        for_each_row_chunk(target, 1, grain(), |start, target| {
            target.copy_from_slice(&part[start..start + target.len()]);
        });
        rest = after;
    }
}

/// Returns the number of bytes of a task.
fn grain() -> usize {
    cost::Cheap.grain() * 4
}

/// Returns the view of `len` columns from `start` on of `rows` rows of `row_len` elements.
pub fn columns(rows: usize, row_len: usize, start: usize, len: usize) -> View {
    View::new([(rows, row_len as isize), (len, 1)], start)
}
