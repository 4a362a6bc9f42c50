//! The slots of the C API on an accelerator.

use std::ffi::c_void;
use std::ptr;

use sp_abi::stream_executor::SP_StreamOptions; // since 2.22
use sp_abi::stream_executor::{
    DeviceFns, SE_EventStatus, SE_StatusCallbackFn, SP_AllocatorStats, SP_DeviceMemoryBase,
    StreamExecutor, TimerFns,
};
use sp_runtime::{Host, Prefix, PrefixMut, Release, Releases, vtable};

use super::host_memory::{HostSource, HostTarget};
use super::stream::StreamState;
use super::{Accelerator, AcceleratorDevice, Event, Stream, Timer, callback};
use crate::{
    Allocator, Description, Device, DeviceProperties, Error, HostAddressable, HostQueue, InPlace,
    MemoryAccess, Result,
};

// SAFETY: `HostMemory` is as long as it states, and initialized. The layer keeps the memory of a copy until the queue reports
// the copy as complete, and its callback is a box that is called once.
unsafe impl<A: Accelerator> Device for AcceleratorDevice<A> {
    type Access = InPlace;

    const ALLOCATOR: Allocator = A::ALLOCATOR;

    fn count() -> Result<usize> {
        A::count()
    }

    fn open(ordinal: usize) -> Result<Self> {
        A::open(ordinal).map(Self::new)
    }

    fn description(&self) -> Description {
        self.accelerator().description()
    }

    fn properties(&self) -> DeviceProperties {
        let properties = self.accelerator().properties();
        let stated = Some(properties.memory_size).filter(|it| *it > 0);
        let memory_size = stated.or_else(|| Some(self.accelerator().memory_info().ok()?.total));
        DeviceProperties {
            memory_size: memory_size.unwrap_or(0),
            ..properties
        }
    }

    fn host_queue<'a>(&'a self, stream: &'a Stream<A>) -> Option<HostQueue<'a>> {
        self.0.host_queue(stream)
    }
}

// SAFETY: `AddressableMemory` proves it; without one, the host uses copies.
unsafe impl<A: Accelerator> HostAddressable for AcceleratorDevice<A> {
    fn memory_access(&self) -> MemoryAccess {
        match self.accelerator().addressable_memory() {
            None => MemoryAccess::Staged,
            Some(proof) if proof.is_inline => MemoryAccess::InPlace,
            Some(_) => MemoryAccess::InPlaceAfterWait,
        }
    }
}

#[vtable(absent = [unified_memory_allocate, unified_memory_deallocate])]
impl<A: Accelerator> StreamExecutor for AcceleratorDevice<A> {
    type Stream = Stream<A>;
    type Event = Event<A>;
    type Timer = Timer;

    unsafe fn allocate(&self, size: u64, _: i64, mut mem: PrefixMut<'_, SP_DeviceMemoryBase>) {
        let start = match len(size) {
            Ok(0) => None,
            bytes => bytes
                .and_then(|bytes| self.0.allocate(bytes))
                .inspect_err(report_no_memory)
                .ok(),
        };
        mem.set_struct_size();
        let address = start.map_or(ptr::null_mut(), |it| it as *mut c_void);
        mem.set(SP_DeviceMemoryBase::opaque, address);
        mem.set(SP_DeviceMemoryBase::size, start.map_or(0, |_| size));
    }

    unsafe fn deallocate(&self, mut memory: PrefixMut<'_, SP_DeviceMemoryBase>) {
        if let Some(start) = memory.get(SP_DeviceMemoryBase::opaque) {
            self.0.deallocate(start as usize);
        }
        memory.set(SP_DeviceMemoryBase::opaque, ptr::null_mut());
        memory.set(SP_DeviceMemoryBase::size, 0);
    }

    fn host_memory_allocate(&self, size: u64) -> *mut c_void {
        let memory = len(size).and_then(|bytes| self.0.host_allocate(bytes));
        let memory = memory.inspect_err(report_no_memory);
        memory.map_or(ptr::null_mut(), |it| it.as_ptr().cast())
    }

