//! Conversion between element types.
//!
//! A float outside an integer's range has no defined result in TensorFlow's sources; the result here is that of its x86
//! vectors. It is the integer's lowest value ("indefinite") for 32 and 64 bits, and the saturated 32-bit result for 8
//! and 16 bits. TensorFlow's own result differs in the last few elements of a tensor. A number is true if it is not 0,
//! so NaN is true.
//!
//! Casts of integers that differ in their signs only share one loop ([`Cast::cast_slice`]): the loops of all casts are
//! most of what the compiler spends on the kernels.

use std::mem::MaybeUninit;
use std::slice;

use sp_plugin::{Bf16, Bool, Complex64, Complex128, F8E4M3FN, F8E5M2, F16, Int4, Uint4};

use crate::compute::loops::map::map1_with_cost;
use crate::compute::machine::cost::{self, Cost};
use crate::compute::machine::parallel::for_each_chunk;
use crate::compute::machine::simd::{Isa, half};

mod sealed {
    /// A parameter of functions that this module alone implements, since unsafe code relies on them.
    pub struct Sealed;
}
use sealed::Sealed;

/// A type that elements of `Self` can be converted to.
pub trait Cast<To>: Copy {
    /// Converts one element.
    fn cast(self) -> To;

    /// Computes `out[i] = x[i].cast()`, and writes all of `out`. Other crates have no value of `Sealed`, so they
    /// neither implement nor call this function.
    ///
    /// # Panics
    /// Panics if the lengths differ.
    fn cast_slice(x: &[Self], out: &mut [MaybeUninit<To>], _: Sealed)
    where
        Self: Sync,
        To: Copy + Send,
    {
        convert(cost::Cheap, x, out);
    }
}

/// Computes `out[i] = x[i].cast()` in a loop for these two types.
fn convert<A: Cast<B> + Sync, B: Copy + Send>(
    cost: impl Cost,
    x: &[A],
    out: &mut [MaybeUninit<B>],
) {
    map1_with_cost(
        cost,
        x,
        out,
        #[inline(always)]
        |x| MaybeUninit::new(x.cast()),
    );
}

/// Computes `out[i] = x[i]` in another type.
///
/// # Panics
/// Panics if the lengths differ.
pub fn cast<A: Cast<B> + Sync, B: Copy + Send>(x: &[A], out: &mut [B]) {
    // SAFETY: `MaybeUninit<B>` has the layout of `B`, and `cast_slice`, which this module alone implements, writes only
    // values of `B`.
    let out = unsafe { slice::from_raw_parts_mut(out.as_mut_ptr().cast(), out.len()) };
    cast_slice(x, out);
}

/// Computes `out[i] = x[i]` in another type, and writes all of `out`.
///
/// # Panics
/// Panics if the lengths differ.
pub fn cast_slice<A: Cast<B> + Sync, B: Copy + Send>(x: &[A], out: &mut [MaybeUninit<B>]) {
    A::cast_slice(x, out, Sealed);
}

/// Computes [`Cast::cast_slice`] of `A` to `B` as a cast of `C` to `D`, which converts the same bytes.
///
/// # Safety
/// - `A` and `C` have the same size and alignment, and so have `B` and `D`.
/// - Every value of `A` has the bytes of a value of `C`.
/// - For every value, the cast to `D` gives the bytes of the cast to `B`.
unsafe fn convert_as<A: Copy, B: Copy, C: Cast<D> + Sync, D: Copy + Send>(
    x: &[A],
    out: &mut [MaybeUninit<B>],
) {
    // SAFETY: the caller guarantees that the layouts are equal, and that the bytes of `x` are values of `C`. The bytes
    // written to `out` are values of `B`.
    let (x, out) = unsafe {
        (
            slice::from_raw_parts(x.as_ptr().cast::<C>(), x.len()),
            slice::from_raw_parts_mut(out.as_mut_ptr().cast::<MaybeUninit<D>>(), out.len()),
        )
    };
    convert(cost::Cheap, x, out);
}

/// Implements casts of integers. `i16 as u16 => u8 i8 as u8` computes those of `i16` to `u8` and `i8` as that of `u16`
/// to `u8`.
macro_rules! integer_casts {
    ($($from:ty as $same_from:ty => $($to:ty)* as $same_to:ty;)*) => {$($(
        impl Cast<$to> for $from {
            #[inline(always)]
            fn cast(self) -> $to { self as $to }

            fn cast_slice(x: &[Self], out: &mut [MaybeUninit<$to>], _: Sealed) {
                // SAFETY: both pairs are integers of equal sizes. Truncation ignores the signs, and extension that of
                // the result.
                unsafe { convert_as::<$from, $to, $same_from, $same_to>(x, out) }
            }
        }
    )*)*};
}

