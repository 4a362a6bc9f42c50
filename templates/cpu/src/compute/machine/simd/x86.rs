//! x86-64: detection, functions that compile closures for an instruction set, and the registers of AVX2 and AVX-512.

pub(super) mod avx2;
pub(super) mod avx512;

use super::Lanes;
use crate::compute::machine::array;
use core::arch::x86_64::*;

pub(super) fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("f16c")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
}

pub(super) fn has_avx512() -> bool {
    has_avx2()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
}

register!(F32x16, f32, 16, __m512, "Sixteen `f32` of AVX-512.",
    _mm512_set1_ps _mm512_loadu_ps _mm512_storeu_ps _mm512_add_ps,
    (sum, x, y) => _mm512_fmadd_ps(x, y, sum); 8 transpose_f32);
register!(F64x8, f64, 8, __m512d, "Eight `f64` of AVX-512.",
    _mm512_set1_pd _mm512_loadu_pd _mm512_storeu_pd _mm512_add_pd,
    (sum, x, y) => _mm512_fmadd_pd(x, y, sum); 4 transpose_f64);
register!(F32x8, f32, 8, __m256, "Eight `f32` of AVX2 with FMA.",
    _mm256_set1_ps _mm256_loadu_ps _mm256_storeu_ps _mm256_add_ps,
    (sum, x, y) => _mm256_fmadd_ps(x, y, sum); 8 transpose_f32);
register!(F64x4, f64, 4, __m256d, "Four `f64` of AVX2 with FMA.",
    _mm256_set1_pd _mm256_loadu_pd _mm256_storeu_pd _mm256_add_pd,
    (sum, x, y) => _mm256_fmadd_pd(x, y, sum); 4 transpose_f64);
register!(PairsX16, f32, 16, __m512,
    "Sixteen `f32`, or pairs of bfloat16 whose products are added to them, of AVX512-BF16.",
    _mm512_set1_ps _mm512_loadu_ps _mm512_storeu_ps _mm512_add_ps,
    (sum, x, y) => _mm512_dpbf16_ps(sum, pairs(x), pairs(y)));

impl PairsX16 {
    /// Returns true if the machine has AVX512-BF16 beside AVX-512.
    pub fn is_available() -> bool {
        has_avx512() && is_x86_feature_detected!("avx512bf16")
    }
}

#[inline(always)]
fn pairs(x: __m512) -> __m512bh {
    // SAFETY: both types are 512 bits, of which all are valid.
    unsafe { std::mem::transmute(x) }
}

/// Transposes 8 by 8: pairs, then fours, then the halves of registers.
///
/// # Safety
/// - The machine has AVX2.
/// - 8 rows of 8 scalars may be read from `from` and written to `to`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn transpose_f32(from: *const f32, from_row: usize, to: *mut f32, to_row: usize) {
    // SAFETY: row i is one of the 8.
    let r: [__m256; 8] = array::from_fn(
        #[inline(always)]
        |i| unsafe { _mm256_loadu_ps(from.add(i * from_row)) },
    );
    let pairs = |i: usize| {
        (
            _mm256_unpacklo_ps(r[i], r[i + 1]),
            _mm256_unpackhi_ps(r[i], r[i + 1]),
        )
    };
    let fours = |i: usize| {
        let ((a, b), (c, d)) = (pairs(i), pairs(i + 2));
        [
            _mm256_shuffle_ps::<0x44>(a, c),
            _mm256_shuffle_ps::<0xEE>(a, c),
            _mm256_shuffle_ps::<0x44>(b, d),
            _mm256_shuffle_ps::<0xEE>(b, d),
        ]
    };
    let (top, bottom) = (fours(0), fours(4));
    for i in 0..4 {
        // SAFETY: rows i and i + 4 are among the 8.
        unsafe {
            _mm256_storeu_ps(
                to.add(i * to_row),
                _mm256_permute2f128_ps::<0x20>(top[i], bottom[i]),
            );
            _mm256_storeu_ps(
                to.add((i + 4) * to_row),
                _mm256_permute2f128_ps::<0x31>(top[i], bottom[i]),
            );
        }
    }
}

/// Transposes 4 by 4.
///
/// # Safety
/// - The machine has AVX2.
/// - 4 rows of 4 scalars may be read from `from` and written to `to`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn transpose_f64(from: *const f64, from_row: usize, to: *mut f64, to_row: usize) {
    // SAFETY: row i is one of the 4.
    let r: [__m256d; 4] = array::from_fn(
        #[inline(always)]
        |i| unsafe { _mm256_loadu_pd(from.add(i * from_row)) },
    );
    let pairs = |i: usize| {
        [
            _mm256_unpacklo_pd(r[i], r[i + 1]),
            _mm256_unpackhi_pd(r[i], r[i + 1]),
        ]
    };
    let (top, bottom) = (pairs(0), pairs(2));
    for i in 0..2 {
        // SAFETY: rows i and i + 2 are among the 4.
        unsafe {
            _mm256_storeu_pd(
                to.add(i * to_row),
                _mm256_permute2f128_pd::<0x20>(top[i], bottom[i]),
            );
            _mm256_storeu_pd(
                to.add((i + 2) * to_row),
                _mm256_permute2f128_pd::<0x31>(top[i], bottom[i]),
            );
        }
    }
}
