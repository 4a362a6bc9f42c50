//! A reader of the programs that JAX sends to `PJRT_Client_Compile`: MLIR bytecode of the VHLO dialect, the versioned form
//! of StableHLO. An experiment, on which no other crate depends; `codegen/docs/stablehlo.md` has its result.
//!
//! [`Module::read`] takes any bytes: all counts, sizes and references are checked, nesting is limited, and an error has
//! the offset of the byte. [`Module::to_text`] prints the generic form of MLIR, character by character as jaxlib does,
//! which is how the tests compare the two. The crate has no dependencies, so that a plugin can copy it.

#![forbid(unsafe_code)]
#![deny(clippy::print_stderr, clippy::print_stdout, clippy::dbg_macro)]

mod cursor;
mod elements;
mod entry;
mod error;
mod layout;
mod operation;
mod print;
mod properties;
mod section;
mod table;

pub use elements::{Element, Elements};
pub use entry::{Entry, Value};
pub use error::ReadError;
pub use layout::{Kind, Layout};
pub use operation::{Block, Module, Operation, Properties, Region};
pub use print::TextTooLong;
pub use section::Dialect;
