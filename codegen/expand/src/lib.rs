//! The `#[abi(..)]` grammar and the expansions of the macros.
//!
//! Printer and parser of the grammar are in one file, so that the committed structs of sp-abi and the
//! derive that reads them cannot diverge.

#![deny(clippy::print_stderr, clippy::print_stdout, clippy::dbg_macro)]

mod attribute;
mod attribute_value;
mod attributes;
mod derive;
mod kernel;
pub mod layout;
mod minimum;
pub mod structure;
pub mod ty;
mod vtable;

pub use attribute::{FieldFacts, Receiver, StructFacts};
pub use attribute_value::derive as attribute_value;
pub use attributes::derive as attributes;
pub use derive::derive;
pub use kernel::{attribute as kernel, table as kernels};
pub use minimum::attribute as plugin;
pub use structure::print_struct;
pub use vtable::{attribute as vtable, forward as forward_slots};
