//! Symbols of this process, found in the libraries that TensorFlow has already loaded. The lookup loads no library.

use std::ffi::{CStr, c_void};

/// The libraries of TensorFlow that export C functions, the likeliest first.
#[cfg(not(target_os = "macos"))]
const LIBRARIES: [&CStr; 3] = [
    c"libtensorflow_framework.so.2",
    c"libtensorflow_cc.so.2",
    c"_pywrap_tensorflow_internal.so",
];
/// The libraries of TensorFlow that export C functions, the likeliest first.
#[cfg(target_os = "macos")]
const LIBRARIES: [&CStr; 3] = [
    c"libtensorflow_framework.2.dylib",
    c"libtensorflow_cc.2.dylib",
    c"_pywrap_tensorflow_internal.so",
];

/// Returns true if TensorFlow or another library of this process exports `name`.
pub fn is_exported(name: &CStr) -> bool {
    find_symbol(name).is_some()
}

/// Returns the address of `name` in the libraries of this process.
pub fn find_symbol(name: &CStr) -> Option<*mut c_void> {
    LIBRARIES
        .iter()
        .filter_map(|library| loaded_library(library))
        .chain([libc::RTLD_DEFAULT])
        .map(|library| find_in_library(library, name))
        .find(|found| !found.is_null())
}

/// Returns the handle of `library` if this process has loaded it.
///
/// The handle is never closed: TensorFlow does not unload itself, so the reference count does not matter.
fn loaded_library(library: &CStr) -> Option<*mut c_void> {
    // SAFETY: `library` is a C string. RTLD_NOLOAD loads nothing, so no initializer runs.
    let handle = unsafe { libc::dlopen(library.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_NOW) };
    (!handle.is_null()).then_some(handle)
}

fn find_in_library(library: *mut c_void, name: &CStr) -> *mut c_void {
    // SAFETY: `library` is a handle from dlopen that was never closed, or RTLD_DEFAULT; `name` is a C string.
    unsafe { libc::dlsym(library, name.as_ptr()) }
}
