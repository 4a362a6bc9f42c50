//! `sp-gen import` with malicious working directories, header trees, locks, servers and wheels. The tests use no
//! network: servers listen on loopback addresses, and pip is configured for them.

#[cfg(unix)]
mod foreign_files;
mod interrupt;
#[path = "../libclang/mod.rs"]
mod libclang;
mod lock;
mod malicious_directory;
#[cfg(unix)]
mod malicious_tree;
mod network;
#[cfg(unix)]
mod ops;
mod scene;
#[path = "../temporary_folder/mod.rs"]
#[allow(dead_code, reason = "the scene runs commands of its own")]
mod temporary_folder;
