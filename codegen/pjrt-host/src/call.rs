//! Calls of functions of the plugin, and functions that the plugin calls.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use sp_host::child_checks::{limit, report_note, set_current_call};

/// Calls the function at `function` with one pointer, and returns the pointer that it returns. `name` describes it in the report of a crash.
///
/// The address is that of a slot of the plugin's table or of a function that the plugin has returned. A plugin that stores another address ends
/// this process, which is a child for this one check.
///
/// # Safety
/// - The C signature is `T* (*)(U*)`, or `void (*)(U*)`: the result is then without meaning.
/// - The struct at `argument` is valid until the function returns, with all structs to which it points.
pub(crate) unsafe fn with_pointer(function: u64, argument: u64, name: &str) -> u64 {
    set_current_call(static_name(name));
    let function = function as usize as *const c_void;
    // SAFETY: a slot is a pointer to a function, with this signature according to the caller.
    let function: unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void =
        unsafe { std::mem::transmute(function) };
    let guard = ExceptionGuard(name);
    // SAFETY: the caller guarantees the signature and the argument.
    let result = unsafe { function(argument as usize as *mut c_void) as u64 };
    std::mem::forget(guard);
    result
}

/// Ends the process if a C++ exception leaves the function of this name.
struct ExceptionGuard<'a>(&'a str);

impl Drop for ExceptionGuard<'_> {
    fn drop(&mut self) {
        report_note(&format!("an exception left {}", self.0));
        std::process::abort();
    }
}

/// Calls the entry point at `function`, which has no parameters.
///
/// # Safety
/// - The C signature is `T* (*)(void)`.
pub(crate) unsafe fn entry_point(function: *mut c_void, name: &str) -> u64 {
    set_current_call(static_name(name));
    // SAFETY: the caller guarantees that this is a function with this signature.
    let function: unsafe extern "C" fn() -> *mut c_void = unsafe { std::mem::transmute(function) };
    // SAFETY: the function has no parameters.
    unsafe { function() as u64 }
}

/// Returns `name` for the life of the process. Each name is allocated once.
fn static_name(name: &str) -> &'static &'static str {
    static NAMES: Mutex<BTreeMap<String, &'static &'static str>> = Mutex::new(BTreeMap::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    names.entry(name.to_owned()).or_insert_with(|| {
        let text: &'static str = Box::leak(name.to_owned().into_boxed_str());
        Box::leak(Box::new(text))
    })
}

/// The calls of one function that the plugin was passed.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    count: AtomicUsize,
    first: AtomicU64,
    order: AtomicUsize,
}

/// The number of calls of all [`Calls`].
static TOTAL: AtomicUsize = AtomicUsize::new(0);

impl Calls {
    /// Returns calls that are allocated for the life of the process: a plugin may call late.
    pub fn leaked() -> &'static Self {
        Box::leak(Box::default())
    }

    /// Returns its address, for the argument `user_arg`.
    pub fn address(&'static self) -> u64 {
        std::ptr::from_ref(self) as u64
    }

    /// Returns the number of calls.
    pub fn count(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }

    /// Returns the first argument of the first call.
    pub fn first(&self) -> u64 {
        self.first.load(Ordering::Acquire)
    }

    /// Returns the place of the last call among the calls of all objects.
    pub fn order(&self) -> usize {
        self.order.load(Ordering::Acquire)
    }

    /// Waits until there was a call, at most for half of the time that the check may take. Returns true if there was one.
    pub fn wait(&self) -> bool {
        let end = Instant::now() + limit() / 2;
        while self.count() == 0 && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.count() > 0
    }

    fn add(&self, first: *mut c_void) {
        if self.count() == 0 {
            self.first.store(first as u64, Ordering::Release);
        }
        self.order
            .store(TOTAL.fetch_add(1, Ordering::AcqRel) + 1, Ordering::Release);
        self.count.fetch_add(1, Ordering::AcqRel);
    }
}

/// A callback of an event or buffer. Its second argument is the address of a [`Calls`].
pub(crate) extern "C" fn record_call(first: *mut c_void, calls: *mut c_void) {
    // SAFETY: the address is null, or that of a `Calls` which is never freed: the host passes no other.
    if let Some(calls) = unsafe { calls.cast::<Calls>().as_ref() } {
        calls.add(first);
    }
}

/// A visitor of payloads. Its last argument is the address of a [`Calls`].
pub(crate) extern "C" fn record_payload(
    key: *const c_void,
    key_size: usize,
    _value: *const c_void,
    _value_size: usize,
    calls: *mut c_void,
) {
    if !key.is_null() && key_size > 0 {
        record_call(key.cast_mut(), calls);
    }
}
