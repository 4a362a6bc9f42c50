//! Runs one kernel with the streams that TensorFlow uses: copies in, compute and copies out have one each.

mod created;
mod instance;
mod selection;
mod transfers;

use std::sync::Arc;
use std::time::{Duration, Instant};

pub use self::created::CreatedKernel;
pub(crate) use self::instance::KernelInstance;
use self::instance::TIMEOUT;
use crate::core::{KernelContext, View};
use crate::hold::StreamHold;
use crate::host::Host;
use crate::objects::BorrowedObject;
use crate::{Error, Op, StatusCode, Tensor};

/// The time that a kernel may wait for its inputs in the asynchronous mode. Then they are copied.
const PATIENCE: Duration = Duration::from_millis(100);

impl Host {
    /// Runs `op` on `inputs` with the kernel that TensorFlow would choose, and returns the outputs.
    ///
    /// # Errors
    /// Returns an error if no kernel matches the op and types, if the kernel fails, or if it leaves an output
    /// unset.
    pub fn run(&self, op: &Op, inputs: &[Tensor]) -> Result<Vec<Tensor>, Error> {
        self.create_kernel(op, inputs)?.run(inputs)
    }

    fn compute(
        &self,
        instance: &KernelInstance<'_>,
        op: &Op,
        inputs: &[Tensor],
    ) -> Result<Vec<Tensor>, Error> {
        let hold = self.hold_copies()?;
        // SAFETY: the inputs are borrowed until `run` returns, which waits for the stream of the kernel, or after an error for
        // the device.
        let context = unsafe { self.context(instance, op, inputs) }?;
        let _input_views = op.keeps_inputs.then(|| context.state().input_views.clone());
        self.finish(instance, &BorrowedObject::new(context), hold)
    }

    /// In the asynchronous mode, holds the stream of copies to the device, so that the kernel is called before its inputs
    /// are copied. A device that runs work in the call that enqueues it has no such mode.
    fn hold_copies(&self) -> Result<Option<StreamHold>, Error> {
        if !self.is_async {
            return Ok(None);
        }
        let held = StreamHold::on(&self.executor, self.streams.host_to_device, PATIENCE)?;
        Ok(held.ok())
    }

    /// Enqueues copies of the inputs to the device and creates the context of a call.
    ///
    /// # Safety
    /// - The inputs are neither changed nor dropped before the copies are done, also if this function returns an error.
    pub(crate) unsafe fn context(
        &self,
        instance: &KernelInstance<'_>,
        op: &Op,
        inputs: &[Tensor],
    ) -> Result<KernelContext, Error> {
        let host_memory = &instance.builder.host_memory;
        if let Some(name) = host_memory.iter().find(|name| !op.has_argument(name)) {
            let text = format!("HostMemory args '{name}' not found in OpDef");
            return Err(invalid(&op.name, text));
        }
        let placement = op.input_placements(host_memory)?;
        let input_views = inputs
            .iter()
            .zip(&placement)
            // SAFETY: the caller guarantees that the inputs are there until the copies are done.
            .map(|(tensor, placement)| unsafe { self.upload(tensor, placement) });
        let mut input_views = input_views.collect::<Result<Vec<View>, Error>>()?;
        if op.shares_equal_inputs {
            share_equal_inputs(inputs, &mut input_views);
        }
        self.executor
            .depend(self.streams.compute, self.streams.host_to_device)?;
        self.context_of_views(instance, op, input_views)
    }

    /// Creates the context of a call with inputs that are where the kernel has them.
    fn context_of_views(
        &self,
        instance: &KernelInstance<'_>,
        op: &Op,
        input_views: Vec<View>,
    ) -> Result<KernelContext, Error> {
        let host_memory = &instance.builder.host_memory;
        Ok(KernelContext::new(
            (
                instance.node.clone(),
                format!(
                    "/job:localhost/replica:0/task:0/device:{}:0",
                    self.device_type()
                ),
            ),
            (Arc::clone(&self.executor), self.streams.compute),
            self.quirks,
            (
                op.input_placements(host_memory)?,
                op.output_placements(host_memory)?,
            ),
            input_views,
        ))
    }

    /// Runs a kernel on inputs on the device without waiting for the stream. Returns its first output.
    pub(crate) fn enqueue(
        &self,
        instance: &KernelInstance<'_>,
        op: &Op,
        inputs: Vec<View>,
    ) -> Result<View, Error> {
        let context = BorrowedObject::new(self.context_of_views(instance, op, inputs)?);
        let output = self.call(instance, &context)?.into_iter().next().flatten();
        output.ok_or_else(|| Error::Refused(format!("{} left its output unset", op.name)))
    }

    /// Calls the kernel, and returns the outputs that it has set.
    fn call(
        &self,
        instance: &KernelInstance<'_>,
        context: &BorrowedObject<KernelContext>,
    ) -> Result<Vec<Option<View>>, Error> {
        instance.compute(context, self.quirks)?;
        let context = context.get().expect("the host created it");
        wait_for_deferred(context)?;
        instance.outputs(context)
    }

    /// Computes, waits, and copies the outputs to the host. A held stream is released when the kernel has returned.
    pub(crate) fn finish(
        &self,
        instance: &KernelInstance<'_>,
        context: &BorrowedObject<KernelContext>,
        hold: Option<StreamHold>,
    ) -> Result<Vec<Tensor>, Error> {
        instance.compute(context, self.quirks)?;
        drop(hold);
        wait_for_deferred(context.get().expect("the host created it"))?;
        self.executor.poll(self.streams.compute)?;
        self.downloads(instance, context)
    }

    /// Copies the outputs of a kernel whose stream is done to the host.
    fn downloads(
        &self,
        instance: &KernelInstance<'_>,
        context: &BorrowedObject<KernelContext>,
    ) -> Result<Vec<Tensor>, Error> {
        let context = context.get().expect("the host created it");
        let made_outputs = instance.outputs(context)?;
        let outputs = made_outputs.into_iter().zip(&context.outputs);
        outputs
            .enumerate()
            .map(|(index, (view, placement))| {
                self.download(&instance.builder.op, index, view, placement)
            })
            .collect()
    }
}

/// Replaces each view of a tensor that equals an earlier one by the earlier view.
fn share_equal_inputs(inputs: &[Tensor], views: &mut [View]) {
    for (index, input) in inputs.iter().enumerate() {
        if let Some(earlier) = inputs[..index].iter().position(|it| it == input) {
            views[index] = views[earlier].clone();
        }
    }
}

fn invalid(op: &str, message: String) -> Error {
    Error::Status {
        call: op.to_owned(),
        code: StatusCode::INVALID_ARGUMENT,
        message,
    }
}

fn wait_for_deferred(context: &KernelContext) -> Result<(), Error> {
    let end = Instant::now() + TIMEOUT;
    while context.deferred() > 0 {
        if Instant::now() > end {
            return Err(Error::Timeout("a deferred operation did not finish".into()));
        }
        std::thread::yield_now();
    }
    Ok(())
}
