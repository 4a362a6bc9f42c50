//! Work shared between cores: one pool for the process, no thread started per call.
//!
//! The caller always works too. It takes tasks from the same counter as the pool's threads, so a call makes progress when all of them
//! are busy (several TensorFlow threads call at once) or asleep, and calls may nest. A forked child has none of the pool's threads, and its
//! copy of a lock may be held for ever: a child of a process that has used the pool computes on the calling thread.
//! They also take over its floating-point mode: TensorFlow's threads flush subnormals.
//! How work is cut never depends on how many threads there are where the result would show it.

mod pool;
mod sync;
#[cfg(test)]
mod tests;

use super::simd::FloatMode;
use pool::Pool;
use sp_runtime::fork::ProcessClaim;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// What one element costs, next to a memory-bound addition: how small a tensor must be to stay on the calling thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cost {
    /// A few instructions: add, compare, cast.
    Cheap,
    /// Some ten nanoseconds: pow, exp.
    Dear,
}

impl Cost {
    /// Elements that one task should have at least: about 20 microseconds of work.
    pub const fn grain(self) -> usize {
        match self {
            Self::Cheap => 64 * 1024,
            Self::Dear => 2 * 1024,
        }
    }
}

/// How many threads share work, the caller included: `SP_CPU_THREADS`, else the cores that this process may use.
pub fn threads() -> usize {
    /// 0 until it is known. Not a `OnceLock`: a child that is forked during its initialisation would wait for ever.
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
    let wanted = std::env::var("SP_CPU_THREADS")
        .ok()
        .and_then(|n| n.parse().ok())
        .filter(|n| *n > 0);
    wanted
        .or_else(|| thread::available_parallelism().ok().map(Into::into))
        .unwrap_or(1)
}

/// Calls `task` once with each of `0..tasks`, on this thread and on the pool's, and returns when all calls have returned.
///
/// # Panics
/// If a task panics, with its payload. Some of the others may not have run then; none still does.
pub fn run(tasks: usize, task: impl Fn(usize) + Sync) {
    if tasks <= 1 || threads() == 1 {
        return (0..tasks).for_each(task);
    }
    match pool() {
        Some(pool) => pool.run(tasks, &task),
        None => (0..tasks).for_each(task),
    }
}

/// Returns the pool; `None` in a forked child of the process whose pool it is.
fn pool() -> Option<&'static Pool> {
    static POOL: OnceLock<&'static Pool> = OnceLock::new();
    static CLAIM: ProcessClaim = ProcessClaim::new();
    // The claim comes first: a child may be forked while another thread initialises the cell.
    CLAIM.try_claim().then(|| *POOL.get_or_init(start_pool))
}

fn start_pool() -> &'static Pool {
    let pool: &'static Pool = Box::leak(Box::new(Pool::new()));
    for index in 1..threads() {
        // A thread that cannot be started is one that does not help.
        let _ = thread::Builder::new()
            .name(format!("sp-cpu-{index}"))
            .spawn(|| pool.serve());
    }
    pool
}

/// Cuts `out` into pieces of at least `grain` elements and calls `task(start, piece)` for each; all of it at once, on this thread,
/// if there is less than two grains. `start` is the piece's index in `out`.
///
/// # Panics
/// If a task panics.
pub fn pieces<T: Send>(out: &mut [T], grain: usize, task: impl Fn(usize, &mut [T]) + Sync) {
    rows(out, 1, grain, |start, piece| task(start, piece));
}

/// Like [`pieces`], and never cuts through a row: `out` is rows of `width` elements, `task(first_row, rows)`.
///
/// # Panics
/// If a task panics, or `out` is not whole rows.
pub fn rows<T: Send>(
    out: &mut [T],
    width: usize,
    grain: usize,
    task: impl Fn(usize, &mut [T]) + Sync,
) {
    let mut nothing = vec![(); out.len() / width.max(1)];
    rows2((out, width), (&mut nothing, 1), grain, |first, rows, _| {
        task(first, rows)
    });
}

/// Like [`rows`], for two results with the same number of rows, each with its own width: `task(first_row, rows, other_rows)`. The
/// grain counts elements of the first.
///
/// # Panics
/// If a task panics, or one is not whole rows, or they have different numbers of rows.
pub fn rows2<T: Send, U: Send>(
    (out, width): (&mut [T], usize),
    (other, other_width): (&mut [U], usize),
    grain: usize,
    task: impl Fn(usize, &mut [T], &mut [U]) + Sync,
) {
    let count = out.len() / width.max(1);
    assert_eq!(
        [out.len(), other.len()],
        [count * width, count * other_width],
        "not whole rows of {width} and {other_width}"
    );
    let tasks = (out.len() / grain.max(1)).min(count).min(threads() * 4);
    if tasks <= 1 || threads() == 1 {
        return task(0, out, other);
    }
    let each = align(count.div_ceil(tasks), width);
    let (out, other) = (Cut::new(out), Cut::new(other));
    run(count.div_ceil(each), |index| {
        // SAFETY: tasks have different indices, so their pieces do not overlap, and the slices are borrowed until all are done.
        let (rows, others) = unsafe {
            (
                out.piece(index, each * width),
                other.piece(index, each * other_width),
            )
        };
        task(index * each, rows, others);
    });
}

/// Rounds a number of rows up so that a piece ends on a cache line where that is cheap.
fn align(rows: usize, width: usize) -> usize {
    if width == 1 {
        rows.next_multiple_of(64)
    } else {
        rows
    }
}

/// A slice whose pieces several threads write.
struct Cut<T> {
    start: *mut T,
    len: usize,
}

// SAFETY: it only hands out pieces, which go to one thread each.
unsafe impl<T: Send> Sync for Cut<T> {}

impl<T> Cut<T> {
    fn new(slice: &mut [T]) -> Self {
        Self {
            start: slice.as_mut_ptr(),
            len: slice.len(),
        }
    }

    /// # Safety
    /// The slice is borrowed mutably for as long as pieces live, and no index is asked for twice.
    #[allow(clippy::mut_from_ref)]
    unsafe fn piece(&self, index: usize, size: usize) -> &mut [T] {
        let start = (index * size).min(self.len);
        let len = size.min(self.len - start);
        // SAFETY: inside the slice; the caller sees to it that pieces are disjoint and the slice is borrowed.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(start), len) }
    }
}
