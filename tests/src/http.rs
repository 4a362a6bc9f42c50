//! An HTTP server on a loopback port, for tests of sp-gen's downloads.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// A client's request.
#[derive(Clone, Debug)]
pub struct Request {
    /// Path and query.
    pub path: String,
    /// Headers by their name in lower case.
    pub headers: BTreeMap<String, String>,
}

impl Request {
    /// Returns the requested range of bytes.
    pub fn range(&self) -> Option<Range<usize>> {
        let range = self.headers.get("range")?.strip_prefix("bytes=")?;
        let (first, last) = range.split_once('-')?;
        Some(first.parse().ok()?..last.parse::<usize>().ok()?.checked_add(1)?)
    }
}

/// A response. `Content-Length` is that of the body unless a header states another.
#[derive(Clone, Debug)]
pub struct Response {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Response {
    /// Creates a response with a status and a body.
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: body.into(),
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl ToString) -> Self {
        self.headers.push((name.to_owned(), value.to_string()));
        self
    }

    /// Creates the response of a server that has `file`: the requested range, or all of it.
    pub fn part(request: &Request, file: &[u8]) -> Self {
        let Some(range) = request.range() else {
            return Self::new(200, file);
        };
        let end = range.end.min(file.len());
        let content_range = format!("bytes {}-{}/{}", range.start, end - 1, file.len());
        Self::new(206, &file[range.start..end]).with("Content-Range", content_range)
    }
}

/// A running server, which ends with the process.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Starts a server that answers each request with what `answer` returns.
    ///
    /// # Panics
    /// Panics if there is no free port.
    pub fn start(answer: impl Fn(&Request) -> Response + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("a bound port");
        let (answer, requests) = (Arc::new(answer), Arc::<Mutex<Vec<Request>>>::default());
        let log = requests.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answer, log) = (answer.clone(), log.clone());
                // A client that disconnects ends its own connection only.
                thread::spawn(move || serve(stream, &*answer, &log));
            }
        });
        Self { address, requests }
    }

    /// Returns the URL of a path, which begins with a slash.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns host and port.
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    /// Returns the requests so far.
    pub fn requests(&self) -> Vec<Request> {
        let requests = self.requests.lock();
        requests.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn serve(
    stream: TcpStream,
    answer: &dyn Fn(&Request) -> Response,
    log: &Mutex<Vec<Request>>,
) -> io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    while let Some(request) = read(&mut lines)? {
        log.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(request.clone());
        write(&stream, &answer(&request))?;
    }
    Ok(())
}

fn read(lines: &mut impl Iterator<Item = io::Result<String>>) -> io::Result<Option<Request>> {
    let Some(first) = lines.next().transpose()? else {
        return Ok(None);
    };
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut headers = BTreeMap::new();
    for line in lines {
        let line = line?;
        match line.split_once(": ") {
            Some((name, value)) => headers.insert(name.to_ascii_lowercase(), value.to_owned()),
            None => break,
        };
    }
    Ok(Some(Request { path, headers }))
}

fn write(mut stream: &TcpStream, response: &Response) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {} Status\r\n", response.status);
    let states_length = |(name, _): &(String, String)| name == "Content-Length";
    if !response.headers.iter().any(states_length) {
        head += &format!("Content-Length: {}\r\n", response.body.len());
    }
    for (name, value) in &response.headers {
        head += &format!("{name}: {value}\r\n");
    }
    stream.write_all(head.as_bytes())?;
    stream.write_all(b"\r\n")?;
    stream.write_all(&response.body)
}
