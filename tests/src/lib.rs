//! Shared code of the tests that need more than one crate: paths in the checkout, the committed
//! snapshots, files of folders, and tests in a process of their own.

pub mod c_declarations;
pub mod futures;
pub mod http;
mod rows;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub use rows::rows;

use sp_ir::{Api, Item};

/// Returns the root of the checkout.
///
/// # Panics
/// Never: this crate is a folder of the checkout.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("tests/ is a folder of the checkout")
}

/// Returns minor numbers of releases from 2.`first` to 2.22: all if `SP_EVERY_RELEASE` is 1, or those around a change of what plugins
/// use. 2.19 to 2.21 export no function of variables.
pub fn minors(first: u32) -> impl Iterator<Item = u32> {
    let every = std::env::var("SP_EVERY_RELEASE").is_ok_and(|it| it == "1");
    (first..=22).filter(move |minor| every || *minor == first || [12, 18, 19, 22].contains(minor))
}

/// Returns the committed snapshots of `release`, sorted by API.
///
/// # Panics
/// Panics if a snapshot cannot be read or parsed.
pub fn snapshots(release: &str) -> Vec<Api> {
    let folder = root().join("generated/ir");
    let mut paths: Vec<PathBuf> = fs::read_dir(&folder)
        .expect("generated/ir is committed")
        .map(|entry| {
            let entry = entry.expect("a readable folder").path();
            entry.join(format!("{release}.json"))
        })
        .filter(|path| path.exists())
        .collect();
    paths.sort();
    paths.iter().map(|path| read_snapshot(path)).collect()
}

/// Returns the files below `folder` by their paths in it.
///
/// # Panics
/// Panics if a folder or file cannot be read.
pub fn read_files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut found, mut pending) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(next) = pending.pop() {
        for entry in fs::read_dir(&next).expect("a readable folder") {
            match entry.expect("a readable folder").path() {
                path if path.is_dir() => pending.push(path),
                path => {
                    let name = path.strip_prefix(folder).expect("it is below the folder");
                    found.insert(name.to_owned(), fs::read(&path).expect("a readable file"));
                }
            }
        }
    }
    found
}

/// Writes `files` below `folder`, and creates their parent folders.
///
/// # Panics
/// Panics if a file cannot be written.
pub fn write_files(folder: &Path, files: impl IntoIterator<Item = (PathBuf, Vec<u8>)>) {
    for (name, bytes) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("it has a folder")).expect("a writable folder");
        fs::write(path, bytes).expect("a writable file");
    }
}

/// Copies the files below a folder.
///
/// # Panics
/// Panics if a file cannot be read or written.
pub fn copy_files(from: &Path, to: &Path) {
    write_files(to, read_files(from));
}

/// Writes the metadata of an installed TensorFlow, which is the folder `NAME-VERSION.dist-info`.
///
/// # Panics
/// Panics if a file cannot be written.
pub fn write_dist_info(folder: &Path, package: &str, version: &str) {
    let metadata = format!("Name: {package}\nVersion: {version}\n");
    let tag = "Tag: cp311-cp311-manylinux_2_27_x86_64\n";
    let files = [("METADATA", metadata), ("WHEEL", tag.to_owned())];
    write_files(folder, files.map(|(name, text)| (name.into(), text.into())));
}

/// Checks that `text` contains `part`.
///
/// # Panics
/// Panics if `text` does not contain `part`.
#[track_caller]
pub fn assert_contains(text: &str, part: &str) {
    assert!(text.contains(part), "`{part}` is not in: {text}");
}

/// Checks that `text` contains each of `parts`.
///
/// # Panics
/// Panics if `text` does not contain a part.
#[track_caller]
pub fn assert_contains_all(text: &str, parts: &[&str]) {
    for part in parts {
        assert_contains(text, part);
    }
}

/// Compares a text with the golden file at `path` in the checkout, which `SP_BLESS` writes first.
///
/// # Panics
/// Panics if they differ, or if the file cannot be written.
#[track_caller]
pub fn assert_golden(path: &str, text: &str) {
    let file = root().join(path);
    if std::env::var_os("SP_BLESS").is_some() {
        fs::write(&file, text).expect("a writable file");
    }
    let golden = fs::read_to_string(&file).unwrap_or_default();
    for (line, (found, expected)) in text.lines().zip(golden.lines()).enumerate() {
        assert_eq!(found, expected, "line {} of {path}", line + 1);
    }
    assert_eq!(text, golden, "{path}");
}

/// Compiles a shared library from C. Returns false and prints the reason if this machine has no C compiler for Linux.
pub fn compile_library(library: &Path, source: &Path, options: &[&str]) -> bool {
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-o"]).arg(library).arg(source);
    let status = cc.args(options).status();
    let is_compiled = cfg!(target_os = "linux") && status.is_ok_and(|status| status.success());
    if !is_compiled {
        eprintln!("skipped: no C compiler for Linux");
    }
    is_compiled
}

