//! The types in which elements are computed: `f32` for 16-bit floats, `i64` for smaller integers, their own type for all
//! others.
//!
//! A function on 16-bit floats is the function on `f32` between two conversions, so it is compiled once for all three
//! types. Each result is rounded once. Elementwise functions and reductions convert blocks that fit in a cache; others
//! convert whole operands.
//!
//! The lower bits of a sum, a difference or a product depend on the lower bits of the operands only, so results in `i64`
//! that are stored in a smaller integer have wrapped as its own arithmetic does.

mod map;

use crate::compute::machine::array;
use crate::compute::machine::cost::{self, Cost};
use crate::compute::machine::parallel::for_each_chunk;
use crate::compute::machine::simd::half::{F16c, LANES};
use crate::compute::machine::simd::{Isa, half};
use crate::compute::machine::workspace::{AnyBits, Buffer};
use sp_plugin::{Bf16, Bool, Complex64, F16};
use std::mem::MaybeUninit;
use std::ops::Deref;

pub use map::{map_all, map_few, map_one, map_two};

/// An element type, and the type in which its elements are computed.
///
/// # Safety
/// - `narrow` writes elements only: it leaves no element of the result uninitialized that was initialized.
/// - `map_in_registers` writes all elements of the result if it returns true.
pub unsafe trait Precision: AnyBits + Send + Sync + 'static {
    /// The type of operands and results of a computation.
    type Compute: AnyBits + Default + Send + Sync + 'static;

    /// Returns the elements, or `None` if they are computed in another type.
    fn as_compute(x: &[Self]) -> Option<&[Self::Compute]>;

    /// Returns the elements, or `None` if they are computed in another type.
    fn as_compute_mut(x: &mut [Self]) -> Option<&mut [Self::Compute]>;

    /// Returns the elements to be written, or `None` if they are computed in another type.
    fn as_compute_uninit(x: &mut [MaybeUninit<Self>]) -> Option<&mut [MaybeUninit<Self::Compute>]>;

    /// Converts one element, exactly.
    fn to_compute(self) -> Self::Compute;

    /// Rounds one element to nearest; integers wrap.
    fn from_compute(x: Self::Compute) -> Self;

    /// Returns a result with the bits that the type stores: integers wrap, floats are not rounded.
    #[inline(always)]
    fn wrapped(x: Self::Compute) -> Self::Compute {
        x
    }

    /// Writes `f` of two operands of the result's length, with conversions in registers. Returns false if elements of this
    /// type have none; all of `out` is written otherwise.
    fn map_in_registers<U: Precision>(
        _cost: impl Cost,
        _operands: [&[Self]; 2],
        _out: &mut [MaybeUninit<U>],
        _f: impl Fn(Self::Compute, Self::Compute) -> U::Compute + Sync + Copy,
    ) -> bool {
        false
    }

    /// Rounds [`LANES`] elements to nearest; integers wrap.
    #[inline(always)]
    fn narrow_lanes(_: F16c, x: &[Self::Compute; LANES]) -> [Self; LANES] {
        array::map(*x, Self::from_compute)
    }

    /// Converts all elements, exactly.
    ///
    /// # Panics
    /// Panics if the lengths differ.
    fn widen(x: &[Self], out: &mut [Self::Compute]);

    /// Rounds all elements to nearest; integers wrap.
    ///
    /// # Panics
    /// Panics if the lengths differ.
    fn narrow(x: &[Self::Compute], out: &mut [MaybeUninit<Self>]);

    /// Returns the elements as they are computed.
    fn widened(x: &[Self]) -> Widened<'_, Self::Compute> {
        match Self::as_compute(x) {
            Some(x) => Widened::Same(x),
            None => Widened::Converted(convert_all(x)),
        }
    }

    /// Calls `body` with the elements as they are computed, and stores those that it leaves.
    fn update<R>(x: &mut [Self], body: impl FnOnce(&mut [Self::Compute]) -> R) -> R {
        if let Some(x) = Self::as_compute_mut(x) {
            return body(x);
        }
        let mut computed = convert_all(x);
        let result = body(&mut computed);
        store_all(&computed, x);
        result
    }

    /// Calls `body` with elements of unspecified values, and stores those that it leaves.
    fn overwrite<R>(x: &mut [Self], body: impl FnOnce(&mut [Self::Compute]) -> R) -> R {
        if let Some(x) = Self::as_compute_mut(x) {
            return body(x);
        }
        let mut computed = Buffer::new(x.len());
        let result = body(&mut computed);
        store_all(&computed, x);
        result
    }
}

