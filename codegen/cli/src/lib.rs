//! Rust plugins for TensorFlow, from its own C headers.
//!
//! Data flows one way through these modules: a release's headers are imported, read by clang,
//! annotated with the contract, kept as IR, and emitted as Rust. `commands` is the thin top.

pub mod commands;
pub mod console;
pub mod diagnostic;
pub mod disk;
pub mod doctor;
pub mod embedded;
pub mod explain;
pub mod history;
pub mod lint;
pub mod operand;
pub mod report;
pub mod scaffold;
pub mod tree;
pub mod verify;
