//! Functions of the bits of integers of up to 64 bits. Shifts are computed in `i64`.

use crate::compute::scalar::arith::Integer;

/// Returns the number of bits that are 1.
#[inline(always)]
pub fn ones<T: Integer>(x: T) -> u8 {
    // The conversion extends the sign, so the bits above the type's are left out.
    let width = 8 * size_of::<T>() as u32;
    (x.to_bits() << (64 - width)).count_ones() as u8
}

/// Moves the bits up. A distance below 0 is 0, and one that is too large for the integer `T` is the largest.
pub fn shift_left<T>(x: i64, by: i64) -> i64 {
    x << by.clamp(0, largest_shift::<T>())
}

/// Moves the bits down, with copies of the sign. Distances are those of [`shift_left`].
pub fn shift_right<T>(x: i64, by: i64) -> i64 {
    x >> by.clamp(0, largest_shift::<T>())
}

/// Returns the largest distance of a shift of the integer `T`.
const fn largest_shift<T>() -> i64 {
    8 * size_of::<T>() as i64 - 1
}
