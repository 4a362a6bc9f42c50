//! Reports of crashes. In a child, a signal handler finds the faulting address among the guarded records,
//! reports the struct and the call, and ends the process.
//!
//! Invariant: the handler calls async-signal-safe functions only: atomics, `sendmsg`, `write` and `_exit`.

use std::ffi::{c_int, c_void};
use std::io::Write;
use std::ptr::null_mut;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use crate::channel::{self, kind};
use crate::hung_calls;

/// The exit status of a child that touched a guarded page.
pub(crate) const GUARD_STATUS: i32 = 86;

/// The exit status of a child that took too long.
pub(crate) const HANG_STATUS: i32 = 87;

/// The exit status of a child whose plugin called a function that the host cannot have.
pub(crate) const UNSUPPORTED_STATUS: i32 = 88;

/// The exit status of a child that could not report its result.
pub(crate) const UNREPORTED_STATUS: i32 = 89;

struct Guard {
    taken: AtomicBool,
    start: AtomicUsize,
    end: AtomicUsize,
    /// Address of the record, for offsets in reports.
    record: AtomicUsize,
    name: AtomicPtr<&'static str>,
    retired: AtomicBool,
}

static GUARDS: [Guard; 512] = [const {
    Guard {
        taken: AtomicBool::new(false),
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        record: AtomicUsize::new(0),
        name: AtomicPtr::new(null_mut()),
        retired: AtomicBool::new(false),
    }
}; 512];

/// An entry of the guards, or `None` if all are in use: a fault is then reported without a name.
#[derive(Debug)]
pub(crate) struct GuardSlot(Option<usize>);

/// Registers `start..end` as out of bounds of the record `name`.
pub(crate) fn guard(
    start: usize,
    end: usize,
    record: usize,
    name: &'static &'static str,
) -> GuardSlot {
    let free = GUARDS.iter().position(|guard| {
        guard
            .taken
            .compare_exchange(false, true, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    });
    if let Some(guard) = free.map(|at| &GUARDS[at]) {
        guard.retired.store(false, Ordering::Release);
        guard.record.store(record, Ordering::Release);
        guard
            .name
            .store(std::ptr::from_ref(name).cast_mut(), Ordering::Release);
        guard.end.store(end, Ordering::Release);
        guard.start.store(start, Ordering::Release);
    }
    GuardSlot(free)
}

impl GuardSlot {
    /// Extends the guard to the whole record from `start`, which has been retired.
    pub fn retire(&self, start: usize) {
        if let Some(at) = self.0 {
            GUARDS[at].retired.store(true, Ordering::Release);
            GUARDS[at].start.store(start, Ordering::Release);
        }
    }

    /// Removes the guard before the memory is unmapped.
    pub fn release(&self) {
        if let Some(at) = self.0 {
            GUARDS[at].start.store(usize::MAX, Ordering::Release);
            GUARDS[at].taken.store(false, Ordering::Release);
        }
    }
}

static CALL: AtomicPtr<&'static str> = AtomicPtr::new(null_mut());

/// Sets the name of the plugin's function that runs next. Ends the check if that function hung in an earlier one.
pub fn set_current_call(call: &'static &'static str) {
    hung_calls::skip_if_hung(call);
    CALL.store(std::ptr::from_ref(call).cast_mut(), Ordering::Release);
}

/// Returns the name of the last called function of the plugin.
pub(crate) fn current_call() -> &'static str {
    text(&CALL).unwrap_or("no function yet")
}

fn text(pointer: &AtomicPtr<&'static str>) -> Option<&'static str> {
    // SAFETY: the pointer is null or comes from a `&'static &'static str`.
    unsafe { pointer.load(Ordering::Acquire).as_ref() }.copied()
}

static INSTALL: Once = Once::new();

/// Installs the handler that reports crashes. For children only: it replaces the handlers of Rust's runtime.
pub(crate) fn install() {
    INSTALL.call_once(|| {
        // SAFETY: an all-zero sigaction is one without flags and with an empty mask.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = on_fault as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESETHAND;
        for signal in [libc::SIGSEGV, libc::SIGBUS] {
            // SAFETY: the action is a live local variable, and the handler calls async-signal-safe functions only.
            unsafe { libc::sigaction(signal, &action, null_mut()) };
        }
    });
}

extern "C" fn on_fault(_signal: c_int, info: *mut libc::siginfo_t, _context: *mut c_void) {
    // SAFETY: the kernel passes a valid `siginfo_t` to a handler with SA_SIGINFO.
    let address = unsafe { (*info).si_addr() } as usize;
    match find(address) {
        Some(guard) => {
            report_guard_hit(guard, address);
            // SAFETY: `_exit` is async-signal-safe, takes a number and does not return.
            unsafe { libc::_exit(GUARD_STATUS) }
        }
        // The handler is reset by now: the access is tried again and ends the process.
        None => report_parts(&["crashed in ", current_call()]),
    }
}

fn find(address: usize) -> Option<&'static Guard> {
    GUARDS.iter().find(|guard| {
        let start = guard.start.load(Ordering::Acquire);
        let end = guard.end.load(Ordering::Acquire);
        guard.taken.load(Ordering::Acquire) && (start..end).contains(&address)
    })
}

fn report_guard_hit(guard: &Guard, address: usize) {
    let name = text(&guard.name).unwrap_or("a record");
    let record = guard.record.load(Ordering::Acquire);
    let mut digits = [0; 20];
    let offset = decimal(address.wrapping_sub(record), &mut digits);
    match guard.retired.load(Ordering::Acquire) {
        true => report_parts(&[
            current_call(),
            " used a ",
            name,
            " after it was moved or freed",
        ]),
        false => report_parts(&[
            current_call(),
            " touched byte ",
            offset,
            " of ",
            name,
            ", past its end",
        ]),
    }
}

/// Reports the concatenated parts to the parent, or writes them to stderr if there is none.
fn report_parts(parts: &[&str]) {
    if channel::is_open() {
        channel::send_parts(kind::NOTE, parts);
        return;
    }
    for part in ["sp-host: "].iter().chain(parts).chain(&["\n"]) {
        // SAFETY: the pointer and the length are those of `part`.
        unsafe { libc::write(2, part.as_ptr().cast(), part.len()) };
    }
}

/// Reports `text` to the parent, or writes it to stderr if there is none. Not for signal handlers.
pub fn report(text: &str) {
    match channel::is_open() {
        true => {
            channel::send(kind::NOTE, text);
        }
        false => {
            // Nothing is left to do if stderr is closed.
            let _ = writeln!(std::io::stderr(), "sp-host: {text}");
        }
    }
}

/// Formats `value` in decimal without allocating.
fn decimal(mut value: usize, digits: &mut [u8; 20]) -> &str {
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            return std::str::from_utf8(&digits[at..]).unwrap_or("?");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_decimal() {
        assert_eq!(decimal(0, &mut [0; 20]), "0");
        assert_eq!(decimal(288, &mut [0; 20]), "288");
        assert_eq!(decimal(usize::MAX, &mut [0; 20]), usize::MAX.to_string());
    }

    #[test]
    fn finds_address_until_release() {
        static NAME: &str = "SP_Demo";
        let guard_slot = guard(0x10, 0x20, 0x8, &NAME);
        let expected = Some("SP_Demo");
        assert_eq!(find(0x18).and_then(|guard| text(&guard.name)), expected);
        guard_slot.release();
        assert!(find(0x18).is_none());
    }
}
