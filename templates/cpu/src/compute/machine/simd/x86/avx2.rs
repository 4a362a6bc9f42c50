//! Closures that are compiled for AVX2. In a module of its own, since the compiler translates the instances of a
//! module's functions on one thread.

/// Runs `body`, compiled for AVX2.
///
/// # Safety
/// - [`has_avx2`](super::has_avx2) returns true.
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2")]
pub unsafe fn run<R>(body: impl FnOnce() -> R) -> R {
    body()
}