    unsafe fn host_memory_deallocate(&self, mem: *mut c_void) {
        self.0.host_deallocate(mem as usize);
    }

    fn get_allocator_stats(&self, mut stats: PrefixMut<'_, SP_AllocatorStats>) -> u8 {
        if self.0.check().is_err() {
            return 0;
        }
        let usage = self.0.statistics.usage();
        stats.set_struct_size();
        stats.set(SP_AllocatorStats::num_allocs, signed(usage.allocations));
        stats.set(SP_AllocatorStats::bytes_in_use, signed(usage.in_use));
        stats.set(SP_AllocatorStats::peak_bytes_in_use, signed(usage.peak));
        stats.set(SP_AllocatorStats::largest_alloc_size, signed(usage.largest));
        if let Ok(memory) = self.accelerator().memory_info() {
            stats.set(SP_AllocatorStats::has_bytes_limit, 1);
            stats.set(SP_AllocatorStats::bytes_limit, signed(memory.total));
        }
        1
    }

    unsafe fn device_memory_usage(&self, free: *mut i64, total: *mut i64) -> u8 {
        let info = self
            .0
            .check()
            .and_then(|()| self.accelerator().memory_info());
        match info {
            Ok(info) => {
                // SAFETY: TensorFlow lends both places.
                unsafe {
                    free.write(signed(info.free));
                    total.write(signed(info.total));
                }
                1
            }
            Err(error) => {
                sp_runtime::report!(Error, "the size of the device memory is not known: {error}");
                0
            }
        }
    }

    fn create_stream(&self) -> Result<Stream<A>> {
        self.0.create_stream(None)
    }

    // since 2.22
    fn create_stream_with_options(
        &self,
        options: Prefix<'_, SP_StreamOptions>,
    ) -> Result<Stream<A>> {
        let is_set = options.get(SP_StreamOptions::has_priority).unwrap_or(0) != 0;
        let priority = options.get(SP_StreamOptions::priority);
        self.0.create_stream(priority.filter(|_| is_set))
    }

    fn destroy_stream(&self, stream: Stream<A>) {
        drop(stream);
        self.0.reclaim();
    }

    fn create_stream_dependency(&self, dependent: &Stream<A>, other: &Stream<A>) -> Result<()> {
        self.0.check()?;
        to_slot_result(&dependent.0, dependent.0.wait_for_stream(&other.0))
    }

    fn get_stream_status(&self, stream: &Stream<A>) -> Result<()> {
        self.0.check()?;
        stream.0.failures.check_commands()?;
        stream.0.check_callbacks()
    }

    fn create_event(&self) -> Result<Event<A>> {
        self.0.create_event()
    }

    fn destroy_event(&self, _: Event<A>) {}

    fn get_event_status(&self, event: &Event<A>) -> SE_EventStatus {
        match self.0.check().is_err() || event.is_complete() {
            true => SE_EventStatus::SE_EVENT_COMPLETE,
            false => SE_EventStatus::SE_EVENT_PENDING,
        }
    }

    fn record_event(&self, stream: &Stream<A>, event: &Event<A>) -> Result<()> {
        self.0.check()?;
        to_slot_result(&stream.0, event.record(&stream.0))
    }

    fn wait_for_event(&self, stream: &Stream<A>, event: &Event<A>) -> Result<()> {
        self.0.check()?;
        to_slot_result(&stream.0, event.delay(&stream.0))
    }

    fn create_timer(&self) -> Result<Timer> {
        self.0.create_timer()
    }

    fn destroy_timer(&self, _: Timer) {}

    fn start_timer(&self, stream: &Stream<A>, timer: &Timer) -> Result<()> {
        self.0.check()?;
        timer.start(&stream.0)
    }

    fn stop_timer(&self, stream: &Stream<A>, timer: &Timer) -> Result<()> {
        self.0.check()?;
        timer.stop(&stream.0)
    }

