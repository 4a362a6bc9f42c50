//! Checks run in children: this executable again, told by the environment which check to run. A
//! crash or a hang is then that check's failure.
//!
//! The child reports on a [`channel`] of its own; without a verdict there it failed. This contains
//! mistakes of a plugin, not attacks: a plugin can do what this user can do.

pub(crate) mod channel;
mod exit;
mod group;
mod limits;
mod output;
mod process;

pub(crate) use exit::{needs, unfit};
pub use group::kill_children;

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Barrier};
use std::time::Duration;

use crate::contract::FilledStruct;
use crate::fault::{self, HANG_STATUS, LOST_STATUS};
use crate::outcome::{Outcome, Seen, Stop, Verdict};
use channel::{Breaches, kind};

const CHECK: &str = "SP_HOST_CHECK";
const PLUGIN: &str = "SP_HOST_PLUGIN";
const RELEASE: &str = "SP_HOST_RELEASE";

/// Seconds that a check may take, where the default is too short or too long.
const SECONDS: &str = "SP_HOST_SECONDS";

/// Seconds that a check may take by default.
pub(crate) const DEFAULT_SECONDS: u64 = 30;

/// How much longer the parent waits, for a child whose watchdog does not run.
const GRACE: Duration = Duration::from_secs(5);

/// Returns the time that a check may take: `SP_HOST_SECONDS`, or the default.
pub(crate) fn limit() -> Duration {
    let seconds = std::env::var(SECONDS)
        .ok()
        .and_then(|seconds| seconds.parse().ok());
    Duration::from_secs(seconds.unwrap_or(DEFAULT_SECONDS))
}

/// What this process was started for, if it is a child.
pub(crate) struct Task {
    pub check: String,
    pub plugin: PathBuf,
    pub release: String,
}

/// The task that the environment names.
pub(crate) fn task() -> Option<Task> {
    Some(Task {
        check: std::env::var(CHECK).ok()?,
        plugin: std::env::var_os(PLUGIN).map(PathBuf::from)?,
        release: child_release()?,
    })
}

/// In a child, the TensorFlow release whose APIs its parent has.
pub fn child_release() -> Option<String> {
    std::env::var(RELEASE).ok()
}

/// In a child, the plugin that its parent asks about.
pub fn child_plugin() -> Option<PathBuf> {
    task().map(|task| task.plugin)
}

/// Whether this process is a child that was started for one check.
///
/// What a test's `main` prepares on disk, its children find prepared.
pub fn is_child() -> bool {
    task().is_some()
}

/// Runs the child's part, reports the verdict, and ends the process. Without a parent, as when it was
/// started by hand, it prints the verdict.
pub(crate) fn perform(run: impl FnOnce() -> Seen) -> ! {
    let has_parent = channel::open().is_ok();
    limits::set();
    fault::install();
    start_watchdog();
    let outcome = Outcome::new("", run());
    let kind = match outcome.status {
        Verdict::Pass => kind::PASS,
        Verdict::Fail => kind::FAIL,
        Verdict::Skip => kind::SKIP,
    };
    let is_done = match has_parent {
        true => channel::send(kind, &outcome.detail),
        false => writeln!(std::io::stdout(), "{outcome}").is_ok(),
    };
    // SAFETY: ends the process, at once: what the plugin still runs has no say any more.
    unsafe { libc::_exit(if is_done { 0 } else { LOST_STATUS }) }
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

/// Ends the process when its time is over, and with all that it started if the parent is gone.
fn watch() {
    let limit = limit();
    if channel::wait_for_parent_exit(limit) {
        // SAFETY: sends a signal to the own process group, which the parent made for this child.
        unsafe { libc::kill(0, libc::SIGKILL) };
    }
    fault::note(&format!(
        "still in {} after {} s",
        fault::last_call(),
        limit.as_secs()
    ));
    // SAFETY: ends the process.
    unsafe { libc::_exit(HANG_STATUS) }
}

/// Outcome of a check in a child process.
pub(crate) struct Answer {
    pub outcome: Outcome,
    /// Writes that violate the structs' contract.
    pub breaches: Breaches,
    /// True if the plugin's library was loaded.
    pub is_loaded: bool,
    /// The number of devices that the plugin reported, if it was asked.
    pub devices: Option<i32>,
    /// The structs that the plugin filled.
    pub written: Vec<FilledStruct>,
}

impl Answer {
    /// An answer that is no more than an outcome.
    pub fn new(outcome: Outcome) -> Self {
        Self {
            outcome,
            breaches: Breaches::new(),
            is_loaded: false,
            devices: None,
            written: vec![],
        }
    }
}

/// Runs `check` on `plugin` in a child, for the default time.
pub(crate) fn spawn(check: &str, plugin: &Path, release: &str) -> Outcome {
    spawn_watched(check, plugin, release, limit()).outcome
}

/// Runs `check` on `plugin` in a child, at most for `limit`.
pub(crate) fn spawn_watched(check: &str, plugin: &Path, release: &str, limit: Duration) -> Answer {
    match try_spawn(check, plugin, release, limit) {
        Ok(ended) => answer(check, ended),
        Err(stop) => Answer::new(Outcome::new(check, Err(stop))),
    }
}

fn answer(check: &str, ended: process::Ended) -> Answer {
    let dropped_bytes = ended.stdout.dropped() + ended.stderr.dropped();
    let seen = exit::seen(&ended);
    Answer {
        outcome: Outcome {
            dropped_bytes,
            ..Outcome::new(check, seen)
        },
        breaches: ended.reports.breaches,
        is_loaded: ended.reports.is_loaded,
        devices: ended.reports.devices,
        written: ended.reports.written,
    }
}

/// Settings of the C library.
const TUNABLES: &str = "GLIBC_TUNABLES";

/// The C library's settings for a child: its caches of freed memory count as memory in use, which the
/// check for leaks would take for a leak.
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
) -> Result<process::Ended, Stop> {
    if is_child() {
        let text = "a child may start no children: call sp_host::child_main first in main";
        return Err(Stop::Fail(text.into()));
    }
    let failed = |error: std::io::Error| Stop::Fail(format!("no child process: {error}"));
    let environment: [(&str, OsString); 5] = [
        (CHECK, check.into()),
        (PLUGIN, plugin.into()),
        (RELEASE, release.into()),
        (SECONDS, limit.as_secs().max(1).to_string().into()),
        (TUNABLES, tunables()),
    ];
    let mut command = Command::new(std::env::current_exe().map_err(failed)?);
    process::run(command.envs(environment), limit + GRACE).map_err(failed)
}
