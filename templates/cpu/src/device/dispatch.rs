//! The slots of the C API: each calls that of the device with or without queues.

use std::ffi::c_void;

use sp_abi::stream_executor::SP_StreamOptions; // since 2.22
use sp_abi::stream_executor::{
    DeviceFns, SE_EventStatus, SE_StatusCallbackFn, StreamExecutor, TimerFns,
};
use sp_plugin::accelerator::AcceleratorDevice;
use sp_plugin::{Error, Result, vtable};
use sp_runtime::Prefix;

use super::inline::InlineDevice;
use super::queued::CpuAccelerator;
use super::{CpuDevice, Event, Mode, Stream, Timer};

/// Returns the error for a handle of another device, which TensorFlow does not pass.
#[cold]
pub(super) fn other_device() -> Error {
    Error::internal("TensorFlow passed a handle of another device")
}

#[vtable(either = self.0: Mode {
    Inline: InlineDevice,
    Queued: AcceleratorDevice<CpuAccelerator>,
} else other_device())]
impl StreamExecutor for CpuDevice {
    type Stream = Stream;
    type Event = Event;
    type Timer = Timer;

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

    fn get_event_status(&self, event: &Event) -> SE_EventStatus {
        match (&self.0, &event.0) {
            (Mode::Inline(device), Mode::Inline(event)) => device.get_event_status(event),
            (Mode::Queued(device), Mode::Queued(event)) => device.get_event_status(event),
            _ => SE_EventStatus::SE_EVENT_COMPLETE,
        }
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

#[vtable(either = self.0: Mode {
    Inline: InlineDevice,
    Queued: AcceleratorDevice<CpuAccelerator>,
} else other_device())]
impl DeviceFns for CpuDevice {}

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
