//! The slots of the C API on the reference device.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::slice;

use sp_abi::stream_executor::{
    DeviceFns, SE_EventStatus, SE_StatusCallbackFn, SP_AllocatorStats, SP_DeviceMemoryBase,
    StreamExecutor, TimerFns,
};
use sp_plugin::trace::{self, Copying, Direction};
use sp_plugin::{Error, Result, vtable};
use sp_runtime::{Prefix, PrefixMut, Status};

use super::{Event, InlineDevice, Memory, Stream, Timer};

#[vtable(absent = [
    create_stream_with_options, // since 2.22
])]
impl StreamExecutor for InlineDevice {
    type Stream = Stream;
    type Event = Event;
    type Timer = Timer;

    unsafe fn allocate(&self, size: u64, _: i64, mut mem: PrefixMut<'_, SP_DeviceMemoryBase>) {
        let start = self.fresh(size);
        mem.set_struct_size();
        mem.set(SP_DeviceMemoryBase::opaque, start);
        mem.set(
            SP_DeviceMemoryBase::size,
            if start.is_null() { 0 } else { size },
        );
    }

    unsafe fn deallocate(&self, mut memory: PrefixMut<'_, SP_DeviceMemoryBase>) {
        if let Some(start) = memory.get(SP_DeviceMemoryBase::opaque) {
            // SAFETY: the caller guarantees that nobody uses the block.
            unsafe { self.release(start) };
        }
        memory.set(SP_DeviceMemoryBase::opaque, std::ptr::null_mut());
        memory.set(SP_DeviceMemoryBase::size, 0);
    }

    fn host_memory_allocate(&self, size: u64) -> *mut c_void {
        self.fresh(size)
    }

    unsafe fn host_memory_deallocate(&self, mem: *mut c_void) {
        // SAFETY: the caller guarantees that nobody uses the block.
        unsafe { self.release(mem) };
    }

    fn unified_memory_allocate(&self, bytes: u64) -> *mut c_void {
        self.fresh(bytes)
    }

    unsafe fn unified_memory_deallocate(&self, location: *mut c_void) {
        // SAFETY: the caller guarantees that nobody uses the block.
        unsafe { self.release(location) };
    }

    fn get_allocator_stats(&self, mut stats: PrefixMut<'_, SP_AllocatorStats>) -> u8 {
        let Some(usage) = self.own_memory().map(Memory::usage) else {
            return 0;
        };
        stats.set_struct_size();
        stats.set(SP_AllocatorStats::num_allocs, signed(usage.allocations));
        stats.set(SP_AllocatorStats::bytes_in_use, signed(usage.in_use));
        stats.set(SP_AllocatorStats::peak_bytes_in_use, signed(usage.peak));
        stats.set(SP_AllocatorStats::largest_alloc_size, signed(usage.largest));
        if let Some((_, total)) = Memory::machine() {
            stats.set(SP_AllocatorStats::has_bytes_limit, 1);
            stats.set(SP_AllocatorStats::bytes_limit, signed(total));
        }
        1
    }

    unsafe fn device_memory_usage(&self, free: *mut i64, total: *mut i64) -> u8 {
        let Some((available, all)) = Memory::machine() else {
            return 0;
        };
        // SAFETY: TensorFlow lends both places.
        unsafe {
            free.write(signed(available));
            total.write(signed(all));
        }
        1
    }

    fn create_stream(&self) -> Result<Stream> {
        self.check()?;
        Ok(Stream::default())
    }

    fn destroy_stream(&self, _: Stream) {}

    fn create_stream_dependency(&self, _: &Stream, other: &Stream) -> Result<()> {
        self.check()?;
        other.status()
    }

    fn get_stream_status(&self, stream: &Stream) -> Result<()> {
        self.check()?;
        stream.status()
    }

    fn create_event(&self) -> Result<Event> {
        self.check()?;
        Ok(Event::default())
    }

    fn destroy_event(&self, _: Event) {}

    fn get_event_status(&self, _: &Event) -> SE_EventStatus {
        SE_EventStatus::SE_EVENT_COMPLETE
    }

    fn record_event(&self, _: &Stream, event: &Event) -> Result<()> {
        self.check()?;
        event.record();
        Ok(())
    }

