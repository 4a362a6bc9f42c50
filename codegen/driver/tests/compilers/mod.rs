//! Binds headers, and compiles the bindings and the headers.

#![allow(dead_code, reason = "each test file uses a part")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use sp_driver::{Bindings, Contract, DriverError, DriverHeader, Options, StatusOption};

/// Returns false without libclang, and reports the test as skipped.
pub fn has_libclang() -> bool {
    let library = sp_parse::clang::Library::load();
    if let Err(missing) = &library {
        eprintln!("skipped: no libclang: {missing}");
    }
    library.is_ok()
}

/// Returns the options for a header and the library of its name.
pub fn options(path: &Path) -> Options {
    let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
    Options {
        header: DriverHeader {
            path: path.to_owned(),
            folders: Vec::new(),
            defines: Vec::new(),
        },
        library: format!("lib{stem}.so"),
        variable: format!("{}_LIBRARY", stem.to_uppercase()),
        status: None,
        contract: None,
    }
}

/// Returns the options for virtaccel.
pub fn virtaccel() -> Options {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/virtaccel");
    Options {
        contract: Some(Contract::read(&folder.join("virtaccel.toml")).unwrap()),
        ..options(&folder.join("virtaccel.h"))
    }
}

/// Binds a header with this text. `None` without libclang.
pub fn bind(text: &str) -> Option<Bindings> {
    try_bind(text).map(Result::unwrap)
}

/// Binds a header with this text, or returns its error. `None` without libclang.
pub fn try_bind(text: &str) -> Option<Result<Bindings, DriverError>> {
    bind_with_status(text, None)
}

/// Binds a header with this text and `--driver-status`. `None` without libclang.
pub fn bind_with_status(text: &str, status: Option<&str>) -> Option<Result<Bindings, DriverError>> {
    if !has_libclang() {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let header = folder.path().join("demo.h");
    fs::write(&header, text).unwrap();
    let status = status.map(|text| text.parse::<StatusOption>().unwrap());
    Some(sp_driver::bindings(&Options {
        status,
        ..options(&header)
    }))
}

/// Compiles Rust code with the bindings as its module `driver`, and asserts that there is no warning. The asserts of
/// sizes and offsets are evaluated.
pub fn compile(bindings: &str, code: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("driver.rs"), bindings).unwrap();
    fs::write(
        folder.path().join("main.rs"),
        format!("mod driver;\n{code}"),
    )
    .unwrap();
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(rustc);
    command.args(["--edition", "2024", "-D", "warnings", "-o"]);
    command.args([folder.path().join("program"), folder.path().join("main.rs")]);
    let output = command.output().expect("rustc runs");
    assert_success(&output);
    folder
}

/// Compiles Rust code with the bindings, and runs it.
pub fn run(bindings: &str, code: &str) -> Output {
    let folder = compile(bindings, code);
    let output = Command::new(folder.path().join("program")).output();
    let output = output.expect("the program runs");
    assert_success(&output);
    output
}

/// Returns the names that are left out, each with the reason.
pub fn reasons(bindings: &Bindings) -> Vec<(&str, &str)> {
    let left_out = bindings.left_out.iter();
    left_out
        .map(|it| (it.name.as_str(), it.reason.as_str()))
        .collect()
}

/// Binds a header with this text, compares what a program in C and one in Rust print, and returns the bindings. `None` without
/// libclang. The C code is the body of `main`; `SHOW(X)` prints an integer as `X=VALUE`.
pub fn same_output(header: &str, c_code: &str, code: &str) -> Option<Bindings> {
    let bindings = bind(header)?;
    let printed = run_c(header, c_code);
    let output = run(
        &bindings.text,
        &format!(
            "use driver::*;\n#[allow(unused_macros)]\nmacro_rules! show {{ ($x:expr) => {{ println!(\"{{}}={{}}\", stringify!($x), $x as i128) }} }}\n{code}"
        ),
    );
    assert_eq!(String::from_utf8_lossy(&output.stdout), printed);
    Some(bindings)
}

