//! Data that all threads share.

use std::sync::{Mutex, PoisonError};

/// A value behind a lock, which is created at its first use.
#[derive(Debug)]
pub struct Shared<T>(Mutex<Option<T>>);

impl<T: Default> Shared<T> {
    /// Returns a value that is not created yet.
    #[allow(clippy::new_without_default, reason = "it is used in statics")]
    pub const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// Calls `function` with the value.
    pub fn with<R>(&self, function: impl FnOnce(&mut T) -> R) -> R {
        let mut value = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        function(value.get_or_insert_with(T::default))
    }
}
