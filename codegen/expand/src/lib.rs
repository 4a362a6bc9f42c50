//! The `#[abi(..)]` grammar and what the macros expand to.
//!
//! Printer and parser of the grammar stand in one file, so that sp-abi's committed structs and the
//! derive that reads them cannot drift apart.

#![deny(clippy::print_stderr, clippy::print_stdout, clippy::dbg_macro)]

mod attribute;
mod attributes;
mod derive;
mod kernel;
pub mod layout;
mod minimum;
pub mod structure;
pub mod ty;
mod vtable;

pub use attribute::{FieldFacts, Receiver, StructFacts};
pub use attributes::derive as attributes;
pub use derive::derive;
pub use kernel::attribute as kernel;
pub use minimum::attribute as plugin;
pub use structure::print_struct;
pub use vtable::{attribute as vtable, forward as forward_slots};
