//! Conversions between [`F16`] and `f32`, by the instructions of F16C where the machine has them.

use super::Isa;
#[cfg(target_arch = "x86_64")]
use super::Level;
use sp_plugin::F16;
use std::mem::MaybeUninit;

/// Converts all elements exactly, up to the bits of NaN.
///
/// # Panics
/// Panics if the lengths differ.
pub fn widen(isa: Isa, x: &[F16], out: &mut [f32]) {
    assert_eq!(x.len(), out.len(), "operand and result differ in length");
    #[cfg(target_arch = "x86_64")]
    match isa.level() {
        // SAFETY: `isa` proves that the machine has AVX-512.
        Level::Avx512 => return unsafe { avx512::widen(x, out) },
        // SAFETY: `isa` proves that the machine has AVX2 and F16C.
        Level::Avx2 => return unsafe { f16c::widen(x, out) },
        _ => {}
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
    match isa.level() {
        // SAFETY: `isa` proves that the machine has AVX-512.
        Level::Avx512 => return unsafe { avx512::narrow(x, out) },
        // SAFETY: `isa` proves that the machine has AVX2 and F16C.
        Level::Avx2 => return unsafe { f16c::narrow(x, out) },
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

/// Conversions with the registers of an instruction set, which hold `$count` elements.
#[cfg(target_arch = "x86_64")]
macro_rules! conversions {
    ($module:ident: $features:literal, $count:literal, $load:ident $widen:ident $store:ident, $load_wide:ident $narrow:ident $store_narrow:ident) => {
        mod $module {
            use super::{F16, MaybeUninit, quiet};
            use crate::compute::array;
            use core::arch::x86_64::*;

            const COUNT: usize = $count;

            #[target_feature(enable = $features)]
            pub(super) fn widen(x: &[F16], out: &mut [f32]) {
                let (x, x_rest) = x.as_chunks::<COUNT>();
                let (out, out_rest) = out.as_chunks_mut::<COUNT>();
                for (x, out) in x.iter().zip(out) {
                    *out = widen_register(x);
                }
                if x_rest.is_empty() {
                    return;
                }
                let mut last = [F16::default(); COUNT];
                last[..x_rest.len()].copy_from_slice(x_rest);
                out_rest.copy_from_slice(&widen_register(&last)[..x_rest.len()]);
            }

            #[target_feature(enable = $features)]
            pub(super) fn narrow(x: &[f32], out: &mut [MaybeUninit<F16>]) {
                let (x, x_rest) = x.as_chunks::<COUNT>();
                let (out, out_rest) = out.as_chunks_mut::<COUNT>();
                for (x, out) in x.iter().zip(out) {
                    *out = array::map(narrow_register(x), MaybeUninit::new);
                }
                if x_rest.is_empty() {
                    return;
                }
                let mut last = [0.0; COUNT];
                last[..x_rest.len()].copy_from_slice(x_rest);
                let last = array::map(narrow_register(&last), MaybeUninit::new);
                out_rest.copy_from_slice(&last[..x_rest.len()]);
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn widen_register(x: &[F16; COUNT]) -> [f32; COUNT] {
                let mut out = [0.0; COUNT];
                // SAFETY: `COUNT` elements of 16 bits are read, and as many of 32 bits are written.
                unsafe { $store(out.as_mut_ptr(), $widen($load(x.as_ptr().cast()))) };
                out
            }

            /// Rounds to nearest, ties to even.
            #[inline]
            #[target_feature(enable = $features)]
            fn narrow_register(x: &[f32; COUNT]) -> [F16; COUNT] {
                let mut bits = [0_u16; COUNT];
                // SAFETY: `COUNT` elements of 32 bits are read, and as many of 16 bits are written.
                unsafe {
                    let halves = $narrow::<_MM_FROUND_TO_NEAREST_INT>($load_wide(x.as_ptr()));
                    $store_narrow(bits.as_mut_ptr().cast(), halves);
                }
                array::map(bits, quiet)
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
conversions!(f16c: "avx2,f16c", 8, _mm_loadu_si128 _mm256_cvtph_ps _mm256_storeu_ps, _mm256_loadu_ps _mm256_cvtps_ph _mm_storeu_si128);
#[cfg(target_arch = "x86_64")]
conversions!(avx512: "avx512f,avx512bw,avx512vl", 16, _mm256_loadu_si256 _mm512_cvtph_ps _mm512_storeu_ps, _mm512_loadu_ps _mm512_cvtps_ph _mm256_storeu_si256);

/// Returns an element of these bits. Every NaN becomes the quiet one of its sign; the conversion would keep some of its
/// other bits.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn quiet(bits: u16) -> F16 {
    let is_nan = bits & 0x7fff > 0x7c00;
    F16(if is_nan { bits & 0x8000 | 0x7e00 } else { bits })
}
