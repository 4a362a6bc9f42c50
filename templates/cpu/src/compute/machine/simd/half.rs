//! Conversions between [`F16`] and `f32`, by the instructions of F16C where the machine has them.
//!
//! Operators of float16 convert 16 elements in registers. Those of bfloat16 and of small integers convert blocks,
//! whose loops are those of `f32` and `i64`: these loops are most of what the compiler spends on this crate, and a
//! conversion of bfloat16 is an instruction or two.

use super::{Isa, Level};
#[cfg(not(target_arch = "x86_64"))]
use crate::compute::machine::array;
use sp_plugin::F16;
use std::mem::MaybeUninit;

/// Writes all elements, converted exactly up to the bits of NaN.
///
/// # Panics
/// Panics if the lengths differ.
pub fn widen(isa: Isa, x: &[F16], out: &mut [MaybeUninit<f32>]) {
    assert_eq!(x.len(), out.len(), "operand and result differ in length");
    #[cfg(target_arch = "x86_64")]
    match isa.level() {
        // SAFETY: `isa` proves that the machine has AVX2 and F16C.
        Level::Avx2 | Level::Avx512 => return unsafe { f16c::widen(x, out) },
        _ => {}
    }
    isa.vectorize(
        #[inline(always)]
        || {
            for (out, x) in out.iter_mut().zip(x) {
                out.write(x.to_f32());
            }
        },
    );
}

/// Writes all elements, rounded as [`F16::from_f32`] does.
///
/// # Panics
/// Panics if the lengths differ.
pub fn narrow(isa: Isa, x: &[f32], out: &mut [MaybeUninit<F16>]) {
    assert_eq!(x.len(), out.len(), "operand and result differ in length");
    #[cfg(target_arch = "x86_64")]
    match isa.level() {
        // SAFETY: `isa` proves that the machine has AVX2 and F16C.
        Level::Avx2 | Level::Avx512 => return unsafe { f16c::narrow(x, out) },
        _ => {}
    }
    isa.vectorize(
        #[inline(always)]
        || {
            for (out, x) in out.iter_mut().zip(x) {
                out.write(F16::from_f32(*x));
            }
        },
    );
}

/// The elements that two instructions convert.
pub const LANES: usize = 16;

/// A proof that the machine has F16C, for loops that convert operands and results in registers.
#[derive(Clone, Copy, Debug)]
pub struct F16c {
    _private: (),
}

impl F16c {
    /// Returns the proof, or `None` if the instruction set lacks F16C.
    #[inline]
    pub fn from_isa(isa: Isa) -> Option<Self> {
        (isa.level() >= Level::Avx2).then_some(Self { _private: () })
    }

    /// Runs `body`, compiled for AVX2 and F16C. Write the closure as for [`Isa::vectorize`].
    #[inline(always)]
    pub fn vectorize<R>(self, body: impl FnOnce() -> R) -> R {
        // SAFETY: `self` exists only if the machine has AVX2 and F16C.
        #[cfg(target_arch = "x86_64")]
        return unsafe { super::x86::avx2::run(body) };
        #[cfg(not(target_arch = "x86_64"))]
        body()
    }

    /// Returns the elements, converted as [`widen`] does. It is inlined in the closures of [`F16c::vectorize`].
    #[inline(always)]
    pub fn widen(self, x: &[F16; LANES]) -> [f32; LANES] {
        // SAFETY: `self` exists only if the machine has AVX2 and F16C.
        #[cfg(target_arch = "x86_64")]
        return unsafe { f16c::widen_array(x) };
        #[cfg(not(target_arch = "x86_64"))]
        array::map(*x, F16::to_f32)
    }

    /// Returns the elements, converted as [`narrow`] does, and inlined as [`F16c::widen`].
    #[inline(always)]
    pub fn narrow(self, x: &[f32; LANES]) -> [F16; LANES] {
        // SAFETY: `self` exists only if the machine has AVX2 and F16C.
        #[cfg(target_arch = "x86_64")]
        return unsafe { f16c::narrow_array(x) };
        #[cfg(not(target_arch = "x86_64"))]
        array::map(*x, F16::from_f32)
    }
}

