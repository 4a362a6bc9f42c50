//! Reductions over any axes: a [`Reduction`] is the plan for dims and axes, and [`reduce`] runs a [`Fold`] by it.
//!
//! Axes are reduced one after the other, innermost first. Each is folded in blocks whose totals are combined pairwise,
//! so the rounding error of a sum grows with the logarithm of its length. Blocks depend on the shape only, never on the
//! number of cores.

use super::arith::Number;
use super::error::{Error, Result};
use super::inline::InlineList;
use super::map::map1;
use super::parallel::for_each_chunk;
use super::shape::len;
use super::simd::Isa;

/// The computation along the reduced axes.
pub trait Fold<T> {
    /// The intermediate result.
    type Total: Copy + Send + Sync;
    /// The intermediate result of no elements.
    const EMPTY: Self::Total;
    /// Returns the intermediate result of one element.
    fn init(x: T) -> Self::Total;
    /// Combines two intermediate results.
    fn combine(x: Self::Total, y: Self::Total) -> Self::Total;
    /// Returns the result of `count` elements.
    fn finish(total: Self::Total, count: usize) -> T;
}

/// The sum. Integers wrap.
pub struct Sum;

/// The arithmetic mean. Without elements it is NaN, or 0 for integers. Means of integers round toward zero; those of
/// integers below 64 bits do not overflow.
pub struct Mean;

macro_rules! sums {
    ($($t:ty, $total:ty, $init:expr, $sum:expr, $mean:expr;)*) => {$(
        impl Fold<$t> for Sum {
            type Total = $total;
            const EMPTY: $total = <$total as Number>::ZERO;
            #[inline(always)]
            fn init(x: $t) -> $total { $init(x) }
            #[inline(always)]
            fn combine(x: $total, y: $total) -> $total { x.plus(y) }
            #[inline(always)]
            fn finish(total: $total, _count: usize) -> $t { $sum(total) }
        }

        impl Fold<$t> for Mean {
            type Total = $total;
            const EMPTY: $total = <$total as Number>::ZERO;
            #[inline(always)]
            fn init(x: $t) -> $total { $init(x) }
            #[inline(always)]
            fn combine(x: $total, y: $total) -> $total { x.plus(y) }
            #[inline(always)]
            fn finish(total: $total, count: usize) -> $t { $mean(total, count) }
        }
    )*};
}

sums! {
    f32, f32, |x| x, |t| t, |t, n| t / n as f32;
    f64, f64, |x| x, |t| t, |t, n| t / n as f64;
    i32, i64, i64::from, |t| t as i32, |t, n| (t / (n as i64).max(1)) as i32;
    i64, i64, |x| x, |t| t, |t, n| t / (n as i64).max(1);
}

/// The axes of a tensor that are reduced.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reduction {
    dims: InlineList<usize>,
    reduced: InlineList<bool>,
}

impl Reduction {
    /// Creates the plan for a tensor with these dims; a negative axis counts from the last.
    ///
    /// # Errors
    /// Returns [`Error::AxisOutOfRange`], or [`Error::AxisRepeated`] if two axes are the same, such as `0` and `-rank`.
    pub fn new(dims: &[usize], axes: &[i64]) -> Result<Self> {
        let rank = dims.len();
        let mut reduced = InlineList::repeat(false, rank);
        for &axis in axes {
            let index = if axis < 0 { axis + rank as i64 } else { axis };
            let index = usize::try_from(index)
                .ok()
                .filter(|i| *i < rank)
                .ok_or(Error::AxisOutOfRange { axis, rank })?;
            if std::mem::replace(&mut reduced[index], true) {
                return Err(Error::AxisRepeated(index));
            }
        }
        let dims = dims.iter().copied().collect();
        Ok(Self { dims, reduced })
    }

    /// Creates the plan for all elements of a vector.
    pub fn vector(len: usize) -> Self {
        let (mut dims, mut reduced) = (InlineList::new(0), InlineList::new(false));
        dims.push(len);
        reduced.push(true);
        Self { dims, reduced }
    }

