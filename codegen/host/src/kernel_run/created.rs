//! A kernel that was created and that computes several times, as TensorFlow's kernels do.

use std::time::{Duration, Instant};

use super::{KernelInstance, wait_for_deferred};
use crate::host::Host;
use crate::objects::BorrowedObject;
use crate::{Error, Op, Tensor};

/// A kernel of the plugin with its attributes. Dropping it calls its delete function.
pub struct CreatedKernel<'h> {
    host: &'h Host,
    op: Op,
    instance: KernelInstance<'h>,
}

impl Host {
    /// Creates the kernel that [`run`](Host::run) would use for these inputs.
    ///
    /// # Errors
    /// Returns an error if no kernel matches the op and types, or if its construction fails.
    pub fn create_kernel(&self, op: &Op, inputs: &[Tensor]) -> Result<CreatedKernel<'_>, Error> {
        let op = op.with_types_of(inputs)?;
        let instance = KernelInstance::create(self.select(&op)?, &op)?;
        Ok(CreatedKernel {
            host: self,
            op,
            instance,
        })
    }
}

impl CreatedKernel<'_> {
    /// Computes the outputs. The inputs must have the types of those that the kernel was created for.
    ///
    /// # Errors
    /// Returns an error if the types differ, if the kernel fails, or if it leaves an output unset.
    pub fn run(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, Error> {
        let host = self.host;
        self.op.with_types_of(inputs)?;
        let result = host.compute(&self.instance, &self.op, inputs);
        if result.is_err() {
            // Work that is still enqueued may read the caller's inputs.
            host.executor.synchronize()?;
        }
        result
    }

    /// Computes as [`run`](CreatedKernel::run) does, and returns the time from the call of the kernel until its stream was
    /// done, without copies of inputs and outputs.
    ///
    /// # Errors
    /// As of [`run`](CreatedKernel::run).
    pub fn run_timed(&self, inputs: &[Tensor]) -> Result<(Vec<Tensor>, Duration), Error> {
        let (host, instance) = (self.host, &self.instance);
        self.op.with_types_of(inputs)?;
        // SAFETY: the inputs are borrowed until this function returns, and the device is waited for below.
        let context = unsafe { host.context(instance, &self.op, inputs) };
        host.executor.synchronize()?;
        let context = BorrowedObject::new(context?);
        let start = Instant::now();
        instance.compute(&context, host.quirks)?;
        wait_for_deferred(context.get().expect("the host created it"))?;
        host.executor.poll(host.streams.compute)?;
        let duration = start.elapsed();
        Ok((host.downloads(instance, &context)?, duration))
    }
}
