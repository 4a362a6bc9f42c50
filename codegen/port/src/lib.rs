//! Kernels and ops that C++ sources register, and their skeletons in Rust.
//!
//! ```text
//! lexer -> tokens -> expand (macros, type_lists) -> scan -> kernel_builder, op_builder -> Registrations
//! Registrations, op definitions of sp-ops -> plan: groups of registrations, one function each -> print -> a Rust file
//! ```
//!
//! No C++ compiler and no libclang reads the sources: a registration is a chain of calls, which tokens show after the
//! expansion of macros. What a type, a constant or a macro of another file stands for is not known here, and such
//! a registration is [`Unread`].
//!
//! A source may be any text. Each step and each copy is taken from a budget, and nothing recurses without a limit.

#![deny(clippy::print_stderr, clippy::print_stdout, clippy::dbg_macro)]

mod chain;
mod element;
mod expand;
mod kernel_builder;
mod lexer;
mod macros;
mod names;
mod op_builder;
mod op_text;
mod plan;
mod print;
mod registration;
pub mod rules;
mod rust_types;
mod scan;
mod token;
mod type_lists;

pub use plan::{Options, Plan, PlannedKernel, PlannedOp};
pub use print::print;
pub use registration::{
    KernelRegistration, OpRegistration, Position, Registrations, Source, Unread,
};
pub use scan::scan;
