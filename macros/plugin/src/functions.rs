//! The C functions that every call of a kernel uses for its tensors.

use std::ffi::{c_int, c_void};
use std::mem;
use std::sync::OnceLock;

use sp_abi::kernels::{TF_AllocateOutput, TF_GetInput, TF_OpKernelContext};
use sp_abi::tf_datatype::TF_DataType;
use sp_abi::tf_status::TF_Status;
use sp_abi::tf_tensor::{TF_DeleteTensor, TF_Dim, TF_NumDims, TF_Tensor, TF_TensorData};

use crate::Result;

/// The functions, which all supported releases have. They are in one cache line: between two calls of kernels TensorFlow
/// runs so much code that a call finds little of what it reads in the first cache.
#[repr(align(64))]
pub(crate) struct Functions {
    pub get_input: GetInput,
    pub allocate_output: AllocateOutput,
    pub num_dims: unsafe extern "C" fn(*const TF_Tensor) -> c_int,
    pub dim: unsafe extern "C" fn(*const TF_Tensor, c_int) -> i64,
    pub data: unsafe extern "C" fn(*const TF_Tensor) -> *mut c_void,
    pub delete: unsafe extern "C" fn(*mut TF_Tensor),
}

type GetInput =
    unsafe extern "C" fn(*mut TF_OpKernelContext, c_int, *mut *mut TF_Tensor, *mut TF_Status);
type AllocateOutput = unsafe extern "C" fn(
    *mut TF_OpKernelContext,
    c_int,
    TF_DataType,
    *const i64,
    c_int,
    usize,
    *mut TF_Status,
) -> *mut TF_Tensor;

/// `TF_AllocateOutput` as the sp-abi of any release declares it.
trait WithConstDims {
    /// Returns the function, whose dimensions are const from 2.7 on.
    fn with_const_dims(self) -> AllocateOutput;
}

impl WithConstDims for AllocateOutput {
    fn with_const_dims(self) -> AllocateOutput {
        self
    }
}

impl WithConstDims
    for unsafe extern "C" fn(
        *mut TF_OpKernelContext,
        c_int,
        TF_DataType,
        *mut i64,
        c_int,
        usize,
        *mut TF_Status,
    ) -> *mut TF_Tensor
{
    fn with_const_dims(self) -> AllocateOutput {
        // SAFETY: the types differ in `*mut i64` and `*const i64` only, which have one ABI. TensorFlow reads the dimensions.
        unsafe { mem::transmute::<Self, AllocateOutput>(self) }
    }
}

static FUNCTIONS: OnceLock<Functions> = OnceLock::new();

/// Returns the functions.
///
/// # Errors
/// Returns an error if the process has no TensorFlow.
#[inline]
pub(crate) fn functions() -> Result<&'static Functions> {
    FUNCTIONS.get().map_or_else(find, Ok)
}

#[cold]
fn find() -> Result<&'static Functions> {
    let functions = Functions {
        get_input: TF_GetInput.get()?,
        allocate_output: TF_AllocateOutput.get()?.with_const_dims(),
        num_dims: TF_NumDims.get()?,
        dim: TF_Dim.get()?,
        data: TF_TensorData.get()?,
        delete: TF_DeleteTensor.get()?,
    };
    Ok(FUNCTIONS.get_or_init(|| functions))
}
