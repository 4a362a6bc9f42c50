//! Graphs of TensorFlow, and the passes that the SDK runs over them.
//!
//! Everything here is a function of data: a [`Graph`] is parsed from a serialized `GraphDef`, a pass changes it, and no function of
//! TensorFlow is called. What a pass has to know about the process it asks through [`Kernels`] and [`GraphFacts`].
//!
//! | module | content |
//! |---|---|
//! | [`proto`] | the wire format |
//! | [`Graph`], [`Node`], [`Attribute`], [`TensorProperties`] | messages |
//! | [`Kernels`], [`GraphFacts`] | the questions of passes |
//! | [`ops`] | names of the ops that passes write |
//! | [`call`], [`collective`], [`condition`], [`core_fusion`], [`fusion`], [`temporary_sum`], [`variable_update`] | a pass each |

mod assignment;
mod attribute;
pub mod call;
pub mod collective;
pub mod condition;
pub mod core_fusion;
mod definition;
mod facts;
pub mod fusion;
mod node;
pub mod ops;
mod properties;
pub mod proto;
pub mod temporary_sum;
mod type_number;
pub mod variable_update;

pub use attribute::Attribute;
pub use definition::Graph;
pub use facts::{GraphFacts, Kernels, StepOperands, is_earlier};
pub use node::{Input, Node};
pub use properties::{InferredDim, TensorProperties};
use sp_runtime::{Error, Result};
pub use type_number::TypeNumber;
