//! Symbols of shared libraries, ELF and Mach-O. A library is read in ranges, since large ones are members of remote
//! wheels.
//!
//! The crate object is not used: a library is a compressed member of a remote wheel, of which only the front is
//! fetched, and `prefix` reads symbols without section headers.

pub mod binary;
pub mod elf;
pub mod macho;
pub mod names;
pub mod prefix;
#[cfg(any(test, feature = "sample"))]
pub mod sample;
pub mod section;
#[cfg(test)]
mod sizes;
