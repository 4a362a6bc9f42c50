//! Values that live as long as the process, in reach of whoever looks for leaks in the plugin: a leak
//! of the host's own would hide them.

use std::any::Any;
use std::sync::{Mutex, PoisonError};

/// What is kept; nothing is ever taken out.
static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

/// A pointer that came from `Box::leak` and is only there to be found.
struct Kept(
    #[expect(dead_code, reason = "leak checkers look at it")] &'static (dyn Any + Send + Sync),
);

/// The value, for ever.
pub(crate) fn keep<T: Any + Send + Sync>(value: T) -> &'static T {
    let kept: &'static T = Box::leak(Box::new(value));
    let mut list = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    list.push(Kept(kept));
    kept
}
