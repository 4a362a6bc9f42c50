//! A test host: a small TensorFlow core that loads a plugin as TensorFlow does, on machines without
//! TensorFlow. It emulates any [`EmulatedRelease`] from [`sp_ir::Release::FIRST_SUPPORTED`] on, whose APIs the caller
//! passes as data ([`sp_ir::Api`]).
//!
//! [`Host`] runs kernels in this process. [`run_all_checks`] verifies a plugin, each check in a child process.
//! [`Suite`] combines both in the `main` of a test without a harness:
//!
//! ```no_run
//! use std::process::ExitCode;
//!
//! use sp_host::{Host, Op, Suite, Tensor};
//!
//! fn adds(host: &Host) {
//!     let x = Tensor::from([2], &[1f32, 2.0]);
//!     let outputs = host.run(&Op::new("AddV2"), &[x.clone(), x]).unwrap();
//!     assert_eq!(outputs, [Tensor::from([2], &[2f32, 4.0])]);
//! }
//!
//! fn main() -> ExitCode {
//!     let apis: Vec<sp_ir::Api> = vec![]; // the snapshots of one release
//!     let plugin = sp_host::plugin_beside_exe("myaccel").unwrap();
//!     Suite::new(&apis, plugin).test("adds", adds).run()
//! }
//! ```
//!
//! [`unimplemented()`] lists the C functions that this host does not implement; a call of one is reported.
//!
//! The modules have no cycles:
//!
//! ```text
//! child_checks -> verification, check
//! suite, listing, verification -> check -> kernel_run, optimizer, profiler, host -> core -> tensor_buffer -> executor
//! executor, plugin -> call -> status_object, contract_watch -> objects -> record, fault -> hung_calls -> channel -> registration, contract
//! fake_library -> core, elf      release -> quirks      all -> error, dtype, memory, text
//! ```
//!
//! A check's child process reports through `channel`, never by stdout or stderr.

mod api_calls;
mod call;
mod channel;
mod check;
mod child;
pub mod child_checks;
mod contract;
mod contract_watch;
mod core;
mod dl;
mod dtype;
mod elf;
mod error;
mod executor;
mod fake_library;
mod fault;
mod graph;
mod guarded;
mod hold;
mod host;
mod host_bytes;
mod hung_calls;
mod kernel_run;
mod leak_exempt;
mod listing;
mod memory;
mod objects;
mod op;
mod optimizer;
mod outcome;
mod plugin;
mod plugin_settings;
mod prepared_call;
mod profiler;
mod proto;
mod quirks;
mod record;
mod registration;
mod release;
mod requirements;
mod shape_inference;
#[cfg(test)]
mod signatures;
mod status_object;
mod suite;
mod tensor_buffer;
mod test_tensor;
mod text;
mod variable;
mod verification;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use api_calls::record_api_calls;
pub use check::{CHECKS, Check};
pub use child::{child_plugin, child_release, is_child, kill_children};
pub use contract::Contract;
pub use core::Attr;
pub use dtype::{DType, Element};
pub use error::{Error, StatusCode};
pub use fake_library::unimplemented;
pub use host::Host;
pub use kernel_run::CreatedKernel;
pub use listing::{Registrations, list_registrations};
pub use objects::{ObjectKind, ObjectReport};
pub use op::Op;
pub use outcome::{CheckOutcome, CheckStatus, exit_code, summary};
pub use plugin::ENTRY_POINTS;
pub use prepared_call::PreparedCall;
pub use registration::{DefinedOp, LackingOp, RegisteredKernel};
pub use release::{EMULATED_APIS, EmulatedRelease, Installation, ReleaseExports};
pub use requirements::CORE_PLATFORMS;
pub use suite::{Suite, child_main, plugin_beside_exe};
pub use test_tensor::Tensor;
pub use text::escape_control;
pub use variable::{Variable, VariableReader};
pub use verification::{VerifyOptions, run_all_checks, run_check, verify};

/// Locks `mutex`, also if a thread has panicked with the lock.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
