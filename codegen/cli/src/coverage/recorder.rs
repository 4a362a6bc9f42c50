//! Runs a program with the recorder, and reads what its processes wrote.

use super::Process;
use sp_system::{errors, input, python};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};

use miette::Diagnostic;
use thiserror::Error;

/// The recorder. Python imports a module of this name at its start.
const RECORDER: &str = include_str!("recorder.py");
const MODULE: &str = "sitecustomize.py";

/// The most bytes of a record.
const MAX_RECORD: u64 = 256 << 20;

errors! {
    /// A failure to record a program.
    #[derive(Debug, Error, Diagnostic)]
    pub enum RecorderError in coverage {
        /// The program cannot be started.
        NotStarted { program: String, reason: io::Error } = not_started: ("cannot start {program}: {reason}"),
            help("name a program after `--`, such as `sp-gen coverage -- python train.py`");

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
    let folder = python::private_folder().map_err(RecorderError::Folder)?;
    let module = folder.path().join("module");
    let write = fs::create_dir(&module).and_then(|()| fs::write(module.join(MODULE), RECORDER));
    write.map_err(RecorderError::Folder)?;
    let (name, arguments) = program.split_first().expect("clap requires a program");
    let mut command = Command::new(name);
    command.args(arguments).stdout(io::stderr());
    command.env("PYTHONPATH", python_path(&module));
    command.env("SP_COVERAGE_FOLDER", folder.path());
    if let Some(seconds) = seconds {
        command.env("SP_COVERAGE_SECONDS", seconds.to_string());
    }
    let status = command.status().map_err(|reason| {
        let program = name.to_string_lossy().into_owned();
        RecorderError::NotStarted { program, reason }
    })?;
    let processes = read_all(folder.path())?;
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
