//! `sp-gen import` under hostile conditions: working directories, header trees, locks, servers and wheels. No test leaves
//! the machine: servers listen on loopback addresses, and pip is pointed at them.

mod hostile_directory;
#[cfg(unix)]
mod hostile_tree;
mod interrupt;
mod lock;
mod network;
mod scene;