    /// Returns the dims of the result: without the reduced ones, or with 1 in their place.
    pub fn dims(&self, keep: bool) -> InlineList<usize> {
        let pairs = self.dims.iter().zip(self.reduced.iter());
        pairs
            .filter_map(|(dim, reduced)| {
                if *reduced {
                    keep.then_some(1)
                } else {
                    Some(*dim)
                }
            })
            .collect()
    }

    /// Returns the number of elements of the result.
    pub fn len(&self) -> usize {
        len(&self.dims(false))
    }

    /// Returns true if the result has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of elements that are reduced to one.
    pub fn count(&self) -> usize {
        self.dims
            .iter()
            .zip(self.reduced.iter())
            .filter(|(_, reduced)| **reduced)
            .fold(1, |count: usize, (dim, _)| count.saturating_mul(*dim))
    }

    /// Returns the dims without those of 1; adjacent dims that are all reduced, or all kept, are merged.
    fn groups(&self) -> InlineList<(usize, bool)> {
        let mut groups: InlineList<(usize, bool)> = InlineList::new((1, false));
        for (&dim, &reduced) in self
            .dims
            .iter()
            .zip(self.reduced.iter())
            .filter(|(dim, _)| **dim != 1)
        {
            match groups.last_mut() {
                Some(last) if last.1 == reduced => last.0 = last.0.saturating_mul(dim),
                _ => groups.push((dim, reduced)),
            }
        }
        groups
    }
}

/// Reduces `x` by `F` along the plan's axes; `out` has `plan.len()` elements.
///
/// # Panics
/// Panics if `x` or `out` has another length than the plan.
pub fn reduce<T, F>(plan: &Reduction, x: &[T], out: &mut [T])
where
    T: Copy + Send + Sync,
    F: Fold<T>,
{
    assert_eq!(
        x.len(),
        len(&plan.dims),
        "operand differs in length from the plan"
    );
    let count = plan.count();
    if count == x.len() && out.len() == 1 && (2..=LANES).contains(&count) {
        // All elements are one short row, as they are in the blocks below.
        let total = fold_lanes::<4, _, _>(x, &F::init, F::EMPTY, &F::combine);
        out[0] = F::finish(total, count);
        return;
    }
    assert_eq!(
        out.len(),
        plan.len(),
        "the result differs in length from the plan"
    );
    if out.is_empty() {
        // The dims beside a 0 may be of any size.
        return;
    }
    if count == 0 {
        return out.fill(F::finish(F::EMPTY, 0));
    }
    let mut groups = plan.groups();
    let mut totals: Option<InlineList<F::Total>> = None;
    while let Some(axis) = groups.iter().rposition(|(_, reduced)| *reduced) {
        let product = |groups: &[(usize, bool)]| groups.iter().map(|(dim, _)| dim).product();
        let block = Block {
            outer: product(&groups[..axis]),
            len: groups[axis].0,
            inner: product(&groups[axis + 1..]),
        };
        groups[axis..].rotate_left(1);
        groups.pop();
        totals = Some(match totals {
            None => reduce_axis(block, x, F::init, F::EMPTY, F::combine),
            Some(totals) => reduce_axis(block, &totals, identity, F::EMPTY, F::combine),
        });
    }
    match totals {
        None => map1(
            x,
            out,
            #[inline(always)]
            |x| F::finish(F::init(x), 1),
        ),
        Some(totals) => map1(
            &totals,
            out,
            #[inline(always)]
            |t| F::finish(t, count),
        ),
    }
}

/// A tensor of three dims of which the middle one is reduced.
#[derive(Clone, Copy)]
struct Block {
    outer: usize,
    len: usize,
    inner: usize,
}

/// The number of elements in one chunk of a fold.
const CHUNK: usize = 32 * 1024;
/// The number of totals that are kept side by side for short rows: four registers of AVX-512.
const LANES: usize = 64;
/// The largest number of elements of a row that is folded as a whole.
const SHORT_ROW: usize = 512;
/// The number of totals of a long row.
const ROW_LANES: usize = 32;
/// The number of rows that are folded in sequence; more rows are combined pairwise.
const LEAF: usize = 16;
/// The number of columns that are folded together; their totals fit in the first cache.
const COLUMNS: usize = 1024;

