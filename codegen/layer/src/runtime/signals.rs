//! Signals that end the process: the last records are written before.

use super::guard;
use super::log;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV. Not SIGTERM: the program may be within the allocator, and go on after it.
const SIGNALS: [c_int; 5] = [4, 6, SIGBUS, 8, SIGSEGV];
const SIGBUS: c_int = 7;
const SIGSEGV: c_int = 11;
const SIG_DFL: usize = 0;
const SIG_IGN: usize = 1;
const SA_SIGINFO: c_int = 4;
const SA_ONSTACK: c_int = 0x0800_0000;
const SA_NODEFER: c_int = 0x4000_0000;

/// `struct sigaction` of glibc on 64-bit Linux.
#[repr(C)]
#[derive(Clone, Copy)]
struct Action {
    handler: usize,
    mask: [u64; 16],
    flags: c_int,
    restorer: usize,
}

static NO_ACTION: Action = Action {
    handler: SIG_DFL,
    mask: [0; 16],
    flags: 0,
    restorer: 0,
};

unsafe extern "C" {
    fn sigaction(signal: c_int, new: *const Action, old: *mut Action) -> c_int;
    fn raise(signal: c_int) -> c_int;
}

static PREVIOUS: [AtomicUsize; SIGNALS.len()] = [const { AtomicUsize::new(0) }; SIGNALS.len()];
static PREVIOUS_FLAGS: [AtomicUsize; SIGNALS.len()] =
    [const { AtomicUsize::new(0) }; SIGNALS.len()];
static IS_INSTALLED: AtomicBool = AtomicBool::new(false);
static IS_WRITTEN: AtomicBool = AtomicBool::new(false);

/// Installs the handlers. Later calls have no effect.
pub fn install() {
    if IS_INSTALLED.swap(true, Ordering::AcqRel) {
        return;
    }
    for (index, signal) in SIGNALS.into_iter().enumerate() {
        let mut old = NO_ACTION;
        // SAFETY: both structures have the layout of glibc, and a null pointer changes no action.
        unsafe { sigaction(signal, std::ptr::null(), &raw mut old) };
        if old.handler == SIG_IGN {
            continue;
        }
        PREVIOUS[index].store(old.handler, Ordering::Release);
        PREVIOUS_FLAGS[index].store(old.flags as usize, Ordering::Release);
        let new = Action {
            handler: handle as *const () as usize,
            mask: [0; 16],
            flags: SA_SIGINFO | SA_ONSTACK | SA_NODEFER,
            restorer: 0,
        };
        // SAFETY: the handler has the signature of SA_SIGINFO and lives as long as the process.
        unsafe { sigaction(signal, &raw const new, std::ptr::null_mut()) };
    }
}

/// Writes the records, and a finding about guarded memory, then does what the program had asked for.
///
/// The records are formatted here, which may allocate: if the signal came from within the allocator, the process could
/// stop here. Only the first signal is handled, and a log that is locked is not waited for.
extern "C" fn handle(signal: c_int, info: *mut c_void, context: *mut c_void) {
    if !IS_WRITTEN.swap(true, Ordering::AcqRel) {
        if matches!(signal, SIGBUS | SIGSEGV) {
            // SAFETY: the kernel passes a `siginfo_t`, whose third word is the address.
            guard::report_fault(unsafe { info.cast::<usize>().add(2).read() });
        }
        log::flush_all(true);
    }
    let index = SIGNALS.iter().position(|it| *it == signal).unwrap_or(0);
    let previous = PREVIOUS[index].load(Ordering::Acquire);
    let flags = PREVIOUS_FLAGS[index].load(Ordering::Acquire) as c_int;
    if previous == SIG_DFL {
        // SAFETY: the default action has no handler. The signal ends the process when this handler has returned.
        unsafe {
            sigaction(signal, &raw const NO_ACTION, std::ptr::null_mut());
            raise(signal);
        }
        return;
    }
    // SAFETY: the address is that of the program's handler, with the signature that its flags state.
    unsafe {
        if flags & SA_SIGINFO != 0 {
            let handler: extern "C" fn(c_int, *mut c_void, *mut c_void) =
                std::mem::transmute(previous);
            handler(signal, info, context);
        } else {
            let handler: extern "C" fn(c_int) = std::mem::transmute(previous);
            handler(signal);
        }
    }
}
