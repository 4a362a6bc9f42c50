//! aarch64: the registers of NEON, which is part of the architecture.

use super::Lanes;
use core::arch::aarch64::*;

register!(F32x4, f32, 4, float32x4_t, "Four `f32` of NEON.",
    vdupq_n_f32 vld1q_f32 vst1q_f32 vaddq_f32, (sum, x, y) => vfmaq_f32(sum, x, y));
register!(F64x2, f64, 2, float64x2_t, "Two `f64` of NEON.",
    vdupq_n_f64 vld1q_f64 vst1q_f64 vaddq_f64, (sum, x, y) => vfmaq_f64(sum, x, y));
