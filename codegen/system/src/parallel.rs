//! Parallel iteration on threads of its own. Results are in the order of the items.
//!
//! A thread that waits in a nested call runs no other item meanwhile, as a thread of a work-stealing pool would: an item
//! may hold a file lock that another item waits for.

use std::cell::Cell;
use std::io;
use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Builder, JoinHandle};

/// The stack of a thread, as large as that of a main thread.
const STACK_BYTES: usize = 8 << 20;

thread_local! {
    /// True for a thread for which a thread of a `map` waits.
    static IS_NESTED: Cell<bool> = const { Cell::new(false) };
    /// The stack of the threads that this thread starts.
    static STACK: Cell<usize> = const { Cell::new(STACK_BYTES) };
}

/// Runs `work` on a new thread. Its stack, and the stacks of the threads that it starts by [`map`], have `stack` bytes, or
/// fewer if the address space is smaller: memory is taken only for the part of a stack that is used.
///
/// # Errors
/// Returns an error if the system can start no thread.
pub(crate) fn spawn_with_stack<T: Send + 'static>(
    stack: u64,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    let work = Arc::new(Mutex::new(Some(work)));
    let spawn = |stack: usize| {
        let work = work.clone();
        let run = move || {
            STACK.set(stack);
            let work = work.lock().unwrap_or_else(PoisonError::into_inner).take();
            work.expect("only the thread that starts takes it")()
        };
        Builder::new().stack_size(stack).spawn(run)
    };
    let stack = stack.min(max_stack());
    let mut stack = usize::try_from(stack).unwrap_or(usize::MAX / 4);
    loop {
        match spawn(stack.max(STACK_BYTES)) {
            Err(_) if stack > STACK_BYTES => stack /= 2,
            result => return result,
        }
    }
}

/// Returns the largest stack under the limit of address space (`ulimit -v`): a part of a quarter of it for each processor.
/// Libraries and heaps need the rest.
fn max_stack() -> u64 {
    let threads = thread::available_parallelism().map_or(1, |count| count.get() as u64);
    address_space_limit().map_or(u64::MAX, |limit| limit / 4 / threads)
}

#[cfg(unix)]
fn address_space_limit() -> Option<u64> {
    let mut limit = libc::rlimit {
        rlim_cur: libc::RLIM_INFINITY,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: `getrlimit` writes one `rlimit`, which outlives the call.
    let status = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) };
    (status == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

#[cfg(not(unix))]
fn address_space_limit() -> Option<u64> {
    None
}

/// Returns the number of threads that [`map`] would use. Inside of another `map` it is 1: that one occupies all
/// processors.
fn thread_count() -> usize {
    match is_nested() {
        true => 1,
        false => thread::available_parallelism().map_or(1, usize::from),
    }
}

/// Returns true inside of a `map`, also on a thread that was marked by [`mark_nested`].
pub(crate) fn is_nested() -> bool {
    IS_NESTED.get()
}

/// Marks this thread as one for which a thread of a `map` waits.
pub(crate) fn mark_nested() {
    IS_NESTED.set(true);
}

/// Returns the results of `work` for each of `items`, computed on as many threads as the machine has processors.
pub fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
    map_on(thread_count(), items, work)
}

/// Works as [`map`] does, on `threads` threads: for work that waits more than it computes.
pub fn map_on<T: Sync, R: Send>(
    threads: usize,
    items: &[T],
    work: impl Fn(&T) -> R + Sync + Send,
) -> Vec<R> {
    if threads.min(items.len()) <= 1 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let run = || {
        mark_nested();
        let indices = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let items = indices.map_while(|index| Some((index, items.get(index)?)));
        items.map(|(index, item)| (index, work(item))).collect()
    };
    let mut results = run_on(threads.min(items.len()), &run);
    results.sort_by_key(|(index, _)| *index);
    match results.is_empty() {
        // The system can start no more threads.
        true => items.iter().map(work).collect(),
        false => results.into_iter().map(|(_, result)| result).collect(),
    }
}

/// Returns the results of `run` on each of up to `threads` new threads: fewer, or none, if the system cannot start more.
fn run_on<R: Send>(threads: usize, run: &(impl Fn() -> Vec<R> + Sync)) -> Vec<R> {
    let stack = STACK.get();
    let run = || {
        STACK.set(stack);
        run()
    };
    thread::scope(|scope| {
        let start = |_| {
            let thread = Builder::new().stack_size(stack);
            thread.spawn_scoped(scope, run).ok()
        };
        let started: Vec<_> = (0..threads).map_while(start).collect();
        let joined = started.into_iter().map(|thread| thread.join());
        let results = joined.map(|result| result.unwrap_or_else(|it| panic::resume_unwind(it)));
        results.flatten().collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn returns_results_in_order_of_items() {
        let square = |item: &u32| {
            std::thread::sleep(Duration::from_millis(u64::from(*item)));
            item * item
        };
        assert_eq!(map_on(3, &[5, 1, 4, 2], square), [25, 1, 16, 4]);
        assert_eq!(map(&[5, 1, 4, 2], square), [25, 1, 16, 4]);
    }

    #[test]
    fn accepts_empty_slice() {
        assert!(map(&[] as &[u32], |item| *item).is_empty());
        assert!(map_on(2, &[] as &[u32], |item| *item).is_empty());
    }

    #[test]
    fn nested_call_runs_on_one_thread() {
        assert_eq!(map_on(2, &[(), ()], |()| thread_count()), [1, 1]);
        let limits = crate::budget::Limits {
            time: Duration::from_secs(60),
            bytes: 1 << 40,
        };
        let supervised = || crate::budget::supervise(limits, thread_count);
        assert_eq!(map_on(2, &[(), ()], |()| supervised()), [Ok(1), Ok(1)]);
    }

    #[test]
    fn threads_have_the_stack_of_the_thread_that_starts_them() {
        fn recurse(depth: usize) -> usize {
            let frame = std::hint::black_box([depth; 128]);
            match depth {
                0 => 0,
                _ => frame[7] - depth + 1 + recurse(depth - 1),
            }
        }
        // More than the stack of a main thread.
        let depth = 32 << 10;
        let work = move || map_on(2, &[depth, depth], |depth| recurse(*depth));
        let thread = spawn_with_stack(256 << 20, work).unwrap();
        assert_eq!(thread.join().unwrap(), [depth, depth]);
        // No system has such address space.
        assert_eq!(spawn_with_stack(u64::MAX, || 7).unwrap().join().unwrap(), 7);
    }

    #[test]
    fn waiting_thread_runs_no_other_item() {
        thread_local! {
            static IS_BUSY: Cell<bool> = const { Cell::new(false) };
        }
        let work = |_: &u32| {
            assert!(!IS_BUSY.replace(true));
            map_on(2, &[(), ()], |()| thread::sleep(Duration::from_millis(2)));
            IS_BUSY.set(false);
        };
        map_on(2, &[0; 16], work);
    }

    #[test]
    #[should_panic(expected = "item 3")]
    fn panic_of_an_item_is_a_panic_of_the_caller() {
        map_on(2, &[1, 2, 3, 4], |item| assert!(*item != 3, "item {item}"));
    }
}
