//! One device of the plugin: its `SP_Device`, the function table, and a method per slot.

mod by_address;

use std::ffi::c_void;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::Error;
use crate::call::{HostCallback, Ptr, call, call_with_status};
use crate::contract_watch::record_breach;
use crate::record::{GuardedStruct, StructShapes};

/// The slot that creates streams from 2.22 on, if the plugin has it.
pub(crate) const WITH_OPTIONS: &str = "create_stream_with_options";
/// Initial value of a variable that a slot must set.
const UNSET: i64 = i64::MIN + 0x5a5a;

/// Time limit of an event.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A device and its functions.
pub(crate) struct Executor {
    device: GuardedStruct,
    table: Arc<GuardedStruct>,
    shapes: StructShapes,
    settings: Settings,
}

/// Facts about the platform and the release that the use of a device depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    /// True if the host puts its BFC allocator over the device's memory.
    pub uses_bfc: bool,
    /// The alignment in bytes that host memory must have.
    pub host_alignment: usize,
}

/// A stream of the plugin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StreamHandle(pub *mut c_void);

// SAFETY: the host never dereferences a stream, and the C contract allows its use on any thread.
unsafe impl Send for StreamHandle {}
// SAFETY: as above.
unsafe impl Sync for StreamHandle {}

/// An event of the plugin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EventHandle(Ptr);

// SAFETY: the host never dereferences an event, and the C contract allows its use on any thread.
unsafe impl Send for EventHandle {}
// SAFETY: as above.
unsafe impl Sync for EventHandle {}

/// A timer of the plugin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimerHandle(Ptr);

/// An `SE_EventStatus`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventStatus {
    /// An error, or unknown.
    Failed(u32),
    Pending,
    Complete,
}

/// A block of device memory: the fields of `SP_DeviceMemoryBase`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DeviceMemoryBlock {
    pub opaque: Ptr,
    pub size: u64,
}

// SAFETY: the pointer is an opaque address that the host never dereferences.
unsafe impl Send for DeviceMemoryBlock {}

impl Executor {
    pub fn new(
        device: GuardedStruct,
        table: Arc<GuardedStruct>,
        shapes: StructShapes,
        settings: Settings,
    ) -> Self {
        Self {
            device,
            table,
            shapes,
            settings,
        }
    }

    /// Returns true if tensors are parts of larger blocks, as with the BFC allocator.
    pub fn uses_bfc(&self) -> bool {
        self.settings.uses_bfc
    }

    /// Returns the alignment in bytes that host memory must have.
    pub fn host_alignment(&self) -> usize {
        self.settings.host_alignment
    }

    /// Returns true if the plugin set the slot.
    pub fn has(&self, slot: &str) -> bool {
        self.table.get(slot).is_some_and(|address| address != 0)
    }

    /// Returns true if the plugin set the slot and its `struct_size` includes the slot.
    pub fn is_set_and_covered(&self, slot: &str) -> bool {
        let end = self.table.shape().field(slot);
        let end = end.map(|field| field.offset + field.size);
        let size = self.table.get("struct_size").unwrap_or(0);
        end.is_some_and(|end| end <= size) && self.has(slot)
    }

    /// Returns true if the release has the slot.
    pub fn is_in_release(&self, slot: &str) -> bool {
        self.table.shape().field(slot).is_some()
    }

    pub fn device(&self) -> Ptr {
        self.device.address()
    }

    fn memory(&self, block: DeviceMemoryBlock) -> Result<GuardedStruct, Error> {
        let mut record = self.shapes.record("SP_DeviceMemoryBase")?;
        record.set_pointer("opaque", block.opaque);
        record.set("size", block.size);
        Ok(record)
    }

    /// Allocates device memory. `opaque` is null if the plugin has none left.
    pub fn allocate(&self, size: u64) -> Result<DeviceMemoryBlock, Error> {
        let memory = self.shapes.record("SP_DeviceMemoryBase")?;
        call!(self.table, "allocate", (self.device(), size, 0, memory.address()): (Ptr, u64, i64, Ptr));
        let block = DeviceMemoryBlock {
            opaque: memory.pointer("opaque"),
            size: memory.get("size").unwrap_or(0),
        };
        if !block.opaque.is_null() && block.size < size {
            let text = format!(
                "SP_StreamExecutor.allocate of {size} bytes described a block of {}",
                block.size
            );
            record_breach("SP_StreamExecutor.allocate size", text);
        }
        Ok(block)
    }

    /// Frees a block as TensorFlow does without the BFC allocator: with size 0.
    pub fn deallocate(&self, opaque: Ptr) {
        let result = self.free(DeviceMemoryBlock { opaque, size: 0 });
        debug_assert!(result.is_ok(), "the slot was called before");
    }