integer_casts! {
    u8 as u8 => u8 i8 as u8;
    i8 as u8 => u8 i8 as u8;
    u8 as u8 => u16 i16 as u16;
    i8 as i8 => u16 i16 as u16;
    u8 as u8 => u32 i32 as u32;
    i8 as i8 => u32 i32 as u32;
    u8 as u8 => u64 i64 as u64;
    i8 as i8 => u64 i64 as u64;
    u16 as u16 => u8 i8 as u8;
    i16 as u16 => u8 i8 as u8;
    u16 as u16 => u16 i16 as u16;
    i16 as u16 => u16 i16 as u16;
    u16 as u16 => u32 i32 as u32;
    i16 as i16 => u32 i32 as u32;
    u16 as u16 => u64 i64 as u64;
    i16 as i16 => u64 i64 as u64;
    u32 as u32 => u8 i8 as u8;
    i32 as u32 => u8 i8 as u8;
    u32 as u32 => u16 i16 as u16;
    i32 as u32 => u16 i16 as u16;
    u32 as u32 => u32 i32 as u32;
    i32 as u32 => u32 i32 as u32;
    u32 as u32 => u64 i64 as u64;
    i32 as i32 => u64 i64 as u64;
    u64 as u64 => u8 i8 as u8;
    i64 as u64 => u8 i8 as u8;
    u64 as u64 => u16 i16 as u16;
    i64 as u64 => u16 i16 as u16;
    u64 as u64 => u32 i32 as u32;
    i64 as u64 => u32 i32 as u32;
    u64 as u64 => u64 i64 as u64;
    i64 as u64 => u64 i64 as u64;
}

macro_rules! numeric_casts {
    ($($from:ty, $cost:ident => $($to:ty)*;)*) => {$($(
        impl Cast<$to> for $from {
            #[inline(always)]
            fn cast(self) -> $to { self as $to }

            fn cast_slice(x: &[Self], out: &mut [MaybeUninit<$to>], _: Sealed) {
                convert(cost::$cost, x, out);
            }
        }
    )*)*};
}

// Only AVX-512 has an instruction for numbers of 64 bits.
numeric_casts! {
    u8, Cheap => f32 f64;
    i8, Cheap => f32 f64;
    u16, Cheap => f32 f64;
    i16, Cheap => f32 f64;
    u32, Cheap => f32 f64;
    i32, Cheap => f32 f64;
    u64, Moderate => f32 f64;
    i64, Moderate => f32 f64;
    f32, Cheap => f32 f64;
    f64, Cheap => f32 f64;
}

macro_rules! bool_casts {
    ($($int:ty as $same_int:ty),*; $($float:ty)*) => {
        $(impl Cast<Bool> for $int {
            #[inline(always)]
            fn cast(self) -> Bool { (self != 0).into() }

            fn cast_slice(x: &[Self], out: &mut [MaybeUninit<Bool>], _: Sealed) {
                // SAFETY: both are integers of equal sizes, and 0 has the same bytes in both.
                unsafe { convert_as::<$int, Bool, $same_int, Bool>(x, out) }
            }
        }
        impl Cast<$int> for Bool {
            #[inline(always)]
            fn cast(self) -> $int { self.get().into() }

            fn cast_slice(x: &[Self], out: &mut [MaybeUninit<$int>], _: Sealed) {
                // SAFETY: both are integers of equal sizes, and 0 and 1 have the same bytes in both.
                unsafe { convert_as::<Bool, $int, Bool, $same_int>(x, out) }
            }
        })*
        $(impl Cast<Bool> for $float {
            #[inline(always)]
            fn cast(self) -> Bool { (self != 0.0).into() }
        }
        impl Cast<$float> for Bool {
            #[inline(always)]
            fn cast(self) -> $float { if self.get() { 1.0 } else { 0.0 } }
        })*
    };
}

bool_casts!(u8 as u8, i8 as u8, u16 as u16, i16 as u16, u32 as u32, i32 as u32, u64 as u64, i64 as u64; f32 f64);

impl Cast<Bool> for Bool {
    #[inline(always)]
    fn cast(self) -> Bool {
        self
    }
}

macro_rules! float_to_int {
    ($($float:ty)*) => {$(
        impl Cast<i32> for $float {
            #[inline(always)]
            fn cast(self) -> i32 {
                let fits = self < 2_147_483_648.0 && self > -2_147_483_649.0;
                let bounded = if fits { self } else { -2_147_483_648.0 };
                // SAFETY: the number is no NaN, and its integer part is one of `i32`.
                unsafe { bounded.to_int_unchecked() }
            }
        }

        impl Cast<i64> for $float {
            #[inline(always)]
            fn cast(self) -> i64 {
                let fits = self.abs() < 9_223_372_036_854_775_808.0;
                let bounded = if fits { self } else { -9_223_372_036_854_775_808.0 };
                // SAFETY: the number is no NaN, and its integer part is one of `i64`.
                unsafe { bounded.to_int_unchecked() }
            }

            fn cast_slice(x: &[Self], out: &mut [MaybeUninit<i64>], _: Sealed) {
                convert(cost::Moderate, x, out);
            }
        }

        /// Negative numbers down to -2^31 wrap.
        impl Cast<u32> for $float {
            #[inline(always)]
            fn cast(self) -> u32 {
                let fits = self < 4_294_967_296.0 && self > -2_147_483_649.0;
                if fits { self as i64 as u32 } else { 1 << 31 }
            }
        }

        /// Negative numbers down to -2^63 wrap.
        impl Cast<u64> for $float {
            #[inline(always)]
            fn cast(self) -> u64 {
                let high = (9_223_372_036_854_775_808.0..18_446_744_073_709_551_616.0).contains(&self);
                if high { self as u64 } else { <$float as Cast<i64>>::cast(self) as u64 }
            }
        }

        float_to_int!($float: u8 i8 u16 i16);
    )*};
    ($float:ty: $($small:ty)*) => {$(
        impl Cast<$small> for $float {
            #[inline(always)]
            fn cast(self) -> $small {
                let wide: i32 = self.cast();
                wide.clamp(<$small>::MIN.into(), <$small>::MAX.into()) as $small
            }
        }
    )*};
}

