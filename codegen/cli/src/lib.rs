//! The commands of `sp-gen`, their reports, and the scaffold of a plugin.
//!
//! `commands` parses arguments and prints results. The work is done by the other modules and by the crates sp-fetch,
//! sp-parse, sp-emit, sp-diff and sp-host.

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
pub mod ops;
pub mod report;
pub mod scaffold;
pub mod tree;
pub mod verify;
