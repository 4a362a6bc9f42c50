//! `sp-gen diff` as a process: operands, output and exit status.

#[path = "../common/folder.rs"]
mod folder;
mod formats;
mod operands;
mod plugin;
mod scene;
mod schema;
mod suppressed;
mod workflow;
