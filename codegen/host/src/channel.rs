//! Reports of a child to its parent: a separate socket, and a nonce before each report.
//!
//! The child's stdin is one end of a socket pair, into which the parent has written the nonce. Before
//! the plugin is loaded the child reads it, keeps the socket under a descriptor that `exec` closes, and
//! opens `/dev/null` as stdin. So neither is in the arguments or the environment, a program that the
//! plugin starts has neither, and what the plugin writes to stdout or stderr is not a report.
//!
//! A plugin that searches this process's memory finds both: the nonce prevents mistakes and simple
//! forgery, not an attack.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, IntoRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::OnceLock;
use std::time::Duration;

use crate::contract::FilledStruct;
use crate::outcome::{CheckResult, Stop};
use crate::registration::RegistrationReports;
use crate::text::{TEXT_LIMIT, clip, escape_control};

/// Characters of a nonce: 128 bits as hexadecimal digits.
const NONCE: usize = 32;

/// Maximum length of a report with its nonce and kind, in bytes.
const REPORT_LIMIT: usize = 2 * TEXT_LIMIT;

/// Maximum number of reports that the parent stores, not counting the result and the registrations.
const REPORTS_LIMIT: usize = 1024;

/// Maximum number of registrations that the parent stores: 250 ops for a hundred choices of types.
const REGISTRATIONS_LIMIT: usize = 25_000;

/// Breaches by their location, which is a call and a field or parameter. One example of each is enough.
pub(crate) type Breaches = BTreeMap<String, String>;

/// The kinds of report.
pub(crate) mod kind {
    /// Result: the check passed.
    pub const PASS: &str = "pass";
    /// Result: the check failed.
    pub const FAIL: &str = "fail";
    /// Result: the check does not apply.
    pub const SKIP: &str = "skip";
    /// The kinds that are results.
    pub const RESULTS: [&str; 3] = [PASS, FAIL, SKIP];
    /// The plugin's library is loaded, its constructors have run.
    pub const LOADED: &str = "loaded";
    /// The number of devices that the plugin reports.
    pub const DEVICES: &str = "devices";
    /// A breach: its location, a separator, its text.
    pub const BREACH: &str = "breach";
    /// A function that the plugin called and the host does not implement.
    pub const MISSING: &str = "missing";
    /// A struct that the plugin filled.
    pub const WRITTEN: &str = "written";
    /// A kernel or an op that the plugin registered; an empty text after the last one.
    pub const REGISTERED: &str = "registered";
    /// The function in which the check hung.
    pub const HUNG: &str = "hung";
    /// The host's description of a crash or a hang.
    pub const NOTE: &str = "note";
}

/// The child's side of the channel.
struct Channel {
    socket: RawFd,
    nonce: [u8; NONCE],
    process: u32,
}

static CHANNEL: OnceLock<Channel> = OnceLock::new();

/// Opens the channel that the parent passed as stdin.
///
/// # Errors
/// Returns an error if stdin is not such a socket, as in a child that was started by hand.
pub(crate) fn open() -> io::Result<()> {
    let mut socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    socket.set_read_timeout(Some(Duration::from_secs(10)))?;
    let mut nonce = [0; NONCE];
    socket.read_exact(&mut nonce)?;
    let null = File::open("/dev/null")?;
    // SAFETY: both descriptors are open. Stdin's is replaced; no code of this process reads the old one.
    unsafe { libc::dup2(null.as_raw_fd(), 0) };
    let _ = CHANNEL.set(Channel {
        socket: socket.into_raw_fd(),
        nonce,
        process: std::process::id(),
    });
    Ok(())
}

/// Returns true if this process reports to a parent.
pub(crate) fn is_open() -> bool {
    CHANNEL.get().is_some()
}

/// Sends a report of this kind, whose text is `text` without control characters.
pub(crate) fn send(kind: &str, text: &str) -> bool {
    send_parts(kind, &[&clip(&escape_control(text), TEXT_LIMIT)])
}

