//! Closures that are compiled for AVX2, in a module of their own as those for AVX-512.

/// # Safety
/// - [`has_avx2`](super::has_avx2) returns true.
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2")]
pub unsafe fn run<R>(body: impl FnOnce() -> R) -> R {
    body()
}
