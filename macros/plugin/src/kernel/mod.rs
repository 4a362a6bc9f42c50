//! Kernels: what `#[kernel(..)]` registers, and the parameters of a kernel.
//!
//! A kernel is a function whose parameters are the op's inputs, outputs and attributes, matched by name. The type of a
//! parameter states the memory space: [`In`] and [`Out`] are elements for the host, [`In<'_, T, D>`](In) is an address
//! on device `D`, and [`HostIn`] is registered in host memory.
//!
//! Parameters are the op's arguments by name, and their types implement a trait for each role. The alternative was
//! one `Call` that is destructured into a generated struct. That names each argument twice, needs a type for each op,
//! and its errors point into generated code. With parameters the error is at the name or type that is wrong, several
//! outputs can be held at a time, and a test can call the function.
//!
//! A call allocates nothing of the SDK's: shapes and up to 16 fetched inputs are inline, counts are in the static.
//! The registration guarantees element types, so they are checked in debug builds and in unknown releases only.
//!
//! The modules `asynchronous`, `attribute`, `builder`, `call`, `calls`, `compare`, `construction`, `driver`,
//! `fetched_input`, `node_def`, `shape` and `spec` refer to each other in a cycle: a `Kernel` has functions that take
//! its `Call` and its `Construction`, and these refer to their kernel. A construction reads shapes, which are
//! attributes.

mod any;
mod asynchronous; // since 2.13
mod attribute;
mod builder;
mod bytes;
mod call;
mod call_info;
mod calls;
mod check;
mod compare;
mod construction;
mod context;
mod cuda_build; // since 2.11
mod device_context;
mod device_output;
mod driver;
mod fetched_input;
mod function_name; // since 2.11
mod fused_use;
mod input;
mod inputs;
mod lacking;
mod listed_type;
pub mod marker;
mod node_def; // since 2.11
mod optional;
mod output;
mod output_tensor;
mod placement;
mod rejected; // since 2.6
mod rejection; // since 2.6
mod shape; // since 2.6
mod slots;
mod spec;
mod status;
mod table;
mod temporary;
mod tensor_value; // since 2.8
mod text;
mod variable; // since 2.6

pub use crate::dims::Dims;
pub use any::{AnyIn, AnyInList, AnyOut, AnyOutList};
pub use attribute::{
    AttributeParameter, Attributes, Construction, FromAttribute, Kind, Prepare, StateParameter,
};
pub use builder::KernelBuilder;
pub use bytes::{BytesIn, BytesInList, BytesOut, BytesOutList, OutBytes};
pub(crate) use call::Operation;
pub use call_info::CallInfo;
pub(crate) use calls::{first_table, is_earlier, is_registered, may_replace, may_select}; // since 2.6
pub use calls::{report, write_calls};
pub use device_context::{Context, ContextParameter};
pub use device_output::{DeviceForwarded, DeviceOut};
pub use function_name::FunctionName; // since 2.11
pub use fused_use::{StepOperands, step_function};
pub(crate) use fused_use::{is_activation, step_operands}; // since 2.6
pub use input::{
    FromInput, HostElement, HostIn, In, InList, Integer, Integers, LazyIn, ResourceHandle,
};
pub use inputs::Inputs;
pub(crate) use lacking::{add_undefined_ops, lines as lacking_lines};
pub use listed_type::ListedType;
pub use marker::Text;
pub use output::{Forwarded, FromOutput, HostOut, HostOutList, Out, OutData, OutList, OutSlice};
pub use placement::{HostAccess, HostInt32, Placement};
pub(crate) use rejected::has_functions_of_variables; // since 2.6
pub(crate) use rejection::MESSAGE as REJECTION_MESSAGE; // since 2.6
pub use shape::{PartialShape, Shape}; // since 2.6
pub use sp_abi::tf_datatype::TF_DataType as DataType;
pub use sp_runtime::{AttributeValue, Attributes, kernel, kernels};
pub use spec::Kernel;
pub(crate) use spec::is_running;
pub(crate) use status::with_status;
pub use table::register;
pub use temporary::Temporary;
pub use tensor_value::TensorValue; // since 2.8
pub use text::{OutStrings, Strings};
pub use variable::{Addition, VariantOut}; // since 2.10
// since 2.6
pub use variable::{DeviceVariableValue, Locked, RefOut, Variable, VariableValue, lock_all};

/// Closed for other crates: a parameter that fetched an argument as another type would read past its end.
mod sealed {
    pub trait Sealed {}
}

/// Items for the expansions of the macros. Not for direct use.
#[doc(hidden)]
pub mod expansion {
    pub use super::attribute::{check_state_available, prepare, variant_of};
    pub use super::call::{Call, InputSource, OutputTarget};
    pub use super::check::{has_allowed_values, has_attributes, is_allowed, is_equal};
    pub use super::optional::{FunctionNames, line, line_len};
    pub use super::spec::{
        ArgumentSpec, AttributeSpec, Constraint, Count, DefaultValue, KernelTable, OpSpec, Options,
        ParameterSpec, State, concat,
    };
    pub use sp_runtime::{Release, Releases, UnavailableFunction};
}