/// Runs a program in C with the header, and returns what it prints.
fn run_c(header: &str, code: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("show.c"), folder.path().join("show"));
    let show = "#define SHOW(x) printf(\"%s=%s%llu\\n\", #x, (x) < 0 ? \"-\" : \"\", (x) < 0 ? -(unsigned long long)(x) : (unsigned long long)(x));";
    let text = format!(
        "{header}\n#include <stdio.h>\n#include <string.h>\n#define STRING(x) #x\n{show}\nint main(void) {{ {code} return 0; }}\n"
    );
    fs::write(&source, text).unwrap();
    let mut command = Command::new("cc");
    command.args(["-std=gnu2x", "-w", "-o"]).arg(&program);
    assert_success(&command.arg(source).output().expect("cc runs"));
    let output = Command::new(program).output().unwrap();
    assert_success(&output);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Compiles C code with the header, as a check of its own.
///
/// # Errors
/// Returns the compiler's messages if it rejects the code.
pub fn try_compile_c(code: &str, options: &Options) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("check.c");
    let header = options.header.path.display();
    fs::write(
        &source,
        format!("#include \"{header}\"\n#include <stddef.h>\n{code}"),
    )
    .unwrap();
    let output = cc(options).arg("-fsyntax-only").arg(source).output();
    let output = output.expect("cc runs");
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// Returns the preprocessed header, with single spaces.
pub fn preprocess(options: &Options) -> String {
    let output = cc(options)
        .args(["-E", "-P"])
        .arg(&options.header.path)
        .output();
    let output = output.expect("cc runs");
    assert_success(&output);
    let text = String::from_utf8_lossy(&output.stdout);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the names of the functions that gcc sees in the header's own files.
pub fn functions_by_gcc(options: &Options, is_own: &dyn Fn(&str) -> bool) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("check.c");
    let prototypes = folder.path().join("prototypes");
    let header = options.header.path.display();
    fs::write(&source, format!("#include \"{header}\"\n")).unwrap();
    let mut command = cc(options);
    command
        .arg("-aux-info")
        .arg(&prototypes)
        .arg("-c")
        .arg(source);
    command.arg("-o").arg(folder.path().join("check.o"));
    assert_success(&command.output().expect("cc runs"));
    let text = fs::read_to_string(prototypes).unwrap();
    text.lines()
        .filter_map(|line| prototype(line, is_own))
        .collect()
}

/// Returns the function of a line `/* FILE:LINE:NC */ extern TYPE NAME (PARAMETERS); `.
fn prototype(line: &str, is_own: &dyn Fn(&str) -> bool) -> Option<String> {
    let (position, declaration) = line.strip_prefix("/* ")?.split_once(" */ ")?;
    let file = position.split(':').next()?;
    // A function may return a pointer to a function, `int (*NAME (void)) (int)`, or have its type from a typedef: `TYPE NAME;`.
    let end = declaration.find(';').unwrap_or(declaration.len());
    let mut calls = declaration.match_indices(" (").map(|(at, _)| at);
    let end = calls
        .find(|at| !declaration[at + 2..].starts_with('*'))
        .unwrap_or(end);
    let name = declaration[..end].rsplit([' ', '*', '(']).next()?;
    is_own(file).then(|| name.to_owned())
}

fn cc(options: &Options) -> Command {
    let mut command = Command::new("cc");
    command.args(["-std=gnu11", "-w", "-x", "c"]);
    for folder in &options.header.folders {
        command.arg("-I").arg(folder);
    }
    let defines = options.header.defines.iter();
    command.args(defines.map(|define| format!("-D{define}")));
    command
}

pub fn assert_success(output: &Output) {
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{messages}");
}

/// Returns the path of a test's own library.
pub fn library_of_c(code: &str, folder: &Path) -> PathBuf {
    let (source, library) = (folder.join("library.c"), folder.join("libdemo.so"));
    fs::write(&source, code).unwrap();
    let mut command = Command::new("cc");
    command
        .args(["-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(source);
    assert_success(&command.output().expect("cc runs"));
    library
}
