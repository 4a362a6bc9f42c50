//! Texts in Python, in a process that loads an interpreter as a program that embeds Python does.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::process::Command;
use std::ptr;

use sp_runtime::python::{PythonError, Text, calling_module};

/// Runs a text with the global `NAME`.
fn run(source: &CStr) -> Result<String, PythonError> {
    let text = Text {
        source,
        file_name: c"<test>",
        constants: &[(c"NAME", c"myaccel")],
    };
    // SAFETY: the texts of this file access no memory by its address, and the thread holds no lock.
    unsafe { text.run() }
}

/// Returns the path of the shared library of the machine's Python, or `None` if it has none.
fn library() -> Option<CString> {
    let program = "import os, sysconfig as s; print(os.path.join(*map(s.get_config_var, ['LIBDIR', 'LDLIBRARY'])))";
    let output = Command::new("python3").args(["-c", program]).output();
    let path = String::from_utf8(output.ok()?.stdout).ok()?;
    CString::new(path.trim())
        .ok()
        .filter(|it| it.to_bytes().ends_with(b".so"))
}

/// Starts an interpreter in this process. Returns false if the machine has no shared library of Python.
fn start_interpreter() -> bool {
    let Some(path) = library() else {
        return false;
    };
    // SAFETY: the library is Python's, whose initializers have no obligations.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
    if handle.is_null() {
        return false;
    }
    // SAFETY: the handle is of a loaded library.
    let initialize = unsafe { libc::dlsym(handle, c"Py_InitializeEx".as_ptr()) };
    assert!(!initialize.is_null());
    // SAFETY: Python's documentation states this signature.
    let initialize =
        unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn(c_int)>(initialize) };
    // SAFETY: the interpreter is initialized once, without signal handlers.
    unsafe { initialize(0) };
    true
}

/// Returns what [`calling_module`] returns to a function of Python in a module of that name.
fn calling_module_of(module: &CStr) -> String {
    extern "C" fn write_to(target: *mut c_char) {
        let name = calling_module().unwrap_or_default();
        assert!(name.len() < 99);
        // SAFETY: the text below passes a buffer of 99 zeros.
        unsafe { ptr::copy_nonoverlapping(name.as_ptr().cast(), target, name.len()) }
    }
    let address = CString::new((write_to as *const () as usize).to_string()).unwrap();
    let text = Text {
        source: c"import ctypes
buffer = ctypes.create_string_buffer(100)
# A function that keeps the lock.
ctypes.PYFUNCTYPE(None, ctypes.c_char_p)(int(ADDRESS))(buffer)
outcome = buffer.value.decode()",
        file_name: c"<test>",
        constants: &[(c"ADDRESS", &address), (c"__name__", module)],
    };
    // SAFETY: the text writes to its own buffer. The thread holds no lock.
    unsafe { text.run() }.unwrap()
}

// One test: an interpreter exists once in a process.
#[test]
fn text_returns_outcome_and_leaves_no_exception_or_object() {
    assert_eq!(run(c"outcome = 'x'"), Err(PythonError::NoInterpreter));
    if !start_interpreter() {
        println!("skipped: python3 has no shared library");
        return;
    }
    assert_eq!(
        run(c"outcome = 'plugin ' + NAME"),
        Ok("plugin myaccel".into())
    );
    assert_eq!(run(c"outcome = 'caf\xc3\xa9'"), Ok("café".into()));
    assert_eq!(run(c"raise ValueError"), Err(PythonError::Exception));
    assert_eq!(run(c"not python"), Err(PythonError::Exception));
    assert_eq!(run(c"x = 1"), Err(PythonError::NoOutcome));
    assert_eq!(run(c"outcome = 1"), Err(PythonError::NoOutcome));
    let is_separate = c"import __main__; outcome = str(hasattr(__main__, 'NAME'))";
    assert_eq!(run(is_separate), Ok("False".into()));
    let pending = c"import sys; outcome = str(sys.exc_info()[0])";
    assert_eq!(run(pending), Ok("None".into()));

    // No function of Python runs.
    assert_eq!(calling_module(), None);
    assert_eq!(calling_module_of(c"caller"), "caller");
    let in_other_thread = std::thread::spawn(calling_module).join().unwrap();
    assert_eq!(in_other_thread, None);

    let objects = || {
        let text = run(c"import gc; gc.collect(); outcome = str(len(gc.get_objects()))");
        text.unwrap().parse::<u32>().unwrap()
    };
    let before = objects();
    for _ in 0..100 {
        let _ = run(c"raise ValueError");
        let _ = run(c"outcome = 1");
    }
    // The interpreter's own caches change by a few objects.
    assert!(objects() < before + 50);
}
