//! Run-time support of plugins, independent of any one API: views that respect `struct_size`,
//! `TF_Status` as `Result`, a guard that lets no panic cross `extern "C"`, and `TF_*` functions
//! looked up in the running process instead of at link time.
//!
//! The structs of the APIs are in sp-abi.

// A print panics if its stream cannot be written: `report!` does not.
#![deny(clippy::print_stderr, clippy::print_stdout, clippy::dbg_macro)]

// The derive's expansion names this crate by its path, also in this crate's own tests.
extern crate self as sp_runtime;

pub mod allocation;
pub mod availability;
pub mod c_header;
pub mod declarations;
mod error;
mod exception;
pub mod exit;
pub mod fork;
mod function;
pub mod guard;
pub mod handle;
pub mod host;
mod host_headers;
mod host_layout;
pub mod installation;
pub mod loaded_library;
mod payload;
mod prefix;
pub mod python;
pub mod release;
pub mod report;
mod reservation;
mod status;
pub mod symbol;
pub mod thread;
pub mod validation;
pub mod variable;
pub mod writer;

pub use error::{Code, Error, Result};
pub use function::{Function, HostFunction, OlderSignature, UnavailableFunction};
pub use host::{Host, HostRequirements, KnownReleases, ReleaseSymbol, UnknownRelease};
#[doc(hidden)]
pub use host_layout::HostLayoutCell;
pub use prefix::{Epoch, Field, Prefix, PrefixMut, Versioned};
pub use release::{FIRST_SUPPORTED, Release, Releases};
pub use reservation::AddressRange;
pub use sp_macros::{
    Abi, AttributeValue, Attributes, forward_slots, kernel, kernel_of_op, kernels, op, plugin,
    vtable,
};
pub use status::{RawStatus, Status};
