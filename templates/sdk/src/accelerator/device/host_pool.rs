//! Host memory for reuse.
//!
//! Each staged kernel needs host memory for its copies. Drivers take long to allocate memory that the system does not move,
//! so that freed blocks are reused.

use std::collections::BTreeMap;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::accelerator::HostMemory;

/// The most bytes that a device has for reuse: such memory is scarce.
const LIMIT: usize = 64 << 20;

/// A block may be as much larger than what is asked for, apart from twice its size.
const SLACK: usize = 4096;

/// Blocks of host memory that nobody uses.
#[derive(Default)]
pub(super) struct HostPool(Mutex<Blocks>);

#[derive(Default)]
struct Blocks {
    by_len: BTreeMap<usize, Vec<HostMemory>>,
    bytes: usize,
}

impl HostPool {
    /// Removes a block with room for `bytes` aligned bytes, which have any values.
    pub fn take(&self, bytes: usize) -> Option<HostMemory> {
        let largest = bytes.saturating_mul(2).saturating_add(SLACK);
        let mut blocks = self.blocks();
        let mut fitting = blocks.by_len.range_mut(bytes..=largest);
        let memory = fitting.find_map(|(_, blocks)| {
            let index = blocks.iter().position(|it| it.aligned(bytes).is_some())?;
            Some(blocks.swap_remove(index))
        })?;
        blocks.bytes -= memory.len();
        Some(memory)
    }

    /// Adds a block that nobody uses.
    ///
    /// # Errors
    /// Returns the block if there would be too much memory.
    pub fn add(&self, memory: HostMemory) -> Result<(), HostMemory> {
        let mut blocks = self.blocks();
        if memory.len() > LIMIT.saturating_sub(blocks.bytes) {
            return Err(memory);
        }
        blocks.bytes += memory.len();
        blocks.by_len.entry(memory.len()).or_default().push(memory);
        Ok(())
    }

    /// Removes all blocks, which the caller frees. Returns true if there were any.
    pub fn clear(&self) -> bool {
        let blocks = mem::take(&mut *self.blocks());
        blocks.bytes > 0
    }

    fn blocks(&self) -> MutexGuard<'_, Blocks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leaks the blocks, without a lock, which another thread may have had at a fork.
    pub fn leak(&mut self) {
        let blocks = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        mem::forget(mem::take(blocks));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(bytes: usize) -> HostMemory {
        HostMemory::zeroed(bytes).unwrap()
    }

    #[test]
    fn block_is_reused_for_a_request_of_similar_size() {
        let pool = HostPool::default();
        pool.add(memory(100_000))
            .unwrap_or_else(|_| panic!("there is room"));
        assert!(pool.take(100_001).is_none());
        assert!(pool.take(10_000).is_none());
        assert_eq!(pool.take(60_000).map(|it| it.len()), Some(100_000));
        assert!(pool.take(60_000).is_none());
    }

    #[test]
    fn block_beyond_the_limit_is_returned() {
        let pool = HostPool::default();
        assert!(pool.add(memory(LIMIT)).is_ok());
        assert_eq!(pool.add(memory(1)).err().map(|it| it.len()), Some(1));
        assert!(pool.clear());
        assert!(!pool.clear());
        assert!(pool.add(memory(1)).is_ok());
    }
}
