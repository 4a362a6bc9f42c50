//! Runs one kernel with the streams that TensorFlow uses: copies in, compute and copies out have one each.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::core::{
    ArgumentPlacement, Attr, Compute, Done, KernelBuilder, KernelConstruction, KernelContext, View,
    Wait,
};
use crate::executor::DeviceMemoryBlock;
use crate::hold::StreamHold;
use crate::host::Host;
use crate::memory::HostMemory;
use crate::objects::{self, Owner};
use crate::quirks::{Quirk, Quirks};
use crate::tensor_buffer::TensorBuffer;
use crate::{DType, Error, Op, StatusCode, Tensor, fault};

/// The time that a kernel may wait for its inputs in the asynchronous mode. Then they are copied.
const PATIENCE: Duration = Duration::from_millis(100);

/// Time limit of an asynchronous kernel.
const TIMEOUT: Duration = Duration::from_secs(10);

impl Host {
    /// Runs `op` on `inputs` with the kernel that TensorFlow would choose, and returns the outputs.
    ///
    /// # Errors
    /// Returns an error if no kernel matches the op and types, if the kernel fails, or if it leaves an output
    /// unset.
    pub fn run(&self, op: &Op, inputs: &[Tensor]) -> Result<Vec<Tensor>, Error> {
        let op = op.with_types_of(inputs)?;
        let kernel = self.select(&op)?;
        let instance = KernelInstance::create(kernel, &op)?;
        let result = self.compute(&instance, &op, inputs);
        if result.is_err() {
            // Work that is still enqueued may read the caller's inputs.
            self.executor.synchronize()?;
        }
        result
    }

    /// Returns the kernel of highest priority whose type constraints match `op`.
    pub(crate) fn select(&self, op: &Op) -> Result<&KernelBuilder, Error> {
        let device = self.device_type();
        let same_op = self
            .kernels
            .iter()
            .filter(|kernel| kernel.op == op.name && kernel.device == device);
        if let Some(wrong) = same_op.clone().find_map(|kernel| unknown_attr(kernel, op)) {
            return Err(invalid(&op.name, wrong));
        }
        let matching: Vec<&KernelBuilder> = same_op
            .clone()
            .filter(|kernel| matches_types(kernel, op))
            .collect();
        let top = matching.iter().map(|kernel| kernel.priority).max();
        match matching
            .iter()
            .filter(|kernel| Some(kernel.priority) == top)
            .collect::<Vec<_>>()[..]
        {
            [kernel] => Ok(kernel),
            [] => Err(Error::NoKernel(no_kernel_message(op, same_op))),
            [first, second, ..] => Err(invalid(&op.name, ambiguous_kernels_message(first, second))),
        }
    }

