//! The functions of the plugin that hung in a check. Each further check ends as skipped when it is about to call one of
//! them, since it would take the whole time limit.

use std::sync::{Mutex, OnceLock, PoisonError};

use crate::channel::{self, kind};

/// The environment variable with the functions that hung in earlier checks: a line for each, the name before a space.
pub(crate) const HUNG_CALLS: &str = "SP_HOST_HUNG_CALLS";

/// The functions that hung in the checks of one run.
#[derive(Debug, Default)]
pub(crate) struct HungCalls(Mutex<Vec<String>>);

impl HungCalls {
    /// Adds a function that hung in a check, unless it is known. A kernel's functions are not added: another kernel has
    /// others. Nor are the library's constructors: loading is a check of its own in each release.
    pub fn add(&self, call: &str, check: &str, release: &str) {
        if call.contains(' ') {
            return;
        }
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if calls.iter().all(|line| name(line) != call) {
            calls.push(format!("{call} {check} of {release}"));
        }
    }

    /// Returns the value of [`HUNG_CALLS`] for a child.
    pub fn lines(&self) -> String {
        let calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        calls.join("\n")
    }
}

/// In a child, ends the check as skipped if `call` hung in an earlier check.
pub(crate) fn skip_if_hung(call: &str) {
    static CALLS: OnceLock<String> = OnceLock::new();
    if !channel::is_open() {
        return;
    }
    let calls = CALLS.get_or_init(|| std::env::var(HUNG_CALLS).unwrap_or_default());
    let Some(detail) = reason(calls, call) else {
        return;
    };
    channel::send(kind::SKIP, &detail);
    // SAFETY: `_exit` takes a number and does not return. It runs no destructors, so that threads of the plugin
    // cannot access state that is partly destroyed.
    unsafe { libc::_exit(0) }
}

/// Returns the reason to skip a check that calls `call`, or `None` if it did not hang.
fn reason(calls: &str, call: &str) -> Option<String> {
    let line = calls.lines().find(|line| name(line) == call)?;
    let check = line.strip_prefix(call)?.trim_start();
    Some(format!("not run further: {call} hung in the check {check}"))
}

fn name(line: &str) -> &str {
    line.split(' ').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_that_calls_hung_function_has_reason() {
        let calls = HungCalls::default();
        calls.add("allocate", "allocate", "2.5");
        calls.add("allocate", "copies_sync", "2.6");
        calls.add("a kernel's compute function", "kernels", "2.6");
        let reason = |call| reason(&calls.lines(), call);
        let expected = "not run further: allocate hung in the check allocate of 2.5";
        assert_eq!(reason("allocate").as_deref(), Some(expected));
        assert_eq!(reason("deallocate"), None);
        assert_eq!(reason("a kernel's compute function"), None);
        assert_eq!(super::reason("", ""), None);
    }
}
