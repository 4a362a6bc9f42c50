//! A queue of the reference device: inline, or with a thread that pauses at random.

use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::slice;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use sp_plugin::accelerator::{
    Fence, HostSource, HostTarget, LateCopies, LateSource, PeerCopy, Queue, Region, check_lengths,
};
use sp_plugin::{Error, Result};
use sp_runtime::fork::Process;
use sp_runtime::guard;

use super::fence::WorkFence;
use super::{CpuAccelerator, FailureCount, Settings, address};

/// The time that the exit of the process waits for a command.
const EXIT_PATIENCE: Duration = Duration::from_secs(1);

/// A queue.
#[derive(Debug)]
pub struct WorkQueue {
    commands: Arc<Commands>,
    failures: Arc<FailureCount>,
    /// `None` if commands run where they are enqueued.
    thread: Option<JoinHandle<()>>,
    process: Process,
}

/// The commands of a queue that have not run.
#[derive(Debug, Default)]
pub(super) struct Commands {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Command>,
    /// The first error. Later work does not run.
    failure: Option<Error>,
    /// True if the thread ends after the commands that are waiting.
    is_closed: bool,
    /// True if the thread ends at once.
    is_stopped: bool,
    has_ended: bool,
}

type Work = Box<dyn FnOnce() -> Result<()> + Send>;

enum Command {
    Work(Work),
    Function(Box<dyn FnOnce() + Send>),
    Record(Arc<WorkFence>),
    Wait(Arc<WorkFence>),
}

impl std::fmt::Debug for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Work(_) => "Work",
            Self::Function(_) => "Function",
            Self::Record(_) => "Record",
            Self::Wait(_) => "Wait",
        })
    }
}

impl Commands {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check(&self) -> Result<()> {
        self.lock().failure.clone().map_or(Ok(()), Err)
    }

    fn push(&self, command: Command) {
        self.lock().waiting.push_back(command);
        self.changed.notify_all();
    }

    /// Returns the next command, or `None` if the thread has to end.
    fn next(&self) -> Option<Command> {
        let is_idle = |it: &mut State| it.waiting.is_empty() && !it.is_closed && !it.is_stopped;
        let state = self.changed.wait_while(self.lock(), is_idle);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        match state.is_stopped {
            true => None,
            false => state.waiting.pop_front(),
        }
    }

    fn run(&self, command: Command) {
        match command {
            Command::Work(work) => self.run_work(work),
            Command::Function(function) => {
                guard::run_with_default("a host function", (), function);
            }
            Command::Record(fence) => fence.complete(self.check()),
            Command::Wait(fence) => self.record_failure(fence.wait()),
        }
    }

    /// Runs work, unless a command has failed.
    fn run_work(&self, work: impl FnOnce() -> Result<()>) {
        // What is not run is dropped in the guard too.
        let run = move || self.check().map_or(Ok(()), |()| work());
        self.record_failure(guard::catch_panic("a command", run));
    }

    fn record_failure(&self, result: Result<()>) {
        if let Err(error) = result {
            self.lock().failure.get_or_insert(error);
        }
    }

    /// Ends the thread after its present command, and waits for that a limited time.
    pub fn stop(&self) {
        let mut state = self.lock();
        state.is_stopped = true;
        self.changed.notify_all();
        let is_running = |it: &mut State| !it.has_ended;
        // A command that takes longer ends with the process.
        drop(
            self.changed
                .wait_timeout_while(state, EXIT_PATIENCE, is_running),
        );
    }
}

impl WorkQueue {
    pub(super) fn new(settings: Settings, failures: Arc<FailureCount>) -> Result<Self> {
        let commands = Arc::new(Commands::default());
        let thread = match settings.is_async {
            true => Some(spawn(commands.clone(), settings.jitter)?),
            false => {
                commands.lock().has_ended = true;
                None
            }
        };
        Ok(Self {
            commands,
            failures,
            thread,
            process: Process::current(),
        })
    }

    pub(super) fn commands(&self) -> Weak<Commands> {
        Arc::downgrade(&self.commands)
    }

    fn enqueue(&self, command: Command) {
        match self.thread {
            Some(_) => self.commands.push(command),
            None => self.commands.run(command),
        }
    }

    /// Enqueues a function that uses device memory. It does not run after a command has failed.
    ///
    /// # Errors
    /// Returns the error of a command that has failed.
    pub fn launch(&self, work: impl FnOnce() -> Result<()> + Send + 'static) -> Result<()> {
        self.commands.check()?;
        let failures = self.failures.clone();
        let work = move || {
            failures.count()?;
            work()
        };
        match self.thread {
            Some(_) => self.commands.push(Command::Work(Box::new(work))),
            None => self.commands.run_work(work),
        }
        // An inline queue reports at once.
        self.commands.check()
    }

    /// Enqueues a copy. Both regions belong to the function, so their memory lives as long.
    fn launch_copy(
        &self,
        target: &Region<CpuAccelerator>,
        source: &Region<CpuAccelerator>,
    ) -> Result<()> {
        check_lengths(target.len(), source.len())?;
        let (target, source) = (target.clone(), source.clone());
        self.launch(move || {
            // SAFETY: the regions have the same length, and queues order the uses of device memory.
            unsafe { address(&source).copy_to(address(&target), source.len()) };
            Ok(())
        })
    }
}

