//! The outputs that a kernel sets, captured while it runs.
//!
//! No release before 2.16 has a function that returns an output. So with `SP_COMPARE` the functions with which the SDK
//! sets outputs are replaced by those of this file, for the whole process. While a kernel runs that is compared, they
//! also store the output's tensor in [`CAPTURE`]. A kernel's parameters are bound to the thread that calls it, so the capture is the
//! thread's.
//!
//! The outputs of a reference kernel are temporary tensors in host memory: core gets those of the author's kernel only,
//! and no input becomes an output in place.

use std::cell::RefCell;
use std::ffi::c_int;
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::OnceLock;

use sp_abi::kernels::{
    TF_AllocateTemp, TF_ExpectedOutputDataType, TF_NumInputs, TF_NumOutputs, TF_OpKernelContext,
};
use sp_abi::tf_datatype::TF_DataType;
use sp_abi::tf_status::TF_Status;
use sp_abi::tf_tensor::{TF_AllocatorAttributes, TF_Tensor};
use sp_runtime::{Versioned, guard};

use crate::access::{DeviceMemory, HostMemory};
use crate::functions::{
    self, AllocateOutput, ForwardInputOrAllocateOutput, Functions, GetInput, SetOutput,
};
use crate::kernel::context::ContextRef;
use crate::kernel::status::CallStatus;
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
    // SAFETY: the caller guarantees the source. The copy is a new tensor in host memory of the same size.
    unsafe { memory.read(tensor.data()?, copy.data()?, bytes)? };
    Ok(copy)
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

/// The functions of core.
static OF_CORE: OnceLock<Functions> = OnceLock::new();

/// Replaces the functions of core with which kernels get inputs and set outputs.
///
/// A second host of the process finds them replaced.
pub(in crate::kernel) fn install() {
    let installed = match OF_CORE.get() {
        Some(_) => Ok(true),
        None => functions::replace(capturing),
    };
    if !installed.unwrap_or(true) {
        sp_runtime::report!(
            Error,
            "compares nothing: a kernel was called before SP_COMPARE was read"
        );
    }
}

/// Returns functions that capture outputs and otherwise call those of core.
fn capturing(of_core: Functions) -> Functions {
    let of_core = OF_CORE.get_or_init(|| of_core);
    Functions {
        get_input: get_input as GetInput,
        allocate_output: allocate_output as AllocateOutput,
        forward_input_or_allocate_output: forward_input_or_allocate_output
            as ForwardInputOrAllocateOutput,
        set_output: set_output as SetOutput,
        ..*of_core
    }
}

