//! The log of each thread: calls that have not returned, the op whose kernel runs, and records that are not written yet.

use super::record::Record;
use super::settings::settings;
use super::system;
use std::cell::Cell;
use std::ffi::CString;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Number of bytes after which a thread's records are written.
const BUFFER_SIZE: usize = 1 << 16;
const STDERR: i32 = 2;
const CLOSED: i32 = -1;

/// An op whose kernel runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Op {
    /// Its type, or "".
    pub op: &'static str,
    /// Name of the node, or "".
    pub node: String,
}

#[derive(Clone)]
struct OpenCall {
    name: &'static str,
    start: u64,
    arguments: String,
    op: Op,
}

/// The log of a thread.
#[derive(Default)]
pub struct ThreadLog {
    thread: i32,
    buffer: String,
    open: Vec<OpenCall>,
    ops: Vec<Op>,
    borrowed: Vec<u64>,
    calls_of_core: usize,
}

/// A thread's log, which another thread locks only at the end of the process.
pub struct SharedLog(Mutex<ThreadLog>);

static LOGS: Mutex<Vec<&'static SharedLog>> = Mutex::new(Vec::new());
static FILE: AtomicI32 = AtomicI32::new(CLOSED);
static ORIGIN: AtomicU64 = AtomicU64::new(0);

thread_local! {
    // Without a destructor it can be used until the thread's end.
    static LOG: Cell<Option<&'static SharedLog>> = const { Cell::new(None) };
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the log of this thread.
pub fn thread_log() -> MutexGuard<'static, ThreadLog> {
    let log = LOG.get().unwrap_or_else(|| {
        let thread = system::thread_id();
        let log = ThreadLog {
            thread,
            ..ThreadLog::default()
        };
        let log: &'static SharedLog = Box::leak(Box::new(SharedLog(Mutex::new(log))));
        lock(&LOGS).push(log);
        LOG.set(Some(log));
        log
    });
    lock(&log.0)
}

impl ThreadLog {
    /// Adds a call that has not returned.
    pub fn open(&mut self, name: &'static str, arguments: String) {
        let op = self.ops.last().cloned().unwrap_or_default();
        let start = system::now();
        self.open.push(OpenCall {
            name,
            start,
            arguments,
            op,
        });
    }

    /// Records the last call of [`ThreadLog::open`], which has returned at `end`.
    pub fn close(&mut self, end: u64, result: String) {
        let Some(call) = self.open.pop() else { return };
        let duration = Some(end.saturating_sub(call.start));
        let record = self.record(call, duration, result);
        if settings().is_live {
            let line = record.text(origin()) + "\n";
            system::write_all(STDERR, line.as_bytes());
        }
        if settings().records.is_some() {
            record.push_line(&mut self.buffer);
            if self.buffer.len() >= BUFFER_SIZE {
                self.flush();
            }
        }
    }

    fn record(&self, call: OpenCall, duration: Option<u64>, result: String) -> Record {
        Record {
            process: system::process_id(),
            thread: self.thread,
            start: call.start,
            duration,
            depth: self.open.len(),
            name: call.name.into(),
            op: call.op.op.into(),
            node: call.op.node,
            arguments: call.arguments,
            result,
        }
    }

    /// Returns the thread.
    pub fn thread(&self) -> i32 {
        self.thread
    }

    /// Begins the kernel of `op`.
    pub fn enter_op(&mut self, op: Op) {
        self.ops.push(op);
    }

    /// Ends the kernel of the last op.
    pub fn leave_op(&mut self) {
        self.ops.pop();
    }

    /// Returns the op whose kernel runs.
    pub fn op(&self) -> Option<&Op> {
        self.ops.last()
    }

    /// Notes the begin of a call of the plugin by core.
    pub fn enter_plugin(&mut self) {
        self.calls_of_core += 1;
    }

    /// Notes the end of a call of the plugin by core.
    pub fn leave_plugin(&mut self) {
        self.calls_of_core = self.calls_of_core.saturating_sub(1);
    }

    /// Returns true if a known call of the plugin by core runs. The layer does not see the functions that a plugin has
    /// passed to core when it was loaded.
    pub fn is_in_plugin(&self) -> bool {
        self.calls_of_core > 0
    }

    /// Adds an object that core has passed to the plugin for a call.
    pub fn borrow(&mut self, object: u64) {
        self.borrowed.push(object);
    }

    /// Removes an object of [`ThreadLog::borrow`], when the call has returned.
    pub fn end_borrow(&mut self, object: u64) {
        if let Some(index) = self.borrowed.iter().rposition(|it| *it == object) {
            self.borrowed.remove(index);
        }
    }

    /// Returns true if core has passed `object` to a call of the plugin that runs on this thread.
    pub fn is_borrowed(&self, object: u64) -> bool {
        self.borrowed.contains(&object)
    }

    /// Writes the records.
    fn flush(&mut self) {
        system::write_all(record_file(), self.buffer.as_bytes());
        self.buffer.clear();
    }

    /// Records the calls that have not returned, without removing them.
    fn record_open(&mut self) {
        for depth in 0..self.open.len() {
            let mut record = self.record(self.open[depth].clone(), None, String::new());
            record.depth = depth;
            if settings().is_live {
                let line = record.text(origin()) + "\n";
                system::write_all(STDERR, line.as_bytes());
            }
            record.push_line(&mut self.buffer);
        }
    }
}

/// Returns the time of the first record, which is time 0 of texts.
fn origin() -> u64 {
    let now = system::now();
    let first = ORIGIN.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
    first.err().unwrap_or(now)
}

/// Returns the descriptor of this process's record file, which is created at the first use.
fn record_file() -> i32 {
    let file = FILE.load(Ordering::Acquire);
    if file != CLOSED {
        return file;
    }
    let path = settings().records.as_deref().unwrap_or_default();
    let path = CString::new(format!("{path}.{}", system::process_id())).unwrap_or_default();
    let file = system::open_append(&path);
    FILE.store(file, Ordering::Release);
    file
}

/// Writes the records of all threads, and the calls that have not returned if `with_open`. A log that is locked is left
/// out: in a signal handler its thread may be this one.
pub fn flush_all(with_open: bool) {
    if !settings().traces() {
        return;
    }
    let Ok(logs) = LOGS.try_lock() else { return };
    for log in logs.iter() {
        let Ok(mut log) = log.0.try_lock() else {
            continue;
        };
        if with_open {
            log.record_open();
        }
        if settings().records.is_some() {
            log.flush();
        }
    }
}

/// Forgets the records of the parent, in the child of a fork.
pub fn reset_in_child() {
    FILE.store(CLOSED, Ordering::Release);
    let Ok(logs) = LOGS.try_lock() else { return };
    for log in logs.iter() {
        if let Ok(mut log) = log.0.try_lock() {
            log.buffer.clear();
            log.thread = 0;
        }
    }
    if let Some(Ok(mut log)) = LOG.get().map(|it| it.0.try_lock()) {
        log.thread = system::thread_id();
    }
}
