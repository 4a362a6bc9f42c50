//! The cost of one element of a loop: how its work is divided, and how wide its vectors are.
//!
//! Loops of a few instructions have vectors of at most 256 bits. After floating-point arithmetic in 512 bits a core
//! runs all later code more slowly, TensorFlow's own included, and large tensors wait for memory with either width.
//! Convolutions, products and functions such as `exp` have 512 bits.
//!
//! Functions that read a table have a cost of their own, [`Tabulated`], whose loops write blocks on the stack. The
//! compiler does not vectorize a loop if the result could overlap the table, and in a plugin it does not know that of
//! a tensor. Blocks in all loops of moderate cost would make some of these slower.

use crate::compute::machine::simd::Isa;

/// The cost of one element.
pub trait Cost: Copy + Sync {
    /// The minimal number of elements in a task: 5 to 20 microseconds of work. A tensor with less than two such tasks is
    /// computed on the calling thread only.
    const GRAIN: usize;

    /// Returns [`GRAIN`](Self::GRAIN).
    fn grain(self) -> usize {
        Self::GRAIN
    }

    /// Returns true if a loop over a large result waits for memory.
    fn is_bound_by_memory(self) -> bool;

    /// Returns true if the function reads tables. The compiler vectorizes its loop only if no element of the result is
    /// written to memory that could be the table's.
    fn reads_tables(self) -> bool {
        false
    }

    /// Runs the loop of a task, compiled for this instruction set. Write the closure as for [`Isa::vectorize`]. Only the
    /// closure has a value of `R`, so that no implementation returns without running it.
    fn vectorize<R>(self, isa: Isa, body: impl FnOnce() -> R) -> R;
}

/// A few instructions: add, compare, cast. They need no vectors of 512 bits ([`Isa::vectorize_narrow`]).
#[derive(Clone, Copy, Debug)]
pub struct Cheap;

impl Cost for Cheap {
    const GRAIN: usize = 64 * 1024;

    fn is_bound_by_memory(self) -> bool {
        true
    }

    #[inline(always)]
    fn vectorize<R>(self, isa: Isa, body: impl FnOnce() -> R) -> R {
        isa.vectorize_narrow(body)
    }
}

macro_rules! computed {
    ($($(#[$doc:meta])* $cost:ident: $grain:expr, $reads_tables:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $cost;

        impl Cost for $cost {
            const GRAIN: usize = $grain;

            fn is_bound_by_memory(self) -> bool {
                false
            }

            fn reads_tables(self) -> bool {
                $reads_tables
            }

            #[inline(always)]
            fn vectorize<R>(self, isa: Isa, body: impl FnOnce() -> R) -> R {
                isa.vectorize(body)
            }
        }
    )*};
}

computed! {
    /// Some vectorized tens of instructions: exp, atan.
    Moderate: 16 * 1024, false;
    /// Some vectorized tens of instructions and a read from a table: sin.
    Tabulated: 16 * 1024, true;
    /// Some ten nanoseconds: pow, sinh.
    Expensive: 2 * 1024, false;
}
