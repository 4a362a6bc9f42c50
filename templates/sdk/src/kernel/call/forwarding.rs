//! Inputs of a call that became outputs in place.

use std::cell::Cell;

use super::Call;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// Largest number of inputs of a call that become outputs in place.
const MAX_FORWARDED: usize = 4;

/// The addresses of inputs that became outputs, from the first slot on; 0 is free.
pub(super) struct ForwardedInputs([Cell<usize>; MAX_FORWARDED]);

impl ForwardedInputs {
    #[inline]
    pub const fn new() -> Self {
        Self([const { Cell::new(0) }; MAX_FORWARDED])
    }

    /// Returns true if no input became an output.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0[0].get() == 0
    }

    fn is_full(&self) -> bool {
        self.0.iter().all(|it| it.get() != 0)
    }

    fn contains(&self, address: usize) -> bool {
        address != 0 && self.0.iter().any(|it| it.get() == address)
    }

    fn insert(&self, address: usize) {
        if let Some(free) = self.0.iter().find(|it| it.get() == 0) {
            free.set(address);
        }
    }
}

impl Call<'_> {
    /// Returns true if one more input can become an output in place.
    pub(in crate::kernel) fn can_forward(&self) -> bool {
        !self.forwarded.is_full()
    }

    /// Records the address of an input that became an output. The output may be written from now on, so the input must
    /// not be fetched again, nor another input that is the same tensor.
    pub(in crate::kernel) fn record_forwarded(&self, address: usize) {
        self.forwarded.insert(address);
    }

    /// Checks that a fetched tensor has not become an output.
    #[inline]
    pub(super) fn check_not_forwarded(&self, tensor: &Tensor) -> Result<()> {
        if self.forwarded.is_empty() {
            return Ok(());
        }
        match self.forwarded.contains(tensor.data()? as usize) {
            true => Err(forwarded_input()),
            false => Ok(()),
        }
    }
}

#[cold]
fn forwarded_input() -> Error {
    Error::internal("the input was forwarded to an output, and cannot be fetched any more")
}
