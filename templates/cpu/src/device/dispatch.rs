//! The slots of the C API: each calls that of the device with or without queues.

use std::ffi::c_void;

use sp_abi::stream_executor::SP_StreamOptions; // since 2.22
use sp_abi::stream_executor::{
    DeviceFns, SE_EventStatus, SE_StatusCallbackFn, SP_AllocatorStats, SP_DeviceMemoryBase,
    StreamExecutor, TimerFns,
};
use sp_plugin::{Error, Result, vtable};
use sp_runtime::{Prefix, PrefixMut};

use super::{CpuDevice, Event, Mode, Stream, Timer};

/// Runs a call on the device.
macro_rules! on_device {
    ($self:ident, |$device:ident| $call:expr) => {
        match &$self.0 {
            Mode::Inline($device) => $call,
            Mode::Queued($device) => $call,
        }
    };
    ($self:ident, |$device:ident| $call:expr => $wrapper:ident) => {
        match &$self.0 {
            Mode::Inline($device) => Ok($wrapper(Mode::Inline($call?))),
            Mode::Queued($device) => Ok($wrapper(Mode::Queued($call?))),
        }
    };
}

/// Runs a call with handles, which are those of the device's mode. TensorFlow passes no handle of another device.
macro_rules! with_handles {
    ($self:ident, |$device:ident, $($handle:ident),+| $call:expr) => {
        match (&$self.0, $(&$handle.0),+) {
            (Mode::Inline($device), $(Mode::Inline($handle)),+) => $call,
            (Mode::Queued($device), $(Mode::Queued($handle)),+) => $call,
            _ => Err(other_device()),
        }
    };
}

#[cold]
pub(super) fn other_device() -> Error {
    Error::internal("TensorFlow passed a handle of another device")
}

#[vtable]
impl StreamExecutor for CpuDevice {
    type Stream = Stream;
    type Event = Event;
    type Timer = Timer;

    unsafe fn allocate(&self, size: u64, space: i64, mem: PrefixMut<'_, SP_DeviceMemoryBase>) {
        // SAFETY: the caller has the same obligations.
        on_device!(self, |device| unsafe { device.allocate(size, space, mem) });
    }

    unsafe fn deallocate(&self, memory: PrefixMut<'_, SP_DeviceMemoryBase>) {
        // SAFETY: the caller has the same obligations.
        on_device!(self, |device| unsafe { device.deallocate(memory) });
    }

    fn host_memory_allocate(&self, size: u64) -> *mut c_void {
        on_device!(self, |device| device.host_memory_allocate(size))
    }

    unsafe fn host_memory_deallocate(&self, mem: *mut c_void) {
        // SAFETY: the caller has the same obligations.
        on_device!(self, |device| unsafe { device.host_memory_deallocate(mem) });
    }

    fn unified_memory_allocate(&self, bytes: u64) -> *mut c_void {
        on_device!(self, |device| device.unified_memory_allocate(bytes))
    }

    unsafe fn unified_memory_deallocate(&self, location: *mut c_void) {
        // SAFETY: the caller has the same obligations.
        on_device!(self, |device| unsafe {
            device.unified_memory_deallocate(location);
        });
    }

    fn get_allocator_stats(&self, stats: PrefixMut<'_, SP_AllocatorStats>) -> u8 {
        on_device!(self, |device| device.get_allocator_stats(stats))
    }

    unsafe fn device_memory_usage(&self, free: *mut i64, total: *mut i64) -> u8 {
        // SAFETY: the caller has the same obligations.
        on_device!(self, |device| unsafe {
            device.device_memory_usage(free, total)
        })
    }

    fn create_stream(&self) -> Result<Stream> {
        on_device!(self, |device| device.create_stream() => Stream)
    }

    // since 2.22
    fn create_stream_with_options(&self, options: Prefix<'_, SP_StreamOptions>) -> Result<Stream> {
        match &self.0 {
            Mode::Inline(device) => Ok(Stream(Mode::Inline(device.create_stream()?))),
            Mode::Queued(device) => {
                let stream = device.create_stream_with_options(options)?;
                Ok(Stream(Mode::Queued(stream)))
            }
        }
    }

    fn destroy_stream(&self, stream: Stream) {
        match (&self.0, stream.0) {
            (Mode::Queued(device), Mode::Queued(stream)) => device.destroy_stream(stream),
            (_, stream) => drop(stream),
        }
    }

    fn create_stream_dependency(&self, dependent: &Stream, other: &Stream) -> Result<()> {
        with_handles!(self, |device, dependent, other| {
            device.create_stream_dependency(dependent, other)
        })
    }

    fn get_stream_status(&self, stream: &Stream) -> Result<()> {
        with_handles!(self, |device, stream| device.get_stream_status(stream))
    }

    fn create_event(&self) -> Result<Event> {
        on_device!(self, |device| device.create_event() => Event)
    }

    fn destroy_event(&self, _: Event) {}

    fn get_event_status(&self, event: &Event) -> SE_EventStatus {
        match (&self.0, &event.0) {
            (Mode::Inline(device), Mode::Inline(event)) => device.get_event_status(event),
            (Mode::Queued(device), Mode::Queued(event)) => device.get_event_status(event),
            _ => SE_EventStatus::SE_EVENT_COMPLETE,
        }
    }

    fn record_event(&self, stream: &Stream, event: &Event) -> Result<()> {
        with_handles!(self, |device, stream, event| device
            .record_event(stream, event))
    }

    fn wait_for_event(&self, stream: &Stream, event: &Event) -> Result<()> {
        with_handles!(self, |device, stream, event| device
            .wait_for_event(stream, event))
    }

    fn create_timer(&self) -> Result<Timer> {
        on_device!(self, |device| device.create_timer() => Timer)
    }

