//! The pool's synchronization: jobs, the workers that wait for jobs, and the caller that waits for the end of its job.
//!
//! `tests/loom` also compiles this file, and runs it in every order of the threads' steps. So atomics, locks and
//! threads come from `super::sync`, and this file starts no thread.

use super::FloatMode;
use super::sync::{
    Arc, AtomicUsize, Condvar, Mutex, MutexGuard, Ordering, Thread, current, park, pause,
};
use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::PoisonError;

/// The tasks of one call. A thread that takes an index below `tasks` from `next` calls `task` with it.
struct Job {
    task: *const (dyn Fn(usize) + Sync),
    tasks: usize,
    next: AtomicUsize,
    unfinished: AtomicUsize,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    owner: Thread,
    mode: FloatMode,
}

// SAFETY: `task` points to a `Sync` closure. It is called only for an index below `tasks`, and the owner waits for all
// of these.
unsafe impl Send for Job {}
// SAFETY: as above.
unsafe impl Sync for Job {}

impl Job {
    /// # Safety
    /// - The caller calls `wait` on the job before the lifetime of `task` ends.
    unsafe fn new(tasks: usize, task: &(dyn Fn(usize) + Sync)) -> Arc<Self> {
        // SAFETY: only the lifetime changes. The pointer is dereferenced only for an unfinished index, and the caller's
        // `wait` returns after every index is finished.
        let task: *const (dyn Fn(usize) + Sync) = unsafe { std::mem::transmute(task) };
        Arc::new(Self {
            task,
            tasks,
            next: AtomicUsize::new(0),
            unfinished: AtomicUsize::new(tasks),
            panic: Mutex::new(None),
            owner: current(),
            mode: FloatMode::current(),
        })
    }

    fn is_exhausted(&self) -> bool {
        self.next.load(Ordering::Relaxed) >= self.tasks
    }

    fn work(&self) {
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            if index >= self.tasks {
                return;
            }
            // SAFETY: this index is unfinished, so the owner has not returned from `wait` and the closure is alive.
            let task = unsafe { &*self.task };
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| task(index))) {
                self.record_panic(payload);
            }
            if self.unfinished.fetch_sub(1, Ordering::AcqRel) == 1 {
                self.owner.unpark();
            }
        }
    }

    /// Stores the payload of the first panic and leaks the others, since a payload's drop may panic and end the thread.
    fn record_panic(&self, payload: Box<dyn Any + Send>) {
        let mut first = lock(&self.panic);
        match *first {
            None => *first = Some(payload),
            Some(_) => std::mem::forget(payload),
        }
    }

    fn wait(&self) {
        let mut checks = 0;
        while self.unfinished.load(Ordering::Acquire) > 0 {
            if !pause(checks) {
                park();
            }
            checks += 1;
        }
    }
}

/// The workers that may take tasks of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WhichWorkers {
    /// All. Those that sleep are woken.
    All,
    /// Those that do not sleep.
    Awake,
}

/// A queue of jobs for the threads that call `serve`.
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

    /// Calls `task` once with each of `0..tasks`, on this thread and on the workers, and returns when all calls have
    /// returned. With `WhichWorkers::Awake` it wakes no worker that sleeps.
    ///
    /// # Panics
    /// Panics if a task panics, with the first payload.
    pub fn run(&self, tasks: usize, which: WhichWorkers, task: &(dyn Fn(usize) + Sync)) {
        // SAFETY: `wait` is called below, and no statement before it unwinds: `work` catches the panics of tasks.
        let job = unsafe { Job::new(tasks, task) };
        self.offer(&job, which);
        job.work();
        job.wait();
        if let Some(payload) = lock(&job.panic).take() {
            resume_unwind(payload);
        }
    }

    /// Returns the number of workers that sleep now.
    pub fn sleepers(&self) -> usize {
        self.asleep.load(Ordering::SeqCst)
    }

    fn offer(&self, job: &Arc<Job>, which: WhichWorkers) {
        let mut jobs = lock(&self.jobs);
        jobs.retain(|job| !job.is_exhausted());
        jobs.push_back(job.clone());
        // Counted under the lock, so that no worker starts to wait between its check and this offer.
        self.offered.fetch_add(1, Ordering::SeqCst);
        drop(jobs);
        if which == WhichWorkers::Awake {
            return;
        }
        (0..self.sleepers().min(job.tasks - 1)).for_each(|_| self.wake.notify_one());
    }

    /// Works on every offered job until the process ends.
    pub fn serve(&self) -> ! {
        loop {
            self.serve_after(self.offers());
        }
    }

    /// Returns the number of jobs offered so far.
    pub fn offers(&self) -> usize {
        self.offered.load(Ordering::SeqCst)
    }

    /// Works until no job has tasks left, then waits until there are more than `known_offers` offers.
    pub fn serve_after(&self, known_offers: usize) {
        while let Some(job) = self.front() {
            job.mode.apply();
            job.work();
        }
        self.await_offer(known_offers);
    }

    /// Returns the oldest job that has tasks left.
    fn front(&self) -> Option<Arc<Job>> {
        let mut jobs = lock(&self.jobs);
        jobs.retain(|job| !job.is_exhausted());
        jobs.front().cloned()
    }

    fn await_offer(&self, known_offers: usize) {
        let mut checks = 0;
        while pause(checks) {
            if self.offers() != known_offers {
                return;
            }
            checks += 1;
        }
        let mut jobs = lock(&self.jobs);
        self.asleep.fetch_add(1, Ordering::SeqCst);
        while self.offers() == known_offers {
            jobs = self.wake.wait(jobs).unwrap_or_else(PoisonError::into_inner);
        }
        self.asleep.fetch_sub(1, Ordering::SeqCst);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
