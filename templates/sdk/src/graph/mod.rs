//! Graphs: the input of an [`Optimizer`](crate::Optimizer), and its output.
//!
//! An [`Item`] belongs to TensorFlow: a graph as a serialized `GraphDef`, and facts about it. A [`Graph`]
//! belongs to the author: it is parsed from the item, changed and encoded. Fields of the `GraphDef` that it
//! does not know are preserved byte for byte. An author may also parse [`Item::bytes`] with another library.

mod buffer;
mod functions;
mod item;
mod properties;

pub(crate) use buffer::{OwnedBuffer, fill};
pub use functions::Functions;
pub(crate) use functions::has_op;
pub use item::Item;
pub use properties::{Inference, Properties};
pub use sp_graph::{Attribute, Graph, InferredDim, Input, Node, TensorProperties, TypeNumber};
