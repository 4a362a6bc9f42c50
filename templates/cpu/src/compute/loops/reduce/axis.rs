//! The reduction of one axis: chunks of rows on all cores, then the chunks' totals.

use super::Accumulator;
use super::rows::{COLUMNS, LANES, LEAF, SHORT_LANES, fold_into, fold_row, scratch_len};
use super::source::{Region, Source};
use crate::compute::machine::inline::InlineList;
use crate::compute::machine::parallel::for_each_row_chunk;
use crate::compute::machine::simd::{Isa, opaque};
use sp_plugin::allocation;

/// The number of elements in one chunk of a fold.
const CHUNK: usize = 32 * 1024;

/// The largest number of elements of a row that is folded as a whole, in chains of at most 32 additions of four elements.
const SHORT_ROW: usize = 4096;

/// The largest number of elements of a row that is folded in one chain; the chains of several rows run side by side.
const NARROW_ROW: usize = 7;

/// The number of elements up to which several chunks are read at a time: they fit in the second cache.
const BATCH: usize = 8 * 1024;

/// The scratch length that is not allocated.
const SMALL_SCRATCH: usize = 512;

/// A tensor of three dims of which the middle one is reduced.
#[derive(Clone, Copy)]
pub struct Block {
    pub outer: usize,
    pub len: usize,
    pub inner: usize,
}

/// The chunks of about [`CHUNK`] elements that a block is divided into along the reduced dim.
struct Chunks {
    block: Block,
    rows: usize,
    count: usize,
}

/// The rows that totals beside each other are of.
struct Rows {
    begin: usize,
    rows: usize,
    column: usize,
}

impl Chunks {
    fn new(block: Block) -> Self {
        let rows = (CHUNK / block.inner.max(1)).max(LEAF * 4).min(block.len);
        Self {
            block,
            rows,
            count: block.len.div_ceil(rows),
        }
    }

    /// Returns the rows of a total.
    #[inline(always)]
    fn rows_of(&self, total: usize) -> Rows {
        let Block { len, inner, .. } = self.block;
        let (row, column) = (total / inner, total % inner);
        let (first, chunk_start) = (row / self.count * len, row % self.count * self.rows);
        Rows {
            begin: (first + chunk_start) * inner + column,
            rows: self.rows.min(len - chunk_start),
            column,
        }
    }

    /// Returns the rows of as many totals from `start` on as are folded at a time, and the number of these totals, at most
    /// `limit`.
    fn region(&self, start: usize, limit: usize) -> (Region, usize) {
        let inner = self.block.inner;
        match BATCH / (self.rows * inner).max(1) {
            0 | 1 => self.columns(start, limit),
            chunks => self.whole_chunks(start, (chunks * inner).min(limit)),
        }
    }

    /// Returns the rows of totals of one chunk.
    fn columns(&self, start: usize, limit: usize) -> (Region, usize) {
        let (first, stride) = (self.rows_of(start), self.block.inner);
        let width = (stride - first.column).min(limit).min(COLUMNS);
        let region = Region {
            begin: first.begin,
            rows: first.rows,
            width,
            stride,
        };
        (region, width)
    }

    /// Returns the rows of `count` totals of adjacent chunks.
    fn whole_chunks(&self, start: usize, count: usize) -> (Region, usize) {
        let (begin, stride) = (self.rows_of(start).begin, self.block.inner);
        let last = self.rows_of(start + count - 1);
        let end = last.begin + (last.rows - 1) * stride + 1;
        let adjacent = Region::of_adjacent(begin, end - begin);
        (Region { stride, ..adjacent }, count)
    }

    /// Folds the rows of the totals from `start` on, those of a chunk beside each other. `x` begins with the first one.
    #[inline(always)]
    fn fold<S: Copy, F: Accumulator<S>>(
        &self,
        (start, totals): (usize, &mut [F::Total]),
        (x, stride): (&[S], usize),
        scratch: &mut [F::Total],
    ) {
        let begin = self.rows_of(start).begin;
        let mut done = 0;
        while done < totals.len() {
            let it = self.rows_of(start + done);
            let inner = self.block.inner;
            let width = (inner - it.column).min(totals.len() - done).min(COLUMNS);
            let x = &x[it.begin - begin..][..(it.rows - 1) * stride + width];
            let totals = &mut totals[done..done + width];
            fold_into::<S, F>(totals, (x, stride), width == inner, scratch);
            done += width;
        }
    }
}