fn read_snapshot(path: &Path) -> Api {
    let text = fs::read_to_string(path).expect("a readable snapshot");
    Api::from_json(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the exports of a framework library that has every function of `apis` except `absent`:
/// each function with the names of the libraries that export it.
pub fn exports_without(apis: &[Api], absent: &str) -> BTreeMap<String, BTreeSet<String>> {
    let functions = apis.iter().flat_map(|api| api.items.values());
    let symbols = functions.filter_map(|item| match item {
        Item::Function(function) if function.symbol != absent => Some(function.symbol.clone()),
        _ => None,
    });
    let framework = BTreeSet::from(["libtensorflow_framework.so.2".to_owned()]);
    let symbols = symbols.chain(["TF_Version".to_owned()]);
    symbols.map(|symbol| (symbol, framework.clone())).collect()
}

/// Returns the library of the plugin `examples/NAME.rs`. `cargo test` builds the examples before the tests;
/// `cargo test --test NAME` does not, so a library that does not exist or is older than its sources is built here, with
/// the default options.
///
/// # Panics
/// Panics if the library cannot be built.
pub fn example(name: &str) -> PathBuf {
    use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
    let executable = std::env::current_exe().expect("a test has an executable");
    let profile_folder = executable.ancestors().nth(2).expect("a test is in deps/");
    let library = profile_folder.join(format!("examples/{DLL_PREFIX}{name}{DLL_SUFFIX}"));
    if !is_up_to_date(&library) {
        build_example(name, profile_folder);
    }
    library
}

/// Returns true if no source of a library has changed since Cargo built it and wrote their list beside it.
fn is_up_to_date(library: &Path) -> bool {
    let built = fs::metadata(library).and_then(|it| it.modified());
    let list = fs::read_to_string(library.with_extension("d"));
    let (Ok(built), Ok(list)) = (built, list) else {
        return false;
    };
    let is_older = |source: &str| {
        let changed = fs::metadata(source).and_then(|it| it.modified());
        changed.is_ok_and(|it| it <= built)
    };
    // A path with a space is not found; Cargo then decides.
    list.split_once(": ")
        .is_some_and(|(_, sources)| sources.split_whitespace().all(is_older))
}

/// Builds an example into `profile_folder`, which is `target/PROFILE` or `target/TRIPLE/PROFILE`.
fn build_example(name: &str, profile_folder: &Path) {
    let file_name = |folder: &Path| folder.file_name().map(std::ffi::OsStr::to_owned);
    let profile = file_name(profile_folder).expect("a profile has a folder");
    let parent = profile_folder.parent().expect("it is in the target folder");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--offline", "--package", "sp-tests"]);
    cargo.args(["--example", name, "--profile"]);
    cargo.arg(if profile == "debug" {
        "dev".into()
    } else {
        profile
    });
    // Cargo writes this file to its target folder, and not to the folder of a triple.
    if parent.join(".rustc_info.json").exists() {
        cargo.arg("--target-dir").arg(parent);
    } else {
        let target = parent.parent().expect("a triple is in the target folder");
        let triple = file_name(parent).expect("a triple has a folder");
        cargo.arg("--target-dir").arg(target);
        cargo.arg("--target").arg(triple);
    }
    let status = cargo.current_dir(root()).status().expect("cargo runs");
    assert!(status.success(), "{cargo:?} failed: {status}");
}

/// Runs `body` of the test called `test` in a child process, and returns that process's stderr.
///
/// A process identifies its host once, so tests with different hosts need different processes.
/// In the child process itself this runs `body` and returns an empty string.
///
/// # Panics
/// Panics if the child process fails.
pub fn in_own_process(test: &str, body: impl FnOnce()) -> String {
    if std::env::var_os("SP_OWN_PROCESS").is_some() {
        body();
        return String::new();
    }
    let [_, stderr] = run_test(test, &[("SP_OWN_PROCESS", "1")]);
    stderr
}

/// Runs the test called `test` in a child process with these environment variables, and returns its stdout and
/// stderr.
///
/// # Panics
/// Panics if the child process fails.
pub fn run_test(test: &str, variables: &[(&str, &str)]) -> [String; 2] {
    let child = Command::new(std::env::current_exe().expect("a test has an executable"))
        .args(["--exact", test, "--nocapture"])
        .envs(variables.iter().copied())
        .output()
        .expect("the executable runs again");
    let texts = [child.stdout, child.stderr];
    let [stdout, stderr] = texts.map(|it| String::from_utf8_lossy(&it).into_owned());
    assert!(
        child.status.success(),
        "{test} {variables:?}: {stdout}{stderr}"
    );
    [stdout, stderr]
}
