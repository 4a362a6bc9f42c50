//! A record of the C functions that a plugin calls on this thread.

use std::cell::RefCell;

thread_local! {
    static CALLS: RefCell<Option<Vec<&'static str>>> = const { RefCell::new(None) };
}

/// Adds a call, if this thread records.
#[inline]
pub(crate) fn record(function: &'static str) {
    // A thread that ends deletes its status after its counts.
    let _ = CALLS.try_with(|calls| {
        let calls = &mut *calls.borrow_mut();
        if let Some(calls) = calls {
            calls.push(function);
        }
    });
}

/// Runs `body`, and returns its result with the C functions that the plugin has called meanwhile on this thread.
pub fn record_api_calls<R>(body: impl FnOnce() -> R) -> (R, Vec<&'static str>) {
    CALLS.set(Some(Vec::new()));
    let result = body();
    (result, CALLS.take().unwrap_or_default())
}