    unsafe fn memcpy_dtoh(
        &self,
        stream: &Stream<A>,
        host_dst: *mut c_void,
        device_src: Prefix<'_, SP_DeviceMemoryBase>,
        size: u64,
    ) -> Result<()> {
        let Some((source, bytes)) = range(device_src, size)? else {
            return self.0.check();
        };
        // SAFETY: TensorFlow frees the memory after the work on the stream.
        let target = unsafe { HostTarget::new(host_dst.cast(), bytes) };
        to_slot_result(&stream.0, self.0.copy_out(&stream.0, target, source))
    }

    unsafe fn memcpy_htod(
        &self,
        stream: &Stream<A>,
        device_dst: Prefix<'_, SP_DeviceMemoryBase>,
        host_src: *const c_void,
        size: u64,
    ) -> Result<()> {
        let Some((target, bytes)) = range(device_dst, size)? else {
            return self.0.check();
        };
        // SAFETY: TensorFlow frees the memory after the work on the stream.
        let source = unsafe { HostSource::new(host_src.cast(), bytes) };
        let ordered = self.0.wait_for_other_streams(&stream.0);
        let copied = ordered.and_then(|()| self.0.copy_in(&stream.0, target, source));
        to_slot_result(&stream.0, copied)
    }

    unsafe fn memcpy_dtod(
        &self,
        stream: &Stream<A>,
        device_dst: Prefix<'_, SP_DeviceMemoryBase>,
        device_src: Prefix<'_, SP_DeviceMemoryBase>,
        size: u64,
    ) -> Result<()> {
        match (range(device_dst, size)?, range(device_src, size)?) {
            (Some((target, bytes)), Some((source, _))) => {
                to_slot_result(&stream.0, self.0.copy(&stream.0, (target, source), bytes))
            }
            _ => self.0.check(),
        }
    }

    unsafe fn sync_memcpy_dtoh(
        &self,
        host_dst: *mut c_void,
        device_src: Prefix<'_, SP_DeviceMemoryBase>,
        size: u64,
    ) -> Result<()> {
        let Some((source, bytes)) = range(device_src, size)? else {
            return self.0.check();
        };
        // SAFETY: TensorFlow lends the memory for the call, in which the copy completes.
        let target = unsafe { HostTarget::new(host_dst.cast(), bytes) };
        let device = &self.0;
        device.transfer(|stream| device.copy_out(stream, target, source))
    }

    unsafe fn sync_memcpy_htod(
        &self,
        device_dst: Prefix<'_, SP_DeviceMemoryBase>,
        host_src: *const c_void,
        size: u64,
    ) -> Result<()> {
        let Some((target, bytes)) = range(device_dst, size)? else {
            return self.0.check();
        };
        // SAFETY: TensorFlow lends the memory for the call, in which the copy completes.
        let source = unsafe { HostSource::new(host_src.cast(), bytes) };
        self.0.copy_in_and_wait(target, source)
    }

    unsafe fn sync_memcpy_dtod(
        &self,
        device_dst: Prefix<'_, SP_DeviceMemoryBase>,
        device_src: Prefix<'_, SP_DeviceMemoryBase>,
        size: u64,
    ) -> Result<()> {
        let device = &self.0;
        match (range(device_dst, size)?, range(device_src, size)?) {
            (Some((target, bytes)), Some((source, _))) => {
                device.transfer(|stream| device.copy(stream, (target, source), bytes))
            }
            _ => device.check(),
        }
    }

    fn block_host_for_event(&self, event: &Event<A>) -> Result<()> {
        self.0.check()?;
        event.wait()
    }

    fn block_host_until_done(&self, stream: &Stream<A>) -> Result<()> {
        self.0.check()?;
        let done = stream.0.synchronize();
        // TensorFlow frees host memory of copies after a failed wait, too.
        let done = done.inspect_err(|_| _ = stream.0.drain_without_limit());
        self.0.reclaim();
        done.and_then(|()| stream.0.check_callbacks())
    }

    fn synchronize_all_activity(&self) -> Result<()> {
        self.0.synchronize()
    }

