//! The dynamic loader: opens libraries and looks up symbols. Libraries are never closed, as in TensorFlow, so
//! addresses stay valid for the life of the process.

use std::ffi::{CStr, CString, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::NonNull;

use crate::Error;

/// Visibility of a library's symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SymbolScope {
    /// To every library opened later.
    Global,
    /// Through its own handle only.
    Local,
}

/// An open library.
#[derive(Debug, Clone, Copy)]
pub struct OpenLibrary {
    handle: NonNull<c_void>,
}

// SAFETY: dlsym may be called with the same handle on any thread, and the handle is never closed.
unsafe impl Send for OpenLibrary {}
// SAFETY: as above.
unsafe impl Sync for OpenLibrary {}

impl OpenLibrary {
    /// Opens the library at `path` and binds all its symbols now.
    ///
    /// # Errors
    /// Returns an error if the loader cannot open it.
    pub fn open(path: &Path, scope: SymbolScope) -> Result<Self, Error> {
        let name = CString::new(path.as_os_str().as_bytes())
            .map_err(|_| Error::Load(format!("{}: a path with a NUL byte", path.display())))?;
        let scope = match scope {
            SymbolScope::Global => libc::RTLD_GLOBAL,
            SymbolScope::Local => libc::RTLD_LOCAL,
        };
        // SAFETY: `name` is a C string that lives during the call. The caller chose to run the library's constructors.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | scope) };
        NonNull::new(handle)
            .map(|handle| Self { handle })
            .ok_or_else(|| Error::Load(last_error()))
    }

    /// Returns the address of `symbol`, if the library exports it.
    pub fn symbol(self, symbol: &str) -> Option<NonNull<c_void>> {
        let name = CString::new(symbol).ok()?;
        // SAFETY: the handle is open and the name is a C string.
        NonNull::new(unsafe { libc::dlsym(self.handle.as_ptr(), name.as_ptr()) })
    }
}

fn last_error() -> String {
    // SAFETY: dlerror gives null or a C string that lasts until the next call on this thread.
    unsafe {
        let text = libc::dlerror();
        match text.is_null() {
            true => "the loader reports no reason".into(),
            false => CStr::from_ptr(text).to_string_lossy().into_owned(),
        }
    }
}
