//! The outputs that a kernel sets, captured while it runs.
//!
//! Early releases have no function that returns an output. So the functions of `core_functions` store each output's tensor in
//! [`CAPTURE`]. A kernel's parameters are bound to the thread that calls it, so the capture is the thread's.

use std::cell::RefCell;
use std::ffi::c_int;
use std::mem::ManuallyDrop;

use sp_abi::kernels::{TF_ExpectedOutputDataType, TF_NumInputs, TF_NumOutputs, TF_OpKernelContext};
use sp_abi::tf_datatype::TF_DataType;
use sp_abi::tf_tensor::TF_Tensor;
use sp_runtime::guard;

use crate::access::{DeviceMemory, HostMemory};
use crate::kernel::call::context::ContextRef;
use crate::status::CallStatus;
use crate::tensor::{Tensor, address};
use crate::{Element, Error, Result};

/// The outputs of a kernel by their index; `None` for one that it has not set.
pub(super) type Outputs = Vec<Option<Tensor>>;

/// A kernel that runs on this thread.
struct Capture {
    context: *mut TF_OpKernelContext,
    is_reference: bool,
    /// The inputs of a reference kernel that are copies in host memory.
    inputs: Vec<Option<Tensor>>,
    outputs: Outputs,
}

thread_local! {
    static CAPTURE: RefCell<Option<Capture>> = const { RefCell::new(None) };
}

/// Runs the author's kernel, and returns its result with the outputs that it has set.
pub(super) fn capture_author(
    context: ContextRef<'_>,
    run: impl FnOnce() -> Result<()>,
) -> Result<(Result<()>, Outputs)> {
    let capture = Capture::new(context, false, Vec::new())?;
    Ok(capture.run(run))
}

/// Runs a reference kernel on inputs in host memory, of which `inputs` has those that are copies. Returns its outputs, which are in host memory.
///
/// # Errors
/// Returns the error of the kernel.
pub(super) fn capture_reference(
    context: ContextRef<'_>,
    inputs: Vec<Option<Tensor>>,
    run: impl FnOnce() -> Result<()>,
) -> Result<Outputs> {
    let (computed, outputs) = Capture::new(context, true, inputs)?.run(run);
    computed.map(|()| outputs)
}

impl Capture {
    fn new(
        context: ContextRef<'_>,
        is_reference: bool,
        inputs: Vec<Option<Tensor>>,
    ) -> Result<Self> {
        let mut outputs = Vec::new();
        outputs.resize_with(count_outputs(context)?, || None);
        Ok(Self {
            context: context.as_ptr(),
            is_reference,
            inputs,
            outputs,
        })
    }

    fn run(self, run: impl FnOnce() -> Result<()>) -> (Result<()>, Outputs) {
        let outer = CAPTURE.replace(Some(self));
        // A panic must not leave the capture behind.
        let computed = guard::catch_panic("a kernel", run);
        let capture = CAPTURE.replace(outer);
        (computed, capture.map(|it| it.outputs).unwrap_or_default())
    }
}

/// Returns the number of inputs of a call.
pub(super) fn count_inputs(context: ContextRef<'_>) -> Result<usize> {
    // SAFETY: the context is live.
    let count = unsafe { TF_NumInputs.get()?(context.as_ptr()) };
    Ok(usize::try_from(count).unwrap_or(0))
}

/// Returns the number of outputs of a call.
pub(super) fn count_outputs(context: ContextRef<'_>) -> Result<usize> {
    // SAFETY: the context is live.
    let count = unsafe { TF_NumOutputs.get()?(context.as_ptr()) };
    Ok(usize::try_from(count).unwrap_or(0))
}

/// Returns the type of each output of a call.
pub(super) fn output_types(context: ContextRef<'_>) -> Result<Vec<TF_DataType>> {
    let (get, count) = (TF_ExpectedOutputDataType.get()?, count_outputs(context)?);
    // SAFETY: the context is live, and has as many outputs.
    let dtype = |index| unsafe { get(context.as_ptr(), index as c_int) };
    Ok((0..count).map(dtype).collect())
}

/// Copies a tensor of numbers to host memory.
///
/// # Safety
/// `tensor` has memory of `memory`.
pub(super) unsafe fn copy_to_host(
    context: ContextRef<'_>,
    tensor: &Tensor,
    memory: &dyn DeviceMemory,
) -> Result<Tensor> {
    let (dims, bytes) = (tensor.dims()?, tensor.bytes()?);
    let copy = context.allocate_temp(tensor.dtype()?, &dims, true)?;
    if copy.bytes()? != bytes {
        return Err(Error::internal("a copy of a tensor has another size"));
    }
    // Leaked after an error or a panic: the device may still write to it.
    let copy = ManuallyDrop::new(copy);
    // SAFETY: the caller guarantees the source. The copy is a new tensor in host memory of the same size.
    unsafe { memory.read(tensor.data()?, copy.data()?, bytes)? };
    Ok(ManuallyDrop::into_inner(copy))
}

