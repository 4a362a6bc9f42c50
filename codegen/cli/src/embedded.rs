//! The files of the crates that a scaffold vendors. The build script writes these tables.

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
