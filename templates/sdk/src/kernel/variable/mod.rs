//! Variables, which core owns and locks.
//!
//! [`Variable::lock`] locks one variable and [`lock_all`] several; the lock yields the values, which nobody else reads
//! or writes until it is dropped. Core keeps the value that a reader holds: before the lock yields it, core requests a
//! copy (`copyFunc`), so no reader sees a change.
//!
//! Values borrow their lock: no value outlives it, and one variable has one value at a time.

mod callback;
mod lock;
mod reference;
mod space;
mod temporary_variable; // since 2.15
mod value;
mod variant; // since 2.10

use std::marker::PhantomData;

use sp_abi::kernels_experimental::{TF_AssignVariable, TF_GetInputTensorFromVariable};

use super::call::{InputArgument, InputSource};
use super::marker;
use super::parameter::{FromInput, HostAccess, LazyIn};
use super::sealed::Sealed;
use super::spec::optional::needs;
use crate::limit::c_index;
use crate::status::with_status;
use crate::{Device, Element, Error, Result};
use callback::{copy, with_callback};
use space::{Space, copy_tensor};

pub use lock::{Locked, lock_all};
pub use reference::RefOut;
pub use value::{DeviceVariableValue, VariableValue};
pub use variant::{Addition, VariantOut}; // since 2.10

/// An input that is a variable of `T`: a resource, or a reference.
///
/// TensorFlow orders the reads and changes of a reference variable by the graph's edges only. A kernel that reads the
/// variable as a tensor without such an edge sees a part of a change.
///
/// The elements of a locked reference variable are a copy, which is stored when the value is dropped: TensorFlow may pass
/// the variable's buffer as another input too. For that reason the variable precedes the tensors that the kernel reads in
/// its parameters.
///
/// `Variable<'_, T, D>` is a variable in the memory of device `D`, of which the host knows only address and length.
pub struct Variable<'c, T, S = HostAccess> {
    source: InputSource<'c>,
    kind: VariableKind,
    space: PhantomData<fn() -> (T, S)>,
}

/// The kind of a variable, as the op's definition has it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum VariableKind {
    Resource,
    Reference,
}

impl<T, S> Sealed for Variable<'_, T, S> {}

impl<'c, T, S> Variable<'c, T, S> {
    /// Checks that core's function for this kind of variable can be called: of another kind it would read something
    /// else.
    fn require_kind(&self, kind: VariableKind) -> Result<()> {
        let remedy = match kind {
            VariableKind::Resource => "the variable is a reference, which `RefOut` assigns",
            VariableKind::Reference => "the variable is a resource, which is no output",
        };
        match self.kind == kind {
            true => Ok(()),
            false => Err(Error::internal(remedy)),
        }
    }
}

macro_rules! variables {
    ($([$($generics:tt)*] $ty:ty: $element:ty, $kind:ident, $host:literal, $access:literal;)*) => {$(
        // SAFETY: the type of a resource's tensor is checked; a reference is one to a tensor of `T`.
        unsafe impl<'c, $($generics)*> FromInput<'c, $element> for $ty {
            const HOST: bool = $host;
            const HAS_HOST_ACCESS: bool = $access;

            // The same releases export all functions of variables.
            needs!(
                TF_GetInputTensorFromVariable;
                TF_AssignVariable,
                TF_MaybeLockVariableInputMutexesInOrder,
                TF_ReleaseVariableInputLockHolder
            );

            fn from_input(input: InputArgument<'c>) -> Result<Self> {
                let (kind, source, space) = (VariableKind::$kind, input.source(), PhantomData);
                if kind == VariableKind::Reference {
                    source.call.record_reference()?;
                }
                Ok(Self { source, kind, space })
            }
        }
    )*};
}

variables! {
    [T: Element] Variable<'c, T>: marker::Resource, Resource, true, true;
    [T: Element, D: Device] Variable<'c, T, D>: marker::Resource, Resource, true, false;
    [T: Element] Variable<'c, T>: marker::Ref<T>, Reference, false, true;
    [T: Element, D: Device] Variable<'c, T, D>: marker::Ref<T>, Reference, false, false;
}

impl<'c, T: Element, S: Space> Variable<'c, T, S> {
    /// Replaces the value of a resource. With `validate_shape`, from 2.10 on, the new value must have the variable's
    /// shape.
    ///
    /// # Errors
    /// Returns an error if the input is no variable, or the shape is rejected.
    pub fn assign(self, value: LazyIn<'_, T>, validate_shape: bool) -> Result<()> {
        self.require_kind(VariableKind::Resource)?;
        let assign = TF_AssignVariable.get()?;
        let call = self.source.call;
        let (variable, value) = (c_index(self.source.first)?, c_index(value.source.first)?);
        with_callback(&|tensors| copy_tensor::<S>(call, T::DTYPE, tensors), || {
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

    /// Locks the variable. Nobody else reads or writes it before the lock is dropped.
    ///
    /// # Errors
    /// Returns an error if the variable is not the op's first input.
    pub fn lock(self) -> Result<Locked<'c, T, 1, S>> {
        lock_all([self])
    }
}

impl<T: Element> Variable<'_, T> {
    /// Changes the value by `change(variable, value)`. Nobody else reads or writes it meanwhile.
    ///
    /// # Errors
    /// Returns an error if the input is no variable, or if shapes or types differ.
    pub fn update(self, value: LazyIn<'_, T>, change: impl Fn(&mut [T], &[T])) -> Result<()> {
        let value = value.read()?;
        let mut lock = self.lock()?;
        let mut variable = lock.value()?;
        if variable.dims() != value.dims() {
            let (dims, value_dims) = (variable.dims(), value.dims());
            let message = format!("a variable of shape {dims:?} and a value of {value_dims:?}");
            return Err(Error::invalid_argument(message));
        }
        change(&mut variable, value.data());
        Ok(())
    }
}
