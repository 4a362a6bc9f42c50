//! Detection of forked child processes.
//!
//! A child has the parent's memory and only one of its threads. A mutex that another thread held stays
//! locked, worker threads are gone, and the child has no connection to the hardware. So a value that was
//! created in one process is not used in another.
//!
//! A kernel on a device from before the fork returns `FAILED_PRECONDITION`, and sp-cpu computes without its pool
//! there. State that a child can find half-initialized is an atomic, not a `OnceLock`.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::error::{Code, Error, Result};

/// Number of forks between the process that loaded the plugin and this one.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// The process in which a value was created. Forks that run no `pthread_atfork` handlers, such as `vfork`
/// and a bare `clone`, are not detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process(u32);

impl Process {
    /// Returns this process.
    #[inline]
    pub fn current() -> Self {
        register_fork_handler();
        Self(FORKS.load(Ordering::Relaxed))
    }

    /// Returns true if this is still the same process, not a forked child.
    #[inline]
    pub fn is_current(self) -> bool {
        self == Self(FORKS.load(Ordering::Relaxed))
    }

    /// Checks that `object` is used in the process that created it.
    ///
    /// # Errors
    /// Returns an error in a forked child.
    #[inline]
    pub fn check(self, object: &str) -> Result<()> {
        match self.is_current() {
            true => Ok(()),
            false => Err(forked_error(object)),
        }
    }
}

#[cold]
fn forked_error(object: &str) -> Error {
    let message = format!(
        "{object} was opened before this process was forked, and only the parent can use it: start processes with `spawn`, or before the first use of the device"
    );
    Error::new(Code::FAILED_PRECONDITION, message)
}

/// Marks a static, such as a thread pool, as usable by one process only: the first that calls
/// [`try_claim`](Self::try_claim). Forked children of that process do not have the claim.
pub struct ProcessClaim(AtomicU32);

impl ProcessClaim {
    /// Creates a claim that no process has.
    pub const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Returns true if this process has the claim. A claim that no process has goes to this process.
    pub fn try_claim(&self) -> bool {
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

impl Default for ProcessClaim {
    fn default() -> Self {
        Self::new()
    }
}

/// The process to which a static belongs: the last one that called [`set_current`](Self::set_current).
#[derive(Default)]
pub struct OwnerProcess(AtomicU32);

impl OwnerProcess {
    /// Creates a value without a process.
    pub const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Makes this process the owner.
    pub fn set_current(&self) {
        self.0.store(Process::current().0 + 1, Ordering::Relaxed);
    }

    /// Checks that `object` is used in the owner's process, if there is an owner.
    ///
    /// # Errors
    /// Returns an error in a forked child of the owner.
    #[inline]
    pub fn check(&self, object: &str) -> Result<()> {
        match self.0.load(Ordering::Relaxed) {
            0 => Ok(()),
            owner => Process(owner - 1).check(object),
        }
    }
}

/// Starts to count forks, on the first call.
fn register_fork_handler() {
    static REGISTERED: AtomicBool = AtomicBool::new(false);
    // Not a `Once`: a fork during its initialisation would leave a child that waits for ever.
    if !REGISTERED.load(Ordering::Relaxed) && !REGISTERED.swap(true, Ordering::Relaxed) {
        // SAFETY: the handler only adds to an atomic, which is async-signal-safe, so a child of a threaded
        // process may do it. The C library removes the handler when it unloads this library.
        // An error, which means no memory, leaves forks undetected.
        unsafe { libc::pthread_atfork(None, None, Some(count_fork)) };
    }
}

unsafe extern "C" fn count_fork() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn child_is_another_process_and_has_no_claim() {
        let (parent, claim, free) = (Process::current(), ProcessClaim::new(), ProcessClaim::new());
        assert!(claim.try_claim());
        // SAFETY: the child only uses atomics and exits, so it needs no lock of another thread.
        match unsafe { libc::fork() } {
            0 => {
                let is_other = !parent.is_current() && Process::current() != parent;
                let is_other = is_other && !claim.try_claim() && free.try_claim();
                // SAFETY: `_exit` has no preconditions. It runs no exit handlers of the parent.
                unsafe { libc::_exit(if is_other { 0 } else { 1 }) }
            }
            child => {
                let mut status = -1;
                // SAFETY: `child` is a child of this process, and `status` is writable.
                unsafe { libc::waitpid(child, &raw mut status, 0) };
                assert_eq!(status, 0);
                assert!(
                    claim.try_claim() && parent.is_current() && parent.check("a device").is_ok()
                );
            }
        }
    }

    #[test]
    fn owner_is_the_last_process_that_was_set() {
        let owner = OwnerProcess::new();
        assert!(owner.check("a device").is_ok());
        owner.set_current();
        assert!(owner.check("a device").is_ok());
        owner.0.fetch_add(1, Ordering::Relaxed);
        assert!(owner.check("a device").is_err());
        owner.set_current();
        assert!(owner.check("a device").is_ok());
    }

    #[test]
    fn error_names_object_that_was_opened_before_fork() {
        let other = Process(Process::current().0 + 1);
        let error = other.check("the device").unwrap_err();
        assert_eq!(error.code(), Code::FAILED_PRECONDITION);
        assert!(error.message().starts_with("the device was opened before"));
    }
}