/// Reduces the middle dim: folds chunks of about [`CHUNK`] elements on all cores, then their totals.
pub fn reduce_axis<S: Copy + Sync, F: Accumulator<S>>(
    block: Block,
    x: &dyn Source<S>,
) -> InlineList<F::Total> {
    let Block { outer, len, inner } = block;
    let chunks = Chunks::new(block);
    let mut totals = InlineList::repeat(F::EMPTY, outer * chunks.count * inner);
    let grain = (2 * CHUNK / chunks.rows).max(1);
    // A task has whole rows of a few columns, which are folded in another order than parts of them.
    let width = if inner <= LANES / 2 { inner } else { 1 };
    for_each_row_chunk(&mut totals, width, grain, |row, totals| {
        let start = row * width;
        match inner == 1 && len <= SHORT_ROW {
            true => fold_rows::<S, F>((start, totals), x, len),
            false => fold_chunks::<S, F>(&chunks, (start, totals), x),
        }
    });
    if chunks.count == 1 {
        return totals;
    }
    let len = chunks.count;
    let block = Block { outer, len, inner };
    reduce_axis::<F::Total, F::OfTotals>(block, &&totals[..])
}

/// Folds the rows of the totals from `start` on, in parts that are read at a time.
fn fold_chunks<S: Copy, F: Accumulator<S>>(
    chunks: &Chunks,
    (start, totals): (usize, &mut [F::Total]),
    x: &dyn Source<S>,
) {
    let isa = Isa::current();
    let needed = scratch_len(chunks.block.inner, chunks.rows);
    let mut small = [F::EMPTY; SMALL_SCRATCH];
    let mut large;
    let scratch = match small.get_mut(..needed) {
        Some(small) => small,
        None => {
            large = allocation::filled(F::EMPTY, needed);
            &mut large[..]
        }
    };
    let mut done = 0;
    while done < totals.len() {
        let (region, count) = chunks.region(start + done, totals.len() - done);
        let totals = &mut totals[done..done + count];
        x.read(region, &mut |x, stride| {
            isa.vectorize_narrow(
                #[inline(always)]
                || chunks.fold::<S, F>((start + done, totals), (x, stride), scratch),
            );
        });
        done += count;
    }
}

/// Folds adjacent rows of `len` elements, each to one total, in parts that are read at a time.
fn fold_rows<S: Copy, F: Accumulator<S>>(
    (start, totals): (usize, &mut [F::Total]),
    x: &dyn Source<S>,
    len: usize,
) {
    let isa = Isa::current();
    let rows = (BATCH / len).max(1);
    for (index, totals) in totals.chunks_mut(rows).enumerate() {
        let begin = (start + index * rows) * len;
        x.read(
            Region::of_adjacent(begin, totals.len() * len),
            &mut |x, _| {
                isa.vectorize_narrow(
                    #[inline(always)]
                    || fold_short_rows::<S, F>(totals, x, len),
                );
            },
        );
    }
}

/// Folds a row as [`fold_short_rows`].
#[inline(always)]
pub fn fold_short_row<S: Copy, F: Accumulator<S>>(x: &[S]) -> F::Total {
    match x.len() <= NARROW_ROW {
        true => fold_chain::<S, F>(x),
        false => fold_parts::<S, F>(x, len_in_lanes(x.len())),
    }
}

/// Returns the number of elements of a row that are folded in lanes; the others are few.
#[inline(always)]
fn len_in_lanes(len: usize) -> usize {
    // If the compiler knows that lanes have all of these elements, it does not vectorize them.
    opaque(match len <= LANES {
        true => len / SHORT_LANES * SHORT_LANES,
        false => len,
    })
}

/// Folds a row whose first elements are in lanes. The others are combined afterwards: after scalar stores to some lanes, a
/// vector load of all would wait.
#[inline(always)]
fn fold_parts<S: Copy, F: Accumulator<S>>(x: &[S], in_lanes: usize) -> F::Total {
    let (x, rest) = x.split_at(in_lanes);
    let mut total = fold_row(x, &F::init, F::EMPTY, &F::combine);
    for x in rest {
        total = F::combine(total, F::init(*x));
    }
    total
}

/// Folds elements in sequence.
#[inline(always)]
fn fold_chain<S: Copy, F: Accumulator<S>>(x: &[S]) -> F::Total {
    let mut total = F::EMPTY;
    for x in x {
        total = F::combine(total, F::init(*x));
    }
    total
}

/// Folds rows of `len` elements, each to one total.
#[inline(always)]
fn fold_short_rows<S: Copy, F: Accumulator<S>>(totals: &mut [F::Total], x: &[S], len: usize) {
    // `for_each` may not be inlined, and would be compiled for the baseline.
    if len <= NARROW_ROW {
        for (total, x) in totals.iter_mut().zip(x.chunks_exact(len)) {
            *total = fold_chain::<S, F>(x);
        }
        return;
    }
    if len > LANES || len.is_multiple_of(SHORT_LANES) {
        for (total, x) in totals.iter_mut().zip(x.chunks_exact(len)) {
            *total = fold_row(x, &F::init, F::EMPTY, &F::combine);
        }
        return;
    }
    let in_lanes = len_in_lanes(len);
    for (total, x) in totals.iter_mut().zip(x.chunks_exact(len)) {
        *total = fold_parts::<S, F>(x, in_lanes);
    }
}