/// Returns the bytes of a captured output in host memory.
///
/// # Safety
/// The tensor is in host memory, its elements are numbers, and nobody writes them while the slice is alive.
pub(super) unsafe fn bytes(tensor: &Tensor) -> Result<&[u8]> {
    let len = tensor.bytes()?;
    let start = address::<u8>(tensor.data()?, len)?;
    // SAFETY: the tensor has `len` bytes, which it owns; the rest is guaranteed by the caller. A kernel may leave elements
    // unwritten, in memory that was allocated and whose bytes TensorFlow reads too.
    Ok(unsafe { std::slice::from_raw_parts(start.as_ptr(), len) })
}

/// Returns the copy of an input for the reference kernel that runs in this call, if there is one. The capture owns it while the kernel runs.
pub(super) fn input_copy(context: *mut TF_OpKernelContext, index: c_int) -> Option<*mut TF_Tensor> {
    CAPTURE.with_borrow(|capture| {
        let capture = capture.as_ref().filter(|it| it.context == context)?;
        let copy = capture.inputs.get(usize::try_from(index).ok()?)?;
        copy.as_ref().map(Tensor::as_ptr)
    })
}

/// Returns true if a reference kernel runs in this call and has this output.
pub(super) fn is_output_of_reference(context: *mut TF_OpKernelContext, index: c_int) -> bool {
    let is_output = |it: &Capture| {
        let has_output = usize::try_from(index).is_ok_and(|index| index < it.outputs.len());
        it.is_reference && it.context == context && has_output
    };
    CAPTURE.with_borrow(|capture| capture.as_ref().is_some_and(is_output))
}

/// Stores a handle of `tensor`, which the kernel owns, as an output of the kernel that runs in this call.
///
/// # Safety
/// `context` is live, and `tensor` is null or live.
pub(super) unsafe fn record(
    context: *mut TF_OpKernelContext,
    index: c_int,
    tensor: *const TF_Tensor,
) {
    // SAFETY: the caller has the same obligations.
    store(context, index, || unsafe {
        another_handle(context, tensor)
    });
}

/// Stores a copy of `tensor` as an output of the reference kernel that runs in this call.
///
/// # Safety
/// `context` and `tensor` are live, and the tensor is in host memory.
pub(super) unsafe fn record_copy(
    context: *mut TF_OpKernelContext,
    index: c_int,
    tensor: *const TF_Tensor,
) {
    // SAFETY: the caller has the same obligations.
    store(context, index, || unsafe { copy(context, tensor) });
}

/// Stores an output of the kernel that runs in this call. One that cannot be stored counts as not set.
fn store(context: *mut TF_OpKernelContext, index: c_int, tensor: impl FnOnce() -> Result<Tensor>) {
    let is_captured = |it: &Option<Capture>| it.as_ref().is_some_and(|it| it.context == context);
    if !CAPTURE.with_borrow(is_captured) {
        return;
    }
    // Core's functions run before the capture is borrowed.
    let tensor = tensor().ok();
    let former = CAPTURE.with_borrow_mut(|capture| {
        let outputs = &mut capture.as_mut()?.outputs;
        let output = outputs.get_mut(usize::try_from(index).ok()?)?;
        std::mem::replace(output, tensor)
    });
    drop(former);
}

/// Returns a handle of its own for a tensor that somebody else owns.
///
/// # Safety
/// `context` is live, and `tensor` is null or live.
pub(super) unsafe fn another_handle(
    context: *mut TF_OpKernelContext,
    tensor: *const TF_Tensor,
) -> Result<Tensor> {
    // SAFETY: the caller guarantees that the tensor is null or live. It is not dropped here.
    let tensor = ManuallyDrop::new(unsafe { Tensor::from_raw(tensor.cast_mut())? });
    let status = CallStatus::of_thread();
    // SAFETY: the caller guarantees that the context is live.
    let context = unsafe { ContextRef::from_raw(context, &status) };
    // The bitcast replaces the buffer of this tensor.
    let mut handle = context.allocate_temp(u8::DTYPE, &[0], true)?;
    handle.share_buffer(&tensor, &tensor.dims()?)?;
    Ok(handle)
}

/// Copies a tensor that somebody else owns.
///
/// # Safety
/// `context` and `tensor` are live, and the tensor is in host memory.
unsafe fn copy(context: *mut TF_OpKernelContext, tensor: *const TF_Tensor) -> Result<Tensor> {
    // SAFETY: the caller guarantees that the tensor is live. It is not dropped here.
    let tensor = ManuallyDrop::new(unsafe { Tensor::from_raw(tensor.cast_mut())? });
    let status = CallStatus::of_thread();
    // SAFETY: the caller guarantees that the context is live, and that the tensor is in host memory.
    unsafe { copy_to_host(ContextRef::from_raw(context, &status), &tensor, &HostMemory) }
}
