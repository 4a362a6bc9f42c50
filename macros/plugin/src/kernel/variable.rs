//! Variables, which core keeps and locks: a kernel hands core a function that copies a value and one
//! that changes it, and core calls them back before its own call returns, on the same thread.

use std::cell::Cell;
use std::ffi::c_int;
use std::ptr;

use sp_abi::kernels::TF_OpKernelContext;
use sp_abi::kernels_experimental::{TF_AssignUpdateVariable, TF_AssignVariable};
use sp_abi::tf_tensor::TF_Tensor;
use sp_runtime::guard;

use super::call::{Call, int};
use crate::tensor::Raw;
use crate::{Error, Result};

/// A function of two tensors, the second to be written.
type Change<'a> = &'a dyn Fn(&Raw, &Raw) -> Result<()>;

/// What core calls back: `copy(source, target)` and `update(value, variable)`.
#[derive(Clone, Copy)]
pub struct Callbacks<'a> {
    pub copy: Change<'a>,
    pub update: Change<'a>,
}

/// The callbacks of the call that this thread is in, and the first error of theirs.
struct Active<'a> {
    callbacks: Callbacks<'a>,
    failed: Cell<Option<Error>>,
}

thread_local! {
    static ACTIVE: Cell<*const Active<'static>> = const { Cell::new(ptr::null()) };
}

impl Call {
    /// Replaces the variable that is input `variable` by input `value`.
    pub fn assign_variable(
        &self,
        variable: usize,
        value: usize,
        validate_shape: bool,
        callbacks: Callbacks<'_>,
    ) -> Result<()> {
        let assign = TF_AssignVariable.get()?;
        let (variable, value) = (int(variable)?, int(value)?);
        let (context, status) = (self.context(), self.status());
        during(callbacks, || {
            // SAFETY: the context is live, and core checks what the inputs are.
            unsafe {
                assign(
                    context,
                    variable,
                    value,
                    validate_shape, // since 2.10
                    Some(copy),
                    status.as_ptr(),
                )
            };
            status.check()
        })
    }

    /// Changes the variable that is input `variable` by input `value`, under its lock.
    pub fn update_variable(
        &self,
        variable: usize,
        value: usize,
        callbacks: Callbacks<'_>,
    ) -> Result<()> {
        let update_variable = TF_AssignUpdateVariable.get()?;
        let (variable, value) = (int(variable)?, int(value)?);
        let (context, status) = (self.context(), self.status());
        let (copy, update) = (Some(copy as _), Some(update as _));
        during(callbacks, || {
            // SAFETY: as above; the two zeros are the operation, which `update` knows without being
            // told, and that the value is no variant.
            unsafe {
                update_variable(
                    context,
                    variable,
                    value,
                    0,
                    0,
                    copy,
                    update,
                    status.as_ptr(),
                )
            };
            status.check()
        })
    }
}

/// Runs `call`, during which core may call `callbacks`. What they say counts before what core says.
fn during(callbacks: Callbacks<'_>, call: impl FnOnce() -> Result<()>) -> Result<()> {
    let active = Active {
        callbacks,
        failed: Cell::new(None),
    };
    let before = ACTIVE.replace((&raw const active).cast());
    let done = call();
    ACTIVE.set(before);
    match active.failed.take() {
        Some(error) => Err(error),
        None => done,
    }
}

unsafe extern "C" fn copy(
    _: *mut TF_OpKernelContext,
    source: *mut TF_Tensor,
    dest: *mut TF_Tensor,
) {
    // SAFETY: core gives both handles away.
    unsafe { called(source, dest, |callbacks| callbacks.copy) }
}

unsafe extern "C" fn update(
    _: *mut TF_OpKernelContext,
    variable: *mut TF_Tensor,
    value: *mut TF_Tensor,
    _: c_int,
) {
    // SAFETY: core gives both handles away.
    unsafe { called(value, variable, |callbacks| callbacks.update) }
}

/// # Safety
/// Both tensors are live, and ours to delete.
unsafe fn called(
    source: *mut TF_Tensor,
    target: *mut TF_Tensor,
    which: fn(Callbacks<'_>) -> Change<'_>,
) {
    // SAFETY: the caller vouches for them. Both are deleted on every path.
    let (source, target) = unsafe { (Raw::new(source), Raw::new(target)) };
    // SAFETY: `during` keeps the value alive while core's call lasts, and resets the pointer.
    let Some(active) = (unsafe { ACTIVE.get().as_ref() }) else {
        sp_runtime::report!(
            Error,
            "TensorFlow changed a variable after the call that was to change it"
        );
        return;
    };
    let done = guard::catch_panic("a variable's change", || {
        which(active.callbacks)(&source?, &target?)
    });
    if let Err(error) = done {
        active.failed.set(Some(error));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::DROPPED;

    /// Calls back as core does, and returns how many tensors were deleted.
    fn deleted_by_copy() -> usize {
        let before = DROPPED.get();
        let tensor = ptr::NonNull::<u64>::dangling().as_ptr().cast();
        // SAFETY: no TensorFlow is loaded, so a handle is only passed on.
        unsafe { copy(ptr::null_mut(), tensor, tensor) };
        DROPPED.get() - before
    }

    #[test]
    fn late_callback_deletes_its_tensors() {
        assert_eq!(deleted_by_copy(), 2);
    }

    #[test]
    fn panicking_callback_deletes_its_tensors() {
        let copy: Change<'_> = &|_, _| panic!("no");
        let update = copy;
        let done = during(Callbacks { copy, update }, || {
            assert_eq!(deleted_by_copy(), 2);
            Ok(())
        });
        assert!(done.is_err());
    }
}