/// Sends a report whose text is `parts`, at most ten, one after the other. Safe in a signal handler.
///
/// Returns false if there is no parent or the plugin has closed the socket. A copy of this process
/// that the plugin made by `fork` sends nothing.
pub(crate) fn send_parts(kind: &str, parts: &[&str]) -> bool {
    let Some(channel) = CHANNEL.get() else {
        return false;
    };
    if channel.process != std::process::id() {
        return false;
    }
    let nonce = std::str::from_utf8(&channel.nonce).unwrap_or_default();
    let head = ["\n", nonce, " ", kind, " "];
    let mut slices = [io::IoSlice::new(b""); 16];
    let texts = head.iter().chain(parts).chain(&["\n"]);
    let mut length = 0;
    for (slice, text) in slices.iter_mut().zip(texts) {
        *slice = io::IoSlice::new(text.as_bytes());
        length += text.len();
    }
    // SAFETY: zeroes are a message without address and control data.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    // `IoSlice` has the layout of `iovec` on Unix.
    message.msg_iov = slices.as_mut_ptr().cast();
    message.msg_iovlen = slices.len() as _;
    // SAFETY: the slices point to texts that are valid until the call returns, and it does not write to them.
    let sent = unsafe { libc::sendmsg(channel.socket, &message, libc::MSG_NOSIGNAL) };
    usize::try_from(sent) == Ok(length)
}

/// Waits until the parent has ended or `limit` has elapsed. Returns true if the parent has ended.
pub(crate) fn wait_for_parent_exit(limit: Duration) -> bool {
    let Some(channel) = CHANNEL.get() else {
        std::thread::sleep(limit);
        return false;
    };
    let mut socket = libc::pollfd {
        fd: channel.socket,
        events: 0,
        revents: 0,
    };
    let end = std::time::Instant::now() + limit;
    loop {
        let left = end.saturating_duration_since(std::time::Instant::now());
        let wait = i32::try_from(left.as_millis()).unwrap_or(i32::MAX);
        // SAFETY: `socket` is one pollfd.
        unsafe { libc::poll(&raw mut socket, 1, wait) };
        if socket.revents & libc::POLLHUP != 0 {
            return true;
        }
        if left.is_zero() {
            return false;
        }
        if socket.revents != 0 {
            // The plugin has closed the descriptor.
            std::thread::sleep(left);
        }
    }
}

/// The parent's side of the channel: creates the socket pair and parses the reports.
pub(crate) struct ReportReceiver {
    pub socket: UnixStream,
    prefix: Vec<u8>,
    line: Vec<u8>,
    count: usize,
    registrations: usize,
    pub reports: Reports,
}

/// The reports of a child.
#[derive(Debug, Default)]
pub(crate) struct Reports {
    /// The first result.
    pub result: Option<CheckResult>,
    /// True if the plugin's library was loaded.
    pub is_loaded: bool,
    /// The number of devices that the plugin reports.
    pub devices: Option<i32>,
    /// Writes of the calls that violate the structs' contract.
    pub breaches: Breaches,
    /// The structs that the plugin filled.
    pub written: Vec<FilledStruct>,
    /// The kernels that the plugin registered.
    pub registered: RegistrationReports,
    /// Functions that were called and the host does not implement.
    pub missing: BTreeSet<String>,
    /// The function in which the check hung.
    pub hung: Option<String>,
    /// The host's description of a crash or a hang.
    pub notes: Vec<String>,
}

impl ReportReceiver {
    /// Returns the parent's side, and the socket for the child's stdin.
    ///
    /// # Errors
    /// Returns an error if no socket can be created or no random numbers can be read.
    pub fn pair() -> io::Result<(Self, OwnedFd)> {
        let (mut socket, childs) = UnixStream::pair()?;
        let nonce = nonce()?;
        socket.write_all(nonce.as_bytes())?;
        let receiver = Self {
            socket,
            prefix: format!("{nonce} ").into_bytes(),
            line: vec![],
            count: 0,
            registrations: 0,
            reports: Reports::default(),
        };
        Ok((receiver, childs.into()))
    }