    // since 2.7
    unsafe fn mem_zero(
        &self,
        stream: &Stream<A>,
        location: Prefix<'_, SP_DeviceMemoryBase>,
        size: u64,
    ) -> Result<()> {
        // SAFETY: the caller has the same obligations.
        unsafe { self.memset(stream, location, 0, size) }
    }

    // since 2.7
    unsafe fn memset(
        &self,
        stream: &Stream<A>,
        location: Prefix<'_, SP_DeviceMemoryBase>,
        pattern: u8,
        size: u64,
    ) -> Result<()> {
        self.fill(stream, location, &[pattern], size)
    }

    // since 2.7
    unsafe fn memset32(
        &self,
        stream: &Stream<A>,
        location: Prefix<'_, SP_DeviceMemoryBase>,
        pattern: u32,
        size: u64,
    ) -> Result<()> {
        self.fill(stream, location, &pattern.to_ne_bytes(), size)
    }

    unsafe fn host_callback(
        &self,
        stream: &Stream<A>,
        callback_fn: SE_StatusCallbackFn,
        callback_arg: *mut c_void,
    ) -> u8 {
        if self.0.process.is_current() {
            // SAFETY: TensorFlow's own function and argument.
            unsafe { callback::enqueue(&stream.0, callback_fn, callback_arg) };
        }
        self.0.process.is_current().into()
    }
}

#[vtable(absent = [get_memory_bandwidth, get_gflops])]
impl<A: Accelerator> DeviceFns for AcceleratorDevice<A> {
    fn get_numa_node(&self) -> i32 {
        self.accelerator().numa_node().unwrap_or(-1)
    }
}

impl<A: Accelerator> TimerFns for AcceleratorDevice<A> {
    type Timer = Timer;

    fn nanoseconds(timer: &Timer) -> u64 {
        timer.elapsed().as_nanos().try_into().unwrap_or(u64::MAX)
    }
}

// since 2.7
impl<A: Accelerator> AcceleratorDevice<A> {
    /// Fills device memory with copies of a pattern.
    fn fill(
        &self,
        stream: &Stream<A>,
        location: Prefix<'_, SP_DeviceMemoryBase>,
        pattern: &[u8],
        size: u64,
    ) -> Result<()> {
        match range(location, size)? {
            Some(target) => to_slot_result(&stream.0, self.0.fill(&stream.0, target, pattern)),
            None => self.0.check(),
        }
    }
}

/// Converts the result of a command to that of its slot. Up to 2.17 core ends the process if such a slot returns an error.
/// There the error becomes the stream's, which kernels and synchronizations return.
fn to_slot_result<A: Accelerator>(stream: &StreamState<A>, result: Result<()>) -> Result<()> {
    const REPORTING: Releases = Releases::from(Release::new(2, 18));
    match (result, Host::running().is_in(REPORTING)) {
        (Err(error), Some(false)) => {
            stream.fail_as(error);
            Ok(())
        }
        (result, _) => result,
    }
}

fn report_no_memory(error: &Error) {
    // TensorFlow reports it too, unless it frees memory and succeeds.
    sp_runtime::report!(Debug, "{error}");
}

fn signed(bytes: u64) -> i64 {
    bytes.try_into().unwrap_or(i64::MAX)
}

fn len(size: u64) -> Result<usize> {
    usize::try_from(size).map_err(|_| Error::resource_exhausted(format!("{size} bytes")))
}

/// Returns address and length of the first `size` bytes of device memory; `None` if there are none.
fn range(memory: Prefix<'_, SP_DeviceMemoryBase>, size: u64) -> Result<Option<(usize, usize)>> {
    let (start, has) = (
        memory.get(SP_DeviceMemoryBase::opaque),
        memory.get(SP_DeviceMemoryBase::size).unwrap_or(0),
    );
    if size == 0 {
        return Ok(None);
    }
    if size > has {
        let message = format!("{size} bytes of device memory that has {has} bytes");
        return Err(Error::invalid_argument(message));
    }
    Ok(Some((
        start.unwrap_or(ptr::null_mut()) as usize,
        len(size)?,
    )))
}
