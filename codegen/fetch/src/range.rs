//! A remote file as `Read + Seek`, by requests for parts of it.
//!
//! What was fetched is kept a while. Reading on where the last fetch ended fetches twice as much each time,
//! so that a central directory costs a handful of requests; scattered reads stay small. Of a library
//! that is read through, only the last blocks are kept.
//!
//! The server is not trusted: a part that is not the requested one, or a length that is too large or
//! changes, is an error, and no request asks for more than [`REQUEST_MOST`] bytes.

use sp_parse::source::Traffic;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::rc::Rc;

const BLOCK: u64 = 64 * 1024;
const AHEAD_MOST: u64 = 32;
/// The most bytes of one request.
const REQUEST_MOST: u64 = AHEAD_MOST * BLOCK;
/// The blocks kept: more than all headers of a wheel have, and less than one of its libraries.
const KEPT_MOST: usize = 512;
/// The largest file that is read: no wheel of TensorFlow has 1 GiB.
pub const LENGTH_MOST: u64 = 4 << 30;
const TRIES: u32 = 3;

/// Requests byte ranges of one remote file.
pub trait Transport {
    /// Requests a range, which is not empty.
    ///
    /// # Errors
    /// Returns an error if there is no answer with a part of the file.
    fn get(&mut self, range: Range<u64>) -> Result<Part, RangeError>;
}

/// A part of a file, as a server states it.
#[derive(Debug, Clone)]
pub struct Part {
    /// Which part it is.
    pub range: Range<u64>,
    /// The length of the file.
    pub length: u64,
    /// The bytes; the implementation reads at most one more than requested.
    pub bytes: Vec<u8>,
}

/// A position in a remote file; clones share what was fetched.
#[derive(Clone)]
pub struct RangeReader {
    file: Rc<RefCell<Blocks>>,
    position: u64,
}

/// Why a remote file could not be opened or read.
#[derive(Debug, Clone)]
pub enum RangeError {
    /// The server sends the whole file whatever is asked.
    Refused,
    /// It cannot be reached, or the connection fails.
    Away(String),
    /// Its answer contradicts the request.
    Invalid(String),
    /// It would be asked over plain http; has its host.
    Insecure(String),
    /// It answers with an error.
    Denied {
        /// The host.
        host: String,
        /// The HTTP status.
        status: u16,
    },
}

struct Blocks {
    transport: Box<dyn Transport>,
    /// 0 until the first answer.
    length: u64,
    blocks: BTreeMap<u64, Vec<u8>>,
    /// The same blocks, the oldest first.
    order: VecDeque<u64>,
    next: u64,
    ahead: u64,
    moved: Traffic,
}

impl RangeReader {
    /// Asks for the length of the file; moves one byte.
    ///
    /// # Errors
    /// Returns an error if the server cannot be reached, serves no parts, or states a length above
    /// [`LENGTH_MOST`].
    pub fn open(transport: impl Transport + 'static) -> Result<Self, RangeError> {
        let mut file = Blocks {
            transport: Box::new(transport),
            length: 0,
            blocks: BTreeMap::new(),
            order: VecDeque::new(),
            next: 0,
            ahead: 1,
            moved: Traffic::default(),
        };
        let length = file.get(0..1)?.length;
        if length == 0 || length > LENGTH_MOST {
            return Err(RangeError::Invalid(format!(
                "the server states a length of {length} bytes"
            )));
        }
        file.length = length;
        Ok(Self {
            file: Rc::new(RefCell::new(file)),
            position: 0,
        })
    }

    /// What was moved so far.
    pub fn traffic(&self) -> Traffic {
        self.file.borrow().moved
    }

