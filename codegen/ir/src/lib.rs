//! The intermediate representation (IR): an [`Api`] describes one C API in one release of TensorFlow.
//!
//! In C the name is the id, so items are a map by name, and types refer to each other by name. The IR is
//! plain data. Its use needs no clang, and without the `serde` feature it has no dependencies.

#![deny(clippy::print_stderr, clippy::print_stdout, clippy::dbg_macro)]

mod api;
pub mod c;
mod canonical;
mod contract;
mod history;
mod item;
mod layout;
mod release;
mod release_set;
#[cfg(feature = "serde")]
mod snapshot;
#[cfg(feature = "serde")]
mod spelling;
mod ty;
mod used;
#[cfg(feature = "serde")]
mod validate;
mod visit;

pub use api::{Api, Imports, Items, Loc, SCHEMA, TargetDifference, Targets};
pub use contract::{
    Direction, Discriminator, Evidence, Presence, Receiver, Scope, Side, Stated, Transfer, Writer,
};
pub use history::{Epoch, Epochs, History, Origin, Record};
pub use item::{
    Alias, Callback, Constant, Enum, Field, Function, Handle, Item, Struct, Union, Value, Variant,
};
pub use layout::{Layout, StructSize};
pub use release::{Release, Stage};
pub use release_set::{ReleaseRun, ReleaseSet};
#[cfg(feature = "serde")]
pub use snapshot::SnapshotError;
pub use ty::{Param, Signature, Type, Visibility};
#[cfg(feature = "serde")]
pub use validate::InvalidText;
pub use visit::Visited;
