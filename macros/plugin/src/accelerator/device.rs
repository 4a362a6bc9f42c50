//! The device that is made from an accelerator: its memory and its streams.

use std::any::Any;
use std::collections::HashMap;
use std::mem::{self, ManuallyDrop};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};

use sp_runtime::exit;
use sp_runtime::fork::Process;
use sp_runtime::guard::catch_panic;

use super::address_map::AddressMap;
use super::allocation::Block;
use super::api::cancelled;
use super::callback::is_in_host_function;
use super::host_memory::{HostMemory, HostSource, HostTarget};
use super::statistics::Statistics;
use super::stream::{Command, StreamState};
use super::{Accelerator, Event, PeerCopy, Queue, Region, Stream, Timer, limits};
use crate::buffer::ALIGNMENT;
use crate::{Error, Result};

/// The device that has the slots of all releases, made from the accelerator `A`.
pub struct AcceleratorDevice<A: Accelerator>(pub(super) Arc<Shared<A>>);

/// The state of a device. Blocks refer to it.
pub(super) struct Shared<A: Accelerator> {
    memory: AddressMap<A>,
    host_memory: Mutex<HashMap<usize, HostMemory>>,
    retired: Mutex<Vec<Retired<A>>>,
    streams: Mutex<Vec<Weak<StreamState<A>>>>,
    /// The stream of synchronous copies.
    transfers: Mutex<Option<Arc<StreamState<A>>>>,
    pub statistics: Statistics,
    pub process: Process,
    has_exited: AtomicBool,
    // Dropped after everything that it has allocated.
    pub accelerator: A,
}

/// Memory that TensorFlow has freed. It is dropped when no stream shares the use count.
struct Retired<A: Accelerator> {
    use_count: Arc<()>,
    _memory: RetiredMemory<A>,
}

