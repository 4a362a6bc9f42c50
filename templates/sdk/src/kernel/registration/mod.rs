//! From tables of kernels to TensorFlow's registry, and the functions that TensorFlow calls for a kernel.

mod asynchronous; // since 2.13
mod builder;
mod callbacks;
mod cuda_build; // since 2.11
mod registered_kernels;
mod rejected; // since 2.6
mod rejection; // since 2.6
mod table;

pub use registered_kernels::write_calls;
pub(crate) use registered_kernels::{first_table, is_registered, may_select}; // since 2.6
pub(crate) use rejected::has_functions_of_variables; // since 2.6
pub(crate) use rejection::MESSAGE as REJECTION_MESSAGE; // since 2.6
pub(crate) use table::register;