/// The scratch length that is not allocated.
const SMALL_SCRATCH: usize = 512;

/// Reduces the middle dim: folds chunks of about [`CHUNK`] elements on all cores, then their totals.
fn reduce_axis<S, A>(
    block: Block,
    x: &[S],
    init: impl Fn(S) -> A + Sync,
    empty: A,
    combine: impl Fn(A, A) -> A + Sync,
) -> InlineList<A>
where
    S: Copy + Sync,
    A: Copy + Send + Sync,
{
    let Block { outer, len, inner } = block;
    let rows_per_chunk = (CHUNK / inner.max(1)).max(LEAF * 4).min(len);
    let chunks = len.div_ceil(rows_per_chunk);
    let isa = Isa::current();
    let mut totals = InlineList::repeat(empty, outer * chunks * inner);
    for_each_chunk(
        &mut totals,
        (2 * CHUNK / rows_per_chunk).max(1),
        |start, totals| {
            if inner == 1 && len <= SHORT_ROW {
                return isa.vectorize(
                    #[inline(always)]
                    || {
                        let rows = x[start * len..].chunks_exact(len);
                        totals.iter_mut().zip(rows).for_each(
                            #[inline(always)]
                            |(total, x)| *total = fold_row(x, &init, empty, &combine),
                        );
                    },
                );
            }
            let needed = scratch_len(inner, rows_per_chunk);
            let (mut small, mut large) = ([empty; SMALL_SCRATCH], Vec::new());
            let scratch = match small.get_mut(..needed) {
                Some(small) => small,
                None => {
                    large.resize(needed, empty);
                    &mut large[..]
                }
            };
            isa.vectorize(
                #[inline(always)]
                || {
                    let mut done = 0;
                    while done < totals.len() {
                        let (row, column) = ((start + done) / inner, (start + done) % inner);
                        let (first, chunk_start) =
                            (row / chunks * len, row % chunks * rows_per_chunk);
                        let (begin, rows) = (
                            (first + chunk_start) * inner + column,
                            rows_per_chunk.min(len - chunk_start),
                        );
                        let width = (inner - column).min(totals.len() - done).min(COLUMNS);
                        let x = &x[begin..begin + (rows - 1) * inner + width];
                        fold_into(
                            &mut totals[done..done + width],
                            x,
                            inner,
                            scratch,
                            &init,
                            empty,
                            &combine,
                        );
                        done += width;
                    }
                },
            );
        },
    );
    if chunks == 1 {
        return totals;
    }
    reduce_axis(
        Block {
            outer,
            len: chunks,
            inner,
        },
        &totals,
        identity,
        empty,
        combine,
    )
}

#[inline(always)]
fn identity<A>(total: A) -> A {
    total
}

/// Returns the scratch length for pending totals of leaves and one row of totals side by side.
fn scratch_len(inner: usize, rows: usize) -> usize {
    let levels = (rows / LEAF + 1).ilog2() as usize + 2;
    inner.clamp(LANES, COLUMNS) * (levels + 1)
}

/// Folds rows that are `stride` apart into `out`, which is one row. Adjacent short rows are folded several at a time,
/// as one long row, to fill the machine's vectors.
#[inline(always)]
fn fold_into<S: Copy, A: Copy>(
    out: &mut [A],
    x: &[S],
    stride: usize,
    scratch: &mut [A],
    init: &impl Fn(S) -> A,
    empty: A,
    combine: &impl Fn(A, A) -> A,
) {
    let width = out.len();
    let rows = (x.len() - width) / stride + 1;
    let rows_per_wide_row = if width == stride {
        (LANES / width).min(rows / 4).max(1)
    } else {
        1
    };
    let rows_per_wide_row = 1 << rows_per_wide_row.ilog2();
    if rows_per_wide_row == 1 {
        return fold_rows(out, x, stride, scratch, init, empty, combine);
    }
    let (wide, scratch) = scratch.split_at_mut(width * rows_per_wide_row);
    let (whole, rest) = x.split_at(x.len() / wide.len() * wide.len());
    fold_rows(wide, whole, wide.len(), scratch, init, empty, combine);
    wide.iter_mut().zip(rest).for_each(
        #[inline(always)]
        |(total, x)| *total = combine(*total, init(*x)),
    );
    let mut left = rows_per_wide_row;
    while left > 1 {
        left /= 2;
        let (low, high) = wide.split_at_mut(left * width);
        low.iter_mut().zip(high).for_each(
            #[inline(always)]
            |(total, x)| *total = combine(*total, *x),
        );
    }
    out.copy_from_slice(&wide[..width]);
}

