//! Functions that run when the process exits.
//!
//! TensorFlow destroys neither devices nor streams at exit, so threads that a plugin has started are still running while
//! the C library destroys the statics that they use.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::fork::Process;
use crate::guard;

/// A function to run, in the process that added it.
struct Hook {
    process: Process,
    function: Box<dyn FnOnce() + Send>,
}

static HOOKS: Mutex<Vec<Hook>> = Mutex::new(Vec::new());

/// Runs `function` when the process exits, before the functions that were added earlier. It does not run in a forked
/// child, nor if the process ends without `exit`.
pub fn on_exit(function: Box<dyn FnOnce() + Send>) {
    static REGISTERED: AtomicBool = AtomicBool::new(false);
    let process = Process::current();
    let mut hooks = HOOKS.lock().unwrap_or_else(PoisonError::into_inner);
    hooks.push(Hook { process, function });
    if !REGISTERED.swap(true, Ordering::Relaxed) {
        // SAFETY: `run_hooks` does not unwind, and the C library forgets it when it unloads this library.
        // An error, which means no memory, leaves the hooks without effect.
        unsafe { libc::atexit(run_hooks) };
    }
}

extern "C" fn run_hooks() {
    loop {
        // Not `lock`: in a forked child, a thread that the child lacks may hold it.
        let Ok(mut hooks) = HOOKS.try_lock() else {
            return;
        };
        let Some(hook) = hooks.pop() else {
            return;
        };
        drop(hooks);
        // A forked child drops the function here, and the drop may panic too.
        guard::run_with_default("an exit hook", (), move || {
            if hook.process.is_current() {
                (hook.function)();
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_run_at_exit_in_reverse_order_and_not_in_forked_child() {
        let mut pipe = [0; 2];
        // SAFETY: `pipe` has room for two descriptors.
        assert_eq!(unsafe { libc::pipe(pipe.as_mut_ptr()) }, 0);
        let [reader, writer] = pipe;
        let write = move |byte: u8| {
            // SAFETY: the byte is readable.
            unsafe { libc::write(writer, (&raw const byte).cast(), 1) };
        };
        // Added by this process, so no child runs it.
        on_exit(Box::new(move || write(b'p')));
        // SAFETY: the child only adds hooks and exits; no other thread of this test binary uses the hooks.
        match unsafe { libc::fork() } {
            0 => {
                on_exit(Box::new(move || write(b'1')));
                on_exit(Box::new(|| panic!("expected")));
                on_exit(Box::new(move || write(b'2')));
                run_hooks();
                // SAFETY: `_exit` has no preconditions.
                unsafe { libc::_exit(0) }
            }
            child => {
                let (mut status, mut bytes) = (-1, [0_u8; 8]);
                // SAFETY: `child` is a child of this process; the descriptor and the buffer are live.
                let read = unsafe {
                    libc::waitpid(child, &raw mut status, 0);
                    libc::read(reader, bytes.as_mut_ptr().cast(), bytes.len())
                };
                assert_eq!((status, read), (0, 2));
                assert_eq!(&bytes[..2], b"21");
            }
        }
    }
}
