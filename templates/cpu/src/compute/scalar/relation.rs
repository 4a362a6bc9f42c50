//! Relations and properties of elements, and functions of truth values; for `map`.

use crate::compute::scalar::arith::Number;
use sp_plugin::Bool;

macro_rules! relations {
    ($($(#[doc = $doc:literal])* $name:ident, $bound:ident: $operator:tt;)*) => {$(
        $(#[doc = $doc])*
        #[inline(always)]
        pub fn $name<T: $bound>(x: T, y: T) -> Bool {
            Bool::from(x $operator y)
        }
    )*};
}

relations! {
    /// Returns true if `x == y`; false if one is NaN.
    equal, PartialEq: ==;
    /// Returns true if `x != y`; true if one is NaN.
    not_equal, PartialEq: !=;
    /// Returns true if `x > y`.
    greater, PartialOrd: >;
    /// Returns true if `x >= y`.
    greater_equal, PartialOrd: >=;
    /// Returns true if `x < y`.
    less, PartialOrd: <;
    /// Returns true if `x <= y`.
    less_equal, PartialOrd: <=;
}

/// Returns true if both are true.
#[inline(always)]
pub fn and(x: Bool, y: Bool) -> Bool {
    Bool::from(x.get() & y.get())
}

/// Returns true if one or both are true.
#[inline(always)]
pub fn or(x: Bool, y: Bool) -> Bool {
    Bool::from(x.get() | y.get())
}

/// Returns true if `x` is false.
#[inline(always)]
pub fn not(x: Bool) -> Bool {
    Bool::from(!x.get())
}

/// Returns true if `x` is a number: neither infinite nor NaN.
#[inline(always)]
#[allow(clippy::eq_op, reason = "infinity minus itself is NaN")]
pub fn is_finite<T: Number>(x: T) -> Bool {
    Bool::from(x.minus(x) == T::ZERO)
}

/// Returns true if `x` is infinite.
#[inline(always)]
#[allow(clippy::eq_op, reason = "false for NaN")]
pub fn is_infinite<T: Number>(x: T) -> Bool {
    Bool::from((x == x) & (x.minus(x) != T::ZERO))
}

/// Returns true if `x` is NaN.
#[inline(always)]
#[allow(clippy::eq_op, reason = "false for NaN")]
pub fn is_nan<T: Number>(x: T) -> Bool {
    Bool::from(x != x)
}
