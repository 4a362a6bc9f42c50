//! Work shared between cores: one pool for the process, no thread started per call.
//!
//! The calling thread takes tasks from the same counter as the pool's threads. So a call makes progress even if all of
//! them are busy, and calls may nest: a task of a computation that uses all threads computes on its thread only. The
//! pool's threads use the caller's floating-point mode: TensorFlow's threads flush subnormals. A forked child has none
//! of the pool's threads, and its copy of a lock may stay locked. So a child of a process that has used the pool
//! computes on the calling thread. No result depends on the number of threads.
//!
//! The pool is own code. rayon's global pool cannot be created again in a forked child, and the build of a plugin
//! must stay small. `tests/loom` checks its synchronization.
//!
//! The division into tasks is compiled apart from the code that computes on elements (`run_row_chunks`). The
//! release build of a plugin is mostly the loops of this crate, one for each function, type and instruction set;
//! `cargo llvm-lines -p sp-cpu` lists the functions with the most code.

mod pool;
mod several;
mod sync;
#[cfg(test)]
mod tests;

use crate::compute::machine::simd::FloatMode;
use pool::{Pool, WhichWorkers};
use sp_runtime::fork::ProcessClaim;
use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

pub use several::for_each_chunk_of;

/// Returns the number of threads that compute, including the caller: `SP_CPU_THREADS`, or the cores available to this
/// process.
pub fn threads() -> usize {
    /// The count, or 0 before the first call. A `OnceLock` would block a child that is forked during its
    /// initialization.
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    match COUNT.load(Ordering::Relaxed) {
        0 => {
            let count = count_threads();
            COUNT.store(count, Ordering::Relaxed);
            count
        }
        count => count,
    }
}

fn count_threads() -> usize {
    let configured = std::env::var("SP_CPU_THREADS")
        .ok()
        .and_then(|n| n.parse().ok())
        .filter(|n| *n > 0);
    configured
        .or_else(|| thread::available_parallelism().ok().map(Into::into))
        .unwrap_or(1)
}

thread_local! {
    /// True while this thread runs a task of a computation that has one for each thread.
    static IS_BUSY: Cell<bool> = const { Cell::new(false) };
}

/// Returns the number of threads that a computation on this thread may use: 1 in a task of another one that uses all.
pub fn available_threads() -> usize {
    if IS_BUSY.get() { 1 } else { threads() }
}

/// Calls `task` once with each of `0..tasks`, on this thread and on the pool's, and returns when all calls have
/// returned.
///
/// # Panics
/// Panics if a task panics, with its payload. Other tasks may not have run; none is still running.
pub fn run(tasks: usize, task: impl Fn(usize) + Sync) {
    run_on(WhichWorkers::All, tasks, &task);
}

/// The least work, in grains, for which threads of the pool that sleep are woken. On a virtual machine a woken thread
/// computes after 20 to 90 microseconds, and the caller spends 17 on waking it.
const GRAINS_TO_WAKE: usize = 8;
/// The time after less work in which further work is one of a series, for which sleeping threads are woken too.
const SERIES: Duration = Duration::from_micros(30);

thread_local! {
    /// The end of this thread's last work of less than [`GRAINS_TO_WAKE`].
    static LAST_WORK: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Calls [`run`] for work of this number of grains.
fn run_grains(grains: usize, tasks: usize, task: impl Fn(usize) + Sync) {
    if grains >= GRAINS_TO_WAKE {
        return run(tasks, task);
    }
    let is_series = LAST_WORK.get().is_some_and(|end| end.elapsed() < SERIES);
    let which = match is_series {
        true => WhichWorkers::All,
        false => WhichWorkers::Awake,
    };
    run_on(which, tasks, &task);
    LAST_WORK.set(Some(Instant::now()));
}

fn run_on(which: WhichWorkers, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
    if tasks <= 1 || available_threads() == 1 {
        return (0..tasks).for_each(task);
    }
    let is_full = tasks >= threads();
    match pool() {
        Some(pool) if which == WhichWorkers::All || pool.sleepers() + 1 < threads() => {
            pool.run(tasks, which, &|index| {
                let _busy = Busy::enter(is_full);
                task(index);
            });
        }
        _ => (0..tasks).for_each(task),
    }
}

/// Restores the state of the thread after a task, also if it panics.
struct Busy(bool);

impl Busy {
    fn enter(is_busy: bool) -> Self {
        Self(IS_BUSY.replace(is_busy))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        IS_BUSY.set(self.0);
    }
}

/// Returns the pool, or `None` in a forked child of the process that created it.
fn pool() -> Option<&'static Pool> {
    static POOL: OnceLock<&'static Pool> = OnceLock::new();
    static CLAIM: ProcessClaim = ProcessClaim::new();
    // The claim comes first, since a child may be forked while another thread initializes the cell.
    CLAIM.try_claim().then(|| *POOL.get_or_init(start_pool))
}

fn start_pool() -> &'static Pool {
    let pool: &'static Pool = Box::leak(Box::new(Pool::new()));
    for index in 1..threads() {
        // The pool works with fewer threads if one cannot be started.
        let _ = thread::Builder::new()
            .name(format!("sp-cpu-{index}"))
            .spawn(|| pool.serve());
    }
    pool
}

/// Splits `out` into chunks of at least `grain` elements and calls `task(start, chunk)` for each, where `start` is the
/// chunk's index.
///
/// Less than two grains are one chunk, computed on this thread.
///
/// # Panics
/// Panics if a task panics.
pub fn for_each_chunk<T: Send>(out: &mut [T], grain: usize, task: impl Fn(usize, &mut [T]) + Sync) {
    for_each_row_chunk(out, 1, grain, task);
}

