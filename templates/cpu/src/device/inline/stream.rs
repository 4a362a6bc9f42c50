//! A queue whose work runs at once.

use std::sync::{Mutex, PoisonError};

use sp_plugin::{Error, Result};

/// A stream of the reference device. It remembers the first thing that went wrong on it.
#[derive(Debug, Default)]
pub struct Stream {
    failure: Mutex<Option<Error>>,
}

impl Stream {
    /// Keeps the first error.
    pub fn fail(&self, error: Error) {
        self.failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(error);
    }

    /// Checks that there was no error.
    ///
    /// # Errors
    /// Returns the first error.
    pub fn status(&self) -> Result<()> {
        match &*self.failure.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_error_stays() {
        let stream = Stream::default();
        assert_eq!(stream.status(), Ok(()));
        stream.fail(Error::internal("first"));
        stream.fail(Error::internal("second"));
        assert_eq!(stream.status(), Err(Error::internal("first")));
    }
}
