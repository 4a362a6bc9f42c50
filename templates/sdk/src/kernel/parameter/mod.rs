//! The parameters of a kernel: the op's arguments by name, each of a type that states its memory space.

/// The items by which the traits of inputs and outputs state the memory of a parameter.
macro_rules! parameter_items {
    ($argument:literal, $accesses:literal) => {
        #[doc = concat!("True if TensorFlow has to place the ", $argument, " in host memory.")]
        const HOST: bool;

        #[doc = concat!("True if the host ", $accesses, " the ", $argument, " in device memory, in place or through a copy.")]
        const HAS_HOST_ACCESS: bool;

        /// Returns the functions that the host has to export for this parameter. Without them the kernel is not registered.
        ///
        /// The type of the parameter states them, so that kernels of variables need no list where core exports no
        /// function of variables.
        fn needs() -> $crate::kernel::spec::Needs {
            $crate::kernel::spec::no_needs()
        }

        /// The names of the functions in [`needs`](Self::needs), for the section that `sp-gen diff` reads.
        const FUNCTIONS: $crate::kernel::spec::optional::FunctionNames =
            $crate::kernel::spec::optional::FunctionNames::NONE;

        /// The type of the elements, for a parameter that serves several types.
        const LAYOUT: Option<$crate::element::ElementLayout> = None;

        /// The specification of the parameter.
        const SPEC: $crate::kernel::spec::ParameterSpec = $crate::kernel::spec::ParameterSpec {
            is_host: Self::HOST,
            has_host_access: Self::HAS_HOST_ACCESS,
            needs: Self::needs,
            layout: Self::LAYOUT,
        };
    };
}

mod any;
mod bytes;
mod call_info;
mod device_context;
mod device_output;
mod fetched_input;
mod input;
mod inputs;
mod listed_type;
mod memory_output;
mod output;
mod output_tensor;
mod placement;
mod temporary;
mod text;

pub use any::{AnyIn, AnyInList, AnyOut, AnyOutList};
pub use bytes::{BytesIn, BytesInList, BytesOut, BytesOutList, OutBytes};
pub use call_info::CallInfo;
pub use device_context::{Context, ContextParameter};
pub use device_output::{DeviceForwarded, DeviceOut};
pub(super) use fetched_input::short_copy;
pub use input::{
    FromInput, HostElement, HostIn, In, InList, Integer, Integers, LazyIn, ResourceHandle,
};
pub use inputs::Inputs;
pub use listed_type::ListedType;
pub use output::{Forwarded, FromOutput, HostOut, HostOutList, Out, OutData, OutList, OutSlice};
pub use placement::{HostAccess, HostInt32, Placement};
pub use temporary::Temporary;
pub use text::{OutStrings, Strings};