    /// Adds bytes that the child sent. A line that does not begin with the nonce is dropped.
    pub fn push(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match byte {
                b'\n' => self.finish_line(),
                _ if self.line.len() < REPORT_LIMIT => self.line.push(*byte),
                _ => {}
            }
        }
    }

    fn finish_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let Some(report) = line.strip_prefix(self.prefix.as_slice()) else {
            return;
        };
        let report = String::from_utf8_lossy(report);
        if let Some((kind, text)) = report.split_once(' ')
            && self.is_accepted(kind)
        {
            self.reports.add(kind, text);
        }
    }

    /// Counts a report. Returns false if there are too many of its kind.
    fn is_accepted(&mut self, kind: &str) -> bool {
        let (count, limit) = match kind {
            kind::REGISTERED => (&mut self.registrations, REGISTRATIONS_LIMIT),
            _ => (&mut self.count, REPORTS_LIMIT),
        };
        *count += 1;
        *count <= limit || kind::RESULTS.contains(&kind)
    }
}

impl Reports {
    fn add(&mut self, kind: &str, text: &str) {
        let text = text.to_owned();
        match kind {
            kind::PASS => self.decide(Ok(text)),
            kind::FAIL => self.decide(Err(Stop::Fail(text))),
            kind::SKIP => self.decide(Err(Stop::Skip(text))),
            kind::LOADED => self.is_loaded = true,
            kind::DEVICES => self.devices = text.parse().ok(),
            kind::MISSING => {
                self.missing.insert(text);
            }
            kind::WRITTEN => self.written.extend(FilledStruct::parse(&text)),
            kind::REGISTERED => self.registered.add(&text),
            kind::HUNG => self.hung = Some(text),
            kind::NOTE => self.notes.push(text),
            kind::BREACH => {
                let parts = text.split_once(SEPARATOR);
                self.breaches
                    .extend(parts.map(|(place, text)| (place.to_owned(), text.to_owned())));
            }
            _ => {}
        }
    }

    fn decide(&mut self, result: CheckResult) {
        self.result.get_or_insert(result);
    }
}

/// The separator between the location of a breach and its text.
const SEPARATOR: &str = " | ";

/// Reports a breach to the parent.
pub(crate) fn send_breach(location: &str, text: &str) -> bool {
    send(kind::BREACH, &[location, SEPARATOR, text].concat())
}

/// Reports registrations to the parent: texts of [`registration::reports`](crate::registration::reports), which have no
/// newlines.
pub(crate) fn send_registrations(reports: &[String]) {
    for report in reports {
        send_parts(kind::REGISTERED, &[report]);
    }
}

fn nonce() -> io::Result<String> {
    let mut bytes = [0; NONCE / 2];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receiver() -> ReportReceiver {
        let (mut receiver, _) = ReportReceiver::pair().unwrap();
        receiver.prefix = b"n0nce ".to_vec();
        receiver
    }

    #[test]
    fn first_status_with_nonce_counts() {
        let mut receiver = receiver();
        receiver.push(b"pass forged\nother pass forged\n gar");
        receiver.push(b"bage\nn0nce fail 4 str");
        assert!(receiver.reports.result.is_none());
        receiver.push(b"eams\n\nn0nce pass later\n");
        let result = receiver.reports.result.unwrap();
        assert!(matches!(result, Err(Stop::Fail(text)) if text == "4 streams"));
    }

    #[test]
    fn parses_location_and_text_of_breach() {
        let mut receiver = receiver();
        receiver.push(b"n0nce breach f S.ext | f left S.ext non-null\n");
        let expected = [("f S.ext".to_owned(), "f left S.ext non-null".to_owned())];
        assert_eq!(receiver.reports.breaches, Breaches::from(expected));
    }

    #[test]
    fn endless_line_takes_bounded_memory() {
        let mut receiver = receiver();
        for _ in 0..100 {
            receiver.push(&[b'x'; 10_000]);
        }
        assert!(receiver.line.len() <= REPORT_LIMIT);
    }

    #[test]
    fn nonces_differ() {
        let (first, second) = (nonce().unwrap(), nonce().unwrap());
        assert_eq!(first.len(), NONCE);
        assert_ne!(first, second);
    }
}
