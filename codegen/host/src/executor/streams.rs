//! Streams, and the functions that they call.

use std::ffi::c_void;

use super::{Executor, StreamHandle, WITH_OPTIONS};
use crate::Error;
use crate::call::{HostCallback, Ptr, call};

impl Executor {
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
        device_call!(
            self, "create_stream_with_options",
            (options.address(), &mut stream): (Ptr, *mut Ptr)
        )?;
        Ok(StreamHandle(stream))
    }

    pub fn create_plain_stream(&self) -> Result<StreamHandle, Error> {
        let mut stream = std::ptr::null_mut();
        device_call!(self, "create_stream", (&mut stream): (*mut Ptr))?;
        Ok(StreamHandle(stream))
    }

    pub fn destroy_stream(&self, stream: StreamHandle) -> Result<(), Error> {
        call!(self.table, "destroy_stream", (self.device(), stream.0): (Ptr, Ptr));
        Ok(())
    }

    pub fn depend(&self, dependent: StreamHandle, other: StreamHandle) -> Result<(), Error> {
        device_call!(self, "create_stream_dependency", (dependent.0, other.0): (Ptr, Ptr))
    }

    pub fn stream_status(&self, stream: StreamHandle) -> Result<(), Error> {
        device_call!(self, "get_stream_status", (stream.0): (Ptr))
    }

    pub fn block_until_done(&self, stream: StreamHandle) -> Result<(), Error> {
        device_call!(self, "block_host_until_done", (stream.0): (Ptr))
    }

    pub fn synchronize(&self) -> Result<(), Error> {
        device_call!(self, "synchronize_all_activity", (): ())
    }

    /// Enqueues a callback; returns false if the plugin rejects it.
    ///
    /// # Safety
    /// - `callback` may be called with `argument` at any later time, on any thread.
    pub unsafe fn host_callback(
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
}
