//! Closures that are compiled for AVX-512. In a module of its own, since the compiler translates the instances of a
//! module's functions on one thread.

/// Runs `body`, compiled for AVX-512.
///
/// # Safety
/// - [`has_avx512`](super::has_avx512) returns true.
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,avx512f,avx512bw,avx512dq,avx512vl")]
pub unsafe fn run<R>(body: impl FnOnce() -> R) -> R {
    body()
}
