//! Forked children. A child has the parent's memory and only one of its threads: a mutex that another thread
//! held stays locked, worker threads are gone, and hardware does not follow. So what is made in one process
//! is not used in another.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::{Code, Error, Result};

/// How often the process was forked since the plugin was loaded, on the way to this child.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// The process in which a value was made. Forks that run no `pthread_atfork` handlers, such as `vfork` and a
/// bare `clone`, go unseen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process(u32);

impl Process {
    /// Returns this process.
    #[inline]
    pub fn current() -> Self {
        watch();
        Self(FORKS.load(Ordering::Relaxed))
    }

    /// Returns true if this is still the same process, not a forked child.
    #[inline]
    pub fn is_current(self) -> bool {
        self == Self(FORKS.load(Ordering::Relaxed))
    }

    /// Checks that `what` is used in the process that made it.
    ///
    /// # Errors
    /// Returns an error in a forked child.
    #[inline]
    pub fn check(self, what: &str) -> Result<()> {
        match self.is_current() {
            true => Ok(()),
            false => Err(forked(what)),
        }
    }
}

#[cold]
fn forked(what: &str) -> Error {
    let message = format!(
        "{what} was opened before this process was forked, and only the parent can use it: start processes with `spawn`, or before the first use of the device"
    );
    Error::new(Code::FAILED_PRECONDITION, message)
}

/// The claim of a process to a static, such as a pool of threads. The first process that asks has it, and
/// its forked children do not.
pub struct Claim(AtomicU32);

impl Claim {
    /// Returns a claim that no process has.
    pub const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Returns true if this process has the claim, or had nobody before it.
    pub fn is_ours(&self) -> bool {
        let this = Process::current().0 + 1;
        let owner = match self.0.load(Ordering::Relaxed) {
            0 => self
                .0
                .compare_exchange(0, this, Ordering::Relaxed, Ordering::Relaxed),
            owner => Err(owner),
        };
        owner.map_or_else(|owner| owner == this, |_| true)
    }
}

impl Default for Claim {
    fn default() -> Self {
        Self::new()
    }
}

/// Counts forks from the first call on.
fn watch() {
    static WATCHED: AtomicBool = AtomicBool::new(false);
    // Not a `Once`: a fork during its initialisation would leave a child that waits for ever.
    if !WATCHED.load(Ordering::Relaxed) && !WATCHED.swap(true, Ordering::Relaxed) {
        // SAFETY: the handler only adds to an atomic, which a child of a threaded process may do. It is
        // removed with the library. Without memory for it no fork is seen.
        unsafe { libc::pthread_atfork(None, None, Some(count)) };
    }
}

unsafe extern "C" fn count() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn child_is_another_process_and_has_no_claim() {
        let (parent, claim, free) = (Process::current(), Claim::new(), Claim::new());
        assert!(claim.is_ours());
        // SAFETY: the child only compares numbers and exits.
        match unsafe { libc::fork() } {
            0 => {
                let is_other = !parent.is_current() && Process::current() != parent;
                let is_other = is_other && !claim.is_ours() && free.is_ours();
                // SAFETY: ends the child without running what the parent registered.
                unsafe { libc::_exit(if is_other { 0 } else { 1 }) }
            }
            child => {
                let mut status = -1;
                // SAFETY: waits for a child of this process.
                unsafe { libc::waitpid(child, &raw mut status, 0) };
                assert_eq!(status, 0);
                assert!(claim.is_ours() && parent.is_current() && parent.check("a device").is_ok());
            }
        }
    }

    #[test]
    fn error_says_what_was_opened_and_what_to_do() {
        let other = Process(Process::current().0 + 1);
        let error = other.check("the device").unwrap_err();
        assert_eq!(error.code(), Code::FAILED_PRECONDITION);
        assert!(error.message().starts_with("the device was opened before"));
    }
}
