//! A child process in its own session, from start to end: its output is read in bounded
//! memory, and its process group is killed with it.

use std::io::{self, Read};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::group::ProcessGroup;
use super::output::Output;
use super::time_limit::TimeLimit;
use crate::channel::{ReportReceiver, Reports};

/// Time between two polls of a child that has closed its output.
const TICK: Duration = Duration::from_millis(5);

/// Time for which output is read after the group was killed. A process that left the group may hold the
/// pipes open.
const REST: Duration = Duration::from_millis(250);

/// Number of reads after which a pipe or socket has given what it can hold. So much is read however late it is: the
/// result of a check is there.
const READS_OF_FULL_PIPE: usize = 64;

/// The end of a child process.
#[derive(Debug)]
pub(super) struct ChildExit {
    /// Its status, or `None` if it had to be killed.
    pub status: Option<ExitStatus>,
    pub stdout: Output,
    pub stderr: Output,
    pub reports: Reports,
}

/// Runs `command` until it ends, at most for `limit`, and kills the processes that it left in its group.
///
/// # Errors
/// Returns an error if no child can be started, or it cannot be waited for.
pub(super) fn run(command: &mut Command, limit: Duration) -> io::Result<ChildExit> {
    let (receiver, stdin) = ReportReceiver::pair()?;
    command
        .stdin(Stdio::from(stdin))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // SAFETY: setsid may be called between fork and exec, and allocates nothing.
    unsafe { command.pre_exec(new_session) };
    let mut child = command.spawn()?;
    // The command holds the child's end of the socket.
    command.stdin(Stdio::null());
    let group = ProcessGroup::new(child.id());
    let mut streams = ChildStreams::new(&mut child, receiver);
    let in_time = streams.read_until_exit(&child, &TimeLimit::start(limit, child.id()))?;
    group.kill();
    streams.read_rest(Instant::now() + REST);
    // The number of the group may be reused after the child was waited for.
    drop(group);
    let status = child.wait()?;
    Ok(streams.into_exit(in_time.then_some(status)))
}

/// Starts a new session: no controlling terminal, no signals of a terminal, one process group.
fn new_session() -> io::Result<()> {
    // SAFETY: setsid takes no arguments and is async-signal-safe.
    match unsafe { libc::setsid() } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// The streams that the parent reads, `None` after their end, and the collected output.
struct ChildStreams {
    stdout: Option<Box<dyn ReadableDescriptor>>,
    stderr: Option<Box<dyn ReadableDescriptor>>,
    channel: Option<Box<dyn ReadableDescriptor>>,
    output: Output,
    errors: Output,
    receiver: ReportReceiver,
}

trait ReadableDescriptor: Read + AsRawFd {}

impl<T: Read + AsRawFd> ReadableDescriptor for T {}

fn boxed<'a>(source: impl ReadableDescriptor + 'a) -> Box<dyn ReadableDescriptor + 'a> {
    Box::new(source)
}

impl ChildStreams {
    fn new(child: &mut Child, receiver: ReportReceiver) -> Self {
        Self {
            stdout: child.stdout.take().map(boxed),
            stderr: child.stderr.take().map(boxed),
            channel: receiver.socket.try_clone().ok().map(boxed),
            output: Output::default(),
            errors: Output::default(),
            receiver,
        }
    }

    /// Reads until the child has ended or the limit has elapsed. Returns true if the child has ended.
    fn read_until_exit(&mut self, child: &Child, limit: &TimeLimit) -> io::Result<bool> {
        while !has_exited(child)? {
            if limit.remaining().is_zero() {
                return Ok(false);
            }
            self.read_ready(TICK);
        }
        Ok(true)
    }

    /// Reads what the pipes hold, and until `end` what a process that left the group writes.
    fn read_rest(&mut self, end: Instant) {
        let mut reads = 0;
        while self.is_open() && (Instant::now() < end || reads < READS_OF_FULL_PIPE) {
            self.read_ready(TICK);
            reads += 1;
        }
    }

    fn is_open(&self) -> bool {
        self.stdout.is_some() || self.stderr.is_some() || self.channel.is_some()
    }

    /// Waits for one of the streams, at most for `wait`, and reads once of each that is ready.
    fn read_ready(&mut self, wait: Duration) {
        let sources = [&self.stdout, &self.stderr, &self.channel];
        let ready = ready(
            sources.map(|source| source.as_ref().map(|it| it.as_raw_fd())),
            wait,
        );
        let mut bytes = [0; 1 << 16];
        if ready[0] {
            read(&mut self.stdout, &mut bytes, |bytes| {
                self.output.push(bytes)
            });
        }
        if ready[1] {
            read(&mut self.stderr, &mut bytes, |bytes| {
                self.errors.push(bytes)
            });
        }
        if ready[2] {
            read(&mut self.channel, &mut bytes, |bytes| {
                self.receiver.push(bytes)
            });
        }
    }

    fn into_exit(self, status: Option<ExitStatus>) -> ChildExit {
        ChildExit {
            status,
            stdout: self.output,
            stderr: self.errors,
            reports: self.receiver.reports,
        }
    }
}

/// Reads once; the source is `None` after its end.
fn read(
    source: &mut Option<Box<dyn ReadableDescriptor>>,
    bytes: &mut [u8],
    mut take: impl FnMut(&[u8]),
) {
    let count = source.as_mut().map(|source| source.read(bytes));
    match count {
        Some(Ok(0)) => *source = None,
        Some(Ok(count)) => take(&bytes[..count]),
        Some(Err(error)) if error.kind() != io::ErrorKind::Interrupted => *source = None,
        _ => {}
    }
}

/// Returns true for each descriptor that can be read without blocking.
fn ready(descriptors: [Option<RawFd>; 3], wait: Duration) -> [bool; 3] {
    // A negative number is skipped.
    let mut polled = descriptors.map(|descriptor| libc::pollfd {
        fd: descriptor.unwrap_or(-1),
        events: libc::POLLIN,
        revents: 0,
    });
    let wait = i32::try_from(wait.as_millis()).unwrap_or(i32::MAX);
    // SAFETY: the pointer and the length are those of the local array `polled`.
    let found = unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as _, wait) };
    polled.map(|it| found > 0 && it.revents != 0)
}

/// Returns true if the child has ended. Does not wait for it, so that its number is not reused.
fn has_exited(child: &Child) -> io::Result<bool> {
    // SAFETY: all-zero bytes are a valid `siginfo_t`, which has integers and pointers only.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: `info` is a live local variable of the type that waitid fills.
    let result = unsafe { libc::waitid(libc::P_PID, child.id(), &raw mut info, options) };
    // SAFETY: waitid fills this field; it is 0 if the child runs.
    let process = unsafe { info.si_pid() };
    match (result, io::Error::last_os_error()) {
        (0, _) => Ok(process != 0),
        (_, error) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
        (_, error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_before_exit_is_read_however_late() {
        let (receiver, _stdin) = ReportReceiver::pair().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "printf result; printf error >&2"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut streams = ChildStreams::new(&mut child, receiver);
        child.wait().unwrap();
        streams.read_rest(Instant::now());
        assert_eq!(streams.output.text(), "result");
        assert_eq!(streams.errors.text(), "error");
    }
}
