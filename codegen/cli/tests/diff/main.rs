//! `sp-gen diff` as a process: operands, output and exit status.

mod formats;
mod hosts;
mod operands;
mod plugin;
mod scene;
mod schema;
mod suppressed;
#[path = "../temporary_folder/mod.rs"]
mod temporary_folder;
mod unread;
mod workflow;