    fn destroy_timer(&self, _: Timer) {}

    fn start_timer(&self, stream: &Stream, timer: &Timer) -> Result<()> {
        with_handles!(self, |device, stream, timer| device
            .start_timer(stream, timer))
    }

    fn stop_timer(&self, stream: &Stream, timer: &Timer) -> Result<()> {
        with_handles!(self, |device, stream, timer| device
            .stop_timer(stream, timer))
    }

    unsafe fn memcpy_dtoh(
        &self,
        stream: &Stream,
        host_dst: *mut c_void,
        device_src: Prefix<'_, SP_DeviceMemoryBase>,
        size: u64,
    ) -> Result<()> {
        // SAFETY: the caller has the same obligations.
        with_handles!(self, |device, stream| unsafe {
            device.memcpy_dtoh(stream, host_dst, device_src, size)
        })
    }

    unsafe fn memcpy_htod(
        &self,
        stream: &Stream,
        device_dst: Prefix<'_, SP_DeviceMemoryBase>,
        host_src: *const c_void,
        size: u64,
    ) -> Result<()> {
        // SAFETY: the caller has the same obligations.
        with_handles!(self, |device, stream| unsafe {
            device.memcpy_htod(stream, device_dst, host_src, size)
        })
    }

    unsafe fn memcpy_dtod(
        &self,
        stream: &Stream,
        device_dst: Prefix<'_, SP_DeviceMemoryBase>,
        device_src: Prefix<'_, SP_DeviceMemoryBase>,
        size: u64,
    ) -> Result<()> {
        // SAFETY: the caller has the same obligations.
        with_handles!(self, |device, stream| unsafe {
            device.memcpy_dtod(stream, device_dst, device_src, size)
        })
    }

    unsafe fn sync_memcpy_dtoh(
        &self,
        host_dst: *mut c_void,
        device_src: Prefix<'_, SP_DeviceMemoryBase>,
        size: u64,
    ) -> Result<()> {
        // SAFETY: the caller has the same obligations.
        on_device!(self, |device| unsafe {
            device.sync_memcpy_dtoh(host_dst, device_src, size)
        })
    }

    unsafe fn sync_memcpy_htod(
        &self,
        device_dst: Prefix<'_, SP_DeviceMemoryBase>,
        host_src: *const c_void,
        size: u64,
    ) -> Result<()> {
        // SAFETY: the caller has the same obligations.
        on_device!(self, |device| unsafe {
            device.sync_memcpy_htod(device_dst, host_src, size)
        })
    }

    unsafe fn sync_memcpy_dtod(
        &self,
        device_dst: Prefix<'_, SP_DeviceMemoryBase>,
        device_src: Prefix<'_, SP_DeviceMemoryBase>,
        size: u64,
    ) -> Result<()> {
        // SAFETY: the caller has the same obligations.
        on_device!(self, |device| unsafe {
            device.sync_memcpy_dtod(device_dst, device_src, size)
        })
    }

    fn block_host_for_event(&self, event: &Event) -> Result<()> {
        with_handles!(self, |device, event| device.block_host_for_event(event))
    }

    fn block_host_until_done(&self, stream: &Stream) -> Result<()> {
        with_handles!(self, |device, stream| device.block_host_until_done(stream))
    }

    fn synchronize_all_activity(&self) -> Result<()> {
        on_device!(self, |device| device.synchronize_all_activity())
    }

    // since 2.7
    unsafe fn mem_zero(
        &self,
        stream: &Stream,
        location: Prefix<'_, SP_DeviceMemoryBase>,
        size: u64,
    ) -> Result<()> {
        // SAFETY: the caller has the same obligations.
        with_handles!(self, |device, stream| unsafe {
            device.mem_zero(stream, location, size)
        })
    }

    // since 2.7
    unsafe fn memset(
        &self,
        stream: &Stream,
        location: Prefix<'_, SP_DeviceMemoryBase>,
        pattern: u8,
        size: u64,
    ) -> Result<()> {
        // SAFETY: the caller has the same obligations.
        with_handles!(self, |device, stream| unsafe {
            device.memset(stream, location, pattern, size)
        })
    }

    // since 2.7
    unsafe fn memset32(
        &self,
        stream: &Stream,
        location: Prefix<'_, SP_DeviceMemoryBase>,
        pattern: u32,
        size: u64,
    ) -> Result<()> {
        // SAFETY: the caller has the same obligations.
        with_handles!(self, |device, stream| unsafe {
            device.memset32(stream, location, pattern, size)
        })
    }

    unsafe fn host_callback(
        &self,
        stream: &Stream,
        callback_fn: SE_StatusCallbackFn,
        callback_arg: *mut c_void,
    ) -> u8 {
        match (&self.0, &stream.0) {
            // SAFETY: the caller has the same obligations.
            (Mode::Inline(device), Mode::Inline(stream)) => unsafe {
                device.host_callback(stream, callback_fn, callback_arg)
            },
            // SAFETY: the caller has the same obligations.
            (Mode::Queued(device), Mode::Queued(stream)) => unsafe {
                device.host_callback(stream, callback_fn, callback_arg)
            },
            _ => 0,
        }
    }
}

#[vtable]
impl DeviceFns for CpuDevice {
    fn get_numa_node(&self) -> i32 {
        on_device!(self, |device| device.get_numa_node())
    }
}

impl TimerFns for CpuDevice {
    type Timer = Timer;

    fn nanoseconds(timer: &Timer) -> u64 {
        let elapsed = match &timer.0 {
            Mode::Inline(timer) => timer.elapsed(),
            Mode::Queued(timer) => timer.elapsed(),
        };
        elapsed.as_nanos().try_into().unwrap_or(u64::MAX)
    }
}
