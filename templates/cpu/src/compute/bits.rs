//! Functions of the bits of integers of up to 64 bits. Shifts are computed in `i64`.

use super::arith::Integer;

/// An integer with functions of its bits.
pub trait Bits {
    /// The largest distance of a shift.
    const LARGEST_SHIFT: i64;
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
            const LARGEST_SHIFT: i64 = $int::BITS as i64 - 1;
        }
    )*};
}

bits!(u8 i8 i32 i64);

/// Moves the bits up. A distance below 0 is 0, and one that is too large for `T` is the largest.
pub fn shift_left<T: Bits>(x: i64, by: i64) -> i64 {
    x << by.clamp(0, T::LARGEST_SHIFT)
}

/// Moves the bits down, with copies of the sign. Distances are those of [`shift_left`].
pub fn shift_right<T: Bits>(x: i64, by: i64) -> i64 {
    x >> by.clamp(0, T::LARGEST_SHIFT)
}
