//! Input that is long without a long text: runs of a repeated pattern. A mutation of a byte changes a size.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Largest input, in bytes.
const MAX_BYTES: usize = 4 << 20;

/// Returns the bytes that `runs` describes: for each run the length of a pattern, the pattern, and a number of repetitions in
/// two bytes.
pub fn expand(mut runs: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    while let Some((run, rest)) = next_run(runs) {
        let (pattern, count) = run;
        let room = (MAX_BYTES - bytes.len()) / pattern.len().max(1);
        bytes.extend(pattern.repeat(count.min(room)));
        runs = rest;
    }
    bytes
}

type Run<'a> = (&'a [u8], usize);

fn next_run(runs: &[u8]) -> Option<(Run<'_>, &[u8])> {
    let (length, rest) = runs.split_first()?;
    let (pattern, rest) = rest.split_at_checked(usize::from(*length))?;
    let (count, rest) = rest.split_first_chunk()?;
    Some(((pattern, usize::from(u16::from_le_bytes(*count))), rest))
}

/// An allocator that counts the bytes in use.
pub struct Counting;

/// The number of allocated bytes, and its maximum since the last [`most_taken`].
static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller's obligations are those of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's obligations are those of the system's allocator.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Returns the most bytes that `work` had allocated at a time.
pub fn most_taken(work: impl FnOnce()) -> usize {
    let before = NOW.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    work();
    MOST.load(Ordering::Relaxed) - before
}
