//! Copies of transposed axes: of a few columns as vectors, of others in square tiles.

use super::view::{Axis, View};
use crate::compute::machine::array;
use crate::compute::machine::cost::{self, Cost};
use crate::compute::machine::interleave::{MAX_ROW_LEN, by_row_len, deinterleave, interleave};
use crate::compute::machine::parallel::{for_each_chunk_of, for_each_row_chunk};
use crate::compute::machine::runs::copy_steps;
use crate::compute::machine::simd::Isa;
use crate::compute::machine::simd::transpose::{self, SIDE};

/// Returns the number of rows whose tiles are copied in turn: elements of a cache line of the source. Fewer if the lines of
/// the rows have one place in the first cache.
fn rows_of_tiles(row_bytes: usize) -> usize {
    const WAY_BYTES: usize = 4096;
    if row_bytes.is_multiple_of(WAY_BYTES) {
        SIDE
    } else {
        2 * SIDE
    }
}

/// Returns true if the last two axes are the transposition of short rows that are adjacent in the source.
pub(super) fn is_deinterleaving(view: &View) -> bool {
    let (inner, outer) = view.split_inner();
    let columns = outer[outer.len() - 1].len;
    columns <= MAX_ROW_LEN && inner.step == columns as isize
}

/// Copies the elements of a view for which [`is_deinterleaving`] is true, all columns of a plane in one loop.
pub(super) fn copy_deinterleaved<T: Copy + Send + Sync>(view: &View, source: &[T], out: &mut [T]) {
    let (inner, outer) = view.split_inner();
    let count = outer[outer.len() - 1].len;
    let (plane, isa) = (count * inner.len, Isa::current());
    for_each_row_chunk(out, plane, cost::Cheap.grain(), |first, out| {
        for (index, out) in (first..).zip(out.chunks_exact_mut(plane)) {
            view.for_each_row(index * count, 1, |_, offset| {
                copy_plane(isa, count, &source[offset..offset + plane], out);
            });
        }
    });
}

/// Copies the elements of rows to the columns in `out`, on all cores unless the outer tasks use all threads.
fn copy_plane<T: Copy + Send + Sync>(isa: Isa, count: usize, rows: &[T], out: &mut [T]) {
    let mut columns = out.chunks_exact_mut(out.len() / count);
    by_row_len!(count, N => {
        let mut columns: [_; N] = std::array::from_fn(|_| columns.next().unwrap_or_default());
        for_each_chunk_of(&mut columns, cost::Cheap.grain() / N, &|start, columns| {
            let columns = columns.first_chunk_mut::<N>().expect("there are `N` columns");
            let rows = &rows[start * N..][..columns[0].len() * N];
            let columns = columns.each_mut().map(|it| &mut **it);
            cost::Cheap.vectorize(isa, #[inline(always)] || deinterleave::<N, T>(rows, columns));
        });
    });
}

/// Copies rows of a view whose last two axes are the transposition of a few columns. The columns begin `inner.step` apart,
/// the first one at `offset`.
fn copy_interleaved<T: Copy>(
    isa: Isa,
    source: &[T],
    offset: usize,
    inner: Axis,
    out: &mut [T],
    rows: usize,
) {
    let column = |index: usize| {
        let start = offset.wrapping_add_signed(index as isize * inner.step);
        &source[start..start + rows]
    };
    by_row_len!(inner.len, N => {
        let columns = array::from_fn(column);
        cost::Cheap.vectorize(isa, #[inline(always)] || interleave::<N, T>(columns, out));
    });
}

/// Copies whole rows of a view whose last two axes are transposed, in tiles: the rows of a tile read the same cache
/// lines.
pub(super) fn copy_transposed<T: Copy>(view: &View, source: &[T], first: usize, out: &mut [T]) {
    let (inner, outer) = view.split_inner();
    let plane_rows = outer[outer.len() - 1].len;
    let rows = out.len() / inner.len;
    let (is_short, isa) = (inner.len <= MAX_ROW_LEN, Isa::current());
    let most = match is_short {
        true => rows,
        false => rows_of_tiles(inner.len * size_of::<T>()),
    };
    let mut done = 0;
    while done < rows {
        let in_plane = plane_rows - (first + done) % plane_rows;
        let count = in_plane.min(rows - done).min(most);
        // The offset of the first row; the next rows begin at the next elements.
        view.for_each_row(first + done, 1, |_, offset| {
            let out = &mut out[done * inner.len..][..count * inner.len];
            match is_short {
                true => copy_interleaved(isa, source, offset, inner, out, count),
                false => copy_tiles(isa, source, offset, inner, out, count),
            }
        });
        done += count;
    }
}

/// Copies some rows of a transposition. The first elements of the rows are adjacent in the source.
fn copy_tiles<T: Copy>(
    isa: Isa,
    source: &[T],
    offset: usize,
    inner: Axis,
    out: &mut [T],
    rows: usize,
) {
    for column in (0..inner.len).step_by(SIDE) {
        let width = (inner.len - column).min(SIDE);
        let start = offset.wrapping_add_signed(column as isize * inner.step);
        for first in (0..rows).step_by(SIDE) {
            let (start, out) = (start + first, &mut out[first * inner.len + column..]);
            if rows - first >= SIDE && width == SIDE && inner.step > 0 {
                let source = &source[start..];
                transpose::square(isa, source, inner.step as usize, out, inner.len);
                continue;
            }
            for row in 0..(rows - first).min(SIDE) {
                let out = &mut out[row * inner.len..][..width];
                copy_steps(source, start + row, inner.step, out);
            }
        }
    }
}
