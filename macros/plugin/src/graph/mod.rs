//! Graphs: what an [`Optimizer`](crate::Optimizer) is handed, and what it makes of it.
//!
//! An [`Item`] is TensorFlow's: the graph as a serialized `GraphDef`, and what it knows of it. A
//! [`Graph`] is the author's own, read from it and written back; whatever of a `GraphDef` it does
//! not look at stays as it came. Nothing stops an author from reading [`Item::bytes`] with another
//! library.

mod attribute;
mod buffer;
mod definition;
mod functions;
mod item;
mod node;
mod properties;

pub use attribute::Attribute;
pub(crate) use buffer::{Own, fill};
pub use definition::Graph;
pub use functions::Functions;
pub use item::Item;
pub use node::{Input, Node};
pub use properties::{Inference, Properties, TensorProperties};
