//! Locks of files that another process may hold. Waiting for one longer than a second is reported once.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

/// The time after which a wait is reported.
const SILENT: Duration = Duration::from_secs(1);

/// The time between two attempts.
const INTERVAL: Duration = Duration::from_millis(50);

static ON_WAIT: OnceLock<fn(&Path)> = OnceLock::new();

/// Sets the function that reports a wait, given the path that the process waits for. Only the first call has an effect.
pub fn call_on_wait(report: fn(&Path)) {
    let _ = ON_WAIT.set(report);
}

/// Opens the file of a lock, and creates it if it is absent. A link is not followed: its target could be a file that a
/// lock would create elsewhere. A pipe is an error: opening it could wait for a reader forever.
///
/// # Errors
/// Returns an error if the file cannot be opened or created, or is not regular.
pub fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        libc::O_NOFOLLOW | libc::O_NONBLOCK,
    );
    let file = options.open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is not a regular file")),
    }
}

/// Locks `file` exclusively, and waits for other processes and threads, at most for `limit`. Returns false if the limit has
/// elapsed. `path` is the path for the report of a long wait.
///
/// # Errors
/// Returns an error if the file system cannot lock the file.
pub fn lock(file: &File, path: &Path, limit: Option<Duration>) -> io::Result<bool> {
    let start = Instant::now();
    let mut is_reported = false;
    loop {
        if is_reported && limit.is_none() {
            return file.lock().map(|()| true);
        }
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => {}
        }
        let elapsed = start.elapsed();
        if limit.is_some_and(|limit| elapsed >= limit) {
            return Ok(false);
        }
        if elapsed >= SILENT && !is_reported {
            is_reported = true;
            if let Some(report) = ON_WAIT.get() {
                report(path);
            }
        }
        thread::sleep(INTERVAL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use std::sync::Mutex;

    static REPORTED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

    /// Locks the file again while it is locked for `held`. Returns the number of reports.
    fn reports_of_wait(held: Duration) -> usize {
        call_on_wait(|path| REPORTED.lock().unwrap().push(path.to_owned()));
        let file = tempfile::NamedTempFile::new().unwrap();
        let other = file.reopen().unwrap();
        other.lock().unwrap();
        thread::scope(|scope| {
            scope.spawn(move || {
                thread::sleep(held);
                other.unlock().unwrap();
            });
            assert!(lock(file.as_file(), file.path(), None).unwrap());
        });
        let reported = REPORTED.lock().unwrap();
        reported.iter().filter(|path| *path == file.path()).count()
    }

    #[test]
    fn long_wait_is_reported_once() {
        assert_eq!(reports_of_wait(3 * SILENT), 1);
    }

    #[test]
    fn free_lock_is_not_reported() {
        assert_eq!(reports_of_wait(Duration::ZERO), 0);
    }

    #[test]
    fn ends_after_the_limit() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let other = file.reopen().unwrap();
        other.lock().unwrap();
        let limit = Some(Duration::from_millis(100));
        assert!(!lock(file.as_file(), file.path(), limit).unwrap());
    }

    #[cfg(unix)]
    #[test]
    fn opens_no_link_and_no_pipe() {
        let folder = tempfile::tempdir().unwrap();
        let [link, target, pipe] = ["link", "target", "pipe"].map(|name| folder.path().join(name));
        std::os::unix::fs::symlink(&target, &link).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        for path in [&link, &pipe] {
            assert!(open(path).is_err(), "{}", path.display());
        }
        assert!(!target.exists());
        assert!(open(&target).is_ok() && target.is_file());
    }
}
