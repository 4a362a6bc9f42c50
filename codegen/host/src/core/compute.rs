//! Inputs and outputs of a running kernel.

use std::ffi::c_int;
use std::sync::Arc;

use super::argument::{Arg, List, Out};
use super::context::{Ctx, KernelContext};
use super::functions::functions;
use super::status::report;
use super::tensor::{TensorHandle, View, elements};
use crate::StatusCode;
use crate::dtype::DType;
use crate::memory::HostMemory;
use crate::objects;
use crate::status_object::StatusObject;
use crate::tensor_buffer::TensorBuffer;

type StatusResult<T> = Result<T, (StatusCode, String)>;

impl KernelContext {
    pub(super) fn input(&self, index: c_int) -> StatusResult<View> {
        let state = self.state();
        let at = Self::index("input", index, state.input_views.len())?;
        let gone = || {
            (
                StatusCode::INTERNAL,
                format!("input {index} was forwarded already"),
            )
        };
        state.input_views[at].clone().ok_or_else(gone)
    }

    /// Allocates memory of the kind that the kernel's registration states.
    pub(super) fn allocate_tensor(
        &self,
        dtype: DType,
        dims: &[i64],
        on_host: bool,
    ) -> StatusResult<View> {
        let mut view = View {
            dtype,
            dims: dims.to_vec(),
            buffer: Arc::new(TensorBuffer::empty()),
        };
        let len = view.bytes();
        if isize::try_from(len).is_err() {
            let text = format!("a tensor of shape {dims:?} has no valid size");
            return Err((StatusCode::INVALID_ARGUMENT, text));
        }
        view.buffer = match on_host {
            // TensorFlow creates the strings of a tensor, all empty.
            true if dtype == DType::STRING => Arc::new(TensorBuffer::from_host_memory(
                HostMemory::from_bytes(&vec![0; len]),
            )),
            true => Arc::new(TensorBuffer::host(len)),
            false => Arc::new(
                TensorBuffer::allocate_on(&self.executor, len).map_err(|error| {
                    (
                        error.code().unwrap_or(StatusCode::RESOURCE_EXHAUSTED),
                        error.to_string(),
                    )
                })?,
            ),
        };
        Ok(view)
    }

    fn allocate_output(&self, index: c_int, dims: &[i64]) -> StatusResult<View> {
        let at = Self::index("output", index, self.outputs.len())?;
        let output = &self.outputs[at];
        let view = self.allocate_tensor(output.dtype, dims, output.on_host)?;
        self.state().output_views[at] = Some(view.clone());
        Ok(view)
    }

    pub(super) fn set_output(&self, index: c_int, view: View) -> StatusResult<()> {
        let at = Self::index("output", index, self.outputs.len())?;
        self.state().output_views[at] = Some(view);
        Ok(())
    }

    fn mutable_output(&self, index: c_int) -> StatusResult<View> {
        let at = Self::index("output", index, self.outputs.len())?;
        let none = || {
            (
                StatusCode::FAILED_PRECONDITION,
                format!("output {index} is not allocated"),
            )
        };
        self.state().output_views[at].clone().ok_or_else(none)
    }

    /// Returns the input `index` as output `output`, or `None` if its buffer has another user, is in another
    /// kind of memory, or has another type or number of elements.
    fn forward(&self, index: c_int, output: usize, dims: &[i64]) -> Option<View> {
        let at = usize::try_from(index)
            .ok()
            .filter(|at| *at < self.inputs.len())?;
        let (input, wanted) = (&self.inputs[at], &self.outputs[output]);
        let mut state = self.state();
        let alone = state.input_views[at].as_ref().is_some_and(|view| {
            Arc::strong_count(&view.buffer) == 1 && Some(view.elements()) == elements(dims)
        });
        if !alone || input.on_host != wanted.on_host || input.dtype != wanted.dtype {
            return None;
        }
        // As in core, the input can still be fetched.
        let mut view = state.input_views[at].clone()?;
        view.dims = dims.to_vec();
        state.output_views[output] = Some(view.clone());
        Some(view)
    }

