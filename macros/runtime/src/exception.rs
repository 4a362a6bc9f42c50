//! C++ exceptions that leave a function of the host.
//!
//! Core is C++ and may throw, for example `std::bad_alloc`. So the functions of the host have the ABI `"C-unwind"`: an exception
//! then unwinds the Rust frames above, and runs their destructors. With the ABI `"C"` that is undefined behavior (Rust reference,
//! `panic.unwind.ffi.undefined`).
//!
//! [`std::panic::catch_unwind`] does not catch it: by its documentation the process aborts, or it returns an opaque payload, and
//! which of them is unspecified. Rust 1.95 aborts, with the line "Rust cannot catch foreign exceptions". So [`catch`] calls through
//! a frame with a personality routine of its own, as the Itanium C++ ABI describes it, which needs no C++ compiler. It exists for
//! x86-64 Linux; elsewhere an exception reaches `catch_unwind`.

/// A C++ exception, caught and destroyed.
#[derive(Debug)]
pub(crate) struct Exception {
    /// The type as C++ writes it, or `None` if the library that threw exports no functions for that.
    type_name: Option<String>,
}

impl Exception {
    /// Returns the error of a slot in which the exception was thrown: `RESOURCE_EXHAUSTED` for a lack of memory, else `INTERNAL`.
    #[cold]
    pub fn into_error(self, slot: &str) -> crate::Error {
        let name = self.type_name.as_deref().unwrap_or("of unknown type");
        let code = match name {
            "std::bad_alloc" => crate::Code::RESOURCE_EXHAUSTED,
            _ => crate::Code::INTERNAL,
        };
        crate::Error::new(code, format!("C++ exception {name} in {slot}"))
    }
}

/// Calls `body`. A panic passes through.
///
/// # Errors
/// Returns the C++ exception that left `body`.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64", not(miri))))]
#[inline]
pub(crate) fn catch<T>(body: impl FnOnce() -> T) -> Result<T, Exception> {
    Ok(body())
}

#[cfg(all(target_os = "linux", target_arch = "x86_64", not(miri)))]
pub(crate) use x86_64_linux::catch;

#[cfg(all(target_os = "linux", target_arch = "x86_64", not(miri)))]
mod x86_64_linux;
