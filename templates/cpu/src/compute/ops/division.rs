//! Quotients that are rounded to integers, and remainders, as TensorFlow defines them.
//!
//! No divisor of an integer may be 0: [`check_divisors`] checks a tensor of them. The lowest integer over -1 wraps.

use crate::compute::loops::precision::Precision;
use crate::compute::scalar::arith::Number;

/// A number with rounded quotients and remainders.
pub trait Divide: Number {
    /// True if a divisor of 0 is an error.
    const IS_INTEGER: bool;
    /// Returns the quotient, rounded toward negative infinity.
    fn floor_div(self, y: Self) -> Self;
    /// Returns the remainder of [`floor_div`](Self::floor_div), which has the sign of `y`.
    fn floor_mod(self, y: Self) -> Self;
    /// Returns the quotient, rounded toward 0 for integers.
    fn div(self, y: Self) -> Self;
    /// Returns the quotient, rounded toward 0.
    fn truncate_div(self, y: Self) -> Self;
    /// Returns the remainder of [`truncate_div`](Self::truncate_div), which has the sign of `self`.
    fn truncate_mod(self, y: Self) -> Self;
}

macro_rules! floats {
    ($($float:ident)*) => {$(
        impl Divide for $float {
            const IS_INTEGER: bool = false;
            #[inline(always)]
            fn floor_div(self, y: Self) -> Self { (self / y).floor() }
            #[inline(always)]
            fn floor_mod(self, y: Self) -> Self {
                let rest = self % y;
                if rest != 0.0 && (rest < 0.0) != (y < 0.0) { rest + y } else { rest }
            }
            #[inline(always)]
            fn div(self, y: Self) -> Self { self / y }
            #[inline(always)]
            fn truncate_div(self, y: Self) -> Self { (self / y).trunc() }
            #[inline(always)]
            fn truncate_mod(self, y: Self) -> Self { self % y }
        }
    )*};
}

floats!(f32 f64);

macro_rules! integers {
    ($($int:ident)*) => {$(
        impl Divide for $int {
            const IS_INTEGER: bool = true;
            #[inline(always)]
            fn floor_div(self, y: Self) -> Self {
                let (quotient, rest) = (self.wrapping_div(y), self.wrapping_rem(y));
                if rest != 0 && (rest < 0) != (y < 0) { quotient - 1 } else { quotient }
            }
            #[inline(always)]
            fn floor_mod(self, y: Self) -> Self {
                let rest = self.wrapping_rem(y);
                if rest != 0 && (rest < 0) != (y < 0) { rest + y } else { rest }
            }
            #[inline(always)]
            fn div(self, y: Self) -> Self { self.wrapping_div(y) }
            #[inline(always)]
            fn truncate_div(self, y: Self) -> Self { self.wrapping_div(y) }
            #[inline(always)]
            fn truncate_mod(self, y: Self) -> Self { self.wrapping_rem(y) }
        }
    )*};
}

integers!(i32 i64);

impl Divide for u64 {
    const IS_INTEGER: bool = true;
    #[inline(always)]
    fn floor_div(self, y: Self) -> Self {
        self / y
    }
    #[inline(always)]
    fn floor_mod(self, y: Self) -> Self {
        self % y
    }
    #[inline(always)]
    fn div(self, y: Self) -> Self {
        self / y
    }
    #[inline(always)]
    fn truncate_div(self, y: Self) -> Self {
        self / y
    }
    #[inline(always)]
    fn truncate_mod(self, y: Self) -> Self {
        self % y
    }
}

/// Checks that no divisor of an integer is 0.
///
/// # Errors
/// Returns [`Error::DivisionByZero`](crate::compute::Error) if one is.
pub fn check_divisors<T: Precision<Compute: Divide>>(divisors: &[T]) -> crate::compute::Result<()> {
    let is_zero = |y: &T| y.to_compute() == T::Compute::ZERO;
    let is_valid = !T::Compute::IS_INTEGER || !divisors.iter().any(is_zero);
    is_valid
        .then_some(())
        .ok_or(crate::compute::Error::DivisionByZero)
}
