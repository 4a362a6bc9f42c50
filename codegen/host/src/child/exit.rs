//! Result of a check from the way its child process ended.

use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use super::process::ChildExit;
use crate::error::NO_DEVICES;
use crate::fault::{GUARD_STATUS, HANG_STATUS, UNREPORTED_STATUS, UNSUPPORTED_STATUS};
use crate::outcome::{CheckResult, Stop};

/// The status with which the dynamic loader ends a process that lacks a symbol.
const LOADER_STATUS: i32 = 127;

/// Returns the result that the child reported, or a failure if it reported none.
pub(super) fn result(exit: &ChildExit) -> CheckResult {
    let code = exit.status.and_then(|status| status.code());
    match (&exit.reports.result, code) {
        (Some(Ok(_)), Some(0)) if exit.reports.devices == Some(0) => {
            Ok(no_devices(&exit.stderr.text()))
        }
        (Some(Ok(detail)), Some(0)) => Ok(detail.clone()),
        (Some(Err(Stop::Skip(text))), Some(0)) if text == NO_DEVICES => {
            Err(Stop::Skip(no_devices(&exit.stderr.text())))
        }
        (Some(Err(stop)), Some(0)) => Err(stop.clone()),
        _ => Err(without_result(exit, code)),
    }
}

/// Returns the text about a plugin without devices, with its last line on stderr. That states the reason: the driver cannot be loaded,
/// or the host is declined.
fn no_devices(stderr: &str) -> String {
    let mut lines = stderr.lines().rev();
    match lines.find(|line| line.starts_with("plugin ")) {
        Some(line) => format!("{NO_DEVICES}; {line}"),
        None => NO_DEVICES.to_owned(),
    }
}

/// Returns the reason for a missing result. A crash after a call of a missing function is not the plugin's.
fn without_result(exit: &ChildExit, code: Option<i32>) -> Stop {
    let stderr = exit.stderr.text();
    let notes = &exit.reports.notes;
    let text = format!(
        "{}{}",
        exit_reason(exit.status),
        exit_details(notes, &stderr)
    );
    let mut missing: BTreeSet<&str> = exit.reports.missing.iter().map(String::as_str).collect();
    if code == Some(LOADER_STATUS) {
        missing.extend(python_functions(&stderr));
    }
    match missing.is_empty() {
        true => Stop::Fail(text),
        false => Stop::Skip(format!(
            "{}; then {text}",
            missing_functions(&Vec::from_iter(missing))
        )),
    }
}

/// Returns the skip reason if the loader reports undefined functions of Python, in whose process
/// TensorFlow runs.
pub(crate) fn missing_python_functions(stderr: &str) -> Option<String> {
    let functions = python_functions(stderr);
    (!functions.is_empty()).then(|| missing_functions(&Vec::from_iter(functions)))
}

/// Returns Python's functions that the loader did not find.
fn python_functions(stderr: &str) -> BTreeSet<&str> {
    let undefined = stderr.split("undefined symbol: ").skip(1);
    let undefined = undefined.filter_map(|rest| rest.split([' ', ',', '\n']).next());
    undefined
        .filter(|name| name.starts_with("Py") || name.starts_with("_Py"))
        .collect()
}

/// Returns the skip reason for functions that the host does not implement.
pub(crate) fn missing_functions(functions: &[impl AsRef<str>]) -> String {
    let functions: Vec<&str> = functions.iter().map(AsRef::as_ref).collect();
    format!(
        "the plugin needs {}, which sp-host does not implement",
        functions.join(", ")
    )
}

fn exit_reason(status: Option<ExitStatus>) -> String {
    let Some(status) = status else {
        return "hung, and was killed".into();
    };
    match (status.code(), status.signal()) {
        (Some(GUARD_STATUS), _) => "accessed memory that is not the plugin's".into(),
        (Some(HANG_STATUS), _) => "hung".into(),
        (Some(UNSUPPORTED_STATUS), _) => "was ended by sp-host".into(),
        (Some(UNREPORTED_STATUS), _) => "closed the descriptor for sp-host's result".into(),
        (Some(code), _) => format!("ended the process with status {code}"),
        (None, Some(signal)) => format!("crashed: {}", signal_name(signal)),
        (None, None) => "ended without a status".into(),
    }
}

fn signal_name(signal: i32) -> String {
    match signal {
        libc::SIGSEGV => "segmentation fault".into(),
        libc::SIGBUS => "bus error".into(),
        libc::SIGABRT => "abort".into(),
        libc::SIGFPE => "arithmetic fault".into(),
        libc::SIGILL => "illegal instruction".into(),
        libc::SIGXFSZ => "a file over 1 GiB".into(),
        other => format!("signal {other}"),
    }
}

/// Returns the host's notes about the exit, or else the last lines that the plugin wrote to stderr.
fn exit_details(notes: &[String], stderr: &str) -> String {
    let stderr_lines = stderr.lines().filter(|line| !line.trim().is_empty());
    let stderr_lines = stderr_lines.filter(|line| !is_stack_trace(line));
    let stderr_lines: Vec<&str> = stderr_lines.map(without_time).collect();
    if let Some(panic) = panic_message(&stderr_lines) {
        return format!(": {panic}");
    }
    let lines = match notes.is_empty() {
        true => stderr_lines,
        false => notes.iter().map(String::as_str).collect(),
    };
    match lines.len() {
        0 => String::new(),
        many => format!(": {}", lines[many.saturating_sub(3)..].join(" / ")),
    }
}

