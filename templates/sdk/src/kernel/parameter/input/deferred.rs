//! Inputs that are not fetched before the kernel reads them, or never.

use std::marker::PhantomData;

use super::{FromInput, In};
use crate::kernel::call::{InputArgument, InputSource};
use crate::kernel::marker;
use crate::kernel::parameter::inputs::Inputs;
use crate::kernel::sealed::Sealed;
use crate::{Element, Result};

/// An input that is not fetched before [`read`](LazyIn::read), such as the new value of a variable.
pub struct LazyIn<'c, T> {
    pub(in crate::kernel) source: InputSource<'c>,
    element: PhantomData<fn() -> T>,
}

impl<T> Sealed for LazyIn<'_, T> {}

impl<'c, T: Element> LazyIn<'c, T> {
    /// Fetches the input.
    ///
    /// # Errors
    /// Returns an error if it cannot be copied to the host.
    pub fn read(self) -> Result<In<'c, T>> {
        In::read(self.source)
    }
}

// SAFETY: `read` fetches the input with the layout of `T`, and the host reads it.
unsafe impl<'c, T: Element> FromInput<'c, T> for LazyIn<'c, T> {
    const HOST: bool = false;
    const HAS_HOST_ACCESS: bool = true;

    fn from_input(input: InputArgument<'c>) -> Result<Self> {
        let (source, element) = (input.source(), PhantomData);
        Ok(Self { source, element })
    }
}

/// The handle of a resource, which the kernel does not use.
pub struct ResourceHandle<'c>(PhantomData<&'c ()>);

impl Sealed for ResourceHandle<'_> {}

// SAFETY: nothing accesses the input.
unsafe impl<'c> FromInput<'c, marker::Resource> for ResourceHandle<'c> {
    const HOST: bool = true;
    const HAS_HOST_ACCESS: bool = false;

    fn from_input(_: InputArgument<'c>) -> Result<Self> {
        Ok(Self(PhantomData))
    }
}

/// An input of several tensors of `T`.
#[derive(Clone, Copy)]
pub struct InList<'c, T> {
    source: InputSource<'c>,
    element: PhantomData<fn() -> T>,
}

impl<T> Sealed for InList<'_, T> {}

impl<'c, T: Element> InList<'c, T> {
    len_methods!("tensors", self => self.source.count);

    /// Fetches each tensor.
    pub fn iter(&self) -> impl Iterator<Item = Result<In<'c, T>>> + use<'c, T> {
        let source = self.source;
        (0..source.count).map(move |index| In::read(source.tensor_source(index)))
    }

    /// Fetches all tensors, up to 16 without an allocation.
    ///
    /// # Errors
    /// Returns an error if one of them cannot be copied to the host.
    pub fn fetch(&self) -> Result<Inputs<In<'c, T>>> {
        Inputs::collect(self.iter())
    }
}

// SAFETY: each tensor is fetched with the layout of `T`, and the host reads it.
unsafe impl<'c, T: Element> FromInput<'c, marker::List<T>> for InList<'c, T> {
    const HOST: bool = false;
    const HAS_HOST_ACCESS: bool = true;

    fn from_input(input: InputArgument<'c>) -> Result<Self> {
        let (source, element) = (input.source(), PhantomData);
        Ok(Self { source, element })
    }
}
