//! The input of a parse.

use std::path::PathBuf;

/// The target whose layouts a snapshot records.
pub const DEFAULT_TARGET: &str = "x86_64-unknown-linux-gnu";

/// The input of a parse.
#[derive(Debug, Clone)]
pub struct ParseInput {
    /// The folder that `#include "tensorflow/c/..."` starts from.
    pub include_root: PathBuf,
    /// The headers, relative to it.
    pub headers: Vec<String>,
    /// The target triple.
    pub target: String,
}

impl ParseInput {
    /// Returns true if `header` is one of the input's own headers, not only included by them.
    pub fn has(&self, header: &str) -> bool {
        self.headers.iter().any(|own| own == header)
    }
}
