//! The functions of core with which the SDK gets inputs and sets outputs, replaced for the whole process.
//!
//! While a kernel runs that is compared, its outputs are captured. Those of a reference kernel are temporary tensors in host
//! memory: core gets those of the author's kernel only, and no input becomes an output in place.

use std::ffi::c_int;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use sp_abi::kernels::{TF_AllocateTemp, TF_ExpectedOutputDataType, TF_OpKernelContext};
use sp_abi::tf_datatype::TF_DataType;
use sp_abi::tf_status::TF_Status;
use sp_abi::tf_tensor::{TF_AllocatorAttributes, TF_Tensor};
use sp_runtime::Versioned;

use super::capture;
use crate::functions::{
    self, AllocateOutput, ForwardInputOrAllocateOutput, Functions, GetInput, SetOutput,
};
use crate::tensor::Tensor;

/// The functions of core.
static OF_CORE: OnceLock<Functions> = OnceLock::new();

/// True if the functions cannot be replaced any more.
static IS_IMPOSSIBLE: AtomicBool = AtomicBool::new(false);

/// Returns true if no kernel can be compared, since its outputs would not be captured.
pub(super) fn is_impossible() -> bool {
    IS_IMPOSSIBLE.load(Ordering::Relaxed)
}

/// Replaces the functions of core with which kernels get inputs and set outputs.
///
/// A second host of the process finds them replaced.
pub(in crate::kernel) fn install() {
    let installed = match OF_CORE.get() {
        Some(_) => Ok(true),
        None => functions::replace(capturing),
    };
    if !installed.unwrap_or(true) {
        IS_IMPOSSIBLE.store(true, Ordering::Relaxed);
        sp_runtime::report!(
            Warn,
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

/// `TF_GetInput`: a reference kernel gets the copy of an input, if there is one.
unsafe extern "C-unwind" fn get_input(
    context: *mut TF_OpKernelContext,
    index: c_int,
    tensor: *mut *mut TF_Tensor,
    status: *mut TF_Status,
) {
    if let Some(copy) = capture::input_copy(context, index) {
        // SAFETY: the context is that of the call, and the capture, which lives longer than the kernel runs, owns the copy.
        let handle = unsafe { capture::another_handle(context, copy) };
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
unsafe extern "C-unwind" fn allocate_output(
    context: *mut TF_OpKernelContext,
    index: c_int,
    dtype: TF_DataType,
    dims: *const i64,
    rank: c_int,
    bytes: usize,
    status: *mut TF_Status,
) -> *mut TF_Tensor {
    let tensor = match (
        capture::is_output_of_reference(context, index),
        OF_CORE.get(),
    ) {
        // SAFETY: the caller has the obligations of core's function, and the index is that of an output.
        (true, _) => unsafe { allocate_on_host(context, index, dims, rank, status) },
        // SAFETY: the caller has the obligations of core's function.
        (false, Some(of_core)) => unsafe {
            (of_core.allocate_output)(context, index, dtype, dims, rank, bytes, status)
        },
        (false, None) => ptr::null_mut(),
    };
    // SAFETY: the context is that of the call, and core's functions return a live tensor or null.
    unsafe { capture::record(context, index, tensor) };
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
unsafe extern "C-unwind" fn forward_input_or_allocate_output(
    context: *mut TF_OpKernelContext,
    candidates: *const c_int,
    count: c_int,
    index: c_int,
    dims: *const i64,
    rank: c_int,
    forwarded: *mut c_int,
    status: *mut TF_Status,
) -> *mut TF_Tensor {
    let tensor = match (
        capture::is_output_of_reference(context, index),
        OF_CORE.get(),
    ) {
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
    unsafe { capture::record(context, index, tensor) };
    tensor
}

/// `TF_SetOutput`: the output of a reference kernel is copied, since the author's kernel may write in an input's buffer.
unsafe extern "C-unwind" fn set_output(
    context: *mut TF_OpKernelContext,
    index: c_int,
    tensor: *const TF_Tensor,
    status: *mut TF_Status,
) {
    if capture::is_output_of_reference(context, index) {
        // SAFETY: the context is that of the call, and the caller passes a live tensor. The inputs and outputs of a reference
        // kernel are in host memory.
        return unsafe { capture::record_copy(context, index, tensor) };
    }
    if let Some(of_core) = OF_CORE.get() {
        // SAFETY: the caller has the obligations of core's function.
        unsafe { (of_core.set_output)(context, index, tensor, status) };
        // SAFETY: the context is that of the call, and the caller passes a live tensor.
        unsafe { capture::record(context, index, tensor) };
    }
}
