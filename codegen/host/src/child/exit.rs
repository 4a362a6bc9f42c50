//! A child's end as a verdict, in words.

use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use super::process::Ended;
use crate::fault::{GUARD_STATUS, HANG_STATUS, LOST_STATUS, UNFIT_STATUS};
use crate::outcome::{Seen, Stop};

/// The status with which the dynamic loader ends a process that lacks a symbol.
const LOADER_STATUS: i32 = 127;

/// Returns the verdict that the child reported, or what its end is without one.
pub(super) fn seen(ended: &Ended) -> Seen {
    let code = ended.status.and_then(|status| status.code());
    match (&ended.reports.verdict, code) {
        (Some(Ok(detail)), Some(0)) => Ok(detail.clone()),
        (Some(Err(stop)), Some(0)) => Err(stop.clone()),
        _ => Err(stopped(ended, code)),
    }
}

/// A crash behind a call of what the host does not have says nothing about the plugin.
fn stopped(ended: &Ended, code: Option<i32>) -> Stop {
    let stderr = ended.stderr.text();
    let notes = &ended.reports.notes;
    let text = format!("{}{}", ending(ended.status), last_words(notes, &stderr));
    let mut lacking: BTreeSet<&str> = ended.reports.missing.iter().map(String::as_str).collect();
    if code == Some(LOADER_STATUS) {
        lacking.extend(python_functions(&stderr));
    }
    match lacking.is_empty() {
        true => Stop::Fail(text),
        false => Stop::Skip(format!("{}; then {text}", needs(&Vec::from_iter(lacking)))),
    }
}

/// Returns what the loader's words say is missing, if it is functions of Python's, in whose process
/// TensorFlow runs.
pub(crate) fn unfit(words: &str) -> Option<String> {
    let functions = python_functions(words);
    (!functions.is_empty()).then(|| needs(&Vec::from_iter(functions)))
}

/// The functions of Python's that the loader did not find.
fn python_functions(words: &str) -> BTreeSet<&str> {
    let undefined = words.split("undefined symbol: ").skip(1);
    let undefined = undefined.filter_map(|rest| rest.split([' ', ',', '\n']).next());
    undefined
        .filter(|name| name.starts_with("Py") || name.starts_with("_Py"))
        .collect()
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
        (Some(LOST_STATUS), _) => "closed the descriptor of sp-host's verdict".into(),
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
        libc::SIGXFSZ => "a file over 1 GiB".into(),
        other => format!("signal {other}"),
    }
}

/// Returns the host's words about the end, else the last lines that the plugin wrote to stderr.
fn last_words(notes: &[String], stderr: &str) -> String {
    let lines: Vec<&str> = stderr
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(untimed)
        .collect();
    if let Some(panic) = panic_message(&lines) {
        return format!(": {panic}");
    }
    let told = match notes.is_empty() {
        true => lines,
        false => notes.iter().map(String::as_str).collect(),
    };
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
    use super::super::channel::Reports;
    use super::super::output::Output;
    use super::*;

    const SEGFAULT: i32 = libc::SIGSEGV;

    fn ended(status: i32, reports: Reports, words: &str) -> Ended {
        let mut stderr = Output::default();
        stderr.push(words.as_bytes());
        Ended {
            status: Some(ExitStatus::from_raw(status)),
            stdout: Output::default(),
            stderr,
            reports,
        }
    }

    fn failure(ended: &Ended) -> String {
        match seen(ended) {
            Err(Stop::Fail(text)) => text,
            other => panic!("{other:?} is no failure"),
        }
    }

    #[test]
    fn a_reported_verdict_counts_if_the_child_ends_well() {
        let reports = || Reports {
            verdict: Some(Ok("4 streams".into())),
            ..Reports::default()
        };
        assert_eq!(seen(&ended(0, reports(), "")).unwrap(), "4 streams");
        failure(&ended(SEGFAULT, reports(), ""));
    }

    #[test]
    fn no_verdict_is_a_failure() {
        let text = failure(&ended(0, Reports::default(), ""));
        assert_eq!(text, "ended the process with status 0");
    }

    #[test]
    fn a_crash_behind_a_missing_function_is_skipped() {
        let reports = Reports {
            missing: BTreeSet::from(["TFE_NewContext".into()]),
            ..Reports::default()
        };
        let seen = seen(&ended(SEGFAULT, reports, ""));
        let Err(Stop::Skip(text)) = seen else {
            panic!("the plugin is not judged")
        };
        assert!(text.starts_with("needs TFE_NewContext, which"), "{text}");
    }

    #[test]
    fn words_on_stderr_make_no_failure_a_skip() {
        let forged = "sp-host: TFE_NewContext was called, and this host does not implement it\n\
                      undefined symbol: PyObject_Call\n";
        failure(&ended(SEGFAULT, Reports::default(), forged));
        let seen = seen(&ended(LOADER_STATUS << 8, Reports::default(), forged));
        assert!(matches!(seen, Err(Stop::Skip(_))), "the loader ends so");
    }

    #[test]
    fn a_crash_is_described_by_the_hosts_words() {
        let reports = Reports {
            notes: vec!["crashed in allocate".into()],
            ..Reports::default()
        };
        let text = failure(&ended(SEGFAULT, reports, "something else\n"));
        assert_eq!(text, "crashed: segmentation fault: crashed in allocate");
        let line = untimed("2026-11-20 20:19:31.030547: F a.cc] no");
        assert_eq!(line, "F a.cc] no");
        assert_eq!(untimed("free: 2"), "free: 2");
    }
}
