//! Failures of a call that no return value carries.

use std::cell::Cell;

use super::Call;
use crate::{Error, Result};

/// The failures of a call. The first one of each kind counts.
pub(super) struct Failures {
    /// True if one of the other fields has a value: one check for a call without failures.
    has_any: Cell<bool>,
    recorded: Cell<Option<Error>>,
    /// The output that was dropped before it was set.
    unset: Cell<Option<usize>>,
}

impl Failures {
    #[inline]
    pub const fn new() -> Self {
        Self {
            has_any: Cell::new(false),
            recorded: Cell::new(None),
            unset: Cell::new(None),
        }
    }
}

impl Call<'_> {
    /// Records a failure that has no other way to the caller. The first one counts.
    #[cold]
    pub(crate) fn record_failure(&self, error: Error) {
        let first = self.failures.recorded.take().unwrap_or(error);
        self.failures.recorded.set(Some(first));
        self.failures.has_any.set(true);
    }

    /// Records that output `index` was dropped before it was set. The first one counts.
    #[cold]
    pub(super) fn record_unset(&self, index: usize) {
        let first = self.failures.unset.get().unwrap_or(index);
        self.failures.unset.set(Some(first));
        self.failures.has_any.set(true);
    }

    /// Returns the result of the call, given that of the kernel. A recorded failure comes first: the stream's names the
    /// op that is the reason.
    #[inline]
    pub(in crate::kernel) fn finish(&self, computed: Result<()>) -> Result<()> {
        match self.failures.has_any.get() {
            true => self.recorded_failure(computed),
            false => computed,
        }
    }

    #[cold]
    fn recorded_failure(&self, computed: Result<()>) -> Result<()> {
        if let Some(error) = self.failures.recorded.take() {
            return Err(error);
        }
        computed?;
        match self.failures.unset.get() {
            Some(index) => Err(self.instance.unset_output(index)),
            None => Ok(()),
        }
    }
}
