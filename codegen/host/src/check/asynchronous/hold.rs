//! A held stream, as checks use it.
//!
//! A check decides by what it sees while the stream is held, never by time. Time only bounds how long it looks for a fault,
//! and how long a call of the plugin may wait for the held stream: then the check is skipped.

use std::thread;
use std::time::{Duration, Instant};

use crate::Error;
use crate::child;
use crate::executor::{Executor, StreamHandle};
use crate::hold::StreamHold;
use crate::outcome::Stop;

/// The time that a call of the plugin may take while a stream is held, unless the check's own limit is short.
const PATIENCE: Duration = Duration::from_secs(2);

/// The time in which a check looks for work that runs too early. A queue without a fault uses all of it.
const WINDOW: Duration = Duration::from_millis(200);

/// The least number of times that it looks. A machine under load takes longer for them.
const LOOKS: usize = 40;

/// A held stream. Dropping it releases the stream.
pub(super) struct Hold(StreamHold);

impl Hold {
    /// Enqueues the callback on an idle stream. Skips the check if the device cannot hold a stream.
    pub fn on(executor: &Executor, stream: StreamHandle) -> Result<Self, Stop> {
        let held = StreamHold::on(executor, stream, PATIENCE.min(child::limit() / 4))?;
        held.map(Self).map_err(|reason| Stop::Skip(reason.into()))
    }

    /// Skips the check if the device cannot hold a stream. A check calls it before it creates anything, which a check that
    /// is skipped does not destroy.
    pub fn require(executor: &Executor) -> Result<(), Stop> {
        let stream = executor.create_stream()?;
        let held = Self::on(executor, stream);
        if let Ok(hold) = &held {
            hold.release();
            executor.synchronize()?;
        }
        executor.destroy_stream(stream)?;
        held.map(drop)
    }

    fn is_held(&self) -> bool {
        self.0.is_held()
    }

    /// Calls the plugin. If the call waits for the held stream, the callback returns.
    pub fn try_call<T, E>(&self, call: impl FnOnce() -> Result<T, E>) -> Result<T, Stop>
    where
        Stop: From<E>,
    {
        self.0.start_patience();
        Ok(call()?)
    }

    /// Calls the plugin, and skips the check if the call has waited for the held stream.
    pub fn call<T>(&self, slot: &str, call: impl FnOnce() -> Result<T, Error>) -> Result<T, Stop> {
        let result = self.try_call(call)?;
        match self.is_held() {
            true => Ok(result),
            false => Err(Stop::Skip(format!(
                "{slot} waits for the work on the stream, so nothing is enqueued behind that work"
            ))),
        }
    }

    /// Looks for a fault for some time, and fails the check if there is one before the callback may have returned. Passes
    /// true to `fault` at the last time: work that ran too early is still visible then.
    pub fn expect_none(
        &self,
        mut fault: impl FnMut(bool) -> Result<Option<String>, Stop>,
    ) -> Result<(), Stop> {
        let (end, mut looks) = (Instant::now() + WINDOW, 0);
        let mut is_last = false;
        while !is_last && self.is_held() {
            is_last = looks >= LOOKS && Instant::now() > end;
            looks += 1;
            self.0.start_patience();
            if let Some(text) = fault(is_last)?.filter(|_| self.is_held()) {
                return Err(Stop::Fail(text));
            }
            thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// Lets the callback return.
    pub fn release(&self) {
        self.0.release();
    }
}
