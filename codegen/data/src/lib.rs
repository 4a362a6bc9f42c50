//! Data about all releases: snapshots of the IR, exported symbols, required fields. The committed files are embedded in
//! the binary; a user's cache adds the releases that the user has imported.

pub mod demand;
pub mod embedded;
pub mod features;
pub mod folders;
mod json;
pub mod ops;
pub mod platform;
pub mod release;
pub mod required_fields;
pub mod snapshots;
pub mod suggest;
pub mod symbols;
