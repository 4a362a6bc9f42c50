//! Host memory for reuse.
//!
//! Each staged kernel needs host memory for its copies. Drivers take long to allocate memory that the system does not move,
//! so that freed blocks are reused.

use std::collections::BTreeMap;
use std::mem;
use std::ops::RangeInclusive;
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

impl Blocks {
    /// Removes the shortest block of these lengths that `fits` accepts.
    fn take(
        &mut self,
        lengths: RangeInclusive<usize>,
        fits: impl Fn(&HostMemory) -> bool,
    ) -> Option<HostMemory> {
        let mut found = self.by_len.range_mut(lengths).filter_map(|(len, blocks)| {
            let index = blocks.iter().position(&fits)?;
            Some((*len, blocks.swap_remove(index), blocks.is_empty()))
        });
        let (len, memory, is_last) = found.next()?;
        if is_last {
            self.by_len.remove(&len);
        }
        self.bytes -= len;
        Some(memory)
    }
}

impl HostPool {
    /// Removes a block with room for `bytes` aligned bytes, which have any values.
    pub fn take(&self, bytes: usize) -> Option<HostMemory> {
        let largest = bytes.saturating_mul(2).saturating_add(SLACK);
        self.blocks()
            .take(bytes..=largest, |it| it.aligned(bytes).is_some())
    }

    /// Adds a block that nobody uses. Returns blocks that the caller frees, so that there is not too much memory.
    #[must_use = "the caller frees the blocks"]
    pub fn add(&self, memory: HostMemory) -> Vec<HostMemory> {
        let mut blocks = self.blocks();
        if memory.len() > LIMIT {
            return vec![memory];
        }
        let others = match memory.len() > LIMIT - blocks.bytes {
            true => mem::take(&mut *blocks),
            false => Blocks::default(),
        };
        blocks.bytes += memory.len();
        blocks.by_len.entry(memory.len()).or_default().push(memory);
        others.by_len.into_values().flatten().collect()
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
        assert!(pool.add(memory(100_000)).is_empty());
        assert!(pool.take(100_001).is_none());
        assert!(pool.take(10_000).is_none());
        assert_eq!(pool.take(60_000).map(|it| it.len()), Some(100_000));
        assert!(pool.take(60_000).is_none());
        assert!(pool.blocks().by_len.is_empty());
    }

    #[test]
    fn blocks_beyond_the_limit_are_returned() {
        let lengths =
            |blocks: Vec<HostMemory>| -> Vec<_> { blocks.iter().map(|it| it.len()).collect() };
        let pool = HostPool::default();
        assert_eq!(lengths(pool.add(memory(LIMIT + 1))), [LIMIT + 1]);
        assert!(pool.add(memory(LIMIT - 10)).is_empty());
        assert!(pool.add(memory(10)).is_empty());
        assert_eq!(lengths(pool.add(memory(1))), [10, LIMIT - 10]);
        assert_eq!(pool.blocks().bytes, 1);
        assert!(pool.clear());
        assert!(!pool.clear());
    }
}
