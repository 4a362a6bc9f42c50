//! The run of a program with the layer.

use super::{LayerError, find_installed};
use crate::console::{note, warning};
use crate::operand::{Operand, ReadOptions, current_folder, readable_folders};
use miette::Result;
use sp_data::folders::cache_folder;
use sp_data::snapshots;
use sp_ir::{Api, Release};
use sp_layer::library::{Compiler, Library};
use sp_layer::runtime::capture::format::size_text;
use sp_layer::runtime::settings::variable;
use sp_layer::{capture, generate, trace};
use sp_parse::clang::DEFAULT_TARGET;
use sp_system::temporary::{delay_signals, removed_on_signal};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use tempfile::TempDir;

/// Options of a run with the layer.
#[derive(Debug, Clone, Default)]
pub struct LayerOptions {
    /// The file of the trace; `-` is stderr.
    pub trace: Option<PathBuf>,
    /// The file of the capture.
    pub capture: Option<PathBuf>,
    /// The most bytes of the records of a captured process.
    pub capture_limit: u64,
    /// True if calls are checked.
    pub validate: bool,
    /// True if the host memory of copies is guarded.
    pub guard: bool,
    /// The plugin, by its path or file name.
    pub plugin: Option<String>,
    /// The filter of the trace.
    pub filter: String,
    /// The Python of the program.
    pub python: Option<PathBuf>,
    /// The release of the program's TensorFlow.
    pub release: Option<Release>,
}

/// A program that has ended.
#[derive(Debug)]
pub struct LayerRun {
    /// Its exit status.
    pub status: u8,
    /// The findings of all its processes.
    pub findings: BTreeSet<String>,
}

/// Runs `program` with its arguments.
///
/// # Errors
/// Returns an error if the layer cannot be compiled, the program not started, or the trace not written.
pub fn run(program: &[OsString], options: &LayerOptions) -> Result<LayerRun> {
    if !cfg!(all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    )) {
        return Err(LayerError::System.into());
    }
    let apis = find_apis(program, options)?;
    check_filter(&options.filter, &apis)?;
    let library = find_library(&apis)?;
    let folder = removed_on_signal(|| tempfile::Builder::new().prefix("sp-gen-layer-").tempdir());
    let folder = folder.map_err(|source| unwritable(Path::new("a temporary folder"), source))?;
    let captured = options.capture.as_deref().map(capture_folder).transpose()?;
    let parts = captured.as_ref().map(TempDir::path);
    // Ctrl-C ends the program, and the trace is still written.
    let _delay = delay_signals();
    let files = create_files(folder.path(), options)?;
    let status = start(program, &library, (folder.path(), parts), options)?;
    // An error of one does not lose the other.
    let traced = write_trace(&folder.path().join("records"), files.trace, options);
    let joined = write_capture(captured, files.capture, options);
    traced?;
    joined?;
    let findings = fs::read_to_string(folder.path().join("findings")).unwrap_or_default();
    Ok(LayerRun {
        status: exit_status(status),
        findings: findings.lines().map(str::to_owned).collect(),
    })
}

fn unwritable(path: &Path, source: std::io::Error) -> LayerError {
    let path = path.to_owned();
    LayerError::Unwritable { path, source }
}

/// Returns the APIs of the program's TensorFlow: the snapshots of its release, or else those of its headers.
fn find_apis(program: &[OsString], options: &LayerOptions) -> Result<Vec<Api>> {
    let folders = readable_folders(&current_folder()?);
    let installed = match options.release {
        Some(_) => None,
        None => Some(find_installed(options.python.as_deref(), &program[0])?),
    };
    let release = options.release.or(installed.as_ref().map(|it| it.release));
    if let Some(release) = release
        && let Some(apis) = snapshots::read_release(&folders, release)?
    {
        return Ok(apis);
    }
    let operand = match (&installed, release) {
        (Some(installed), Some(release)) => {
            note!("TensorFlow {release} is unknown: its own headers are read");
            installed.include.display().to_string()
        }
        (_, release) => release.map_or_else(String::new, |it| it.to_string()),
    };
    let options = ReadOptions {
        folders: &folders,
        target: DEFAULT_TARGET,
        apis: &[],
    };
    Ok(Operand::parse(&operand)?.read(options)?.surface.apis)
}

/// Checks that each part of the filter includes something.
fn check_filter(filter: &str, apis: &[Api]) -> Result<()> {
    match generate::unmatched(filter, apis) {
        None => Ok(()),
        Some(part) => Err(LayerError::Filter {
            part: sp_host::escape_control(&part),
            groups: generate::groups(),
        }
        .into()),
    }
}

/// Returns the path of the library, which is compiled if the cache does not have it.
fn find_library(apis: &[Api]) -> Result<PathBuf> {
    let cache = cache_folder().ok_or(LayerError::NoCache)?;
    let compiler = Compiler::find()?;
    let library = Library::new(apis, &compiler, &cache);
    if !library.is_compiled() {
        let release = apis.first().map_or("", |api| api.release.as_str());
        note!("compiling the layer for TensorFlow {release}, once");
        library.compile(&compiler)?;
    }
    Ok(library.path().to_owned())
}