    fn compute(
        &self,
        instance: &KernelInstance<'_>,
        op: &Op,
        inputs: &[Tensor],
    ) -> Result<Vec<Tensor>, Error> {
        let hold = self.hold_copies()?;
        let context = self.context(instance, op, inputs)?;
        let _input_views = op.keeps_inputs.then(|| context.state().input_views.clone());
        let context = objects::create(context, Owner::Host);
        let result = self.finish(instance, context, hold);
        drop(objects::take(context));
        result
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

    /// Copies the inputs to the device and creates the context of a call.
    pub(crate) fn context(
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
            .map(|(tensor, placement)| self.upload(tensor, placement));
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
        let context = objects::create(self.context_of_views(instance, op, inputs)?, Owner::Host);
        let outputs = self.call(instance, context);
        drop(objects::take(context));
        let output = outputs?.into_iter().next().flatten();
        output.ok_or_else(|| Error::Refused(format!("{} left its output unset", op.name)))
    }

    /// Calls the kernel, and returns the outputs that it has set.
    fn call(
        &self,
        instance: &KernelInstance<'_>,
        context: *mut KernelContext,
    ) -> Result<Vec<Option<View>>, Error> {
        instance.compute(context, self.quirks)?;
        let context = objects::find(context).expect("the host created it");
        wait_for_deferred(context)?;
        instance.outputs(context)
    }

    fn upload(&self, tensor: &Tensor, placement: &ArgumentPlacement) -> Result<View, Error> {
        let bytes = tensor.bytes();
        let buffer = match placement.on_host {
            true => TensorBuffer::from_host_memory(HostMemory::from_bytes(bytes)),
            false => TensorBuffer::allocate_on(&self.executor, bytes.len())?,
        };
        if buffer.on_device() {
            let copied = self
                .executor
                .htod(self.streams.host_to_device, block(&buffer), bytes);
            copied.map_err(|error| self.copy_error("CPU->PluggableDevice", error))?;
        }
        Ok(View {
            dtype: tensor.dtype(),
            dims: tensor.dims().to_vec(),
            buffer: Arc::new(buffer),
        })
    }

    /// Copies a tensor to device memory.
    pub(crate) fn copy_in(&self, tensor: &Tensor) -> Result<View, Error> {
        let placement = ArgumentPlacement {
            name: String::new(),
            dtype: tensor.dtype(),
            on_host: false,
        };
        let view = self.upload(tensor, &placement)?;
        self.executor.poll(self.streams.host_to_device)?;
        Ok(view)
    }

    /// Returns the error that TensorFlow reports if a copy cannot be enqueued.
    fn copy_error(&self, direction: &str, error: Error) -> Error {
        match self.quirks.has(Quirk::CopyErrorIsFatal) {
            true => Error::Refused(format!("{direction} Memcpy failed.; {error}")),
            false => error,
        }
    }

    /// Computes, waits, and copies the outputs to the host. A held stream is released when the kernel has returned.
    pub(crate) fn finish(
        &self,
        instance: &KernelInstance<'_>,
        context: *mut KernelContext,
        hold: Option<StreamHold>,
    ) -> Result<Vec<Tensor>, Error> {
        instance.compute(context, self.quirks)?;
        drop(hold);
        let context = objects::find(context).expect("the host created it");
        wait_for_deferred(context)?;
        self.executor.poll(self.streams.compute)?;
        let made_outputs = instance.outputs(context)?;
        let outputs = made_outputs.into_iter().zip(&context.outputs);
        outputs
            .enumerate()
            .map(|(index, (view, placement))| {
                self.download(&instance.builder.op, index, view, placement)
            })
            .collect()
    }

    fn download(
        &self,
        op: &str,
        index: usize,
        view: Option<View>,
        placement: &ArgumentPlacement,
    ) -> Result<Tensor, Error> {
        let name = &placement.name;
        let unset = || Error::Status {
            call: format!("{op} left its output {name} unset"),
            code: StatusCode::INTERNAL,
            message: format!("Missing {index}-th output from {{{{node {op}}}}}"),
        };
        let view = view.ok_or_else(unset)?;
        if view.dtype != placement.dtype {
            let text = format!(
                "{op} returned {name} as {}, not {}",
                view.dtype, placement.dtype
            );
            return Err(Error::Refused(text));
        }
        let len = view.bytes();
        if len > view.buffer.len() {
            let text = format!(
                "{op} returned {name} with the shape {:?}, which exceeds its memory",
                view.dims
            );
            return Err(Error::Refused(text));
        }
        if view.dtype == DType::VARIANT {
            return Ok(Tensor::raw(view.dtype, view.dims, view.buffer.host_bytes()));
        }
        match view.buffer.on_device() {
            false => Ok(Tensor::from_bytes(
                view.dtype,
                &view.dims,
                &view.buffer.host_bytes()[..len],
            )),
            true => self.copy_out(&view),
        }
    }

    /// Copies a tensor from device memory to the host.
    pub(crate) fn copy_out(&self, view: &View) -> Result<Tensor, Error> {
        let len = view.bytes();
        let stream = self.streams.device_to_host;
        let mut bytes = HostMemory::poisoned(len);
        self.executor.depend(stream, self.streams.compute)?;
        let source = DeviceMemoryBlock {
            opaque: view.buffer.data(),
            size: len as u64,
        };
        let copied = self.executor.dtoh(stream, bytes.bytes_mut(), source);
        copied.map_err(|error| self.copy_error("PluggableDevice->CPU", error))?;
        self.executor.poll(stream)?;
        Ok(Tensor::from_bytes(view.dtype, &view.dims, bytes.bytes()))
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

fn block(buffer: &TensorBuffer) -> DeviceMemoryBlock {
    DeviceMemoryBlock {
        opaque: buffer.data(),
        size: buffer.len() as u64,
    }
}

fn invalid(op: &str, message: String) -> Error {
    Error::Status {
        call: op.to_owned(),
        code: StatusCode::INVALID_ARGUMENT,
        message,
    }
}

/// Returns the message about a type constraint on an attribute that the op does not have.
fn unknown_attr(kernel: &KernelBuilder, op: &Op) -> Option<String> {
    let mut names = kernel.constraints.iter().map(|(name, _)| name);
    let unknown = names.find(|name| !op.attrs.contains_key(*name))?;
    let attrs = op
        .attrs
        .iter()
        .map(|(name, value)| format!("{name}={value}"));
    let attrs: Vec<String> = attrs.collect();
    Some(format!(
        "OpKernel '{}' has constraint on attr '{unknown}' not in NodeDef '[{}]'",
        op.name,
        attrs.join(", ")
    ))
}

fn ambiguous_kernels_message(first: &KernelBuilder, second: &KernelBuilder) -> String {
    format!(
        "Multiple OpKernel registrations match NodeDef at the same priority '{{{{node {}}}}}': '{first}' and '{second}'",
        first.op
    )
}

fn matches_types(kernel: &KernelBuilder, op: &Op) -> bool {
    kernel.label.is_empty()
        && kernel
            .constraints
            .iter()
            .all(|(attr, dtype)| match op.attrs.get(attr) {
                Some(Attr::Type(bound)) => bound == dtype,
                Some(Attr::List(items)) => items.iter().all(|item| *item == Attr::Type(*dtype)),
                _ => false,
            })
}

fn no_kernel_message<'a>(op: &Op, same_op: impl Iterator<Item = &'a KernelBuilder>) -> String {
    let list = same_op
        .map(|kernel| format!("{:?}", kernel.constraints))
        .collect::<Vec<_>>();
    let types: Vec<String> = op
        .attrs
        .iter()
        .filter(|(_, value)| matches!(value, Attr::Type(_)))
        .map(|(name, value)| format!("{name}={value:?}"))
        .collect();
    match list.is_empty() {
        true => format!("the plugin registered no kernel for {}", op.name),
        false => {
            format!(
                "no kernel of {} serves {}; there are {}",
                op.name,
                types.join(" "),
                list.join(" ")
            )
        }
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

/// A created kernel; dropping it calls its delete function.
pub(crate) struct KernelInstance<'a> {
    builder: &'a KernelBuilder,
    node: String,
    object: *mut c_void,
}

impl<'a> KernelInstance<'a> {
    pub(crate) fn create(builder: &'a KernelBuilder, op: &Op) -> Result<Self, Error> {
        let node = format!("{}_under_test", op.name);
        let construction = objects::create(
            KernelConstruction::new(node.clone(), op.name.clone(), op.attrs.clone()),
            Owner::Host,
        );
        fault::set_current_call(&"a kernel's create function");
        let object = match builder.create {
            // SAFETY: the plugin registered this function with the signature of a create function, and the
            // construction is alive until `take` below.
            Some(create) => unsafe { create(construction) },
            None => null_mut(),
        };
        let failure = objects::take(construction).and_then(|construction| construction.failure());
        let kernel = Self {
            builder,
            node,
            object,
        };
        match failure {
            Some((code, message)) => Err(Error::Status {
                call: op.name.clone(),
                code,
                message,
            }),
            None => Ok(kernel),
        }
    }

    pub(crate) fn compute(&self, context: *mut KernelContext, quirks: Quirks) -> Result<(), Error> {
        fault::set_current_call(&"a kernel's compute function");
        match self.builder.compute {
            // SAFETY: the plugin registered this function with this signature; `object` is the result of its
            // create function, and the caller owns the context for the duration of the call.
            Some(Compute::Sync(compute)) => unsafe { compute(self.object, context) },
            Some(Compute::Async(compute)) => {
                let done = Done::default();
                let wait = done.wait();
                let done = objects::create(done, Owner::Plugin);
                // SAFETY: as for a synchronous kernel; `done` is alive until the plugin calls it.
                unsafe { compute(self.object, context, done) };
                self.wait_for_done(done, &wait, quirks)?;
            }
            None => {
                let op = &self.builder.op;
                let text =
                    format!("the kernel of {op} has no compute function, and TensorFlow calls it");
                return Err(Error::Refused(text));
            }
        }
        Ok(())
    }
}

impl KernelInstance<'_> {
    /// Takes the outputs from the context, or the error that the kernel has set.
    fn outputs(&self, context: &KernelContext) -> Result<Vec<Option<View>>, Error> {
        let mut state = context.state();
        match state.failure.take() {
            Some((code, message)) => Err(Error::Status {
                call: self.builder.op.clone(),
                code,
                message,
            }),
            None => Ok(state.output_views.iter_mut().map(Option::take).collect()),
        }
    }

    /// Waits until the kernel has called `done`, for as long as TensorFlow's callback exists.
    fn wait_for_done(&self, done: *mut Done, wait: &Wait, quirks: Quirks) -> Result<(), Error> {
        let ends_with_compute = quirks.has(Quirk::DoneEndsWithCompute);
        let limit = if ends_with_compute {
            Duration::ZERO
        } else {
            TIMEOUT
        };
        if wait.done_within(limit) {
            return Ok(());
        }
        // A later call is a fault.
        drop(objects::take(done));
        let op = &self.builder.op;
        match ends_with_compute {
            true => Err(Error::Refused(format!(
                "{op} did not call done before compute returned, where its callback ends up to 2.21"
            ))),
            false => Err(Error::Timeout(format!("{op} never called done"))),
        }
    }
}

impl Drop for KernelInstance<'_> {
    fn drop(&mut self) {
        if let Some(delete) = self.builder.delete {
            fault::set_current_call(&"a kernel's delete function");
            // SAFETY: the plugin registered this function to be called once on the result of its create function.
            unsafe { delete(self.object) }
        }
    }
}
