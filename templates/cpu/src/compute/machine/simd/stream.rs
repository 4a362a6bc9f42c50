//! Copies that bypass the caches. Such stores do not read the target's memory first, which saves a quarter to a half of
//! the memory traffic of an elementwise kernel with a large result.

use super::{Isa, Level};
use std::cell::Cell;
use std::marker::PhantomData;

/// Copies that bypass the caches, into targets that are borrowed for `'t`, until the copies are stored.
#[derive(Debug)]
pub struct Streams<'t> {
    isa: Isa,
    has_copied: Cell<bool>,
    /// With a shorter lifetime, a target could be used before its copy is stored.
    targets: PhantomData<Cell<&'t ()>>,
}

/// Calls `copy` with [`Streams`]. All copies are stored before later stores of this thread when the function returns; until then
/// their targets are borrowed.
///
/// ```compile_fail
/// use sp_cpu::compute::simd::{Isa, stream::with_streams};
/// let mut target = [0_u8; 64];
/// with_streams(Isa::current(), |streams| {
///     streams.copy(&[1; 64], &mut target);
///     target[0]
/// });
/// ```
pub fn with_streams<'t, R>(isa: Isa, copy: impl FnOnce(&Streams<'t>) -> R) -> R {
    copy(&Streams {
        isa,
        has_copied: Cell::new(false),
        targets: PhantomData,
    })
}

impl Drop for Streams<'_> {
    fn drop(&mut self) {
        if self.has_copied.get() {
            // SAFETY: SSE is part of x86-64.
            #[cfg(target_arch = "x86_64")]
            unsafe {
                core::arch::x86_64::_mm_sfence();
            }
        }
    }
}

impl<'t> Streams<'t> {
    /// Copies `from` to `to`. Bypasses the caches if the machine has AVX and `to` is aligned to a cache line.
    ///
    /// # Panics
    /// Panics if the lengths differ.
    #[inline(never)]
    pub fn copy<T: Copy>(&self, from: &[T], to: &'t mut [T]) {
        assert_eq!(from.len(), to.len(), "source and target differ in length");
        let bytes = size_of_val(from);
        if self.isa.level() < Level::Avx2
            || !to.as_ptr().addr().is_multiple_of(64)
            || !bytes.is_multiple_of(64)
        {
            return to.copy_from_slice(from);
        }
        self.has_copied.set(true);
        // SAFETY: both slices are this many bytes long, a whole number of aligned lines; `isa` proves that the machine has
        // AVX. Nothing reads `to` before `'t` has ended, which is after the drop of `self`, which orders the stores.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            copy_lines(from.as_ptr().cast(), to.as_mut_ptr().cast(), bytes / 64);
        }
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
            let range = start..start + len.min(500 - start);
            let (from, target) = (&from[..range.len()], &mut to[range.clone()]);
            with_streams(isa, |it| it.copy(from, target));
            assert_eq!(to[range], *from);
            assert!(to[..start].iter().all(|x| *x == 0));
        }
    }
}
