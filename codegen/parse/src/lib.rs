//! Reads C headers into the IR: `api_headers` selects the headers of a release, `clang` reads their declarations,
//! `contract` adds the facts that comments and notes state, `extract` is the whole pipeline.

pub mod api_headers;
pub mod clang;
pub mod contract;
pub mod extract;
mod identifier;
pub mod include;
pub mod source;

pub use extract::extract;
