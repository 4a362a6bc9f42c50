//! The reduction of one axis: chunks of rows on all cores, then the chunks' totals.

use super::Accumulator;
use super::rows::{COLUMNS, LEAF, fold_into, fold_row, scratch_len};
use crate::compute::inline::InlineList;
use crate::compute::parallel::for_each_chunk;
use crate::compute::simd::Isa;

/// The number of elements in one chunk of a fold.
const CHUNK: usize = 32 * 1024;

/// The largest number of elements of a row that is folded as a whole, in chains of at most 32 additions of four elements.
const SHORT_ROW: usize = 4096;

/// The largest number of elements of a row that is folded in one chain; the chains of several rows run side by side.
const NARROW_ROW: usize = 16;

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

    /// Folds the rows of the totals from `start` on, up to [`COLUMNS`] beside each other at a time.
    #[inline(always)]
    fn fold<S: Copy, F: Accumulator<S>>(
        &self,
        (start, totals): (usize, &mut [F::Total]),
        x: &[S],
        scratch: &mut [F::Total],
    ) {
        let inner = self.block.inner;
        let mut done = 0;
        while done < totals.len() {
            let it = self.rows_of(start + done);
            let width = (inner - it.column).min(totals.len() - done).min(COLUMNS);
            let x = &x[it.begin..it.begin + (it.rows - 1) * inner + width];
            let totals = &mut totals[done..done + width];
            fold_into::<S, F>(totals, x, inner, scratch);
            done += width;
        }
    }
}

/// Reduces the middle dim: folds chunks of about [`CHUNK`] elements on all cores, then their totals.
pub fn reduce_axis<S: Copy + Sync, F: Accumulator<S>>(
    block: Block,
    x: &[S],
) -> InlineList<F::Total> {
    let Block { outer, len, inner } = block;
    let chunks = Chunks::new(block);
    let mut totals = InlineList::repeat(F::EMPTY, outer * chunks.count * inner);
    let (grain, isa) = ((2 * CHUNK / chunks.rows).max(1), Isa::current());
    for_each_chunk(&mut totals, grain, |start, totals| {
        if inner == 1 && len <= SHORT_ROW {
            return isa.vectorize_narrow(
                #[inline(always)]
                || fold_short_rows::<S, F>(totals, &x[start * len..], len),
            );
        }
        let needed = scratch_len(inner, chunks.rows);
        let (mut small, mut large) = ([F::EMPTY; SMALL_SCRATCH], Vec::new());
        let scratch = match small.get_mut(..needed) {
            Some(small) => small,
            None => {
                large.resize(needed, F::EMPTY);
                &mut large[..]
            }
        };
        isa.vectorize_narrow(
            #[inline(always)]
            || chunks.fold::<S, F>((start, totals), x, scratch),
        );
    });
    if chunks.count == 1 {
        return totals;
    }
    let len = chunks.count;
    let block = Block { outer, len, inner };
    reduce_axis::<F::Total, F::OfTotals>(block, &totals)
}

/// Folds rows of `len` elements, each to one total.
#[inline(always)]
fn fold_short_rows<S: Copy, F: Accumulator<S>>(totals: &mut [F::Total], x: &[S], len: usize) {
    // `for_each` may not be inlined, and would be compiled for the baseline.
    if len <= NARROW_ROW {
        for (total, x) in totals.iter_mut().zip(x.chunks_exact(len)) {
            *total = F::init(x[0]);
            for x in &x[1..] {
                *total = F::combine(*total, F::init(*x));
            }
        }
        return;
    }
    for (total, x) in totals.iter_mut().zip(x.chunks_exact(len)) {
        *total = fold_row(x, &F::init, F::EMPTY, &F::combine);
    }
}
