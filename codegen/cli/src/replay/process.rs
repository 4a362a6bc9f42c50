//! The parent of the child processes of a replay.

use super::child::{AFTER, CALLS, RESULTS};
use super::outcome::{CallOutcome, Line, Verdict};
use super::{ReplayError, ReplayOptions};
use sp_layer::capture::CaptureReader;
use sp_layer::runtime::capture::format::Record;
use sp_system::temporary::removed_on_signal;
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use miette::Result;

/// Number of calls in which the plugin may end the process. After it the rest is not repeated.
const MAX_ENDS: usize = 20;
/// Interval between two polls of a child.
const PAUSE: Duration = Duration::from_millis(10);

/// The calls of a capture that are repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayedCalls<'c> {
    /// All of them.
    All,
    /// One, by its number.
    One(u64),
    /// These, to find out whether the last one fails: what the plugin prints is not shown.
    Trial(&'c [u64]),
}

impl ReplayedCalls<'_> {
    /// Returns the numbers of the calls, or `None` for all.
    fn numbers(&self) -> Option<&[u64]> {
        match self {
            Self::All => None,
            Self::One(number) => Some(std::slice::from_ref(number)),
            Self::Trial(numbers) => Some(numbers),
        }
    }
}

/// The outcomes of a replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replayed {
    /// The outcomes in the order of the calls.
    pub outcomes: Vec<CallOutcome>,
    /// The limit in bytes at which the capture was cut.
    pub limit: Option<u64>,
    /// True if the plugin has ended the process too often, so that the rest was not repeated.
    pub is_cut: bool,
}

impl Replayed {
    /// Returns the number of calls with a verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        let outcomes = self.outcomes.iter();
        outcomes.filter(|it| it.verdict == verdict).count()
    }

    /// Returns the calls that are findings.
    pub fn failures(&self) -> impl Iterator<Item = &CallOutcome> {
        let outcomes = self.outcomes.iter();
        outcomes.filter(|it| it.verdict.is_failure())
    }
}

/// Repeats `calls` in child processes. Returns `None` if a child has reported an error.
///
/// # Errors
/// Returns an error if the capture is not complete or has no such call, if a child cannot be started, or if the plugin ends it
/// before the first call.
pub fn replay(options: &ReplayOptions, calls: ReplayedCalls<'_>) -> Result<Option<Replayed>> {
    let limit = match calls {
        ReplayedCalls::Trial(_) => None,
        _ => check(&options.capture, calls)?,
    };
    let folder = removed_on_signal(tempfile::tempdir).map_err(ReplayError::Child)?;
    if let Some(calls) = calls.numbers() {
        let lines: String = calls.iter().map(|it| format!("{it}\n")).collect();
        fs::write(folder.path().join("calls"), lines).map_err(ReplayError::Child)?;
    }
    let mut replayed = Replayed {
        outcomes: Vec::new(),
        limit,
        is_cut: false,
    };
    for _ in 0..MAX_ENDS {
        let results = folder.path().join("results");
        fs::write(&results, "").map_err(ReplayError::Child)?;
        let after = replayed.outcomes.last().map_or(0, |it| it.call);
        let mut command = command(options, &results, after)?;
        if calls != ReplayedCalls::All {
            command.env(CALLS, folder.path().join("calls"));
        }
        if matches!(calls, ReplayedCalls::Trial(_)) {
            command.stderr(Stdio::null());
        }
        let ended = run(&mut command, &results, options.timeout).map_err(ReplayError::Child)?;
        let text = fs::read_to_string(&results).map_err(ReplayError::Child)?;
        match ended.outcomes(&text) {
            Reported::All(outcomes) => {
                replayed.outcomes.extend(outcomes);
                return Ok(Some(replayed));
            }
            Reported::Until(outcomes) => replayed.outcomes.extend(outcomes),
            Reported::None if ended.status.is_some_and(|it| it.code() == Some(2)) => {
                return Ok(None);
            }
            Reported::None => return Err(ReplayError::EndedAtLoad(ended.text()).into()),
        }
    }
    replayed.is_cut = true;
    Ok(Some(replayed))
}

