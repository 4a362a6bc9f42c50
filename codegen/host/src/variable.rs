//! Resource variables and variants in tests.

use crate::core::{self, StoredVariable, View};
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

impl Host {
    /// Returns a variant with a list of tensors, a scalar input for kernels.
    ///
    /// # Errors
    /// Returns an error if a copy to the device fails.
    pub fn tensor_list(&self, tensors: &[Tensor]) -> Result<Tensor, Error> {
        let views = tensors.iter().map(|it| self.copy_in(it));
        let views = views.collect::<Result<_, Error>>()?;
        Ok(Tensor::raw(
            DType::VARIANT,
            vec![],
            &core::store_list(views),
        ))
    }

    /// Returns the tensors of a variant.
    ///
    /// # Errors
    /// Returns an error if it is no list, or if a copy from the device fails.
    pub fn listed_tensors(&self, variant: &Tensor) -> Result<Vec<Tensor>, Error> {
        let none = || Error::Misuse("the tensor is no variant with a list".into());
        let views = core::find_list(variant.bytes()).ok_or_else(none)?;
        views.iter().map(|it| self.copy_out(it)).collect()
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

impl<'a> Variable<'a> {
    /// Assigns a value as core's own kernel does.
    ///
    /// # Errors
    /// Returns an error if the copy to the device fails.
    pub fn assign(&self, value: &Tensor) -> Result<(), Error> {
        let view = self.host.copy_in(value)?;
        if let Some(stored) = StoredVariable::find(&self.number.to_le_bytes()) {
            stored.set(view);
        }
        Ok(())
    }

    /// Reads the value as an op does: kernels that change the variable have to leave the reader's value as it is.
    pub fn read(&self) -> Option<VariableReader<'a>> {
        let stored = StoredVariable::find(&self.number.to_le_bytes());
        let (host, view) = (self.host, stored?.value()?);
        Some(VariableReader { host, view })
    }
}

/// A value that was read from a variable, in its memory.
pub struct VariableReader<'a> {
    host: &'a Host,
    view: View,
}

impl VariableReader<'_> {
    /// Returns the value.
    ///
    /// # Errors
    /// Returns an error if the copy from the device fails.
    pub fn value(&self) -> Result<Tensor, Error> {
        self.host.copy_out(&self.view)
    }
}

impl Drop for Variable<'_> {
    fn drop(&mut self) {
        StoredVariable::remove(self.number);
    }
}
