//! The worker pool of sp-cpu in every order of its threads' steps, and with every value that the memory model allows an
//! atomic load to return. loom fails a model if threads access a cell without synchronization, if all threads wait, or if memory leaks.
//!
//! loom has no fork. sp-cpu does not use the pool in a forked child; its test `forked_child_computes_while_parent_uses_pool` covers that.

// `serve_until` replaces `Pool::serve`, which never returns.
#[allow(dead_code)]
#[path = "../../templates/cpu/src/compute/machine/parallel/pool.rs"]
mod pool;
mod sync;

use loom::cell::UnsafeCell;
use loom::thread;
use pool::{Pool, WhichWorkers};
use std::panic::{AssertUnwindSafe, catch_unwind};
use sync::{Arc, AtomicUsize, Ordering};

/// The floating-point mode; a model has only one.
struct FloatMode;

impl FloatMode {
    fn current() -> Self {
        Self
    }

    fn apply(&self) {}
}

/// The number of preemptions in one order of steps. Two find nearly all defects (CHESS, Musuvathi and Qadeer 2007).
const PREEMPTIONS: usize = 2;

/// Runs `body` with a pool that `workers` threads serve, in every order of steps.
fn check(workers: usize, body: impl Fn(&Arc<Pool>) + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = model.preemption_bound.or(Some(PREEMPTIONS));
    model.check(move || {
        let pool = Arc::new(Pool::new());
        let is_closed = Arc::new(AtomicUsize::new(0));
        let serve = || {
            let (pool, is_closed) = (pool.clone(), is_closed.clone());
            thread::spawn(move || serve_until(&pool, &is_closed))
        };
        let workers: Vec<_> = (0..workers).map(|_| serve()).collect();
        body(&pool);
        is_closed.store(1, Ordering::SeqCst);
        // A job with a task for each worker wakes the sleeping ones.
        pool.run(workers.len() + 1, WhichWorkers::All, &|_| {});
        workers
            .into_iter()
            .for_each(|worker| worker.join().unwrap());
    });
}

/// Serves as `Pool::serve` does, until `is_closed` is set. Reads the number of offers first, so that an offer after closing is new.
fn serve_until(pool: &Pool, is_closed: &AtomicUsize) {
    loop {
        let offers = pool.offers();
        if is_closed.load(Ordering::SeqCst) == 1 {
            return;
        }
        pool.serve_after(offers);
    }
}

/// Memory that tasks borrow from their caller: a cell for each task, whose accesses loom checks.
struct TaskCells(Vec<UnsafeCell<usize>>);

// SAFETY: loom fails the model if two threads access a cell without synchronization.
unsafe impl Sync for TaskCells {}

impl TaskCells {
    fn new(tasks: usize) -> Self {
        Self((0..tasks).map(|_| UnsafeCell::new(0)).collect())
    }

    fn add(&self, index: usize) {
        // SAFETY: loom checks that no other thread accesses the cell.
        self.0[index].with_mut(|value| unsafe { *value += 1 });
    }

    /// Reads the cells as their owner. The model fails if a task still runs or its writes are not visible.
    fn counts(&mut self) -> Vec<usize> {
        // SAFETY: loom checks that no other thread accesses the cells.
        let read = |cell: &UnsafeCell<usize>| cell.with_mut(|value| unsafe { *value });
        self.0.iter().map(read).collect()
    }
}

/// Runs a job and checks that every task ran once before it returned.
fn run_and_check(pool: &Pool, tasks: usize) {
    run_on_and_check(WhichWorkers::All, pool, tasks);
}

fn run_on_and_check(which: WhichWorkers, pool: &Pool, tasks: usize) {
    let mut cells = TaskCells::new(tasks);
    pool.run(tasks, which, &|index| cells.add(index));
    assert_eq!(cells.counts(), vec![1; tasks]);
}

#[test]
fn every_task_runs_once_before_run_returns() {
    check(1, |pool| run_and_check(pool, 3));
}

#[test]
fn job_for_awake_workers_ends_whether_they_sleep_or_not() {
    check(1, |pool| {
        (0..2).for_each(|_| run_on_and_check(WhichWorkers::Awake, pool, 2))
    });
}

#[test]
fn writes_of_two_workers_are_visible_to_the_caller() {
    check(2, |pool| run_and_check(pool, 3));
}

#[test]
fn second_job_does_not_access_memory_of_first() {
    check(1, |pool| (0..2).for_each(|_| run_and_check(pool, 2)));
}

#[test]
fn caller_computes_without_workers() {
    check(0, |pool| run_and_check(pool, 3));
}

#[test]
fn nested_call_returns_if_workers_are_busy() {
    check(1, |pool| {
        let mut cells = TaskCells::new(4);
        pool.run(2, WhichWorkers::All, &|outer| {
            pool.run(2, WhichWorkers::All, &|inner| cells.add(outer * 2 + inner));
        });
        assert_eq!(cells.counts(), [1; 4]);
    });
}

#[test]
fn two_callers_share_one_worker() {
    check(1, |pool| {
        let other = pool.clone();
        let other = thread::spawn(move || run_and_check(&other, 2));
        run_and_check(pool, 2);
        other.join().unwrap();
    });
}

/// Runs a job whose tasks below `panics` panic; checks that `run` panics after all tasks have run.
fn panic_and_check(pool: &Pool, tasks: usize, panics: usize) {
    let mut cells = TaskCells::new(tasks);
    let body = || {
        pool.run(tasks, WhichWorkers::All, &|index| {
            cells.add(index);
            if index < panics {
                std::panic::resume_unwind(Box::new(index));
            }
        });
    };
    let payload = catch_unwind(AssertUnwindSafe(body)).unwrap_err();
    assert!(*payload.downcast::<usize>().unwrap() < panics);
    assert_eq!(cells.counts(), vec![1; tasks]);
}

#[test]
fn panic_reaches_caller_after_all_tasks_have_ended() {
    check(1, |pool| {
        panic_and_check(pool, 3, 1);
        run_and_check(pool, 2);
    });
}

#[test]
fn caller_gets_one_of_two_panics() {
    check(1, |pool| panic_and_check(pool, 2, 2));
}