/// Folds elements in parallel chains: four for a short row, more for a long one, to fill the machine's vectors.
#[inline(always)]
pub(super) fn fold_row<S: Copy, A: Copy>(
    x: &[S],
    init: &impl Fn(S) -> A,
    empty: A,
    combine: &impl Fn(A, A) -> A,
) -> A {
    if x.len() <= LANES {
        fold_lanes::<4, S, A>(x, init, empty, combine)
    } else {
        fold_lanes::<ROW_LANES, S, A>(x, init, empty, combine)
    }
}

#[inline(always)]
fn fold_lanes<const N: usize, S: Copy, A: Copy>(
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
fn fold_rows<S: Copy, A: Copy>(
    out: &mut [A],
    x: &[S],
    stride: usize,
    scratch: &mut [A],
    init: &impl Fn(S) -> A,
    empty: A,
    combine: &impl Fn(A, A) -> A,
) {
    let width = out.len();
    let rows = (x.len() - width) / stride + 1;
    if rows <= LEAF {
        return fold_leaf(out, x, stride, rows, init, empty, combine);
    }
    let mut pending = 0;
    for (index, first) in (0..rows).step_by(LEAF).enumerate() {
        let total = &mut scratch[pending * width..(pending + 1) * width];
        fold_leaf(
            total,
            &x[first * stride..],
            stride,
            LEAF.min(rows - first),
            init,
            empty,
            combine,
        );
        pending += 1;
        for _ in 0..index.trailing_ones() {
            pending -= 1;
            combine_last_rows(scratch, pending, width, combine);
        }
    }
    while pending > 1 {
        pending -= 1;
        combine_last_rows(scratch, pending, width, combine);
    }
    out.copy_from_slice(&scratch[..width]);
}

/// Combines the row of totals at `from` with the row before it.
#[inline(always)]
fn combine_last_rows<A: Copy>(
    totals: &mut [A],
    from: usize,
    width: usize,
    combine: &impl Fn(A, A) -> A,
) {
    let (low, high) = totals.split_at_mut(from * width);
    let low = &mut low[(from - 1) * width..];
    low.iter_mut().zip(&high[..width]).for_each(
        #[inline(always)]
        |(total, x)| *total = combine(*total, *x),
    );
}

/// Folds a few rows into `out`, four at a time.
#[inline(always)]
fn fold_leaf<S: Copy, A: Copy>(
    out: &mut [A],
    x: &[S],
    stride: usize,
    rows: usize,
    init: &impl Fn(S) -> A,
    empty: A,
    combine: &impl Fn(A, A) -> A,
) {
    let width = out.len();
    let row = |index: usize| &x[index * stride..][..width];
    out.fill(empty);
    let mut next = 0;
    while next + 4 <= rows {
        let (a, b, c, d) = (row(next), row(next + 1), row(next + 2), row(next + 3));
        for j in 0..width {
            let four = combine(
                combine(init(a[j]), init(b[j])),
                combine(init(c[j]), init(d[j])),
            );
            out[j] = combine(out[j], four);
        }
        next += 4;
    }
    while next < rows {
        out.iter_mut().zip(row(next)).for_each(
            #[inline(always)]
            |(total, x)| *total = combine(*total, init(*x)),
        );
        next += 1;
    }
}
