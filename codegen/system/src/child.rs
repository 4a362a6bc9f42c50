//! Runs a Python program in a child process: an empty private working directory, bounded time and
//! output, and an answer in a file.
//!
//! This is not a sandbox: the child loads TensorFlow, which may run the code of plugins.

use crate::{input, python};
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

/// The bytes of an output that are read for messages; the rest is dropped.
pub const OUTPUT_LIMIT: u64 = 1 << 18;

/// Time for which stderr may stay open after the child's end, if a grandchild holds it.
const CLOSING: Duration = Duration::from_secs(2);

/// The end of a child process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// With this exit status.
    Exit(i32),
    /// By this signal.
    Signal(i32),
    /// It was killed after this time.
    TimedOut(Duration),
}

impl End {
    fn from_status(status: ExitStatus) -> Self {
        #[cfg(unix)]
        if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
            return Self::Signal(signal);
        }
        Self::Exit(status.code().unwrap_or(-1))
    }
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = |signal: i32| match signal {
            4 => " (SIGILL)",
            6 => " (SIGABRT)",
            7 => " (SIGBUS)",
            8 => " (SIGFPE)",
            9 => " (SIGKILL)",
            11 => " (SIGSEGV)",
            _ => "",
        };
        match self {
            Self::Exit(status) => write!(f, "the process ended with exit status {status}"),
            Self::Signal(signal) => {
                write!(f, "signal {signal}{} ended the process", name(*signal))
            }
            Self::TimedOut(limit) => {
                write!(
                    f,
                    "the process was killed after {} seconds",
                    limit.as_secs()
                )
            }
        }
    }
}

/// A Python program, and the limits of its process.
#[derive(Debug, Clone, Copy)]
pub struct Script<'a> {
    /// The source. Its first argument is the path of the file for its answer.
    pub source: &'a str,
    /// The other arguments.
    pub arguments: &'a [&'a str],
    /// Environment variables that are set in addition.
    pub variables: &'a [(&'a str, &'a str)],
    /// The time that the process may take.
    pub time: Duration,
    /// The largest answer in bytes.
    pub answer_bytes: u64,
}

/// A child that ended.
#[derive(Debug)]
pub struct Finished {
    /// The end of the process.
    pub end: End,
    /// The first bytes of its stderr.
    pub stderr: String,
    /// The bytes of the file for its answer. An error of the kind `NotFound` means that it wrote none, `FileTooLarge`
    /// that it wrote more than it may. A pipe or a device in its place is an error too.
    pub answer: io::Result<Vec<u8>>,
}

