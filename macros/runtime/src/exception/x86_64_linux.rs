//! A frame that catches C++ exceptions, and the functions of the C++ runtime that end one.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr::{self, NonNull};

use super::Exception;

/// Calls `body`. A panic passes through.
///
/// # Errors
/// Returns the C++ exception that left `body`.
#[inline]
pub(crate) fn catch<T, F: FnOnce() -> T>(body: F) -> Result<T, Exception> {
    let mut call = Call {
        body: ManuallyDrop::new(body),
        result: MaybeUninit::uninit(),
    };
    // SAFETY: `run` takes a `Call` of these types, whose function nobody else takes.
    let thrown = unsafe { call_and_catch(run::<T, F>, (&raw mut call).cast()) };
    match NonNull::new(thrown) {
        // SAFETY: `run` has returned, so it has written the result.
        None => Ok(unsafe { call.result.assume_init() }),
        // SAFETY: the frame has caught the exception, and nobody else has it.
        Some(thrown) => Err(unsafe { end(thrown) }),
    }
}

/// A function and the memory for its result.
struct Call<F, T> {
    body: ManuallyDrop<F>,
    result: MaybeUninit<T>,
}

/// Calls the function of a `Call`, stores its result there, and returns null.
///
/// # Safety
/// - `call` is a live `Call<F, T>`, whose function nobody takes or has taken.
unsafe extern "C-unwind" fn run<T, F: FnOnce() -> T>(call: *mut c_void) -> *mut RaisedException {
    // SAFETY: the caller guarantees the type, and that the function is taken once.
    unsafe {
        let call = call.cast::<Call<F, T>>();
        let body = ManuallyDrop::take(&mut (*call).body);
        (*call).result.write(body());
    }
    ptr::null_mut()
}

/// Returns the result of `function(argument)`, or the C++ exception that left it.
///
/// After an exception the personality routine lets the call return, with the exception as its result in `rax`.
#[unsafe(naked)]
unsafe extern "C-unwind" fn call_and_catch(
    function: unsafe extern "C-unwind" fn(*mut c_void) -> *mut RaisedException,
    argument: *mut c_void,
) -> *mut RaisedException {
    // 0x1b: an address of 32 bits, relative to where it is stored. The stack is aligned to 16 bytes at the call.
    std::arch::naked_asm!(
        ".cfi_startproc",
        ".cfi_personality 0x1b, {personality}",
        "sub rsp, 8",
        ".cfi_adjust_cfa_offset 8",
        "mov rax, rdi",
        "mov rdi, rsi",
        "call rax",
        "add rsp, 8",
        ".cfi_adjust_cfa_offset -8",
        "ret",
        ".cfi_endproc",
        personality = sym personality,
    )
}

/// The head of an exception, `_Unwind_Exception`.
#[repr(C)]
struct RaisedException {
    class: u64,
    cleanup: Option<unsafe extern "C" fn(c_int, *mut RaisedException)>,
    private: [usize; 2],
}

/// `_Unwind_Context`.
#[repr(C)]
struct Context {
    opaque: [u8; 0],
}

// The library of the unwinder is one that Rust's std links.
unsafe extern "C" {
    fn _Unwind_GetIP(context: *mut Context) -> usize;
    fn _Unwind_SetGR(context: *mut Context, register: c_int, value: usize);
    fn _Unwind_SetIP(context: *mut Context, address: usize);
    fn _Unwind_DeleteException(exception: *mut RaisedException);
}

/// `_UA_SEARCH_PHASE`: the unwinder looks for a frame that catches.
const SEARCH_PHASE: c_int = 1;
/// `_UA_HANDLER_FRAME`: this frame has said that it catches.
const HANDLER_FRAME: c_int = 4;
/// `_URC_HANDLER_FOUND`.
const HANDLER_FOUND: c_int = 6;
/// `_URC_INSTALL_CONTEXT`.
const INSTALL_CONTEXT: c_int = 7;
/// `_URC_CONTINUE_UNWIND`.
const CONTINUE_UNWIND: c_int = 8;
/// The number of `rax` in DWARF.
const RAX: c_int = 0;

/// Returns true for the exceptions of the runtimes of GCC and clang. The last byte differs for rethrown copies
/// (`std::rethrow_exception`).
fn is_cpp(class: u64) -> bool {
    [*b"GNUCC++\0", *b"CLNGC++\0"]
        .map(u64::from_be_bytes)
        .contains(&(class & !0xff))
}

