//! Folds of rows, which are contiguous, and of columns, whose elements are a row apart.

use super::Accumulator;

/// The number of totals that are kept side by side for short rows: four registers of AVX-512.
pub const LANES: usize = 64;
/// The number of totals of a short row.
pub const SHORT_LANES: usize = 4;
/// The number of totals of a long row.
const ROW_LANES: usize = 32;
/// The number of rows that are folded in sequence; more rows are combined pairwise.
pub const LEAF: usize = 16;
/// The number of columns that are folded together; their totals fit in the first cache.
pub const COLUMNS: usize = 1024;

/// Returns the scratch length for pending totals of leaves and one row of totals side by side.
pub fn scratch_len(inner: usize, rows: usize) -> usize {
    let levels = (rows / LEAF + 1).ilog2() as usize + 2;
    inner.clamp(LANES, COLUMNS) * (levels + 1)
}

/// Folds rows that are `stride` apart into `out`, which is one row. Short rows that are whole, and so adjacent, are folded
/// several at a time, as one long row, to fill the machine's vectors.
#[inline(always)]
pub fn fold_into<S: Copy, F: Accumulator<S>>(
    out: &mut [F::Total],
    (x, stride): (&[S], usize),
    is_whole: bool,
    scratch: &mut [F::Total],
) {
    let width = out.len();
    let rows = (x.len() - width) / stride + 1;
    let rows_per_wide_row = if is_whole {
        (LANES / width).min(rows / 4).max(1)
    } else {
        1
    };
    let rows_per_wide_row = 1 << rows_per_wide_row.ilog2();
    let (wide, scratch) = scratch.split_at_mut(width * rows_per_wide_row);
    let (whole, rest) = match rows_per_wide_row {
        1 => (x, &[][..]),
        _ => x.split_at(x.len() / wide.len() * wide.len()),
    };
    // Called once: each call of an inlined function is compiled again.
    fold_rows::<S, F>(wide, whole, stride * rows_per_wide_row, scratch);
    wide.iter_mut().zip(rest).for_each(
        #[inline(always)]
        |(total, x)| *total = F::combine(*total, F::init(*x)),
    );
    let mut left = rows_per_wide_row;
    while left > 1 {
        left /= 2;
        combine_rows::<S, F>(&mut wide[..2 * left * width], left * width);
    }
    out.copy_from_slice(&wide[..width]);
}

/// Combines the elements of `totals` with those `distance` after them.
#[inline(always)]
fn combine_rows<S, F: Accumulator<S>>(totals: &mut [F::Total], distance: usize) {
    let (low, high) = totals.split_at_mut(distance);
    low.iter_mut().zip(high).for_each(
        #[inline(always)]
        |(total, x)| *total = F::combine(*total, *x),
    );
}

/// Folds elements in parallel chains: four for a short row, more for a long one, to fill the machine's vectors.
#[inline(always)]
pub fn fold_row<S: Copy, A: Copy>(
    x: &[S],
    init: &impl Fn(S) -> A,
    empty: A,
    combine: &impl Fn(A, A) -> A,
) -> A {
    if x.len() <= LANES {
        fold_lanes::<SHORT_LANES, S, A>(x, init, empty, combine)
    } else {
        fold_lanes::<ROW_LANES, S, A>(x, init, empty, combine)
    }
}

#[inline(always)]
pub fn fold_lanes<const N: usize, S: Copy, A: Copy>(
    x: &[S],
    init: &impl Fn(S) -> A,
    empty: A,
    combine: &impl Fn(A, A) -> A,
) -> A {
    let mut lanes = [empty; N];
    let (chunks, rest) = x.as_chunks::<N>();
    let (fours, chunks) = chunks.as_chunks::<4>();
    // The lanes are in memory, where each step waits for the one before it.
    for [a, b, c, d] in fours {
        for (i, lane) in lanes.iter_mut().enumerate() {
            let pairs = [
                combine(init(a[i]), init(b[i])),
                combine(init(c[i]), init(d[i])),
            ];
            *lane = combine(*lane, combine(pairs[0], pairs[1]));
        }
    }
    for chunk in chunks {
        lanes.iter_mut().zip(chunk).for_each(
            #[inline(always)]
            |(lane, x)| *lane = combine(*lane, init(*x)),
        );
    }
    lanes.iter_mut().zip(rest).for_each(
        #[inline(always)]
        |(lane, x)| *lane = combine(*lane, init(*x)),
    );
    let mut width = N;
    while width > 1 {
        width /= 2;
        (0..width).for_each(
            #[inline(always)]
            |i| lanes[i] = combine(lanes[i], lanes[i + width]),
        );
    }
    lanes[0]
}

/// Folds rows that are `stride` apart into `out`: each leaf in sequence, the totals of leaves pairwise, as carries
/// in a binary counter. `scratch` holds the pending totals.
#[inline(always)]
fn fold_rows<S: Copy, F: Accumulator<S>>(
    out: &mut [F::Total],
    x: &[S],
    stride: usize,
    scratch: &mut [F::Total],
) {
    let width = out.len();
    let rows = (x.len() - width) / stride + 1;
    let mut pending = 0;
    for (index, first) in (0..rows).step_by(LEAF).enumerate() {
        let total = &mut scratch[pending * width..(pending + 1) * width];
        let count = LEAF.min(rows - first);
        fold_leaf::<S, F>(total, &x[first * stride..], stride, count);
        pending += 1;
        // The last leaf is combined with all pending totals.
        let is_last = first + count == rows;
        let carries = match is_last {
            true => pending - 1,
            false => index.trailing_ones() as usize,
        };
        for _ in 0..carries {
            pending -= 1;
            combine_rows::<S, F>(
                &mut scratch[(pending - 1) * width..(pending + 1) * width],
                width,
            );
        }
    }
    out.copy_from_slice(&scratch[..width]);
}

/// Folds a few rows into `out`, four at a time.
#[inline(always)]
fn fold_leaf<S: Copy, F: Accumulator<S>>(
    out: &mut [F::Total],
    x: &[S],
    stride: usize,
    rows: usize,
) {
    let width = out.len();
    let row = |index: usize| &x[index * stride..][..width];
    out.fill(F::EMPTY);
    let mut next = 0;
    while next + 4 <= rows {
        let (a, b, c, d) = (row(next), row(next + 1), row(next + 2), row(next + 3));
        for j in 0..width {
            let four = F::combine(
                F::combine(F::init(a[j]), F::init(b[j])),
                F::combine(F::init(c[j]), F::init(d[j])),
            );
            out[j] = F::combine(out[j], four);
        }
        next += 4;
    }
    while next < rows {
        out.iter_mut().zip(row(next)).for_each(
            #[inline(always)]
            |(total, x)| *total = F::combine(*total, F::init(*x)),
        );
        next += 1;
    }
}