/// Reads the whole capture, which must have the calls; returns the limit at which it was cut.
fn check(path: &Path, calls: ReplayedCalls<'_>) -> Result<Option<u64>> {
    let mut reader = CaptureReader::open(path)?;
    let (mut count, mut limit) = (0, None);
    while let Some((record, _)) = reader.next_record()? {
        match record {
            Record::Computed(_) => count += 1,
            Record::Cut(bytes) => limit = Some(bytes),
            _ => {}
        }
    }
    let capture = path.to_owned();
    match calls {
        _ if count == 0 => Err(ReplayError::Empty(capture).into()),
        ReplayedCalls::One(call) if call > count => Err(ReplayError::NoCall {
            capture,
            call,
            calls: count,
        }
        .into()),
        _ => Ok(limit),
    }
}

fn command(options: &ReplayOptions, results: &Path, after: u64) -> Result<Command, ReplayError> {
    let program = std::env::current_exe().map_err(ReplayError::Child)?;
    let mut command = Command::new(program);
    command.arg("replay").arg(&options.capture);
    command.arg("--plugin").arg(&options.library);
    if let Some(tolerance) = options.tolerance {
        command.arg("--tolerance").arg(tolerance.to_string());
    }
    if let Some(release) = options.release {
        command.arg("--release").arg(release.to_string());
    }
    command
        .env(RESULTS, results)
        .env(AFTER, after.to_string())
        // What a plugin prints is no part of the report.
        .stdout(io::stderr());
    Ok(command)
}

/// The end of a child process.
struct Ended {
    /// The exit status; `None` if a call did not return in time.
    status: Option<ExitStatus>,
    timeout: Duration,
}

/// The report of a child.
enum Reported {
    /// The outcomes of all calls.
    All(Vec<CallOutcome>),
    /// Those up to the call in which it has ended.
    Until(Vec<CallOutcome>),
    /// No call.
    None,
}

/// Runs a child, whose file of results must grow in each `timeout`.
fn run(command: &mut Command, results: &Path, timeout: Duration) -> io::Result<Ended> {
    let mut child = command.spawn()?;
    let (mut size, mut changed) = (0, Instant::now());
    loop {
        if let Some(status) = child.try_wait()? {
            let status = Some(status);
            return Ok(Ended { status, timeout });
        }
        let now = fs::metadata(results)?.len();
        if now != size {
            (size, changed) = (now, Instant::now());
        }
        if changed.elapsed() > timeout {
            end(&mut child)?;
            let status = None;
            return Ok(Ended { status, timeout });
        }
        std::thread::sleep(PAUSE);
    }
}

fn end(child: &mut Child) -> io::Result<()> {
    child.kill()?;
    child.wait().map(drop)
}

impl Ended {
    fn text(&self) -> String {
        match self.status {
            Some(status) => status.to_string(),
            None => format!("no result in {} seconds", self.timeout.as_secs()),
        }
    }

    fn outcomes(&self, text: &str) -> Reported {
        let (mut outcomes, mut open) = (Vec::new(), None);
        let lines = text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        for line in lines {
            match line {
                Line::Begin(call) => open = Some(call),
                Line::End(call) => {
                    outcomes.push(call);
                    open = None;
                }
                Line::Done => return Reported::All(outcomes),
            }
        }
        match open {
            Some(call) => outcomes.push(CallOutcome {
                detail: format!("the kernel did not return: {}", self.text()),
                ..call
            }),
            None => match outcomes.last_mut() {
                None => return Reported::None,
                // The deletion of a kernel, or a thread of the plugin.
                Some(last) => {
                    last.verdict = Verdict::Failed;
                    last.detail = format!("the process ended after the call: {}", self.text());
                }
            },
        }
        Reported::Until(outcomes)
    }
}