    /// Fetches the ranges that will be read soon, near ones in one request; no more than is kept.
    ///
    /// # Errors
    /// Returns an error if a part cannot be fetched.
    pub fn expect(&self, mut ranges: Vec<Range<u64>>) -> Result<(), RangeError> {
        ranges.sort_by_key(|range| range.start);
        let mut file = self.file.borrow_mut();
        let mut left = KEPT_MOST as u64;
        for range in coalesce(ranges) {
            let (from, to) = (range.start / BLOCK, range.end.div_ceil(BLOCK));
            let to = to.min(from.saturating_add(left));
            left -= to.saturating_sub(from);
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
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.file.borrow().length.checked_add_signed(by),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
        };
        self.position = target.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

impl Blocks {
    fn read_at(&mut self, position: u64, out: &mut [u8]) -> Result<usize, RangeError> {
        if position >= self.length || out.is_empty() {
            return Ok(0);
        }
        let index = position / BLOCK;
        if !self.blocks.contains_key(&index) {
            self.ahead = if index == self.next {
                (self.ahead * 2).min(AHEAD_MOST)
            } else {
                1
            };
            self.fetch_missing(index, index + self.ahead)?;
        }
        let rest = &self.blocks[&index][(position % BLOCK) as usize..];
        let count = rest.len().min(out.len());
        out[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    /// Fetches blocks `from..to`, less those at either end that are there already.
    fn fetch_missing(&mut self, mut from: u64, to: u64) -> Result<(), RangeError> {
        let mut to = to.min(self.length.div_ceil(BLOCK));
        while from < to && self.blocks.contains_key(&from) {
            from += 1;
        }
        while from < to && self.blocks.contains_key(&(to - 1)) {
            to -= 1;
        }
        while from < to {
            let end = to.min(from + REQUEST_MOST / BLOCK);
            let part = self.get(from * BLOCK..(end * BLOCK).min(self.length))?;
            for (index, block) in (from..end).zip(part.bytes.chunks(BLOCK as usize)) {
                self.keep(index, block.to_vec());
            }
            self.next = end;
            from = end;
        }
        Ok(())
    }

    fn keep(&mut self, index: u64, block: Vec<u8>) {
        if self.blocks.insert(index, block).is_none() {
            self.order.push_back(index);
        }
        if self.order.len() > KEPT_MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.blocks.remove(&oldest);
        }
    }

    /// Requests a range, again if the connection fails.
    fn get(&mut self, range: Range<u64>) -> Result<Part, RangeError> {
        let mut failure = RangeError::Refused;
        for _ in 0..TRIES {
            match self.get_once(&range) {
                Err(RangeError::Away(detail)) => failure = RangeError::Away(detail),
                done => return done,
            }
        }
        Err(failure)
    }

    fn get_once(&mut self, range: &Range<u64>) -> Result<Part, RangeError> {
        self.moved.requests += 1;
        let part = self.transport.get(range.clone())?;
        let moved = part.bytes.len() as u64;
        self.moved.bytes += moved;
        let is_cut = moved < range.end - range.start;
        if part.range != *range || (self.length != 0 && part.length != self.length) {
            let detail = "the server sent another part than it was asked for";
            return Err(RangeError::Invalid(detail.into()));
        }
        if moved != range.end - range.start {
            let detail = format!("{moved} bytes came of {}", range.end - range.start);
            return Err(match is_cut {
                true => RangeError::Away(detail),
                false => RangeError::Invalid(detail),
            });
        }
        Ok(part)
    }
}

/// Joins sorted ranges whose gap is smaller than what another request costs.
fn coalesce(ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end.saturating_add(2 * BLOCK) => {
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
            Self::Refused => f.write_str("the server does not serve parts of a file"),
            Self::Away(detail) | Self::Invalid(detail) => f.write_str(detail),
            Self::Insecure(host) => write!(f, "{host} is asked over plain http"),
            Self::Denied { host, status } => write!(f, "{host} answers with status {status}"),
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
    use crate::http::{Client, Remote};
    use crate::url::Url;
    use sp_tests::http::{Response, Server};
    use std::net::TcpListener;
    use std::sync::Arc;

    /// Serves `body` on a loopback port for as long as the test runs.
    pub fn serve(body: Vec<u8>, ranges: bool) -> Remote {
        let server = Server::start(move |request| match ranges {
            true => Response::part(request, &body),
            false => Response::new(200, body.clone()),
        });
        remote(&server.url("/tensorflow_cpu-2.21.0-cp311-cp311-any.whl"))
    }

    pub fn remote(url: &str) -> Remote {
        Remote::new(Arc::new(Client::new(true)), Url::parse(url).unwrap())
    }

    fn body() -> Vec<u8> {
        (0..1_000_003_u32)
            .map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8)
            .collect()
    }

    #[test]
    fn reads_any_part_as_a_file_would() {
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
    fn a_scattered_read_moves_one_block() {
        let mut reader = RangeReader::open(serve(body(), true)).unwrap();
        reader.seek(SeekFrom::Start(700_000)).unwrap();
        reader.read_exact(&mut [0; 100]).unwrap();
        assert_eq!(
            reader.traffic(),
            Traffic {
                bytes: BLOCK + 1,
                requests: 2
            }
        );
    }

    #[test]
    fn reading_on_takes_few_requests_and_nothing_twice() {
        let body = body();
        let mut reader = RangeReader::open(serve(body.clone(), true)).unwrap();
        let mut all = Vec::new();
        reader.read_to_end(&mut all).unwrap();
        assert_eq!(all, body);
        assert_eq!(reader.traffic().bytes, body.len() as u64 + 1);
        assert!(reader.traffic().requests <= 6, "{:?}", reader.traffic());
    }

    #[test]
    fn near_ranges_are_fetched_together() {
        let reader = RangeReader::open(serve(body(), true)).unwrap();
        reader
            .expect(vec![900_000..900_010, 10..20, 70_000..80_000])
            .unwrap();
        assert_eq!(reader.traffic().requests, 3);
    }

    #[test]
    fn a_server_without_ranges_is_refused() {
        let opened = RangeReader::open(serve(vec![7; 50], false));
        assert!(matches!(opened, Err(RangeError::Refused)));
    }

    #[test]
    fn a_closed_port_is_away() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/x", listener.local_addr().unwrap());
        drop(listener);
        assert!(matches!(
            RangeReader::open(remote(&url)),
            Err(RangeError::Away(_))
        ));
    }

    /// A server that states whatever a test makes it state.
    struct Lying(Box<dyn FnMut(Range<u64>) -> Part>);

    impl Transport for Lying {
        fn get(&mut self, range: Range<u64>) -> Result<Part, RangeError> {
            Ok((self.0)(range))
        }
    }

    fn open(answer: impl FnMut(Range<u64>) -> Part + 'static) -> Result<RangeReader, RangeError> {
        RangeReader::open(Lying(Box::new(answer)))
    }

    fn part(range: Range<u64>, length: u64) -> Part {
        let bytes = vec![7; (range.end - range.start) as usize];
        Part {
            range,
            length,
            bytes,
        }
    }

    #[test]
    fn rejects_lengths_that_no_wheel_has() {
        for length in [0, LENGTH_MOST + 1, u64::MAX] {
            let opened = open(move |range| part(range, length));
            assert!(matches!(opened, Err(RangeError::Invalid(_))), "{length}");
        }
    }

    #[test]
    fn rejects_parts_that_were_not_asked_for() {
        let shifted = |range: Range<u64>| range.start + 1..range.end + 1;
        let lies: [fn(Range<u64>) -> Part; 3] = [
            |range| part(range, 999_999),
            |range| Part {
                range: 3..4,
                ..part(range, 1_000_000)
            },
            |range| part(range.start..range.end + 1, 1_000_000),
        ];
        for (index, lie) in lies.into_iter().enumerate() {
            let answer = move |range: Range<u64>| match range == (0..1) {
                true => part(range, 1_000_000),
                false => lie(range),
            };
            let mut reader = open(answer).unwrap();
            assert!(reader.read(&mut [0; 4]).is_err(), "{index}");
        }
        assert!(open(move |range| part(shifted(range), 9)).is_err());
    }

    #[test]
    fn asks_for_bounded_parts_whatever_is_expected() {
        let answer = |range: Range<u64>| {
            assert!(range.end - range.start <= REQUEST_MOST);
            part(range, LENGTH_MOST)
        };
        let reader = open(answer).unwrap();
        reader
            .expect(vec![0..LENGTH_MOST, 5..u64::MAX, u64::MAX - 1..u64::MAX])
            .unwrap();
        let kept = KEPT_MOST as u64 * BLOCK;
        assert!(reader.traffic().bytes <= kept + 1, "{:?}", reader.traffic());
        let mut seeking = reader.clone();
        seeking.seek(SeekFrom::Start(u64::MAX)).unwrap();
        assert_eq!(seeking.read(&mut [0; 4]).unwrap(), 0);
    }
}
