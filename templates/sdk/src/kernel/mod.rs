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
//! A module uses only those that are above it in this list:
//!
//! | module | content |
//! |---|---|
//! | `spec` | a kernel's registration as data |
//! | `attribute` | the attributes of a node, read when its kernel is constructed |
//! | `call` | one call of a constructed kernel |
//! | `parameter`, `variable` | the types of parameters |
//! | `fused_use` | the uses of ops in fused nodes, which kernels state |
//! | `definition` | a kernel: its registration and its functions |
//! | `compare` | the comparison with a reference kernel |
//! | `registration` | tables, TensorFlow's registry, the functions that TensorFlow calls |

mod attribute;
mod call;
mod compare;
mod definition;
mod fused_use;
pub mod marker;
mod parameter;
mod registration;
mod spec;
mod variable; // since 2.6

pub use crate::dims::Dims;
pub use attribute::FunctionName; // since 2.11
pub use attribute::TensorValue; // since 2.8
pub use attribute::{AttributeParameter, Attributes, Prepare, StateParameter};
pub use attribute::{FullShape, PartialShape}; // since 2.6
pub(crate) use call::Operation;
pub use definition::Kernel;
pub use fused_use::step_function;
pub(crate) use fused_use::{is_activation, step_operands}; // since 2.6
pub use marker::Text;
pub use parameter::*;
pub(crate) use registration::register;
pub(crate) use registration::{REJECTION_MESSAGE, has_functions_of_variables}; // since 2.6
pub(crate) use registration::{first_table, is_registered, may_select}; // since 2.6
pub use sp_abi::tf_datatype::TF_DataType as DataType;
pub use sp_graph::StepOperands;
pub use sp_runtime::{AttributeValue, Attributes, kernel, kernels};
pub use spec::KernelBuilder;
pub use variable::{Addition, VariantOut}; // since 2.10
// since 2.6
pub use variable::{DeviceVariableValue, Locked, RefOut, Variable, VariableValue, lock_all};

/// Closed for other crates: a parameter that fetched an argument as another type would read past its end.
mod sealed {
    pub trait Sealed {}
}

/// Items for the expansions of the macros.
pub(crate) mod expansion {
    pub use super::attribute::{
        Construction, FromAttribute, check_state_available, prepare, variant_of,
    };
    pub use super::call::{Call, InputSource, OutputTarget};
    pub use super::definition::{KernelTable, concat};
    pub use super::registration::write_calls;
    pub use super::spec::optional::{line, line_len};
    pub use super::spec::{
        ArgumentSpec, AttributeSpec, Constraint, Count, DefaultValue, FunctionNames, Kind, OpSpec,
        Options, ParameterSpec, State, has_allowed_values, has_attributes, is_allowed, is_equal,
    };
    pub use sp_runtime::{Release, Releases, UnavailableFunction};
}
