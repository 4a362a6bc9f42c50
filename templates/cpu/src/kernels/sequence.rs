//! Kernels that write numbers.

use super::prelude::*;

/// An element that is one.
trait One: Element {
    /// 1, or true.
    const ONE: Self;
}

macro_rules! ones {
    ($($ty:ty = $one:expr;)*) => {$(
        impl One for $ty {
            const ONE: Self = $one;
        }
    )*};
}

ones! {
    u8 = 1;
    i8 = 1;
    i16 = 1;
    u16 = 1;
    i32 = 1;
    u32 = 1;
    i64 = 1;
    u64 = 1;
    f32 = 1.0;
    f64 = 1.0;
    Bool = Self::TRUE;
    F16 = Self::ONE;
    Bf16 = Self::ONE;
    Complex64 = Self::ONE;
    Complex128 = Self::ONE;
}

#[kernel(OnesLike, T = [..])]
fn ones_like<T: One>(x: AnyIn<'_, HostInt32>, y: Out<'_, T, HostInt32>) -> Result<()> {
    y.uninit(x.dims())?.fill(T::ONE);
    Ok(())
}

/// Evenly spaced numbers.
trait Spaced: Number + Element + std::fmt::Debug {
    /// Returns the number of steps from `start` to `limit`, `None` if `i64` has no such number.
    fn steps(start: Self, limit: Self, delta: Self) -> Option<i64>;

    /// Returns `start + index * delta`.
    fn nth(start: Self, index: usize, delta: Self) -> Self;
}

macro_rules! spaced {
    ($($int:ident)*; $($float:ident)*) => {
        $(impl Spaced for $int {
            fn steps(start: Self, limit: Self, delta: Self) -> Option<i64> {
                let [start, limit, delta] = [start, limit, delta].map(i128::from);
                let steps = (limit - start).unsigned_abs().div_ceil(delta.unsigned_abs());
                steps.try_into().ok()
            }

            #[inline(always)]
            fn nth(start: Self, index: usize, delta: Self) -> Self {
                start.wrapping_add((index as Self).wrapping_mul(delta))
            }
        })*
        $(impl Spaced for $float {
            fn steps(start: Self, limit: Self, delta: Self) -> Option<i64> {
                let steps = ((limit - start) / delta).abs().ceil();
                // The conversion saturates.
                (steps < i64::MAX as $float).then_some(steps as i64)
            }

            #[inline(always)]
            fn nth(start: Self, index: usize, delta: Self) -> Self {
                start + index as $float * delta
            }
        })*
    };
}

spaced!(i32 i64; f32 f64);

macro_rules! spaced_halves {
    ($($half:ident)*) => {$(
        impl Spaced for $half {
            fn steps(start: Self, limit: Self, delta: Self) -> Option<i64> {
                // TensorFlow rounds after each operation.
                let steps = limit.minus(start).over(delta).to_f32().abs().ceil();
                (steps < i64::MAX as f32).then_some(steps as i64)
            }

            fn nth(start: Self, index: usize, delta: Self) -> Self {
                start.plus(Self::from_count(index).times(delta))
            }
        }
    )*};
}

spaced_halves!(F16 Bf16);

#[kernel(Range, Tidx: T = [F16, Bf16, i32, i64, f32, f64])]
fn range<T: Spaced>(
    start: HostIn<'_, T>,
    limit: HostIn<'_, T>,
    delta: HostIn<'_, T>,
    output: Out<'_, T, HostInt32>,
) -> Result<()> {
    let start = number("start", &start)?;
    let (limit, delta) = (number("limit", &limit)?, number("delta", &delta)?);
    let is_in_order = match delta.partial_cmp(&T::ZERO) {
        Some(std::cmp::Ordering::Greater) => start <= limit,
        Some(std::cmp::Ordering::Less) => start >= limit,
        _ => false,
    };
    let steps = T::steps(start, limit, if delta == T::ZERO { T::ONE } else { delta });
    let Some(steps) = steps.filter(|_| is_in_order) else {
        return invalid!(
            "delta {delta:?} must lead from start {start:?} to limit {limit:?}, and not be 0"
        );
    };
    let steps = usize::try_from(steps).unwrap_or(usize::MAX);
    output
        .uninit(&[steps])?
        .write_with(|index| T::nth(start, index, delta));
    Ok(())
}

/// Returns the element of a scalar, or of a vector of one element.
fn number<T: Element>(name: &str, tensor: &HostIn<'_, T>) -> Result<T> {
    let dims = tensor.dims();
    match dims.len() {
        0 | 1 => tensor.scalar(),
        _ => invalid!("{name} must be a scalar, not of shape {dims:?}"),
    }
}

table! { ones_like, range }
