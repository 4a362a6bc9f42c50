//! The `#[abi(..)]` grammar and the expansions of the macros.
//!
//! Printer and parser of the grammar are in one file, so that the committed structs of sp-abi and the
//! derive that reads them cannot diverge.

#![deny(clippy::print_stderr, clippy::print_stdout, clippy::dbg_macro)]

mod attribute;
mod attributes;
mod decline_message;
mod derive;
mod kernel;
pub mod layout;
mod minimum;
pub mod structure;
pub mod ty;
mod vtable;

pub use attribute::{FieldFacts, Receiver, StructFacts};
pub use attributes::derive as attributes;
pub use decline_message::{DECLINE_MESSAGES, c_decline_messages, expand as decline_message};
pub use derive::derive;
pub use kernel::attribute as kernel;
pub use minimum::attribute as plugin;
pub use structure::print_struct;
pub use vtable::{attribute as vtable, forward as forward_slots};