float_to_int!(f32 f64);

macro_rules! half_casts {
    ($half:ident: $($other:ty)*) => {
        impl Cast<$half> for $half {
            #[inline(always)]
            fn cast(self) -> $half { self }
        }

        impl Cast<Bool> for $half {
            #[inline(always)]
            fn cast(self) -> Bool { self.to_f32().cast() }
        }

        impl Cast<$half> for Bool {
            #[inline(always)]
            fn cast(self) -> $half { if self.get() { $half::ONE } else { $half(0) } }
        }

        $(
            impl Cast<$other> for $half {
                #[inline(always)]
                fn cast(self) -> $other { self.to_f32().cast() }
            }

            /// Converts through `f32`, rounding twice, as TensorFlow does.
            impl Cast<$half> for $other {
                #[inline(always)]
                fn cast(self) -> $half {
                    let single: f32 = self.cast();
                    $half::from_f32(single)
                }
            }
        )*
    };
}

half_casts!(F16: u8 i8 u16 i16 u32 i32 u64 i64 f64);
half_casts!(Bf16: u8 i8 u16 i16 u32 i32 u64 i64 f32 f64);

impl Cast<f32> for F16 {
    #[inline(always)]
    fn cast(self) -> f32 {
        self.to_f32()
    }

    fn cast_slice(x: &[Self], out: &mut [MaybeUninit<f32>], _: Sealed) {
        convert_halves(x, out, half::widen);
    }
}

impl Cast<F16> for f32 {
    #[inline(always)]
    fn cast(self) -> F16 {
        F16::from_f32(self)
    }

    fn cast_slice(x: &[Self], out: &mut [MaybeUninit<F16>], _: Sealed) {
        convert_halves(x, out, half::narrow);
    }
}

/// Computes a cast with the instructions for halves, where the machine has them.
fn convert_halves<A: Sync, B: Send>(
    x: &[A],
    out: &mut [MaybeUninit<B>],
    convert: fn(Isa, &[A], &mut [MaybeUninit<B>]),
) {
    assert_eq!(x.len(), out.len(), "operand and result differ in length");
    let isa = Isa::current();
    for_each_chunk(out, cost::Cheap.grain(), |start, out| {
        convert(isa, &x[start..start + out.len()], out)
    });
}

impl Cast<Bf16> for F16 {
    #[inline(always)]
    fn cast(self) -> Bf16 {
        Bf16::from_f32(self.to_f32())
    }
}

impl Cast<F16> for Bf16 {
    #[inline(always)]
    fn cast(self) -> F16 {
        F16::from_f32(self.to_f32())
    }
}

macro_rules! casts {
    ($($from:ident => $to:ident: |$x:ident| $result:expr;)*) => {$(
        impl Cast<$to> for $from {
            #[inline(always)]
            fn cast(self) -> $to {
                let $x = self;
                $result
            }
        }
    )*};
}

// A real number is the real part; the imaginary part is lost.
casts! {
    Complex64 => f32: |x| x.re;
    Complex128 => f64: |x| x.re;
    f32 => Complex64: |x| x.into();
    f64 => Complex128: |x| x.into();
    f32 => Complex128: |x| f64::from(x).into();
    Complex128 => f32: |x| x.re as f32;
    Complex128 => Complex128: |x| x;
    Complex64 => Complex128: |x| Complex128::new(x.re.into(), x.im.into());
    Complex128 => Complex64: |x| Complex64::new(x.re as f32, x.im as f32);
    F8E5M2 => f32: |x| x.to_f32();
    F8E4M3FN => f32: |x| x.to_f32();
    f32 => F8E5M2: |x| F8E5M2::from_f32(x);
    f32 => F8E4M3FN: |x| F8E4M3FN::from_f32(x);
    f64 => F8E5M2: |x| F8E5M2::from_f64(x);
    f64 => F8E4M3FN: |x| F8E4M3FN::from_f64(x);
    Int4 => i64: |x| x.get().into();
    Uint4 => i64: |x| x.get().into();
    i64 => Int4: |x| Int4::new(x as i8);
    i64 => Uint4: |x| Uint4::new(x as u8);
}
