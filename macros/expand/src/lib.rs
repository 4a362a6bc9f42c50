//! The `#[abi(..)]` grammar and the expansions of the macros.
//!
//! sp-emit prints the attributes and the derive parses them. One table defines both, so that the two cannot
//! diverge.

#![deny(clippy::print_stderr, clippy::print_stdout, clippy::dbg_macro)]

mod attribute;
mod attribute_value;
mod attributes;
mod decline_message;
mod derive;
mod ident;
mod kernel;
pub mod layout;
mod minimum;
mod op;
mod vtable;

pub use attribute::{FieldFacts, Receiver, StructFacts};
pub use attribute_value::derive as attribute_value;
pub use attributes::derive as attributes;
pub use decline_message::{DECLINE_MESSAGES, c_decline_messages, expand as decline_message};
pub use derive::derive;
pub use ident::ident;
pub use kernel::custom::attribute as kernel_of_op;
pub use kernel::element::ELEMENTS;
pub use kernel::{attribute as kernel, table as kernels};
pub use minimum::attribute as plugin;
pub use op::attribute as op;
pub use vtable::{attribute as vtable, forward as forward_slots};
