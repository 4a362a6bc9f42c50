//! Work of each kind on one stream: a copy, a host callback and an event.

use super::callback::{Callback, CallbackAction};
use super::hold::Hold;
use crate::Error;
use crate::check::session::{block, ensure, expect_equal, pattern};
use crate::executor::{DeviceMemoryBlock, EventHandle, EventStatus, Executor, StreamHandle};
use crate::host_bytes::HostBytes;
use crate::outcome::Stop;

/// Memory, with the work that changes it.
pub(super) struct QueuedWork<'a> {
    executor: &'a Executor,
    stream: StreamHandle,
    memory: DeviceMemoryBlock,
    before: Vec<u8>,
    after: HostBytes,
    event: EventHandle,
    callback: Option<Callback>,
}

impl<'a> QueuedWork<'a> {
    /// Creates the objects. Nothing is enqueued.
    pub fn prepare(
        executor: &'a Executor,
        stream: StreamHandle,
        size: usize,
    ) -> Result<Self, Stop> {
        let memory = block(executor, size)?;
        let before = pattern(size, 0x11);
        executor.sync_htod(memory, &before)?;
        Ok(Self {
            executor,
            stream,
            memory,
            before,
            after: HostBytes::new(&pattern(size, 0xee)),
            event: executor.create_event()?,
            callback: None,
        })
    }

    /// Enqueues the work while a stream is held.
    pub fn enqueue(&mut self, hold: &Hold) -> Result<(), Stop> {
        let (executor, stream) = (self.executor, self.stream);
        let (memory, source) = (self.memory, self.after);
        hold.call("memcpy_htod", || executor.htod(stream, memory, source))?;
        let callback = Callback::enqueue(executor, stream, CallbackAction::None)?;
        self.callback = Some(callback);
        hold.call("record_event", || executor.record_event(stream, self.event))
    }

    /// Returns a description of work that is done. Looks at the memory, which takes longer, if `is_last`.
    pub fn done_work(&self, hold: &Hold, is_last: bool) -> Result<Option<&'static str>, Stop> {
        if self.callback.is_some_and(Callback::has_run) {
            return Ok(Some("a host callback ran"));
        }
        if is_complete(self.executor, self.event)? {
            return Ok(Some("an event was complete"));
        }
        match !is_last || hold.try_call(|| self.read())? == self.before {
            true => Ok(None),
            false => Ok(Some("a copy from the host had begun")),
        }
    }

    fn read(&self) -> Result<Vec<u8>, Error> {
        let bytes = HostBytes::poisoned(self.before.len());
        self.executor.sync_dtoh_to(bytes, self.memory)?;
        Ok(bytes.to_vec())
    }

    /// Waits for the work, and fails the check unless all of it is done.
    pub fn expect_done(&self) -> Result<(), Stop> {
        self.executor.poll(self.stream)?;
        let callback = self.callback.is_none_or(Callback::has_run);
        ensure(callback, || {
            "an event was complete before a host callback ahead of it on its stream had run".into()
        })?;
        let event = is_complete(self.executor, self.event)?;
        ensure(event, || {
            "an event was complete before an earlier event of its stream".into()
        })?;
        let what = "a copy from the host ahead of an event that is complete";
        expect_equal(what, &self.read()?, &self.after.to_vec())
    }

    pub fn free(self) -> Result<(), Error> {
        self.executor.destroy_event(self.event)?;
        self.executor.free(self.memory)
    }
}

/// Returns true if an event is complete, and an error if it has failed.
pub(super) fn is_complete(executor: &Executor, event: EventHandle) -> Result<bool, Stop> {
    match executor.event_status(event)? {
        EventStatus::Complete => Ok(true),
        EventStatus::Pending => Ok(false),
        EventStatus::Failed(status) => {
            Err(Stop::Fail(format!("Unexpected Event status: {status}")))
        }
    }
}
