//! What the binary carries, so that it works outside its checkout: builtin headers, API notes and
//! IR snapshots. The build script writes the tables from the files.

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
