//! aarch64: the registers of NEON, which is part of the architecture.

use super::Lanes;
use core::arch::aarch64::*;

macro_rules! register {
    ($name:ident, $scalar:ty, $count:literal, $raw:ty, $doc:literal, $splat:ident $load:ident $store:ident $fma:ident $add:ident) => {
        #[doc = $doc]
        #[derive(Clone, Copy)]
        pub struct $name($raw);

        // SAFETY: a load or store of one register accesses `COUNT` scalars.
        unsafe impl Lanes for $name {
            type Scalar = $scalar;
            const COUNT: usize = $count;

            #[inline(always)]
            unsafe fn splat(x: $scalar) -> Self {
                // SAFETY: NEON is part of aarch64.
                Self(unsafe { $splat(x) })
            }

            #[inline(always)]
            unsafe fn load(from: *const $scalar) -> Self {
                // SAFETY: NEON is part of aarch64; the caller guarantees that `COUNT` scalars may be read.
                Self(unsafe { $load(from) })
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $scalar) {
                // SAFETY: NEON is part of aarch64; the caller guarantees that `COUNT` scalars may be written.
                unsafe { $store(to, self.0) }
            }

            #[inline(always)]
            unsafe fn mul_add(self, x: Self, y: Self) -> Self {
                // SAFETY: NEON is part of aarch64.
                Self(unsafe { $fma(self.0, x.0, y.0) })
            }

            #[inline(always)]
            unsafe fn add(self, x: Self) -> Self {
                // SAFETY: NEON is part of aarch64.
                Self(unsafe { $add(self.0, x.0) })
            }
        }
    };
}

register!(F32x4, f32, 4, float32x4_t, "Four `f32` of NEON.", vdupq_n_f32 vld1q_f32 vst1q_f32 vfmaq_f32 vaddq_f32);
register!(F64x2, f64, 2, float64x2_t, "Two `f64` of NEON.", vdupq_n_f64 vld1q_f64 vst1q_f64 vfmaq_f64 vaddq_f64);
