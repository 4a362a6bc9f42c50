//! A remote file as `Read + Seek`, by HTTP range requests.
//!
//! What was fetched is kept a while. Reading on where the last fetch ended fetches twice as much each time,
//! so that a central directory costs a handful of requests; scattered reads stay small. Of a library
//! that is read through, only the last blocks are kept.

use super::source::Moved;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;
use ureq::tls::{RootCerts, TlsConfig};

const BLOCK: u64 = 64 * 1024;
const AHEAD_MOST: u64 = 32;
/// The blocks kept: more than all headers of a wheel have, and less than one of its libraries.
const KEPT_MOST: usize = 512;
const TRIES: u32 = 3;

/// A position in a remote file; clones share what was fetched.
#[derive(Clone)]
pub struct RangeReader {
    file: Rc<RefCell<Remote>>,
    position: u64,
}

/// Why a remote file could not be opened or read.
#[derive(Debug)]
pub enum RangeError {
    /// The server sends the whole file whatever is asked.
    Refused,
    /// It cannot be reached, or answers with an error.
    Away(String),
}

struct Remote {
    agent: ureq::Agent,
    url: String,
    length: u64,
    blocks: BTreeMap<u64, Vec<u8>>,
    /// The same blocks, the oldest first.
    order: VecDeque<u64>,
    next: u64,
    ahead: u64,
    moved: Moved,
}

impl RangeReader {
    /// Asks for the length of the file; moves one byte.
    pub fn open(url: &str) -> Result<Self, RangeError> {
        let mut remote = Remote {
            agent: agent(),
            url: url.to_owned(),
            length: 1,
            blocks: BTreeMap::new(),
            order: VecDeque::new(),
            next: 0,
            ahead: 1,
            moved: Moved::default(),
        };
        remote.length = remote.get(0..1)?.1;
        Ok(Self {
            file: Rc::new(RefCell::new(remote)),
            position: 0,
        })
    }

    /// What was moved so far.
    pub fn moved(&self) -> Moved {
        self.file.borrow().moved
    }

