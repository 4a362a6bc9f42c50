//! The memory of a device: its allocations, and memory that TensorFlow has freed while work may use it.

use std::collections::HashMap;
use std::mem;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::host_pool::HostPool;
use super::pending::PendingMemory;
use crate::accelerator::address_map::AddressMap;
use crate::accelerator::allocation::{BlockMemory, Dropped};
use crate::accelerator::{Accelerator, HostMemory, host_function};

/// The memory of a device, in the order in which it is dropped.
pub(super) struct Memory<A: Accelerator> {
    pub blocks: AddressMap<A>,
    pub dropped: Dropped<A>,
    pub host_pool: HostPool,
    host_blocks: Mutex<HashMap<usize, HostMemory>>,
    retired: Mutex<Vec<Retired<A>>>,
}

/// Memory that TensorFlow has freed. It is dropped when no stream shares the use count.
struct Retired<A: Accelerator> {
    use_count: Arc<()>,
    _memory: RetiredMemory<A>,
}

pub(super) enum RetiredMemory<A: Accelerator> {
    Device(#[expect(dead_code, reason = "owned until no stream uses it")] Vec<BlockMemory<A>>),
    Host(#[expect(dead_code, reason = "owned until no stream uses it")] HostMemory),
    Work(#[expect(dead_code, reason = "owned until no stream uses it")] PendingMemory),
}

impl<A: Accelerator> Memory<A> {
    pub fn new() -> Self {
        Self {
            blocks: AddressMap::new(),
            dropped: Dropped::new(),
            host_pool: HostPool::default(),
            host_blocks: Mutex::default(),
            retired: Mutex::default(),
        }
    }

    /// Adds host memory that TensorFlow uses at `start`.
    pub fn insert_host(&self, start: NonNull<u8>, memory: HostMemory) {
        let previous = self.host_blocks().insert(start.as_ptr() as usize, memory);
        debug_assert!(previous.is_none(), "the driver has two blocks at {start:?}");
    }

    /// Removes the host memory that TensorFlow uses at `start`.
    pub fn remove_host(&self, start: usize) -> Option<HostMemory> {
        self.host_blocks().remove(&start)
    }

    fn host_blocks(&self) -> MutexGuard<'_, HashMap<usize, HostMemory>> {
        self.host_blocks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Owns memory until nobody shares its use count.
    pub fn retire(&self, use_count: Arc<()>, memory: RetiredMemory<A>) {
        let _memory = memory;
        self.retired().push(Retired { use_count, _memory });
        self.reclaim();
    }

    /// Drops the memory that no work uses any more.
    pub fn reclaim(&self) {
        if host_function::is_running() {
            return;
        }
        let is_free = |it: &mut Retired<A>| Arc::strong_count(&it.use_count) == 1;
        let free: Vec<_> = self.retired().extract_if(.., is_free).collect();
        // Outside of the lock: the driver may take long.
        drop(free);
    }

    /// Returns true if memory that TensorFlow has freed may still be in use.
    pub fn has_retired(&self) -> bool {
        !self.retired().is_empty() || !self.dropped.is_empty()
    }

    fn retired(&self) -> MutexGuard<'_, Vec<Retired<A>>> {
        self.retired.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Frees all memory, which no work uses. Leaks what a stream that was destroyed before its end still shares.
    pub fn free(&mut self) {
        drop(mem::replace(&mut self.blocks, AddressMap::new()));
        drop(self.dropped.take());
        self.reclaim();
        self.retired().drain(..).for_each(mem::forget);
    }

    /// Leaks all memory, which work may use.
    pub fn leak(&mut self) {
        mem::forget(mem::replace(&mut self.blocks, AddressMap::new()));
        mem::forget(mem::replace(&mut self.dropped, Dropped::new()));
        forget_content(&mut self.host_blocks);
        forget_content(&mut self.retired);
        self.host_pool.leak();
    }
}

/// Leaks a value, without a lock, which another thread may have had at a fork.
fn forget_content<T: Default>(mutex: &mut Mutex<T>) {
    let content = mutex.get_mut();
    mem::forget(mem::take(content.unwrap_or_else(PoisonError::into_inner)));
}
