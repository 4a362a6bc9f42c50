//! Inputs and outputs of a running kernel.

use std::ffi::c_int;
use std::sync::Arc;

use super::argument::{Arg, List, Out};
use super::context::{Ctx, KernelContext};
use super::failure::{StatusResult, internal, invalid};
use super::functions::functions;
use super::tensor::{TensorHandle, View, elements};
use crate::dtype::DType;
use crate::memory::HostMemory;
use crate::objects;
use crate::tensor_buffer::TensorBuffer;
use crate::{Error, StatusCode};

impl KernelContext {
    pub(super) fn input(&self, index: c_int) -> StatusResult<View> {
        let state = self.state();
        let at = Self::index("input", index, state.input_views.len())?;
        let gone = || internal(format!("input {index} was forwarded already"));
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
            return Err(invalid(format!(
                "a tensor of shape {dims:?} has no valid size"
            )));
        }
        view.buffer = match on_host {
            // TensorFlow creates the strings of a tensor, all empty.
            true if dtype == DType::STRING => Arc::new(TensorBuffer::from_host_memory(
                HostMemory::from_bytes(&vec![0; len]),
            )),
            true => Arc::new(TensorBuffer::host(len)),
            false => {
                let code = |error: &Error| error.code().unwrap_or(StatusCode::RESOURCE_EXHAUSTED);
                let buffer = TensorBuffer::allocate_on(&self.executor, len);
                Arc::new(buffer.map_err(|error| (code(&error), error.to_string()))?)
            }
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
        let none = || format!("output {index} is not allocated");
        let view = self.state().output_views[at].clone();
        view.ok_or_else(|| (StatusCode::FAILED_PRECONDITION, none()))
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

/// `TF_AllocatorAttributes`. The struct of an older plugin may be shorter.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct AllocatorAttributes {
    struct_size: usize,
    on_host: u8,
}

functions! {
    fn TF_GetInput(ctx: Ctx, index: c_int, tensor: Out<*mut TensorHandle>; status) {
        let view = ctx.live(CALL)?.input(index);
        let view = view.inspect_err(|_| tensor.set(std::ptr::null_mut()))?;
        tensor.set(view.into_plugin_handle());
        Ok(())
    }

    fn TF_SetOutput(ctx: Ctx, index: c_int, tensor: Arg<TensorHandle>; status) {
        let (ctx, tensor) = (ctx.live(CALL)?, tensor.live(CALL)?);
        let view = tensor.view().clone();
        Ok(ctx.set_output(index, view)?)
    }

    fn TF_GetMutableOutput(ctx: Ctx, index: c_int; status) -> *mut TensorHandle {
        Ok(ctx.live(CALL)?.mutable_output(index)?.into_plugin_handle())
    }

    // The data type and the length are ignored, as in TensorFlow.
    fn TF_AllocateOutput(
        ctx: Ctx, index: c_int, _dtype: u32, dims: List<i64>, rank: c_int, _len: usize; status
    ) -> *mut TensorHandle {
        Ok(ctx.live(CALL)?.allocate_output(index, dims.values(rank))?.into_plugin_handle())
    }

    fn TF_ForwardInputOrAllocateOutput(
        ctx: Ctx, candidates: List<c_int>, count: c_int, index: c_int, dims: List<i64>, rank: c_int,
        forwarded: Out<c_int>; status
    ) -> *mut TensorHandle {
        let (ctx, candidates) = (ctx.live(CALL)?, candidates.values(count));
        let output = ctx.forward_or_allocate(candidates, index, dims.values(rank));
        forwarded.set(output.as_ref().map_or(-1, |(_, input)| *input));
        Ok(output?.0.into_plugin_handle())
    }

    fn TF_AllocateTemp(
        ctx: Ctx, dtype: u32, dims: List<i64>, rank: c_int, attributes: List<AllocatorAttributes>; status
    ) -> *mut TensorHandle {
        let (ctx, attributes) = (ctx.live(CALL)?, attributes.first());
        if attributes.is_none() {
            objects::record_fault(format!("{CALL} without allocator attributes: TensorFlow reads them"));
        }
        let on_host = attributes.is_some_and(|it| it.struct_size > 8 && it.on_host != 0);
        Ok(ctx.allocate_tensor(DType(dtype), dims.values(rank), on_host)?.into_plugin_handle())
    }
}
