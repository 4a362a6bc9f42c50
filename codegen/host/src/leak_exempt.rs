//! Leak-exempt allocations: values that live as long as the process and stay reachable, so that a leak checker
//! reports leaks of the plugin only.

use std::any::Any;
use std::sync::{Mutex, PoisonError};

/// All leak-exempt allocations. None is ever removed.
static REACHABLE: Mutex<Vec<Reachable>> = Mutex::new(Vec::new());

/// A pointer from `Box::leak` that only leak checkers read.
struct Reachable(
    #[expect(dead_code, reason = "only leak checkers read it")] &'static (dyn Any + Send + Sync),
);

/// Moves `value` to the heap for the life of the process.
pub(crate) fn leak_exempt<T: Any + Send + Sync>(value: T) -> &'static T {
    let leaked: &'static T = Box::leak(Box::new(value));
    let mut list = REACHABLE.lock().unwrap_or_else(PoisonError::into_inner);
    list.push(Reachable(leaked));
    leaked
}
