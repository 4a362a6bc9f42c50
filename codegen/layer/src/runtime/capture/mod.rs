//! The capture of a program's kernels: what each was created with, its inputs and outputs by value, and its variables.
//!
//! A kernel is captured when it begins and when it has returned; both wait for its stream. One kernel runs at a time, so
//! that no other one changes a variable in between.

mod content;
pub mod device;
mod file;
pub mod format;
mod gate;
mod kernels;
mod payload;
mod plugin_report;
mod records;
mod registrations;
mod running;

use super::check::arguments::Arguments;
use super::check::memory;
use super::description::{Function, Kind};
use super::settings::settings;
use super::system;

/// Captures what a call uses, before it is made.
///
/// # Safety
/// - The arguments are those of a call with the signature of `function`, valid as the API requires.
pub unsafe fn before(function: &'static Function, arguments: &[u64]) {
    if system::is_child() {
        return;
    }
    let call = Arguments {
        function,
        values: arguments,
    };
    // SAFETY: as the caller guarantees.
    unsafe {
        match function.kind {
            Kind::Slot if !settings().validates => memory::before(&call),
            Kind::Callback => running::before_callback(function, arguments),
            Kind::Host => {
                registrations::before(function, arguments);
                running::before_host(function, arguments);
            }
            _ => {}
        }
    }
}

/// Captures what a call has made. `label` is the op of a kernel that was created.
///
/// # Safety
/// - As of [`before`]; the call has returned `result`.
pub unsafe fn after(function: &'static Function, arguments: &[u64], result: u64, label: &str) {
    if system::is_child() {
        return;
    }
    // SAFETY: as the caller guarantees.
    unsafe {
        match (function.kind, function.short_name()) {
            (Kind::Slot, name) => after_slot(function, arguments, result, name),
            (Kind::Callback, "create_func") => kernels::created(arguments[0], result, label),
            (Kind::Callback, "delete_func") => kernels::deleted(arguments[0]),
            (Kind::Callback, "compute_func") => running::finish(arguments[1]),
            (Kind::Host, _) => {
                registrations::after(function, arguments, result);
                running::after_host(function, arguments, result);
            }
            _ => {}
        }
    }
}

/// Forgets a kernel that a C++ exception has ended.
pub fn abandon(context: u64) {
    running::abandon(context);
}

/// Ends the file of this process.
pub fn at_exit() {
    file::end();
}

/// # Safety
/// - As of [`after`].
unsafe fn after_slot(function: &'static Function, arguments: &[u64], result: u64, name: &str) {
    let call = Arguments {
        function,
        values: arguments,
    };
    if !settings().validates {
        // SAFETY: as the caller guarantees.
        unsafe { memory::after(&call, result) };
    }
    let Some(stream) = call.get("stream").filter(|it| *it != 0) else {
        return;
    };
    if matches!(name, "create_stream" | "create_stream_with_options") {
        // SAFETY: core passes the address of a handle, which the slot has filled.
        device::add_stream(unsafe { (stream as *const u64).read() }, arguments[0]);
    }
}
