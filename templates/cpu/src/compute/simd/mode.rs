//! How a thread rounds and treats subnormals. TensorFlow sets its own threads to flush subnormals to zero; threads that help
//! them must do the same, or a result would depend on who computed it.

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
}
