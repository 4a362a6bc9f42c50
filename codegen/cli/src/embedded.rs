//! The crates that a scaffold vendors. The build script writes the tables from the files.

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
