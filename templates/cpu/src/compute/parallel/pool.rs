//! The pool's synchronisation: jobs, the threads that wait for them, and the caller that waits for a job's end.
//!
//! `tests/loom` compiles this file too and runs it in every order of the threads' steps. So atomics, locks and threads come
//! from `super::sync`, and nothing here starts a thread.

use super::FloatMode;
use super::sync::{
    Arc, AtomicUsize, Condvar, Mutex, MutexGuard, Ordering, SPINS, Thread, current, park, spin_loop,
};
use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::PoisonError;

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

impl Job {
    /// # Safety
    /// The caller calls `wait` on the job before `task` ends.
    unsafe fn new(tasks: usize, task: &(dyn Fn(usize) + Sync)) -> Arc<Self> {
        // SAFETY: only the lifetime changes. The pointer is used for an index that has not been called, and `wait` returns when
        // every index has been.
        let task: *const (dyn Fn(usize) + Sync) = unsafe { std::mem::transmute(task) };
        Arc::new(Self {
            task,
            tasks,
            next: AtomicUsize::new(0),
            left: AtomicUsize::new(tasks),
            panic: Mutex::new(None),
            owner: current(),
            mode: FloatMode::current(),
        })
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
                spin_loop();
            } else {
                park();
            }
        }
    }
}

/// Jobs for the threads that call `serve`.
pub(super) struct Pool {
    jobs: Mutex<VecDeque<Arc<Job>>>,
    offered: AtomicUsize,
    asleep: AtomicUsize,
    wake: Condvar,
}

impl Pool {
    pub fn new() -> Self {
        Self {
            jobs: Mutex::new(VecDeque::new()),
            offered: AtomicUsize::new(0),
            asleep: AtomicUsize::new(0),
            wake: Condvar::new(),
        }
    }

    /// Calls `task` once with each of `0..tasks`, on this thread and on those that serve, and returns when all calls have returned.
    ///
    /// # Panics
    /// If a task panics, with the first payload.
    pub fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        // SAFETY: waited for below, and nothing between panics: `work` catches what tasks raise.
        let job = unsafe { Job::new(tasks, task) };
        self.offer(&job);
        job.work();
        job.wait();
        if let Some(payload) = lock(&job.panic).take() {
            resume_unwind(payload);
        }
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

    /// Works on every job that is offered, for as long as the process lives.
    pub fn serve(&self) -> ! {
        loop {
            self.serve_after(self.offers());
        }
    }

    /// Returns the number of jobs offered so far.
    pub fn offers(&self) -> usize {
        self.offered.load(Ordering::SeqCst)
    }

    /// Works until no job has tasks left, then waits until there are more than `seen` offers.
    pub fn serve_after(&self, seen: usize) {
        while let Some(job) = self.front() {
            job.mode.enter();
            job.work();
        }
        self.await_offer(seen);
    }

    /// The oldest job that still has tasks to take.
    fn front(&self) -> Option<Arc<Job>> {
        let mut jobs = lock(&self.jobs);
        jobs.retain(|job| !job.exhausted());
        jobs.front().cloned()
    }

    fn await_offer(&self, seen: usize) {
        for _ in 0..SPINS {
            if self.offers() != seen {
                return;
            }
            spin_loop();
        }
        let mut jobs = lock(&self.jobs);
        self.asleep.fetch_add(1, Ordering::SeqCst);
        while self.offers() == seen {
            jobs = self.wake.wait(jobs).unwrap_or_else(PoisonError::into_inner);
        }
        self.asleep.fetch_sub(1, Ordering::SeqCst);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
