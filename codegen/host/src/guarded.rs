//! Host memory that ends at an inaccessible page, for buffers whose length a plugin is passed.

use std::ptr::NonNull;

use crate::fault;
use crate::memory::POISON;
use crate::record::{map, page};

/// Bytes that are filled with [`POISON`] at first. An access after the last one faults.
pub(crate) struct GuardedMemory {
    map: NonNull<u8>,
    mapped: usize,
    start: NonNull<u8>,
    len: usize,
    guard_slot: fault::GuardSlot,
}

impl GuardedMemory {
    /// Allocates `len` bytes. Reports of an access out of bounds use `name`.
    pub fn new(len: usize, name: &'static &'static str) -> Self {
        let room = len.next_multiple_of(page());
        let mapped = room + page();
        let map = map(mapped);
        // SAFETY: the map has `room` bytes and a page after them.
        let (start, guard) = unsafe {
            map.write_bytes(POISON, room);
            let guard = map.add(room);
            libc::mprotect(guard.as_ptr().cast(), page(), libc::PROT_NONE);
            (map.add(room - len), guard.as_ptr() as usize)
        };
        let guard_slot = fault::guard(guard, guard + page(), start.as_ptr() as usize, name);
        Self {
            map,
            mapped,
            start,
            len,
            guard_slot,
        }
    }

    /// Returns guarded memory with a copy of `bytes`.
    pub fn from_bytes(bytes: &[u8], name: &'static &'static str) -> Self {
        let mut guarded = Self::new(bytes.len(), name);
        guarded.bytes_mut().copy_from_slice(bytes);
        guarded
    }

    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the map holds as many bytes, all written.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`, and `&mut self` makes the access exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for GuardedMemory {
    fn drop(&mut self) {
        self.guard_slot.release();
        // SAFETY: this value created the map, and no reference to it is left.
        unsafe { libc::munmap(self.map.as_ptr().cast(), self.mapped) };
    }
}
