//! One call of a kernel that can be repeated: for measurements of a kernel without the host's work.

use crate::core::KernelContext;
use crate::host::Host;
use crate::kernel_run::KernelInstance;
use crate::objects::BorrowedObject;
use crate::{Error, Op, Tensor};

/// A constructed kernel with its inputs. Each [`compute`](PreparedCall::compute) is one call on the same inputs.
pub struct PreparedCall<'h> {
    host: &'h Host,
    /// Freed before the instance: no context outlives its kernel.
    context: BorrowedObject<KernelContext>,
    instance: KernelInstance<'h>,
}

impl Host {
    /// Constructs the kernel that [`run`](Host::run) would use, and copies the inputs to the device.
    ///
    /// # Errors
    /// Returns an error if no kernel matches the op and types, or if its construction fails.
    pub fn prepare(&self, op: &Op, inputs: &[Tensor]) -> Result<PreparedCall<'_>, Error> {
        let op = op.with_types_of(inputs)?;
        let instance = KernelInstance::create(self.select(&op)?, &op)?;
        // SAFETY: the inputs are borrowed until this function returns, which waits for the device.
        let context = unsafe { self.context(&instance, &op, inputs) };
        let copied = self.executor.synchronize();
        let context = context?;
        copied?;
        Ok(PreparedCall {
            host: self,
            instance,
            context: BorrowedObject::new(context),
        })
    }
}

impl PreparedCall<'_> {
    /// Calls the kernel's compute function.
    ///
    /// # Errors
    /// Returns an error if the kernel has none, or does not end.
    pub fn compute(&self) -> Result<(), Error> {
        self.instance.compute(&self.context, self.host.quirks)
    }

    /// Calls the kernel's compute function and returns the outputs.
    ///
    /// # Errors
    /// Returns an error if the kernel fails, or if it leaves an output unset.
    pub fn outputs(&self) -> Result<Vec<Tensor>, Error> {
        self.host.finish(&self.instance, &self.context, None)
    }
}
