//! `TF_VariableInputLockHolder`: locks on variables until it is dropped.

use std::ptr;

use sp_abi::kernels_experimental::{
    TF_GetInputTensorFromVariable, TF_MaybeLockVariableInputMutexesInOrder,
    TF_ReleaseVariableInputLockHolder, TF_VariableInputLockHolder,
};

use super::callback::{Change, collect, copy, with_callback};
use super::space::{Space, copy_tensor};
use super::value::{DeviceVariableValue, VariableValue};
use super::{Variable, VariableKind};
use crate::kernel::call::Call;
use crate::kernel::parameter::HostAccess;
use crate::limit::c_index;
use crate::status::with_status;
use crate::tensor::Tensor;
use crate::{Device, Element, Error, Result};

/// An owned lock holder. Dropping it releases the locks.
struct LockHolder(*mut TF_VariableInputLockHolder);

impl LockHolder {
    /// Locks inputs 0 to `count`, which are variables, for this call alone.
    ///
    /// The locks are exclusive even for an op with `use_locking = false`, and never sparse: that would switch the
    /// variable to a mode in which core copies each read, through host memory from 2.9 on.
    fn new(call: &Call<'_>, copy_value: Change<'_>, count: usize) -> Result<Self> {
        let lock = TF_MaybeLockVariableInputMutexesInOrder.get()?;
        let (context, mut holder) = (call.context().as_ptr(), ptr::null_mut());
        let inputs = [0, 1, 2, 3, 4, 5, 6, 7];
        let (is_exclusive, is_sparse) = (true, false);
        if count > inputs.len() {
            return fail!(unimplemented, "a lock on {count} variables");
        }
        let locked = with_callback(copy_value, || {
            let (inputs, holder) = (inputs.as_ptr(), &raw mut holder);
            // SAFETY: context and status are live, `inputs` has `count` items, and core writes the holder.
            with_status(|status| unsafe {
                lock(
                    context,
                    is_exclusive,
                    is_sparse,
                    inputs,
                    count,
                    Some(copy),
                    holder,
                    status,
                )
            })
        });
        let holder = Self(holder);
        locked?;
        Ok(holder)
    }
}

impl Drop for LockHolder {
    fn drop(&mut self) {
        if let Ok(release) = TF_ReleaseVariableInputLockHolder.get() {
            // SAFETY: owned, and not used again. Null is allowed.
            unsafe { release(self.0) }
        }
    }
}

/// Variables that are locked until this is dropped.
#[must_use = "the variables are unlocked when this is dropped"]
pub struct Locked<'c, T, const N: usize, S = HostAccess> {
    variables: [Variable<'c, T, S>; N],
    _holder: LockHolder,
}

/// Locks several variables at once, in an order that excludes deadlocks between kernels.
///
/// They have to be the first inputs of the op, since the function of early releases locks these whatever it is asked.
///
/// # Errors
/// Returns an error if other inputs are before one of the variables.
pub fn lock_all<'c, T: Element, S: Space, const N: usize>(
    variables: [Variable<'c, T, S>; N],
) -> Result<Locked<'c, T, N, S>> {
    let Some(call) = variables.first().map(|it| it.source.call) else {
        return Err(Error::internal("a lock on no variable"));
    };
    if variables.iter().any(|it| it.source.first >= N) {
        return Err(Error::internal(
            "the variables that a kernel locks have to be the first inputs of its op",
        ));
    }
    let copy_value = |tensors: &[&Tensor]| copy_tensor::<S>(call, T::DTYPE, tensors);
    let holder = LockHolder::new(call, &copy_value, N)?;
    Ok(Locked {
        variables,
        _holder: holder,
    })
}

impl<T: Element, S: Space, const N: usize> Locked<'_, T, N, S> {
    /// Returns the tensor of a variable. That of a resource has no other user.
    fn fetch(&self, variable: &Variable<'_, T, S>) -> Result<Tensor> {
        let get = TF_GetInputTensorFromVariable.get()?;
        let (call, input) = (variable.source.call, c_index(variable.source.first)?);
        let (context, mut tensor) = (call.context().as_ptr(), ptr::null_mut());
        let (is_locked, is_variant, is_sparse) = (true, false, false);
        let copy_value = |tensors: &[&Tensor]| copy_tensor::<S>(call, T::DTYPE, tensors);
        let result = with_callback(&copy_value, || {
            let tensor = &raw mut tensor;
            // SAFETY: context and status are live, and core writes the tensor.
            with_status(|status| unsafe {
                get(
                    context,
                    input,
                    is_locked,
                    is_variant,
                    is_sparse,
                    Some(copy),
                    tensor,
                    status,
                )
            })
        });
        // Early releases report a resource that does not exist to the op only.
        // SAFETY: the caller of the function owns the tensor.
        let tensor = unsafe { Tensor::from_raw(tensor) };
        result?;
        let tensor = tensor?;
        // The handle of a resource is not checked against the op's type attribute.
        tensor.require_type(T::DTYPE)?;
        Ok(tensor)
    }
}

impl<T: Element, const N: usize> Locked<'_, T, N> {
    /// Fetches the values, in the order of the variables.
    ///
    /// # Errors
    /// Returns an error if an input is no variable of `T`, or if a value cannot be copied.
    pub fn values(&mut self) -> Result<[VariableValue<'_, T>; N]> {
        let this = &*self;
        collect(this.variables.each_ref().map(|it| {
            let (tensor, is_reference) = (this.fetch(it)?, it.kind == VariableKind::Reference);
            VariableValue::new(it.source.call, tensor, is_reference)
        }))
    }
}

impl<T: Element> Locked<'_, T, 1> {
    /// Fetches the value.
    ///
    /// # Errors
    /// Returns an error if the input is no variable of `T`, or if the value cannot be copied.
    pub fn value(&mut self) -> Result<VariableValue<'_, T>> {
        self.values().map(|[value]| value)
    }
}

impl<T: Element, D: Device, const N: usize> Locked<'_, T, N, D> {
    /// Fetches the values, in the order of the variables.
    ///
    /// # Errors
    /// Returns an error if an input is no variable of `T`, or if a value cannot be copied.
    pub fn values(&mut self) -> Result<[DeviceVariableValue<'_, T, D>; N]> {
        let this = &*self;
        collect(
            this.variables
                .each_ref()
                .map(|it| DeviceVariableValue::new(it.source.call, this.fetch(it)?)),
        )
    }
}

impl<T: Element, D: Device> Locked<'_, T, 1, D> {
    /// Fetches the value.
    ///
    /// # Errors
    /// Returns an error if the input is no variable of `T`, or if the value cannot be copied.
    pub fn value(&mut self) -> Result<DeviceVariableValue<'_, T, D>> {
        self.values().map(|[value]| value)
    }
}