/// Calls `body` with the elements of several slices as they are computed, and stores those that it leaves.
pub fn update_all<T: Precision, const N: usize>(
    x: [&mut [T]; N],
    body: impl FnOnce([&mut [T::Compute]; N]),
) {
    if x.iter().all(|x| T::as_compute(x).is_some()) {
        return body(x.map(|x| T::as_compute_mut(x).unwrap_or_default()));
    }
    let mut computed = x.each_ref().map(|x| convert_all(x));
    body(computed.each_mut().map(|it| &mut **it));
    for (computed, x) in computed.iter().zip(x) {
        store_all(computed, x);
    }
}

/// Elements as they are computed: borrowed, or converted into a buffer.
pub enum Widened<'a, C: AnyBits> {
    /// The elements of the operand.
    Same(&'a [C]),
    /// The converted elements of the operand.
    Converted(Buffer<C>),
}

impl<C: AnyBits> Deref for Widened<'_, C> {
    type Target = [C];

    fn deref(&self) -> &[C] {
        match self {
            Self::Same(x) => x,
            Self::Converted(x) => x,
        }
    }
}

/// Converts an operand on all cores.
fn convert_all<T: Precision>(x: &[T]) -> Buffer<T::Compute> {
    let mut out = Buffer::new(x.len());
    for_each_chunk(&mut out, cost::Cheap.grain(), |start, out| {
        T::widen(&x[start..start + out.len()], out)
    });
    out
}

/// Rounds a result on all cores.
fn store_all<T: Precision>(x: &[T::Compute], out: &mut [T]) {
    for_each_chunk(out, cost::Cheap.grain(), |start, out| {
        // SAFETY: `narrow` writes elements only, as the trait's implementations guarantee.
        let out = unsafe { as_uninit(out) };
        T::narrow(&x[start..start + out.len()], out)
    });
}

/// Returns elements that are to be overwritten by other elements.
///
/// # Safety
/// - The caller writes elements only, so that all of them stay initialized.
unsafe fn as_uninit<T>(x: &mut [T]) -> &mut [MaybeUninit<T>] {
    // SAFETY: both types have one layout, and the caller writes elements only.
    unsafe { std::slice::from_raw_parts_mut(x.as_mut_ptr().cast(), x.len()) }
}

/// Returns elements that have been written.
///
/// # Safety
/// - All elements are initialized.
unsafe fn as_init<T>(x: &mut [MaybeUninit<T>]) -> &mut [T] {
    // SAFETY: both types have one layout, and the caller guarantees that the elements are initialized.
    unsafe { std::slice::from_raw_parts_mut(x.as_mut_ptr().cast(), x.len()) }
}

macro_rules! computed_in_their_own_type {
    ($($ty:ty)*) => {$(
        // SAFETY: `narrow` writes elements only.
        unsafe impl Precision for $ty {
            type Compute = Self;

            #[inline(always)]
            fn as_compute(x: &[Self]) -> Option<&[Self]> { Some(x) }
            #[inline(always)]
            fn as_compute_mut(x: &mut [Self]) -> Option<&mut [Self]> { Some(x) }
            #[inline(always)]
            fn as_compute_uninit(x: &mut [MaybeUninit<Self>]) -> Option<&mut [MaybeUninit<Self>]> { Some(x) }
            #[inline(always)]
            fn to_compute(self) -> Self { self }
            #[inline(always)]
            fn from_compute(x: Self) -> Self { x }
            fn widen(x: &[Self], out: &mut [Self]) { out.copy_from_slice(x) }
            fn narrow(x: &[Self], out: &mut [MaybeUninit<Self>]) { convert(x, out, MaybeUninit::new) }
        }
    )*};
}

