//! The child process of a replay.

use super::outcome::{CallOutcome, Line, Verdict};
use super::session::Session;
use super::values::types;
use super::{ReplayError, ReplayOptions};
use crate::operand::{current_folder, readable_folders};
use crate::verify;
use miette::Result;
use sp_data::snapshots;
use sp_host::{EMULATED_APIS, EmulatedRelease, Host, escape_control};
use sp_ir::Release;
use sp_layer::capture::CaptureReader;
use sp_layer::runtime::capture::format::{Computed, Record};
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

/// The environment variable with the file of results.
pub(super) const RESULTS: &str = "SP_GEN_REPLAY_RESULTS";
/// The environment variable with the file of the calls to repeat, a number in each line.
pub(super) const CALLS: &str = "SP_GEN_REPLAY_CALLS";
/// The environment variable with the last call that is not repeated.
pub(super) const AFTER: &str = "SP_GEN_REPLAY_AFTER";

/// The calls to repeat, and the file of their outcomes.
struct Task {
    results: File,
    calls: Option<BTreeSet<u64>>,
    after: u64,
}

impl Task {
    /// Returns the task in the environment, or `None` if this process is no child.
    fn find() -> io::Result<Option<Self>> {
        let Some(path) = std::env::var_os(RESULTS) else {
            return Ok(None);
        };
        let calls = std::env::var_os(CALLS).map(PathBuf::from);
        let calls = calls.map(fs::read_to_string).transpose()?;
        let calls = calls.map(|it| it.lines().filter_map(|line| line.parse().ok()).collect());
        let after = std::env::var(AFTER).ok().and_then(|it| it.parse().ok());
        Ok(Some(Self {
            results: OpenOptions::new().append(true).open(path)?,
            calls,
            after: after.unwrap_or(0),
        }))
    }

    fn includes(&self, call: u64) -> bool {
        call > self.after && self.calls.as_ref().is_none_or(|it| it.contains(&call))
    }

    fn write(&mut self, line: &Line) -> Result<(), ReplayError> {
        let mut text = serde_json::to_string(line).expect("text and numbers only");
        text.push('\n');
        let written = self.results.write_all(text.as_bytes());
        written.map_err(ReplayError::Child)
    }
}

/// In a child process, repeats the calls and ends the process. Otherwise does nothing.
///
/// # Errors
/// Returns an error if the capture cannot be read, or if the plugin cannot be loaded.
pub fn run_child(options: &ReplayOptions) -> Result<()> {
    let Some(mut task) = Task::find().map_err(ReplayError::Child)? else {
        return Ok(());
    };
    repeat(options, &mut task)?;
    // Threads of the plugin may still run, as in TensorFlow, which destroys no device.
    std::process::exit(0)
}

/// Returns the release that is emulated: that of the options, or of the capture's first process.
fn release(options: &ReplayOptions) -> Result<Release> {
    if let Some(release) = options.release {
        return Ok(release);
    }
    let mut reader = CaptureReader::open(&options.capture)?;
    while let Some((record, _)) = reader.next_record()? {
        if let Record::Process(_, release, _) = record {
            let unknown = || ReplayError::NoRelease(escape_control(&release));
            return Ok(release.parse().map_err(|_| unknown())?);
        }
    }
    Err(ReplayError::Empty(options.capture.clone()).into())
}

fn repeat(options: &ReplayOptions, task: &mut Task) -> Result<()> {
    let release = release(options)?;
    let folders = readable_folders(&current_folder()?);
    let apis = snapshots::read_apis(&folders, release, &EMULATED_APIS)?;
    if apis.is_empty() {
        return Err(ReplayError::NoRelease(release.to_string()).into());
    }
    let exports = verify::exports(&folders, release)?;
    let emulated = EmulatedRelease::new(&apis);
    let emulated = match &exports {
        Some(exports) => emulated.with_exports(exports),
        None => emulated,
    };
    let host = Host::open(emulated, &options.library);
    let host = host.map_err(|error| ReplayError::NoPlugin(escape_control(&error.to_string())))?;
    let mut session = Session::new(&host, release, options.tolerance);
    let mut reader = CaptureReader::open(&options.capture)?;
    let mut number = 0;
    while let Some((record, _)) = reader.next_record()? {
        match record {
            Record::Process(..) => session.clear(),
            Record::Created(created) => session.add(created),
            Record::Deleted(kernel) => session.delete(kernel),
            Record::Computed(call) => {
                number += 1;
                if task.includes(number) {
                    repeat_call(&mut session, number, &call, task)?;
                }
            }
            Record::Registered(_) | Record::Report(_) | Record::Cut(_) | Record::End(_) => {}
        }
    }
    Ok(task.write(&Line::Done)?)
}

fn repeat_call(
    session: &mut Session<'_>,
    number: u64,
    call: &Computed,
    task: &mut Task,
) -> Result<(), ReplayError> {
    let begun = CallOutcome {
        call: number,
        op: escape_control(&call.op),
        node: escape_control(&call.node),
        inputs: types(&call.inputs),
        verdict: Verdict::Failed,
        detail: String::new(),
        captured_nanoseconds: call.duration,
        replayed_nanoseconds: 0,
    };
    task.write(&Line::Begin(begun.clone()))?;
    let (verdict, detail, duration) = session.replay(call);
    task.write(&Line::End(CallOutcome {
        verdict,
        detail: escape_control(&detail),
        replayed_nanoseconds: u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX),
        ..begun
    }))
}
