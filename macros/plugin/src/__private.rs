//! Items for the expansions of the macros. They may change in any release, and are not for direct use.

pub use crate::entry::register_kernels;
