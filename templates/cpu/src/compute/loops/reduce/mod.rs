//! Reductions over any axes: a [`Reduction`] is the plan for dims and axes, and [`reduce`] runs a [`Fold`] by it.
//!
//! Axes are reduced one after the other, innermost first. Each is folded in blocks whose totals are combined pairwise,
//! so the rounding error of a sum grows with the logarithm of its length. Contiguous rows of up to 4096 elements are folded
//! in 1, 4 or 32 chains. Blocks depend on the shape only, never on the number of cores.
//!
//! Sum and Mean have one fold. Code that differs for each op is compiled apart from the loops over elements
//! (`Accumulator`), so that a release build compiles these loops once.

mod axis;
mod plan;
mod rows;
mod source;

use self::axis::{Block, fold_short_row, reduce_axis};
pub use self::plan::Reduction;
use self::rows::LANES;
pub(in crate::compute) use self::rows::fold_row;
use self::source::Region;
pub use self::source::{Converted, Source};
use crate::compute::loops::map::map1;
use crate::compute::machine::inline::InlineList;
use crate::compute::machine::shape::len;
use crate::compute::scalar::arith::Number;

/// The combination of elements to a total. The loops are compiled once for each implementation.
pub trait Accumulator<T> {
    /// The total of some elements.
    type Total: Copy + Send + Sync;
    /// The total of no elements.
    const EMPTY: Self::Total;
    /// The combination of totals. Its [`init`](Accumulator::init) returns its argument.
    type OfTotals: Accumulator<Self::Total, Total = Self::Total, OfTotals = Self::OfTotals>;
    /// Returns the total of one element.
    fn init(x: T) -> Self::Total;
    /// Combines two totals.
    fn combine(x: Self::Total, y: Self::Total) -> Self::Total;
}

/// The computation along the reduced axes.
pub trait Fold<T> {
    /// The totals of which a result is computed.
    type Accumulator: Accumulator<T>;
    /// Returns the result of `count` elements.
    fn finish(total: <Self::Accumulator as Accumulator<T>>::Total, count: usize) -> T;
}

/// The sum. Integers wrap.
pub struct Sum;

/// The arithmetic mean. Without elements it is NaN, or 0 for integers. Means of integers round toward zero; those of
/// integers below 64 bits do not overflow.
pub struct Mean;

macro_rules! sums {
    ($($t:ty, $total:ty, $init:expr, $sum:expr, $mean:expr;)*) => {$(
        impl Accumulator<$t> for Sum {
            type Total = $total;
            type OfTotals = Self;
            const EMPTY: $total = <$total as Number>::ZERO;
            #[inline(always)]
            fn init(x: $t) -> $total { $init(x) }
            #[inline(always)]
            fn combine(x: $total, y: $total) -> $total { x.plus(y) }
        }

        impl Fold<$t> for Sum {
            type Accumulator = Self;
            #[inline(always)]
            fn finish(total: $total, _count: usize) -> $t { $sum(total) }
        }

        impl Fold<$t> for Mean {
            type Accumulator = Sum;
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

/// Reduces `x` by `F` along the plan's axes; `out` has `plan.len()` elements.
///
/// # Panics
/// Panics if `x` or `out` has another length than the plan.
pub fn reduce<T, F>(plan: &Reduction, x: &[T], out: &mut [T])
where
    T: Copy + Send + Sync,
    F: Fold<T>,
{
    reduce_source::<T, F>(plan, &x, out);
}

/// Reduces an operand whose elements are converted in parts, as [`reduce`].
///
/// # Panics
/// Panics if `x` or `out` has another length than the plan.
pub fn reduce_source<T, F>(plan: &Reduction, x: &dyn Source<T>, out: &mut [T])
where
    T: Copy + Send + Sync,
    F: Fold<T>,
{
    assert_eq!(
        x.element_count(),
        len(&plan.dims),
        "operand differs in length from the plan"
    );
    let count = plan.count();
    let all = Region::of_adjacent(0, x.element_count());
    if count == x.element_count() && out.len() == 1 && (2..=LANES).contains(&count) {
        // All elements are one short row, as they are in the blocks below.
        return x.read(all, &mut |x, _| {
            out[0] = F::finish(fold_short_row::<T, F::Accumulator>(x), count);
        });
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
        return out.fill(F::finish(F::Accumulator::EMPTY, 0));
    }
    match fold_groups::<T, F::Accumulator>(plan.groups(), x) {
        None => x.read(all, &mut |x, _| {
            map1(
                x,
                out,
                #[inline(always)]
                |x| F::finish(F::Accumulator::init(x), 1),
            );
        }),
        Some(totals) => map1(
            &totals,
            out,
            #[inline(always)]
            |t| F::finish(t, count),
        ),
    }
}

/// Returns the totals of the elements of the result, or `None` if no dim is reduced.
fn fold_groups<T, F>(
    mut groups: InlineList<(usize, bool)>,
    x: &dyn Source<T>,
) -> Option<InlineList<F::Total>>
where
    T: Copy + Send + Sync,
    F: Accumulator<T>,
{
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
            None => reduce_axis::<T, F>(block, x),
            Some(totals) => reduce_axis::<F::Total, F::OfTotals>(block, &&totals[..]),
        });
    }
    totals
}
