//! Parallel iteration on rayon's thread pools. Results are in the order of the items.

use rayon::ThreadPoolBuilder;
use rayon::prelude::*;
use std::cell::Cell;
use std::sync::Once;

/// libclang may parse on the calling thread, and needs as much stack as a main thread has.
pub(crate) const STACK_BYTES: usize = 8 << 20;

/// Returns the number of threads that [`map`] would use. Inside of another `map` it is 1: that one occupies all
/// processors.
pub fn thread_count() -> usize {
    match is_nested() {
        true => 1,
        false => {
            set_stack_size();
            rayon::current_num_threads()
        }
    }
}

thread_local! {
    /// True for a thread for which a thread of a `map` waits.
    static IS_NESTED: Cell<bool> = const { Cell::new(false) };
}

/// Returns true inside of a `map`, also on a thread that was marked by [`mark_nested`].
pub(crate) fn is_nested() -> bool {
    rayon::current_thread_index().is_some() || IS_NESTED.get()
}

/// Marks this thread as one for which a thread of a `map` waits: a `map` here that used the same pool might never end.
pub(crate) fn mark_nested() {
    IS_NESTED.set(true);
}

/// Returns the results of `work` for each of `items`, computed on as many threads as the machine has processors.
pub fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
    match thread_count() {
        1 => items.iter().map(work).collect(),
        _ => items.par_iter().with_max_len(1).map(work).collect(),
    }
}

/// Works as [`map`] does, on a new pool of `threads` threads: for work that waits more than it computes.
pub fn map_on<T: Sync, R: Send>(
    threads: usize,
    items: &[T],
    work: impl Fn(&T) -> R + Sync + Send,
) -> Vec<R> {
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads.min(items.len()).max(1))
        .stack_size(STACK_BYTES);
    match pool.build() {
        Ok(pool) => pool.install(|| items.par_iter().with_max_len(1).map(&work).collect()),
        // The system can start no more threads.
        Err(_) => items.iter().map(work).collect(),
    }
}

/// Sets the stack size of the global pool before its first use. A pool that exists already keeps its size.
fn set_stack_size() {
    static SET: Once = Once::new();
    SET.call_once(|| {
        let _ = ThreadPoolBuilder::new()
            .stack_size(STACK_BYTES)
            .build_global();
    });
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
}
