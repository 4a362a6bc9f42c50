//! A resource variable in tests.

use crate::core::StoredVariable;
use crate::{DType, Error, Host, Tensor};

/// A variable that kernels access through a resource handle. It has no value until a kernel assigns one.
///
/// Dropping it frees its memory on the device.
#[derive(Debug)]
pub struct Variable<'a> {
    host: &'a Host,
    number: u64,
}

impl Host {
    /// Creates a variable without a value.
    pub fn variable(&self) -> Variable<'_> {
        let number = StoredVariable::create();
        Variable { host: self, number }
    }
}

impl Variable<'_> {
    /// Returns its resource handle, a scalar input for kernels.
    pub fn handle(&self) -> Tensor {
        Tensor::raw(DType::RESOURCE, vec![], &self.number.to_le_bytes())
    }

    /// Returns its value, or `None` if no kernel has assigned one.
    ///
    /// # Errors
    /// Returns an error if the copy from the device fails.
    pub fn value(&self) -> Result<Option<Tensor>, Error> {
        let held = StoredVariable::find(&self.number.to_le_bytes());
        let value = held.and_then(|held| held.value());
        value.map(|view| self.host.copy_out(&view)).transpose()
    }
}

impl Drop for Variable<'_> {
    fn drop(&mut self) {
        StoredVariable::remove(self.number);
    }
}
