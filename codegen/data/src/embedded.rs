//! Files embedded in the binary, so that it works outside of a checkout: builtin headers, API notes, snapshots, symbols
//! and demands. The build script writes the tables.

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