/// Runs `script` in the Python `program` to its end or to the time limit.
///
/// # Errors
/// Returns an error if there is no private directory to run in, or if `program` cannot be started.
pub fn run_script(program: &Path, script: &Script<'_>) -> io::Result<Finished> {
    let folder = python::private_folder()?;
    let answer = folder.path().join("answer");
    let mut command = python::command(program, folder.path())?;
    command
        .args(["-c", script.source])
        .arg(&answer)
        .args(script.arguments)
        .envs(script.variables.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    in_own_group(&mut command);
    let mut child = command.spawn()?;
    let output = collect(child.stderr.take(), OUTPUT_LIMIT);
    let end = wait(&mut child, script.time)?;
    Ok(Finished {
        end,
        stderr: output.recv_timeout(CLOSING).unwrap_or_default(),
        answer: input::read(&answer, script.answer_bytes),
    })
}

/// A command that ended, or was killed.
#[derive(Debug)]
pub struct Output {
    /// The end of the process.
    pub end: End,
    /// The first bytes of its stdout.
    pub stdout: String,
    /// The first bytes of its stderr.
    pub stderr: String,
}

/// Runs the Python `program` with `arguments`, as [`output`] does, in an empty private directory.
///
/// # Errors
/// Returns an error if there is no private directory to run in, or if `program` cannot be started.
pub fn python_output(
    program: &Path,
    arguments: &[&str],
    time: Duration,
    bytes: u64,
) -> io::Result<Output> {
    let folder = python::private_folder()?;
    let mut command = python::command(program, folder.path())?;
    output(command.args(arguments), time, bytes)
}

/// Runs `command` without input to its end or to the time limit. Of each output, the first `bytes` are returned.
///
/// # Errors
/// Returns an error if the program cannot be started.
pub fn output(command: &mut Command, time: Duration, bytes: u64) -> io::Result<Output> {
    let command = command.stdin(Stdio::null());
    in_own_group(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
    let mut child = command.spawn()?;
    let stdout = collect(child.stdout.take(), bytes);
    let stderr = collect(child.stderr.take(), bytes);
    let end = wait(&mut child, time)?;
    let text = |output: Receiver<String>| output.recv_timeout(CLOSING).unwrap_or_default();
    Ok(Output {
        end,
        stdout: text(stdout),
        stderr: text(stderr),
    })
}

#[cfg(unix)]
fn in_own_group(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(target_os = "linux")]
    // SAFETY: between fork and exec only async-signal-safe functions may run; prctl is a system call.
    unsafe {
        std::os::unix::process::CommandExt::pre_exec(command, || {
            // In its own group it does not get the terminal's Ctrl-C.
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Ok(())
        });
    }
}

#[cfg(not(unix))]
fn in_own_group(_: &mut Command) {}

/// Reads all of a child's output in a thread of its own; a full pipe would stop the child.
fn collect(output: Option<impl Read + Send + 'static>, limit: u64) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let Some(mut output) = output else { return };
        let mut bytes = Vec::new();
        // A read error ends the output.
        let _ = (&mut output).take(limit).read_to_end(&mut bytes);
        let _ = io::copy(&mut output, &mut io::sink());
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

fn wait(child: &mut Child, limit: Duration) -> io::Result<End> {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait()? {
            kill_group(child);
            return Ok(End::from_status(status));
        }
        if Instant::now() >= deadline {
            kill_group(child);
            child.kill()?;
            child.wait()?;
            return Ok(End::TimedOut(limit));
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Ends the processes that the child started and did not end.
fn kill_group(child: &Child) {
    #[cfg(unix)]
    if let Ok(group) = i32::try_from(child.id()) {
        // SAFETY: no memory is passed. The group is the child's own, made by `in_own_group`; its number is
        // not given to a new process so shortly after the child's end.
        unsafe {
            libc::kill(-group, libc::SIGKILL);
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    /// A program that is run in place of Python: its `$2` is the script, its `$3` the answer's path.
    fn program(folder: &Path, body: &str) -> PathBuf {
        let path = folder.join("python");
        fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        path
    }

    fn run(body: &str, time: Duration) -> Finished {
        let folder = tempfile::tempdir().unwrap();
        let script = Script {
            source: "script",
            arguments: &["mode"],
            variables: &[("SP_NAME", "value")],
            time,
            answer_bytes: 30,
        };
        run_script(&program(folder.path(), body), &script).unwrap()
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn runs_script_in_private_empty_folder() {
        let run = run(
            "ls -A >&2; stat -c %a . >&2; echo $2 $4 $PYTHONSAFEPATH $SP_NAME > $3",
            LONG,
        );
        assert_eq!(run.end, End::Exit(0));
        assert_eq!(run.stderr, "700\n");
        assert_eq!(run.answer.unwrap(), b"script mode 1 value\n");
    }

    #[test]
    fn kills_process_group_of_hanging_child() {
        let started = Instant::now();
        let run = run(
            "sleep 300 & echo $! >&2; sleep 300",
            Duration::from_millis(300),
        );
        assert_eq!(run.end, End::TimedOut(Duration::from_millis(300)));
        assert!(started.elapsed() < LONG);
        let process = PathBuf::from(format!("/proc/{}/cwd", run.stderr.trim()));
        // A killed process may still be waited for by its new parent; it then has no directory.
        let ended = (0..100).any(|_| {
            thread::sleep(Duration::from_millis(20));
            fs::read_link(&process).is_err()
        });
        assert!(ended, "{}", process.display());
    }

    #[test]
    fn reports_the_signal_that_ended_the_child() {
        let run = run("kill -ABRT $$", LONG);
        assert_eq!(run.end, End::Signal(6));
        assert_eq!(run.end.to_string(), "signal 6 (SIGABRT) ended the process");
        assert_eq!(run.answer.unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn rejects_an_answer_above_its_limit() {
        let run = run("printf %31s x > $3", LONG);
        assert_eq!(run.answer.unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }

    #[test]
    fn rejects_an_answer_that_is_a_pipe() {
        let run = run("mkfifo $3", LONG);
        assert_eq!(run.end, End::Exit(0));
        let error = run.answer.unwrap_err().to_string();
        assert!(error.contains("not a regular file"), "{error}");
    }

    #[test]
    fn kills_command_at_the_time_limit() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo out; echo err >&2; sleep 300"]);
        let time = Duration::from_millis(500);
        let started = Instant::now();
        let output = output(&mut command, time, OUTPUT_LIMIT).unwrap();
        assert_eq!(output.end, End::TimedOut(time));
        assert_eq!((&*output.stdout, &*output.stderr), ("out\n", "err\n"));
        assert!(started.elapsed() < LONG);
    }

    #[test]
    fn python_runs_in_an_empty_private_folder_within_the_limits() {
        let script = "import os; print(os.listdir('.'), oct(os.stat('.').st_mode)[-3:])";
        let run = |script: &str, time| {
            python_output(Path::new("python3"), &["-c", script], time, OUTPUT_LIMIT)
        };
        let output = match run(script, LONG) {
            Ok(output) => output,
            Err(error) => return eprintln!("skipped: no python3: {error}"),
        };
        assert_eq!((output.end, &*output.stdout), (End::Exit(0), "[] 700\n"));
        let output = run("print('x' * 9_000_000)", LONG).unwrap();
        assert_eq!(output.stdout.len() as u64, OUTPUT_LIMIT);
        let time = Duration::from_millis(300);
        let output = run("import time; time.sleep(300)", time).unwrap();
        assert_eq!(output.end, End::TimedOut(time));
    }

    #[test]
    fn keeps_a_bounded_part_of_the_output() {
        let run = run("head -c 9000000 /dev/zero | tr '\\0' x >&2", LONG);
        assert_eq!(run.end, End::Exit(0));
        assert_eq!(run.stderr.len() as u64, OUTPUT_LIMIT);
    }
}
