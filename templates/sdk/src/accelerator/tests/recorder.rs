//! An accelerator that a test controls. Its memory consists of vectors behind handles.

use std::collections::VecDeque;
use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::accelerator::{Accelerator, Fence, LateCopies, MemoryInfo, PeerCopy, Queue, Region};
use crate::accelerator::{HostMemory, HostSource, HostTarget, LateSource};
use crate::buffer::{ALIGNMENT, Buffer};
use crate::{Description, Error, Result};

/// The settings and counters of a test.
#[derive(Clone, Default)]
pub struct Control(Arc<Shared>);

#[derive(Default)]
struct Shared {
    settings: Mutex<Settings>,
    changed: Condvar,
    live: AtomicUsize,
    in_use: AtomicUsize,
    host_functions: AtomicUsize,
    live_host_memory: AtomicUsize,
    beyond_host_memory: AtomicUsize,
}

/// A method of a queue that panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Panics once the command is enqueued.
    CopyIn,
    /// Panics once the command is enqueued.
    CopyOut,
    Record,
    HostFunction,
    Synchronize,
}

/// Means by which queues copy to the host.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum Delivery {
    #[default]
    ToAddress,
    ByWriter,
    /// The writer is never called.
    Lost,
}

#[derive(Default)]
struct Settings {
    misaligns_host_memory: bool,
    copies_to_peers: bool,
    rejects_next_fence: bool,
    at_rejection: Option<Box<dyn FnOnce() + Send>>,
    panics: Vec<Method>,
    delivery: Delivery,
    is_paused: bool,
    delay: Duration,
    failure: Option<&'static str>,
    rejects_host_functions: bool,
    reports_queue_errors: bool,
    rejects_commands_after_failure: bool,
    capacity: Option<usize>,
    host_blocks: Option<usize>,
    priority: Option<i32>,
}

impl Control {
    fn set(&self, change: impl FnOnce(&mut Settings)) {
        change(&mut self.0.settings.lock().unwrap());
        self.0.changed.notify_all();
    }

    /// Lets no queue run a command.
    pub fn pause(&self) {
        self.set(|it| it.is_paused = true);
    }

    pub fn resume(&self) {
        self.set(|it| it.is_paused = false);
    }

    /// Sets a pause before each command.
    pub fn set_delay(&self, delay: Duration) {
        self.set(|it| it.delay = delay);
    }

    /// Sets the number of bytes that can be allocated.
    pub fn set_capacity(&self, bytes: usize) {
        self.set(|it| it.capacity = Some(bytes));
    }

    /// Sets the number of blocks of misaligned host memory that can be live.
    pub fn set_host_blocks(&self, count: usize) {
        self.set(|it| it.host_blocks = Some(count));
    }

    /// Makes the next copy or fill fail when it runs.
    pub fn fail_next(&self, message: &'static str) {
        self.set(|it| it.failure = Some(message));
    }

    /// Lets fences return the error of their queue, also those that were complete before it.
    pub fn report_queue_errors(&self) {
        self.set(|it| it.reports_queue_errors = true);
    }

    /// Makes a queue that has failed return its error instead of enqueueing copies and fills.
    pub fn reject_commands_after_failure(&self) {
        self.set(|it| it.rejects_commands_after_failure = true);
    }

    /// Makes queues drop host functions.
    pub fn reject_host_functions(&self) {
        self.set(|it| it.rejects_host_functions = true);
    }

    /// Makes a queue return an error instead of the next fence.
    pub fn reject_next_fence(&self) {
        self.set(|it| it.rejects_next_fence = true);
    }

    /// Does so after a call of the function.
    pub fn reject_next_fence_after(&self, function: impl FnOnce() + Send + 'static) {
        self.set(|it| it.at_rejection = Some(Box::new(function)));
        self.reject_next_fence();
    }

    /// Makes the next call of the method panic.
    pub fn panic_in_next(&self, method: Method) {
        self.set(|it| it.panics.push(method));
    }

    fn panic_if_planned(&self, method: Method) {
        let is_planned = |it: &mut Method| *it == method;
        let mut settings = self.0.settings.lock().unwrap();
        let planned = settings.panics.extract_if(.., is_planned).next();
        drop(settings);
        assert_eq!(planned, None, "the queue panics");
    }

    /// Sets the way in which queues copy to the host.
    pub fn set_delivery(&self, delivery: Delivery) {
        self.set(|it| it.delivery = delivery);
    }

