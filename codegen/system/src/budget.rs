//! Limits for the work on untrusted input: libraries, wheels, headers and files that others wrote.
//!
//! A [`Budget`] counts steps instead of time, so that the same input gives the same result on every machine. Code that
//! counts no steps, such as libclang, runs under [`supervise`] within real time and memory.
//!
//! Libraries, wheels, headers, snapshots, locks and the listing under `vendor/` may be crafted or replaced. A parser
//! that loops over what they state takes each step and each copy from a budget that is proportional to the size of
//! the input, so no input is read in quadratic time or memory. Tests grow inputs (`codegen/library/src/sizes.rs`,
//! `tests/fuzz/fuzz_targets/sizes.rs`), where other fuzz targets change bytes.

use crate::parallel::{is_nested, mark_nested, spawn_with_stack};
use std::fmt;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// The steps and the bytes of memory that a parser may still use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    steps: u64,
    bytes: u64,
}

/// Steps for an input without a byte. TensorFlow's libraries need less than one step for each of their bytes.
const BASE_STEPS: u64 = 1 << 22;
/// Further steps for each byte of the input.
const STEPS_PER_BYTE: u64 = 64;
/// Bytes of memory for an input without a byte.
const BASE_BYTES: u64 = 16 << 20;
/// Further bytes of memory for each byte of the input.
const BYTES_PER_BYTE: u64 = 16;

impl Budget {
    /// Returns a budget of `steps` and `bytes`.
    pub const fn new(steps: u64, bytes: u64) -> Self {
        Self { steps, bytes }
    }

    /// Returns the budget for an input of `length` bytes. It is proportional to the length, so that no input is read in
    /// quadratic time.
    pub const fn for_input(length: usize) -> Self {
        let length = length as u64;
        Self {
            steps: BASE_STEPS.saturating_add(length.saturating_mul(STEPS_PER_BYTE)),
            bytes: BASE_BYTES.saturating_add(length.saturating_mul(BYTES_PER_BYTE)),
        }
    }

    /// Takes `count` steps.
    ///
    /// # Errors
    /// Returns an error if fewer are left; none are left after that.
    pub fn step(&mut self, count: usize) -> Result<(), Exceeded> {
        let left = self.steps.checked_sub(count as u64);
        self.steps = left.unwrap_or(0);
        left.map(drop).ok_or(Exceeded::Steps)
    }

    /// Takes `bytes` of memory.
    ///
    /// # Errors
    /// Returns an error if fewer are left; none are left after that.
    pub fn allocate(&mut self, bytes: usize) -> Result<(), Exceeded> {
        let left = self.bytes.checked_sub(bytes as u64);
        self.bytes = left.unwrap_or(0);
        left.map(drop).ok_or(Exceeded::Bytes)
    }

    /// Returns the part of `bytes` before the first NUL, or `None` if there is no NUL. A step is a byte that is read.
    ///
    /// # Errors
    /// Returns an error if fewer steps are left.
    pub fn until_nul<'a>(&mut self, bytes: &'a [u8]) -> Result<Option<&'a [u8]>, Exceeded> {
        let limit = usize::try_from(self.steps).unwrap_or(usize::MAX);
        let readable = &bytes[..bytes.len().min(limit)];
        let end = memchr::memchr(0, readable);
        // Without a NUL in the readable part, the step after its last one is the error.
        let is_cut = end.is_none() && readable.len() < bytes.len();
        self.step(end.unwrap_or(readable.len()) + usize::from(is_cut))?;
        Ok(end.map(|end| &bytes[..end]))
    }
}

/// The limit that an input exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exceeded {
    /// The steps of a [`Budget`].
    Steps,
    /// The memory of a [`Budget`].
    Bytes,
    /// The time of [`supervise`].
    Time(Duration),
    /// The memory of [`supervise`], in bytes.
    Memory(u64),
    /// The threads of the system.
    Threads,
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Steps => f.write_str("reading it takes more steps than any real file needs"),
            Self::Bytes => f.write_str("reading it takes more memory than any real file needs"),
            Self::Time(limit) => write!(f, "it was not read after {} seconds", limit.as_secs()),
            Self::Memory(limit) => write!(f, "reading it took more than {} MiB", limit >> 20),
            Self::Threads => f.write_str("the system cannot start another thread"),
        }
    }
}

impl std::error::Error for Exceeded {}

/// The time and the memory of [`supervise`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The longest time.
    pub time: Duration,
    /// The most bytes of memory that the process may take in addition.
    pub bytes: u64,
}

/// The time between two looks at the memory of the process.
const INTERVAL: Duration = Duration::from_millis(20);