/// The personality routine of [`call_and_catch`], which catches every C++ exception. Panics and the end of a thread
/// (`pthread_cancel`) continue.
unsafe extern "C" fn personality(
    _version: c_int,
    actions: c_int,
    class: u64,
    exception: *mut RaisedException,
    context: *mut Context,
) -> c_int {
    if !is_cpp(class) {
        return CONTINUE_UNWIND;
    }
    if actions & SEARCH_PHASE != 0 {
        return HANDLER_FOUND;
    }
    if actions & HANDLER_FRAME == 0 {
        return CONTINUE_UNWIND;
    }
    // SAFETY: the unwinder passes its context, whose address is the one that the frame's call returns to.
    unsafe {
        _Unwind_SetGR(context, RAX, exception.expose_provenance());
        _Unwind_SetIP(context, _Unwind_GetIP(context));
    }
    INSTALL_CONTEXT
}

/// Functions of the C++ runtime, by the Itanium C++ ABI.
struct Runtime {
    begin_catch: unsafe extern "C" fn(*mut RaisedException) -> *mut c_void,
    current_type: unsafe extern "C" fn() -> *const TypeInfo,
    demangle: Demangle,
    /// Destroys the exception, which may throw again.
    end_catch: unsafe extern "C-unwind" fn(),
}

type Demangle =
    unsafe extern "C" fn(*const c_char, *mut c_char, *mut usize, *mut c_int) -> *mut c_char;

/// `std::type_info`.
#[repr(C)]
struct TypeInfo {
    table: *const c_void,
    name: *const c_char,
}

impl Runtime {
    /// Returns the functions of the library that contains `function`, which is one of the runtime that threw, or `None` if it
    /// exports none.
    fn find(function: *const c_void) -> Option<Self> {
        let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
        // SAFETY: `info` has room for the answer.
        let is_found = unsafe { libc::dladdr(function, info.as_mut_ptr()) } != 0;
        // SAFETY: zeros are a valid value.
        let file = unsafe { info.assume_init() }.dli_fname;
        if !is_found || file.is_null() {
            return None;
        }
        // SAFETY: the file name is a C string. RTLD_NOLOAD loads nothing, so no initializer runs.
        let library = unsafe { libc::dlopen(file, libc::RTLD_NOLOAD | libc::RTLD_NOW) };
        let find = |name: &CStr| {
            // SAFETY: a handle from dlopen, which is never closed, and a C string.
            let found = unsafe { libc::dlsym(library, name.as_ptr()) };
            (!library.is_null() && !found.is_null()).then_some(found)
        };
        let (begin, ty) = (
            find(c"__cxa_begin_catch")?,
            find(c"__cxa_current_exception_type")?,
        );
        let (demangle, end) = (find(c"__cxa_demangle")?, find(c"__cxa_end_catch")?);
        // SAFETY: the Itanium C++ ABI, which the runtimes of GCC and clang implement, gives the functions these signatures.
        unsafe {
            Some(Self {
                begin_catch: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(_) -> _>(
                    begin,
                ),
                current_type: std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> _>(ty),
                demangle: std::mem::transmute::<*mut c_void, Demangle>(demangle),
                end_catch: std::mem::transmute::<*mut c_void, unsafe extern "C-unwind" fn()>(end),
            })
        }
    }

    /// Returns the type of the exception that this thread has begun to catch.
    fn type_name(&self) -> Option<String> {
        // SAFETY: the function has no preconditions. The type is static, as is its name, a C string; null if it is none of C++.
        let mangled = unsafe { (self.current_type)().as_ref()?.name };
        // SAFETY: as above; without a buffer the function allocates the result.
        let name = unsafe {
            let mut outcome = 0;
            (self.demangle)(mangled, ptr::null_mut(), ptr::null_mut(), &mut outcome)
        };
        let shown = if name.is_null() { mangled } else { name };
        // SAFETY: both are C strings.
        let text = unsafe { CStr::from_ptr(shown) }
            .to_string_lossy()
            .into_owned();
        // SAFETY: null, or the result, which the caller of the function frees.
        unsafe { libc::free(name.cast()) };
        Some(text)
    }
}

/// Destroys a caught exception.
///
/// # Safety
/// - `thrown` is a C++ exception that [`call_and_catch`] has returned, once.
#[cold]
unsafe fn end(thrown: NonNull<RaisedException>) -> Exception {
    // SAFETY: the exception is live.
    let cleanup = unsafe { thrown.as_ref() }.cleanup;
    let runtime = cleanup.and_then(|it| Runtime::find(it as *const c_void));
    let Some(runtime) = runtime else {
        // The thread's count of uncaught exceptions is not lowered, since the runtime is private to a library.
        // SAFETY: nobody uses the exception any more.
        unsafe { _Unwind_DeleteException(thrown.as_ptr()) };
        return Exception { type_name: None };
    };
    // SAFETY: the exception is live; it was raised and not caught by C++.
    unsafe { (runtime.begin_catch)(thrown.as_ptr()) };
    let type_name = runtime.type_name();
    // SAFETY: this ends the catch that has begun, and nobody uses the exception any more.
    unsafe { (runtime.end_catch)() };
    Exception { type_name }
}