    /// Lets queues copy to other devices directly.
    pub fn copy_to_peers(&self) {
        self.set(|it| it.copies_to_peers = true);
    }

    /// Makes host memory begin one byte behind an aligned address, and end with the bytes asked for.
    pub fn misalign_host_memory(&self) {
        self.set(|it| it.misaligns_host_memory = true);
    }

    /// Returns the number of live blocks of misaligned host memory.
    pub fn live_host_memory(&self) -> usize {
        self.0.live_host_memory.load(Ordering::SeqCst)
    }

    /// Returns the number of bytes behind blocks of misaligned host memory that a queue has written.
    pub fn written_beyond_host_memory(&self) -> usize {
        self.0.beyond_host_memory.load(Ordering::SeqCst)
    }

    /// Returns the number of live allocations.
    pub fn live(&self) -> usize {
        self.0.live.load(Ordering::SeqCst)
    }

    /// Returns the number of host functions so far.
    pub fn host_functions(&self) -> usize {
        self.0.host_functions.load(Ordering::SeqCst)
    }

    /// Returns the priority of the last queue.
    pub fn priority(&self) -> Option<i32> {
        self.0.settings.lock().unwrap().priority
    }

    fn wait_for_turn(&self) {
        let settings = self.0.settings.lock().unwrap();
        let settings = self.0.changed.wait_while(settings, |it| it.is_paused);
        let delay = settings.unwrap().delay;
        thread::sleep(delay);
    }

    fn take_failure(&self) -> Result<()> {
        let failure = self.0.settings.lock().unwrap().failure.take();
        failure.map_or(Ok(()), |message| Err(Error::internal(message)))
    }
}

#[derive(Default)]
pub struct Recorder(Control);

impl Recorder {
    pub fn control(&self) -> Control {
        self.0.clone()
    }
}

type Bytes = Arc<Mutex<Vec<u8>>>;

pub struct Memory {
    bytes: Bytes,
    len: usize,
    control: Control,
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.control.0.live.fetch_sub(1, Ordering::SeqCst);
        self.control.0.in_use.fetch_sub(self.len, Ordering::SeqCst);
        // Work that still uses the memory finds it changed.
        self.bytes.lock().unwrap().fill(0xDD);
    }
}

impl Accelerator for Recorder {
    type Allocation = Memory;
    type Fence = Arc<Done>;
    type Queue = Worker;

    fn open(_: usize) -> Result<Self> {
        Ok(Self::default())
    }

    fn allocate(&self, len: usize) -> Result<Memory> {
        let control = self.control();
        let capacity = control.0.settings.lock().unwrap().capacity;
        let in_use = control.0.in_use.load(Ordering::SeqCst);
        if capacity.is_some_and(|it| in_use + len > it) {
            return Err(Error::resource_exhausted("no memory"));
        }
        control.0.live.fetch_add(1, Ordering::SeqCst);
        control.0.in_use.fetch_add(len, Ordering::SeqCst);
        let bytes = Arc::new(Mutex::new(vec![0; len]));
        Ok(Memory {
            bytes,
            len,
            control,
        })
    }

    fn create_queue(&self, priority: Option<i32>) -> Result<Worker> {
        self.0.set(|it| it.priority = priority);
        Ok(Worker::new(self.control()))
    }

    fn host_allocate(&self, len: usize) -> Result<HostMemory> {
        let control = self.control();
        let settings = control.0.settings.lock().unwrap();
        let (is_misaligned, most) = (settings.misaligns_host_memory, settings.host_blocks);
        drop(settings);
        if most.is_some_and(|it| control.live_host_memory() >= it) {
            return Err(Error::resource_exhausted("no host memory"));
        }
        match is_misaligned {
            true => Misaligned::allocate(len, control),
            false => HostMemory::zeroed(len),
        }
    }

    fn memory_info(&self) -> Result<MemoryInfo> {
        let total = 1 << 30;
        Ok(MemoryInfo { free: total, total })
    }

    fn description(&self) -> Description {
        Description {
            pci_bus_id: Some(c"0000:01:00.0"),
            ..Description::default()
        }
    }

    fn numa_node(&self) -> Option<i32> {
        Some(1)
    }
}

/// A block of host memory that begins one byte behind an aligned address. Dropping it counts the bytes behind its end that
/// have changed.
struct Misaligned {
    buffer: Buffer,
    len: usize,
    control: Control,
}

