//! The device that is made from an accelerator.
//!
//! | module | content |
//! |---|---|
//! | this one | the state of the device, its allocations and its synchronization |
//! | `memory` | live and freed memory |
//! | `host_pool` | host memory for reuse |
//! | `streams` | the streams |
//! | `staging` | host memory of the layer |
//! | `host_copies` | copies from and to the host |
//! | `behind` | kernels that compute on the host as commands |
//! | `device_copies` | copies and patterns in device memory |
//! | `open_devices` | the open devices, between which copies run |
//!
//! Host functions free nothing of the driver's: memory is dropped on a thread that calls a slot (`Shared::reclaim`).
//! Copies to the host wait; after a failure the target is filled with 0xFF, so that no stale numbers look computed.

mod behind;
mod device_copies;
mod host_copies;
mod host_pool;
mod memory;
mod open_devices;
mod pending;
mod staging;
mod streams;

use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use sp_runtime::exit;
use sp_runtime::fork::Process;
use sp_runtime::guard;

use self::memory::{Memory, RetiredMemory};
use self::streams::Streams;
use super::allocation::Block;
use super::api::cancelled;
use super::statistics::Statistics;
use super::stream::StreamState;
use super::{Accelerator, Event, HostMemory, Region, Stream, Timer, host_function};
use crate::trace::device::{ClockSample, TracedDevice};
use crate::{Result, trace};

/// The device that has the slots of all releases, made from the accelerator `A`.
pub struct AcceleratorDevice<A: Accelerator>(pub(super) Arc<Shared<A>>);

/// The state of a device.
pub(super) struct Shared<A: Accelerator> {
    memory: Memory<A>,
    streams: Streams<A>,
    pub statistics: Statistics,
    pub process: Process,
    /// TensorFlow's number of the device.
    ordinal: u32,
    has_exited: AtomicBool,
    /// Bytes of host memory that kernels on the host use later.
    pending_bytes: Arc<AtomicUsize>,
    /// All bytes of the device, for profiles.
    total_memory: OnceLock<u64>,
    // Dropped after everything that it has allocated.
    pub accelerator: A,
}

