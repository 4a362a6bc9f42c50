//! Tensors as bytes: for kernels that are compiled once for all element types.

mod input;
mod output;

use super::input::FromInput;
use super::output::FromOutput;
use super::placement::{HostAccess, HostInt32, Placement, is_host};
use crate::element::ElementLayout;
use crate::kernel::call::{InputArgument, OutputTarget};
use crate::kernel::marker;
use crate::{Device, Element, Result};

pub use input::{BytesIn, BytesInList};
pub use output::{BytesOut, BytesOutList, OutBytes};

macro_rules! parameters {
    ($([$($generics:tt)*] $space:ty: $element:ty, $layout:expr, $host:expr, $access:expr, $fetch:ident;)*) => {$(
        // SAFETY: any element is bytes, of the layout of `$element` or of the tensor's type.
        unsafe impl<'c, $($generics)*> FromInput<'c, $element> for BytesIn<'c, $space> {
            const HOST: bool = $host;
            const HAS_HOST_ACCESS: bool = $access;
            const LAYOUT: Option<ElementLayout> = $layout;

            fn from_input(input: InputArgument<'c>) -> Result<Self> {
                Self::$fetch(input)
            }
        }

        // SAFETY: as above: the bytes are those of elements.
        unsafe impl<'c, $($generics)*> FromOutput<'c, $element> for BytesOut<'c, $space> {
            const HOST: bool = $host;
            const HAS_HOST_ACCESS: bool = $access;
            const LAYOUT: Option<ElementLayout> = $layout;

            fn from_output(target: OutputTarget<'c>) -> Self {
                Self::new(target)
            }
        }
    )*};
}

parameters! {
    [E: Element] HostAccess: E, Some(ElementLayout::new::<E>()), false, true, read;
    [] HostAccess: marker::Integers, None, false, true, read;
    [] HostAccess: marker::AnyType, None, false, true, read;
    [E: Element] HostInt32: E, Some(ElementLayout::new::<E>()), is_host::<E, HostInt32>(), !is_host::<E, HostInt32>(), read;
    [E: Element, D: Device] D: E, Some(ElementLayout::new::<E>()), false, false, on_device;
    [D: Device] D: marker::Integers, None, false, false, on_device;
    [D: Device] D: marker::AnyType, None, false, false, on_device;
}

// SAFETY: any element is bytes, of the layout of `E`.
unsafe impl<'c, E: Element, S: Placement> FromInput<'c, marker::List<E>> for BytesInList<'c, S> {
    const HOST: bool = is_host::<E, S>();
    const HAS_HOST_ACCESS: bool = !is_host::<E, S>();
    const LAYOUT: Option<ElementLayout> = Some(ElementLayout::new::<E>());

    fn from_input(input: InputArgument<'c>) -> Result<Self> {
        Ok(Self::new(input.source()))
    }
}

/// Each tensor has the type that the attribute lists for it.
// SAFETY: any element is bytes, of the layout of each tensor's type.
unsafe impl<'c> FromInput<'c, marker::AnyList> for BytesInList<'c> {
    const HOST: bool = false;
    const HAS_HOST_ACCESS: bool = true;

    fn from_input(input: InputArgument<'c>) -> Result<Self> {
        Ok(Self::new(input.source()))
    }
}

// SAFETY: any element is bytes, of the layout of `E`.
unsafe impl<'c, E: Element, S: Placement> FromOutput<'c, marker::List<E>> for BytesOutList<'c, S> {
    const HOST: bool = is_host::<E, S>();
    const HAS_HOST_ACCESS: bool = !is_host::<E, S>();
    const LAYOUT: Option<ElementLayout> = Some(ElementLayout::new::<E>());

    fn from_output(target: OutputTarget<'c>) -> Self {
        Self::new(target)
    }
}
