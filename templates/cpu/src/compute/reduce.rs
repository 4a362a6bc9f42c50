//! Reductions over any axes: a [`Reduction`] is planned from dims and axes, [`reduce`] runs a [`Fold`] along it.
//!
//! Several axes are reduced one after the other, innermost first. Each is folded in blocks whose results are folded pairwise, so
//! a sum's rounding error grows with the logarithm of its length; the blocks depend on the shape alone, never on the number of cores.

use super::arith::Number;
use super::error::{Error, Result};
use super::half::{Bf16, F16};
use super::map::map1;
use super::parallel::pieces;
use super::shape::len;
use super::simd::Isa;

/// What is computed along the reduced axes.
pub trait Fold<T> {
    /// What is carried along.
    type Total: Copy + Send + Sync;
    /// The result of no elements.
    const EMPTY: Self::Total;
    /// One element.
    fn one(x: T) -> Self::Total;
    /// Two results.
    fn join(x: Self::Total, y: Self::Total) -> Self::Total;
    /// The result of `count` elements.
    fn finish(total: Self::Total, count: usize) -> T;
}

/// The sum. Integers wrap.
pub struct Sum;

/// The arithmetic mean: NaN of nothing; of integers rounded towards zero, and 0 of nothing. Integers below 64 bits do not overflow.
pub struct Mean;

macro_rules! sums {
    ($($t:ty, $total:ty, $one:expr, $sum:expr, $mean:expr;)*) => {$(
        impl Fold<$t> for Sum {
            type Total = $total;
            const EMPTY: $total = <$total as Number>::ZERO;
            #[inline(always)]
            fn one(x: $t) -> $total { $one(x) }
            #[inline(always)]
            fn join(x: $total, y: $total) -> $total { x.plus(y) }
            #[inline(always)]
            fn finish(total: $total, _count: usize) -> $t { $sum(total) }
        }

        impl Fold<$t> for Mean {
            type Total = $total;
            const EMPTY: $total = <$total as Number>::ZERO;
            #[inline(always)]
            fn one(x: $t) -> $total { $one(x) }
            #[inline(always)]
            fn join(x: $total, y: $total) -> $total { x.plus(y) }
            #[inline(always)]
            fn finish(total: $total, count: usize) -> $t { $mean(total, count) }
        }
    )*};
}

sums! {
    f32, f32, |x| x, |t| t, |t, n| t / n as f32;
    f64, f64, |x| x, |t| t, |t, n| t / n as f64;
    F16, f32, F16::to_f32, F16::from_f32, |t, n| F16::from_f32(t / n as f32);
    Bf16, f32, Bf16::to_f32, Bf16::from_f32, |t, n| Bf16::from_f32(t / n as f32);
    i32, i64, i64::from, |t| t as i32, |t, n| (t / (n as i64).max(1)) as i32;
    i64, i64, |x| x, |t| t, |t, n| t / (n as i64).max(1);
}

/// Which axes of a tensor are reduced.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reduction {
    dims: Vec<usize>,
    reduced: Vec<bool>,
}

impl Reduction {
    /// Plans for a tensor of these dims; a negative axis counts from the last.
    ///
    /// # Errors
    /// [`Error::AxisOutOfRange`], and [`Error::AxisRepeated`] also where one is given as `0` and `-rank`.
    pub fn new(dims: &[usize], axes: &[i64]) -> Result<Self> {
        let rank = dims.len();
        let mut reduced = vec![false; rank];
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
        Ok(Self {
            dims: dims.to_vec(),
            reduced,
        })
    }

