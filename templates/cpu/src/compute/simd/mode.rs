//! How a thread rounds and treats subnormals. TensorFlow sets its own threads to flush subnormals to zero; threads that help
//! them must do the same, or a result would depend on who computed it.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use core::arch::asm;

/// A thread's floating-point mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FloatMode(u64);

impl FloatMode {
    /// That of this thread.
    #[cfg(target_arch = "x86_64")]
    pub fn current() -> Self {
        let mut word = 0_u32;
        // SAFETY: stores MXCSR into the word.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut word, options(nostack)) };
        Self((word & !0x3F).into())
    }

    /// Makes it this thread's.
    #[cfg(target_arch = "x86_64")]
    pub fn enter(self) {
        if self != Self::current() {
            let word = self.0 as u32;
            // SAFETY: a value that MXCSR had in another thread of this process, without its exception flags.
            unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const word, options(nostack)) };
        }
    }

    /// That of this thread.
    #[cfg(target_arch = "aarch64")]
    pub fn current() -> Self {
        let word: u64;
        // SAFETY: reads FPCR.
        unsafe { asm!("mrs {}, fpcr", out(reg) word, options(nomem, nostack)) };
        Self(word)
    }

    /// Makes it this thread's.
    #[cfg(target_arch = "aarch64")]
    pub fn enter(self) {
        // SAFETY: a value that FPCR had in another thread of this process.
        unsafe { asm!("msr fpcr, {}", in(reg) self.0, options(nomem, nostack)) };
    }

    /// That of this thread: all alike on this machine, as far as we know.
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    pub fn current() -> Self {
        Self(0)
    }

    /// Makes it this thread's.
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    pub fn enter(self) {}
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::compute::parallel;
    use std::hint::black_box;

    #[test]
    fn helping_threads_flush_subnormals_where_the_caller_does() {
        let before = FloatMode::current();
        for flushes in [true, false] {
            let mode = FloatMode(if flushes {
                before.0 | 0x8040
            } else {
                before.0 & !0x8040
            });
            mode.enter();
            parallel::run(64, |_| {
                assert_eq!(FloatMode::current(), mode);
                assert_eq!(black_box(1e-40_f32) * black_box(1.0) == 0.0, flushes);
            });
        }
        before.enter();
    }
}
