//! The extremes, the product, the truth and the loss along the axes of a [`reduce`](crate::compute::loops::reduce::reduce).

use crate::compute::loops::reduce::{Accumulator, Fold, Sum};
use crate::compute::scalar::arith::{Float, Number};
use sp_plugin::Bool;

/// The largest element; NaN if one is NaN. Without elements it is the lowest value, negative infinity for floats.
pub struct Max;

/// The smallest element; NaN if one is NaN. Without elements it is the highest value, infinity for floats.
pub struct Min;

/// The product. Integers wrap.
pub struct Prod;

/// True if all elements are true.
pub struct All;

/// True if an element is true.
pub struct Any;

/// The square root of the sum of the squares.
pub struct EuclideanNorm;

/// Half the sum of the squares.
pub struct L2Loss;

macro_rules! losses {
    ($($t:ty)*) => {$(
        impl Accumulator<$t> for L2Loss {
            type Total = $t;
            type OfTotals = Sum;
            const EMPTY: $t = 0.0;
            #[inline(always)]
            fn init(x: $t) -> $t { x * x }
            #[inline(always)]
            fn combine(x: $t, y: $t) -> $t { x + y }
        }

        impl Fold<$t> for L2Loss {
            type Accumulator = Self;
            #[inline(always)]
            fn finish(total: $t, _count: usize) -> $t { 0.5 * total }
        }
    )*};
}

losses!(f32 f64);

impl<T> Fold<T> for EuclideanNorm
where
    T: Float,
    L2Loss: Accumulator<T, Total = T>,
{
    type Accumulator = L2Loss;
    #[inline(always)]
    fn finish(total: T, _count: usize) -> T {
        total.root()
    }
}

macro_rules! folds {
    ($($fold:ident of $t:ty, $empty:expr, |$x:ident, $y:ident| $combine:expr;)*) => {$(
        impl Accumulator<$t> for $fold {
            type Total = $t;
            type OfTotals = Self;
            const EMPTY: $t = $empty;
            #[inline(always)]
            fn init(x: $t) -> $t { x }
            #[inline(always)]
            fn combine($x: $t, $y: $t) -> $t { $combine }
        }

        impl Fold<$t> for $fold {
            type Accumulator = Self;
            #[inline(always)]
            fn finish(total: $t, _count: usize) -> $t { total }
        }
    )*};
}

/// The function that returns the extreme of two numbers, or NaN if the second one is NaN. If the first one is NaN, it is the
/// extreme. The bits of NaN are a mask that depends on the second number only. With a selection instead, each step of a
/// chain takes two comparisons in place of one instruction.
macro_rules! or_nan {
    ($float:ident, $bits:ident) => {
        |extreme: $float, y: $float| {
            let mask = if y.is_nan() { $bits::MAX } else { 0 };
            $float::from_bits(extreme.to_bits() | mask)
        }
    };
}

macro_rules! numbers {
    ($($t:ident $lowest:expr, $highest:expr, $or_nan:expr;)*) => {$(
        folds! {
            Max of $t, $lowest, |x, y| $or_nan(if y > x { y } else { x }, y);
            Min of $t, $highest, |x, y| $or_nan(if y < x { y } else { x }, y);
            Prod of $t, <$t as Number>::ONE, |x, y| x.times(y);
        }
    )*};
}

numbers! {
    f32 f32::NEG_INFINITY, f32::INFINITY, or_nan!(f32, u32);
    f64 f64::NEG_INFINITY, f64::INFINITY, or_nan!(f64, u64);
    i64 i64::MIN, i64::MAX, |extreme, _| extreme;
}

folds! {
    All of Bool, Bool::TRUE, |x, y| Bool::from(x.get() & y.get());
    Any of Bool, Bool::FALSE, |x, y| Bool::from(x.get() | y.get());
}
