//! The commands of `sp-gen`, their reports, and the scaffold of a plugin.
//!
//! `commands` parses arguments and prints results. The work is done by the other modules and by the crates sp-fetch,
//! sp-parse, sp-emit, sp-diff and sp-host.
//!
//! ```text
//! commands -> sp-fetch -> sp-parse: api_headers, clang, contract, extract   read a release: wheel, headers, IR
//!          -> sp-fetch::symbols -> sp-library                              the exports of its libraries
//!          -> sp-data -> sp-emit | history | lint | tree                   the IR as code, tables, pages, findings
//!          -> scaffold                                          a plugin, from templates and vendored crates
//!             scaffold::update -> disk -> sp_system::replacement   its vendored crates and lock, updated
//!          -> port -> sp-port                               kernels and ops in C++, their skeletons in Rust
//!          -> doctor -> verify::dependencies, sp-library        why an installed plugin's device is not listed
//!          -> layer -> sp-layer                             a program with every call of a plugin shown or checked
//!          -> replay -> sp-layer, sp-host                    the kernel calls of a capture, repeated and compared
//!          -> coverage                                         the ops of a program by the kernel that computed them
//!          -> operand -> sp-diff -> report                      two sides, their differences and effects
//!             sp-diff::plugin, suppress                         the findings that concern one plugin; accepted ones
//!          -> explain -> sp-diff, lint, sp-host                 the page of every rule and check
//! history, sp-diff, sp-emit -> sp_ir::c                         an item as a C programmer writes it
//! ```
//!
//! An error type is in the crate where the error occurs; `diagnostic::handler` formats all of them. Reading over a
//! network fails in other ways than reading a file, so the traits `Source` and `Binary` have an associated type
//! `Error`. `println!` and `eprintln!` panic if the stream is full, so results go through `console`.

pub mod commands;
pub mod console;
pub mod coverage;
pub mod diagnostic;
pub mod disk;
pub mod doctor;
pub mod embedded;
pub mod explain;
pub mod history;
pub mod layer;
pub mod lint;
pub mod listing;
pub mod operand;
pub mod ops;
pub mod port;
pub mod replay;
pub mod report;
mod rule;
pub mod scaffold;
pub mod tree;
pub mod verify;
