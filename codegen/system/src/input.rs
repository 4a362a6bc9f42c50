//! Files that others may have written or replaced: opened without waiting, and read up to a limit.

use sha2::{Digest, Sha256};
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// Largest text that is read if no smaller limit applies, in bytes. The largest table has 0.5 MB.
pub const MAX_TEXT_BYTES: u64 = 64 << 20;
/// Largest library that is read, in bytes. A library above 2 GiB cannot be linked in the usual code model.
pub const MAX_LIBRARY_BYTES: u64 = 3 << 30;

/// Largest configuration that is read, in bytes. It is written by hand.
pub const MAX_CONFIG_BYTES: u64 = 1 << 20;
/// Largest lock that is read, in bytes. The lock of headers has 0.2 MB, and the lock of a large workspace 0.5 MB.
pub const MAX_LOCK_BYTES: u64 = 8 << 20;

/// The bytes of a file that [`sha256`] holds in memory.
const BLOCK_BYTES: usize = 1 << 16;

/// Opens a regular file. Any other file is an error: opening or reading a pipe or a device may block or never end.
///
/// # Errors
/// Returns an error if the file cannot be opened, or is not regular.
pub fn open_regular_file(path: &Path) -> io::Result<File> {
    let reject = || Err(io::Error::other("it is not a regular file"));
    // Opening a device may have an effect.
    if !path.metadata()?.is_file() {
        return reject();
    }
    let mut options = OpenOptions::new();
    options.read(true);
    // The file may have been replaced by a pipe since, of which `open` would wait for a writer.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let file = options.open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => reject(),
    }
}

/// Reads a regular file of at most `limit` bytes.
///
/// # Errors
/// Returns an error if it cannot be read, or is not regular. The error of a larger file has the kind `FileTooLarge`.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = open_regular_file(path)?;
    let length = file.metadata()?.len();
    if length > limit {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    // Without the length the buffer grows to twice the file.
    bytes.try_reserve_exact(usize::try_from(length).unwrap_or(usize::MAX))?;
    // The files of /proc state no length, and a file may grow.
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > limit {
        true => Err(io::ErrorKind::FileTooLarge.into()),
        false => Ok(bytes),
    }
}

/// Reads a regular file of UTF-8 text of at most [`MAX_TEXT_BYTES`].
///
/// # Errors
/// Returns an error as [`read`] does, and if the file is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    read_utf8(path, MAX_TEXT_BYTES)
}

/// Reads a TOML file of at most `limit` bytes: [`MAX_CONFIG_BYTES`] or [`MAX_LOCK_BYTES`]. A parsed table takes up to 80
/// times the size of its text.
///
/// # Errors
/// Returns an error as [`read_text`] does. The error of a larger file states the limit.
pub fn read_toml(path: &Path, limit: u64) -> io::Result<String> {
    read_utf8(path, limit).map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => {
            let detail = format!("it has more than {} MiB", limit >> 20);
            io::Error::new(io::ErrorKind::FileTooLarge, detail)
        }
        _ => error,
    })
}

/// Returns the sha256 of a regular file of at most `limit` bytes, which is read in blocks.
///
/// # Errors
/// Returns an error as [`read`] does.
pub fn sha256(path: &Path, limit: u64) -> io::Result<[u8; 32]> {
    let mut file = open_regular_file(path)?.take(limit.saturating_add(1));
    let (mut digest, mut block) = (Sha256::new(), vec![0; BLOCK_BYTES]);
    loop {
        match file.read(&mut block)? {
            0 if file.limit() == 0 => return Err(io::ErrorKind::FileTooLarge.into()),
            0 => return Ok(digest.finalize().into()),
            count => digest.update(&block[..count]),
        }
    }
}

fn read_utf8(path: &Path, limit: u64) -> io::Result<String> {
    let bytes = read(path, limit)?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_up_to_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "abc").unwrap();
        assert_eq!(read(&path, 3).unwrap(), b"abc");
        let error = read(&path, 2).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(read_text(&path).unwrap(), "abc");
        assert_eq!(sha256(&path, 3).unwrap(), *Sha256::digest(b"abc"));
        let error = sha256(&path, 2).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    }

    #[test]
    fn rejects_toml_above_its_limit() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let zeros = "0,".repeat(MAX_CONFIG_BYTES as usize / 2);
        std::fs::write(file.path(), format!("x=[{zeros}]")).unwrap();
        let error = read_toml(file.path(), MAX_CONFIG_BYTES).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(error.to_string(), "it has more than 1 MiB");
        assert!(read_toml(file.path(), MAX_LOCK_BYTES).is_ok());
    }

    #[test]
    fn rejects_file_above_the_limit_without_reading_it() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(1 << 40).unwrap();
        let start = std::time::Instant::now();
        let error = read(file.path(), 1 << 36).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
    }

    #[cfg(unix)]
    #[test]
    fn rejects_pipes_and_devices_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        for path in [&pipe, Path::new("/dev/zero"), folder.path()] {
            let error = read(path, 1 << 20).unwrap_err();
            assert!(error.to_string().contains("not a regular file"), "{error}");
        }
    }
}