/// Conversions with the instructions of F16C.
#[cfg(target_arch = "x86_64")]
mod f16c {
    use super::{F16, LANES, MaybeUninit, quiet};
    use crate::compute::machine::array;
    use core::arch::x86_64::*;

    #[target_feature(enable = "avx2,f16c")]
    pub(super) fn widen(x: &[F16], out: &mut [MaybeUninit<f32>]) {
        let (x, x_rest) = x.as_chunks::<LANES>();
        let (out, out_rest) = out.as_chunks_mut::<LANES>();
        for (x, out) in x.iter().zip(out) {
            *out = array::map(widen_array(x), MaybeUninit::new);
        }
        if x_rest.is_empty() {
            return;
        }
        let mut last = [F16::default(); LANES];
        last[..x_rest.len()].copy_from_slice(x_rest);
        let last = array::map(widen_array(&last), MaybeUninit::new);
        out_rest.copy_from_slice(&last[..x_rest.len()]);
    }

    #[target_feature(enable = "avx2,f16c")]
    pub(super) fn narrow(x: &[f32], out: &mut [MaybeUninit<F16>]) {
        let (x, x_rest) = x.as_chunks::<LANES>();
        let (out, out_rest) = out.as_chunks_mut::<LANES>();
        for (x, out) in x.iter().zip(out) {
            *out = array::map(narrow_array(x), MaybeUninit::new);
        }
        if x_rest.is_empty() {
            return;
        }
        let mut last = [0.0; LANES];
        last[..x_rest.len()].copy_from_slice(x_rest);
        let last = array::map(narrow_array(&last), MaybeUninit::new);
        out_rest.copy_from_slice(&last[..x_rest.len()]);
    }

    #[inline]
    #[target_feature(enable = "avx2,f16c")]
    pub(super) fn widen_array(x: &[F16; LANES]) -> [f32; LANES] {
        let mut out = [0.0; LANES];
        // SAFETY: 8 elements of 16 bits are read, and as many of 32 bits are written: the first of the arrays.
        unsafe {
            let halves = _mm_loadu_si128(x.as_ptr().cast());
            _mm256_storeu_ps(out.as_mut_ptr(), _mm256_cvtph_ps(halves));
        }
        // SAFETY: as above, of the last 8 of 16 elements.
        unsafe {
            let halves = _mm_loadu_si128(x.as_ptr().add(8).cast());
            _mm256_storeu_ps(out.as_mut_ptr().add(8), _mm256_cvtph_ps(halves));
        }
        out
    }

    /// Rounds to nearest, ties to even.
    #[inline]
    #[target_feature(enable = "avx2,f16c")]
    pub(super) fn narrow_array(x: &[f32; LANES]) -> [F16; LANES] {
        const ROUNDING: i32 = _MM_FROUND_TO_NEAREST_INT;
        let mut bits = [0_u16; LANES];
        // SAFETY: all 16 elements of 32 bits are read, and as many of 16 bits are written.
        unsafe {
            let low = _mm256_cvtps_ph::<ROUNDING>(_mm256_loadu_ps(x.as_ptr()));
            let high = _mm256_cvtps_ph::<ROUNDING>(_mm256_loadu_ps(x.as_ptr().add(8)));
            _mm256_storeu_si256(bits.as_mut_ptr().cast(), _mm256_set_m128i(high, low));
        }
        array::map(bits, quiet)
    }
}

/// Returns an element of these bits. Every NaN becomes the quiet one of its sign; the conversion would keep some of its
/// other bits.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn quiet(bits: u16) -> F16 {
    let is_nan = bits & 0x7fff > 0x7c00;
    F16(if is_nan { bits & 0x8000 | 0x7e00 } else { bits })
}