impl<A: Accelerator> AcceleratorDevice<A> {
    /// Creates the device of an accelerator.
    pub fn new(accelerator: A) -> Self {
        let shared = Arc::new(Shared {
            memory: Memory::new(),
            streams: Streams::new(),
            statistics: Statistics::default(),
            process: Process::current(),
            ordinal: trace::opening_device(),
            has_exited: AtomicBool::new(false),
            pending_bytes: Arc::default(),
            total_memory: OnceLock::new(),
            accelerator,
        });
        open_devices::insert(shared.clone());
        let traced: Arc<dyn TracedDevice> = shared.clone();
        trace::device::insert(Arc::downgrade(&traced));
        let weak = Arc::downgrade(&shared);
        exit::on_exit(Box::new(move || {
            if let Some(shared) = weak.upgrade() {
                host_function::close();
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
    ///
    /// # Safety
    /// Commands use the region only for a call whose input, output, temporary or locked variable has these bytes, and do not write
    /// to an input: an allocation also has the tensors of other calls, which kernels on the host read as slices.
    pub unsafe fn region(&self, address: usize, bytes: usize) -> Result<Region<A>> {
        self.0.region(address, bytes)
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
    pub fn allocate(&self, bytes: usize) -> Result<usize> {
        self.check()?;
        self.reclaim();
        let allocate = || self.accelerator.allocate(bytes);
        let allocation = self.allocate_or_wait(allocate)?;
        let block = Arc::new(Block::new(allocation, bytes, self.memory.dropped.clone())?);
        let start = block.start;
        self.memory.blocks.insert(block);
        self.statistics.add(bytes);
        self.record_memory(true, start, bytes);
        Ok(start)
    }

    /// Allocates, once more after a failure: memory that TensorFlow has freed may be held by work in progress.
    fn allocate_or_wait<T>(&self, allocate: impl Fn() -> Result<T>) -> Result<T> {
        allocate().or_else(
            |error| match self.memory.has_retired() && self.synchronize().is_ok() {
                true => {
                    self.reclaim();
                    allocate()
                }
                false => Err(error),
            },
        )
    }

    /// Frees device memory after the work that may use it.
    pub fn deallocate(&self, start: usize) {
        if self.check().is_err() {
            return;
        }
        let Some(block) = self.memory.blocks.remove(start) else {
            if start != 0 {
                sp_runtime::report!(Error, "TensorFlow frees {start:#x}, which is not allocated");
            }
            return;
        };
        self.statistics.remove(block.bytes);
        self.record_memory(false, start, block.bytes);
        drop(block);
        self.reclaim();
    }

    /// Drops the memory that nobody has any more, and that no work uses. A host function may call no function of the driver.
    pub fn reclaim(&self) {
        if host_function::is_running() {
            return;
        }
        let dropped = self.memory.dropped.take();
        if !dropped.is_empty() {
            let use_count = Arc::new(());
            self.streams.all().iter().for_each(|it| it.hold(&use_count));
            self.memory
                .retire(use_count, RetiredMemory::Device(dropped));
        }
        self.memory.reclaim();
    }

    /// Allocates host memory.
    pub fn host_allocate(&self, bytes: usize) -> Result<NonNull<u8>> {
        self.check()?;
        self.reclaim();
        let allocate = || self.reuse_or_allocate_host(bytes);
        let (memory, start) = self.allocate_or_wait(allocate)?;
        self.memory.insert_host(start, memory);
        Ok(start)
    }

    /// Returns host memory with the address of `bytes` aligned bytes in it.
    fn reuse_or_allocate_host(&self, bytes: usize) -> Result<(HostMemory, NonNull<u8>)> {
        let pool = &self.memory.host_pool;
        if let Some(memory) = pool.take(bytes)
            && let Some(start) = memory.aligned(bytes)
        {
            return Ok((memory, start));
        }
        let allocate = || staging::allocate(&self.accelerator, bytes);
        allocate().or_else(|error| match pool.clear() {
            true => allocate(),
            false => Err(error),
        })
    }

    /// Frees host memory.
    pub fn host_deallocate(&self, start: usize) {
        if self.check().is_err() {
            return;
        }
        let Some(memory) = self.memory.remove_host(start) else {
            return;
        };
        for unused in self.memory.host_pool.add(memory) {
            self.memory
                .retire(Arc::new(()), RetiredMemory::Host(unused));
        }
    }

    /// Returns the region at an address, for a command on this device.
    pub fn region(&self, address: usize, bytes: usize) -> Result<Region<A>> {
        self.memory.blocks.region(address, bytes)
    }

    /// Creates a stream.
    pub fn create_stream(&self, priority: Option<i32>) -> Result<Stream<A>> {
        self.check()?;
        let state = Arc::new(StreamState::new(
            self.accelerator.create_queue(priority)?,
            self.ordinal,
        ));
        self.streams.insert(&state);
        Ok(Stream(state))
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
        let others = self.streams.all().into_iter();
        others
            .filter(|it| !Arc::ptr_eq(it, stream) && it.failures.has_pending_commands())
            .try_for_each(|it| stream.wait_for_stream(&it))
    }

    /// Waits for all streams. Returns the first error.
    pub fn synchronize(&self) -> Result<()> {
        self.check()?;
        let streams = self.streams.all();
        let results: Vec<_> = streams.iter().map(|it| it.synchronize()).collect();
        self.reclaim();
        results.into_iter().collect()
    }

    /// Returns the stream of synchronous copies.
    pub(super) fn transfers(&self) -> Result<Arc<StreamState<A>>> {
        let create = || self.create_stream(None).map(|Stream(state)| state);
        self.streams.transfers(create)
    }

    /// Runs one command and waits for it. After a failure it waits too, unless there is a time limit.
    pub fn transfer(&self, command: impl FnOnce(&Arc<StreamState<A>>) -> Result<()>) -> Result<()> {
        self.check()?;
        let stream = self.transfers()?;
        let done = command(&stream).and_then(|()| stream.wait_for_commands());
        done.inspect_err(|_| _ = self.drain_without_limit(&stream))
    }

    /// Waits until the commands of a failed stream use no memory of TensorFlow any more. Returns false if it may not wait,
    /// since the process exits or there is a time limit.
    fn drain_without_limit(&self, stream: &StreamState<A>) -> bool {
        self.check().is_ok() && stream.drain_without_limit()
    }

    /// Waits until no work uses memory. Returns false if it cannot, as in a child process.
    fn try_drain(&self) -> bool {
        if self.check().is_err() || host_function::is_running() {
            return false;
        }
        let is_drained = |all, stream: &Arc<StreamState<A>>| stream.try_drain() && all;
        let is_drained = self.streams.all().iter().fold(true, is_drained);
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

impl<A: Accelerator> Shared<A> {
    /// Records an allocation or its end, if a profile runs.
    fn record_memory(&self, is_allocation: bool, address: usize, bytes: usize) {
        trace::record_memory(self.ordinal, is_allocation, || {
            let usage = self.statistics.usage();
            (
                address,
                bytes as u64,
                [usage.in_use, usage.peak, self.total_memory()],
            )
        });
    }

    /// Returns all bytes of the device, or 0 if they are not known. A host function may call no function of the driver.
    fn total_memory(&self) -> u64 {
        if let Some(total) = self.total_memory.get() {
            return *total;
        }
        if host_function::is_running() {
            return 0;
        }
        let info = guard::catch_panic("Accelerator::memory_info", || {
            self.accelerator.memory_info()
        });
        info.map_or(0, |info| *self.total_memory.get_or_init(|| info.total))
    }
}

impl<A: Accelerator> TracedDevice for Shared<A> {
    fn ordinal(&self) -> u32 {
        self.ordinal
    }

    fn sample(&self) -> Option<ClockSample> {
        self.check().ok()?;
        self.transfers().ok()?.sample_clock()
    }

    fn discard(&self) {
        self.streams.all().iter().for_each(|it| it.discard_timing());
    }

    fn finish(&self) {
        if self.check().is_ok() {
            self.streams.all().iter().for_each(|it| it.finish_timing());
        }
    }
}

impl<A: Accelerator> Drop for Shared<A> {
    /// Leaks the memory that work in progress may still use.
    fn drop(&mut self) {
        match self.try_drain() {
            true => self.memory.free(),
            false => self.memory.leak(),
        }
    }
}
