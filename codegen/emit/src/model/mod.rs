//! The facts that both languages are emitted from: every name, its releases, layouts and signatures, and the
//! texts about them. No module here prints code.

pub mod catalog;
pub mod context;
pub mod docs;
pub mod epochs;
pub mod exports;
pub mod features;
pub mod host_callbacks;
pub mod item_releases;
pub mod offsets;
pub mod older_signatures;
pub mod parameter_docs;
pub mod references;
pub mod releases;
pub mod retyped;
pub mod timeline;