impl Misaligned {
    fn allocate(len: usize, control: Control) -> Result<HostMemory> {
        let buffer = Buffer::zeroed(1 + len + ALIGNMENT)?;
        // SAFETY: the buffer has the byte.
        let start = unsafe { buffer.start().add(1) };
        control.0.live_host_memory.fetch_add(1, Ordering::SeqCst);
        let owner = Box::new(Self {
            buffer,
            len,
            control,
        });
        // SAFETY: the owner has the bytes, which are zeros, and nobody else uses them.
        Ok(unsafe { HostMemory::from_raw_parts(start, len, owner) })
    }
}

impl Drop for Misaligned {
    fn drop(&mut self) {
        // SAFETY: the buffer has the bytes, which nobody uses any more.
        let beyond = unsafe {
            std::slice::from_raw_parts(self.buffer.start().add(1 + self.len).as_ptr(), ALIGNMENT)
        };
        let changed = beyond.iter().filter(|it| **it != 0).count();
        self.control
            .0
            .live_host_memory
            .fetch_sub(1, Ordering::SeqCst);
        let total = &self.control.0.beyond_host_memory;
        total.fetch_add(changed, Ordering::SeqCst);
    }
}

/// A fence: the result of the commands before it.
#[derive(Default)]
pub struct Done {
    result: Mutex<Option<Result<()>>>,
    changed: Condvar,
    /// The queue's error, if the fence returns it also after its own completion.
    queue_error: Option<Arc<OnceLock<Error>>>,
}

impl Fence for Done {
    fn is_complete(&self) -> Result<bool> {
        if let Some(error) = self.queue_error.as_ref().and_then(|it| it.get()) {
            return Err(error.clone());
        }
        match &*self.result.lock().unwrap() {
            Some(result) => result.clone().map(|()| true),
            None => Ok(false),
        }
    }
}

enum Command {
    Work(Box<dyn FnOnce() -> Result<()> + Send>),
    Function(Box<dyn FnOnce() + Send>),
    Fence(Arc<Done>),
    Wait(Arc<Done>),
    Stop,
}

/// A queue with a thread.
pub struct Worker {
    commands: Arc<(Mutex<VecDeque<Command>>, Condvar)>,
    error: Arc<OnceLock<Error>>,
    control: Control,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    fn new(control: Control) -> Self {
        let commands = Arc::<(Mutex<_>, Condvar)>::default();
        let error = Arc::default();
        let (shared, settings, first) = (commands.clone(), control.clone(), Arc::clone(&error));
        let thread = Some(thread::spawn(move || run(&shared, &settings, &first)));
        Self {
            commands,
            error,
            control,
            thread,
        }
    }

    fn push(&self, command: Command) {
        self.commands.0.lock().unwrap().push_back(command);
        self.commands.1.notify_one();
    }

    fn push_fence(&self) -> Arc<Done> {
        let is_sticky = self.control.0.settings.lock().unwrap().reports_queue_errors;
        let done = Arc::new(Done {
            queue_error: is_sticky.then(|| self.error.clone()),
            ..Done::default()
        });
        self.push(Command::Fence(done.clone()));
        done
    }

    fn work(&self, work: impl FnOnce() -> Result<()> + Send + 'static) -> Result<()> {
        let control = self.control.clone();
        let rejects = control
            .0
            .settings
            .lock()
            .unwrap()
            .rejects_commands_after_failure;
        if let Some(error) = self.error.get().filter(|_| rejects) {
            return Err(error.clone());
        }
        self.push(Command::Work(Box::new(move || {
            control.take_failure()?;
            work()
        })));
        Ok(())
    }
}

