//! The C headers that are generated from the committed snapshots, and the C compilers of this machine.

use std::path::{Path, PathBuf};
use std::process::Command;

use sp_data::release::Release;
use sp_data::snapshots;
use sp_data::symbols::Symbols;
use sp_emit::emit_c;
use sp_gen::disk::{self, FolderKind, WrittenFiles};
use sp_tests::root;

/// Warning options for every compiler. A callback may ignore parameters.
pub const STRICT: [&str; 5] = [
    "-Wall",
    "-Wextra",
    "-Werror",
    "-pedantic",
    "-Wno-unused-parameter",
];

/// Returns a folder that belongs to this test, and creates it.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(env!("CARGO_CRATE_NAME"));
    let folder = folder.join(name);
    std::fs::create_dir_all(&folder).expect("the folder is created");
    folder
}

/// Returns the path of a C source of these tests.
pub fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/shim")
        .join(name)
}

/// Generates the headers, and returns their folder.
pub fn headers() -> PathBuf {
    headers_of(None)
}

/// Generates the headers from the releases up to `release`, or from all, and returns their folder.
pub fn headers_of(release: Option<Release>) -> PathBuf {
    let generated = root().join("generated");
    let apis =
        snapshots::read_folder(&generated.join("ir"), release).expect("the snapshots are read");
    let symbols = Symbols::read_folder(&generated.join("symbols")).expect("the symbols are read");
    let symbols = match release {
        Some(release) => symbols.up_to(release),
        None => symbols,
    };
    let files = emit_c(&apis, &symbols).unwrap_or_else(|error| panic!("{error}"));
    let name = release.map_or_else(String::new, |release| format!("-{release}"));
    let out = folder(&format!("include{name}"));
    let drifts = FolderKind::Headers.drift(&out, &files, &WrittenFiles::Marked);
    disk::apply(&out, &drifts.expect("the folder is read")).expect("the headers are written");
    out
}

/// Returns the include root of a release's stored headers, or `None` if they are not stored.
pub fn stored(release: &str) -> Option<PathBuf> {
    let folders = std::fs::read_dir(root().join("headers/store")).ok()?;
    let prefix = format!("{release}.");
    let mut paths = folders.flatten().map(|entry| entry.path());
    let found = paths.find(|path| {
        path.file_name()
            .is_some_and(|it| it.to_string_lossy().starts_with(&prefix))
    });
    found.map(|path| path.join("include"))
}

/// Returns those of `names` that run a compiler on this machine.
pub fn compilers(names: &[&'static str]) -> Vec<&'static str> {
    let is_installed = |name: &&str| Command::new(name).arg("--version").output().is_ok();
    names.iter().copied().filter(is_installed).collect()
}

/// Runs the compiler.
///
/// # Errors
/// Returns the output of the compiler if it fails.
pub fn compile(compiler: &str, arguments: &[String]) -> Result<(), String> {
    let ran = Command::new(compiler)
        .args(arguments)
        .output()
        .expect("the compiler runs");
    match ran.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&ran.stderr).into_owned()),
    }
}

/// Splits a command line at white space.
pub fn split_words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}
