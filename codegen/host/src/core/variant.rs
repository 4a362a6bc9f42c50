//! Variants: lists of tensors, as core's TensorList. A variant tensor has the number of its list.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::context::{Ctx, KernelContext};
use super::failure::{CallError, StatusResult, internal, invalid};
use super::functions::functions;
use super::tensor::{TensorHandle, View};
use super::variable::Copy;
use crate::dtype::DType;
use crate::lock;
use crate::memory::HostMemory;
use crate::objects::{self, BorrowedObject};
use crate::quirks::Quirk;
use crate::tensor_buffer::TensorBuffer;

type Add = unsafe extern "C" fn(
    *mut KernelContext,
    *mut TensorHandle,
    *mut TensorHandle,
    *mut TensorHandle,
);

static NEXT: AtomicU64 = AtomicU64::new(1);
static ALL: Mutex<BTreeMap<u64, Vec<View>>> = Mutex::new(BTreeMap::new());

/// Stores a list, which lives as long as the process, and returns the bytes of its variant.
pub(crate) fn store_list(list: Vec<View>) -> [u8; 8] {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    lock(&ALL).insert(number, list);
    number.to_le_bytes()
}

/// Returns the list of a variant.
pub(crate) fn find_list(variant: &[u8]) -> Option<Vec<View>> {
    let number = u64::from_le_bytes(variant.get(..8)?.try_into().ok()?);
    lock(&ALL).get(&number).cloned()
}

fn view(list: Vec<View>) -> View {
    let memory = HostMemory::from_bytes(&store_list(list));
    View {
        dtype: DType::VARIANT,
        dims: vec![],
        buffer: Arc::new(TensorBuffer::from_host_memory(memory)),
    }
}

impl KernelContext {
    fn list(&self, input: i32) -> StatusResult<Vec<View>> {
        let view = self.input(input)?;
        let found = match view.dtype {
            DType::VARIANT => find_list(view.buffer.host_bytes()),
            _ => None,
        };
        let none = || {
            internal(format!(
                "input {input} is no variant with a list of tensors"
            ))
        };
        found.ok_or_else(none)
    }

    /// Calls a function of the plugin with tensors that it deletes, or that it borrows, as the release has it.
    fn lend<const N: usize>(
        &self,
        call: &str,
        views: [View; N],
        function: impl FnOnce([*mut TensorHandle; N]),
    ) {
        if !self.quirks.has(Quirk::BorrowsVariantTensors) {
            return function(views.map(View::into_plugin_handle));
        }
        let handles = views.map(View::into_borrowed_handle);
        function(handles.each_ref().map(BorrowedObject::address));
        if handles
            .map(BorrowedObject::take)
            .iter()
            .any(Option::is_none)
        {
            objects::record_fault(format!(
                "{call}: the plugin deleted a tensor that it borrows"
            ));
        }
    }

    /// Sets the output to the list of what `write` writes for each tensor.
    fn map_list(&self, list: &[View], write: impl Fn(usize, View)) -> StatusResult<()> {
        let mut mapped = vec![];
        for (index, old) in list.iter().enumerate() {
            let new = self.allocate_tensor(old.dtype, &old.dims, false)?;
            write(index, new.clone());
            mapped.push(new);
        }
        self.set_output(0, view(mapped))
    }

    fn output_list(&self) -> StatusResult<Vec<View>> {
        let output = self.state().output_views[0].clone();
        let list = output.and_then(|view| find_list(view.buffer.host_bytes()));
        list.ok_or_else(|| internal("the sum is no list"))
    }

    fn failed(&self) -> StatusResult<()> {
        self.state().failure.clone().map_or(Ok(()), Err)
    }
}

functions! {
    fn TF_ZerosLikeVariant(ctx: Ctx, zeros_like: Option<Copy>; status) {
        let found = ctx.live(CALL)?;
        let zeros_like = zeros_like.ok_or(CallError::Recorded)?;
        let list = found.list(0)?;
        found.map_list(&list, |index, new| {
            found.lend(CALL, [list[index].clone(), new], |[old, new]| {
                // SAFETY: the plugin passed this function with this signature, and the context and both handles are alive.
                unsafe { zeros_like(ctx.address(), old, new) }
            });
        })?;
        Ok(found.failed()?)
    }

    fn TF_AddNVariant(ctx: Ctx, add: Option<Add>; status) {
        let found = ctx.live(CALL)?;
        let add = add.ok_or(CallError::Recorded)?;
        let mut sum = found.list(0)?;
        for input in 1..found.inputs.len() as i32 {
            let list = found.list(input)?;
            if sum.len() != list.len() {
                return Err(invalid("lists of different lengths have no sum").into());
            }
            found.map_list(&sum, |index, new| {
                found.lend(CALL, [sum[index].clone(), list[index].clone(), new], |[x, y, new]| {
                    // SAFETY: as above.
                    unsafe { add(ctx.address(), x, y, new) }
                });
            })?;
            found.failed()?;
            sum = found.output_list()?;
        }
        Ok(found.set_output(0, view(sum))?)
    }
}
