//! The C functions that every call of a kernel uses for its tensors.

use std::ffi::{c_int, c_void};
use std::mem;
use std::sync::OnceLock;

use sp_abi::kernels::{
    TF_AllocateOutput, TF_ForwardInputOrAllocateOutput, TF_GetInput, TF_OpKernelContext,
    TF_SetOutput,
};
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
    pub num_dims: unsafe extern "C-unwind" fn(*const TF_Tensor) -> c_int,
    pub dim: unsafe extern "C-unwind" fn(*const TF_Tensor, c_int) -> i64,
    pub data: unsafe extern "C-unwind" fn(*const TF_Tensor) -> *mut c_void,
    pub delete: unsafe extern "C-unwind" fn(*mut TF_Tensor),
    pub forward_input_or_allocate_output: ForwardInputOrAllocateOutput,
    pub set_output: SetOutput,
}

pub(crate) type GetInput = unsafe extern "C-unwind" fn(
    *mut TF_OpKernelContext,
    c_int,
    *mut *mut TF_Tensor,
    *mut TF_Status,
);
pub(crate) type AllocateOutput = unsafe extern "C-unwind" fn(
    *mut TF_OpKernelContext,
    c_int,
    TF_DataType,
    *const i64,
    c_int,
    usize,
    *mut TF_Status,
) -> *mut TF_Tensor;

pub(crate) type ForwardInputOrAllocateOutput = unsafe extern "C-unwind" fn(
    *mut TF_OpKernelContext,
    *const c_int,
    c_int,
    c_int,
    *const i64,
    c_int,
    *mut c_int,
    *mut TF_Status,
) -> *mut TF_Tensor;
pub(crate) type SetOutput =
    unsafe extern "C-unwind" fn(*mut TF_OpKernelContext, c_int, *const TF_Tensor, *mut TF_Status);

/// A function as the sp-abi of any release declares it.
trait WithConstParameters {
    /// The function as the newest releases declare it.
    type Newest;

    /// Returns the function, whose dimensions are const from 2.7 on, and whose candidates in later releases.
    fn with_const_parameters(self) -> Self::Newest;
}

macro_rules! newest {
    ($($ty:ty),*) => {$(
        impl WithConstParameters for $ty {
            type Newest = Self;

            fn with_const_parameters(self) -> Self {
                self
            }
        }
    )*};
}

newest!(AllocateOutput, ForwardInputOrAllocateOutput);

macro_rules! older {
    ($($newest:ty: ($($parameter:ty),*);)*) => {$(
        impl WithConstParameters for unsafe extern "C-unwind" fn($($parameter),*) -> *mut TF_Tensor {
            type Newest = $newest;

            fn with_const_parameters(self) -> $newest {
                // SAFETY: the types differ in `*mut` and `*const` of lists only, which have one ABI. TensorFlow reads the lists.
                unsafe { mem::transmute::<Self, $newest>(self) }
            }
        }
    )*};
}

older! {
    AllocateOutput:
        (*mut TF_OpKernelContext, c_int, TF_DataType, *mut i64, c_int, usize, *mut TF_Status);
    ForwardInputOrAllocateOutput:
        (*mut TF_OpKernelContext, *mut c_int, c_int, c_int, *mut i64, c_int, *mut c_int, *mut TF_Status);
    ForwardInputOrAllocateOutput:
        (*mut TF_OpKernelContext, *mut c_int, c_int, c_int, *const i64, c_int, *mut c_int, *mut TF_Status);
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

/// Looks the functions up, and stores what `replace` returns for them. Returns false if they were looked up before: then calls use
/// those of TensorFlow.
pub(crate) fn replace(replace: impl FnOnce(Functions) -> Functions) -> Result<bool> {
    Ok(FUNCTIONS.set(replace(look_up()?)).is_ok())
}

#[cold]
fn find() -> Result<&'static Functions> {
    let functions = look_up()?;
    Ok(FUNCTIONS.get_or_init(|| functions))
}

fn look_up() -> Result<Functions> {
    Ok(Functions {
        get_input: TF_GetInput.get()?,
        allocate_output: TF_AllocateOutput.get()?.with_const_parameters(),
        num_dims: TF_NumDims.get()?,
        dim: TF_Dim.get()?,
        data: TF_TensorData.get()?,
        delete: TF_DeleteTensor.get()?,
        forward_input_or_allocate_output: TF_ForwardInputOrAllocateOutput
            .get()?
            .with_const_parameters(),
        set_output: TF_SetOutput.get()?,
    })
}
