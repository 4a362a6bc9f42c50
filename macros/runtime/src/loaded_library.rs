//! The libraries that this process has loaded. Nothing here loads a library.

use std::ffi::{CStr, CString, c_int, c_void};
use std::ptr;

/// A library of this process.
pub struct LoadedLibrary {
    path: CString,
    handle: *mut c_void,
}

impl LoadedLibrary {
    /// Returns the library at `path`, or `None` if the process has not loaded it.
    fn find(path: CString) -> Option<Self> {
        // SAFETY: `path` is a C string. RTLD_NOLOAD loads nothing, so no initializer runs.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_NOW) };
        (!handle.is_null()).then_some(Self { path, handle })
    }

    /// Returns the path by which it was loaded.
    pub fn path(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    /// Returns the address of a symbol of the library or of one that it needs.
    pub fn symbol(&self, name: &CStr) -> Option<*mut c_void> {
        // SAFETY: the handle is open as long as `self`, and `name` is a C string.
        let found = unsafe { libc::dlsym(self.handle, name.as_ptr()) };
        (!found.is_null()).then_some(found)
    }
}

impl Drop for LoadedLibrary {
    fn drop(&mut self) {
        // SAFETY: `find` opened the handle, which is closed once. Those who loaded the library have it open.
        unsafe { libc::dlclose(self.handle) };
    }
}

/// Returns the libraries of the process. Empty on a system other than Linux, whose list is not read.
pub fn loaded_libraries() -> Vec<LoadedLibrary> {
    let paths = loaded_paths().into_iter();
    paths.filter_map(LoadedLibrary::find).collect()
}

#[cfg(target_os = "linux")]
fn loaded_paths() -> Vec<CString> {
    unsafe extern "C" fn add(info: *mut libc::dl_phdr_info, _: usize, paths: *mut c_void) -> c_int {
        // SAFETY: the loader passes a live struct, and the pointer that `loaded_paths` gave it.
        let (info, paths) = unsafe { (&*info, &mut *paths.cast::<Vec<CString>>()) };
        if !info.dlpi_name.is_null() {
            // SAFETY: the name is a C string, which lives as long as the library is loaded.
            let path = unsafe { CStr::from_ptr(info.dlpi_name) };
            paths.extend((!path.is_empty()).then(|| path.to_owned()));
        }
        0
    }
    let mut paths: Vec<CString> = Vec::new();
    // SAFETY: `add` takes the pointer as the list that it is, during the call only.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut paths).cast()) };
    paths
}

#[cfg(not(target_os = "linux"))]
fn loaded_paths() -> Vec<CString> {
    Vec::new()
}

/// Returns the path of the library that has `address`, or `None` if no library has it.
pub fn path_of_address(address: usize) -> Option<String> {
    // SAFETY: all bytes zero are a value of the struct, which has pointers only.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    let address = ptr::without_provenance(address);
    // SAFETY: `info` is writable. The address is compared with those of the libraries, and nothing there is read.
    let found = unsafe { libc::dladdr(address, &raw mut info) };
    if found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the name is a C string of the loader.
    let path = unsafe { CStr::from_ptr(info.dli_fname) };
    Some(path.to_string_lossy().into_owned())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    static OWN: u8 = 0;

    #[test]
    fn finds_symbol_in_a_library_of_the_process() {
        let libraries = loaded_libraries();
        let has_getpid = |it: &&LoadedLibrary| it.symbol(c"getpid").is_some();
        let library = libraries.iter().find(has_getpid).expect("libc is loaded");
        assert!(library.symbol(c"sp_no_such_symbol").is_none());
        assert!(!library.path().is_empty());
    }

    #[test]
    fn own_address_is_in_the_program() {
        let address = (&raw const OWN).addr();
        assert!(path_of_address(address).is_some());
        assert_eq!(path_of_address(0), None);
    }
}
