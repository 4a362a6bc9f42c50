//! The plugin's own report of the calls of its kernels: a line for each, with its types, calls and author.

use crate::runtime::host;
use crate::runtime::interpose;
use crate::runtime::system;
use std::ffi::{CStr, CString, c_char};

/// The function of a plugin of sp-gen that writes the report as a C string, cut to the size of a buffer. It returns the size that
/// the whole string needs.
const FUNCTION: &str = "sp_kernel_calls";
/// The most bytes of a report.
const LONGEST: usize = 1 << 24;

type Write = unsafe extern "C" fn(*mut c_char, usize) -> usize;

/// Returns the lines about called kernels in the report of the first plugin, or "" if it has none.
pub fn read() -> String {
    let path = CString::new(interpose::first_plugin()).unwrap_or_default();
    let handle = system::loaded_library(&path);
    // The null handle stands for the program.
    let address = match handle.is_null() || path.is_empty() {
        true => 0,
        false => host::find_in(handle, FUNCTION),
    };
    if address == 0 {
        return String::new();
    }
    // SAFETY: the function of this name in a plugin has this signature, and its library is loaded.
    let write: Write = unsafe { std::mem::transmute(address) };
    // SAFETY: without a buffer the function writes nothing.
    let size = unsafe { write(std::ptr::null_mut(), 0) };
    // Kernels that still run may make the numbers of calls longer.
    let mut text = vec![0_u8; size.saturating_add(4096).min(LONGEST)];
    // SAFETY: the buffer is writable for its length.
    unsafe { write(text.as_mut_ptr().cast(), text.len()) };
    let text = CStr::from_bytes_until_nul(&text).unwrap_or_default();
    called(&text.to_string_lossy())
}

/// Returns the lines of a report whose kernel was called: a plugin may register thousands.
fn called(report: &str) -> String {
    let lines = report.lines().filter(|it| !it.contains(" calls=0 "));
    lines.map(|it| format!("{it}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_that_were_not_called_are_left_out() {
        let report = "Neg calls=0 staged=0\nRelu T=TF_FLOAT calls=10 staged=0\n";
        assert_eq!(called(report), "Relu T=TF_FLOAT calls=10 staged=0\n");
    }
}
