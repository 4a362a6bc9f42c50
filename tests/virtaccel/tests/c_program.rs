//! Compiles C and C++ programs against the header and runs them, as a user of the driver does.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the folder of the built library.
fn library_folder() -> PathBuf {
    let test = env::current_exe().expect("the test's path");
    test.parent().expect("a folder").to_owned()
}

/// Compiles `tests/c/source` with `compiler` and returns what the program prints.
fn compile_and_run(compiler: &str, language: &[&str], source: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let program = scratch.path().join("program");
    let libraries = library_folder();
    let compiled = Command::new(compiler)
        .args(language)
        .args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I"])
        .arg(root)
        .arg(root.join("tests/c").join(source))
        .args(["-x", "none", "-o"])
        .arg(&program)
        .arg("-L")
        .arg(&libraries)
        .args(["-lvirtaccel", "-lm"])
        .output()
        .expect("a compiler");
    let messages = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{messages}");
    let run = Command::new(program)
        .env("LD_LIBRARY_PATH", &libraries)
        .output()
        .expect("the program runs");
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    String::from_utf8_lossy(&run.stdout).into_owned()
}

#[test]
fn c_program_trains_and_gets_a_status_for_every_bad_argument() {
    assert_eq!(compile_and_run("cc", &["-std=c11"], "program.c"), "ok\n");
}

#[test]
fn header_is_valid_cpp() {
    let language = ["-std=c++17", "-x", "c++"];
    assert_eq!(compile_and_run("c++", &language, "header.c"), "ok\n");
}
