//! Resource variables, which core owns and locks: a kernel passes core a function that copies a value and one that
//! changes it, and core calls them before its own call returns, on the same thread.

use std::cell::Cell;
use std::ffi::c_int;
use std::marker::PhantomData;
use std::ptr;
use std::slice;

use sp_abi::kernels::TF_OpKernelContext;
use sp_abi::kernels_experimental::{TF_AssignUpdateVariable, TF_AssignVariable};
use sp_abi::tf_tensor::TF_Tensor;
use sp_runtime::guard;

use super::call::{Call, InputSource};
use super::context::c_index;
use super::input::{FromInput, LazyIn};
use super::marker;
use super::sealed::Sealed;
use super::status::with_status;
use crate::buffer::Buffer;
use crate::tensor::{Tensor, address, byte_len};
use crate::{Element, Error, Result};

/// An input that is a resource variable of `T`.
pub struct Variable<'c, T> {
    source: InputSource<'c>,
    element: PhantomData<fn() -> T>,
}

impl<T> Sealed for Variable<'_, T> {}

impl<'c, T: Element> FromInput<'c, marker::Resource> for Variable<'c, T> {
    const HOST: bool = true;
    const HAS_HOST_ACCESS: bool = true;

    fn from_input(source: InputSource<'c>) -> Result<Self> {
        let element = PhantomData;
        Ok(Self { source, element })
    }
}

impl<T: Element> Variable<'_, T> {
    /// Replaces the value. With `validate_shape`, from 2.10 on, the new value must have the variable's shape.
    ///
    /// # Errors
    /// Returns an error if the input is no variable, the shape is rejected, or the running TensorFlow has no function
    /// for it.
    pub fn assign(self, value: LazyIn<'_, T>, validate_shape: bool) -> Result<()> {
        let assign = TF_AssignVariable.get()?;
        let call = self.source.call;
        let (variable, value) = (c_index(self.source.first)?, c_index(value.source.first)?);
        let callbacks = Callbacks {
            copy: &|source, target| copy_tensor::<T>(call, source, target),
            update: &|_, _| Err(Error::internal("an assignment updates nothing in place")),
        };
        with_callbacks(callbacks, || {
            let context = call.context().as_ptr();
            // SAFETY: context and status are live, and core checks the inputs.
            with_status(|status| unsafe {
                assign(
                    context,
                    variable,
                    value,
                    validate_shape, // since 2.10
                    Some(copy),
                    status,
                )
            })
        })
    }

    /// Changes the value by `change(variable, value)`. Nobody else reads or writes it meanwhile.
    ///
    /// # Errors
    /// Returns an error if shapes or types differ, or if the running TensorFlow has no function for it.
    pub fn update(self, value: LazyIn<'_, T>, change: impl Fn(&mut [T], &[T])) -> Result<()> {
        let update_variable = TF_AssignUpdateVariable.get()?;
        let call = self.source.call;
        let (variable, value) = (c_index(self.source.first)?, c_index(value.source.first)?);
        let callbacks = Callbacks {
            copy: &|source, target| copy_tensor::<T>(call, source, target),
            update: &|value, variable| update_tensor(call, value, variable, &change),
        };
        with_callbacks(callbacks, || {
            let (context, copy, update) =
                (call.context().as_ptr(), Some(copy as _), Some(update as _));
            // SAFETY: context and status are live, and core checks the inputs. The zeros are the operation, which
            // `update` does not use, and that the value is no variant.
            with_status(|status| unsafe {
                update_variable(context, variable, value, 0, 0, copy, update, status)
            })
        })
    }
}

fn copy_tensor<T: Element>(call: &Call<'_>, source: &Tensor, target: &Tensor) -> Result<()> {
    source.require_type(T::DTYPE)?;
    target.require_type(T::DTYPE)?;
    let (from, to) = (source.bytes()?, target.bytes()?);
    if from != to {
        let message = format!("a value of {from} bytes for a variable of {to} bytes");
        return Err(Error::invalid_argument(message));
    }
    match (call.staged_memory()?, call.staging_copy(source, false)?) {
        (Some(memory), Some(copy)) => call.store(memory, &copy, target),
        _ if to == 0 => Ok(()),
        _ => {
            let (from, to_data) = (source.data()?.cast::<u8>(), target.data()?.cast::<u8>());
            // SAFETY: the host can address both tensors, and both have `to` bytes.
            unsafe { from.copy_to(to_data, to) };
            Ok(())
        }
    }
}

