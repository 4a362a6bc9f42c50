//! A remote file as `Read + Seek`, by HTTP range requests.
//!
//! Fetched blocks are cached. A read that continues where the last fetch ended fetches twice as much as that one, so
//! that a central directory takes few requests; other reads fetch one block. The cache has a limit: of a library that
//! is read to its end, the last blocks remain.
//!
//! The server is not trusted. Another range than the requested one is an error, and so is a file length that is too
//! large or changes. No request is for more than `MAX_REQUEST_LENGTH` bytes.
//!
//! A `Transport` fetches, so that nothing here depends on HTTP. Tests and fuzz targets have one that returns wrong
//! data.

use sp_parse::source::Traffic;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::rc::Rc;

const BLOCK: u64 = 64 * 1024;
const MAX_READ_AHEAD: u64 = 32;
/// Maximum length of one request in bytes.
const MAX_REQUEST_LENGTH: u64 = MAX_READ_AHEAD * BLOCK;
/// Maximum number of cached blocks: more than all headers of a wheel, and less than one of its libraries.
const MAX_CACHED_BLOCKS: usize = 512;
/// Maximum length of a file in bytes. The wheels of TensorFlow are smaller than 1 GiB.
pub const MAX_FILE_LENGTH: u64 = 4 << 30;
const MAX_ATTEMPTS: u32 = 3;

/// Requests byte ranges of one remote file.
pub trait Transport {
    /// Requests a range that is not empty.
    ///
    /// # Errors
    /// Returns an error if the server cannot be reached or does not send a part of the file.
    fn get(&mut self, range: Range<u64>) -> Result<RangeResponse, RangeError>;
}

/// A part of a file, with the range and length that the server states.
#[derive(Debug, Clone)]
pub struct RangeResponse {
    /// The range that the server states.
    pub range: Range<u64>,
    /// The length of the file.
    pub length: u64,
    /// The bytes. An implementation reads at most one more than requested.
    pub bytes: Vec<u8>,
}

/// A position in a remote file. Clones share the cache.
#[derive(Clone)]
pub struct RangeReader {
    file: Rc<RefCell<BlockCache>>,
    position: u64,
}

/// A failure to open or read a remote file.
#[derive(Debug, Clone)]
pub enum RangeError {
    /// The server does not support range requests.
    Unsupported,
    /// The server cannot be reached, or the connection failed.
    Unreachable(String),
    /// The response contradicts the request.
    InvalidResponse(String),
    /// The URL is plain http, which is not allowed; has the host.
    PlainHttp(String),
    /// The server answers with an error status.
    ErrorStatus {
        /// The host.
        host: String,
        /// The HTTP status.
        status: u16,
    },
}

struct BlockCache {
    transport: Box<dyn Transport>,
    /// The length of the file; 0 before the first response.
    length: u64,
    blocks: BTreeMap<u64, Vec<u8>>,
    /// The indices of the cached blocks, the oldest first.
    insertion_order: VecDeque<u64>,
    next_index: u64,
    read_ahead: u64,
    transferred: Traffic,
}

impl RangeReader {
    /// Opens a file: requests its first byte, and with it the length.
    ///
    /// # Errors
    /// Returns an error if the server cannot be reached, does not support range requests, or states a length of 0
    /// or above [`MAX_FILE_LENGTH`].
    pub fn open(transport: impl Transport + 'static) -> Result<Self, RangeError> {
        let mut file = BlockCache {
            transport: Box::new(transport),
            length: 0,
            blocks: BTreeMap::new(),
            insertion_order: VecDeque::new(),
            next_index: 0,
            read_ahead: 1,
            transferred: Traffic::default(),
        };
        let length = file.get(0..1)?.length;
        if length == 0 || length > MAX_FILE_LENGTH {
            return Err(RangeError::InvalidResponse(format!(
                "the server states a length of {length} bytes"
            )));
        }
        file.length = length;
        Ok(Self {
            file: Rc::new(RefCell::new(file)),
            position: 0,
        })
    }

    /// Returns the bytes and requests so far.
    pub fn transferred(&self) -> Traffic {
        self.file.borrow().transferred
    }

    /// Fetches ranges before they are read, near ones in one request, up to the limit of the cache.
    ///
    /// # Errors
    /// Returns an error if a part cannot be fetched.
    pub fn prefetch(&self, mut ranges: Vec<Range<u64>>) -> Result<(), RangeError> {
        ranges.sort_by_key(|range| range.start);
        let mut file = self.file.borrow_mut();
        let mut free = MAX_CACHED_BLOCKS as u64;
        for range in coalesce(ranges, 2 * BLOCK) {
            let (from, to) = (range.start / BLOCK, range.end.div_ceil(BLOCK));
            let to = to.min(from.saturating_add(free));
            free -= to.saturating_sub(from);
            file.fetch_missing(from, to)?;
        }
        Ok(())
    }
}

impl Read for RangeReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.file.borrow_mut().read_at(self.position, out)?;
        self.position += count as u64;
        Ok(count)
    }
}

