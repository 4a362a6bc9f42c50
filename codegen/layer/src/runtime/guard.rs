//! Guarded host memory of copies, for `--guard`.
//!
//! A slot that copies gets memory of the layer in place of core's: a copy of the bytes that ends at an inaccessible page. The
//! call returns when the work on its stream is done. So the bytes around are compared, and a target is copied back, before core
//! uses either.

use super::capture::device;
use super::check::arguments::Arguments;
use super::check::finding;
use super::description::{Function, Kind};
use super::settings::settings;
use super::system::{self, Pages};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Alignment of the memory, which is that of core's tensors. Up to so many bytes are between its end and the page.
const ALIGNMENT: usize = 64;
/// The bytes around the memory.
const FILLER: u8 = 0xa5;
const RULE: &str = "host_memory_bounds";

/// The pages in use, with the slot that has them.
static IN_USE: Mutex<Vec<(Pages, &'static str)>> = Mutex::new(Vec::new());

fn lock() -> MutexGuard<'static, Vec<(Pages, &'static str)>> {
    IN_USE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The memory of a copy that has not returned.
#[derive(Debug)]
pub struct Guard {
    function: &'static Function,
    pages: Pages,
    size: usize,
    /// The memory of core.
    original: usize,
    is_target: bool,
}

/// Returns guarded memory if `function` copies to or from host memory, and if it is on request.
///
/// # Safety
/// - The arguments are those of a call of `function`.
pub unsafe fn begin(function: &'static Function, arguments: &[u64]) -> Option<Guard> {
    if !settings().guards || function.kind != Kind::Slot {
        return None;
    }
    let call = Arguments {
        function,
        values: arguments,
    };
    let (source, target) = (call.get("host_src"), call.get("host_dst"));
    let original = source.or(target)? as usize;
    let size = usize::try_from(call.get("size")?).ok()?;
    // Work on the stream may write the source.
    // SAFETY: the caller of the slot passes a live device, stream and status.
    if original == 0 || size == 0 || !unsafe { wait(&call) } {
        return None;
    }
    // SAFETY: the caller of the slot passes `size` readable bytes, as those of a target are, too.
    unsafe { Guard::new(function, (original, size), source.is_none()) }
}

/// Waits for the stream of a copy, if it has one. Returns false if that is not possible, or if the work has failed.
///
/// # Safety
/// - The device, the stream and the status of the call are live.
unsafe fn wait(call: &Arguments<'_>) -> bool {
    let Some(stream) = call.get("stream") else {
        return true;
    };
    let (Some(device), Some(status)) = (call.get("device"), call.get("status")) else {
        return false;
    };
    // SAFETY: as the caller guarantees.
    unsafe {
        if device::can_wait() && call.is_ok() {
            device::wait(device, stream, status);
            return call.is_ok();
        }
    }
    false
}

impl Guard {
    /// # Safety
    /// - `size` bytes at `original` are readable.
    unsafe fn new(
        function: &'static Function,
        (original, size): (usize, usize),
        is_target: bool,
    ) -> Option<Self> {
        let pages = system::map_guarded(size.checked_next_multiple_of(ALIGNMENT)?)?;
        let guard = Self {
            function,
            pages,
            size,
            original,
            is_target,
        };
        // SAFETY: the pages are new and writable, and have room for the bytes at the address.
        unsafe {
            (pages.start as *mut u8).write_bytes(FILLER, pages.length);
            (guard.address() as *mut u8).copy_from_nonoverlapping(original as *const u8, size);
        }
        lock().push((pages, function.name));
        Some(guard)
    }

    /// Returns the address of the memory.
    pub fn address(&self) -> usize {
        self.pages.start + self.pages.length - self.size.next_multiple_of(ALIGNMENT)
    }

    /// Waits for the copy, checks the bytes around it, and copies a target back.
    ///
    /// # Safety
    /// - The arguments are those of the call, which has returned.
    pub unsafe fn finish(self, arguments: &[u64]) {
        let call = Arguments {
            function: self.function,
            values: arguments,
        };
        // SAFETY: the status, the device and the stream are those of the call, and live until it returns to core.
        let is_done = unsafe { wait(&call) };
        if let Some(offset) = self.changed_byte() {
            let detail = format!("wrote byte {offset} of {} bytes of host memory", self.size);
            finding(RULE, self.function.name, &detail);
        }
        if self.is_target {
            // SAFETY: core's target has `size` writable bytes until the copy is done, and other memory is the layer's.
            unsafe {
                (self.original as *mut u8)
                    .copy_from_nonoverlapping(self.address() as *const u8, self.size);
            }
        }
        // After an error the device may still use it.
        if is_done {
            lock().retain(|it| it.0 != self.pages);
            // SAFETY: the work on the stream is done, and nothing else has the address.
            unsafe { system::unmap_guarded(self.pages) };
        }
    }

    /// Returns the offset from the memory of the first byte around it that has changed.
    fn changed_byte(&self) -> Option<isize> {
        let Pages { start, length } = self.pages;
        // SAFETY: the pages are mapped until the guard ends.
        let bytes = unsafe { std::slice::from_raw_parts(start as *const u8, length) };
        let first = self.address() - start;
        let mut around = (0..first).chain(first + self.size..length);
        let changed = around.find(|it| bytes[*it] != FILLER)?;
        Some(changed as isize - first as isize)
    }
}

/// Reports an access to an inaccessible page beside the memory of a copy.
pub fn report_fault(address: usize) {
    // The thread that has the lock may be this one.
    let Ok(pages) = IN_USE.try_lock() else { return };
    let found = pages.iter().find(|it| it.0.is_beside(address)).copied();
    drop(pages);
    if let Some((pages, function)) = found {
        let side = match address < pages.start {
            true => "before",
            false => "after",
        };
        let detail = format!("accessed {address:#x}, {side} the host memory of the copy");
        finding(RULE, function, &detail);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::description::Type;

    static COPY: Function = Function::new("SP_StreamExecutor.copy", Kind::Slot, &[], Type::Void);

    #[test]
    fn bytes_around_the_memory_are_compared_and_a_target_is_copied_back() {
        let mut target = [1_u8; 100];
        let memory = (target.as_mut_ptr() as usize, target.len());
        // SAFETY: the array has as many bytes.
        let guard = unsafe { Guard::new(&COPY, memory, true) }.unwrap();
        assert!(guard.address().is_multiple_of(ALIGNMENT));
        assert_eq!(guard.changed_byte(), None);
        let bytes = guard.address() as *mut u8;
        // SAFETY: the memory has 128 bytes up to the page.
        unsafe {
            bytes.add(99).write(7);
            assert_eq!(guard.changed_byte(), None);
            bytes.add(100).write(7);
        }
        assert_eq!(guard.changed_byte(), Some(100));
        let pages = guard.pages;
        assert!(pages.is_beside(pages.start + pages.length) && !pages.is_beside(pages.start));
        // SAFETY: the call has neither a stream nor a device.
        unsafe { guard.finish(&[]) };
        assert_eq!((target[98], target[99]), (1, 7));
    }
}
