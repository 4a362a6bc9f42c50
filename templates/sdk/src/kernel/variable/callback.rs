//! The functions that core calls while a kernel changes a variable: before its own call returns, on the same thread.

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::ptr;

use sp_abi::kernels::TF_OpKernelContext;
use sp_abi::tf_tensor::TF_Tensor;
use sp_runtime::guard;
use sp_runtime::{Release, Releases}; // since 2.10

use crate::release::is_running; // since 2.10
use crate::tensor::Tensor;
use crate::{Error, Result};

/// A function of tensors, of which the last one is written.
pub(super) type Change<'a> = &'a dyn Fn(&[&Tensor]) -> Result<()>;

/// The function for the call that this thread is in, and its first error.
struct Active<'a> {
    change: Change<'a>,
    failed: Cell<Option<Error>>,
}

thread_local! {
    static ACTIVE: Cell<*const Active<'static>> = const { Cell::new(ptr::null()) };
}

/// Runs `call`, during which core may call `change` through [`copy`] and the other functions of this file. Its error
/// takes precedence over core's.
pub(super) fn with_callback<R>(change: Change<'_>, call: impl FnOnce() -> Result<R>) -> Result<R> {
    let active = Active {
        change,
        failed: Cell::new(None),
    };
    let result = {
        let _restored = Restored(ACTIVE.replace((&raw const active).cast()));
        call()
    };
    active.failed.take().map_or(result, Err)
}

/// The value of [`ACTIVE`] before a call, which it gets again after the call, also if that panics.
struct Restored(*const Active<'static>);

impl Drop for Restored {
    fn drop(&mut self) {
        ACTIVE.set(self.0);
    }
}

/// `copyFunc` of the functions of variables.
pub(super) unsafe extern "C" fn copy(
    _: *mut TF_OpKernelContext,
    source: *mut TF_Tensor,
    target: *mut TF_Tensor,
) {
    // SAFETY: core transfers both tensors.
    unsafe { run_callback([source, target], true) }
}

// since 2.10
/// The releases in which core deletes the tensors of variants. Earlier ones transfer them, as all do with those of
/// variables.
const BORROWED: [Releases; 1] = [Releases::from(Release::new(2, 22))];

// since 2.10
/// The function of `TF_ZerosLikeVariant`.
pub(super) unsafe extern "C" fn fill_with_zeros(
    _: *mut TF_OpKernelContext,
    input: *mut TF_Tensor,
    zeros: *mut TF_Tensor,
) {
    // SAFETY: core transfers the tensors, or deletes them after this call.
    unsafe { run_callback([input, zeros], !is_running(&BORROWED)) }
}

// since 2.10
/// The function of `TF_AddNVariant`.
pub(super) unsafe extern "C" fn add(
    _: *mut TF_OpKernelContext,
    x: *mut TF_Tensor,
    y: *mut TF_Tensor,
    sum: *mut TF_Tensor,
) {
    // SAFETY: core transfers the tensors, or deletes them after this call.
    unsafe { run_callback([x, y, sum], !is_running(&BORROWED)) }
}

/// # Safety
/// The tensors are live. The caller transfers them if `is_transferred`; otherwise they outlive the call.
unsafe fn run_callback<const N: usize>(tensors: [*mut TF_Tensor; N], is_transferred: bool) {
    // SAFETY: the tensors are live. Those that are transferred are dropped below, the others are not.
    let tensors = tensors.map(|it| ManuallyDrop::new(unsafe { Tensor::from_raw(it) }.ok()));
    // SAFETY: `with_callback` keeps the value alive during core's call, and resets the pointer.
    match unsafe { ACTIVE.get().as_ref() } {
        Some(active) => active.run(tensors.each_ref().map(|it| it.as_ref())),
        None => {
            sp_runtime::report!(Error, "TensorFlow changed a variable after the call for it");
        }
    }
    if is_transferred {
        drop(tensors.map(ManuallyDrop::into_inner));
    }
}

impl Active<'_> {
    /// Calls the function, and keeps its first error.
    fn run<const N: usize>(&self, tensors: [Option<&Tensor>; N]) {
        let none = || Error::internal("TensorFlow passed no tensor");
        let changed = guard::catch_panic("a variable's change", || {
            (self.change)(&collect(tensors.map(|it| it.ok_or_else(none)))?)
        });
        if let Err(error) = changed {
            let first = self.failed.take().unwrap_or(error);
            self.failed.set(Some(first));
        }
    }
}

/// Returns the values, or the first error.
pub(super) fn collect<T, const N: usize>(results: [Result<T>; N]) -> Result<[T; N]> {
    let mut failed = None;
    let values = results.map(|it| {
        it.map_err(|error| failed = failed.take().or(Some(error)))
            .ok()
    });
    match failed {
        Some(error) => Err(error),
        None => Ok(values.map(|it| it.expect("none failed"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::DROPPED;

    /// Calls back as core does, and returns the number of deleted tensors.
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
        let result = with_callback(&|_| panic!("no"), || {
            assert_eq!(deleted_by_copy(), 2);
            Ok(())
        });
        assert!(result.is_err());
    }

    #[test]
    fn no_callback_is_active_after_a_call_that_panics() {
        let panics = || with_callback(&|_| Ok(()), || -> Result<()> { panic!("expected") });
        assert!(std::panic::catch_unwind(panics).is_err());
        assert!(ACTIVE.get().is_null());
    }

    #[test]
    fn first_error_of_several_is_returned() {
        let results = [Ok(1), Err(Error::internal("a")), Err(Error::internal("b"))];
        assert!(collect(results).unwrap_err().to_string().contains('a'));
        assert_eq!(collect([Ok(1), Ok(2)]).unwrap(), [1, 2]);
    }
}
