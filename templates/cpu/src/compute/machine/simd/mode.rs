//! The floating-point mode of a thread: rounding and subnormals. TensorFlow's threads flush subnormals to zero, and the
//! pool's workers must do the same, or a result would depend on the thread that computed it.
//!
//! Rust assumes the default mode for its own float operations. The threads on which TensorFlow calls a kernel have another one
//! in any case; that compilers do not evaluate float operations on subnormals by other rules at compile time is what each
//! program that flushes them relies on. No address and no length depends on a float here.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use core::arch::asm;

/// A thread's floating-point mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FloatMode(u64);

impl FloatMode {
    /// Returns this thread's mode.
    #[cfg(target_arch = "x86_64")]
    pub fn current() -> Self {
        let mut word = 0_u32;
        // SAFETY: the instruction stores MXCSR into `word`, a live `u32`.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut word, options(nostack)) };
        Self((word & !0x3F).into())
    }

    /// Sets this thread's mode.
    #[cfg(target_arch = "x86_64")]
    pub fn apply(self) {
        if self != Self::current() {
            let word = self.0 as u32;
            // SAFETY: the value was the MXCSR of a thread of this process, without its exception flags.
            unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const word, options(nostack)) };
        }
    }

    /// Returns this thread's mode.
    #[cfg(target_arch = "aarch64")]
    pub fn current() -> Self {
        let word: u64;
        // SAFETY: the instruction reads FPCR into a register.
        unsafe { asm!("mrs {}, fpcr", out(reg) word, options(nomem, nostack)) };
        Self(word)
    }

    /// Sets this thread's mode.
    #[cfg(target_arch = "aarch64")]
    pub fn apply(self) {
        // SAFETY: the value was the FPCR of a thread of this process.
        unsafe { asm!("msr fpcr, {}", in(reg) self.0, options(nomem, nostack)) };
    }

    /// Returns this thread's mode; this target has one mode.
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    pub fn current() -> Self {
        Self(0)
    }

    /// Sets this thread's mode.
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    pub fn apply(self) {}
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use super::*;
    use crate::compute::machine::parallel;
    use std::hint::black_box;

    /// The bits that flush subnormals: of inputs and results in MXCSR, of both in FPCR.
    const FLUSH: u64 = if cfg!(target_arch = "x86_64") {
        0x8040
    } else {
        1 << 24
    };

    #[test]
    fn workers_flush_subnormals_if_caller_does() {
        let before = FloatMode::current();
        for flushes in [true, false] {
            let mode = FloatMode(if flushes {
                before.0 | FLUSH
            } else {
                before.0 & !FLUSH
            });
            mode.apply();
            parallel::run(64, |_| {
                assert_eq!(FloatMode::current(), mode);
                assert_eq!(black_box(1e-40_f32) * black_box(1.0) == 0.0, flushes);
            });
        }
        before.apply();
    }
}