    pub fn free(&self, block: DeviceMemoryBlock) -> Result<(), Error> {
        let memory = self.memory(block)?;
        call!(self.table, "deallocate", (self.device(), memory.address()): (Ptr, Ptr));
        Ok(())
    }

    pub fn host_allocate(&self, size: u64) -> Result<Ptr, Error> {
        Ok(call!(self.table, "host_memory_allocate", (self.device(), size): (Ptr, u64) -> Ptr))
    }

    pub fn host_deallocate(&self, memory: Ptr) -> Result<(), Error> {
        call!(self.table, "host_memory_deallocate", (self.device(), memory): (Ptr, Ptr));
        Ok(())
    }

    pub fn unified_allocate(&self, size: u64) -> Result<Ptr, Error> {
        Ok(call!(self.table, "unified_memory_allocate", (self.device(), size): (Ptr, u64) -> Ptr))
    }

    pub fn unified_deallocate(&self, memory: Ptr) -> Result<(), Error> {
        call!(self.table, "unified_memory_deallocate", (self.device(), memory): (Ptr, Ptr));
        Ok(())
    }

    /// Returns the structs that slots fill: that of a block, and the statistics if there are any.
    pub fn filled(&self) -> Result<Vec<GuardedStruct>, Error> {
        let memory = self.shapes.record("SP_DeviceMemoryBase")?;
        call!(self.table, "allocate", (self.device(), 64, 0, memory.address()): (Ptr, u64, i64, Ptr));
        self.free(DeviceMemoryBlock {
            opaque: memory.pointer("opaque"),
            size: 64,
        })?;
        Ok([memory].into_iter().chain(self.stats()?).collect())
    }

    /// Returns the statistics, or `None` if the plugin has none.
    pub fn stats(&self) -> Result<Option<GuardedStruct>, Error> {
        let stats = self.shapes.record("SP_AllocatorStats")?;
        let has = call!(self.table, "get_allocator_stats", (self.device(), stats.address()): (Ptr, Ptr) -> u8);
        let has = has != 0;
        for field in stats.negative().filter(|_| has) {
            let text = format!(
                "SP_StreamExecutor.get_allocator_stats left SP_AllocatorStats.{field} negative"
            );
            record_breach(&text.clone(), text);
        }
        Ok(has.then_some(stats))
    }

    /// Returns free and total bytes, or `None` if the plugin reports none.
    pub fn usage(&self) -> Result<Option<(i64, i64)>, Error> {
        // TensorFlow does not initialize them either.
        let (mut free, mut total) = (UNSET, UNSET);
        let known = call!(
            self.table, "device_memory_usage",
            (self.device(), &mut free, &mut total): (Ptr, *mut i64, *mut i64) -> u8
        );
        if known != 0 && !(0 <= free && free <= total && total > 0) {
            let named = |bytes| match bytes {
                UNSET => "unset".to_owned(),
                bytes => bytes.to_string(),
            };
            let text = format!(
                "SP_StreamExecutor.device_memory_usage reported success and left `free` {} and `total` {}",
                named(free),
                named(total)
            );
            record_breach("SP_StreamExecutor.device_memory_usage", text);
        }
        Ok((known != 0).then_some((free, total)))
    }

    /// Creates a stream as the release does: with options if the plugin has the slot.
    pub fn create_stream(&self) -> Result<StreamHandle, Error> {
        match self.is_set_and_covered(WITH_OPTIONS) {
            true => self.create_stream_with_options(None),
            false => self.create_plain_stream(),
        }
    }

    /// Creates a stream with options, by default without a priority.
    pub fn create_stream_with_options(&self, priority: Option<i32>) -> Result<StreamHandle, Error> {
        let mut options = self.shapes.record("SP_StreamOptions")?;
        options.set("has_priority", u64::from(priority.is_some()));
        options.set("priority", u64::from(priority.unwrap_or(0).cast_unsigned()));
        let mut stream = std::ptr::null_mut();
        call_with_status(WITH_OPTIONS, |status| {
            call!(
                self.table, "create_stream_with_options",
                (self.device(), options.address(), &mut stream, status): (Ptr, Ptr, *mut Ptr, Ptr)
            );
            Ok(StreamHandle(stream))
        })
    }

    pub fn create_plain_stream(&self) -> Result<StreamHandle, Error> {
        let mut stream = std::ptr::null_mut();
        call_with_status("create_stream", |status| {
            call!(self.table, "create_stream", (self.device(), &mut stream, status): (Ptr, *mut Ptr, Ptr));
            Ok(StreamHandle(stream))
        })
    }

    pub fn destroy_stream(&self, stream: StreamHandle) -> Result<(), Error> {
        call!(self.table, "destroy_stream", (self.device(), stream.0): (Ptr, Ptr));
        Ok(())
    }