    /// The dims of the result: without the reduced ones, or with 1 in their place.
    pub fn dims(&self, keep: bool) -> Vec<usize> {
        let pairs = self.dims.iter().zip(&self.reduced);
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

    /// How many elements the result has.
    pub fn len(&self) -> usize {
        len(&self.dims(false))
    }

    /// Whether the result has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many elements go into one of the result.
    pub fn count(&self) -> usize {
        self.dims
            .iter()
            .zip(&self.reduced)
            .filter(|(_, reduced)| **reduced)
            .map(|(dim, _)| dim)
            .product()
    }

    /// The dims with neighbours of one kind joined and those of 1 dropped.
    fn groups(&self) -> Vec<(usize, bool)> {
        let mut groups: Vec<(usize, bool)> = Vec::new();
        for (&dim, &reduced) in self
            .dims
            .iter()
            .zip(&self.reduced)
            .filter(|(dim, _)| **dim != 1)
        {
            match groups.last_mut() {
                Some(last) if last.1 == reduced => last.0 *= dim,
                _ => groups.push((dim, reduced)),
            }
        }
        groups
    }
}

/// `out = F` of `x` along the plan's axes; `out` has `plan.len()` elements.
///
/// # Panics
/// If `x` or `out` is not as long as planned.
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
    assert_eq!(
        out.len(),
        plan.len(),
        "the result differs in length from the plan"
    );
    let count = plan.count();
    if count == 0 {
        return out.fill(F::finish(F::EMPTY, 0));
    }
    let mut groups = plan.groups();
    let mut totals: Option<Vec<F::Total>> = None;
    while let Some(axis) = groups.iter().rposition(|(_, reduced)| *reduced) {
        let side = |groups: &[(usize, bool)]| groups.iter().map(|(dim, _)| dim).product();
        let block = Block {
            outer: side(&groups[..axis]),
            len: groups[axis].0,
            inner: side(&groups[axis + 1..]),
        };
        groups.remove(axis);
        totals = Some(match totals {
            None => pass(block, x, F::one, F::EMPTY, F::join),
            Some(totals) => pass(block, &totals, same, F::EMPTY, F::join),
        });
    }
    match totals {
        None => map1(
            x,
            out,
            #[inline(always)]
            |x| F::finish(F::one(x), 1),
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

/// Elements that are folded as one piece of work.
const PIECE: usize = 32 * 1024;
/// Totals that are kept side by side where rows are short: four registers of AVX-512's.
const LANES: usize = 64;
/// Rows that are folded one after the other; above that, pairwise.
const LEAF: usize = 16;
/// Columns that are folded together, so that their totals stay in the first cache.
const COLUMNS: usize = 1024;

/// Reduces the middle dim: cuts it into pieces of about [`PIECE`] elements, folds those on all cores, then what they gave.
fn pass<S, A>(
    block: Block,
    x: &[S],
    one: impl Fn(S) -> A + Sync,
    empty: A,
    join: impl Fn(A, A) -> A + Sync,
) -> Vec<A>
where
    S: Copy + Sync,
    A: Copy + Send + Sync,
{
    let Block { outer, len, inner } = block;
    let each = (PIECE / inner.max(1)).max(LEAF * 4).min(len);
    let cuts = len.div_ceil(each);
    let isa = Isa::current();
    let mut totals = vec![empty; outer * cuts * inner];
    pieces(&mut totals, (2 * PIECE / each).max(1), |start, totals| {
        if inner == 1 && len <= LANES {
            return isa.vectorize(
                #[inline(always)]
                || {
                    let rows = x[start * len..].chunks_exact(len);
                    totals.iter_mut().zip(rows).for_each(
                        #[inline(always)]
                        |(total, x)| *total = fold_row(x, &one, empty, &join),
                    );
                },
            );
        }
        let mut scratch = vec![empty; scratch_len(inner, each)];
        isa.vectorize(
            #[inline(always)]
            || {
                let mut done = 0;
                while done < totals.len() {
                    let (row, column) = ((start + done) / inner, (start + done) % inner);
                    let (first, cut) = (row / cuts * len, row % cuts * each);
                    let (begin, rows) = ((first + cut) * inner + column, each.min(len - cut));
                    let width = (inner - column).min(totals.len() - done).min(COLUMNS);
                    let x = &x[begin..begin + (rows - 1) * inner + width];
                    fold_into(
                        &mut totals[done..done + width],
                        x,
                        inner,
                        &mut scratch,
                        &one,
                        empty,
                        &join,
                    );
                    done += width;
                }
            },
        );
    });
    if cuts == 1 {
        return totals;
    }
    pass(
        Block {
            outer,
            len: cuts,
            inner,
        },
        &totals,
        same,
        empty,
        join,
    )
}

#[inline(always)]
fn same<A>(total: A) -> A {
    total
}

/// Room for the totals of leaves that wait for their pair, and for one row of totals side by side.
fn scratch_len(inner: usize, rows: usize) -> usize {
    let levels = (rows / LEAF + 1).ilog2() as usize + 2;
    inner.clamp(LANES, COLUMNS) * (levels + 1)
}

/// Folds rows that are `stride` apart into `out`, which is one row. Short rows that follow each other directly are folded several at
/// a time, as one long row, to fill the machine's vectors.
#[inline(always)]
fn fold_into<S: Copy, A: Copy>(
    out: &mut [A],
    x: &[S],
    stride: usize,
    scratch: &mut [A],
    one: &impl Fn(S) -> A,
    empty: A,
    join: &impl Fn(A, A) -> A,
) {
    let width = out.len();
    let rows = (x.len() - width) / stride + 1;
    let abreast = if width == stride {
        (LANES / width).min(rows / 4).max(1)
    } else {
        1
    };
    let abreast = 1 << abreast.ilog2();
    if abreast == 1 {
        return fold_rows(out, x, stride, scratch, one, empty, join);
    }
    let (wide, scratch) = scratch.split_at_mut(width * abreast);
    let (whole, rest) = x.split_at(x.len() / wide.len() * wide.len());
    fold_rows(wide, whole, wide.len(), scratch, one, empty, join);
    wide.iter_mut().zip(rest).for_each(
        #[inline(always)]
        |(total, x)| *total = join(*total, one(*x)),
    );
    let mut left = abreast;
    while left > 1 {
        left /= 2;
        let (low, high) = wide.split_at_mut(left * width);
        low.iter_mut().zip(high).for_each(
            #[inline(always)]
            |(total, x)| *total = join(*total, *x),
        );
    }
    out.copy_from_slice(&wide[..width]);
}

/// Folds elements side by side: few of them in four chains, more in as many as fill the machine's vectors.
#[inline(always)]
pub(super) fn fold_row<S: Copy, A: Copy>(
    x: &[S],
    one: &impl Fn(S) -> A,
    empty: A,
    join: &impl Fn(A, A) -> A,
) -> A {
    if x.len() <= LANES {
        fold_lanes::<4, S, A>(x, one, empty, join)
    } else {
        fold_lanes::<LANES, S, A>(x, one, empty, join)
    }
}

#[inline(always)]
fn fold_lanes<const N: usize, S: Copy, A: Copy>(
    x: &[S],
    one: &impl Fn(S) -> A,
    empty: A,
    join: &impl Fn(A, A) -> A,
) -> A {
    let mut lanes = [empty; N];
    let (chunks, rest) = x.as_chunks::<N>();
    for chunk in chunks {
        lanes.iter_mut().zip(chunk).for_each(
            #[inline(always)]
            |(lane, x)| *lane = join(*lane, one(*x)),
        );
    }
    lanes.iter_mut().zip(rest).for_each(
        #[inline(always)]
        |(lane, x)| *lane = join(*lane, one(*x)),
    );
    let mut width = N;
    while width > 1 {
        width /= 2;
        (0..width).for_each(
            #[inline(always)]
            |i| lanes[i] = join(lanes[i], lanes[i + width]),
        );
    }
    lanes[0]
}

/// Folds rows that are `stride` apart into `out`: leaves one after the other, their totals pairwise, like a carry that runs
/// through a binary counter. `scratch` holds the totals that wait.
#[inline(always)]
fn fold_rows<S: Copy, A: Copy>(
    out: &mut [A],
    x: &[S],
    stride: usize,
    scratch: &mut [A],
    one: &impl Fn(S) -> A,
    empty: A,
    join: &impl Fn(A, A) -> A,
) {
    let width = out.len();
    let rows = (x.len() - width) / stride + 1;
    if rows <= LEAF {
        return leaf(out, x, stride, rows, one, empty, join);
    }
    let mut waiting = 0;
    for (index, first) in (0..rows).step_by(LEAF).enumerate() {
        let total = &mut scratch[waiting * width..(waiting + 1) * width];
        leaf(
            total,
            &x[first * stride..],
            stride,
            LEAF.min(rows - first),
            one,
            empty,
            join,
        );
        waiting += 1;
        for _ in 0..index.trailing_ones() {
            waiting -= 1;
            carry(scratch, waiting, width, join);
        }
    }
    while waiting > 1 {
        waiting -= 1;
        carry(scratch, waiting, width, join);
    }
    out.copy_from_slice(&scratch[..width]);
}

/// Joins the row of totals at `from` into the one before it.
#[inline(always)]
fn carry<A: Copy>(totals: &mut [A], from: usize, width: usize, join: &impl Fn(A, A) -> A) {
    let (low, high) = totals.split_at_mut(from * width);
    let low = &mut low[(from - 1) * width..];
    low.iter_mut().zip(&high[..width]).for_each(
        #[inline(always)]
        |(total, x)| *total = join(*total, *x),
    );
}

/// Folds a few rows into `out`, four at a time.
#[inline(always)]
fn leaf<S: Copy, A: Copy>(
    out: &mut [A],
    x: &[S],
    stride: usize,
    rows: usize,
    one: &impl Fn(S) -> A,
    empty: A,
    join: &impl Fn(A, A) -> A,
) {
    let width = out.len();
    let row = |index: usize| &x[index * stride..][..width];
    out.fill(empty);
    let mut next = 0;
    while next + 4 <= rows {
        let (a, b, c, d) = (row(next), row(next + 1), row(next + 2), row(next + 3));
        for j in 0..width {
            let four = join(join(one(a[j]), one(b[j])), join(one(c[j]), one(d[j])));
            out[j] = join(out[j], four);
        }
        next += 4;
    }
    while next < rows {
        out.iter_mut().zip(row(next)).for_each(
            #[inline(always)]
            |(total, x)| *total = join(*total, one(*x)),
        );
        next += 1;
    }
}