/// Returns true if a reference kernel runs in this call and has this output.
fn is_output_of_reference(context: *mut TF_OpKernelContext, index: c_int) -> bool {
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
unsafe fn record(context: *mut TF_OpKernelContext, index: c_int, tensor: *const TF_Tensor) {
    // SAFETY: the caller has the same obligations.
    store(context, index, || unsafe {
        another_handle(context, tensor)
    });
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
unsafe fn another_handle(
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

/// `TF_GetInput`: a reference kernel gets the copy of an input, if there is one.
unsafe extern "C" fn get_input(
    context: *mut TF_OpKernelContext,
    index: c_int,
    tensor: *mut *mut TF_Tensor,
    status: *mut TF_Status,
) {
    let copy = CAPTURE.with_borrow(|capture| {
        let capture = capture.as_ref().filter(|it| it.context == context)?;
        let copy = capture.inputs.get(usize::try_from(index).ok()?)?;
        copy.as_ref().map(Tensor::as_ptr)
    });
    if let Some(copy) = copy {
        // SAFETY: the context is that of the call, and the capture, which lives longer than the kernel runs, owns the copy.
        let handle = unsafe { another_handle(context, copy) };
        // A null is an error of the call.
        let handle = handle.map_or(ptr::null_mut(), Tensor::into_raw);
        // SAFETY: the caller passes the address of a pointer.
        return unsafe { tensor.write(handle) };
    }
    if let Some(of_core) = OF_CORE.get() {
        // SAFETY: the caller has the obligations of core's function.
        unsafe { (of_core.get_input)(context, index, tensor, status) }
    }
}

/// `TF_AllocateOutput`: a reference kernel gets a temporary tensor.
unsafe extern "C" fn allocate_output(
    context: *mut TF_OpKernelContext,
    index: c_int,
    dtype: TF_DataType,
    dims: *const i64,
    rank: c_int,
    bytes: usize,
    status: *mut TF_Status,
) -> *mut TF_Tensor {
    let tensor = match (is_output_of_reference(context, index), OF_CORE.get()) {
        // SAFETY: the caller has the obligations of core's function, and the index is that of an output.
        (true, _) => unsafe { allocate_on_host(context, index, dims, rank, status) },
        // SAFETY: the caller has the obligations of core's function.
        (false, Some(of_core)) => unsafe {
            (of_core.allocate_output)(context, index, dtype, dims, rank, bytes, status)
        },
        (false, None) => ptr::null_mut(),
    };
    // SAFETY: the context is that of the call, and core's functions return a live tensor or null.
    unsafe { record(context, index, tensor) };
    tensor
}

/// Allocates a temporary tensor in host memory, of the type of the output.
///
/// # Safety
/// - Context and status are live, and the context has this output.
/// - `dims` has `rank` items.
unsafe fn allocate_on_host(
    context: *mut TF_OpKernelContext,
    index: c_int,
    dims: *const i64,
    rank: c_int,
    status: *mut TF_Status,
) -> *mut TF_Tensor {
    let (Ok(get_type), Ok(allocate)) = (TF_ExpectedOutputDataType.get(), TF_AllocateTemp.get())
    else {
        return ptr::null_mut();
    };
    let mut attributes = TF_AllocatorAttributes {
        struct_size: TF_AllocatorAttributes::STRUCT_SIZE,
        on_host: 1,
    };
    // SAFETY: the caller guarantees the context, the index, the dims, which core only reads, and the status.
    unsafe {
        let dtype = get_type(context, index);
        let (dims, attributes) = (dims.cast_mut(), &raw mut attributes);
        allocate(context, dtype, dims, rank, attributes, status)
    }
}

/// `TF_ForwardInputOrAllocateOutput`: a reference kernel gets a temporary tensor, since the author's kernel reads the
/// inputs later.
unsafe extern "C" fn forward_input_or_allocate_output(
    context: *mut TF_OpKernelContext,
    candidates: *const c_int,
    count: c_int,
    index: c_int,
    dims: *const i64,
    rank: c_int,
    forwarded: *mut c_int,
    status: *mut TF_Status,
) -> *mut TF_Tensor {
    let tensor = match (is_output_of_reference(context, index), OF_CORE.get()) {
        // SAFETY: the caller has the obligations of core's function, and the index is that of an output.
        (true, _) => unsafe {
            forwarded.write(-1);
            allocate_on_host(context, index, dims, rank, status)
        },
        // SAFETY: the caller has the obligations of core's function.
        (false, Some(of_core)) => unsafe {
            (of_core.forward_input_or_allocate_output)(
                context, candidates, count, index, dims, rank, forwarded, status,
            )
        },
        (false, None) => ptr::null_mut(),
    };
    // SAFETY: the context is that of the call, and core's functions return a live tensor or null.
    unsafe { record(context, index, tensor) };
    tensor
}

/// `TF_SetOutput`: the output of a reference kernel is copied, since the author's kernel may write in an input's buffer.
unsafe extern "C" fn set_output(
    context: *mut TF_OpKernelContext,
    index: c_int,
    tensor: *const TF_Tensor,
    status: *mut TF_Status,
) {
    if is_output_of_reference(context, index) {
        // SAFETY: the context is that of the call, and the caller passes a live tensor. The inputs and outputs of a reference
        // kernel are in host memory.
        return store(context, index, || unsafe { copy(context, tensor) });
    }
    if let Some(of_core) = OF_CORE.get() {
        // SAFETY: the caller has the obligations of core's function.
        unsafe { (of_core.set_output)(context, index, tensor, status) };
        // SAFETY: the context is that of the call, and the caller passes a live tensor.
        unsafe { record(context, index, tensor) };
    }
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
