//! The layer between TensorFlow and a plugin: a shared library that records and checks every call, for any plugin.
//!
//! [`generate`] writes its sources from the IR of one release: a wrapper for each function of core, thunks for each slot,
//! stubs for each callback. `runtime` is the rest of the library, which is the same for all releases. It is a module of
//! this crate too, so that its tests run here, and so that the command reads what it has written.
//! [`library`] compiles it, once for a release and compiler, and [`trace`] writes its records as text or for Perfetto.
//! [`mod@capture`] reads and writes captures.

pub mod capture;
pub mod generate;
pub mod library;
pub mod runtime;
pub mod trace;