fn start(
    program: &[OsString],
    library: &Path,
    (folder, captured): (&Path, Option<&Path>),
    options: &LayerOptions,
) -> Result<ExitStatus> {
    let mut command = Command::new(&program[0]);
    command
        .args(&program[1..])
        .env("LD_PRELOAD", preload(library));
    match options.trace.as_deref() {
        None => {}
        Some(path) if path == Path::new("-") => {
            command.env(variable::LIVE, "1");
        }
        Some(_) => {
            command.env(variable::RECORDS, folder.join("records/process"));
        }
    }
    if let Some(captured) = captured {
        command
            .env(variable::CAPTURE, captured.join("process"))
            .env(variable::CAPTURE_LIMIT, options.capture_limit.to_string());
    }
    if options.validate {
        command
            .env(variable::VALIDATE, "1")
            .env(variable::FINDINGS, folder.join("findings"));
    }
    if options.guard {
        command.env(variable::GUARD, "1");
    }
    command.env(variable::FILTER, &options.filter);
    command.env(
        variable::PLUGIN,
        options.plugin.as_deref().unwrap_or_default(),
    );
    let status = command.status();
    let program = program[0].to_string_lossy();
    Ok(status.map_err(|source| {
        remove_files(options);
        LayerError::NotStarted {
            program: sp_host::escape_control(&program),
            source,
        }
    })?)
}

/// Returns the new folder of the captures of all processes, on the file system of the file. Joining them needs the space of all
/// records once more.
fn capture_folder(path: &Path) -> Result<TempDir> {
    // The program may change its own folder.
    let path = std::path::absolute(path).map_err(|source| unwritable(path, source))?;
    let parent = path.parent().unwrap_or(&path);
    let builder = || {
        tempfile::Builder::new()
            .prefix(".sp-gen-capture-")
            .tempdir_in(parent)
    };
    Ok(removed_on_signal(builder).map_err(|source| unwritable(&path, source))?)
}

/// The files of a run, which are written when the program has ended.
struct Files {
    trace: Option<File>,
    capture: Option<File>,
}

/// Creates the files of the trace and the capture: an error at the end would be too late. They stay open, since the program may
/// replace what has their names.
fn create_files(folder: &Path, options: &LayerOptions) -> Result<Files> {
    let records = folder.join("records");
    fs::create_dir(&records).map_err(|source| unwritable(&records, source))?;
    let trace = traced_file(options).map(create_file).transpose()?;
    let capture = options.capture.as_deref().map(create_file).transpose();
    if capture.is_err() {
        // It was created here.
        traced_file(options).into_iter().for_each(remove_file);
    }
    let capture = capture?;
    Ok(Files { trace, capture })
}

/// Returns the file of the trace, if it is not stderr.
fn traced_file(options: &LayerOptions) -> Option<&Path> {
    options.trace.as_deref().filter(|it| *it != Path::new("-"))
}

/// Returns the files that a run writes.
fn files(options: &LayerOptions) -> impl Iterator<Item = &Path> {
    let trace = traced_file(options).into_iter();
    trace.chain(options.capture.as_deref())
}

/// Creates a file, which must not exist.
fn create_file(path: &Path) -> Result<File> {
    match File::create_new(path) {
        Ok(file) => Ok(file),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            Err(LayerError::ExistingFile(path.to_owned()).into())
        }
        Err(error) => Err(unwritable(path, error).into()),
    }
}

/// Removes the files that [`create_files`] has created, for a program that cannot be started.
fn remove_files(options: &LayerOptions) {
    files(options).for_each(remove_file);
}

fn remove_file(path: &Path) {
    // It is empty, so that nothing is lost if it stays.
    let _ = fs::remove_file(path);
}

/// Returns the value of `LD_PRELOAD`: the library, and those of the caller.
fn preload(library: &Path) -> OsString {
    let mut value = library.as_os_str().to_owned();
    if let Some(other) = std::env::var_os("LD_PRELOAD").filter(|it| !it.is_empty()) {
        value.push(":");
        value.push(other);
    }
    value
}

fn write_trace(records: &Path, file: Option<File>, options: &LayerOptions) -> Result<()> {
    let (Some(path), Some(mut file)) = (traced_file(options), file) else {
        return Ok(());
    };
    let read = trace::read(records).map_err(|source| unwritable(path, source))?;
    let is_json = path.extension().is_some_and(|it| it == "json");
    let text = match is_json {
        true => trace::perfetto(&read),
        false => trace::text(&read),
    };
    let written = file.write_all(text.as_bytes());
    written.map_err(|source| unwritable(path, source))?;
    note!("{}: {} calls", path.display(), read.len());
    Ok(())
}

/// Joins the captures of all processes.
fn write_capture(
    captured: Option<TempDir>,
    file: Option<File>,
    options: &LayerOptions,
) -> Result<()> {
    let (Some(captured), Some(file), Some(path)) = (captured, file, options.capture.as_deref())
    else {
        return Ok(());
    };
    let joined = capture::join(captured.path(), path, file).inspect_err(|_| {
        let folder = captured.keep();
        warning!("the records of the processes stay in {}", folder.display());
    })?;
    let (path, calls, omitted) = (path.display(), joined.calls, joined.omitted);
    let limit = joined.limit.map(size_text);
    let limit = limit.map(|it| format!("; cut at the limit of {it}"));
    let limit = limit.unwrap_or_default();
    note!("{path}: {calls} calls of kernels, of which {omitted} cannot be repeated{limit}");
    if joined.cut > 0 {
        warning!(
            "{path}: processes that ended without a last record, whose last calls may be missing: {}",
            joined.cut
        );
    }
    if calls == 0 {
        warning!("{path}: no kernel of a plugin ran in the program");
    }
    Ok(())
}

/// Returns the exit status as a shell does: 128 and the number of the signal that ended the process.
fn exit_status(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return u8::try_from(128 + signal).unwrap_or(u8::MAX);
    }
    u8::try_from(status.code().unwrap_or(2)).unwrap_or(2)
}
