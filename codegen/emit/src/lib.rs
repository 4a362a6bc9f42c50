//! Emission of the IR as the Rust crate sp-abi and as C headers. Equal IR gives equal bytes.
//!
//! `model` computes the facts that both languages share; `rust` and [`c`] print them.

pub mod c;
mod contexts;
mod model;
mod rust;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use sp_data::symbols::Symbols;
use sp_ir::Api;

pub use contexts::EmitError;
pub use rust::printing;

/// Generated files, by their path inside the output folder.
pub type Files = BTreeMap<String, String>;

/// Emits the crate sp-abi for `apis`, which refer to each other's names. There may be several releases of each
/// API. `symbols` are the exported symbols of the wheels.
///
/// # Errors
/// Returns an error if a name is declared twice or not at all, if a slot lacks a fact that its shim needs, or
/// if a plugin cannot distinguish two layouts.
pub fn emit_rust(apis: &[Api], symbols: &Symbols) -> Result<Files, EmitError> {
    contexts::with_contexts(apis, symbols, rust::print)
}

/// Emits C headers for `apis`, by their file names.
///
/// # Errors
/// Returns an error if no Rust code can be emitted for the same APIs: see [`emit_rust`].
pub fn emit_c(apis: &[Api], symbols: &Symbols) -> Result<Files, EmitError> {
    contexts::with_contexts(apis, symbols, |contexts| c::print(apis, contexts))
}