    fn wait_for_event(&self, _: &Stream, _: &Event) -> Result<()> {
        self.check()
    }

    fn create_timer(&self) -> Result<Timer> {
        self.check()?;
        Ok(Timer::default())
    }

    fn destroy_timer(&self, _: Timer) {}

    fn start_timer(&self, _: &Stream, timer: &Timer) -> Result<()> {
        self.check()?;
        timer.start();
        Ok(())
    }

    fn stop_timer(&self, _: &Stream, timer: &Timer) -> Result<()> {
        self.check()?;
        timer.stop();
        Ok(())
    }

    unsafe fn memcpy_dtoh(
        &self,
        _: &Stream,
        host_dst: *mut c_void,
        device_src: Prefix<'_, SP_DeviceMemoryBase>,
        size: u64,
    ) -> Result<()> {
        self.check()?;
        let _copy = self.record_copy(Direction::ToHost, size);
        // SAFETY: passed on as it came.
        unsafe { copy(host_dst, start_of(device_src, size)?, size) }
    }

    unsafe fn memcpy_htod(
        &self,
        _: &Stream,
        device_dst: Prefix<'_, SP_DeviceMemoryBase>,
        host_src: *const c_void,
        size: u64,
    ) -> Result<()> {
        self.check()?;
        let _copy = self.record_copy(Direction::ToDevice, size);
        // SAFETY: passed on as it came.
        unsafe { copy(start_of(device_dst, size)?, host_src, size) }
    }

    unsafe fn memcpy_dtod(
        &self,
        _: &Stream,
        device_dst: Prefix<'_, SP_DeviceMemoryBase>,
        device_src: Prefix<'_, SP_DeviceMemoryBase>,
        size: u64,
    ) -> Result<()> {
        self.check()?;
        let _copy = self.record_copy(Direction::OnDevice, size);
        // SAFETY: passed on as it came.
        unsafe {
            copy(
                start_of(device_dst, size)?,
                start_of(device_src, size)?,
                size,
            )
        }
    }

    unsafe fn sync_memcpy_dtoh(
        &self,
        host_dst: *mut c_void,
        device_src: Prefix<'_, SP_DeviceMemoryBase>,
        size: u64,
    ) -> Result<()> {
        self.check()?;
        let _copy = self.record_copy(Direction::ToHost, size);
        // SAFETY: passed on as it came.
        unsafe { copy(host_dst, start_of(device_src, size)?, size) }
    }

    unsafe fn sync_memcpy_htod(
        &self,
        device_dst: Prefix<'_, SP_DeviceMemoryBase>,
        host_src: *const c_void,
        size: u64,
    ) -> Result<()> {
        self.check()?;
        let _copy = self.record_copy(Direction::ToDevice, size);
        // SAFETY: passed on as it came.
        unsafe { copy(start_of(device_dst, size)?, host_src, size) }
    }

    unsafe fn sync_memcpy_dtod(
        &self,
        device_dst: Prefix<'_, SP_DeviceMemoryBase>,
        device_src: Prefix<'_, SP_DeviceMemoryBase>,
        size: u64,
    ) -> Result<()> {
        self.check()?;
        let _copy = self.record_copy(Direction::OnDevice, size);
        // SAFETY: passed on as it came.
        unsafe {
            copy(
                start_of(device_dst, size)?,
                start_of(device_src, size)?,
                size,
            )
        }
    }

    fn block_host_for_event(&self, _: &Event) -> Result<()> {
        self.check()
    }

    fn block_host_until_done(&self, stream: &Stream) -> Result<()> {
        self.check()?;
        stream.status()
    }

    fn synchronize_all_activity(&self) -> Result<()> {
        self.check()
    }

    // since 2.7
    unsafe fn mem_zero(
        &self,
        stream: &Stream,
        location: Prefix<'_, SP_DeviceMemoryBase>,
        size: u64,
    ) -> Result<()> {
        // SAFETY: passed on as it came.
        unsafe { self.memset(stream, location, 0, size) }
    }

