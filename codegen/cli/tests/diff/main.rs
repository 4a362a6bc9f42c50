//! `sp-gen diff` as a process: operands, output and exit status.

mod formats;
mod operands;
mod plugin;
mod scene;
mod schema;
mod suppressed;
#[path = "../common/temporary_folder.rs"]
mod temporary_folder;
mod workflow;