/// Returns the result of `work`, which runs on a thread of its own.
///
/// # Errors
/// Returns an error if `work` exceeds a limit. Its thread cannot be ended and runs on, so the caller should end the
/// process soon.
pub fn supervise<T: Send + 'static>(
    limits: Limits,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Exceeded> {
    let (start, before) = (Instant::now(), resident_bytes());
    let (sender, receiver) = mpsc::sync_channel(1);
    let is_nested = is_nested();
    let run = move || {
        if is_nested {
            mark_nested();
        }
        drop(sender.send(work()));
    };
    // A recursion without end exceeds the memory before the stack, whose overflow would end the process.
    let stack = limits.bytes.saturating_add(limits.bytes / 4);
    let thread = spawn_with_stack(stack, run).map_err(|_| Exceeded::Threads)?;
    loop {
        match receiver.recv_timeout(INTERVAL) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Disconnected) => {
                let panic = thread.join().expect_err("only a panic sends no result");
                std::panic::resume_unwind(panic)
            }
            Err(RecvTimeoutError::Timeout) => limits.check(start, before)?,
        }
    }
}

impl Limits {
    fn check(self, start: Instant, before: Option<u64>) -> Result<(), Exceeded> {
        let taken = resident_bytes().zip(before);
        let taken = taken.map(|(now, before)| now.saturating_sub(before));
        if taken > Some(self.bytes) {
            return Err(Exceeded::Memory(self.bytes));
        }
        match start.elapsed() > self.time {
            true => Err(Exceeded::Time(self.time)),
            false => Ok(()),
        }
    }
}

/// Returns the resident memory of this process, or `None` if the system is not Linux.
fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes << 10)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn counts_steps_and_bytes_apart() {
        let mut budget = Budget::new(3, 2);
        assert_eq!(budget.step(3), Ok(()));
        assert_eq!(budget.allocate(2), Ok(()));
        assert_eq!(budget.step(1), Err(Exceeded::Steps));
        assert_eq!(budget.allocate(usize::MAX), Err(Exceeded::Bytes));
    }

    #[test]
    fn reads_no_byte_beyond_its_steps() {
        let text = |budget: &mut Budget| budget.until_nul(b"abc\0d").map(|it| it.map(<[u8]>::len));
        assert_eq!(text(&mut Budget::new(4, 0)), Ok(Some(3)));
        assert_eq!(text(&mut Budget::new(2, 0)), Err(Exceeded::Steps));
        assert_eq!(Budget::new(2, 0).until_nul(b"ab"), Ok(None));
        assert_eq!(Budget::new(1, 0).until_nul(b"ab"), Err(Exceeded::Steps));
    }

    #[test]
    fn supervised_work_returns_its_result() {
        let limits = Limits {
            time: Duration::from_secs(60),
            bytes: 1 << 40,
        };
        assert_eq!(supervise(limits, || 7), Ok(7));
        let panics = std::panic::catch_unwind(|| supervise(limits, || panic!("as planned")));
        assert!(panics.is_err());
    }

    #[test]
    fn supervised_work_without_end_is_an_error() {
        let time = Duration::from_millis(100);
        let limits = Limits {
            time,
            bytes: 1 << 40,
        };
        let work = || thread::sleep(Duration::from_secs(3600));
        assert_eq!(supervise(limits, work), Err(Exceeded::Time(time)));
    }

    /// Runs in a child process with 4 GB of address space.
    #[test]
    #[ignore = "started by supervised_work_has_most_of_a_limited_address_space"]
    fn allocates_most_of_four_gigabytes() {
        let limits = Limits {
            time: Duration::from_secs(60),
            bytes: 4 << 30,
        };
        let allocate = || Vec::<u8>::new().try_reserve_exact(2_600_000_000).is_ok();
        assert_eq!(supervise(limits, allocate), Ok(true));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn supervised_work_has_most_of_a_limited_address_space() {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "ulimit -v 4000000 && exec \"$0\" \"$@\""]);
        shell.arg(std::env::current_exe().unwrap());
        let name = "budget::tests::allocates_most_of_four_gigabytes";
        let output = shell.args(["--ignored", "--exact", name]).output().unwrap();
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert!(stdout.contains("1 passed"), "{stdout}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn supervised_work_that_takes_memory_is_an_error() {
        let limits = Limits {
            time: Duration::from_secs(60),
            bytes: 32 << 20,
        };
        let work = || {
            let bytes = vec![1_u8; 256 << 20];
            thread::sleep(Duration::from_secs(3600));
            drop(bytes);
        };
        let result = supervise(limits, work);
        assert_eq!(result, Err(Exceeded::Memory(32 << 20)));
    }
}
