//! Kernels: what `#[kernel(..)]` registers, and the parameters of a kernel.
//!
//! A kernel is a function whose parameters are the op's inputs, outputs and attributes, matched by name. The type of a
//! parameter states the memory space: [`In`] and [`Out`] are elements for the host, [`In<'_, T, D>`](In) is an address
//! on device `D`, and [`HostIn`] is registered in host memory.

mod any;
mod attribute;
mod builder;
mod call;
mod calls;
mod check;
mod construction;
mod context;
mod device_context;
mod device_output;
mod driver;
mod input;
pub mod marker;
mod output;
mod spec;
mod status;
mod table;
mod variable; // since 2.6

pub use crate::dims::Dims;
pub use any::{AnyIn, AnyInList, AnyOut, AnyOutList};
pub use attribute::{
    AttributeParameter, Attributes, Construction, FromAttribute, Kind, Prepare, StateParameter,
};
pub use calls::{report, write_calls};
pub use device_context::Context;
pub use device_output::{DeviceForwarded, DeviceOut};
pub use input::{
    FromInput, HostAccess, HostElement, HostIn, In, InList, Integer, Integers, LazyIn,
    ResourceHandle,
};
pub use output::{Forwarded, FromOutput, HostOut, Out, OutData, OutList, OutSlice};
pub use sp_abi::tf_datatype::TF_DataType as DataType;
pub use sp_runtime::{AttributeValue, Attributes, kernel, kernels};
pub use spec::Kernel;
pub use table::register;
pub use variable::Variable; // since 2.6

/// Closed for other crates: a parameter that fetched an argument as another type would read past its end.
mod sealed {
    pub trait Sealed {}
}

/// Items for the expansions of the macros. Not for direct use.
#[doc(hidden)]
pub mod expansion {
    pub use super::attribute::{prepare, variant_of};
    pub use super::call::{Call, InputSource, OutputTarget};
    pub use super::check::{has_allowed_values, has_attributes, is_allowed};
    pub use super::spec::{
        ArgumentSpec, AttributeSpec, Compute, Constraint, Count, DefaultValue, OpSpec, Options,
        State,
    };
    pub use sp_runtime::{Release, Releases};
}