enum RetiredMemory<A: Accelerator> {
    Device(#[expect(dead_code, reason = "owned until no stream uses it")] Arc<Block<A>>),
    Host(#[expect(dead_code, reason = "owned until no stream uses it")] HostMemory),
}

/// The open devices of all types.
static DEVICES: RwLock<Vec<Weak<dyn Any + Send + Sync>>> = RwLock::new(Vec::new());

impl<A: Accelerator> AcceleratorDevice<A> {
    /// Creates the device of an accelerator.
    pub fn new(accelerator: A) -> Self {
        let shared = Arc::new(Shared {
            memory: AddressMap::new(),
            host_memory: Mutex::default(),
            retired: Mutex::default(),
            streams: Mutex::default(),
            transfers: Mutex::default(),
            statistics: Statistics::default(),
            process: Process::current(),
            has_exited: AtomicBool::new(false),
            accelerator,
        });
        let any: Arc<dyn Any + Send + Sync> = shared.clone();
        let mut devices = DEVICES.write().unwrap_or_else(PoisonError::into_inner);
        devices.retain(|it| it.strong_count() > 0);
        devices.push(Arc::downgrade(&any));
        let weak = Arc::downgrade(&shared);
        exit::on_exit(Box::new(move || {
            if let Some(shared) = weak.upgrade() {
                shared.exit();
            }
        }));
        Self(shared)
    }

    /// Returns the accelerator.
    pub fn accelerator(&self) -> &A {
        &self.0.accelerator
    }

    /// Returns the region at an address that TensorFlow has.
    ///
    /// # Errors
    /// Returns an error if no live allocation of this device has these bytes.
    pub fn region(&self, address: usize, bytes: usize) -> Result<Region<A>> {
        self.0.memory.region(address, bytes)
    }
}

impl<A: Accelerator> Shared<A> {
    /// Stops the device, since the process exits.
    pub fn exit(&self) {
        self.has_exited.store(true, Ordering::Release);
        self.accelerator.at_exit();
    }

    /// Checks that the device can be used.
    pub fn check(&self) -> Result<()> {
        self.process.check("the device")?;
        match self.has_exited.load(Ordering::Acquire) {
            false => Ok(()),
            true => Err(cancelled()),
        }
    }

    /// Allocates device memory; returns its address.
    pub fn allocate(self: &Arc<Self>, bytes: usize) -> Result<usize> {
        self.check()?;
        self.reclaim();
        let allocation = self.accelerator.allocate(bytes).or_else(|error| {
            // Memory that TensorFlow has freed may be held by work in progress.
            match self.has_retired() && self.synchronize().is_ok() {
                true => {
                    self.reclaim();
                    self.accelerator.allocate(bytes)
                }
                false => Err(error),
            }
        })?;
        let block = Arc::new(Block::new(allocation, bytes, Arc::downgrade(self))?);
        let start = block.start;
        self.memory.insert(block);
        self.statistics.add(bytes);
        Ok(start)
    }

    /// Frees device memory after the work that may use it.
    pub fn deallocate(&self, start: usize) {
        if self.check().is_err() {
            return;
        }
        let Some(block) = self.memory.remove(start) else {
            if start != 0 {
                sp_runtime::report!(Error, "TensorFlow frees {start:#x}, which is not allocated");
            }
            return;
        };
        self.statistics.remove(block.bytes);
        let use_count = Arc::new(());
        self.streams().iter().for_each(|it| it.hold(&use_count));
        self.retire(use_count, RetiredMemory::Device(block));
    }

    fn retire(&self, use_count: Arc<()>, memory: RetiredMemory<A>) {
        let _memory = memory;
        self.retired().push(Retired { use_count, _memory });
        self.reclaim();
    }

    /// Drops the memory that no work uses any more.
    pub fn reclaim(&self) {
        if is_in_host_function() {
            return;
        }
        let is_free = |it: &mut Retired<A>| Arc::strong_count(&it.use_count) == 1;
        let free: Vec<_> = self.retired().extract_if(.., is_free).collect();
        // Outside of the lock: the driver may take long.
        drop(free);
    }

    fn has_retired(&self) -> bool {
        !self.retired().is_empty()
    }

    fn retired(&self) -> MutexGuard<'_, Vec<Retired<A>>> {
        self.retired.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Allocates host memory.
    pub fn host_allocate(&self, bytes: usize) -> Result<NonNull<u8>> {
        self.check()?;
        self.reclaim();
        let (memory, start) = self.aligned_host_memory(bytes)?;
        let previous = self.host_blocks().insert(start.as_ptr() as usize, memory);
        debug_assert!(previous.is_none(), "the driver has two blocks at {start:?}");
        Ok(start)
    }

    /// Allocates a block of the driver's host memory. Returns it with the address of `bytes` bytes in it, aligned as
    /// TensorFlow requires.
    fn aligned_host_memory(&self, bytes: usize) -> Result<(HostMemory, NonNull<u8>)> {
        let mut memory = self.accelerator.host_allocate(bytes)?;
        if memory.aligned(bytes).is_none() {
            memory = self
                .accelerator
                .host_allocate(bytes.saturating_add(ALIGNMENT))?;
        }
        let short = || Error::resource_exhausted("the driver's host memory is too short");
        let start = memory.aligned(bytes).ok_or_else(short)?;
        Ok((memory, start))
    }

    /// Frees host memory.
    pub fn host_deallocate(&self, start: usize) {
        if self.check().is_err() {
            return;
        }
        if let Some(memory) = self.host_blocks().remove(&start) {
            self.retire(Arc::new(()), RetiredMemory::Host(memory));
        }
    }

    fn host_blocks(&self) -> MutexGuard<'_, HashMap<usize, HostMemory>> {
        self.host_memory
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the region at an address, for a command on this device.
    pub fn region(&self, address: usize, bytes: usize) -> Result<Region<A>> {
        self.memory.region(address, bytes)
    }

    /// Returns the region at an address of this device or another one.
    fn region_of_any(&self, address: usize, bytes: usize) -> Result<Region<A>> {
        if self.memory.contains(address) {
            return self.region(address, bytes);
        }
        let peers = peers::<A>();
        match peers.iter().find(|it| it.memory.contains(address)) {
            Some(peer) => peer.region(address, bytes),
            None => self.region(address, bytes),
        }
    }

    /// Creates a stream.
    pub fn create_stream(&self, priority: Option<i32>) -> Result<Stream<A>> {
        self.check()?;
        let state = Arc::new(StreamState::new(self.accelerator.create_queue(priority)?));
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams.retain(|it| it.strong_count() > 0);
        streams.push(Arc::downgrade(&state));
        Ok(Stream(state))
    }

    fn streams(&self) -> Vec<Arc<StreamState<A>>> {
        let streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams.iter().filter_map(Weak::upgrade).collect()
    }

    /// Makes later commands of a stream wait for the commands of the others that have not completed.
    ///
    /// TensorFlow frees a tensor when its last kernel is enqueued, and copies the constants of a function into such memory
    /// without a wait for the kernel (`sync_dst_compute` is false in 2.12 to 2.22). For other copies from the host it waits
    /// itself.
    ///
    /// # Errors
    /// Returns the first error of a stream.
    pub fn wait_for_other_streams(&self, stream: &Arc<StreamState<A>>) -> Result<()> {
        let others = self.streams().into_iter();
        others
            .filter(|it| !Arc::ptr_eq(it, stream) && it.has_pending_commands())
            .try_for_each(|it| stream.wait_for_stream(&it))
    }

    /// Waits for all streams. Returns the first error.
    pub fn synchronize(&self) -> Result<()> {
        self.check()?;
        let results: Vec<_> = self.streams().iter().map(|it| it.synchronize()).collect();
        self.reclaim();
        results.into_iter().collect()
    }

    /// Returns the stream of synchronous copies.
    pub(super) fn transfers(&self) -> Result<Arc<StreamState<A>>> {
        let mut transfers = self
            .transfers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(stream) = &*transfers {
            return Ok(stream.clone());
        }
        let Stream(stream) = self.create_stream(None)?;
        *transfers = Some(stream.clone());
        Ok(stream)
    }

    /// Runs one command and waits for it. After a failure it waits too, unless there is a time limit.
    pub fn transfer(&self, command: impl FnOnce(&Arc<StreamState<A>>) -> Result<()>) -> Result<()> {
        self.check()?;
        let stream = self.transfers()?;
        let done = command(&stream).and_then(|()| wait_for_commands(&stream));
        done.inspect_err(|_| _ = self.drain_without_limit(&stream))
    }

    /// Waits until the commands of a failed stream use no memory of TensorFlow any more. Returns false if it may not wait,
    /// since the process exits or there is a time limit.
    fn drain_without_limit(&self, stream: &StreamState<A>) -> bool {
        self.check().is_ok() && stream.drain_without_limit()
    }

    /// Enqueues a copy from the host. With a time limit an event may complete before the copy, so that TensorFlow frees the
    /// source: the copy then reads memory of the layer. Without one, TensorFlow may free the source after an error or a panic,
    /// for which the copy has to end.
    pub fn copy_in(
        &self,
        stream: &StreamState<A>,
        target: usize,
        source: HostSource<'_>,
    ) -> Result<()> {
        match limits::timeout() {
            None => {
                let enqueue = || self.enqueue_copy_in(stream, target, source);
                let enqueued = catch_panic("a copy from the host", enqueue);
                enqueued.inspect_err(|_| _ = self.drain_without_limit(stream))
            }
            Some(_) => self.copy_in_from_copy(stream, target, source),
        }
    }

    /// Enqueues a copy from memory of the layer with the source's bytes. It is dropped after the work of the stream.
    pub(super) fn copy_in_from_copy(
        &self,
        stream: &StreamState<A>,
        target: usize,
        source: HostSource<'_>,
    ) -> Result<()> {
        let len = source.len();
        let (memory, start) = self.aligned_host_memory(len)?;
        // If a destructor of the author panics, the copy may still run, so the memory is leaked.
        let memory = ManuallyDrop::new(memory);
        // SAFETY: both have `len` bytes, and nobody else has the memory.
        unsafe { source.as_ptr().copy_to_nonoverlapping(start.as_ptr(), len) };
        // SAFETY: the memory has `len` bytes, which nobody writes. The stream shares its use count until the copy is complete.
        let host = unsafe { HostSource::new(start.as_ptr(), len) };
        let enqueued = self.enqueue_copy_in(stream, target, host);
        let use_count = Arc::new(());
        stream.hold(&use_count);
        let memory = ManuallyDrop::into_inner(memory);
        self.retire(use_count, RetiredMemory::Host(memory));
        enqueued
    }

    fn enqueue_copy_in(
        &self,
        stream: &StreamState<A>,
        target: usize,
        source: HostSource<'_>,
    ) -> Result<()> {
        self.check()?;
        let target = self.region(target, source.len())?;
        let command = Command::Copy("from the host", source.len());
        stream.enqueue_marked(command, |queue| queue.copy_in(&target, source))
    }

    /// Copies from the host and waits.
    pub fn copy_in_and_wait(&self, target: usize, source: HostSource<'_>) -> Result<()> {
        match limits::timeout() {
            None => self.transfer(|stream| self.copy_in(stream, target, source)),
            Some(_) => self.copy_in_staged(target, source),
        }
    }

    /// Copies from memory that lives as long as the command, which may run after the time limit.
    pub(super) fn copy_in_staged(&self, target: usize, source: HostSource<'_>) -> Result<()> {
        let len = source.len();
        let (memory, start) = self.aligned_host_memory(len)?;
        // After an error the copy may still run, so the memory is leaked.
        let memory = ManuallyDrop::new(memory);
        // SAFETY: both have `len` bytes, and nobody else has the memory.
        unsafe { source.as_ptr().copy_to_nonoverlapping(start.as_ptr(), len) };
        // SAFETY: the memory has `len` bytes, which nobody writes, and is not dropped before the copy is complete.
        let host = unsafe { HostSource::new(start.as_ptr(), len) };
        let stream = self.transfers()?;
        self.enqueue_copy_in(&stream, target, host)?;
        wait_for_commands(&stream)?;
        drop(ManuallyDrop::into_inner(memory));
        Ok(())
    }

    /// Copies to the host after the work of the stream. It waits: only then is it known whether the work has failed, and
    /// TensorFlow does not ask again. After a failure the target has bytes that no computation gives, which are NaN.
    pub fn copy_out(
        &self,
        stream: &StreamState<A>,
        mut target: HostTarget,
        source: usize,
    ) -> Result<()> {
        let (start, len) = (target.as_mut_ptr(), target.len());
        let (copied, is_unused) = match (self.check(), limits::timeout()) {
            (Err(error), _) => (Err(error), true),
            (Ok(()), None) => {
                let copy = || self.copy_out_and_wait(stream, target, source);
                let copied = catch_panic("a copy to the host", copy);
                let is_drained = copied.is_err() && self.drain_without_limit(stream);
                (copied, is_drained)
            }
            (Ok(()), Some(_)) => (self.copy_out_staged(stream, target, source), true),
        };
        if copied.is_err() && is_unused {
            // SAFETY: the memory is TensorFlow's target for these bytes, and no command writes to it: none was enqueued, the
            // stream is drained, or its commands write to memory of the layer.
            unsafe { start.write_bytes(u8::MAX, len) };
        }
        copied
    }

    fn copy_out_and_wait(
        &self,
        stream: &StreamState<A>,
        target: HostTarget,
        source: usize,
    ) -> Result<()> {
        let delivery = target.delivery();
        self.enqueue_copy_out(stream, target, source)?;
        wait_for_commands(stream)?;
        // SAFETY: the caller's target is valid until this function returns, and the queue's copy is complete.
        unsafe { delivery.write() }
    }

    /// Copies to memory that lives as long as the command, which may run after the time limit, and then to the target.
    pub(super) fn copy_out_staged(
        &self,
        stream: &StreamState<A>,
        mut target: HostTarget,
        source: usize,
    ) -> Result<()> {
        let len = target.len();
        let (memory, start) = self.aligned_host_memory(len)?;
        // After an error the copy may still run, so the memory is leaked.
        let memory = ManuallyDrop::new(memory);
        // SAFETY: the memory has `len` bytes, which nobody else uses, and is not dropped before the copy is complete.
        let host = unsafe { HostTarget::new(start.as_ptr(), len) };
        self.copy_out_and_wait(stream, host, source)?;
        // SAFETY: both have `len` bytes, and the copy to the memory is complete.
        unsafe {
            target
                .as_mut_ptr()
                .copy_from_nonoverlapping(start.as_ptr(), len)
        };
        drop(ManuallyDrop::into_inner(memory));
        Ok(())
    }

    fn enqueue_copy_out(
        &self,
        stream: &StreamState<A>,
        target: HostTarget,
        source: usize,
    ) -> Result<()> {
        self.check()?;
        stream.check_commands()?;
        let source = self.region(source, target.len())?;
        let command = Command::Copy("to the host", source.len());
        stream.enqueue_marked(command, |queue| queue.copy_out(target, &source))
    }

    /// Enqueues a copy between two regions, of which one may be on another device.
    pub fn copy(
        &self,
        stream: &StreamState<A>,
        (target, source): (usize, usize),
        bytes: usize,
    ) -> Result<()> {
        self.check()?;
        let target = self.region_of_any(target, bytes)?;
        let source = self.region_of_any(source, bytes)?;
        let device_of = |it: &Region<A>| it.block().device.upgrade();
        match (device_of(&target), device_of(&source)) {
            (Some(to), Some(from)) if !Arc::ptr_eq(&to, &from) => {
                self.copy_to_peer(stream, (&to, &target), (&from, &source))
            }
            _ => {
                let command = Command::Copy("on the device", bytes);
                stream.enqueue_marked(command, |queue| queue.copy(&target, &source))
            }
        }
    }

    fn copy_to_peer(
        &self,
        stream: &StreamState<A>,
        (to, target): (&Arc<Self>, &Region<A>),
        (from, source): (&Arc<Self>, &Region<A>),
    ) -> Result<()> {
        if std::ptr::eq(Arc::as_ptr(from), self) {
            let copy =
                stream.enqueue_copy(|queue| queue.copy_to_peer(&to.accelerator, target, source));
            if copy? == PeerCopy::Enqueued {
                return stream.mark(Command::Copy("to another device", source.len()));
            }
        }
        self.copy_through_host(stream, (to, target), (from, source))
    }

    /// Copies in the order of the stream, and waits.
    fn copy_through_host(
        &self,
        stream: &StreamState<A>,
        (to, target): (&Arc<Self>, &Region<A>),
        (from, source): (&Arc<Self>, &Region<A>),
    ) -> Result<()> {
        let bytes = source.len();
        let (memory, start) = self.aligned_host_memory(bytes)?;
        // The waits below, not the commands, must end before the memory is dropped.
        let memory = ManuallyDrop::new(memory);
        stream.synchronize()?;
        // SAFETY: the memory has `bytes` bytes, which nobody else uses.
        let host = unsafe { HostTarget::new(start.as_ptr(), bytes) };
        let delivery = host.delivery();
        from.transfer(|it| it.enqueue_copy(|queue| queue.copy_out(host, source)))?;
        // SAFETY: the memory is live, and the queue's copy to it is complete.
        unsafe { delivery.write() }?;
        // SAFETY: the copy to the memory is complete, and nobody else uses it.
        let host = unsafe { HostSource::new(start.as_ptr(), bytes) };
        to.transfer(|it| it.enqueue_copy(|queue| queue.copy_in(target, host)))?;
        drop(ManuallyDrop::into_inner(memory));
        Ok(())
    }

    /// Enqueues writes of a pattern.
    pub fn fill(
        &self,
        stream: &StreamState<A>,
        (target, bytes): (usize, usize),
        pattern: &[u8],
    ) -> Result<()> {
        self.check()?;
        if !bytes.is_multiple_of(pattern.len()) || !target.is_multiple_of(pattern.len()) {
            let unit = pattern.len();
            let message = format!("a pattern of {unit} bytes for {bytes} bytes at {target:#x}");
            return Err(Error::invalid_argument(message));
        }
        let target = self.region(target, bytes)?;
        let command = Command::Copy("of a pattern", bytes);
        stream.enqueue_marked(command, |queue| queue.fill(&target, pattern))
    }

    /// Waits until no work uses memory. Returns false if it cannot, as in a child process.
    fn try_drain(&self) -> bool {
        if self.check().is_err() || is_in_host_function() {
            return false;
        }
        let is_drained = |all, stream: &Arc<StreamState<A>>| stream.try_drain() && all;
        let is_drained = self.streams().iter().fold(true, is_drained);
        self.reclaim();
        is_drained
    }

    pub fn create_event(&self) -> Result<Event<A>> {
        self.check()?;
        Ok(Event::new())
    }

    pub fn create_timer(&self) -> Result<Timer> {
        self.check()?;
        Ok(Timer::default())
    }
}

impl<A: Accelerator> Drop for Shared<A> {
    /// Leaks the memory that work in progress may still use.
    fn drop(&mut self) {
        if !self.try_drain() {
            mem::forget(mem::replace(&mut self.memory, AddressMap::new()));
            forget_content(&mut self.host_memory);
        }
        forget_content(&mut self.retired);
    }
}

/// Leaks a value, without a lock, which another thread may have had at a fork.
fn forget_content<T: Default>(mutex: &mut Mutex<T>) {
    let content = mutex.get_mut();
    mem::forget(mem::take(content.unwrap_or_else(PoisonError::into_inner)));
}

/// Waits for the commands of a stream, at most as long as the time limit.
fn wait_for_commands<A: Accelerator>(stream: &StreamState<A>) -> Result<()> {
    let fence = stream.enqueue(Queue::record)?;
    stream.wait_on_host(&fence)
}

/// Returns the open devices of the same type.
fn peers<A: Accelerator>() -> Vec<Arc<Shared<A>>> {
    let devices = DEVICES.read().unwrap_or_else(PoisonError::into_inner);
    let open = devices.iter().filter_map(Weak::upgrade);
    open.filter_map(|it| it.downcast().ok()).collect()
}
