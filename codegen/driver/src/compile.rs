//! Compiles bindings before they are written, so that a defect of theirs is not found by the author's build.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use sp_system::child::{self, End, OUTPUT_LIMIT, Output};
use sp_system::temporary::removed_on_signal;

use crate::Bindings;
use crate::error::DriverError;

/// The result of a compilation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Compilation {
    /// rustc accepts the bindings.
    Accepted,
    /// There is no rustc that could compile them: the reason.
    Skipped(String),
}

/// The oldest rustc that compiles a plugin.
const OLDEST: &str = env!("CARGO_PKG_RUST_VERSION");

/// Compiles bindings by the rustc that `RUSTC` names, or the one of `PATH`, without code generation.
///
/// # Errors
/// Returns an error if rustc rejects the bindings, or if there is no temporary folder.
pub fn compile(bindings: &Bindings, header: &str) -> Result<Compilation, DriverError> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    compile_by(&PathBuf::from(rustc), &bindings.text, header, TIME)
}

/// The time that rustc may take. Structs that contain each other take exponential time, as a header may state them.
const TIME: Duration = Duration::from_secs(120);

/// Compiles a text by `rustc`, which is killed after `time`.
///
/// # Errors
/// Returns an error as [`compile`] does.
pub fn compile_by(
    rustc: &Path,
    text: &str,
    header: &str,
    time: Duration,
) -> Result<Compilation, DriverError> {
    let folder = removed_on_signal(tempfile::tempdir).map_err(temporary_error)?;
    if let Some(reason) = problem(rustc, folder.path(), time) {
        return Ok(Compilation::Skipped(reason));
    }
    fs::write(folder.path().join("driver.rs"), text).map_err(temporary_error)?;
    let output = run(rustc, folder.path(), OPTIONS, time).map_err(temporary_error)?;
    match output.end {
        End::Exit(0) => Ok(Compilation::Accepted),
        End::TimedOut(_) => Ok(Compilation::Skipped(format!("rustc: {}", output.end))),
        _ => Err(rejected(&output, text, header)),
    }
}

const OPTIONS: &str = "
    --edition 2024 --crate-type lib --crate-name driver --emit metadata --error-format short
    driver.rs";

/// Runs rustc in the folder of the bindings, so that no file of the current folder selects another one.
fn run(rustc: &Path, folder: &Path, arguments: &str, time: Duration) -> io::Result<Output> {
    let mut command = Command::new(rustc);
    let arguments = arguments.split_whitespace();
    let command = command.current_dir(folder).args(arguments);
    child::output(command, time, OUTPUT_LIMIT)
}

/// Returns the reason why rustc cannot compile bindings, or `None` if it can.
fn problem(rustc: &Path, folder: &Path, time: Duration) -> Option<String> {
    let name = rustc.display();
    let output = match run(rustc, folder, "--version", time) {
        Ok(output) if output.end == End::Exit(0) => output,
        Ok(_) => return Some(format!("`{name} --version` fails")),
        Err(error) => return Some(format!("{name} cannot be started: {error}")),
    };
    let version = output.stdout.split_whitespace().nth(1).unwrap_or_default();
    let is_older = numbers(version) < numbers(OLDEST);
    is_older.then(|| format!("rustc {version} is older than {OLDEST}, which a plugin needs"))
}

/// Returns the first two numbers of a version.
fn numbers(version: &str) -> Vec<u32> {
    let parts = version.split(['.', '-']).take(2);
    parts.filter_map(|part| part.parse().ok()).collect()
}

/// Returns the error with rustc's first message and the line that it is about.
fn rejected(output: &Output, text: &str, header: &str) -> DriverError {
    let stderr = &output.stderr;
    let message = stderr.lines().find(|line| line.contains("error"));
    let end = output.end.to_string();
    let message = message.or(stderr.lines().next()).unwrap_or(&end);
    let line = message.split(':').nth(1).and_then(|line| line.parse().ok());
    let line = line.and_then(|line: usize| text.lines().nth(line.checked_sub(1)?));
    DriverError::Rejected {
        name: header.to_owned(),
        message: message.to_owned(),
        line: line.unwrap_or_default().trim().to_owned(),
    }
}

fn temporary_error(source: io::Error) -> DriverError {
    DriverError::Temporary { source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_code_that_does_not_compile_with_its_line() {
        let rustc = PathBuf::from("rustc");
        let text = "pub const A: u32 = 1;\npub const B: u8 = 256;\n";
        let result = compile_by(&rustc, text, "demo.h", TIME);
        let Err(error) = result else {
            return assert!(matches!(result, Ok(Compilation::Skipped(_))));
        };
        let message = error.to_string();
        assert!(message.contains("driver.rs:2:19: error"), "{message}");
        assert!(message.ends_with("pub const B: u8 = 256;"), "{message}");
        let valid = compile_by(&rustc, "pub const A: u32 = 1;\n", "demo.h", TIME);
        assert_eq!(valid.unwrap(), Compilation::Accepted);
    }

    #[cfg(unix)]
    #[test]
    fn rustc_that_does_not_end_is_killed() {
        let folder = tempfile::tempdir().unwrap();
        let rustc = folder.path().join("rustc");
        let script = "#!/bin/sh\n[ \"$1\" = --version ] && echo rustc 99.0.0 && exit\nsleep 300\n";
        fs::write(&rustc, script).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&rustc, mode).unwrap();
        let result = compile_by(&rustc, "", "demo.h", Duration::from_secs(2)).unwrap();
        let expected = "rustc: the process was killed after 2 seconds".to_owned();
        assert_eq!(result, Compilation::Skipped(expected));
    }

    #[test]
    fn missing_or_old_rustc_skips_with_a_reason() {
        let missing = compile_by(Path::new("no-rustc"), "", "demo.h", TIME).unwrap();
        assert!(matches!(missing, Compilation::Skipped(reason) if reason.contains("no-rustc")));
        assert!(numbers("1.88.1") < numbers(OLDEST) && numbers("1.95.0-nightly") > numbers(OLDEST));
        assert!(numbers("2.0.0") > numbers(OLDEST) && numbers("") < numbers(OLDEST));
    }
}
