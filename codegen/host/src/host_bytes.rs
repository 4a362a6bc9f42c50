//! Host memory that copies of a plugin may use at any time.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::leak_exempt::leak_exempt;
use crate::memory::POISON;

/// Host memory that lasts as long as the process. A plugin that uses it too late is found by its bytes, not by a crash.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HostBytes(&'static [AtomicU8]);

impl HostBytes {
    /// Allocates a source of copies.
    pub fn new(bytes: &[u8]) -> Self {
        let start: *mut [u8] = Box::into_raw(bytes.into());
        // SAFETY: an `AtomicU8` has the layout of a byte, and the pointer comes from a box that nothing else owns.
        let bytes: Box<[AtomicU8]> = unsafe { Box::from_raw(start as *mut [AtomicU8]) };
        Self(leak_exempt(bytes))
    }

    /// Allocates a target of copies.
    pub fn poisoned(len: usize) -> Self {
        Self::new(&vec![POISON; len])
    }

    /// Returns address and size for the source of a copy.
    pub fn source(self) -> (*const u8, usize) {
        (self.0.as_ptr().cast(), self.0.len())
    }

    /// Returns address and size for the target of a copy.
    pub fn target(self) -> (*mut u8, usize) {
        (self.0.as_ptr().cast_mut().cast(), self.0.len())
    }

    pub fn to_vec(self) -> Vec<u8> {
        let bytes = self.0.iter().map(|byte| byte.load(Ordering::Relaxed));
        bytes.collect()
    }

    /// Returns the last byte, one in the middle and the first byte, of which a copy writes the last one late.
    pub fn sample(self) -> [u8; 3] {
        self.sampled().map(|byte| byte.load(Ordering::Relaxed))
    }

    /// Changes the bytes of a sample, at once.
    pub fn spoil(self) {
        for byte in self.sampled() {
            byte.fetch_xor(0xff, Ordering::Relaxed);
        }
    }

    fn sampled(self) -> [&'static AtomicU8; 3] {
        let last = self.0.len() - 1;
        [last, last / 2, 0].map(|at| &self.0[at])
    }
}
