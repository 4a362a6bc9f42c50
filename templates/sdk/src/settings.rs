//! The settings in force, and the ops without a kernel, as text for programs: `sp_plugin_settings` of a plugin writes it.
//!
//! `sp-gen doctor` and `sp-gen verify --kernels` read the text. It has a line `KEY=VALUE` for each setting, in the order of
//! the keys, and then a line `lacking=OP: REASON` for each op that has no kernel in this process. Lines of other keys may
//! be added.
//!
//! The alternative was to read the lines that the plugin prints with `SP_LOG=debug`. A function is more robust. Only
//! this module writes its text, so that words of a message may change. It has the state at the time of the call, also
//! of what is reported only when a device is opened. Other libraries cannot write between its lines, and a program
//! can call it in a running process. A plugin without the function, in C or of an earlier sp-gen, has the verdict
//! `unknown` in that step, which fails nothing.

use std::collections::BTreeMap;
use std::ffi::c_char;
use std::sync::{Mutex, PoisonError};

use crate::{c_string, lacking};

static SETTINGS: Mutex<BTreeMap<&'static str, String>> = Mutex::new(BTreeMap::new());

/// Sets the value of `key`, which may be any text without `=` but `lacking`. Control characters of the value become spaces.
///
/// ```
/// sp_plugin::settings::set("driver", "1.2");
/// assert!(sp_plugin::settings::report().contains("driver=1.2\n"));
/// ```
pub fn set(key: &'static str, value: &str) {
    let value = value.replace(char::is_control, " ");
    let mut settings = SETTINGS.lock().unwrap_or_else(PoisonError::into_inner);
    settings.insert(key, value);
}

/// Returns the text.
pub fn report() -> String {
    let settings = SETTINGS.lock().unwrap_or_else(PoisonError::into_inner);
    let lines = settings
        .iter()
        .map(|(key, value)| format!("{key}={value}\n"));
    lines.chain([lacking::lines()]).collect()
}

/// Writes [`report`] as a C string, cut to `size` bytes; returns the bytes that all of it needs.
///
/// # Safety
/// `buffer` is null or writable for `size` bytes.
#[doc(hidden)]
pub unsafe fn write_settings(buffer: *mut c_char, size: usize) -> usize {
    // SAFETY: the obligation is the same.
    unsafe { c_string::write(&report(), buffer, size) }
}
