//! Rust plugins for TensorFlow, from its own C headers.
//!
//! Data flows one way through these modules: a release's headers are imported, read by clang,
//! annotated with the contract, kept as IR, and emitted as Rust. `commands` is the thin top.

pub mod abi;
mod c;
pub mod clang;
pub mod commands;
pub mod console;
pub mod contract;
mod crew;
pub mod demands;
pub mod diagnostic;
pub mod doctor;
pub mod embedded;
pub mod emit;
pub mod explain;
pub mod extract;
pub mod history;
pub mod import;
pub mod lint;
pub mod operand;
pub mod plugin;
mod python;
pub mod report;
pub mod scaffold;
pub mod snapshots;
pub mod suggest;
pub mod suppress;
pub mod symbols;
pub mod temporary;
pub mod tree;
pub mod verify;

pub use extract::extract;
