//! Events and timers.

use std::time::{Duration, Instant};

use super::{EventHandle, EventStatus, Executor, StreamHandle, TimerHandle};
use crate::Error;
use crate::call::{Ptr, call};
use crate::contract_watch::record_breach;
use crate::record::GuardedStruct;

/// Time limit of an event.
const TIMEOUT: Duration = Duration::from_secs(10);

impl Executor {
    pub fn create_event(&self) -> Result<EventHandle, Error> {
        let mut event = std::ptr::null_mut();
        device_call!(self, "create_event", (&mut event): (*mut Ptr))?;
        Ok(EventHandle(event))
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
        device_call!(self, "record_event", (stream.0, event.0): (Ptr, Ptr))
    }

    pub fn wait_for_event(&self, stream: StreamHandle, event: EventHandle) -> Result<(), Error> {
        device_call!(self, "wait_for_event", (stream.0, event.0): (Ptr, Ptr))
    }

    pub fn block_for_event(&self, event: EventHandle) -> Result<(), Error> {
        device_call!(self, "block_host_for_event", (event.0): (Ptr))
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

    pub fn create_timer(&self) -> Result<TimerHandle, Error> {
        let mut timer = std::ptr::null_mut();
        device_call!(self, "create_timer", (&mut timer): (*mut Ptr))?;
        Ok(TimerHandle(timer))
    }

    pub fn destroy_timer(&self, timer: TimerHandle) -> Result<(), Error> {
        call!(self.table, "destroy_timer", (self.device(), timer.0): (Ptr, Ptr));
        Ok(())
    }

    pub fn start_timer(&self, stream: StreamHandle, timer: TimerHandle) -> Result<(), Error> {
        device_call!(self, "start_timer", (stream.0, timer.0): (Ptr, Ptr))
    }

    pub fn stop_timer(&self, stream: StreamHandle, timer: TimerHandle) -> Result<(), Error> {
        device_call!(self, "stop_timer", (stream.0, timer.0): (Ptr, Ptr))
    }

    /// Returns the nanoseconds that the timer measured.
    pub fn nanoseconds(&self, functions: &GuardedStruct, timer: TimerHandle) -> Result<u64, Error> {
        Ok(call!(functions, "nanoseconds", (timer.0): (Ptr) -> u64))
    }
}
