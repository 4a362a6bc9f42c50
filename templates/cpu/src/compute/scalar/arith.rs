//! Arithmetic on one element, as TensorFlow defines it. Kernels pass these functions to `map`, which inlines them.

use crate::compute::machine::workspace::AnyBits;
use crate::compute::scalar::approximation;
use sp_plugin::{Bf16, F16};

/// A number with TensorFlow's arithmetic: integers wrap.
pub trait Number: AnyBits + Default + PartialEq + PartialOrd + Send + Sync + 'static {
    /// 0
    const ZERO: Self;
    /// 1
    const ONE: Self;
    /// The lowest value; negative infinity for floats.
    const LOWEST: Self;
    /// Returns `self + y`.
    fn plus(self, y: Self) -> Self;
    /// Returns `self - y`.
    fn minus(self, y: Self) -> Self;
    /// Returns `self * y`.
    fn times(self, y: Self) -> Self;
    /// Returns `-self`.
    fn negated(self) -> Self;
}

/// A floating-point number.
pub trait Float: Number {
    /// NaN
    const NAN: Self;
    /// Returns `self / y`.
    fn over(self, y: Self) -> Self;
    /// Returns the correctly rounded square root: NaN of a negative number, -0 of -0.
    fn root(self) -> Self;
    /// Returns `self` to the power `y`, with the C library's special cases.
    fn power(self, y: Self) -> Self;
    /// Returns `e` to the power `self`, for `f32` with an error below 1 unit in the last place.
    fn exp(self) -> Self;
    /// Returns the natural logarithm.
    fn ln(self) -> Self;
    /// Converts a count, rounding to nearest.
    fn from_count(count: usize) -> Self;
}

macro_rules! integers {
    ($($int:ty)*) => {$(
        impl Number for $int {
            const ZERO: Self = 0;
            const ONE: Self = 1;
            const LOWEST: Self = <$int>::MIN;
            #[inline(always)]
            fn plus(self, y: Self) -> Self { self.wrapping_add(y) }
            #[inline(always)]
            fn minus(self, y: Self) -> Self { self.wrapping_sub(y) }
            #[inline(always)]
            fn times(self, y: Self) -> Self { self.wrapping_mul(y) }
            #[inline(always)]
            fn negated(self) -> Self { self.wrapping_neg() }
        }
    )*};
}

integers!(u8 i8 u16 i16 u32 i32 u64 i64);

macro_rules! floats {
    ($($float:ident $exp:expr;)*) => {$(
        impl Number for $float {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const LOWEST: Self = $float::NEG_INFINITY;
            #[inline(always)]
            fn plus(self, y: Self) -> Self { self + y }
            #[inline(always)]
            fn minus(self, y: Self) -> Self { self - y }
            #[inline(always)]
            fn times(self, y: Self) -> Self { self * y }
            #[inline(always)]
            fn negated(self) -> Self { -self }
        }

        impl Float for $float {
            const NAN: Self = $float::NAN;
            #[inline(always)]
            fn over(self, y: Self) -> Self { self / y }
            #[inline(always)]
            fn root(self) -> Self { self.sqrt() }
            #[inline(always)]
            fn power(self, y: Self) -> Self { self.powf(y) }
            #[inline(always)]
            fn exp(self) -> Self { $exp(self) }
            #[inline(always)]
            fn ln(self) -> Self { self.ln() }
            #[inline(always)]
            fn from_count(count: usize) -> Self { count as $float }
        }
    )*};
}

floats! {
    f32 approximation::exp;
    f64 f64::exp;
}

macro_rules! halves {
    ($($half:ident $lowest:literal;)*) => {$(
        impl Number for $half {
            const ZERO: Self = Self(0);
            const ONE: Self = Self::ONE;
            const LOWEST: Self = Self($lowest);
            #[inline(always)]
            fn plus(self, y: Self) -> Self { Self::from_f32(self.to_f32() + y.to_f32()) }
            #[inline(always)]
            fn minus(self, y: Self) -> Self { Self::from_f32(self.to_f32() - y.to_f32()) }
            #[inline(always)]
            fn times(self, y: Self) -> Self { Self::from_f32(self.to_f32() * y.to_f32()) }
            #[inline(always)]
            fn negated(self) -> Self { Self(self.0 ^ 0x8000) }
        }

        impl Float for $half {
            const NAN: Self = Self::NAN;
            #[inline(always)]
            fn over(self, y: Self) -> Self { Self::from_f32(self.to_f32() / y.to_f32()) }
            #[inline(always)]
            fn root(self) -> Self { Self::from_f32(self.to_f32().sqrt()) }
            #[inline(always)]
            fn power(self, y: Self) -> Self { Self::from_f32(self.to_f32().powf(y.to_f32())) }
            #[inline(always)]
            fn exp(self) -> Self { Self::from_f32(approximation::exp(self.to_f32())) }
            #[inline(always)]
            fn ln(self) -> Self { Self::from_f32(self.to_f32().ln()) }
            #[inline(always)]
            fn from_count(count: usize) -> Self { Self::from_f32(count as f32) }
        }
    )*};
}

