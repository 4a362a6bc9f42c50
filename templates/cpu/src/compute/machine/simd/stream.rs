//! Copies that bypass the caches. Such stores do not read the target's memory first, which saves a quarter to a half of
//! the memory traffic of an elementwise kernel with a large result.

use super::{Isa, Level};

/// Copies `from` to `to`. Bypasses the caches if the machine has AVX and `to` is aligned to a cache line. The elements are
/// stored before later stores of this thread, such as a flag for a finished result.
///
/// # Panics
/// Panics if the lengths differ.
#[inline(never)]
pub fn copy<T: Copy>(isa: Isa, from: &[T], to: &mut [T]) {
    assert_eq!(from.len(), to.len(), "source and target differ in length");
    let bytes = size_of_val(from);
    if isa.level() < Level::Avx2
        || !to.as_ptr().addr().is_multiple_of(64)
        || !bytes.is_multiple_of(64)
    {
        return to.copy_from_slice(from);
    }
    #[cfg(target_arch = "x86_64")]
    // SAFETY: both slices are this many bytes long, a whole number of aligned lines; `isa` proves that the machine has
    // AVX, and SSE is part of x86-64.
    unsafe {
        copy_lines(from.as_ptr().cast(), to.as_mut_ptr().cast(), bytes / 64);
        core::arch::x86_64::_mm_sfence();
    }
}

/// Copies lines in assembly, since the bytes may be padding. Uses only AVX: mixing in SSE is slow, and the caller's
/// loops use AVX.
///
/// # Safety
/// - The machine has AVX.
/// - `count` lines of 64 bytes may be read from `from` and written to `to`.
/// - `to` is aligned to 64 bytes.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn copy_lines(from: *const u8, to: *mut u8, count: usize) {
    for line in 0..count {
        // SAFETY: this line is in both ranges; the two registers are declared as clobbered by their lower halves.
        unsafe {
            core::arch::asm!(
                "vmovups ymm0, [{from}]",
                "vmovups ymm1, [{from} + 32]",
                "vmovntps [{to}], ymm0",
                "vmovntps [{to} + 32], ymm1",
                from = in(reg) from.add(line * 64),
                to = in(reg) to.add(line * 64),
                out("xmm0") _,
                out("xmm1") _,
                options(nostack, preserves_flags),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_any_alignment_and_length() {
        let from: Vec<u16> = (0..500).collect();
        for (isa, (start, len)) in Isa::available().flat_map(|isa| {
            [(0, 0), (0, 32), (0, 500), (1, 64), (7, 200), (32, 256)].map(|case| (isa, case))
        }) {
            let mut to = vec![0; 500];
            copy(
                isa,
                &from[..len.min(500 - start)],
                &mut to[start..][..len.min(500 - start)],
            );
            assert_eq!(
                to[start..][..len.min(500 - start)],
                from[..len.min(500 - start)]
            );
            assert!(to[..start].iter().all(|x| *x == 0));
        }
    }
}
