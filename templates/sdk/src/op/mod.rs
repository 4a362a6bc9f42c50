//! Ops that the plugin defines: `#[op(..)]` on the shape function of each.
//!
//! ```
//! pub mod ops {
//!     use sp_plugin::Result;
//!     use sp_plugin::op::{Shape, op};
//!
//!     /// Adds `bias` to the last dimension of `value`, and takes the larger one of the sum and 0.
//!     #[op(FusedBiasRelu(value: T, bias: T) -> (output: T), T: {f32, f64})]
//!     pub fn fused_bias_relu(value: Shape, bias: Shape) -> Result<Shape> {
//!         let channels = bias.with_rank(1)?.dim(0)?.merge(value.dim(-1)?)?;
//!         value.with_dim(-1, channels)
//!     }
//! }
//! ```
//!
//! A kernel names the op by its path, `#[kernel(ops::FusedBiasRelu, T = [f32])]`, and is checked like one of TensorFlow's
//! ops. An op is registered before its kernels; one without kernels is not.
//!
//! An op's type and its macro must have one definition (`DefinedOp::TEXT`). Of several definitions of one name the
//! first is registered, with its own kernels only.

mod builder;
mod context;
mod definition;
mod dim;
mod registration;
mod shape;

pub use context::ShapeContext;
pub(crate) use definition::OpDefinition;
pub use dim::Dim;
pub(crate) use registration::register;
pub use shape::Shape;
pub use sp_runtime::op;

/// Items for the expansions of the macros.
pub(crate) mod expansion {
    pub use super::definition::{DefinedOp, OpDefinition};
    pub use sp_runtime::kernel_of_op;
}
