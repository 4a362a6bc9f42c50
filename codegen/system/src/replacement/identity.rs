//! The identity of a staging folder. A copy of it, such as one in a cloned repository, has another one, so that a journal of
//! somebody else is never followed.

use std::fs::{File, Metadata};
use std::io::{self, Read, Write};
use std::time::UNIX_EPOCH;

/// Largest text of an identity, in bytes.
const MAX_BYTES: u64 = 200;

/// Writes the identity of a new lock into it.
pub fn write(mut lock: &File) -> io::Result<()> {
    lock.write_all(identity(lock)?.as_bytes())
}

/// Returns true if the lock has its own identity: [`write`] has written this very file.
pub fn is_own(lock: &File) -> io::Result<bool> {
    let mut found = Vec::new();
    lock.take(MAX_BYTES).read_to_end(&mut found)?;
    Ok(found == identity(lock)?.as_bytes())
}

/// Returns the number of the file and the time of its creation, which no program can choose; without such a time the number of the
/// device, which may be another one after a start of the machine.
fn identity(file: &File) -> io::Result<String> {
    let metadata = file.metadata()?;
    #[cfg(unix)]
    let (device, number) = {
        use std::os::unix::fs::MetadataExt;
        (metadata.dev(), metadata.ino())
    };
    #[cfg(not(unix))]
    let (device, number) = (0, 0);
    let created = metadata.created().ok();
    Ok(
        match created.and_then(|it| it.duration_since(UNIX_EPOCH).ok()) {
            Some(created) => format!("{number} created {}\n", created.as_nanos()),
            None => format!("{number} on {device}\n"),
        },
    )
}

/// Returns the numbers of the device and of the file or folder, which another path has only if it is another spelling of
/// this one, such as one in capitals. Returns `None` if the file has several names, or if the system has no numbers.
#[cfg(unix)]
pub fn single_name(metadata: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let has_one = metadata.is_dir() || metadata.nlink() == 1;
    has_one.then(|| (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
pub fn single_name(_: &Metadata) -> Option<(u64, u64)> {
    None
}