fn update_tensor<T: Element>(
    call: &Call<'_>,
    value: &Tensor,
    variable: &Tensor,
    change: &impl Fn(&mut [T], &[T]),
) -> Result<()> {
    value.require_type(T::DTYPE)?;
    variable.require_type(T::DTYPE)?;
    let (dims, value_dims) = (variable.dims()?, value.dims()?);
    if dims != value_dims {
        let message = format!("a variable of shape {dims:?} and a value of {value_dims:?}");
        return Err(Error::invalid_argument(message));
    }
    let len = byte_len::<T>(&dims)? / size_of::<T>();
    let [old_copy, value_copy] = [
        call.staging_copy(variable, false)?,
        call.staging_copy(value, false)?,
    ];
    let (old, new) = (
        start_of::<T>(variable, old_copy.as_ref())?,
        start_of::<T>(value, value_copy.as_ref())?,
    );
    // SAFETY: both are aligned and have `len` elements: of the variable, which core has locked for us, and of an
    // input, which nobody changes during a call. Any bytes are values of an `Element`.
    unsafe {
        change(
            slice::from_raw_parts_mut(old, len),
            slice::from_raw_parts(new, len),
        )
    };
    match (call.staged_memory()?, old_copy) {
        (Some(memory), Some(copy)) => call.store(memory, &copy, variable),
        _ => Ok(()),
    }
}

/// Returns the address of the copy, or of the tensor.
fn start_of<T>(tensor: &Tensor, copy: Option<&Buffer>) -> Result<*mut T> {
    match copy {
        Some(copy) => Ok(copy.start().cast().as_ptr()),
        None => address(tensor.data()?).map(|it| it.as_ptr()),
    }
}

/// A function of two tensors, of which the second is written.
type Change<'a> = &'a dyn Fn(&Tensor, &Tensor) -> Result<()>;

/// The functions that core calls: `copy(source, target)` and `update(value, variable)`.
#[derive(Clone, Copy)]
struct Callbacks<'a> {
    copy: Change<'a>,
    update: Change<'a>,
}

/// The callbacks of the call that this thread is in, and their first error.
struct Active<'a> {
    callbacks: Callbacks<'a>,
    failed: Cell<Option<Error>>,
}

thread_local! {
    static ACTIVE: Cell<*const Active<'static>> = const { Cell::new(ptr::null()) };
}

/// Runs `call`, during which core may call `callbacks`. Their error takes precedence over core's.
fn with_callbacks(callbacks: Callbacks<'_>, call: impl FnOnce() -> Result<()>) -> Result<()> {
    let active = Active {
        callbacks,
        failed: Cell::new(None),
    };
    let before = ACTIVE.replace((&raw const active).cast());
    let result = call();
    ACTIVE.set(before);
    active.failed.take().map_or(result, Err)
}

unsafe extern "C" fn copy(
    _: *mut TF_OpKernelContext,
    source: *mut TF_Tensor,
    target: *mut TF_Tensor,
) {
    // SAFETY: core transfers both tensors.
    unsafe { run_callback(source, target, |callbacks| callbacks.copy) }
}

unsafe extern "C" fn update(
    _: *mut TF_OpKernelContext,
    variable: *mut TF_Tensor,
    value: *mut TF_Tensor,
    _: c_int,
) {
    // SAFETY: core transfers both tensors.
    unsafe { run_callback(value, variable, |callbacks| callbacks.update) }
}

/// # Safety
/// Both tensors are live, and the caller transfers them.
unsafe fn run_callback(
    source: *mut TF_Tensor,
    target: *mut TF_Tensor,
    select: fn(Callbacks<'_>) -> Change<'_>,
) {
    // SAFETY: the caller transfers both. They are deleted on every path.
    let (source, target) = unsafe { (Tensor::from_raw(source), Tensor::from_raw(target)) };
    // SAFETY: `with_callbacks` keeps the value alive during core's call, and resets the pointer.
    let Some(active) = (unsafe { ACTIVE.get().as_ref() }) else {
        sp_runtime::report!(Error, "TensorFlow changed a variable after the call for it");
        return;
    };
    let changed = guard::catch_panic("a variable's change", || {
        select(active.callbacks)(&source?, &target?)
    });
    if let Err(error) = changed {
        active.failed.set(Some(error));
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
        let copy: Change<'_> = &|_, _| panic!("no");
        let update = copy;
        let result = with_callbacks(Callbacks { copy, update }, || {
            assert_eq!(deleted_by_copy(), 2);
            Ok(())
        });
        assert!(result.is_err());
    }
}