computed_in_their_own_type!(Bool u64 i64 f32 f64 Complex64);

macro_rules! computed_in_i64 {
    ($($int:ty)*) => {$(
        // SAFETY: `narrow` writes elements only.
        unsafe impl Precision for $int {
            type Compute = i64;

            #[inline(always)]
            fn as_compute(_: &[Self]) -> Option<&[i64]> { None }
            #[inline(always)]
            fn as_compute_mut(_: &mut [Self]) -> Option<&mut [i64]> { None }
            #[inline(always)]
            fn as_compute_uninit(_: &mut [MaybeUninit<Self>]) -> Option<&mut [MaybeUninit<i64>]> { None }
            #[inline(always)]
            fn to_compute(self) -> i64 { self.into() }
            #[inline(always)]
            fn from_compute(x: i64) -> Self { x as Self }
            #[inline(always)]
            fn wrapped(x: i64) -> i64 { (x as Self).into() }
            fn widen(x: &[Self], out: &mut [i64]) { convert(x, out, i64::from) }
            fn narrow(x: &[i64], out: &mut [MaybeUninit<Self>]) {
                convert(x, out, #[inline(always)] |x| MaybeUninit::new(x as Self))
            }
        }
    )*};
}

computed_in_i64!(u8 i8 u16 i16 u32 i32);

macro_rules! computed_in_f32 {
    ($($ty:ty: $widen:expr, $narrow:expr, { $($lanes:tt)* };)*) => {$(
        // SAFETY: `narrow` writes elements only, and `map_in_registers` calls `map_halves`, which writes all.
        unsafe impl Precision for $ty {
            type Compute = f32;

            #[inline(always)]
            fn as_compute(_: &[Self]) -> Option<&[f32]> { None }
            #[inline(always)]
            fn as_compute_mut(_: &mut [Self]) -> Option<&mut [f32]> { None }
            #[inline(always)]
            fn as_compute_uninit(_: &mut [MaybeUninit<Self>]) -> Option<&mut [MaybeUninit<f32>]> { None }
            #[inline(always)]
            fn to_compute(self) -> f32 { self.to_f32() }
            #[inline(always)]
            fn from_compute(x: f32) -> Self { Self::from_f32(x) }
            fn widen(x: &[Self], out: &mut [f32]) { $widen(x, out) }
            fn narrow(x: &[f32], out: &mut [MaybeUninit<Self>]) { $narrow(x, out) }
            $($lanes)*
        }
    )*};
}

computed_in_f32! {
    F16: widen_halves, |x, out| half::narrow(Isa::current(), x, out), {
        fn map_in_registers<U: Precision>(
            cost: impl Cost,
            operands: [&[Self]; 2],
            out: &mut [MaybeUninit<U>],
            f: impl Fn(f32, f32) -> U::Compute + Sync + Copy,
        ) -> bool {
            let f16c = F16c::from_isa(Isa::current());
            let Some(f16c) = f16c.filter(|_| cost.is_bound_by_memory()) else {
                return false;
            };
            map::map_halves(f16c, cost, operands, out, f);
            true
        }
        #[inline(always)]
        fn narrow_lanes(f16c: F16c, x: &[f32; LANES]) -> [Self; LANES] { f16c.narrow(x) }
    };
    Bf16: |x, out| convert(x, out, Bf16::to_f32), |x, out| convert(x, out, #[inline(always)] |x| {
        MaybeUninit::new(Bf16::from_f32(x))
    }), {};
}

/// Converts halves on this thread.
fn widen_halves(x: &[F16], out: &mut [f32]) {
    // SAFETY: `widen` writes elements only.
    half::widen(Isa::current(), x, unsafe { as_uninit(out) });
}

/// Writes `f` of each element on this thread.
fn convert<A: Copy, B>(x: &[A], out: &mut [B], f: impl Fn(A) -> B) {
    assert_eq!(x.len(), out.len(), "operand and result differ in length");
    Isa::current().vectorize_narrow(
        #[inline(always)]
        || {
            out.iter_mut().zip(x).for_each(
                #[inline(always)]
                |(out, x)| *out = f(*x),
            )
        },
    );
}