    pub fn depend(&self, dependent: StreamHandle, other: StreamHandle) -> Result<(), Error> {
        call_with_status("create_stream_dependency", |status| {
            call!(
                self.table, "create_stream_dependency",
                (self.device(), dependent.0, other.0, status): (Ptr, Ptr, Ptr, Ptr)
            );
            Ok(())
        })
    }

    pub fn stream_status(&self, stream: StreamHandle) -> Result<(), Error> {
        call_with_status("get_stream_status", |status| {
            call!(self.table, "get_stream_status", (self.device(), stream.0, status): (Ptr, Ptr, Ptr));
            Ok(())
        })
    }

    pub fn create_event(&self) -> Result<EventHandle, Error> {
        let mut event = std::ptr::null_mut();
        call_with_status("create_event", |status| {
            call!(self.table, "create_event", (self.device(), &mut event, status): (Ptr, *mut Ptr, Ptr));
            Ok(EventHandle(event))
        })
    }

    pub fn destroy_event(&self, event: EventHandle) -> Result<(), Error> {
        call!(self.table, "destroy_event", (self.device(), event.0): (Ptr, Ptr));
        Ok(())
    }

    pub fn event_status(&self, event: EventHandle) -> Result<EventStatus, Error> {
        let status =
            call!(self.table, "get_event_status", (self.device(), event.0): (Ptr, Ptr) -> u32);
        if status > 3 {
            let text = format!(
                "SP_StreamExecutor.get_event_status returned {status}, which is not an SE_EventStatus"
            );
            record_breach("SP_StreamExecutor.get_event_status", text);
        }
        Ok(match status {
            2 => EventStatus::Pending,
            3 => EventStatus::Complete,
            other => EventStatus::Failed(other),
        })
    }

    pub fn record_event(&self, stream: StreamHandle, event: EventHandle) -> Result<(), Error> {
        call_with_status("record_event", |status| {
            call!(
                self.table, "record_event",
                (self.device(), stream.0, event.0, status): (Ptr, Ptr, Ptr, Ptr)
            );
            Ok(())
        })
    }

    pub fn wait_for_event(&self, stream: StreamHandle, event: EventHandle) -> Result<(), Error> {
        call_with_status("wait_for_event", |status| {
            call!(
                self.table, "wait_for_event",
                (self.device(), stream.0, event.0, status): (Ptr, Ptr, Ptr, Ptr)
            );
            Ok(())
        })
    }

    pub fn block_for_event(&self, event: EventHandle) -> Result<(), Error> {
        call_with_status("block_host_for_event", |status| {
            call!(self.table, "block_host_for_event", (self.device(), event.0, status): (Ptr, Ptr, Ptr));
            Ok(())
        })
    }

    /// Records an event and polls it, as TensorFlow's event thread does.
    pub fn poll(&self, stream: StreamHandle) -> Result<(), Error> {
        let event = self.create_event()?;
        self.record_event(stream, event)?;
        let result = self.poll_event(event);
        self.destroy_event(event)?;
        result
    }

    fn poll_event(&self, event: EventHandle) -> Result<(), Error> {
        let end = Instant::now() + TIMEOUT;
        loop {
            match self.event_status(event)? {
                EventStatus::Complete => return Ok(()),
                EventStatus::Failed(status) => {
                    return Err(Error::Refused(format!("Unexpected Event status: {status}")));
                }
                EventStatus::Pending if Instant::now() > end => {
                    let seconds = TIMEOUT.as_secs();
                    return Err(Error::Timeout(format!(
                        "an event was pending for {seconds} s"
                    )));
                }
                EventStatus::Pending => std::thread::yield_now(),
            }
        }
    }

    pub fn block_until_done(&self, stream: StreamHandle) -> Result<(), Error> {
        call_with_status("block_host_until_done", |status| {
            call!(self.table, "block_host_until_done", (self.device(), stream.0, status): (Ptr, Ptr, Ptr));
            Ok(())
        })
    }

    pub fn synchronize(&self) -> Result<(), Error> {
        call_with_status("synchronize_all_activity", |status| {
            call!(self.table, "synchronize_all_activity", (self.device(), status): (Ptr, Ptr));
            Ok(())
        })
    }

    /// Enqueues a copy of `source`, which must last until the stream is done with it.
    pub fn htod(
        &self,
        stream: StreamHandle,
        target: DeviceMemoryBlock,
        source: &[u8],
    ) -> Result<(), Error> {
        self.htod_from(stream, target, (source.as_ptr(), source.len()))
    }

    /// Enqueues a copy into `target`, which must last until the stream is done with it.
    pub fn dtoh(
        &self,
        stream: StreamHandle,
        target: &mut [u8],
        source: DeviceMemoryBlock,
    ) -> Result<(), Error> {
        self.dtoh_to(stream, (target.as_mut_ptr(), target.len()), source)
    }

