//! Functions of core that the layer itself calls: statuses as text, and the op and node of a kernel.

use super::elf;
use super::record::push_escaped;
use super::system;
use super::tables::tables;
use std::ffi::{CStr, CString, c_char, c_void};
use std::fmt::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// `TF_StringView`.
#[repr(C)]
struct StringView {
    data: *const u8,
    length: usize,
}

type GetCode = unsafe extern "C-unwind" fn(*const c_void) -> i32;
type GetMessage = unsafe extern "C-unwind" fn(*const c_void) -> *const c_char;
type GetView = unsafe extern "C-unwind" fn(*const c_void) -> StringView;
type GetCount = unsafe extern "C-unwind" fn(*const c_void) -> i32;
type Dlsym = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;

/// The addresses of functions; 0 if this release has no such function.
struct Addresses {
    code: usize,
    message: usize,
    construction_name: usize,
    kernel_name: usize,
    output_count: usize,
}

static ADDRESSES: OnceLock<Addresses> = OnceLock::new();
static DLSYM: AtomicUsize = AtomicUsize::new(0);

/// Returns the dynamic loader's `dlsym`.
pub fn real_dlsym() -> usize {
    let known = DLSYM.load(Ordering::Acquire);
    if known != 0 {
        return known;
    }
    let found = system::real_dlsym();
    DLSYM.store(found, Ordering::Release);
    found
}

/// Returns the address of `name` in the library `handle` and those that it needs; 0 if there is none.
pub fn find_in(handle: *mut c_void, name: &str) -> usize {
    let (Ok(name), address) = (CString::new(name), real_dlsym()) else {
        return 0;
    };
    if address == 0 {
        return 0;
    }
    // SAFETY: the address is that of dlsym, the handle one of dlopen, and the name a C string.
    unsafe {
        let dlsym: Dlsym = std::mem::transmute(address);
        dlsym(handle, name.as_ptr()) as usize
    }
}

/// Returns the address of core's function `name`, in the libraries that the process has loaded; 0 if there is none.
pub fn find(name: &str) -> usize {
    let mut libraries = elf::libraries();
    // TensorFlow's own libraries first: a plugin may define a function of the same name.
    libraries.sort_by_key(|it| !it.file_name().contains("tensorflow"));
    let handles = libraries.iter().filter(|it| !it.path.is_empty());
    for library in handles {
        let path = CString::new(library.path.as_str()).unwrap_or_default();
        let handle = system::loaded_library(&path);
        if !handle.is_null() {
            match find_in(handle, name) {
                0 => {}
                address => return address,
            }
        }
    }
    // A program that is itself the host.
    find_in(std::ptr::null_mut(), name)
}

/// Returns the address of core's function `name`; 0 if this release has none.
pub fn core_address(name: &str) -> usize {
    let known = tables().function(name);
    match known.map_or(0, |it| it.function.original()) {
        // A function that this release does not have is not looked for.
        0 if known.is_some() => find(name),
        address => address,
    }
}

fn addresses() -> &'static Addresses {
    ADDRESSES.get_or_init(|| {
        let address = core_address;
        Addresses {
            code: address("TF_GetCode"),
            message: address("TF_Message"),
            construction_name: address("TF_OpKernelConstruction_GetName"),
            kernel_name: address("TF_GetOpKernelName"),
            output_count: address("TF_NumOutputs"),
        }
    })
}

/// Returns the code of a status, or `None` if it cannot be read.
///
/// # Safety
/// `status` is null or a live `TF_Status`.
pub unsafe fn status_code(status: u64) -> Option<i32> {
    let address = addresses().code;
    if address == 0 || status == 0 {
        return None;
    }
    // SAFETY: the address is that of `TF_GetCode`, and the status is live.
    Some(unsafe { std::mem::transmute::<usize, GetCode>(address)(status as *const c_void) })
}

/// Appends the code of a status, and its message if it is an error.
pub fn push_status(status: u64, out: &mut String) {
    // SAFETY: a status that is passed to a function lives until that returns.
    let Some(code) = (unsafe { status_code(status) }) else {
        let _ = write!(out, "{status:#x}");
        return;
    };
    out.push_str(code_name(code));
    let address = addresses().message;
    if code == 0 || address == 0 {
        return;
    }
    // SAFETY: the address is that of `TF_Message`, which returns a C string that lives as long as the status.
    let message = unsafe {
        let message = std::mem::transmute::<usize, GetMessage>(address)(status as *const c_void);
        CStr::from_ptr(message).to_string_lossy()
    };
    out.push_str(" \"");
    push_escaped(out, &message);
    out.push('"');
}

fn code_name(code: i32) -> &'static str {
    const NAMES: [&str; 17] = [
        "OK",
        "CANCELLED",
        "UNKNOWN",
        "INVALID_ARGUMENT",
        "DEADLINE_EXCEEDED",
        "NOT_FOUND",
        "ALREADY_EXISTS",
        "PERMISSION_DENIED",
        "RESOURCE_EXHAUSTED",
        "FAILED_PRECONDITION",
        "ABORTED",
        "OUT_OF_RANGE",
        "UNIMPLEMENTED",
        "INTERNAL",
        "UNAVAILABLE",
        "DATA_LOSS",
        "UNAUTHENTICATED",
    ];
    let index = usize::try_from(code).unwrap_or(NAMES.len());
    NAMES.get(index).copied().unwrap_or("code out of range")
}

/// Returns the name of the node whose kernel is created with a `TF_OpKernelConstruction`, or "".
///
/// # Safety
/// `construction` is live.
pub unsafe fn construction_name(construction: u64) -> String {
    // SAFETY: as the caller states; the function has this signature.
    unsafe { view(addresses().construction_name, construction) }
}

/// Returns the name of the node whose kernel runs with a `TF_OpKernelContext`, or "" if the release has no function for it.
///
/// # Safety
/// `context` is live.
pub unsafe fn kernel_name(context: u64) -> String {
    // SAFETY: as the caller states; the function has this signature.
    unsafe { view(addresses().kernel_name, context) }
}

/// # Safety
/// `address` is 0 or that of a function that takes `object` and returns a view of a text.
unsafe fn view(address: usize, object: u64) -> String {
    if address == 0 {
        return String::new();
    }
    // SAFETY: as the caller states; the text lives as long as the object.
    let bytes = unsafe {
        let view = std::mem::transmute::<usize, GetView>(address)(object as *const c_void);
        match view.data.is_null() {
            true => return String::new(),
            false => std::slice::from_raw_parts(view.data, view.length),
        }
    };
    let mut out = String::new();
    push_escaped(&mut out, &String::from_utf8_lossy(bytes));
    out
}

/// Returns the number of outputs of a kernel, or `None` if it cannot be read.
///
/// # Safety
/// `context` is live.
pub unsafe fn output_count(context: u64) -> Option<usize> {
    let address = addresses().output_count;
    if address == 0 {
        return None;
    }
    // SAFETY: the address is that of `TF_NumOutputs`.
    let count =
        unsafe { std::mem::transmute::<usize, GetCount>(address)(context as *const c_void) };
    usize::try_from(count).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_the_names_of_tensorflow() {
        assert_eq!(code_name(0), "OK");
        assert_eq!(code_name(16), "UNAUTHENTICATED");
        assert_eq!(code_name(-1), "code out of range");
    }

    #[test]
    fn finds_a_function_of_a_loaded_library() {
        assert_ne!(find("dl_iterate_phdr"), 0);
        assert_eq!(find("TF_NoSuchFunction"), 0);
    }
}
