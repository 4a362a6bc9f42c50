//! Operating system services that several crates of sp-gen share: files that are replaced all or none, temporary files
//! that are also removed on a signal, file locks, a Python process that imports nothing from the current directory, its
//! answer within limits, parallel iteration, hashes, the limits for untrusted input, and [`errors!`], which declares errors.

pub mod budget;
pub mod child;
mod error_enum;
pub mod file_lock;
pub mod hash;
pub mod input;
pub mod parallel;
pub mod python;
pub mod replacement;
pub mod temporary;
pub mod user;
