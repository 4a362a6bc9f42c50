//! Functions of C++ that throw, called through the types of functions of the host. Skipped without a C++ compiler.

use std::ffi::{CString, c_int};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs};

use sp_runtime::guard::{catch_panic, run_with_default};
use sp_runtime::{Code, Function};

const SOURCE: &str = r#"
#include <exception>
#include <new>
#include <stdexcept>

extern "C" int test_throw(int kind) {
    switch (kind) {
    case 0: throw std::bad_alloc();
    case 1: throw std::length_error("too long");
    case 2: throw 5;
    case 3: std::rethrow_exception(std::make_exception_ptr(std::bad_alloc()));
    }
    return kind;
}

extern "C" int test_uncaught() { return std::uncaught_exceptions(); }
"#;

// SAFETY: the source above has this signature.
static THROW: Function<unsafe extern "C-unwind" fn(c_int) -> c_int> =
    unsafe { Function::new(c"test_throw") };
// SAFETY: as above.
static UNCAUGHT: Function<unsafe extern "C-unwind" fn() -> c_int> =
    unsafe { Function::new(c"test_uncaught") };

/// Compiles the library and loads it, or returns false and prints the reason if there is no compiler.
fn load() -> bool {
    if env::var_os("SP_EMULATED").is_some() {
        println!("skipped: the compiler is not one for the emulated machine");
        return false;
    }
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let name = format!("throws-{}", std::process::id());
    let (source, library) = (
        folder.join(format!("{name}.cc")),
        folder.join(format!("{name}.so")),
    );
    fs::write(&source, SOURCE).unwrap();
    let compiler = env::var_os("CXX").unwrap_or_else(|| "c++".into());
    let mut command = Command::new(compiler);
    command
        .args(["-std=c++17", "-shared", "-fPIC", "-o"])
        .args([&library, &source]);
    let compiled = match command.status() {
        Ok(status) => status.success(),
        Err(error) => {
            println!("skipped: no C++ compiler: {error}");
            return false;
        }
    };
    assert!(compiled, "{command:?}");
    open(&library);
    for file in [source, library] {
        fs::remove_file(file).unwrap();
    }
    true
}

fn open(library: &Path) {
    let path = CString::new(library.to_str().unwrap()).unwrap();
    // SAFETY: the library's initializers are those of C++'s.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
    assert!(!handle.is_null());
}

fn throw(kind: c_int) -> c_int {
    // SAFETY: the function takes any number.
    unsafe { THROW.get().unwrap()(kind) }
}

fn uncaught() -> c_int {
    // SAFETY: the function has no preconditions.
    unsafe { UNCAUGHT.get().unwrap()() }
}

static DROPS: AtomicUsize = AtomicUsize::new(0);

struct Counted;

impl Drop for Counted {
    fn drop(&mut self) {
        DROPS.fetch_add(1, Ordering::Relaxed);
    }
}

/// Runs the calling test in a process of its own, which calls `throws`, and returns what that writes to stderr until it aborts.
/// Returns `None` in that process and if the test is skipped.
fn run_alone(test: &str, throws: impl FnOnce()) -> Option<String> {
    if env::var_os("SP_TEST_THROWS").is_some() {
        if load() {
            throws();
        }
        return None;
    }
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]);
    let output = command.env("SP_TEST_THROWS", "1").output().unwrap();
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|it| String::from_utf8_lossy(&it).into_owned());
    if stdout.contains("skipped: ") {
        println!("{stdout}");
        return None;
    }
    let signal = output.status.signal();
    assert_eq!(signal, Some(libc::SIGABRT), "{stdout}\n{stderr}");
    Some(stderr)
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn exception_of_host_is_error_of_slot_and_runs_destructors() {
    if !load() {
        return;
    }
    let cases = [
        (0, Code::RESOURCE_EXHAUSTED, "std::bad_alloc"),
        (1, Code::INTERNAL, "std::length_error"),
        (2, Code::INTERNAL, "int"),
        (3, Code::RESOURCE_EXHAUSTED, "std::bad_alloc"),
    ];
    for (kind, code, name) in cases {
        let before = DROPS.load(Ordering::Relaxed);
        let error = catch_panic("demo", || {
            let _counted = Counted;
            Ok(throw(kind))
        });
        let error = error.unwrap_err();
        assert_eq!(error.code(), code);
        assert_eq!(error.message(), format!("C++ exception {name} in demo"));
        assert_eq!(DROPS.load(Ordering::Relaxed), before + 1);
        assert_eq!(uncaught(), 0);
    }
    assert_eq!(run_with_default("demo", -1, || throw(0)), -1);
    assert_eq!(catch_panic("demo", || Ok(throw(7))).unwrap(), 7);
    // A guard of a nested call, such as a callback of core, catches first.
    let nested = catch_panic("outer", || {
        let inner = catch_panic("inner", || Ok(throw(0)));
        assert!(inner.unwrap_err().message().ends_with("in inner"));
        Ok(throw(1))
    });
    assert!(nested.unwrap_err().message().ends_with("in outer"));
}

/// This is why the guard has a frame of its own. If the test fails, std may catch exceptions, and the frame can be removed.
#[test]
fn catch_unwind_of_std_aborts_for_exception() {
    let stderr = run_alone("catch_unwind_of_std_aborts_for_exception", || {
        drop(std::panic::catch_unwind(|| throw(0)));
    });
    if let Some(text) = stderr {
        assert!(
            text.contains("Rust cannot catch foreign exceptions"),
            "{text}"
        );
    }
}

#[test]
fn exception_that_reaches_c_function_without_guard_aborts() {
    extern "C" fn slot() {
        throw(0);
    }
    let stderr = run_alone(
        "exception_that_reaches_c_function_without_guard_aborts",
        || slot(),
    );
    if let Some(text) = stderr {
        assert!(
            text.contains("panic in a function that cannot unwind"),
            "{text}"
        );
    }
}
