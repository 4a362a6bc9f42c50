//! Runs a program, or the signatures of a SavedModel, with the recorder, and reads what its processes wrote.

use super::Process;
use sp_system::{errors, input, python};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use tempfile::TempDir;

use miette::Diagnostic;
use thiserror::Error;

/// The recorder. Python imports a module of this name at its start.
const RECORDER: &str = include_str!("recorder.py");
const MODULE: &str = "sitecustomize.py";

/// The program that calls the signatures of a SavedModel, and the name by which it imports the recorder.
const MODEL: &str = include_str!("model.py");
const MODEL_RECORDER: &str = "recorder.py";

/// The most bytes of a record.
const MAX_RECORD: u64 = 256 << 20;

errors! {
    /// A failure to record a program.
    #[derive(Debug, Error, Diagnostic)]
    pub enum RecorderError in coverage {
        /// The program cannot be started.
        NotStarted { program: String, reason: io::Error } = not_started: ("cannot start {program}: {reason}"),
            help("name a program after `--`, such as `sp-gen coverage -- python train.py`, or the Python of a SavedModel by --python");

        /// A file of the recorder cannot be written or read.
        Folder(io::Error) = recorder_folder: ("cannot use a temporary folder: {}", .0),
            help("set TMPDIR to a folder that you can write to");

        /// A record is not what the recorder writes.
        InvalidRecord { reason: serde_json::Error } = invalid_record: ("a process wrote an invalid record: {reason}"),
            help("the program may have written to the recorder's file; run it again");
    }
}

/// The end of a program, and the processes that used TensorFlow.
#[derive(Debug)]
pub struct Recorded {
    /// The exit status of the program.
    pub status: ExitStatus,
    /// The processes, in the order of their numbers.
    pub processes: Vec<Process>,
}

/// Runs a program, whose standard output becomes the standard error of this process. Recording ends after `seconds`, or with
/// each process.
///
/// # Errors
/// Returns an error if the program cannot be started, or a record cannot be read.
pub fn record(program: &[OsString], seconds: Option<u64>) -> Result<Recorded, RecorderError> {
    let (folder, module) = folder(&[(MODULE, RECORDER)])?;
    let (name, arguments) = program.split_first().expect("clap requires a program");
    let mut command = Command::new(name);
    command.args(arguments);
    command.env("PYTHONPATH", python_path(&module));
    run(&mut command, folder.path(), seconds)
}

/// Calls each signature of the SavedModel in the folder `model`, in a process of `python`.
///
/// # Errors
/// As of [`record`].
pub fn record_model(
    python: &Path,
    model: &Path,
    seconds: Option<u64>,
) -> Result<Recorded, RecorderError> {
    let files = [("model.py", MODEL), (MODEL_RECORDER, RECORDER)];
    let (folder, module) = folder(&files)?;
    let mut command = Command::new(python);
    command.arg(module.join("model.py")).arg(model);
    run(&mut command, folder.path(), seconds)
}

/// Returns a new folder for records, and a folder in it with these files.
fn folder(files: &[(&str, &str)]) -> Result<(TempDir, PathBuf), RecorderError> {
    let folder = python::private_folder().map_err(RecorderError::Folder)?;
    let module = folder.path().join("module");
    let write = |(name, text): &(&str, &str)| fs::write(module.join(name), text);
    let written = fs::create_dir(&module).and_then(|()| files.iter().try_for_each(write));
    written.map_err(RecorderError::Folder)?;
    Ok((folder, module))
}

fn run(
    command: &mut Command,
    folder: &Path,
    seconds: Option<u64>,
) -> Result<Recorded, RecorderError> {
    command.stdout(io::stderr());
    command.env("SP_COVERAGE_FOLDER", folder);
    if let Some(seconds) = seconds {
        command.env("SP_COVERAGE_SECONDS", seconds.to_string());
    }
    let status = command.status().map_err(|reason| {
        let program = command.get_program().to_string_lossy().into_owned();
        RecorderError::NotStarted { program, reason }
    })?;
    let processes = read_all(folder)?;
    Ok(Recorded { status, processes })
}

/// Returns PYTHONPATH with the folder of the recorder first.
fn python_path(module: &Path) -> OsString {
    let mut path = module.as_os_str().to_owned();
    if let Some(rest) = std::env::var_os("PYTHONPATH").filter(|it| !it.is_empty()) {
        path.push(":");
        path.push(rest);
    }
    path
}

fn read_all(folder: &Path) -> Result<Vec<Process>, RecorderError> {
    let entries = fs::read_dir(folder).map_err(RecorderError::Folder)?;
    let paths = entries.filter_map(|it| Some(it.ok()?.path()));
    let mut paths: Vec<_> = paths
        .filter(|it| it.extension() == Some(OsStr::new("json")))
        .collect();
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        let bytes = input::read(path, MAX_RECORD).map_err(RecorderError::Folder)?;
        serde_json::from_slice(&bytes).map_err(|reason| RecorderError::InvalidRecord { reason })
    };
    paths.iter().map(read).collect()
}
