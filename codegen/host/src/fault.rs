//! Crashes, said in words. In a child, a signal handler looks the address up among the guarded
//! records, says which of the host's structs was overrun, in which call, and ends the process.
//!
//! Invariant: what the handler runs is safe in a signal handler: atomics, `sendmsg`, `write` and `_exit`.

use std::ffi::{c_int, c_void};
use std::io::Write;
use std::ptr::null_mut;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use crate::child::channel::{self, kind};

/// The exit status of a child that touched a guarded page.
pub(crate) const GUARD_STATUS: i32 = 86;

/// The exit status of a child that took too long.
pub(crate) const HANG_STATUS: i32 = 87;

/// The exit status of a child whose plugin called what this host cannot have.
pub(crate) const UNFIT_STATUS: i32 = 88;

/// The exit status of a child that could not report its verdict.
pub(crate) const LOST_STATUS: i32 = 89;

struct Guard {
    taken: AtomicBool,
    start: AtomicUsize,
    end: AtomicUsize,
    /// Where the record begins, so that an offset can be told.
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

/// A place among the guards; none where all are taken, and the fault is then told without a name.
#[derive(Debug)]
pub(crate) struct Ticket(Option<usize>);

/// Says that `start..end` is out of bounds of the record called `name`.
pub(crate) fn guard(
    start: usize,
    end: usize,
    record: usize,
    name: &'static &'static str,
) -> Ticket {
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
    Ticket(free)
}

impl Ticket {
    /// The whole record from `start` is gone now.
    pub fn retire(&self, start: usize) {
        if let Some(at) = self.0 {
            GUARDS[at].retired.store(true, Ordering::Release);
            GUARDS[at].start.store(start, Ordering::Release);
        }
    }

    /// The memory is about to be unmapped.
    pub fn release(&self) {
        if let Some(at) = self.0 {
            GUARDS[at].start.store(usize::MAX, Ordering::Release);
            GUARDS[at].taken.store(false, Ordering::Release);
        }
    }
}

static CALL: AtomicPtr<&'static str> = AtomicPtr::new(null_mut());

/// Remembers which of the plugin's functions runs.
pub(crate) fn entering(call: &'static &'static str) {
    CALL.store(std::ptr::from_ref(call).cast_mut(), Ordering::Release);
}

/// The last of the plugin's functions that was called.
pub(crate) fn last_call() -> &'static str {
    text(&CALL).unwrap_or("nothing yet")
}

fn text(pointer: &AtomicPtr<&'static str>) -> Option<&'static str> {
    // SAFETY: null, or set from a `&'static &'static str`.
    unsafe { pointer.load(Ordering::Acquire).as_ref() }.copied()
}

static INSTALL: Once = Once::new();

/// From now on, crashes of this process are told on stderr. For children only: it replaces the
/// handlers that Rust's runtime has.
pub(crate) fn install() {
    INSTALL.call_once(|| {
        // SAFETY: an all-zero sigaction is one without flags and with an empty mask.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = on_fault as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESETHAND;
        for signal in [libc::SIGSEGV, libc::SIGBUS] {
            // SAFETY: the handler keeps to what is safe in one.
            unsafe { libc::sigaction(signal, &action, null_mut()) };
        }
    });
}

extern "C" fn on_fault(_signal: c_int, info: *mut libc::siginfo_t, _context: *mut c_void) {
    // SAFETY: the kernel passes the fault's description.
    let address = unsafe { (*info).si_addr() } as usize;
    match find(address) {
        Some(guard) => {
            tell_guard(guard, address);
            // SAFETY: ends the process without running anything else.
            unsafe { libc::_exit(GUARD_STATUS) }
        }
        // The handler is reset by now: the access is tried again and ends the process.
        None => say(&["crashed in ", last_call()]),
    }
}

fn find(address: usize) -> Option<&'static Guard> {
    GUARDS.iter().find(|guard| {
        let (start, end) = (
            guard.start.load(Ordering::Acquire),
            guard.end.load(Ordering::Acquire),
        );
        guard.taken.load(Ordering::Acquire) && (start..end).contains(&address)
    })
}

fn tell_guard(guard: &Guard, address: usize) {
    let name = text(&guard.name).unwrap_or("a record");
    let record = guard.record.load(Ordering::Acquire);
    let mut digits = [0; 20];
    let offset = decimal(address.wrapping_sub(record), &mut digits);
    match guard.retired.load(Ordering::Acquire) {
        true => say(&[last_call(), " used a ", name, " after its life ended"]),
        false => say(&[
            last_call(),
            " touched byte ",
            offset,
            " of ",
            name,
            ", past its end",
        ]),
    }
}

/// Reports these words to the parent, or writes them to stderr if there is none.
fn say(parts: &[&str]) {
    if channel::is_open() {
        channel::send_parts(kind::NOTE, parts);
        return;
    }
    for part in ["sp-host: "].iter().chain(parts).chain(&["\n"]) {
        // SAFETY: writes bytes that are there.
        unsafe { libc::write(2, part.as_ptr().cast(), part.len()) };
    }
}

/// Reports `text` to the parent, or writes it to stderr if there is none. Not for signal handlers.
pub(crate) fn note(text: &str) {
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

/// `value` in digits, without allocating.
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
    fn digits_are_those_of_the_number() {
        assert_eq!(decimal(0, &mut [0; 20]), "0");
        assert_eq!(decimal(288, &mut [0; 20]), "288");
        assert_eq!(decimal(usize::MAX, &mut [0; 20]), usize::MAX.to_string());
    }

    #[test]
    fn an_address_is_found_until_it_is_released() {
        static NAME: &str = "SP_Demo";
        let ticket = guard(0x10, 0x20, 0x8, &NAME);
        assert_eq!(
            find(0x18).and_then(|guard| text(&guard.name)),
            Some("SP_Demo")
        );
        ticket.release();
        assert!(find(0x18).is_none());
    }
}
