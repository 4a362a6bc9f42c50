//! Reference variables, which a kernel forwards by reference, and temporary variables, which have a name and live
//! for one step. Here a reference is the tensor itself, which becomes the output.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::{Arc, Mutex};

use super::argument::List;
use super::construction::StringView;
use super::context::{Ctx, KernelContext};
use super::failure::{StatusResult, internal, invalid};
use super::functions::functions;
use super::tensor::{TensorHandle, View};
use super::variable::{Copy, call_copy};
use crate::StatusCode;
use crate::dtype::DType;
use crate::lock;
use crate::objects::BorrowedObject;
use crate::status_object::StatusObject;
use crate::tensor_buffer::TensorBuffer;

type Allocate = unsafe extern "C" fn(
    *mut KernelContext,
    *mut TensorHandle,
    u32,
    *const i64,
    c_int,
    *mut StatusObject,
);

/// Temporary variables by name. A test is one step.
static TEMPORARY: Mutex<BTreeMap<String, View>> = Mutex::new(BTreeMap::new());

fn text(name: &List<StringView>) -> String {
    // SAFETY: the plugin passes the view, and the C contract keeps its text alive during the call.
    let text = name.first().map(|name| unsafe { name.text() });
    text.unwrap_or_default()
}

/// Returns the tensor that the plugin's function allocates.
fn allocated(
    ctx: &Ctx,
    dtype: DType,
    dims: &[i64],
    allocate: Option<Allocate>,
) -> StatusResult<View> {
    let allocate = allocate.ok_or_else(|| internal("plugin_allocator is null"))?;
    let empty = View {
        dtype,
        dims: dims.to_vec(),
        buffer: Arc::new(TensorBuffer::empty()),
    };
    let borrowed = empty.into_borrowed_handle();
    let status = BorrowedObject::new(StatusObject::new());
    let rank = dims.len() as c_int;
    // SAFETY: the plugin passed this function with this signature; all objects that it borrows are alive.
    unsafe {
        allocate(
            ctx.address(),
            borrowed.address(),
            dtype.0,
            dims.as_ptr(),
            rank,
            status.address(),
        )
    };
    let outcome = status.take().map(|status| status.get());
    let gone = || internal("plugin_allocator deleted its arguments");
    let allocated_view = borrowed.take().ok_or_else(gone)?.view().clone();
    match outcome {
        Some((StatusCode::OK, _)) => Ok(allocated_view),
        Some(failure) => Err(failure),
        None => Err(gone()),
    }
}

impl KernelContext {
    fn assign_reference(
        &self,
        ctx: &Ctx,
        (reference, output, value): (c_int, c_int, c_int),
        validate: bool,
        copy: Option<Copy>,
    ) -> StatusResult<()> {
        let (old, value) = (self.input(reference)?, self.input(value)?);
        if validate && old.dims != value.dims {
            let text = format!("a value of {:?} for {:?}", value.dims, old.dims);
            return Err(invalid(text));
        }
        let new = self.allocate_tensor(value.dtype, &value.dims, false)?;
        call_copy(ctx, copy, value, new.clone())?;
        self.set_output(output, new)
    }
}

functions! {
    fn TF_AssignRefVariable(
        ctx: Ctx, reference: c_int, output: c_int, value: c_int, _use_locking: u8, validate_shape: u8,
        copy: Option<Copy>; status
    ) {
        let found = ctx.live(CALL)?;
        let places = (reference, output, value);
        found.fail_on_error(found.assign_reference(&ctx, places, validate_shape != 0, copy))
    }

    fn TF_TemporaryVariable(
        ctx: Ctx, dtype: u32, dims: List<i64>, rank: c_int, name: List<StringView>, allocate: Option<Allocate>; status
    ) {
        let found = ctx.live(CALL)?;
        let allocated_view = allocated(&ctx, DType(dtype), dims.values(rank), allocate);
        found.fail_on_error(allocated_view.and_then(|view| {
            lock(&TEMPORARY).insert(text(&name), view.clone());
            found.set_output(0, view)
        }))
    }

    fn TF_DestroyTemporaryVariable(ctx: Ctx, index: c_int, name: List<StringView>; status) {
        let (found, name) = (ctx.live(CALL)?, text(&name));
        let none = || (StatusCode::NOT_FOUND, format!("there is no temporary variable {name}"));
        let last = lock(&TEMPORARY).remove(&name).ok_or_else(none);
        found.fail_on_error(last.and_then(|_| found.set_output(0, found.input(index)?)))
    }
}
