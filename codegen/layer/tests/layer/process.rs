//! Processes with the layer.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;

use sp_layer::library::{Compiler, Library};
use sp_layer::runtime::settings::variable;

use crate::c;

/// Returns the compiled library of a release.
pub fn library(release: &str) -> PathBuf {
    static LOCK: Mutex<()> = Mutex::new(());
    let _guard = LOCK.lock().expect("no thread has panicked");
    let compiler = Compiler::find().expect("rustc runs");
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let library = Library::new(&c::apis_of(release), &compiler, cache);
    if !library.is_compiled() {
        library.compile(&compiler).expect("the library compiles");
    }
    library.path().to_owned()
}

/// Returns `program` with the layer of a release.
pub fn with_layer(release: &str, program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("LD_PRELOAD", library(release));
    command
}

/// Returns a process that runs the steps of `plugin` in sp-host, with the layer of a release.
pub fn steps(release: &str, plugin: &Path, steps: &str) -> Command {
    let program = std::env::current_exe().expect("it runs");
    let mut command = with_layer(release, &program);
    command
        .arg(plugin)
        .arg(steps)
        .env("SP_SHOWN_RELEASE", release);
    command
}

/// Returns a process that runs a plugin in TensorFlow, or `None` if the environment names no Python with that release.
pub fn in_tensorflow(release: &str, plugin: &Path) -> Option<Command> {
    let name = format!("SP_TENSORFLOW_{}", release.replace('.', "_"));
    let python = std::env::var_os(name)?;
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/layer/in_tensorflow.py");
    let mut command = with_layer(release, Path::new(&python));
    command.arg(program).arg(plugin);
    Some(command)
}

/// Runs a process that checks calls, and returns its findings.
pub fn findings(command: &mut Command) -> Vec<String> {
    let output = command
        .env(variable::VALIDATE, "1")
        .output()
        .expect("it runs");
    findings_of(&output)
}

/// Returns the findings among the lines on stderr.
pub fn findings_of(output: &Output) -> Vec<String> {
    let stderr = String::from_utf8_lossy(&output.stderr);
    let lines = stderr
        .lines()
        .filter_map(|line| line.strip_prefix("sp-gen layer: "));
    lines.map(str::to_owned).collect()
}
