//! Runs checks in child processes: this executable again, with the check in the environment. A crash or a
//! hang is then that check's failure.
//!
//! The child reports on a [`channel`] of its own; without a result there it failed. This contains
//! mistakes of a plugin, not attacks: a plugin can do what this user can do.

mod exit;
mod group;
mod limits;
mod output;
mod process;
mod time_limit;

pub(crate) use exit::{missing_functions, missing_python_functions};
pub use group::kill_children;

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Barrier};
use std::time::Duration;

use crate::channel::{self, Breaches, kind};
use crate::contract::FilledStruct;
use crate::fault::{self, HANG_STATUS, UNREPORTED_STATUS};
use crate::hung_calls::{HUNG_CALLS, HungCalls};
use crate::outcome::{CheckOutcome, CheckResult, CheckStatus, Stop};
use crate::registration::RegistrationReports;
use time_limit::TimeLimit;

const CHECK: &str = "SP_HOST_CHECK";
const PLUGIN: &str = "SP_HOST_PLUGIN";
const RELEASE: &str = "SP_HOST_RELEASE";

/// The environment variable with the time limit of a check, in seconds.
const SECONDS: &str = "SP_HOST_SECONDS";

/// The environment variable with a program and its arguments that run each child process, such as an emulator.
const RUNNER: &str = "SP_HOST_RUNNER";

/// Seconds that a check may take by default.
pub(crate) const DEFAULT_SECONDS: u64 = 30;

/// Time that the parent waits beyond the limit, in case the watchdog of the child does not run.
const GRACE: Duration = Duration::from_secs(5);

/// Largest number of seconds that a check may take: a day.
const MAX_SECONDS: u64 = 86_400;

/// Returns the time that a check may take: `SP_HOST_SECONDS`, or the default.
pub fn limit() -> Duration {
    let seconds = std::env::var(SECONDS)
        .ok()
        .and_then(|seconds| seconds.parse().ok());
    let seconds = seconds.filter(|it| (1..=MAX_SECONDS).contains(it));
    Duration::from_secs(seconds.unwrap_or(DEFAULT_SECONDS))
}

/// The check that a child process runs.
pub struct Task {
    /// The id of the check.
    pub check: String,
    /// The plugin's library.
    pub plugin: PathBuf,
    /// The host that the child emulates: a release of TensorFlow, or a name that the parent has passed.
    pub release: String,
}

/// Returns the task in the environment, or `None` if this process is not a child.
pub fn task() -> Option<Task> {
    Some(Task {
        check: std::env::var(CHECK).ok()?,
        plugin: std::env::var_os(PLUGIN).map(PathBuf::from)?,
        release: child_release()?,
    })
}

/// In a child, returns the TensorFlow release that its parent emulates.
pub fn child_release() -> Option<String> {
    std::env::var(RELEASE).ok().filter(|it| !it.is_empty())
}

/// In a child, returns the plugin under test.
pub fn child_plugin() -> Option<PathBuf> {
    task().map(|task| task.plugin)
}

/// Returns true if this process is a child that was started for one check.
///
/// Files that a test's `main` prepares are there already in its children.
pub fn is_child() -> bool {
    task().is_some()
}

/// The way in which a child process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessEnd {
    /// Without destructors, so that threads of the plugin cannot access state that is partly destroyed.
    Immediate,
    /// With the destructors of all libraries, as a program that returns from `main`. A crash in one is a failure.
    Destructors,
}

/// Runs the child's part, reports the result, and ends the process. Without a parent, as when it was
/// started by hand, it prints the result.
pub(crate) fn perform(run: impl FnOnce() -> CheckResult) -> ! {
    perform_until(ProcessEnd::Immediate, run)
}

/// Runs the child's part, reports the result, and ends the process as `end` states.
pub fn perform_until(end: ProcessEnd, run: impl FnOnce() -> CheckResult) -> ! {
    let has_parent = channel::open().is_ok();
    limits::set();
    fault::install();
    start_watchdog();
    let outcome = CheckOutcome::new("", run());
    let kind = match outcome.status {
        CheckStatus::Pass => kind::PASS,
        CheckStatus::Fail => kind::FAIL,
        CheckStatus::Skip => kind::SKIP,
    };
    let is_done = match has_parent {
        true => channel::send(kind, &outcome.detail),
        false => writeln!(std::io::stdout(), "{outcome}").is_ok(),
    };
    let status = if is_done { 0 } else { UNREPORTED_STATUS };
    if end == ProcessEnd::Destructors {
        std::process::exit(status);
    }
    // SAFETY: `_exit` takes a number and does not return. It runs no destructors, so that threads of the plugin
    // cannot access state that is partly destroyed.
    unsafe { libc::_exit(status) }
}

/// Starts [`watch`] and waits until it runs: a thread's start takes the loader's lock, which a
/// plugin that hangs in a constructor holds for ever.
fn start_watchdog() {
    let barrier = Arc::new(Barrier::new(2));
    let is_running = Arc::clone(&barrier);
    std::thread::spawn(move || {
        is_running.wait();
        watch();
    });
    barrier.wait();
}

