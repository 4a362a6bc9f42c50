//! Outputs of ops on reference variables.

use std::marker::PhantomData;

use sp_abi::kernels_experimental::TF_AssignRefVariable; // since 2.10
use sp_abi::kernels_experimental::TF_OpKernelContext_ForwardRefInputToRefOutput;

use super::callback::{copy, with_callback};
use super::space::{Space, copy_tensor};
use super::{Variable, VariableKind};
use crate::kernel::call::OutputTarget;
use crate::kernel::marker;
use crate::kernel::parameter::{FromOutput, HostAccess, LazyIn};
use crate::kernel::sealed::Sealed;
use crate::kernel::spec::optional::needs;
use crate::limit::c_index;
use crate::status::with_status;
use crate::{Device, Element, Result};

/// An output that is a reference to a variable of `T`.
#[must_use = "an output that is not set makes the call fail"]
pub struct RefOut<'c, T, S = HostAccess> {
    pub(super) target: OutputTarget<'c>,
    space: PhantomData<fn() -> (T, S)>,
}

impl<T, S> Sealed for RefOut<'_, T, S> {}

impl<'c, T: Element, S: Space> RefOut<'c, T, S> {
    /// Makes the variable the output.
    ///
    /// # Errors
    /// Returns an error if the running TensorFlow has no function for it.
    pub fn forward(self, variable: &Variable<'c, T, S>) -> Result<()> {
        variable.require_kind(VariableKind::Reference)?;
        let forward = TF_OpKernelContext_ForwardRefInputToRefOutput.get()?;
        let (input, output) = (c_index(variable.source.first)?, c_index(self.target.first)?);
        self.target.set_with(|call| {
            // SAFETY: the context is live, and the op's definition has both as references.
            unsafe { forward(call.context().as_ptr(), input, output) };
            Ok(())
        })
    }

    // since 2.10
    /// Replaces the value of a reference variable, and makes the variable the output. With `validate_shape` the new
    /// value must have the variable's shape.
    ///
    /// # Errors
    /// Returns an error if the shape is rejected.
    pub fn assign(
        self,
        variable: Variable<'c, T, S>,
        value: LazyIn<'_, T>,
        use_locking: bool,
        validate_shape: bool,
    ) -> Result<()> {
        variable.require_kind(VariableKind::Reference)?;
        let assign = TF_AssignRefVariable.get()?;
        let (reference, output, value) = (
            c_index(variable.source.first)?,
            c_index(self.target.first)?,
            c_index(value.source.first)?,
        );
        self.target.set_with(|call| {
            with_callback(&|tensors| copy_tensor::<S>(call, T::DTYPE, tensors), || {
                let context = call.context().as_ptr();
                // SAFETY: context and status are live, and the op's definition has the arguments.
                with_status(|status| unsafe {
                    assign(
                        context,
                        reference,
                        output,
                        value,
                        use_locking,
                        validate_shape,
                        Some(copy),
                        status,
                    )
                })
            })
        })
    }
}

macro_rules! references {
    ($([$($generics:tt)*] $ty:ty, $access:literal;)*) => {$(
        // SAFETY: a variable is assigned a tensor of `T`, in memory of the device.
        unsafe impl<'c, $($generics)*> FromOutput<'c, marker::Ref<T>> for $ty {
            const HOST: bool = false;
            const HAS_HOST_ACCESS: bool = $access;

            needs!(TF_OpKernelContext_ForwardRefInputToRefOutput);

            fn from_output(target: OutputTarget<'c>) -> Self {
                let space = PhantomData;
                Self { target, space }
            }
        }
    )*};
}

references! {
    [T: Element] RefOut<'c, T>, true;
    [T: Element, D: Device] RefOut<'c, T, D>, false;
}
