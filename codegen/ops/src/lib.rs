//! TensorFlow's op definitions of all supported releases: arguments, attributes and flags, each with the releases that
//! have them.
//!
//! [`find`] reads one op of the table in the binary, `generated/ops/ops.txt`, and parses nothing else. `sp-gen import
//! tensorflow --ops` writes that table from a [`Registry`].
//!
//! ```
//! use sp_ops::{DataType, Release};
//!
//! let op = sp_ops::find("TopKV2").expect("the op exists");
//! assert_eq!(op.inputs[0].item.to_string(), "input: T");
//! let index_type = op.attribute_declarations("index_type").next().expect("it has the attribute");
//! assert_eq!(index_type.releases.first(), Some(Release::from_minor(2, 13)));
//! let types = op.allowed_types("index_type").expect("its types are restricted");
//! assert_eq!(types[0].0, DataType::INT32);
//! assert_eq!(types[0].1.to_string(), "2.13..");
//!
//! let older = op.in_release(Release::from_minor(2, 12)).expect("2.12 has the op");
//! assert!(older.attribute("index_type").is_none());
//! ```
//!
//! Declarations that several releases spell alike are one line of the table, so a new release changes the lines of
//! only those ops that it changed.

#![deny(clippy::print_stderr, clippy::print_stdout, clippy::dbg_macro)]

mod attribute;
mod cursor;
mod data_type;
mod definition;
mod kind;
mod line;
mod merge;
mod op;
mod registry;
mod release_ops;
mod table;
mod validate;
mod value;

pub use attribute::{AllowedValues, Attribute};
pub use data_type::DataType;
pub use definition::{Argument, ArgumentType, ElementType, Flag, OpDef};
pub use kind::{AttributeKind, AttributeType};
pub use op::{Declared, Op};
pub use registry::Registry;
pub use release_ops::ReleaseOps;
pub use sp_ir::{Release, ReleaseRun, ReleaseSet};
pub use table::{Table, TableError};
pub use validate::InvalidOp;
pub use value::{Shape, Value};

/// Returns the op `name` of the table in the binary, or `None` if no release has it.
pub fn find(name: &str) -> Option<Op> {
    Table::embedded().find(name)
}

/// Returns the releases of the table in the binary, oldest first.
pub fn releases() -> Vec<Release> {
    Table::embedded().releases().collect()
}

/// Returns the names of all ops of the table in the binary, sorted.
pub fn names() -> impl Iterator<Item = &'static str> {
    Table::embedded().names()
}
