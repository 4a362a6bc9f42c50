//! Memory of the plugin, which is read through a pipe: the system reports an address that cannot be read, where a direct access would end
//! the process.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, FromRawFd};

use sp_host::child_checks::Stop;

/// The most bytes that one read copies. A pipe holds as much.
const CHUNK: usize = 4096;

/// The most bytes of a text or list that a plugin may return.
const LIMIT: usize = 1 << 30;

/// Returns `len` bytes at `address`. `what` names them in a failure.
///
/// # Errors
/// Returns a failure if one of the bytes cannot be read.
pub(crate) fn bytes(address: u64, len: usize, what: &str) -> Result<Vec<u8>, Stop> {
    if len == 0 {
        return Ok(vec![]);
    }
    if len > LIMIT {
        return Err(Stop::Fail(format!("{what} has a length of {len} bytes")));
    }
    let unreadable = || Stop::Fail(format!("{what} is at {address:#x}, which cannot be read"));
    let (mut reader, writer) = pipe().ok_or_else(|| Stop::Skip("no pipe can be made".into()))?;
    let mut read = vec![0; len];
    for (at, chunk) in read.chunks_mut(CHUNK).enumerate() {
        let from = address.wrapping_add((at * CHUNK) as u64);
        // SAFETY: write reads the memory in the kernel, which returns an error for an address that this process cannot read. The
        // descriptor is open.
        let written = unsafe { libc::write(writer.as_raw_fd(), from as *const _, chunk.len()) };
        if usize::try_from(written) != Ok(chunk.len()) {
            return Err(unreadable());
        }
        reader.read_exact(chunk).map_err(|_| unreadable())?;
    }
    Ok(read)
}

fn pipe() -> Option<(File, File)> {
    let mut ends = [0; 2];
    // SAFETY: `ends` has room for the two descriptors.
    let made = unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) };
    // SAFETY: both descriptors are new, and owned by no other object.
    (made == 0).then(|| unsafe { (File::from_raw_fd(ends[0]), File::from_raw_fd(ends[1])) })
}

/// Returns `count` words of eight bytes at `address`: pointers, sizes or 64-bit integers.
///
/// # Errors
/// Returns a failure if they cannot be read.
pub(crate) fn words(address: u64, count: usize, what: &str) -> Result<Vec<u64>, Stop> {
    let bytes = bytes(address, count.saturating_mul(8), what)?;
    let words = bytes.chunks_exact(8);
    Ok(words
        .map(|word| u64::from_ne_bytes(word.try_into().expect("eight bytes")))
        .collect())
}

/// Returns the text of `len` bytes at `address`.
///
/// # Errors
/// Returns a failure if it cannot be read, is not UTF-8 or has a NUL byte.
pub(crate) fn text(address: u64, len: usize, what: &str) -> Result<String, Stop> {
    let bytes = bytes(address, len, what)?;
    let text = String::from_utf8(bytes);
    let text = text.map_err(|_| Stop::Fail(format!("{what} is not UTF-8")))?;
    match text.contains('\0') {
        true => Err(Stop::Fail(format!("{what} has a NUL byte: {text:?}"))),
        false => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_memory_across_chunks() {
        let source: Vec<u8> = (0..10_000_u32).map(|it| it as u8).collect();
        let read = bytes(source.as_ptr() as u64, source.len(), "it").unwrap();
        assert_eq!(read, source);
    }

    #[test]
    fn reports_unreadable_address() {
        let Err(Stop::Fail(text)) = bytes(16, 8, "the name") else {
            panic!("address 16 was read")
        };
        assert_eq!(text, "the name is at 0x10, which cannot be read");
    }
}
