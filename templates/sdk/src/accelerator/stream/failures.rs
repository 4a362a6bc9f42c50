//! The first error of a stream, and the search for the command that is its reason.

use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use super::marks::{Command, Failure, Mark, Marks};
use crate::accelerator::{Accelerator, host_function};
use crate::synchronous::is_synchronous;
use crate::{Error, Result};

/// Longest time for which an error waits for the fence of the command that has failed.
const FENCE_DELAY: Duration = Duration::from_secs(1);

/// The failures of a stream. Those of streams that wait for this one refer to them.
pub(in crate::accelerator) struct Failures<A: Accelerator> {
    first: OnceLock<Failure>,
    marks: Marks<A>,
    upstream: Mutex<Vec<Weak<Failures<A>>>>,
}

/// Reports a failure once, also if streams that wait for the failed one return it too. Some releases replace the message by one of
/// their own.
fn report(failure: &Failure) {
    static LAST: Mutex<Option<String>> = Mutex::new(None);
    let reported = failure.error.to_string();
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if last.as_ref() == Some(&reported) {
        return;
    }
    let hint = match is_synchronous() {
        true => "",
        false => " (with SP_SYNC=1 the op that has failed raises it)",
    };
    sp_runtime::report!(Error, "a stream has failed: {}{hint}", failure.error);
    *last = Some(reported);
}

impl<A: Accelerator> Failures<A> {
    pub fn new() -> Self {
        Self {
            first: OnceLock::new(),
            marks: Marks::new(),
            upstream: Mutex::default(),
        }
    }

    /// Adds a command that was enqueued, and the fence behind it.
    ///
    /// # Errors
    /// Returns the first error of the stream, if the first command that has not completed has failed.
    pub fn mark(&self, command: Command, fence: A::Fence) -> Result<()> {
        let failed = self.marks.push(command, fence);
        failed.map_or(Ok(()), |it| Err(self.fail_with(it)))
    }

    /// Forgets the commands that have completed. A driver whose fences return the error of their queue would return a later
    /// error for them too.
    pub fn forget_completed(&self) {
        self.marks.forget_completed();
    }

    /// Returns true if a kernel or a copy is not known to have completed.
    pub fn has_pending_commands(&self) -> bool {
        self.marks.has_pending()
    }

    /// Returns the first error that is known.
    pub fn check(&self) -> Result<()> {
        let failure = self.first.get();
        failure.map_or(Ok(()), |it| Err(it.error.clone()))
    }

    /// Looks for failed commands, of this stream and of those it has waited for.
    ///
    /// # Errors
    /// Returns the first error of the stream.
    pub fn check_commands(&self) -> Result<()> {
        self.check()?;
        let failed = self.search(Mark::failure);
        failed.map_or(Ok(()), |it| Err(self.fail_with(it)))
    }

    /// Records an error that the queue or a fence has returned, under the name of the command that has failed.
    pub fn fail(&self, error: &Error) -> Error {
        let failed = self.await_failure();
        self.fail_with(failed.unwrap_or_else(|| Failure::last(error.clone())))
    }

    /// Records that work is not complete, under the name of the first command that is not.
    pub fn fail_pending(&self, error: &Error) -> Error {
        let pending = self.search(|it| Some(it.describe(error)));
        self.fail_with(pending.unwrap_or_else(|| Failure::last(error.clone())))
    }

    /// Records an error that the queue has returned for a command, or for the fence behind it.
    pub fn fail_at(&self, command: &Command, error: &Error) -> Error {
        let failed = self.await_failure();
        self.fail_with(failed.unwrap_or_else(|| Failure::of_unmarked(command, error)))
    }

    /// Records an error as it is. Returns the first one.
    pub fn fail_as(&self, error: Error) -> Error {
        self.fail_with(Failure::last(error))
    }

    fn fail_with(&self, failure: Failure) -> Error {
        let failure = self.first.get_or_init(|| {
            report(&failure);
            failure
        });
        failure.error.clone()
    }

    /// Returns the first failure. A queue may return the error of a command before the fence behind it does, so this waits for
    /// the commands that are not complete.
    fn await_failure(&self) -> Option<Failure> {
        let start = Instant::now();
        loop {
            let failed = self.search(Mark::failure);
            let may_wait = start.elapsed() < FENCE_DELAY && !host_function::is_running();
            if failed.is_some() || !may_wait || !self.has_pending_commands() {
                return failed;
            }
            thread::sleep(Duration::from_micros(100));
        }
    }

    /// Returns the first failure of this stream and of those it has waited for: known ones, and what `find` returns for
    /// the first commands that have not completed.
    ///
    /// A command that fails since another stream has failed was enqueued after the command that is the reason.
    fn search(&self, find: impl Fn(&Mark<A>) -> Option<Failure>) -> Option<Failure> {
        let mut first = self.own_failure(&find);
        let (mut visited, mut index) = (self.upstream(), 0);
        while let Some(stream) = visited.get(index).cloned() {
            let failure = stream.own_failure(&find);
            first = [first, failure]
                .into_iter()
                .flatten()
                .min_by_key(|it| it.sequence);
            for it in stream.upstream() {
                let is_new = !visited.iter().any(|known| Arc::ptr_eq(known, &it));
                if is_new && !std::ptr::eq(Arc::as_ptr(&it), self) {
                    visited.push(it);
                }
            }
            index += 1;
        }
        first
    }

    fn own_failure(&self, find: impl Fn(&Mark<A>) -> Option<Failure>) -> Option<Failure> {
        let known = self.first.get().cloned();
        known.or_else(|| self.marks.find_first(find))
    }

    fn upstream(&self) -> Vec<Arc<Self>> {
        let upstream = self.upstream.lock().unwrap_or_else(PoisonError::into_inner);
        upstream.iter().filter_map(Weak::upgrade).collect()
    }

    /// Adds the failures of a stream that this one waits for.
    pub fn add_upstream(&self, other: &Arc<Self>) {
        let mut upstream = self.upstream.lock().unwrap_or_else(PoisonError::into_inner);
        let other = Arc::downgrade(other);
        let is_self = std::ptr::eq(other.as_ptr(), self);
        if !is_self && !upstream.iter().any(|it| it.ptr_eq(&other)) {
            upstream.retain(|it| it.strong_count() > 0);
            upstream.push(other);
        }
    }
}