    /// Fetches the ranges that will be read soon, near ones in one request.
    pub fn expect(&self, mut ranges: Vec<Range<u64>>) -> Result<(), RangeError> {
        ranges.sort_by_key(|range| range.start);
        let mut file = self.file.borrow_mut();
        for range in coalesce(ranges) {
            file.fetch_missing(range.start / BLOCK, range.end.div_ceil(BLOCK))?;
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

impl Remote {
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
        if from == to {
            return Ok(());
        }
        let (bytes, _) = self.get(from * BLOCK..(to * BLOCK).min(self.length))?;
        for (index, block) in (from..to).zip(bytes.chunks(BLOCK as usize)) {
            self.keep(index, block.to_vec());
        }
        self.next = to;
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

    /// One request, repeated where the connection fails: the bytes, and the length of the file.
    fn get(&mut self, range: Range<u64>) -> Result<(Vec<u8>, u64), RangeError> {
        let mut failure = None;
        for _ in 0..TRIES {
            match self.get_once(&range) {
                Err(RangeError::Away(detail)) => failure = Some(RangeError::Away(detail)),
                done => return done,
            }
        }
        Err(failure.unwrap_or(RangeError::Refused))
    }

    fn get_once(&mut self, range: &Range<u64>) -> Result<(Vec<u8>, u64), RangeError> {
        let wanted = format!("bytes={}-{}", range.start, range.end - 1);
        self.moved.requests += 1;
        let request = self.agent.get(&self.url).header("Range", wanted);
        let mut response = request
            .header("Accept-Encoding", "identity")
            .call()
            .map_err(away)?;
        if response.status() != 206 {
            return Err(RangeError::Refused);
        }
        let total = response
            .headers()
            .get("content-range")
            .and_then(|value| value.to_str().ok());
        let total = total.and_then(|value| value.rsplit('/').next()?.parse().ok());
        let total = total.ok_or(RangeError::Refused)?;
        let expected = range.end - range.start;
        let bytes = response
            .body_mut()
            .with_config()
            .limit(expected + 1)
            .read_to_vec()
            .map_err(away)?;
        self.moved.bytes += bytes.len() as u64;
        if bytes.len() as u64 != expected {
            return Err(RangeError::Away(format!(
                "{} bytes came of {expected}",
                bytes.len()
            )));
        }
        Ok((bytes, total))
    }
}

fn agent() -> ureq::Agent {
    // The platform's verifier knows the certificates that the user's environment adds.
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::PlatformVerifier)
        .build();
    let config = ureq::Agent::config_builder()
        .tls_config(tls)
        .timeout_connect(Some(Duration::from_secs(20)))
        .timeout_recv_response(Some(Duration::from_secs(60)))
        .timeout_recv_body(Some(Duration::from_secs(120)))
        .user_agent(concat!("sp-gen/", env!("CARGO_PKG_VERSION")));
    config.build().new_agent()
}

/// Joins sorted ranges whose gap is smaller than what another request costs.
fn coalesce(ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end + 2 * BLOCK => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

fn away(error: ureq::Error) -> RangeError {
    RangeError::Away(error.to_string())
}

impl std::fmt::Display for RangeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused => f.write_str("the server does not serve parts of a file"),
            Self::Away(detail) => f.write_str(detail),
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
    use std::io::{BufRead, BufReader, Write};
    use std::net::{TcpListener, TcpStream};

    /// Serves `body` on a loopback port for as long as the test runs.
    pub fn serve(body: Vec<u8>, ranges: bool) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!(
            "http://{}/tensorflow_cpu-2.21.0-cp311-cp311-any.whl",
            listener.local_addr().unwrap()
        );
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client that goes away ends its connection only.
                let _ = answer(stream, &body, ranges);
            }
        });
        url
    }

    fn answer(stream: TcpStream, body: &[u8], ranges: bool) -> io::Result<()> {
        let mut lines = BufReader::new(stream.try_clone()?).lines();
        let mut out = stream;
        loop {
            let mut range = None;
            for line in lines.by_ref() {
                let line = line?.to_ascii_lowercase();
                if let Some(value) = line.strip_prefix("range: bytes=") {
                    range = value.split_once('-').map(|(from, to)| {
                        (from.parse::<usize>().unwrap(), to.parse::<usize>().unwrap())
                    });
                }
                if line.is_empty() {
                    break;
                }
            }
            let Some((from, to)) = range else {
                return Ok(());
            };
            if ranges {
                let part = &body[from..=to.min(body.len() - 1)];
                write!(
                    out,
                    "HTTP/1.1 206 Partial Content\r\nContent-Length: {}\r\n",
                    part.len()
                )?;
                write!(
                    out,
                    "Content-Range: bytes {from}-{to}/{}\r\n\r\n",
                    body.len()
                )?;
                out.write_all(part)?;
            } else {
                write!(
                    out,
                    "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n",
                    body.len()
                )?;
                out.write_all(body)?;
            }
        }
    }

    fn body() -> Vec<u8> {
        (0..1_000_003_u32)
            .map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8)
            .collect()
    }

    #[test]
    fn reads_any_part_as_a_file_would() {
        let body = body();
        let mut reader = RangeReader::open(&serve(body.clone(), true)).unwrap();
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
        let mut reader = RangeReader::open(&serve(body(), true)).unwrap();
        reader.seek(SeekFrom::Start(700_000)).unwrap();
        reader.read_exact(&mut [0; 100]).unwrap();
        assert_eq!(
            reader.moved(),
            Moved {
                bytes: BLOCK + 1,
                requests: 2
            }
        );
    }

    #[test]
    fn reading_on_takes_few_requests_and_nothing_twice() {
        let body = body();
        let mut reader = RangeReader::open(&serve(body.clone(), true)).unwrap();
        let mut all = Vec::new();
        reader.read_to_end(&mut all).unwrap();
        assert_eq!(all, body);
        assert_eq!(reader.moved().bytes, body.len() as u64 + 1);
        assert!(reader.moved().requests <= 6, "{:?}", reader.moved());
    }

    #[test]
    fn near_ranges_are_fetched_together() {
        let reader = RangeReader::open(&serve(body(), true)).unwrap();
        reader
            .expect(vec![900_000..900_010, 10..20, 70_000..80_000])
            .unwrap();
        assert_eq!(reader.moved().requests, 3);
    }

    #[test]
    fn a_server_without_ranges_is_refused() {
        let opened = RangeReader::open(&serve(vec![7; 50], false));
        assert!(matches!(opened, Err(RangeError::Refused)));
    }

    #[test]
    fn a_closed_port_is_away() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/x", listener.local_addr().unwrap());
        drop(listener);
        assert!(matches!(RangeReader::open(&url), Err(RangeError::Away(_))));
    }
}
