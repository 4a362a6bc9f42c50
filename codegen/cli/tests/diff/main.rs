//! `sp-gen diff` as a whole process: what it takes, what it prints, how it ends.

#[path = "../common/folder.rs"]
mod folder;
mod formats;
mod operands;
mod plugin;
mod scene;
mod schema;
mod suppressed;
mod workflow;
