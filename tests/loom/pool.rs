//! The worker pool of sp-cpu in every order of its threads' steps, and with every value that the memory model lets an atomic
//! load return. loom fails a model if threads access a cell without synchronisation, if all threads wait, or if memory is lost.
//!
//! A process has a fork, and loom has none. sp-cpu does not enter the pool in a forked child, which
//! `forked_children_compute_while_threads_of_the_parent_do` tests there.

// `serve_until` is `Pool::serve` with an end.
#[allow(dead_code)]
#[path = "../../templates/cpu/src/compute/parallel/pool.rs"]
mod pool;
mod sync;

use loom::cell::UnsafeCell;
use loom::thread;
use pool::Pool;
use std::panic::{AssertUnwindSafe, catch_unwind};
use sync::{Arc, AtomicUsize, Ordering};

/// The floating-point mode, of which a model has one.
struct FloatMode;

impl FloatMode {
    fn current() -> Self {
        Self
    }

    fn enter(&self) {}
}

/// How many times a thread is interrupted in one order of steps. Two find nearly all defects (CHESS, Musuvathi and Qadeer 2007).
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
        // A job with a task for each wakes those that are asleep.
        pool.run(workers.len() + 1, &|_| {});
        workers.into_iter().for_each(|it| it.join().unwrap());
    });
}

/// Serves as `Pool::serve` does. The offers are read first: one that follows the closing is then seen as new.
fn serve_until(pool: &Pool, is_closed: &AtomicUsize) {
    loop {
        let seen = pool.offers();
        if is_closed.load(Ordering::SeqCst) == 1 {
            return;
        }
        pool.serve_after(seen);
    }
}

/// Memory that a caller lends to its tasks: a cell for each, which loom watches.
struct Lent(Vec<UnsafeCell<usize>>);

// SAFETY: loom fails the model if two threads access a cell without synchronisation.
unsafe impl Sync for Lent {}

impl Lent {
    fn new(tasks: usize) -> Self {
        Self((0..tasks).map(|_| UnsafeCell::new(0)).collect())
    }

    fn add(&self, index: usize) {
        // SAFETY: loom checks that no other thread accesses the cell.
        self.0[index].with_mut(|value| unsafe { *value += 1 });
    }

    /// Reads the cells as their owner. A task that still ran, or whose writes are not visible, would fail the model.
    fn counts(&mut self) -> Vec<usize> {
        // SAFETY: loom checks that no other thread accesses the cells.
        let read = |cell: &UnsafeCell<usize>| cell.with_mut(|value| unsafe { *value });
        self.0.iter().map(read).collect()
    }
}

/// Runs a job and checks that every task ran once before it returned.
fn run_and_check(pool: &Pool, tasks: usize) {
    let mut lent = Lent::new(tasks);
    pool.run(tasks, &|index| lent.add(index));
    assert_eq!(lent.counts(), vec![1; tasks]);
}

#[test]
fn every_task_runs_once_before_run_returns() {
    check(1, |pool| run_and_check(pool, 3));
}

#[test]
fn writes_of_two_workers_are_visible_to_the_caller() {
    check(2, |pool| run_and_check(pool, 3));
}

#[test]
fn a_second_job_does_not_use_what_the_first_lent() {
    check(1, |pool| (0..2).for_each(|_| run_and_check(pool, 2)));
}

#[test]
fn a_caller_without_workers_computes_alone() {
    check(0, |pool| run_and_check(pool, 3));
}

#[test]
fn nested_calls_return_when_workers_are_busy() {
    check(1, |pool| {
        let mut lent = Lent::new(4);
        pool.run(2, &|outer| {
            pool.run(2, &|inner| lent.add(outer * 2 + inner));
        });
        assert_eq!(lent.counts(), [1; 4]);
    });
}

#[test]
fn two_callers_share_a_worker() {
    check(1, |pool| {
        let other = pool.clone();
        let other = thread::spawn(move || run_and_check(&other, 2));
        run_and_check(pool, 2);
        other.join().unwrap();
    });
}

/// Runs a job whose tasks below `panics` panic, and checks that `run` does, after the others have run.
fn panic_and_check(pool: &Pool, tasks: usize, panics: usize) {
    let mut lent = Lent::new(tasks);
    let body = || {
        pool.run(tasks, &|index| {
            lent.add(index);
            if index < panics {
                std::panic::resume_unwind(Box::new(index));
            }
        });
    };
    let payload = catch_unwind(AssertUnwindSafe(body)).unwrap_err();
    assert!(*payload.downcast::<usize>().unwrap() < panics);
    assert_eq!(lent.counts(), vec![1; tasks]);
}

#[test]
fn a_panic_reaches_the_caller_when_no_task_still_runs() {
    check(1, |pool| {
        panic_and_check(pool, 3, 1);
        run_and_check(pool, 2);
    });
}

#[test]
fn of_two_panics_the_caller_gets_one() {
    check(1, |pool| panic_and_check(pool, 2, 2));
}