    // since 2.7
    unsafe fn memset(
        &self,
        _: &Stream,
        location: Prefix<'_, SP_DeviceMemoryBase>,
        pattern: u8,
        size: u64,
    ) -> Result<()> {
        self.check()?;
        let start = start_of(location, size)?;
        if size > 0 {
            // SAFETY: `start_of` checked that the region has `size` bytes.
            unsafe { start.cast::<u8>().write_bytes(pattern, length(size)?) };
        }
        Ok(())
    }

    // since 2.7
    unsafe fn memset32(
        &self,
        _: &Stream,
        location: Prefix<'_, SP_DeviceMemoryBase>,
        pattern: u32,
        size: u64,
    ) -> Result<()> {
        self.check()?;
        let start = start_of(location, size)?;
        if !size.is_multiple_of(4) || !(start as usize).is_multiple_of(4) {
            let message = format!("memset32 of {size} bytes at {start:?}: not whole words");
            return Err(Error::invalid_argument(message));
        }
        if size > 0 {
            // SAFETY: `start_of` checked that the region has `size` bytes; it is aligned for words.
            unsafe { slice::from_raw_parts_mut(start.cast(), length(size)? / 4) }
                .fill(MaybeUninit::new(pattern));
        }
        Ok(())
    }

    unsafe fn host_callback(
        &self,
        stream: &Stream,
        callback_fn: SE_StatusCallbackFn,
        callback_arg: *mut c_void,
    ) -> u8 {
        let (Some(callback), Ok(status), Ok(())) = (callback_fn, Status::new(), self.check())
        else {
            return 0;
        };
        // SAFETY: TensorFlow's own callback and argument, called once.
        unsafe { callback(callback_arg, status.as_ptr()) };
        if let Err(error) = status.check() {
            stream.fail(error);
        }
        1
    }
}

#[vtable(absent = [get_memory_bandwidth, get_gflops])]
impl DeviceFns for InlineDevice {
    fn get_numa_node(&self) -> i32 {
        0
    }
}

impl TimerFns for InlineDevice {
    type Timer = Timer;

    fn nanoseconds(timer: &Timer) -> u64 {
        timer.elapsed().as_nanos().try_into().unwrap_or(u64::MAX)
    }
}

impl InlineDevice {
    /// Starts the record of a copy, if a profile runs.
    fn record_copy(&self, direction: Direction, bytes: u64) -> Option<Copying> {
        trace::record_copy(self.ordinal, direction, bytes)
    }

    /// Returns a block of memory; null if there is none, or in a forked child.
    fn fresh(&self, size: u64) -> *mut c_void {
        let memory = self.own_memory();
        memory.map_or(std::ptr::null_mut(), |memory| memory.allocate(size))
    }

    /// Frees a block of memory. A forked child has a copy of it that stays.
    ///
    /// # Safety
    /// - Nobody accesses the block any more.
    unsafe fn release(&self, start: *mut c_void) {
        if let Some(memory) = self.own_memory() {
            // SAFETY: the caller's obligation is the same.
            unsafe { memory.release(start) };
        }
    }
}

fn signed(bytes: u64) -> i64 {
    bytes.try_into().unwrap_or(i64::MAX)
}

fn length(size: u64) -> Result<usize> {
    usize::try_from(size).map_err(|_| Error::invalid_argument(format!("{size} bytes is too much")))
}

/// Returns the region's address, or an error if it holds fewer than `size` bytes.
fn start_of(region: Prefix<'_, SP_DeviceMemoryBase>, size: u64) -> Result<*mut c_void> {
    let start = region
        .get(SP_DeviceMemoryBase::opaque)
        .unwrap_or(std::ptr::null_mut());
    let has = region.get(SP_DeviceMemoryBase::size).unwrap_or(0);
    if size > 0 && (start.is_null() || size > has) {
        let message = format!("{size} bytes were asked of a region of {has} at {start:?}");
        return Err(Error::invalid_argument(message));
    }
    Ok(start)
}

/// # Safety
/// - `source` is valid for reads of `size` bytes, and `target` for writes. They may overlap.
unsafe fn copy(target: *mut c_void, source: *const c_void, size: u64) -> Result<()> {
    if size > 0 {
        // SAFETY: the caller vouches for both.
        unsafe { source.cast::<u8>().copy_to(target.cast(), length(size)?) };
    }
    Ok(())
}