/// Splits `out` as [`for_each_chunk`] into chunks of whole rows of `width` elements, and calls `task(first_row, rows)`.
///
/// # Panics
/// Panics if a task panics, or `out` does not consist of whole rows.
pub fn for_each_row_chunk<T: Send>(
    out: &mut [T],
    width: usize,
    grain: usize,
    task: impl Fn(usize, &mut [T]) + Sync,
) {
    run_row_chunks(out, width, grain, &task);
}

/// A task of [`for_each_row_chunk`] or [`for_each_block`].
type ChunkTask<'a, T> = dyn Fn(usize, &mut [T]) + Sync + 'a;

/// Implements [`for_each_row_chunk`]. It is compiled once for the type of the elements, not once for each task.
fn run_row_chunks<T: Send>(out: &mut [T], width: usize, grain: usize, task: &ChunkTask<'_, T>) {
    let mut empty = vec![(); out.len() / width.max(1)];
    split_rows((out, width), (&mut empty, 1), grain, &|first, rows, _| {
        task(first, rows)
    });
}

/// Splits two results of the same number of rows as [`for_each_row_chunk`], and calls `task(first_row, rows, other_rows)`.
///
/// The grain counts elements of the first result.
///
/// # Panics
/// Panics if a task panics, or a result does not consist of whole rows, or their numbers of rows differ.
pub fn for_each_row_chunk2<T: Send, U: Send>(
    out: (&mut [T], usize),
    other: (&mut [U], usize),
    grain: usize,
    task: impl Fn(usize, &mut [T], &mut [U]) + Sync,
) {
    split_rows(out, other, grain, &task);
}

/// Splits `out` into blocks of `size` elements, the last one shorter, and calls `task(index, block)` for each. The
/// blocks do not depend on the number of threads.
///
/// # Panics
/// Panics if a task panics, or `size` is 0.
pub fn for_each_block<T: Send>(out: &mut [T], size: usize, task: impl Fn(usize, &mut [T]) + Sync) {
    run_blocks(out, size, &task);
}

/// Implements [`for_each_block`], as [`run_row_chunks`].
fn run_blocks<T: Send>(out: &mut [T], size: usize, task: &ChunkTask<'_, T>) {
    let blocks = out.len().div_ceil(size);
    let out = SharedSlice::new(out);
    run(blocks, |index| {
        // SAFETY: `run` calls each index once, so the blocks do not overlap. The slice stays borrowed until `run`
        // returns, after all tasks.
        task(index, unsafe { out.chunk(index, size) });
    });
}

/// A task of [`for_each_row_chunk2`].
type RowsTask<'a, T, U> = dyn Fn(usize, &mut [T], &mut [U]) + Sync + 'a;

/// Implements [`for_each_row_chunk2`]. It is compiled once for the types of the elements, not once for each task.
fn split_rows<T: Send, U: Send>(
    (out, width): (&mut [T], usize),
    (other, other_width): (&mut [U], usize),
    grain: usize,
    task: &RowsTask<'_, T, U>,
) {
    let count = out.len() / width.max(1);
    assert_eq!(
        [Some(out.len()), Some(other.len())],
        [count.checked_mul(width), count.checked_mul(other_width)],
        "not whole rows of {width} and {other_width}"
    );
    let grains = out.len() / grain.max(1);
    let tasks = grains.min(count).min(threads() * 4);
    if tasks <= 1 || available_threads() == 1 {
        return task(0, out, other);
    }
    let rows_per_task = round_up_rows(count.div_ceil(tasks), width, grain);
    let (out, other) = (SharedSlice::new(out), SharedSlice::new(other));
    run_grains(grains, count.div_ceil(rows_per_task), |index| {
        // SAFETY: `run` calls each index once, so the chunks do not overlap. The slices stay borrowed until `run`
        // returns, after all tasks.
        let (rows, others) = unsafe {
            (
                out.chunk(index, rows_per_task.saturating_mul(width)),
                other.chunk(index, rows_per_task.saturating_mul(other_width)),
            )
        };
        task(index * rows_per_task, rows, others);
    });
}

/// The most elements of a cache line.
const LINE: usize = 64;

/// Rounds a number of rows up so that a chunk of single elements ends at a cache line, unless fewer are enough for a task.
fn round_up_rows(rows: usize, width: usize, grain: usize) -> usize {
    if width == 1 && grain >= LINE {
        rows.next_multiple_of(LINE)
    } else {
        rows
    }
}

/// A slice whose chunks several threads write.
struct SharedSlice<T> {
    start: *mut T,
    len: usize,
}

// SAFETY: shared access gives only disjoint chunks of `T: Send`, each used by one thread, as `chunk` requires.
unsafe impl<T: Send> Sync for SharedSlice<T> {}

impl<T> SharedSlice<T> {
    fn new(slice: &mut [T]) -> Self {
        Self {
            start: slice.as_mut_ptr(),
            len: slice.len(),
        }
    }

    /// Returns the chunk `index` of `size` elements.
    ///
    /// # Safety
    /// - The slice is borrowed mutably while a chunk exists.
    /// - Every call has the same `size`, and no two calls have the same `index`.
    #[allow(clippy::mut_from_ref)]
    unsafe fn chunk(&self, index: usize, size: usize) -> &mut [T] {
        // A product that wraps would be the start of another chunk.
        let start = index.saturating_mul(size).min(self.len);
        let len = size.min(self.len - start);
        // SAFETY: `start` and `len` are within the slice, which the caller keeps borrowed; different indices give
        // disjoint chunks.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(start), len) }
    }
}
