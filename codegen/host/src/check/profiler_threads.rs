//! The check of sessions that start and stop while other threads use the device.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use super::profiler_session::{Workload, collect_space, host, profiler};
use super::session::{CheckSession, ensure};
use crate::child;
use crate::outcome::{CheckResult, Stop};
use crate::profiler::RegisteredProfiler;

const THREADS: usize = 4;
const SESSIONS: usize = 20;

/// Threads that use the device without a pause, until they are stopped or their time has elapsed.
struct Workers<'a> {
    workload: Workload<'a>,
    start: Instant,
    calls: AtomicUsize,
    is_stopped: AtomicBool,
}

/// The calls of the profiler return while other threads use the device, and do not stop these.
pub(super) fn threads(session: &CheckSession<'_>) -> CheckResult {
    let host = host(session)?;
    let profiler = profiler(&host)?;
    let workers = Workers::new(Workload::new(&host));
    let sessions = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|_| scope.spawn(|| workers.run()))
            .collect();
        let sessions = workers.run_sessions(profiler);
        workers.is_stopped.store(true, Ordering::Relaxed);
        threads.into_iter().try_for_each(join)?;
        sessions
    })?;
    let name = workers.workload.name();
    let calls = workers.calls.load(Ordering::Relaxed);
    host.close()?;
    Ok(format!(
        "{sessions} sessions started and stopped while {THREADS} threads ran {calls} {name}"
    ))
}

fn join(thread: ScopedJoinHandle<'_, Result<(), Stop>>) -> Result<(), Stop> {
    let panicked = |_| Stop::Fail("a thread panicked".into());
    thread.join().map_err(panicked)?
}

impl<'a> Workers<'a> {
    fn new(workload: Workload<'a>) -> Self {
        Self {
            workload,
            start: Instant::now(),
            calls: AtomicUsize::new(0),
            is_stopped: AtomicBool::new(false),
        }
    }

    /// Returns true if the workers' time has elapsed. A session begins in the first third of it.
    fn is_past_end(&self) -> bool {
        self.start.elapsed() >= Self::limit()
    }

    fn limit() -> Duration {
        child::limit() * 3 / 4
    }

    /// Uses the device until the threads are stopped.
    fn run(&self) -> Result<(), Stop> {
        while !self.is_stopped.load(Ordering::Relaxed) && !self.is_past_end() {
            self.workload.run()?;
            self.calls.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Runs sessions one after the other and returns their number.
    fn run_sessions(&self, profiler: &RegisteredProfiler) -> Result<usize, Stop> {
        let mut sessions = 0;
        while sessions < SESSIONS && self.start.elapsed() < Self::limit() / 3 {
            self.run_session(profiler)?;
            sessions += 1;
        }
        Ok(sessions)
    }

    fn run_session(&self, profiler: &RegisteredProfiler) -> Result<(), Stop> {
        profiler.start()?;
        let started = self.ensure_time_is_left("start");
        let is_done = started.is_err() || self.wait_for_calls();
        // A thread may wait until the session has stopped, so it stops before the check fails.
        profiler.stop()?;
        started?;
        let name = self.workload.name();
        ensure(is_done, || {
            format!("{name} of other threads did not end between start and stop")
        })?;
        self.ensure_time_is_left("stop")?;
        collect_space(profiler)?;
        self.ensure_time_is_left("collect_data_xspace")
    }

    /// Fails if the workers' time elapsed during the call of `function`.
    fn ensure_time_is_left(&self, function: &str) -> Result<(), Stop> {
        let name = self.workload.name();
        ensure(!self.is_past_end(), || {
            format!("{function} did not return before the {name} of other threads had ended")
        })
    }

    /// Waits for more calls than there are threads, so that one of them has begun after this function. Returns false
    /// if the workers' time has elapsed.
    fn wait_for_calls(&self) -> bool {
        let wanted = self.calls.load(Ordering::Relaxed) + THREADS + 1;
        while self.calls.load(Ordering::Relaxed) < wanted && !self.is_past_end() {
            thread::sleep(Duration::from_micros(100));
        }
        self.calls.load(Ordering::Relaxed) >= wanted
    }
}