    pub fn dtod(
        &self,
        stream: StreamHandle,
        target: DeviceMemoryBlock,
        source: DeviceMemoryBlock,
        size: u64,
    ) -> Result<(), Error> {
        let (target, source) = (self.memory(target)?, self.memory(source)?);
        call_with_status("memcpy_dtod", |status| {
            call!(
                self.table, "memcpy_dtod",
                (self.device(), stream.0, target.address(), source.address(), size, status):
                (Ptr, Ptr, Ptr, Ptr, u64, Ptr)
            );
            Ok(())
        })
    }

    pub fn sync_htod(&self, target: DeviceMemoryBlock, source: &[u8]) -> Result<(), Error> {
        self.sync_htod_from(target, (source.as_ptr(), source.len()))
    }

    pub fn sync_dtoh(&self, target: &mut [u8], source: DeviceMemoryBlock) -> Result<(), Error> {
        self.sync_dtoh_to((target.as_mut_ptr(), target.len()), source)
    }

    pub fn sync_dtod(
        &self,
        target: DeviceMemoryBlock,
        source: DeviceMemoryBlock,
        size: u64,
    ) -> Result<(), Error> {
        let (target, source) = (self.memory(target)?, self.memory(source)?);
        call_with_status("sync_memcpy_dtod", |status| {
            call!(
                self.table, "sync_memcpy_dtod",
                (self.device(), target.address(), source.address(), size, status):
                (Ptr, Ptr, Ptr, u64, Ptr)
            );
            Ok(())
        })
    }

    pub fn mem_zero(
        &self,
        stream: StreamHandle,
        target: DeviceMemoryBlock,
        size: u64,
    ) -> Result<(), Error> {
        let target = self.memory(target)?;
        call_with_status("mem_zero", |status| {
            call!(
                self.table, "mem_zero",
                (self.device(), stream.0, target.address(), size, status): (Ptr, Ptr, Ptr, u64, Ptr)
            );
            Ok(())
        })
    }

    pub fn memset(
        &self,
        stream: StreamHandle,
        target: DeviceMemoryBlock,
        pattern: u8,
        size: u64,
    ) -> Result<(), Error> {
        let target = self.memory(target)?;
        call_with_status("memset", |status| {
            call!(
                self.table, "memset",
                (self.device(), stream.0, target.address(), pattern, size, status):
                (Ptr, Ptr, Ptr, u8, u64, Ptr)
            );
            Ok(())
        })
    }

    pub fn memset32(
        &self,
        stream: StreamHandle,
        target: DeviceMemoryBlock,
        pattern: u32,
        size: u64,
    ) -> Result<(), Error> {
        let target = self.memory(target)?;
        call_with_status("memset32", |status| {
            call!(
                self.table, "memset32",
                (self.device(), stream.0, target.address(), pattern, size, status):
                (Ptr, Ptr, Ptr, u32, u64, Ptr)
            );
            Ok(())
        })
    }

    /// Enqueues a callback; returns false if the plugin rejects it.
    pub fn host_callback(
        &self,
        stream: StreamHandle,
        callback: HostCallback,
        argument: *mut c_void,
    ) -> Result<bool, Error> {
        let taken = call!(
            self.table, "host_callback",
            (self.device(), stream.0, callback, argument): (Ptr, Ptr, HostCallback, Ptr) -> u8
        );
        Ok(taken != 0)
    }

    pub fn create_timer(&self) -> Result<TimerHandle, Error> {
        let mut timer = std::ptr::null_mut();
        call_with_status("create_timer", |status| {
            call!(self.table, "create_timer", (self.device(), &mut timer, status): (Ptr, *mut Ptr, Ptr));
            Ok(TimerHandle(timer))
        })
    }

    pub fn destroy_timer(&self, timer: TimerHandle) -> Result<(), Error> {
        call!(self.table, "destroy_timer", (self.device(), timer.0): (Ptr, Ptr));
        Ok(())
    }

    pub fn start_timer(&self, stream: StreamHandle, timer: TimerHandle) -> Result<(), Error> {
        call_with_status("start_timer", |status| {
            call!(
                self.table, "start_timer",
                (self.device(), stream.0, timer.0, status): (Ptr, Ptr, Ptr, Ptr)
            );
            Ok(())
        })
    }

    pub fn stop_timer(&self, stream: StreamHandle, timer: TimerHandle) -> Result<(), Error> {
        call_with_status("stop_timer", |status| {
            call!(
                self.table, "stop_timer",
                (self.device(), stream.0, timer.0, status): (Ptr, Ptr, Ptr, Ptr)
            );
            Ok(())
        })
    }

    /// Returns the nanoseconds that the timer measured.
    pub fn nanoseconds(&self, functions: &GuardedStruct, timer: TimerHandle) -> Result<u64, Error> {
        Ok(call!(functions, "nanoseconds", (timer.0): (Ptr) -> u64))
    }
}