/// Starts a thread that runs the commands.
fn spawn(commands: Arc<Commands>, jitter: Duration) -> Result<JoinHandle<()>> {
    let thread = thread::Builder::new().name("sp-cpu-queue".to_owned());
    let run = move || {
        let mut pauses = Pauses::new(jitter, Arc::as_ptr(&commands) as u64);
        while let Some(command) = commands.next() {
            pauses.pause();
            commands.run(command);
        }
        commands.lock().has_ended = true;
        commands.changed.notify_all();
    };
    let no_thread = |error| Error::resource_exhausted(format!("a queue has no thread: {error}"));
    thread.spawn(run).map_err(no_thread)
}

/// Random pauses.
struct Pauses {
    longest: u64,
    state: u64,
}

impl Pauses {
    fn new(longest: Duration, seed: u64) -> Self {
        Self {
            longest: longest.as_micros().try_into().unwrap_or(u64::MAX),
            state: seed | 1,
        }
    }

    fn pause(&mut self) {
        if self.longest == 0 {
            return;
        }
        // Xorshift: numbers that differ are enough.
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        let pause = self.state % self.longest.saturating_add(1);
        thread::sleep(Duration::from_micros(pause));
    }
}

impl Drop for WorkQueue {
    /// Runs the commands that are waiting, then ends the thread.
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else {
            return;
        };
        if !self.process.is_current() {
            // Dropping the handle would detach a thread that a forked process does not have.
            std::mem::forget(thread);
            return;
        }
        self.commands.lock().is_closed = true;
        self.commands.changed.notify_all();
        // A host function may drop the last stream.
        if thread.thread().id() != thread::current().id() && thread.join().is_err() {
            sp_runtime::report!(Error, "the thread of a queue has panicked");
        }
    }
}

impl Queue<CpuAccelerator> for WorkQueue {
    fn copy_in(&self, target: &Region<CpuAccelerator>, source: HostSource<'_>) -> Result<()> {
        check_lengths(target.len(), source.len())?;
        // SAFETY: only the command below uses the value, and the queue's thread runs its commands in order.
        let source = unsafe { source.for_command() };
        let target = target.clone();
        self.launch(move || {
            // SAFETY: the source lives until the command has completed; queues order the uses of the region, which
            // has the same length.
            unsafe { source.as_ptr().copy_to(address(&target), source.len()) };
            Ok(())
        })
    }

    fn copy_out(&self, target: HostTarget<'_>, source: &Region<CpuAccelerator>) -> Result<()> {
        check_lengths(target.len(), source.len())?;
        // SAFETY: the copy is a command of this queue, whose fences and functions complete after the earlier ones.
        let mut target = unsafe { target.for_command() };
        let source = source.clone();
        self.launch(move || {
            // SAFETY: the target lives until the command has completed; queues order the uses of the region, which
            // has the same length.
            unsafe { address(&source).copy_to(target.as_mut_ptr(), source.len()) };
            Ok(())
        })
    }

    fn copy(&self, target: &Region<CpuAccelerator>, source: &Region<CpuAccelerator>) -> Result<()> {
        self.launch_copy(target, source)
    }

    fn copy_to_peer(
        &self,
        _: &CpuAccelerator,
        target: &Region<CpuAccelerator>,
        source: &Region<CpuAccelerator>,
    ) -> Result<PeerCopy> {
        self.launch_copy(target, source)?;
        Ok(PeerCopy::Enqueued)
    }

    fn fill(&self, target: &Region<CpuAccelerator>, pattern: &[u8]) -> Result<()> {
        if pattern.is_empty() || !target.len().is_multiple_of(pattern.len()) {
            let (len, pattern) = (target.len(), pattern.len());
            let message = format!("a pattern of {pattern} bytes does not fit {len} bytes");
            return Err(Error::invalid_argument(message));
        }
        let pattern: Vec<_> = pattern.iter().copied().map(MaybeUninit::new).collect();
        let target = target.clone();
        self.launch(move || {
            let start = address(&target).cast::<MaybeUninit<u8>>();
            // SAFETY: the block has the region, and queues order its uses.
            let bytes = unsafe { slice::from_raw_parts_mut(start, target.len()) };
            match pattern[..] {
                [byte] => bytes.fill(byte),
                _ => bytes
                    .chunks_exact_mut(pattern.len())
                    .for_each(|it| it.copy_from_slice(&pattern)),
            }
            Ok(())
        })
    }

    fn record(&self) -> Result<Arc<WorkFence>> {
        let fence = Arc::<WorkFence>::default();
        self.enqueue(Command::Record(fence.clone()));
        Ok(fence)
    }

    fn wait(&self, fence: &Arc<WorkFence>) -> Result<()> {
        self.enqueue(Command::Wait(fence.clone()));
        self.commands.check()
    }

    fn host_function(&self, function: Box<dyn FnOnce() + Send>) -> Result<()> {
        self.enqueue(Command::Function(function));
        Ok(())
    }

    fn late_copies(&self) -> Option<&dyn LateCopies<CpuAccelerator>> {
        Some(self)
    }
}

impl LateCopies<CpuAccelerator> for WorkQueue {
    fn copy_in_late(&self, target: &Region<CpuAccelerator>, source: LateSource<'_>) -> Result<()> {
        check_lengths(target.len(), source.len())?;
        let target = target.clone();
        // SAFETY: the copy is a command of this queue.
        let source = unsafe { source.for_command() };
        self.launch(move || {
            // SAFETY: the source lives until the command has completed, and its bytes are written when it runs; queues order the
            // uses of the region, which has the same length.
            unsafe { source.as_ptr().copy_to(address(&target), source.len()) };
            Ok(())
        })
    }
}