/// Ends the process after its time limit. If the parent has ended, ends the whole process group.
fn watch() {
    let limit = limit();
    let time = TimeLimit::start(limit, std::process::id());
    while !time.remaining().is_zero() {
        if channel::wait_for_parent_exit(time.remaining()) {
            // SAFETY: process group 0 is this process's own, which the parent created for this child alone.
            unsafe { libc::kill(0, libc::SIGKILL) };
        }
    }
    channel::send(kind::HUNG, fault::current_call());
    fault::report(&format!(
        "still in {} after {} s",
        fault::current_call(),
        limit.as_secs()
    ));
    // SAFETY: `_exit` takes a number and does not return.
    unsafe { libc::_exit(HANG_STATUS) }
}

/// The reports and the outcome of a check in a child process.
pub(crate) struct Answer {
    pub outcome: CheckOutcome,
    /// Writes that violate the structs' contract.
    pub breaches: Breaches,
    /// True if the plugin's library was loaded.
    pub is_loaded: bool,
    /// The number of devices that the plugin reported, if it was asked.
    pub devices: Option<i32>,
    /// The structs that the plugin filled.
    pub written: Vec<FilledStruct>,
    /// The kernels that the plugin registered.
    pub registered: RegistrationReports,
}

impl Answer {
    /// Returns an answer with an outcome and no reports.
    pub fn new(outcome: CheckOutcome) -> Self {
        Self {
            outcome,
            breaches: Breaches::new(),
            is_loaded: false,
            devices: None,
            written: vec![],
            registered: RegistrationReports::default(),
        }
    }
}

/// Runs `check` on `plugin` in a child, for the default time.
pub(crate) fn spawn(check: &str, plugin: &Path, release: &str) -> CheckOutcome {
    run_in_child(check, plugin, release, limit(), &HungCalls::default()).outcome
}

/// Runs `check` on `plugin` in a child, at most for `limit`. It ends as skipped before it calls one of `hung_calls`; if a
/// function hangs in it, that function is added.
pub(crate) fn run_in_child(
    check: &str,
    plugin: &Path,
    release: &str,
    limit: Duration,
    hung_calls: &HungCalls,
) -> Answer {
    match try_spawn(check, plugin, release, limit, hung_calls) {
        Ok(exit) => {
            let has_hung = exit.status.and_then(|status| status.code()) == Some(HANG_STATUS);
            if let Some(call) = exit.reports.hung.as_deref().filter(|_| has_hung) {
                hung_calls.add(call, check, release);
            }
            answer(check, exit)
        }
        Err(stop) => Answer::new(CheckOutcome::new(check, Err(stop))),
    }
}

fn answer(check: &str, exit: process::ChildExit) -> Answer {
    let dropped_bytes = exit.stdout.dropped() + exit.stderr.dropped();
    let seen = exit::result(&exit);
    Answer {
        outcome: CheckOutcome {
            dropped_bytes,
            ..CheckOutcome::new(check, seen)
        },
        breaches: exit.reports.breaches,
        is_loaded: exit.reports.is_loaded,
        devices: exit.reports.devices,
        written: exit.reports.written,
        registered: exit.reports.registered,
    }
}

/// The environment variable with settings of the C library.
const TUNABLES: &str = "GLIBC_TUNABLES";

/// The C library's settings for a child: its caches of freed memory count as memory in use, which the
/// check for leaks would report.
fn tunables() -> OsString {
    let mut settings = std::env::var_os(TUNABLES).unwrap_or_default();
    if !settings.is_empty() {
        settings.push(":");
    }
    settings.push("glibc.malloc.tcache_count=0");
    settings
}

fn try_spawn(
    check: &str,
    plugin: &Path,
    release: &str,
    limit: Duration,
    hung_calls: &HungCalls,
) -> Result<process::ChildExit, Stop> {
    if is_child() {
        let text =
            "a child process must not start children: call sp_host::child_main first in main";
        return Err(Stop::Fail(text.into()));
    }
    let failed =
        |error: std::io::Error| Stop::Fail(format!("cannot start a child process: {error}"));
    let environment: [(&str, OsString); 6] = [
        (CHECK, check.into()),
        (PLUGIN, plugin.into()),
        (RELEASE, release.into()),
        (SECONDS, limit.as_secs().max(1).to_string().into()),
        (TUNABLES, tunables()),
        (HUNG_CALLS, hung_calls.lines().into()),
    ];
    let program = std::env::current_exe().map_err(failed)?;
    let runner = std::env::var(RUNNER).unwrap_or_default();
    let mut command = command(&program, &runner);
    process::run(command.envs(environment), limit + GRACE).map_err(failed)
}

/// Returns the command of a program, which starts with the words of `runner` if there are any.
fn command(program: &Path, runner: &str) -> Command {
    let mut words = runner.split_whitespace();
    let Some(first) = words.next() else {
        return Command::new(program);
    };
    let mut command = Command::new(first);
    command.args(words).arg(program);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runner_precedes_program() {
        let words = |runner| {
            let command = command(Path::new("/program"), runner);
            let arguments = command.get_args().map(OsString::from);
            [command.get_program().into()]
                .into_iter()
                .chain(arguments)
                .collect::<Vec<OsString>>()
        };
        assert_eq!(words(""), ["/program"]);
        let expected = ["qemu-aarch64", "-L", "/lib", "/program"];
        assert_eq!(words("qemu-aarch64 -L /lib"), expected);
    }
}
