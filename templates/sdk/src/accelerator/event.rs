//! Events and timers of a stream.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::stream::{StreamState, expired};
use super::{Accelerator, Queue, guard, limits};
use crate::Result;

/// An event of an [`AcceleratorDevice`](super::AcceleratorDevice). One that was never recorded is complete.
pub struct Event<A: Accelerator>(Mutex<Option<Record<A>>>);

struct Record<A: Accelerator> {
    fence: Arc<A::Fence>,
    stream: Arc<StreamState<A>>,
    time: Instant,
}

impl<A: Accelerator> Clone for Record<A> {
    fn clone(&self) -> Self {
        Self {
            fence: self.fence.clone(),
            stream: self.stream.clone(),
            time: self.time,
        }
    }
}

impl<A: Accelerator> Event<A> {
    pub(super) fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// Records the present end of the stream. On a failed stream the event becomes complete, once earlier copies use no memory
    /// of TensorFlow any more.
    pub(super) fn record(&self, stream: &Arc<StreamState<A>>) -> Result<()> {
        let fence = stream.enqueue(Queue::record);
        if fence.is_err() {
            stream.drain_without_limit();
        }
        *self.lock() = None;
        let (fence, stream, time) = (Arc::new(fence?), stream.clone(), Instant::now());
        *self.lock() = Some(Record {
            fence,
            stream,
            time,
        });
        Ok(())
    }

    /// Returns true unless work before the event is pending. A failure is the stream's error, not the event's: an event
    /// with an error ends the process.
    pub(super) fn is_complete(&self) -> bool {
        let Some(record) = self.recorded() else {
            return true;
        };
        match guard::is_complete(&*record.fence) {
            Ok(false) => record.has_expired(),
            Ok(true) => {
                record.stream.failures.forget_completed();
                true
            }
            Err(error) => {
                record.stream.failures.fail(&error);
                // TensorFlow may free the host memory of copies before a complete event.
                record.stream.drain_without_limit();
                true
            }
        }
    }

    /// Makes later commands of a stream wait for the event.
    pub(super) fn delay(&self, stream: &Arc<StreamState<A>>) -> Result<()> {
        match self.recorded() {
            Some(record) => stream.wait_for_fence(&record.fence, &record.stream),
            None => stream.check(),
        }
    }

    /// Waits on the calling thread.
    pub(super) fn wait(&self) -> Result<()> {
        match self.recorded() {
            Some(Record { fence, stream, .. }) => stream
                .wait_on_host(&fence)
                .inspect_err(|_| _ = stream.drain_without_limit()),
            None => Ok(()),
        }
    }

    fn recorded(&self) -> Option<Record<A>> {
        self.lock().clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Record<A>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<A: Accelerator> Record<A> {
    /// Returns true, and fails the stream, if the time limit has passed.
    fn has_expired(&self) -> bool {
        let Some(limit) = limits::timeout() else {
            return false;
        };
        let has_expired = self.time.elapsed() > limit;
        if has_expired {
            self.stream.failures.fail_pending(&expired(limit));
        }
        has_expired
    }
}

/// A timer of an [`AcceleratorDevice`](super::AcceleratorDevice): measures on the host, in the order of a stream.
#[derive(Debug, Default)]
pub struct Timer(Arc<Mutex<Times>>);

#[derive(Debug, Default)]
struct Times {
    start: Option<Instant>,
    elapsed: Duration,
}

impl Timer {
    pub(super) fn start<A: Accelerator>(&self, stream: &StreamState<A>) -> Result<()> {
        self.enqueue(stream, |times| times.start = Some(Instant::now()))
    }

    pub(super) fn stop<A: Accelerator>(&self, stream: &StreamState<A>) -> Result<()> {
        self.enqueue(stream, |times| {
            times.elapsed = times.start.map_or(Duration::ZERO, |it| it.elapsed());
        })
    }

    /// Returns the time between the last start and the stop after it.
    pub fn elapsed(&self) -> Duration {
        let times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        times.elapsed
    }

    fn enqueue<A: Accelerator>(
        &self,
        stream: &StreamState<A>,
        change: fn(&mut Times),
    ) -> Result<()> {
        let times = self.0.clone();
        let change = move || change(&mut times.lock().unwrap_or_else(PoisonError::into_inner));
        stream.enqueue(|queue| queue.host_function(Box::new(change)))
    }
}
