//! Work shared between cores: one pool for the process, no thread started per call.
//!
//! The caller always works too. It takes tasks from the same counter as the pool's threads, so a call makes progress when all of them
//! are busy (several TensorFlow threads call at once) or asleep, and calls may nest. A forked child has none of the pool's threads, and its
//! copy of a lock may be held for ever: a child of a process that has used the pool computes on the calling thread.
//! They also take over its floating-point mode: TensorFlow's threads flush subnormals.
//! How work is cut never depends on how many threads there are where the result would show it.

use super::simd::FloatMode;
use sp_runtime::fork::ProcessClaim;
use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, Thread};

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
    match Pool::get() {
        Some(pool) => Job::share(pool, tasks, &task),
        None => (0..tasks).for_each(task),
    }
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

/// Tasks that are being worked on. Who takes an index below `tasks` calls `task`; nobody else touches it.
struct Job {
    task: *const (dyn Fn(usize) + Sync),
    tasks: usize,
    next: AtomicUsize,
    left: AtomicUsize,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    owner: Thread,
    mode: FloatMode,
}

// SAFETY: `task` points to something Sync and is only called for an index, of which the owner awaits all.
unsafe impl Send for Job {}
// SAFETY: as above.
unsafe impl Sync for Job {}

/// How often a thread looks again before it sleeps: some 10 microseconds.
const SPINS: usize = 200;

impl Job {
    fn share(pool: &Pool, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        // SAFETY: only the lifetime changes; the pointer is not used after `wait`, which returns when every index has been called.
        let task: *const (dyn Fn(usize) + Sync) = unsafe { std::mem::transmute(task) };
        let (next, left) = (AtomicUsize::new(0), AtomicUsize::new(tasks));
        let job = Arc::new(Self {
            task,
            tasks,
            next,
            left,
            panic: Mutex::new(None),
            owner: thread::current(),
            mode: FloatMode::current(),
        });
        pool.offer(&job);
        job.work();
        job.wait();
        if let Some(payload) = lock(&job.panic).take() {
            resume_unwind(payload);
        }
    }

    fn exhausted(&self) -> bool {
        self.next.load(Ordering::Relaxed) >= self.tasks
    }

    fn work(&self) {
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            if index >= self.tasks {
                return;
            }
            // SAFETY: this index is not done, so the owner still waits and what it lent is alive.
            let task = unsafe { &*self.task };
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| task(index))) {
                self.keep_first(payload);
            }
            if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
                self.owner.unpark();
            }
        }
    }

    /// Keeps the first panic's payload and leaks the others: a drop that panics would end the thread.
    fn keep_first(&self, payload: Box<dyn Any + Send>) {
        let mut first = lock(&self.panic);
        match *first {
            None => *first = Some(payload),
            Some(_) => std::mem::forget(payload),
        }
    }

    fn wait(&self) {
        let mut spins = 0;
        while self.left.load(Ordering::Acquire) > 0 {
            if spins < SPINS {
                spins += 1;
                std::hint::spin_loop();
            } else {
                thread::park();
            }
        }
    }
}

/// The threads that help. They live as long as the process.
struct Pool {
    jobs: Mutex<VecDeque<Arc<Job>>>,
    offered: AtomicUsize,
    asleep: AtomicUsize,
    wake: Condvar,
}

