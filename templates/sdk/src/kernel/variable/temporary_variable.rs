//! Reference variables that exist for one step, by name.

use std::ffi::c_int;
use std::slice;

use sp_abi::c_api::TF_StringView;
use sp_abi::kernels::TF_OpKernelContext;
use sp_abi::kernels_experimental::{TF_DestroyTemporaryVariable, TF_TemporaryVariable};
use sp_abi::tf_datatype::TF_DataType;
use sp_abi::tf_tensor::{TF_Tensor, TF_TensorBitcastFrom};
use sp_runtime::{RawStatus, guard};

use super::reference::RefOut;
use super::space::Space;
use super::{Variable, VariableKind};
use crate::dims::Dims;
use crate::kernel::call::context::ContextRef;
use crate::kernel::parameter::Out;
use crate::limit::c_index;
use crate::small_shape::check_shape;
use crate::status::{CallStatus, with_status};
use crate::tensor::Tensor;
use crate::{Element, Error, Result};

impl<'c, T: Element, S: Space> RefOut<'c, T, S> {
    /// Creates a variable of this name and shape, which exists until [`Variable::take`], and makes it the op's first
    /// output. Its elements are uninitialized.
    ///
    /// # Errors
    /// Returns an error if no tensor has this shape, if the step has a variable of this name, if there is not enough memory,
    /// or if this is not the op's first output.
    pub fn create_temporary(self, dims: &[usize], name: &str) -> Result<()> {
        check_shape(dims)?;
        let (create, rank, dims) = (
            TF_TemporaryVariable.get()?,
            c_index(dims.len())?,
            Dims::from(dims),
        );
        let (mut name, allocate) = (view(name), Some(allocate as _));
        let (dims, name) = (dims.as_ptr(), &raw mut name);
        self.target.set_first_with(|call| {
            let context = call.context().as_ptr();
            // SAFETY: context, name and status are live, and `dims` has `rank` items.
            with_status(|status| unsafe {
                create(context, T::DTYPE, dims, rank, name, allocate, status)
            })
        })
    }
}

impl<'c, T: Element, S: Space> Variable<'c, T, S> {
    /// Destroys a temporary variable, and makes its last value the op's first output.
    ///
    /// # Errors
    /// Returns an error if the step has no variable of this name, or if `output` is not the op's first output.
    pub fn take<P>(self, output: Out<'c, T, P>, name: &str) -> Result<()> {
        self.require_kind(VariableKind::Reference)?;
        let destroy = TF_DestroyTemporaryVariable.get()?;
        let (input, mut name) = (c_index(self.source.first)?, view(name));
        output.target.set_first_with(|call| {
            let (context, name) = (call.context().as_ptr(), &raw mut name);
            // SAFETY: context, name and status are live, and core checks the input.
            with_status(|status| unsafe { destroy(context, input, name, status) })
        })
    }
}

fn view(name: &str) -> TF_StringView {
    TF_StringView {
        data: name.as_ptr().cast(),
        len: name.len(),
    }
}

/// Allocates the variable's memory: `tensor` becomes a new tensor.
unsafe extern "C" fn allocate(
    context: *mut TF_OpKernelContext,
    tensor: *mut TF_Tensor,
    dtype: TF_DataType,
    dims: *const i64,
    rank: c_int,
    status: *mut RawStatus,
) {
    let body = || {
        let call_status = CallStatus::of_thread();
        // SAFETY: core passes the context of the call, and `rank` dimensions.
        let (context, dims) = unsafe {
            let context = ContextRef::from_raw(context, &call_status);
            // Of a scalar the pointer may be null.
            match usize::try_from(rank).unwrap_or(0) {
                0 => (context, &[][..]),
                len => (context, slice::from_raw_parts(dims, len)),
            }
        };
        let sizes: std::result::Result<Vec<_>, _> =
            dims.iter().map(|dim| usize::try_from(*dim)).collect();
        let sizes = sizes.map_err(|_| Error::invalid_argument(format!("a shape of {dims:?}")))?;
        let fresh = context.allocate_temp(dtype, &sizes, false)?;
        // SAFETY: core passes a live tensor for the result.
        unsafe { bitcast(&fresh, dtype, tensor, dims) }
    };
    // SAFETY: core passes a live status of this thread.
    unsafe { guard::run_with_status("plugin_allocator", status, body) }
}

/// Makes `to` a view of the memory of `from`.
///
/// # Safety
/// - `to` is a live tensor that no other code uses.
unsafe fn bitcast(
    from: &Tensor,
    dtype: TF_DataType,
    to: *mut TF_Tensor,
    dims: &[i64],
) -> Result<()> {
    let (bitcast, rank) = (TF_TensorBitcastFrom.get()?, c_index(dims.len())?);
    // SAFETY: `from` and the status are live, `to` is by the caller's guarantee, and `dims` has `rank` items.
    with_status(|status| unsafe { bitcast(from.as_ptr(), dtype, to, dims.as_ptr(), rank, status) })
}
