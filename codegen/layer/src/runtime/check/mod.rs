//! Checks of calls while a program runs.

use super::description::Function;

/// Checks a call before it is made.
///
/// # Safety
/// The arguments are those of a call with the signature of `function`.
pub unsafe fn before(_: &'static Function, _: &[u64]) {}

/// Checks a call that has returned.
///
/// # Safety
/// As of [`before`].
pub unsafe fn after(_: &'static Function, _: &[u64], _: u64) {}

/// Reports what remains at the end of the process.
pub fn at_exit() {}
