//! Host memory that ends at an inaccessible page, for what a plugin is told the length of.

use std::ptr::NonNull;

use crate::fault;
use crate::memory::POISON;
use crate::record::{map, page};

/// Bytes, all poisoned at first; whoever touches the byte behind the last faults.
pub(crate) struct Guarded {
    map: NonNull<u8>,
    mapped: usize,
    start: NonNull<u8>,
    len: usize,
    ticket: fault::Ticket,
}

impl Guarded {
    /// `len` bytes; `name` is what they are called where somebody leaves them.
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
        let ticket = fault::guard(guard, guard + page(), start.as_ptr() as usize, name);
        Self {
            map,
            mapped,
            start,
            len,
            ticket,
        }
    }

    /// A copy of `bytes`.
    pub fn of(bytes: &[u8], name: &'static &'static str) -> Self {
        let mut guarded = Self::new(bytes.len(), name);
        guarded.bytes_mut().copy_from_slice(bytes);
        guarded
    }

    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the map holds as many bytes, all written.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`, and the owner is borrowed alone.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.ticket.release();
        // SAFETY: the map is this value's own.
        unsafe { libc::munmap(self.map.as_ptr().cast(), self.mapped) };
    }
}
