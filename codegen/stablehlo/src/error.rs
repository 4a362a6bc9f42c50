//! The error of the reader.

use std::fmt;

/// An error at a byte of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// Offset of the byte in the program.
    pub offset: usize,
    /// Description of the fault.
    pub message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {}", self.offset, self.message)
    }
}

impl std::error::Error for ReadError {}