    fn forward_or_allocate(
        &self,
        candidates: &[c_int],
        index: c_int,
        dims: &[i64],
    ) -> StatusResult<(View, c_int)> {
        let at = Self::index("output", index, self.outputs.len())?;
        for &candidate in candidates {
            if let Some(view) = self.forward(candidate, at, dims) {
                return Ok((view, candidate));
            }
        }
        Ok((self.allocate_output(index, dims)?, -1))
    }
}

/// Returns a handle for the plugin, or null and sets the status.
fn into_handle_or_null(
    call: &str,
    output_views: StatusResult<View>,
    status: &Arg<StatusObject>,
) -> *mut TensorHandle {
    let (handle, result) = match output_views {
        Ok(view) => (view.into_plugin_handle(), Ok(())),
        Err(error) => (std::ptr::null_mut(), Err(error)),
    };
    report(status, call, result);
    handle
}

/// `TF_AllocatorAttributes`. The struct of an older plugin may be shorter.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct AllocatorAttributes {
    struct_size: usize,
    on_host: u8,
}

functions! {
    fn TF_GetInput(ctx: Ctx, index: c_int, tensor: Out<*mut TensorHandle>, status: Arg<StatusObject>) {
        let Some(ctx) = ctx.get(CALL) else { return };
        tensor.set(into_handle_or_null(CALL, ctx.input(index), &status));
    }

    fn TF_SetOutput(ctx: Ctx, index: c_int, tensor: Arg<TensorHandle>, status: Arg<StatusObject>) {
        let (Some(ctx), Some(tensor)) = (ctx.get(CALL), tensor.get(CALL)) else { return };
        let view = tensor.view().clone();
        report(&status, CALL, ctx.set_output(index, view));
    }

    fn TF_GetMutableOutput(ctx: Ctx, index: c_int, status: Arg<StatusObject>) -> *mut TensorHandle {
        let Some(ctx) = ctx.get(CALL) else { return std::ptr::null_mut() };
        into_handle_or_null(CALL, ctx.mutable_output(index), &status)
    }

    // The data type and the length are ignored, as in TensorFlow.
    fn TF_AllocateOutput(
        ctx: Ctx,
        index: c_int,
        _dtype: u32,
        dims: List<i64>,
        rank: c_int,
        _len: usize,
        status: Arg<StatusObject>,
    ) -> *mut TensorHandle {
        let Some(ctx) = ctx.get(CALL) else { return std::ptr::null_mut() };
        into_handle_or_null(CALL, ctx.allocate_output(index, dims.values(rank)), &status)
    }

    fn TF_ForwardInputOrAllocateOutput(
        ctx: Ctx,
        candidates: List<c_int>,
        count: c_int,
        index: c_int,
        dims: List<i64>,
        rank: c_int,
        forwarded: Out<c_int>,
        status: Arg<StatusObject>,
    ) -> *mut TensorHandle {
        let Some(ctx) = ctx.get(CALL) else { return std::ptr::null_mut() };
        let candidates = candidates.values(count);
        let output_views = ctx.forward_or_allocate(candidates, index, dims.values(rank));
        forwarded.set(output_views.as_ref().map_or(-1, |(_, input)| *input));
        into_handle_or_null(CALL, output_views.map(|(view, _)| view), &status)
    }

    fn TF_AllocateTemp(
        ctx: Ctx,
        dtype: u32,
        dims: List<i64>,
        rank: c_int,
        attributes: List<AllocatorAttributes>,
        status: Arg<StatusObject>,
    ) -> *mut TensorHandle {
        let Some(ctx) = ctx.get(CALL) else { return std::ptr::null_mut() };
        let attributes = attributes.first();
        if attributes.is_none() {
            objects::record_fault(format!("{CALL} without allocator attributes: TensorFlow reads them"));
        }
        let on_host = attributes.is_some_and(|it| it.struct_size > 8 && it.on_host != 0);
        into_handle_or_null(CALL, ctx.allocate_tensor(DType(dtype), dims.values(rank), on_host), &status)
    }
}