/// Returns true for a line of the stack that Abseil prints after a failed check: its addresses differ between children.
fn is_stack_trace(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("@ ") || line.starts_with("*** ")
}

/// Returns a log line without its time, which differs between children.
fn without_time(line: &str) -> &str {
    // Abseil's form: the severity and the date, the time, the thread, the file.
    let is_abseil = line.starts_with(['I', 'W', 'E', 'F'])
        && line[1..].starts_with(|it: char| it.is_ascii_digit());
    let mut parts = line.split_whitespace();
    if is_abseil && let Some(file) = parts.nth(3).filter(|file| file.ends_with(']')) {
        return line.find(file).map_or(line, |start| &line[start..]);
    }
    let is_time = |text: &str| {
        let mut letters = text.chars();
        text.len() > 18 && letters.all(|it| it.is_ascii_digit() || "-:. ".contains(it))
    };
    let found = line.split_once(": ").filter(|(time, _)| is_time(time));
    found.map_or(line, |(_, rest)| rest)
}

/// Returns the panic message of a plugin in Rust as `FILE:LINE: MESSAGE`. The message is the line after the location.
fn panic_message(lines: &[&str]) -> Option<String> {
    let location = |line: &&str| {
        let (_, location) = line.strip_prefix("thread '")?.split_once("panicked at ")?;
        // The column is between the last two colons.
        Some(
            location
                .trim_end_matches(':')
                .rsplit_once(':')?
                .0
                .to_owned(),
        )
    };
    let mut heads = lines.iter().enumerate();
    let (at, location) = heads.find_map(|(at, line)| Some((at, location(line)?)))?;
    let message = lines.get(at + 1)?;
    Some(format!("{location}: {message}"))
}

#[cfg(test)]
mod tests {
    use super::super::output::Output;
    use super::*;
    use crate::channel::Reports;

    const SEGFAULT: i32 = libc::SIGSEGV;

    fn exit(status: i32, reports: Reports, text: &str) -> ChildExit {
        let mut stderr = Output::default();
        stderr.push(text.as_bytes());
        ChildExit {
            status: Some(ExitStatus::from_raw(status)),
            stdout: Output::default(),
            stderr,
            reports,
        }
    }

    fn failure(exit: &ChildExit) -> String {
        match result(exit) {
            Err(Stop::Fail(text)) => text,
            other => panic!("{other:?} is no failure"),
        }
    }

    #[test]
    fn reported_status_counts_after_clean_exit() {
        let reports = || Reports {
            result: Some(Ok("4 streams".into())),
            ..Reports::default()
        };
        assert_eq!(result(&exit(0, reports(), "")).unwrap(), "4 streams");
        failure(&exit(SEGFAULT, reports(), ""));
    }

    #[test]
    fn absent_status_is_a_failure() {
        let text = failure(&exit(0, Reports::default(), ""));
        assert_eq!(text, "ended the process with status 0");
    }

    #[test]
    fn crash_after_missing_function_is_skipped() {
        let reports = Reports {
            missing: BTreeSet::from(["TFE_NewContext".into()]),
            ..Reports::default()
        };
        let seen = result(&exit(SEGFAULT, reports, ""));
        let Err(Stop::Skip(text)) = seen else {
            panic!("the plugin is not judged")
        };
        assert!(
            text.starts_with("the plugin needs TFE_NewContext, which"),
            "{text}"
        );
    }

    #[test]
    fn forged_stderr_does_not_skip_failure() {
        let forged = "sp-host: TFE_NewContext was called, and this host does not implement it\n\
                      undefined symbol: PyObject_Call\n";
        failure(&exit(SEGFAULT, Reports::default(), forged));
        let seen = result(&exit(LOADER_STATUS << 8, Reports::default(), forged));
        assert!(
            matches!(seen, Err(Stop::Skip(_))),
            "the status of the loader is a skip"
        );
    }

    #[test]
    fn panic_has_file_and_line() {
        let text =
            "thread '<unnamed>' (12) panicked at src/lib.rs:6:5:\nno device today\nnote: more\n";
        let text = failure(&exit(libc::SIGABRT, Reports::default(), text));
        assert_eq!(text, "crashed: abort: src/lib.rs:6: no device today");
    }

    #[test]
    fn crash_is_described_by_the_host() {
        let reports = Reports {
            notes: vec!["crashed in allocate".into()],
            ..Reports::default()
        };
        let text = failure(&exit(SEGFAULT, reports, "something else\n"));
        assert_eq!(text, "crashed: segmentation fault: crashed in allocate");
        let line = without_time("2026-11-20 20:19:31.030547: F a.cc] no");
        assert_eq!(line, "F a.cc] no");
        assert_eq!(without_time("free: 2"), "free: 2");
        let line = without_time("F1130 22:11:09.123456   12345 util.h:345] no type");
        assert_eq!(line, "util.h:345] no type");
        assert!(is_stack_trace("    @     0x7f8301  (unknown)") && !is_stack_trace("a @ b"));
    }
}
