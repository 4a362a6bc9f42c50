//! Conversions between [`F16`] and `f32`, by the instructions of F16C where the machine has them.

use super::Isa;
use sp_plugin::F16;
use std::mem::MaybeUninit;

/// Converts all elements exactly, up to the bits of NaN.
///
/// # Panics
/// Panics if the lengths differ.
pub fn widen(isa: Isa, x: &[F16], out: &mut [f32]) {
    assert_eq!(x.len(), out.len(), "operand and result differ in length");
    #[cfg(target_arch = "x86_64")]
    if isa.level() >= super::Level::Avx2 {
        // SAFETY: `isa` proves that the machine has AVX and F16C.
        return unsafe { f16c::widen(x, out) };
    }
    isa.vectorize(
        #[inline(always)]
        || {
            for (out, x) in out.iter_mut().zip(x) {
                *out = x.to_f32();
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
    if isa.level() >= super::Level::Avx2 {
        // SAFETY: `isa` proves that the machine has AVX and F16C.
        return unsafe { f16c::narrow(x, out) };
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

#[cfg(target_arch = "x86_64")]
mod f16c {
    use super::{F16, MaybeUninit};
    use core::arch::x86_64::*;

    /// The elements of a register.
    const COUNT: usize = 8;

    #[target_feature(enable = "avx,f16c")]
    pub(super) fn widen(x: &[F16], out: &mut [f32]) {
        let (x, x_rest) = x.as_chunks::<COUNT>();
        let (out, out_rest) = out.as_chunks_mut::<COUNT>();
        for (x, out) in x.iter().zip(out) {
            *out = widen_register(x);
        }
        let mut last = [F16::default(); COUNT];
        last[..x_rest.len()].copy_from_slice(x_rest);
        out_rest.copy_from_slice(&widen_register(&last)[..x_rest.len()]);
    }

    #[target_feature(enable = "avx,f16c")]
    pub(super) fn narrow(x: &[f32], out: &mut [MaybeUninit<F16>]) {
        let (x, x_rest) = x.as_chunks::<COUNT>();
        let (out, out_rest) = out.as_chunks_mut::<COUNT>();
        for (x, out) in x.iter().zip(out) {
            *out = narrow_register(x).map(MaybeUninit::new);
        }
        let mut last = [0.0; COUNT];
        last[..x_rest.len()].copy_from_slice(x_rest);
        out_rest.copy_from_slice(&narrow_register(&last).map(MaybeUninit::new)[..x_rest.len()]);
    }

    #[inline]
    #[target_feature(enable = "avx,f16c")]
    fn widen_register(x: &[F16; COUNT]) -> [f32; COUNT] {
        let mut out = [0.0; COUNT];
        // SAFETY: eight elements of 16 bits are read, and eight of 32 bits are written.
        unsafe {
            let x = _mm_loadu_si128(x.as_ptr().cast());
            _mm256_storeu_ps(out.as_mut_ptr(), _mm256_cvtph_ps(x));
        }
        out
    }

    /// Rounds to nearest, ties to even. Every NaN becomes the quiet one of its sign, before the conversion would keep some
    /// of its other bits.
    #[inline]
    #[target_feature(enable = "avx,f16c")]
    fn narrow_register(x: &[f32; COUNT]) -> [F16; COUNT] {
        let mut out = [F16::default(); COUNT];
        // SAFETY: eight elements of 32 bits are read, and eight of 16 bits are written.
        unsafe {
            let x = _mm256_loadu_ps(x.as_ptr());
            let sign = _mm256_and_ps(x, _mm256_set1_ps(-0.0));
            let nan = _mm256_or_ps(sign, _mm256_set1_ps(f32::NAN));
            let is_nan = _mm256_cmp_ps::<_CMP_UNORD_Q>(x, x);
            let x = _mm256_blendv_ps(x, nan, is_nan);
            let halves = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(x);
            _mm_storeu_si128(out.as_mut_ptr().cast(), halves);
        }
        out
    }
}
