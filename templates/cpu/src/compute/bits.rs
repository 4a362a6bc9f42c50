//! Functions of the bits of integers.

use super::arith::Integer;
use std::ops::{BitAnd, BitOr, BitXor, Not};

/// An integer with functions of its bits.
pub trait Bits:
    Copy + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + Not<Output = Self>
{
    /// Moves the bits up. A distance below 0 is 0, and one that is too large is the largest.
    fn shift_left(self, by: Self) -> Self;
    /// Moves the bits down, with copies of the sign. Distances are those of [`shift_left`](Self::shift_left).
    fn shift_right(self, by: Self) -> Self;
}

/// Returns the number of bits that are 1.
#[inline(always)]
pub fn ones<T: Integer>(x: T) -> u8 {
    // The conversion extends the sign, so the bits above the type's are left out.
    let width = 8 * size_of::<T>() as u32;
    (x.to_bits() << (64 - width)).count_ones() as u8
}

macro_rules! bits {
    ($($int:ident)*) => {$(
        impl Bits for $int {
            #[inline(always)]
            fn shift_left(self, by: Self) -> Self {
                self << by.clamp(0, $int::BITS as Self - 1)
            }

            #[inline(always)]
            fn shift_right(self, by: Self) -> Self {
                self >> by.clamp(0, $int::BITS as Self - 1)
            }
        }
    )*};
}

bits!(u8 i32 i64);
