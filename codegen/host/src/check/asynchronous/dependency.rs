//! Dependencies between streams.

use super::hold::Hold;
use super::queued_work::QueuedWork;
use crate::Error;
use crate::check::session::{CheckSession, CheckedDevice};
use crate::executor::{EventHandle, Executor, StreamHandle};
use crate::outcome::{CheckResult, Stop};

const SIZE: usize = 10_000;

/// The streams of the check.
#[derive(Clone, Copy)]
struct Upstream {
    held: StreamHandle,
    idle: StreamHandle,
    /// A stream without work of its own, which depends on the held one.
    between: StreamHandle,
    event: EventHandle,
}

/// A dependency of a stream on the held one.
struct Dependency {
    name: &'static str,
    slot: &'static str,
    enqueue: fn(&Executor, StreamHandle, Upstream) -> Result<(), Error>,
}

const DEPENDENCIES: [Dependency; 5] = [
    Dependency {
        name: "create_stream_dependency",
        slot: "create_stream_dependency",
        enqueue: |executor, stream, upstream| executor.depend(stream, upstream.held),
    },
    Dependency {
        name: "wait_for_event",
        slot: "wait_for_event",
        enqueue: |executor, stream, upstream| executor.wait_for_event(stream, upstream.event),
    },
    Dependency {
        name: "the first of two calls of create_stream_dependency",
        slot: "create_stream_dependency",
        enqueue: |executor, stream, upstream| {
            executor.depend(stream, upstream.held)?;
            executor.depend(stream, upstream.idle)
        },
    },
    Dependency {
        name: "the second of two calls of create_stream_dependency",
        slot: "create_stream_dependency",
        enqueue: |executor, stream, upstream| {
            executor.depend(stream, upstream.idle)?;
            executor.depend(stream, upstream.held)
        },
    },
    Dependency {
        name: "create_stream_dependency on a stream that depends on it",
        slot: "create_stream_dependency",
        enqueue: |executor, stream, upstream| executor.depend(stream, upstream.between),
    },
];

/// Work on a stream waits for that of a held stream, however the stream depends on it.
pub(in crate::check) fn dependencies(session: &CheckSession<'_>) -> CheckResult {
    let device = session.device()?;
    let executor = &device.executor;
    Hold::require(executor)?;
    let upstream = Upstream::new(&device)?;
    let mut queued = Vec::new();
    for dependency in &DEPENDENCIES {
        let stream = device.stream()?;
        let work = QueuedWork::prepare(executor, stream, SIZE)?;
        queued.push((dependency, stream, work));
    }
    let hold = Hold::on(executor, upstream.held)?;
    upstream.enqueue(executor, &hold)?;
    for (dependency, stream, work) in &mut queued {
        hold.call(dependency.slot, || {
            (dependency.enqueue)(executor, *stream, upstream)
        })?;
        work.enqueue(&hold)?;
    }
    hold.expect_none(|is_last| {
        let early = queued.iter().find_map(|(dependency, _, work)| {
            let done = work.done_work(&hold, is_last).transpose()?;
            Some(done.map(|done| early_message(done, dependency.name, "another stream")))
        });
        early.transpose()
    })?;
    hold.release();
    for (_, stream, work) in queued {
        work.expect_done()?;
        work.free()?;
        executor.destroy_stream(stream)?;
    }
    upstream.destroy(executor)?;
    Ok(format!(
        "work on {} streams waited for the stream that they depend on",
        DEPENDENCIES.len()
    ))
}

/// Returns the message about work that did not wait.
pub(super) fn early_message(done: &str, dependency: &str, upstream: &str) -> String {
    format!(
        "{done} on a stream before the work on {upstream} was done, for which it waits by {dependency}"
    )
}

impl Upstream {
    fn new(device: &CheckedDevice) -> Result<Self, Stop> {
        Ok(Self {
            held: device.stream()?,
            idle: device.stream()?,
            between: device.stream()?,
            event: device.executor.create_event()?,
        })
    }

    /// Enqueues the event behind the callback, and the dependency of the stream in between.
    fn enqueue(self, executor: &Executor, hold: &Hold) -> Result<(), Stop> {
        let (held, event) = (self.held, self.event);
        hold.call("record_event", || executor.record_event(held, event))?;
        hold.call("create_stream_dependency", || {
            executor.depend(self.between, held)
        })
    }

    fn destroy(self, executor: &Executor) -> Result<(), Error> {
        executor.synchronize()?;
        executor.destroy_event(self.event)?;
        [self.held, self.idle, self.between]
            .into_iter()
            .try_for_each(|stream| executor.destroy_stream(stream))
    }
}
