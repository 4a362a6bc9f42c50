//! Checks run in children: this executable again, told by the environment which check to run. A
//! crash or a hang is then that check's failure.
//!
//! The child's verdict is one line on its stdout; without that line it failed.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::fault::{self, GUARD_STATUS, HANG_STATUS, UNFIT_STATUS};
use crate::ledger::MISSING;
use crate::outcome::{Outcome, Seen, Stop};
use crate::owners::{self, Breaches};

const CHECK: &str = "SP_HOST_CHECK";
const PLUGIN: &str = "SP_HOST_PLUGIN";
const RELEASE: &str = "SP_HOST_RELEASE";
const MARK: &str = "@sp-host";

/// Seconds that a check may take, where the default is too short or too long.
const SECONDS: &str = "SP_HOST_SECONDS";

/// How much longer the parent waits, for a child whose watchdog does not run.
const GRACE: Duration = Duration::from_secs(5);

fn limit() -> Duration {
    let seconds = std::env::var(SECONDS)
        .ok()
        .and_then(|seconds| seconds.parse().ok());
    Duration::from_secs(seconds.unwrap_or(30))
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

/// Runs the child's part, says the verdict, and ends the process.
pub(crate) fn perform(run: impl FnOnce() -> Seen) -> ! {
    fault::install();
    std::thread::spawn(watch);
    let outcome = Outcome::new("", run());
    let detail = outcome.detail.replace('\n', " / ");
    println!("\n{MARK} {} {detail}", outcome.status);
    let _ = std::io::stdout().flush();
    // SAFETY: ends the process, at once: what the plugin still runs has no say any more.
    unsafe { libc::_exit(0) }
}

fn watch() {
    std::thread::sleep(limit());
    eprintln!(
        "sp-host: still in {} after {} s",
        fault::last_call(),
        limit().as_secs()
    );
    // SAFETY: ends the process.
    unsafe { libc::_exit(HANG_STATUS) }
}

/// Runs `check` on `plugin` in a child.
pub(crate) fn spawn(check: &str, plugin: &Path, release: &str) -> Outcome {
    spawn_watched(check, plugin, release).0
}

/// Runs `check` on `plugin` in a child; also returns what was written there against the structs'
/// contract.
pub(crate) fn spawn_watched(check: &str, plugin: &Path, release: &str) -> (Outcome, Breaches) {
    match try_spawn(check, plugin, release) {
        Ok((status, stdout, stderr)) => {
            let seen = verdict(status, &stdout, &stderr);
            (Outcome::new(check, seen), owners::printed(&stdout))
        }
        Err(stop) => (Outcome::new(check, Err(stop)), Breaches::new()),
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

/// How a child ended, and what it wrote to stdout and stderr.
type Ended = (Option<ExitStatus>, String, String);

fn try_spawn(check: &str, plugin: &Path, release: &str) -> Result<Ended, Stop> {
    if is_child() {
        let text = "a child may start no children: call sp_host::child_main first in main";
        return Err(Stop::Fail(text.into()));
    }
    let failed = |error: std::io::Error| Stop::Fail(format!("no child process: {error}"));
    let program = std::env::current_exe().map_err(failed)?;
    let environment: [(&str, OsString); 3] = [
        (CHECK, check.into()),
        (PLUGIN, plugin.into()),
        (RELEASE, release.into()),
    ];
    let mut child = Command::new(program)
        .envs(environment)
        .env(TUNABLES, tunables())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let stdout = drain(child.stdout.take());
    let stderr = drain(child.stderr.take());
    let status = wait(&mut child).map_err(failed)?;
    let read = |pipe: Receiver<String>| pipe.recv_timeout(GRACE).unwrap_or_default();
    Ok((status, read(stdout), read(stderr)))
}

/// Reads a pipe to its end on a thread of its own: something that the plugin started may hold it.
fn drain(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

/// Nothing, where the child had to be killed.
fn wait(child: &mut Child) -> std::io::Result<Option<ExitStatus>> {
    let end = Instant::now() + limit() + GRACE;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() > end {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn verdict(status: Option<ExitStatus>, stdout: &str, stderr: &str) -> Seen {
    let said = stdout
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix(MARK));
    if let (Some(said), Some(0)) = (said, status.and_then(|status| status.code())) {
        let (word, detail) = said.trim_start().split_once(' ').unwrap_or((said, ""));
        return match word {
            "pass" => Ok(detail.to_owned()),
            "skip" => Err(Stop::Skip(detail.to_owned())),
            _ => Err(Stop::Fail(detail.to_owned())),
        };
    }
    let ended = format!("{}{}", ending(status), last_words(stderr));
    match unfit(stderr) {
        Some(needs) => Err(Stop::Skip(format!("{needs}; then {ended}"))),
        None => Err(Stop::Fail(ended)),
    }
}

/// What the plugin called that this host has not, or asked the loader for: functions of Python's, in
/// whose process TensorFlow runs. What came of it says nothing about the plugin.
pub(crate) fn unfit(words: &str) -> Option<String> {
    let lines = words
        .lines()
        .filter_map(|line| line.strip_prefix("sp-host: "));
    let called = lines.filter_map(|line| line.strip_suffix(MISSING));
    let undefined = words.split("undefined symbol: ").skip(1);
    let undefined = undefined.filter_map(|rest| rest.split([' ', ',', '\n']).next());
    let pythons = undefined.filter(|name| name.starts_with("Py") || name.starts_with("_Py"));
    let called: BTreeSet<&str> = called.chain(pythons).collect();
    (!called.is_empty()).then(|| needs(&called.into_iter().collect::<Vec<_>>()))
}

/// That a check would have needed these functions.
pub(crate) fn needs(functions: &[impl AsRef<str>]) -> String {
    let functions: Vec<&str> = functions.iter().map(AsRef::as_ref).collect();
    format!(
        "needs {}, which sp-host does not have",
        functions.join(", ")
    )
}

fn ending(status: Option<ExitStatus>) -> String {
    let Some(status) = status else {
        return "hung, and was killed".into();
    };
    match (status.code(), status.signal()) {
        (Some(GUARD_STATUS), _) => "memory that is not the plugin's".into(),
        (Some(HANG_STATUS), _) => "hung".into(),
        (Some(UNFIT_STATUS), _) => "was ended by sp-host".into(),
        (Some(code), _) => format!("ended the process with status {code}"),
        (None, Some(signal)) => format!("crashed: {}", signal_name(signal)),
        (None, None) => "ended without a word".into(),
    }
}

fn signal_name(signal: i32) -> String {
    match signal {
        libc::SIGSEGV => "segmentation fault".into(),
        libc::SIGBUS => "bus error".into(),
        libc::SIGABRT => "abort".into(),
        libc::SIGFPE => "arithmetic fault".into(),
        libc::SIGILL => "illegal instruction".into(),
        other => format!("signal {other}"),
    }
}

/// The end of what the child wrote to stderr, where it says something.
fn last_words(stderr: &str) -> String {
    let lines: Vec<&str> = stderr
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(untimed)
        .collect();
    let ours: Vec<&str> = lines
        .iter()
        .filter_map(|line| line.strip_prefix("sp-host: "))
        .collect();
    if let Some(panic) = panic_message(&lines) {
        return format!(": {panic}");
    }
    let told = if ours.is_empty() { lines } else { ours };
    match told.len() {
        0 => String::new(),
        many => format!(": {}", told[many.saturating_sub(3)..].join(" / ")),
    }
}

/// A log's line without its time, which differs from one child to the next.
fn untimed(line: &str) -> &str {
    let is_time = |text: &str| {
        let mut letters = text.chars();
        text.len() > 18 && letters.all(|it| it.is_ascii_digit() || "-:. ".contains(it))
    };
    let found = line.split_once(": ").filter(|(time, _)| is_time(time));
    found.map_or(line, |(_, rest)| rest)
}

/// What a plugin in Rust said as it panicked: the line behind the one that says where.
fn panic_message<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let is_head = |line: &&str| line.starts_with("thread '") && line.contains("panicked at");
    let at = lines.iter().position(is_head)?;
    lines.get(at + 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exit(code: i32) -> Option<ExitStatus> {
        Some(ExitStatus::from_raw(code << 8))
    }

    #[test]
    fn the_last_marked_line_is_the_verdict() {
        let seen = verdict(exit(0), "noise\n@sp-host pass 4 streams\n", "");
        assert_eq!(seen.unwrap(), "4 streams");
        let seen = verdict(exit(0), "\n@sp-host skip no timers\n", "");
        assert!(matches!(seen, Err(Stop::Skip(text)) if text == "no timers"));
    }

    #[test]
    fn silence_is_a_failure() {
        let seen = verdict(exit(0), "", "");
        assert!(matches!(seen, Err(Stop::Fail(_))));
    }

    #[test]
    fn a_crash_behind_what_the_host_lacks_is_none_of_the_plugins() {
        let said = "sp-host: TFE_NewContext was called, and this host does not implement it\n";
        let seen = verdict(Some(ExitStatus::from_raw(11)), "", said);
        let Err(Stop::Skip(text)) = seen else {
            panic!("the plugin is not judged")
        };
        assert!(text.starts_with("needs TFE_NewContext, which"), "{text}");
    }

    #[test]
    fn a_crash_tells_its_last_words() {
        let seen = verdict(
            Some(ExitStatus::from_raw(11)),
            "",
            "sp-host: crashed in allocate\n",
        );
        let Err(Stop::Fail(text)) = seen else {
            panic!("a crash is a failure")
        };
        assert_eq!(text, "crashed: segmentation fault: crashed in allocate");
        assert_eq!(
            untimed("2026-11-20 20:19:31.030547: F a.cc] no"),
            "F a.cc] no"
        );
        assert_eq!(untimed("free: 2"), "free: 2");
    }
}