impl Seek for RangeReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let target = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::End(offset) => self.file.borrow().length.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = target.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

impl BlockCache {
    fn read_at(&mut self, position: u64, out: &mut [u8]) -> Result<usize, RangeError> {
        if position >= self.length || out.is_empty() {
            return Ok(0);
        }
        let index = position / BLOCK;
        if !self.blocks.contains_key(&index) {
            self.read_ahead = if index == self.next_index {
                (self.read_ahead * 2).min(MAX_READ_AHEAD)
            } else {
                1
            };
            self.fetch_missing(index, index + self.read_ahead)?;
        }
        let rest = &self.blocks[&index][(position % BLOCK) as usize..];
        let count = rest.len().min(out.len());
        out[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    /// Fetches blocks `from..to`, without cached ones at either end.
    fn fetch_missing(&mut self, mut from: u64, to: u64) -> Result<(), RangeError> {
        let mut to = to.min(self.length.div_ceil(BLOCK));
        while from < to && self.blocks.contains_key(&from) {
            from += 1;
        }
        while from < to && self.blocks.contains_key(&(to - 1)) {
            to -= 1;
        }
        while from < to {
            let end = to.min(from + MAX_REQUEST_LENGTH / BLOCK);
            let response = self.get(from * BLOCK..(end * BLOCK).min(self.length))?;
            for (index, block) in (from..end).zip(response.bytes.chunks(BLOCK as usize)) {
                self.insert(index, block.to_vec());
            }
            self.next_index = end;
            from = end;
        }
        Ok(())
    }

    fn insert(&mut self, index: u64, block: Vec<u8>) {
        if self.blocks.insert(index, block).is_none() {
            self.insertion_order.push_back(index);
        }
        if self.insertion_order.len() > MAX_CACHED_BLOCKS
            && let Some(oldest) = self.insertion_order.pop_front()
        {
            self.blocks.remove(&oldest);
        }
    }

    /// Requests a range; repeats the request if the connection fails.
    fn get(&mut self, range: Range<u64>) -> Result<RangeResponse, RangeError> {
        let mut failure = RangeError::Unsupported;
        for _ in 0..MAX_ATTEMPTS {
            match self.try_get(&range) {
                Err(RangeError::Unreachable(detail)) => failure = RangeError::Unreachable(detail),
                result => return result,
            }
        }
        Err(failure)
    }

    fn try_get(&mut self, range: &Range<u64>) -> Result<RangeResponse, RangeError> {
        self.transferred.requests += 1;
        let response = self.transport.get(range.clone())?;
        let received = response.bytes.len() as u64;
        self.transferred.bytes += received;
        let is_cut = received < range.end - range.start;
        if response.range != *range || (self.length != 0 && response.length != self.length) {
            let detail = "the server sent another range than the requested one";
            return Err(RangeError::InvalidResponse(detail.into()));
        }
        if received != range.end - range.start {
            let detail = format!("received {received} of {} bytes", range.end - range.start);
            return Err(match is_cut {
                true => RangeError::Unreachable(detail),
                false => RangeError::InvalidResponse(detail),
            });
        }
        Ok(response)
    }
}

/// Joins sorted ranges with gaps of at most `gap` bytes: reading over one costs less than another request or pass.
pub(crate) fn coalesce(ranges: Vec<Range<u64>>, gap: u64) -> Vec<Range<u64>> {
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end.saturating_add(gap) => {
                last.end = last.end.max(range.end)
            }
            _ => joined.push(range),
        }
    }
    joined
}

impl std::fmt::Display for RangeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unsupported => f.write_str("the server does not support range requests"),
            Self::Unreachable(detail) | Self::InvalidResponse(detail) => f.write_str(detail),
            Self::PlainHttp(host) => write!(f, "{host} would be requested over plain http"),
            Self::ErrorStatus { host, status } => write!(f, "{host} answers with status {status}"),
        }
    }
}

impl std::error::Error for RangeError {}

impl From<RangeError> for io::Error {
    fn from(error: RangeError) -> Self {
        Self::other(error)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::http::{Client, RemoteFile};
    use crate::url::Url;
    use sp_tests::http::{Response, Server};
    use std::net::TcpListener;
    use std::sync::Arc;

    /// Serves `body` on a loopback port until the test ends, with or without support of range requests.
    pub fn serve(body: Vec<u8>, has_ranges: bool) -> RemoteFile {
        let server = Server::start(move |request| match has_ranges {
            true => Response::part(request, &body),
            false => Response::new(200, body.clone()),
        });
        remote(&server.url("/tensorflow_cpu-2.21.0-cp311-cp311-any.whl"))
    }

    pub fn remote(url: &str) -> RemoteFile {
        RemoteFile::new(Arc::new(Client::new(true)), Url::parse(url).unwrap())
    }

    fn body() -> Vec<u8> {
        (0..1_000_003_u32)
            .map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8)
            .collect()
    }