fn run(commands: &(Mutex<VecDeque<Command>>, Condvar), control: &Control, first: &OnceLock<Error>) {
    let mut result = Ok(());
    loop {
        let queue = commands.0.lock().unwrap();
        let mut queue = commands.1.wait_while(queue, |it| it.is_empty()).unwrap();
        let command = queue.pop_front().unwrap();
        drop(queue);
        control.wait_for_turn();
        match command {
            Command::Work(work) => result = result.and_then(|()| work()),
            Command::Function(function) => function(),
            Command::Fence(done) => {
                *done.result.lock().unwrap() = Some(result.clone());
                done.changed.notify_all();
            }
            Command::Wait(done) => {
                let state = done.result.lock().unwrap();
                let state = done.changed.wait_while(state, |it| it.is_none()).unwrap();
                result = result.and(state.clone().unwrap());
            }
            Command::Stop => return,
        }
        if let Err(error) = &result {
            first.get_or_init(|| error.clone());
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.push(Command::Stop);
        self.thread.take().unwrap().join().unwrap();
    }
}

impl LateCopies<Recorder> for Worker {
    fn copy_in_late(&self, target: &Region<Recorder>, source: LateSource<'_>) -> Result<()> {
        let (start, len) = (source.as_ptr(), source.len());
        // SAFETY: the layer has the memory until the command has completed, and an earlier command has written it.
        self.copy_in(target, unsafe { HostSource::new(start, len) })
    }
}

impl Queue<Recorder> for Worker {
    fn late_copies(&self) -> Option<&dyn LateCopies<Recorder>> {
        Some(self)
    }

    fn copy_in(&self, target: &Region<Recorder>, source: HostSource<'_>) -> Result<()> {
        // SAFETY: only the command below uses the value, and the worker runs its commands in order.
        let source = unsafe { source.for_command() };
        let (bytes, offset) = (target.allocation().bytes.clone(), target.offset());
        self.work(move || {
            // SAFETY: the layer guarantees the memory until the command has completed.
            let source = unsafe { std::slice::from_raw_parts(source.as_ptr(), source.len()) };
            bytes.lock().unwrap()[offset..][..source.len()].copy_from_slice(source);
            Ok(())
        })?;
        self.control.panic_if_planned(Method::CopyIn);
        Ok(())
    }

    fn copy_out(&self, target: HostTarget<'_>, source: &Region<Recorder>) -> Result<()> {
        let (bytes, offset) = (source.allocation().bytes.clone(), source.offset());
        let delivery = self.control.0.settings.lock().unwrap().delivery;
        if delivery != Delivery::ToAddress {
            let (len, write) = (target.len(), target.into_writer());
            return self.work(move || {
                if delivery == Delivery::ByWriter {
                    write(bytes.lock().unwrap()[offset..][..len].to_vec());
                }
                Ok(())
            });
        }
        // SAFETY: the copy is a command of this queue.
        let mut target = unsafe { target.for_command() };
        self.work(move || {
            let len = target.len();
            // SAFETY: the layer guarantees the memory until the command has completed.
            let target = unsafe { std::slice::from_raw_parts_mut(target.as_mut_ptr(), len) };
            target.copy_from_slice(&bytes.lock().unwrap()[offset..][..len]);
            Ok(())
        })?;
        self.control.panic_if_planned(Method::CopyOut);
        Ok(())
    }

    fn copy(&self, target: &Region<Recorder>, source: &Region<Recorder>) -> Result<()> {
        let [(to, to_offset), (from, from_offset)] =
            [target, source].map(|it| (it.allocation().bytes.clone(), it.offset()));
        let len = source.len();
        self.work(move || {
            let copied = from.lock().unwrap()[from_offset..][..len].to_vec();
            to.lock().unwrap()[to_offset..][..len].copy_from_slice(&copied);
            Ok(())
        })
    }

    fn copy_to_peer(
        &self,
        _: &Recorder,
        target: &Region<Recorder>,
        source: &Region<Recorder>,
    ) -> Result<PeerCopy> {
        let copies = self.control.0.settings.lock().unwrap().copies_to_peers;
        match copies {
            true => self.copy(target, source).map(|()| PeerCopy::Enqueued),
            false => Ok(PeerCopy::Unsupported),
        }
    }

    fn record(&self) -> Result<Arc<Done>> {
        self.control.panic_if_planned(Method::Record);
        let settings = &self.control.0.settings;
        if mem::take(&mut settings.lock().unwrap().rejects_next_fence) {
            let at_rejection = settings.lock().unwrap().at_rejection.take();
            at_rejection.into_iter().for_each(|function| function());
            return Err(Error::internal("the queue takes no fence"));
        }
        Ok(self.push_fence())
    }

    fn wait(&self, fence: &Arc<Done>) -> Result<()> {
        self.push(Command::Wait(fence.clone()));
        Ok(())
    }

    fn host_function(&self, function: Box<dyn FnOnce() + Send>) -> Result<()> {
        self.control.panic_if_planned(Method::HostFunction);
        if self
            .control
            .0
            .settings
            .lock()
            .unwrap()
            .rejects_host_functions
        {
            return Err(Error::internal("the queue takes no functions"));
        }
        self.control.0.host_functions.fetch_add(1, Ordering::SeqCst);
        self.push(Command::Function(function));
        Ok(())
    }

    /// Waits also if the queue rejects fences.
    fn synchronize(&self) -> Result<()> {
        self.control.panic_if_planned(Method::Synchronize);
        self.push_fence().wait()
    }
}