impl Pool {
    /// Returns the pool; `None` in a forked child of the process whose pool it is.
    fn get() -> Option<&'static Self> {
        static POOL: OnceLock<&'static Pool> = OnceLock::new();
        static CLAIM: ProcessClaim = ProcessClaim::new();
        // The claim comes first: a child may be forked while another thread initialises the cell.
        CLAIM.try_claim().then(|| *POOL.get_or_init(Self::start))
    }

    fn start() -> &'static Self {
        let pool: &'static Self = Box::leak(Box::new(Self {
            jobs: Mutex::new(VecDeque::new()),
            offered: AtomicUsize::new(0),
            asleep: AtomicUsize::new(0),
            wake: Condvar::new(),
        }));
        for index in 1..threads() {
            // A thread that cannot be started is one that does not help.
            let _ = thread::Builder::new()
                .name(format!("sp-cpu-{index}"))
                .spawn(|| pool.serve());
        }
        pool
    }

    fn offer(&self, job: &Arc<Job>) {
        let mut jobs = lock(&self.jobs);
        jobs.retain(|job| !job.exhausted());
        jobs.push_back(job.clone());
        // Counted under the lock, so that no thread falls asleep between looking and waiting.
        self.offered.fetch_add(1, Ordering::SeqCst);
        drop(jobs);
        let sleepers = self.asleep.load(Ordering::SeqCst);
        (0..sleepers.min(job.tasks - 1)).for_each(|_| self.wake.notify_one());
    }

    fn serve(&self) {
        loop {
            let seen = self.offered.load(Ordering::SeqCst);
            while let Some(job) = self.front() {
                job.mode.enter();
                job.work();
            }
            self.await_offer(seen);
        }
    }

    /// The oldest job that still has tasks to take.
    fn front(&self) -> Option<Arc<Job>> {
        let mut jobs = lock(&self.jobs);
        jobs.retain(|job| !job.exhausted());
        jobs.front().cloned()
    }

    fn await_offer(&self, seen: usize) {
        for _ in 0..SPINS {
            if self.offered.load(Ordering::SeqCst) != seen {
                return;
            }
            std::hint::spin_loop();
        }
        let mut jobs = lock(&self.jobs);
        self.asleep.fetch_add(1, Ordering::SeqCst);
        while self.offered.load(Ordering::SeqCst) == seen {
            jobs = self.wake.wait(jobs).unwrap_or_else(PoisonError::into_inner);
        }
        self.asleep.fetch_sub(1, Ordering::SeqCst);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_runs_once_also_nested_and_from_many_threads() {
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let counts: Vec<AtomicUsize> = (0..60).map(|_| AtomicUsize::new(0)).collect();
                    run(6, |outer| {
                        run(10, |inner| {
                            counts[outer * 10 + inner].fetch_add(1, Ordering::Relaxed);
                        });
                    });
                    assert!(
                        counts
                            .iter()
                            .all(|count| count.load(Ordering::Relaxed) == 1)
                    );
                });
            }
        });
    }

    #[test]
    fn pieces_cover_the_slice_in_order() {
        for len in [0, 1, 63, 64, 1000, 4097] {
            let mut out = vec![usize::MAX; len];
            pieces(&mut out, 100, |start, piece| {
                piece
                    .iter_mut()
                    .enumerate()
                    .for_each(|(i, v)| *v = start + i)
            });
            assert!(out.iter().enumerate().all(|(i, v)| i == *v));
        }
    }

    #[test]
    fn rows_are_never_cut() {
        let mut out = vec![0_usize; 7 * 123];
        rows(&mut out, 7, 10, |first, piece| {
            assert_eq!(piece.len() % 7, 0);
            piece
                .chunks_mut(7)
                .enumerate()
                .for_each(|(i, row)| row.fill(first + i));
        });
        assert!(
            out.chunks(7)
                .enumerate()
                .all(|(i, row)| row.iter().all(|v| *v == i))
        );
    }

    #[test]
    fn a_panic_arrives_when_no_task_still_runs() {
        let (begun, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let caught = catch_unwind(AssertUnwindSafe(|| {
            run(32, |index| {
                assert_ne!(index, 5, "expected");
                begun.fetch_add(1, Ordering::SeqCst);
                thread::sleep(std::time::Duration::from_millis(1));
                done.fetch_add(1, Ordering::SeqCst);
            });
        }));
        let payload = caught.unwrap_err();
        assert!(
            payload
                .downcast_ref::<String>()
                .is_some_and(|text| text.contains("expected"))
        );
        assert_eq!(begun.load(Ordering::SeqCst), done.load(Ordering::SeqCst));
    }

    #[test]
    fn payloads_whose_drop_panics_do_not_end_a_thread() {
        struct Explosive;
        impl Drop for Explosive {
            fn drop(&mut self) {
                panic!("dropped");
            }
        }
        for _ in 0..20 {
            let body = || run(8, |_| std::panic::panic_any(Explosive));
            std::mem::forget(catch_unwind(body).unwrap_err());
        }
        let count = AtomicUsize::new(0);
        run(8, |_| {
            count.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(count.into_inner(), 8);
    }

    /// Forks a child that computes, and returns true if it ends well within ten seconds.
    fn child_computes() -> bool {
        // SAFETY: the child computes, which needs no lock that a thread of this test may hold, and exits.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let mut out = vec![0_usize; 4096];
            pieces(&mut out, 64, |start, piece| piece.fill(start));
            let is_done = out.iter().enumerate().all(|(i, v)| *v <= i);
            // SAFETY: ends the child without running what the parent registered.
            unsafe { libc::_exit(if is_done { 0 } else { 1 }) }
        }
        for _ in 0..10_000 {
            let mut status = -1;
            // SAFETY: asks for a child of this process.
            if unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } == child {
                return status == 0;
            }
            thread::sleep(std::time::Duration::from_millis(1));
        }
        // SAFETY: ends a child of this process that was not waited for yet.
        unsafe { libc::kill(child, libc::SIGKILL) };
        false
    }

    #[test]
    fn forked_children_compute_while_threads_of_the_parent_do() {
        let ended = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut out = vec![0_usize; 1024];
                    while ended.load(Ordering::Relaxed) == 0 {
                        pieces(&mut out, 64, |start, piece| piece.fill(start));
                    }
                });
            }
            let failed = (0..150).filter(|_| !child_computes()).take(1).count();
            ended.store(1, Ordering::Relaxed);
            assert_eq!(failed, 0, "a child hung or computed wrongly");
        });
    }
}
