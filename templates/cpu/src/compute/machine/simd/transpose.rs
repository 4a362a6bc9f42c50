//! Transposition of squares of elements in registers.

use super::Isa;
#[cfg(target_arch = "x86_64")]
use super::Level;

/// Rows and columns of a square.
pub const SIDE: usize = 8;

/// Writes the columns of a square of `from` as the rows of a square of `to`. Rows of the squares are `from_row` and
/// `to_row` elements apart.
///
/// # Panics
/// Panics if a square is not inside of its slice.
#[inline(always)]
#[cfg_attr(not(target_arch = "x86_64"), allow(unused_variables))]
pub fn square<T: Copy>(isa: Isa, from: &[T], from_row: usize, to: &mut [T], to_row: usize) {
    let from = &from[..square_len(from_row)];
    let to = &mut to[..square_len(to_row)];
    #[cfg(target_arch = "x86_64")]
    if size_of::<T>() == 4 && isa.level() >= Level::Avx2 {
        // SAFETY: both squares are inside of their slices; `isa` proves that the machine has AVX.
        return unsafe {
            words(
                from.as_ptr().cast(),
                from_row,
                to.as_mut_ptr().cast(),
                to_row,
            )
        };
    }
    for row in 0..SIDE {
        for column in 0..SIDE {
            to[row * to_row + column] = from[column * from_row + row];
        }
    }
}

/// Returns the number of elements from the first to the last of a square, which no slice has if it would wrap.
#[inline(always)]
fn square_len(row: usize) -> usize {
    row.saturating_mul(SIDE - 1).saturating_add(SIDE)
}

/// Transposes a square of elements of four bytes: pairs, then fours, then the halves of registers. It is assembly, since
/// the bytes may be padding.
///
/// # Safety
/// - The machine has AVX.
/// - [`SIDE`] rows of [`SIDE`] elements may be read from `from` and written to `to`. The rows are `from_row` and `to_row`
///   elements apart, and those written do not overlap those read.
#[cfg(target_arch = "x86_64")]
unsafe fn words(from: *const u32, from_row: usize, to: *mut u32, to_row: usize) {
    // SAFETY: the caller guarantees access to the rows. All registers of AVX are declared as clobbered, by their lower
    // halves.
    unsafe {
        core::arch::asm!(
            "vmovups ymm0, [{a}]",
            "vmovups ymm1, [{a} + {s}]",
            "vmovups ymm2, [{a} + 2*{s}]",
            "vmovups ymm3, [{a} + {s3}]",
            "vmovups ymm4, [{b}]",
            "vmovups ymm5, [{b} + {s}]",
            "vmovups ymm6, [{b} + 2*{s}]",
            "vmovups ymm7, [{b} + {s3}]",
            "vunpcklps ymm8, ymm0, ymm1",
            "vunpckhps ymm9, ymm0, ymm1",
            "vunpcklps ymm10, ymm2, ymm3",
            "vunpckhps ymm11, ymm2, ymm3",
            "vunpcklps ymm12, ymm4, ymm5",
            "vunpckhps ymm13, ymm4, ymm5",
            "vunpcklps ymm14, ymm6, ymm7",
            "vunpckhps ymm15, ymm6, ymm7",
            "vshufps ymm0, ymm8, ymm10, 0x44",
            "vshufps ymm1, ymm8, ymm10, 0xEE",
            "vshufps ymm2, ymm9, ymm11, 0x44",
            "vshufps ymm3, ymm9, ymm11, 0xEE",
            "vshufps ymm4, ymm12, ymm14, 0x44",
            "vshufps ymm5, ymm12, ymm14, 0xEE",
            "vshufps ymm6, ymm13, ymm15, 0x44",
            "vshufps ymm7, ymm13, ymm15, 0xEE",
            "vperm2f128 ymm8, ymm0, ymm4, 0x20",
            "vperm2f128 ymm9, ymm1, ymm5, 0x20",
            "vperm2f128 ymm10, ymm2, ymm6, 0x20",
            "vperm2f128 ymm11, ymm3, ymm7, 0x20",
            "vperm2f128 ymm12, ymm0, ymm4, 0x31",
            "vperm2f128 ymm13, ymm1, ymm5, 0x31",
            "vperm2f128 ymm14, ymm2, ymm6, 0x31",
            "vperm2f128 ymm15, ymm3, ymm7, 0x31",
            "vmovups [{c}], ymm8",
            "vmovups [{c} + {t}], ymm9",
            "vmovups [{c} + 2*{t}], ymm10",
            "vmovups [{c} + {t3}], ymm11",
            "vmovups [{d}], ymm12",
            "vmovups [{d} + {t}], ymm13",
            "vmovups [{d} + 2*{t}], ymm14",
            "vmovups [{d} + {t3}], ymm15",
            "vzeroupper",
            a = in(reg) from,
            b = in(reg) from.add(4 * from_row),
            s = in(reg) 4 * from_row,
            s3 = in(reg) 12 * from_row,
            c = in(reg) to,
            d = in(reg) to.add(4 * to_row),
            t = in(reg) 4 * to_row,
            t3 = in(reg) 12 * to_row,
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
            out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
            out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
            out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
            options(nostack, preserves_flags),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The slices end with the squares, so that AddressSanitizer finds an access behind one.
    fn assert_transposed<T: Copy + PartialEq + std::fmt::Debug>(element: impl Fn(usize) -> T) {
        for (from_row, to_row) in [(8, 8), (9, 8), (8, 11), (100, 17)] {
            let from: Vec<T> = (0..7 * from_row + 8).map(&element).collect();
            for isa in Isa::available() {
                let mut to = vec![element(1_000); 7 * to_row + 8];
                square(isa, &from, from_row, &mut to, to_row);
                for (index, value) in to.iter().enumerate() {
                    let (row, column) = (index / to_row, index % to_row);
                    let expected = match column < SIDE {
                        true => from[column * from_row + row],
                        false => element(1_000),
                    };
                    assert_eq!(*value, expected, "{isa:?}: row {row}, column {column}");
                }
            }
        }
    }

    #[test]
    fn columns_become_rows_and_nothing_else_is_written() {
        assert_transposed(|i| i as u16);
        assert_transposed(|i| i as u32);
        assert_transposed(|i| [i as u8, (i >> 8) as u8, 1, 2]);
        assert_transposed(|i| i as u64);
    }

    /// Seven times this distance wraps to 5.
    #[test]
    #[should_panic(expected = "range end index")]
    fn distance_of_rows_that_wraps_panics() {
        let row = usize::MAX / 7 + 1;
        assert_eq!(row.wrapping_mul(7), 5);
        square(Isa::current(), &[0_u32; 64], row, &mut [0; 64], 8);
    }

    #[test]
    #[should_panic(expected = "range end index")]
    fn square_outside_of_its_slice_panics() {
        square(Isa::current(), &[0_u32; 63], 8, &mut [0; 64], 8);
    }
}