    #[test]
    fn reads_and_seeks_like_a_file() {
        let body = body();
        let mut reader = RangeReader::open(serve(body.clone(), true)).unwrap();
        for (at, length) in [
            (0, 10),
            (65_530, 20),
            (999_990, 13),
            (500_000, 200_000),
            (3, 0),
        ] {
            let mut part = vec![0; length];
            reader.seek(SeekFrom::Start(at as u64)).unwrap();
            reader.read_exact(&mut part).unwrap();
            assert_eq!(part, body[at..at + length]);
        }
        assert_eq!(reader.seek(SeekFrom::End(0)).unwrap(), body.len() as u64);
        assert_eq!(reader.read(&mut [0; 4]).unwrap(), 0);
        assert!(reader.seek(SeekFrom::Current(-2_000_000)).is_err());
    }

    #[test]
    fn scattered_read_transfers_one_block() {
        let mut reader = RangeReader::open(serve(body(), true)).unwrap();
        reader.seek(SeekFrom::Start(700_000)).unwrap();
        reader.read_exact(&mut [0; 100]).unwrap();
        assert_eq!(
            reader.transferred(),
            Traffic {
                bytes: BLOCK + 1,
                requests: 2
            }
        );
    }

    #[test]
    fn sequential_read_transfers_each_byte_once() {
        let body = body();
        let mut reader = RangeReader::open(serve(body.clone(), true)).unwrap();
        let mut all = Vec::new();
        reader.read_to_end(&mut all).unwrap();
        assert_eq!(all, body);
        assert_eq!(reader.transferred().bytes, body.len() as u64 + 1);
        let transferred = reader.transferred();
        assert!(transferred.requests <= 6, "{transferred:?}");
    }

    #[test]
    fn prefetches_near_ranges_together() {
        let reader = RangeReader::open(serve(body(), true)).unwrap();
        reader
            .prefetch(vec![900_000..900_010, 10..20, 70_000..80_000])
            .unwrap();
        assert_eq!(reader.transferred().requests, 3);
    }

    #[test]
    fn rejects_server_without_range_requests() {
        let opened = RangeReader::open(serve(vec![7; 50], false));
        assert!(matches!(opened, Err(RangeError::Unsupported)));
    }

    #[test]
    fn reports_closed_port_as_unreachable() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/x", listener.local_addr().unwrap());
        drop(listener);
        let found = RangeReader::open(remote(&url));
        assert!(matches!(found, Err(RangeError::Unreachable(_))));
    }

    /// A server whose responses a closure computes.
    struct ScriptedServer(Box<dyn FnMut(Range<u64>) -> RangeResponse>);

    impl Transport for ScriptedServer {
        fn get(&mut self, range: Range<u64>) -> Result<RangeResponse, RangeError> {
            Ok((self.0)(range))
        }
    }

    fn open(
        respond: impl FnMut(Range<u64>) -> RangeResponse + 'static,
    ) -> Result<RangeReader, RangeError> {
        RangeReader::open(ScriptedServer(Box::new(respond)))
    }

    fn part(range: Range<u64>, length: u64) -> RangeResponse {
        let bytes = vec![7; (range.end - range.start) as usize];
        RangeResponse {
            range,
            length,
            bytes,
        }
    }

    #[test]
    fn rejects_file_lengths_out_of_bounds() {
        for length in [0, MAX_FILE_LENGTH + 1, u64::MAX] {
            let opened = open(move |range| part(range, length));
            assert!(
                matches!(opened, Err(RangeError::InvalidResponse(_))),
                "{length}"
            );
        }
    }

    #[test]
    fn rejects_ranges_that_were_not_requested() {
        let shifted = |range: Range<u64>| range.start + 1..range.end + 1;
        let responses: [fn(Range<u64>) -> RangeResponse; 3] = [
            |range| part(range, 999_999),
            |range| RangeResponse {
                range: 3..4,
                ..part(range, 1_000_000)
            },
            |range| part(range.start..range.end + 1, 1_000_000),
        ];
        for (index, response) in responses.into_iter().enumerate() {
            let respond = move |range: Range<u64>| match range == (0..1) {
                true => part(range, 1_000_000),
                false => response(range),
            };
            let mut reader = open(respond).unwrap();
            assert!(reader.read(&mut [0; 4]).is_err(), "{index}");
        }
        assert!(open(move |range| part(shifted(range), 9)).is_err());
    }

    #[test]
    fn requests_are_bounded_for_any_prefetched_range() {
        let respond = |range: Range<u64>| {
            assert!(range.end - range.start <= MAX_REQUEST_LENGTH);
            part(range, MAX_FILE_LENGTH)
        };
        let reader = open(respond).unwrap();
        reader
            .prefetch(vec![
                0..MAX_FILE_LENGTH,
                5..u64::MAX,
                u64::MAX - 1..u64::MAX,
            ])
            .unwrap();
        let limit = MAX_CACHED_BLOCKS as u64 * BLOCK;
        let transferred = reader.transferred();
        assert!(transferred.bytes <= limit + 1, "{transferred:?}");
        let mut seeking = reader.clone();
        seeking.seek(SeekFrom::Start(u64::MAX)).unwrap();
        assert_eq!(seeking.read(&mut [0; 4]).unwrap(), 0);
    }
}
