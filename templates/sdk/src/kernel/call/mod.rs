//! One call of a kernel, from which its parameters are made.

mod behind;
pub(super) mod context;
mod detached;
mod device;
pub(super) mod execution;
mod failure;
mod forwarding;
pub(super) mod instance;
mod memory;
mod recording;
pub(super) mod slots;
mod source;
mod target;

use std::any::TypeId;
use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

use sp_abi::stream_executor::SP_Stream;
use sp_abi::tf_datatype::TF_DataType;

use self::context::ContextRef;
use self::failure::Failures;
use self::forwarding::ForwardedInputs;
use self::instance::Instance;
use self::slots::Slots;
use crate::dims::Dims;
use crate::tensor::Tensor;
use crate::trace::{self, ActiveCall};
use crate::{Device, Error, Result};

pub(super) use self::memory::CallMemory;
pub(super) use self::source::InputTensor;
pub use self::source::{InputArgument, InputSource};
pub use self::target::OutputTarget;

/// One call of a kernel.
pub struct Call<'c> {
    context: ContextRef<'c>,
    instance: &'c Instance,
    device: TypeId,
    stream: Cell<Option<SP_Stream>>,
    memory: CallMemory<'c>,
    output_dims: Cell<Option<Dims<i64>>>,
    failures: Failures,
    /// True if an input is a reference variable, whose buffer another input may have.
    has_reference: Cell<bool>,
    /// True if the host has an input in place.
    has_input_in_place: Cell<bool>,
    forwarded: ForwardedInputs,
    inputs: Slots<InputTensor>,
    /// The record of the call, while a profile runs.
    trace: Option<Box<ActiveCall>>,
}

impl<'c> Call<'c> {
    #[inline]
    pub(super) fn new<D: Device>(
        context: ContextRef<'c>,
        instance: &'c Instance,
        memory: CallMemory<'c>,
    ) -> Self {
        Self {
            context,
            instance,
            device: TypeId::of::<D>(),
            stream: Cell::new(None),
            memory,
            output_dims: Cell::new(None),
            failures: Failures::new(),
            has_reference: Cell::new(false),
            has_input_in_place: Cell::new(false),
            forwarded: ForwardedInputs::new(),
            inputs: Slots::new(),
            trace: None,
        }
    }

    /// Records the call, if a profile runs.
    #[inline]
    pub(super) fn begin_trace(&mut self) {
        self.trace = trace::begin();
    }

    /// Returns the record of the call, if a profile runs.
    #[inline]
    pub(super) fn trace(&self) -> Option<&ActiveCall> {
        self.trace.as_deref()
    }

    /// Adds an input to the record of the call.
    #[inline]
    pub(super) fn note_input(&self, tensor: &Tensor) {
        if let Some(trace) = self.trace() {
            record_input(trace, tensor);
        }
    }

    /// Returns the storage of the fetched inputs.
    #[inline]
    pub(super) fn inputs(&self) -> &Slots<InputTensor> {
        &self.inputs
    }

    /// Returns the input at this position of the op's definition.
    #[inline]
    pub fn input(&self, position: usize) -> InputArgument<'_> {
        InputArgument {
            call: self,
            position,
        }
    }

    /// Returns the target of the output at this position of the op's definition.
    #[inline(never)]
    pub fn output(&self, position: usize) -> OutputTarget<'_> {
        let (first, count) = self.instance.outputs.range(position);
        let parameter = &self.instance.spec.outputs[position].parameter;
        OutputTarget {
            call: self,
            parameter,
            first,
            count,
        }
    }

    /// Returns the state that the kernel has prepared.
    ///
    /// # Errors
    /// Returns an error if the state is of another type, which is a defect of the SDK.
    #[inline]
    pub fn state<S: 'static>(&self) -> Result<&S> {
        self.instance.state.get().ok_or_else(other_state)
    }

    /// Checks the element type of a tensor. In a known release the registration guarantees it, so only debug builds check
    /// there; in a later release the op may have gained types.
    #[inline]
    pub(super) fn check_type(&self, tensor: &Tensor, expected: TF_DataType) -> Result<()> {
        match self.instance.checks_types {
            true => tensor.require_type(expected),
            false => Ok(()),
        }
    }

    pub(super) fn context(&self) -> ContextRef<'c> {
        self.context
    }

    #[inline]
    pub(super) fn instance(&self) -> &'c Instance {
        self.instance
    }

    /// Notes the shape of an output in device memory, for messages about the call.
    pub(super) fn note_output(&self, dims: &[usize]) {
        self.output_dims.set(Some(Dims::from(dims)));
    }

    /// Returns the name of the call's node and kernel, and the shape that was noted last.
    pub(crate) fn operation(&self) -> Operation {
        Operation {
            kernel: self.instance.spec.label(),
            node: self.instance.node.clone(),
            dims: self.output_dims.take(),
        }
    }
}

/// One call of a kernel, as messages name it.
#[derive(Debug)]
pub(crate) struct Operation {
    kernel: &'static str,
    node: Arc<str>,
    dims: Option<Dims<i64>>,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (node {}", self.kernel, self.node)?;
        match &self.dims {
            Some(dims) => write!(f, ", output {:?})", &dims[..]),
            None => f.write_str(")"),
        }
    }
}

#[cold]
fn record_input(trace: &ActiveCall, tensor: &Tensor) {
    if let (Ok(dtype), Ok(dims), Ok(bytes)) = (tensor.dtype(), tensor.dims(), tensor.bytes()) {
        trace.add_input(dtype, &dims[..], bytes as u64);
    }
}

#[cold]
fn other_state() -> Error {
    Error::internal("the kernel's state is of another type")
}
