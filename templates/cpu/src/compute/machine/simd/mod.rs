//! Selection of the instruction set at run time.
//!
//! An [`Isa`] proves that this machine has an instruction set: only detection creates one. [`Isa::vectorize`] compiles
//! its closure once per instruction set, so plain loops over slices become AVX-512, AVX2, NEON or baseline code; the
//! fastest that the machine has is [`Isa::current`]. Only matrix tiles, which are behind [`Lanes`], and conversions of
//! [`half`] need intrinsics.

pub mod half;
#[macro_use]
mod lanes;
mod mode;
#[cfg(target_arch = "aarch64")]
mod neon;
pub mod stream;
pub mod transpose;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use lanes::{Lanes, LanesBody, MAX_LANES, Plain, Registers, Vector};
pub use mode::FloatMode;
#[cfg(target_arch = "aarch64")]
pub use neon::{F32x4, F64x2};
#[cfg(target_arch = "x86_64")]
pub use x86::{F32x8, F32x16, F64x4, F64x8, PairsX16};

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The instruction sets that kernels are compiled for, slowest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Level {
    /// The target's baseline: SSE2 on x86-64.
    Baseline,
    /// aarch64's 128-bit vectors.
    Neon,
    /// AVX2 with FMA, F16C and BMI.
    Avx2,
    /// AVX-512 F, BW, DQ and VL.
    Avx512,
}

impl Level {
    /// All levels, including those that this machine lacks.
    pub const ALL: [Self; 4] = [Self::Baseline, Self::Neon, Self::Avx2, Self::Avx512];

    /// Returns the name of the level in `SP_CPU_ISA`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Neon => "neon",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }
}

/// An instruction set that this machine has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Isa(Level);

thread_local! {
    static FORCED: Cell<Option<Isa>> = const { Cell::new(None) };
}

impl Isa {
    /// Returns the instruction set of kernels that are called on this thread: that of [`Isa::scope`], or the one that
    /// the environment variable `SP_CPU_ISA` names (read once), or the fastest.
    pub fn current() -> Self {
        FORCED.get().unwrap_or_else(Self::configured)
    }

    fn configured() -> Self {
        /// An index into `Level::ALL`, or a larger value before the first call. A `OnceLock` would block a child that
        /// is forked during its initialization.
        static CHOSEN: AtomicUsize = AtomicUsize::new(usize::MAX);
        match Level::ALL.get(CHOSEN.load(Ordering::Relaxed)) {
            Some(level) => Self(*level),
            None => {
                let isa = choose();
                CHOSEN.store(isa.0 as usize, Ordering::Relaxed);
                isa
            }
        }
    }

    /// Returns this level, or `None` if the machine lacks it.
    pub fn detect(level: Level) -> Option<Self> {
        let present = match level {
            Level::Baseline => true,
            Level::Neon => cfg!(target_arch = "aarch64"),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => x86::has_avx2(),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => x86::has_avx512(),
            #[cfg(not(target_arch = "x86_64"))]
            Level::Avx2 | Level::Avx512 => false,
        };
        present.then_some(Self(level))
    }

    /// Returns every instruction set of this machine, slowest first.
    pub fn available() -> impl Iterator<Item = Self> {
        Level::ALL.into_iter().filter_map(Self::detect)
    }

    /// Returns the level.
    pub const fn level(self) -> Level {
        self.0
    }

    /// Runs `body` with this instruction set for all kernels that it calls on this thread. For tests.
    pub fn scope<R>(self, body: impl FnOnce() -> R) -> R {
        struct Restore(Option<Isa>);
        impl Drop for Restore {
            fn drop(&mut self) {
                FORCED.set(self.0);
            }
        }
        let _restore = Restore(FORCED.replace(Some(self)));
        body()
    }

    /// Runs `body`, compiled for this instruction set. Write the closure as `#[inline(always)] || ...`: code that is
    /// not inlined into it is compiled for the baseline.
    #[inline(always)]
    pub fn vectorize<R>(self, body: impl FnOnce() -> R) -> R {
        match self.0 {
            // SAFETY: an `Isa` of this level exists only if the machine has the instruction set.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { x86::avx512::run(body) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { x86::avx2::run(body) },
            _ => body(),
        }
    }

    /// Runs `body` as [`Isa::vectorize`], with vectors of at most 256 bits.
    ///
    /// For loops that wait for memory: floating-point arithmetic in 512 bits makes a core of an Intel processor run all
    /// code 10 % slower, long after the loop, so a call of TensorFlow with a small tensor takes more time.
    #[inline(always)]
    pub fn vectorize_narrow<R>(self, body: impl FnOnce() -> R) -> R {
        match self.0 {
            // SAFETY: an `Isa` of these levels exists only if the machine has AVX2.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 | Level::Avx512 => unsafe { x86::avx2::run(body) },
            _ => body(),
        }
    }
}

/// Returns `x`, which the compiler cannot know. [`std::hint::black_box`] would write to memory what is in registers.
#[inline(always)]
pub fn opaque(x: usize) -> usize {
    let mut x = x;
    if !cfg!(miri) {
        // SAFETY: there is no instruction, only a comment that names the register.
        unsafe {
            std::arch::asm!("/* {x} */", x = inout(reg) x, options(pure, nomem, nostack, preserves_flags));
        }
    }
    x
}

fn choose() -> Isa {
    let fastest = Isa::available().last().unwrap_or(Isa(Level::Baseline));
    let Ok(wanted) = std::env::var("SP_CPU_ISA") else {
        return fastest;
    };
    let found = Isa::available().find(|isa| isa.level().name() == wanted);
    // Two threads may run this at the same time.
    static REPORTED: AtomicBool = AtomicBool::new(false);
    if found.is_none() && !REPORTED.swap(true, Ordering::Relaxed) {
        let names: Vec<_> = Isa::available().map(|isa| isa.level().name()).collect();
        sp_runtime::report!(
            Warn,
            "SP_CPU_ISA={wanted} is not one of {}; using {}",
            names.join(", "),
            fastest.level().name()
        );
    }
    found.unwrap_or(fastest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn available_sets_are_sorted_and_include_baseline() {
        let all: Vec<_> = Isa::available().map(Isa::level).collect();
        assert_eq!(all[0], Level::Baseline);
        assert_eq!(Level::ALL.map(|level| level as usize), [0, 1, 2, 3]);
        assert!(all.is_sorted());
    }

    #[test]
    fn scope_ends_after_return_and_after_panic() {
        let baseline = Isa::detect(Level::Baseline).unwrap();
        let before = Isa::current();
        baseline.scope(|| assert_eq!(Isa::current(), baseline));
        let caught = std::panic::catch_unwind(|| baseline.scope(|| panic!("expected")));
        assert!(caught.is_err());
        assert_eq!(Isa::current(), before);
    }

    #[test]
    fn opaque_returns_its_operand() {
        assert_eq!([0, 7, usize::MAX].map(opaque), [0, 7, usize::MAX]);
    }

    #[test]
    fn vectorize_returns_result_of_closure() {
        for isa in Isa::available() {
            let x: Vec<f32> = (0..100).map(|i| i as f32).collect();
            let sum = isa.vectorize(
                #[inline(always)]
                || x.iter().map(|v| v * 2.0).sum::<f32>(),
            );
            assert_eq!(sum, 9900.0);
        }
    }
}