halves! {
    F16 0xFC00;
    Bf16 0xFF80;
}

/// Returns `x + y`; integers wrap.
#[inline(always)]
pub fn add<T: Number>(x: T, y: T) -> T {
    x.plus(y)
}

/// Returns `x - y`; integers wrap.
#[inline(always)]
pub fn sub<T: Number>(x: T, y: T) -> T {
    x.minus(y)
}

/// Returns `x * y`; integers wrap.
#[inline(always)]
pub fn mul<T: Number>(x: T, y: T) -> T {
    x.times(y)
}

/// Returns `-x`; the lowest integer is unchanged.
#[inline(always)]
pub fn neg<T: Number>(x: T) -> T {
    x.negated()
}

/// Returns `x * x`; integers wrap.
#[inline(always)]
pub fn square<T: Number>(x: T) -> T {
    x.times(x)
}

/// Returns the smaller number; `x` if one is NaN.
#[inline(always)]
pub fn least<T: PartialOrd>(x: T, y: T) -> T {
    if y < x { y } else { x }
}

/// Returns the larger number; `x` if one is NaN.
#[inline(always)]
pub fn greatest<T: PartialOrd>(x: T, y: T) -> T {
    if y > x { y } else { x }
}

/// Returns `x / y` by IEEE 754: infinity or NaN if `y` is 0.
#[inline(always)]
pub fn real_div<T: Float>(x: T, y: T) -> T {
    x.over(y)
}

/// Returns `x / y`, or 0 if `y` is 0.
#[inline(always)]
pub fn div_no_nan<T: Float>(x: T, y: T) -> T {
    let quotient = x.over(y);
    if y == T::ZERO { T::ZERO } else { quotient }
}

/// Returns the square root; NaN of a negative number.
#[inline(always)]
pub fn sqrt<T: Float>(x: T) -> T {
    x.root()
}

/// Returns `x` to the power `y`, as the C library. For integers see [`pow_int`]. Its cost is
/// [`cost::Expensive`](crate::compute::Cost).
#[inline(always)]
pub fn pow<T: Float>(x: T, y: T) -> T {
    x.power(y)
}

/// Returns `x` to the power `y`, wrapping. `y` must not be negative: [`check_exponents`] checks a tensor of exponents.
#[inline(always)]
pub fn pow_int<T: Integer>(x: T, y: T) -> T {
    let (mut result, mut base, mut left) = (T::ONE, x, y.to_bits());
    while left > 0 {
        if left & 1 == 1 {
            result = result.times(base);
        }
        base = base.times(base);
        left >>= 1;
    }
    result
}

/// Checks that no exponent of an integer is negative.
///
/// # Errors
/// Returns [`Error::NegativePower`](crate::compute::Error) if one is negative.
pub fn check_exponents<T: Number>(exponents: &[T]) -> crate::compute::Result<()> {
    let is_valid = exponents.iter().all(|y| *y >= T::ZERO);
    is_valid
        .then_some(())
        .ok_or(crate::compute::Error::NegativePower)
}

/// An integer of 64 bits or less.
pub trait Integer: Number {
    /// Returns the bits of a value that is not negative.
    fn to_bits(self) -> u64;
    /// Returns the bitwise AND.
    fn and(self, y: Self) -> Self;
    /// Returns the bitwise OR.
    fn or(self, y: Self) -> Self;
    /// Returns the bitwise exclusive OR.
    fn xor(self, y: Self) -> Self;
}

macro_rules! bits {
    ($($int:ty)*) => {$(
        impl Integer for $int {
            #[inline(always)]
            fn to_bits(self) -> u64 { self as u64 }
            #[inline(always)]
            fn and(self, y: Self) -> Self { self & y }
            #[inline(always)]
            fn or(self, y: Self) -> Self { self | y }
            #[inline(always)]
            fn xor(self, y: Self) -> Self { self ^ y }
        }
    )*};
}

bits!(u8 i8 u16 i16 u32 i32 u64 i64);
