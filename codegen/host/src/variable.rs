//! A variable, as a test of kernels that assign to one has it.

use crate::core::Variable as Held;
use crate::{DType, Error, Host, Tensor};

/// A variable that kernels reach through its handle. It has a value once a kernel assigned one.
///
/// Dropping it frees its memory on the device, so it goes before the [`Host`] does.
#[derive(Debug)]
pub struct Variable<'a> {
    host: &'a Host,
    number: u64,
}

impl Host {
    /// A variable without a value.
    pub fn variable(&self) -> Variable<'_> {
        let number = Held::create();
        Variable { host: self, number }
    }
}

impl Variable<'_> {
    /// The input that names it: a scalar of `resource`.
    pub fn handle(&self) -> Tensor {
        Tensor::raw(DType::RESOURCE, vec![], &self.number.to_le_bytes())
    }

    /// Its value, once it has one.
    ///
    /// # Errors
    /// Where the plugin does not copy it out.
    pub fn value(&self) -> Result<Option<Tensor>, Error> {
        let held = Held::of(&self.number.to_le_bytes());
        let value = held.and_then(|held| held.value());
        value.map(|view| self.host.copy_out(&view)).transpose()
    }
}

impl Drop for Variable<'_> {
    fn drop(&mut self) {
        Held::forget(self.number);
    }
}
