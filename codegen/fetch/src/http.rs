//! HTTP requests for wheels. Plain http is rejected unless the user allows it, also in redirects. Credentials are
//! sent only to the origin of the link.

use super::credentials::{Authorization, Credentials};
use super::range::{RangeError, RangeResponse, Transport};
use super::url::Url;
use std::io::Read;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use ureq::Body;
use ureq::http::Response;
use ureq::tls::{RootCerts, TlsConfig};

const MAX_REDIRECTS: usize = 8;
/// The longest time without a byte of a response.
const READ_TIME: Duration = Duration::from_secs(60);
/// The longest time of a range or a page. A whole wheel has hundreds of megabytes: no limit fits every connection.
const BODY_TIME: Duration = Duration::from_secs(120);

/// Sends the requests of one run of sp-gen.
#[derive(Debug)]
pub struct Client {
    agent: ureq::Agent,
    allow_http: bool,
    credentials: Credentials,
}

impl Client {
    /// Creates a client that sends plain http requests only if `allow_http` is true.
    pub fn new(allow_http: bool) -> Self {
        Self {
            agent: new_agent(allow_http, READ_TIME),
            allow_http,
            credentials: Credentials::default(),
        }
    }

    /// Checks that `url` may be requested.
    ///
    /// # Errors
    /// Returns an error for a plain http URL if the client does not allow plain http.
    pub fn check_scheme(&self, url: &Url) -> Result<(), RangeError> {
        match url.is_https() || self.allow_http {
            true => Ok(()),
            false => Err(RangeError::PlainHttp(url.host().to_owned())),
        }
    }
}

impl Default for Client {
    fn default() -> Self {
        Self::new(false)
    }
}

/// A file on a server.
#[derive(Debug)]
pub struct RemoteFile {
    client: Arc<Client>,
    url: Url,
    authorization: Option<Authorization>,
    /// Credentials are looked up at most once, after the first rejected request.
    has_looked_up_credentials: bool,
    accept: &'static str,
    /// True if a page is requested, and not a wheel.
    is_page: bool,
    body_time: Duration,
}

impl RemoteFile {
    /// Creates the file without sending a request.
    pub fn new(client: Arc<Client>, url: Url) -> Self {
        Self {
            client,
            url,
            authorization: None,
            has_looked_up_credentials: false,
            accept: "*/*",
            is_page: false,
            body_time: BODY_TIME,
        }
    }

    /// Requests a page in the media type `accept`, or a whole wheel if none is given.
    ///
    /// # Errors
    /// Returns an error if the server cannot be reached or answers with another status than 200.
    pub fn open(&mut self, accept: Option<&'static str>) -> Result<impl Read + use<>, RangeError> {
        self.accept = accept.unwrap_or("*/*");
        self.is_page = accept.is_some();
        let response = self.request(None)?;
        match response.status().as_u16() {
            200 => Ok(response.into_body().into_reader()),
            status => Err(self.status_error(status)),
        }
    }

    /// Requests a range or the whole file. If the server rejects the request, repeats it with credentials.
    fn request(&mut self, range: Option<&Range<u64>>) -> Result<Response<Body>, RangeError> {
        let response = self.send_with_redirects(range)?;
        // Some servers answer 403 or 404 in place of 401.
        let is_rejected = matches!(response.status().as_u16(), 401 | 403 | 404);
        if !is_rejected || self.has_looked_up_credentials {
            return Ok(response);
        }
        self.has_looked_up_credentials = true;
        self.authorization = self.client.credentials.find(&self.url);
        match self.authorization {
            Some(_) => self.send_with_redirects(range),
            None => Ok(response),
        }
    }

    fn send_with_redirects(
        &self,
        range: Option<&Range<u64>>,
    ) -> Result<Response<Body>, RangeError> {
        let mut url = self.url.clone();
        for _ in 0..MAX_REDIRECTS {
            let response = self.send(&url, range)?;
            if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
                return Ok(response);
            }
            let location = response.headers().get("location");
            let next = location.and_then(|value| url.join(value.to_str().ok()?));
            url =
                next.ok_or_else(|| invalid_response(&url, "redirects to no http or https URL"))?;
        }
        Err(invalid_response(&self.url, "redirects more than 8 times"))
    }

    fn send(&self, url: &Url, range: Option<&Range<u64>>) -> Result<Response<Body>, RangeError> {
        self.client.check_scheme(url)?;
        let timeout = (range.is_some() || self.is_page).then_some(self.body_time);
        let request = self.client.agent.get(url.to_string()).config();
        let mut request = request.timeout_recv_body(timeout).build();
        request = request.header("Accept-Encoding", "identity");
        request = request.header("Accept", self.accept);
        if let Some(range) = range {
            let last = range.end.saturating_sub(1);
            request = request.header("Range", format!("bytes={}-{last}", range.start));
        }
        if let Some(authorization) = &self.authorization
            && url.origin() == self.url.origin()
        {
            request = request.header("Authorization", authorization.reveal());
        }
        // An error may quote the URL of a redirect, which can contain a signature.
        let unreachable = |error: ureq::Error| {
            RangeError::Unreachable(format!("{}: {}", url.host(), describe_error(&error)))
        };
        request.call().map_err(unreachable)
    }

    fn status_error(&self, status: u16) -> RangeError {
        RangeError::ErrorStatus {
            host: self.url.host().to_owned(),
            status,
        }
    }
}

impl Transport for RemoteFile {
    fn get(&mut self, range: Range<u64>) -> Result<RangeResponse, RangeError> {
        let response = self.request(Some(&range))?;
        match response.status().as_u16() {
            206 => {}
            200 => return Err(RangeError::Unsupported),
            status => return Err(self.status_error(status)),
        }
        let header = response.headers().get("content-range");
        let header = header.and_then(|value| parse_content_range(value.to_str().ok()?));
        let (stated_range, length) = header.ok_or(RangeError::Unsupported)?;
        let mut bytes = Vec::new();
        let limit = range.end - range.start + 1;
        let body = response.into_body().into_reader();
        let read = body.take(limit).read_to_end(&mut bytes);
        read.map_err(|error| RangeError::Unreachable(format!("{}: {error}", self.url.host())))?;
        Ok(RangeResponse {
            range: stated_range,
            length,
            bytes,
        })
    }
}

/// Parses `bytes 0-9/100`.
fn parse_content_range(text: &str) -> Option<(Range<u64>, u64)> {
    let (range, length) = text.strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let end = last.parse::<u64>().ok()?.checked_add(1)?;
    Some((first.parse().ok()?..end, length.parse().ok()?))
}

fn invalid_response(url: &Url, detail: &str) -> RangeError {
    RangeError::InvalidResponse(format!("{} {detail}", url.host()))
}

fn describe_error(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Io(error) => error.to_string(),
        ureq::Error::RequireHttpsOnly(_) | ureq::Error::BadUri(_) => "its URL is not usable".into(),
        error => error.to_string(),
    }
}

/// Creates an agent that waits at most `read_time` for the next byte of a response.
fn new_agent(allow_http: bool, read_time: Duration) -> ureq::Agent {
    // The platform's verifier accepts the certificates that the user's environment adds.
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::PlatformVerifier)
        .build();
    let config = ureq::Agent::config_builder()
        .tls_config(tls)
        .https_only(!allow_http)
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_connect(Some(Duration::from_secs(20)))
        .timeout_recv_response(Some(Duration::from_secs(60)))
        .timeout_per_read(Some(read_time))
        .user_agent(concat!("sp-gen/", env!("CARGO_PKG_VERSION")));
    config.build().new_agent()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sp_tests::http::Server;
    use std::io::{self, Write};
    use std::time::Instant;

    fn remote(client: Client, url: &str) -> RemoteFile {
        RemoteFile::new(Arc::new(client), Url::parse(url).unwrap())
    }

    #[test]
    fn rejects_redirect_to_plain_http() {
        let server = Server::start(|_| sp_tests::http::Response::new(200, "x"));
        let remote = remote(Client::default(), "https://127.0.0.1/x.whl");
        // `send_with_redirects` calls this for each URL of the redirect chain.
        let target = Url::parse(&server.url("/x.whl")).unwrap();
        let result = remote.send(&target, None).map(drop);
        assert!(matches!(result, Err(RangeError::PlainHttp(host)) if host == server.host()));
        assert!(server.requests().is_empty());
    }

    #[test]
    fn rejects_endless_redirects() {
        let server =
            Server::start(|_| sp_tests::http::Response::new(302, "").with("Location", "/x"));
        let result = remote(Client::new(true), &server.url("/x"))
            .get(0..1)
            .map(drop);
        assert!(
            matches!(result, Err(RangeError::InvalidResponse(_))),
            "{result:?}"
        );
        assert_eq!(server.requests().len(), MAX_REDIRECTS);
    }

    #[test]
    fn messages_omit_query_of_redirect() {
        let server = Server::start(|_| {
            let signed = "http://127.0.0.1:1/x?signature=secret";
            sp_tests::http::Response::new(302, "").with("Location", signed)
        });
        let result = remote(Client::new(true), &server.url("/x")).get(0..1);
        let error = result.map(drop).unwrap_err().to_string();
        assert!(
            error.contains("127.0.0.1:1") && !error.contains("secret"),
            "{error}"
        );
    }

    #[test]
    fn rejects_wheel_whose_server_sends_no_more_bytes() {
        let server = Server::start(|_| {
            sp_tests::http::Response::new(200, "part").with("Content-Length", 1000)
        });
        let client = Client {
            agent: new_agent(true, Duration::from_millis(200)),
            ..Client::new(true)
        };
        let mut remote = remote(client, &server.url("/x.whl"));
        let start = Instant::now();
        let mut bytes = Vec::new();
        let read = remote.open(None).unwrap().read_to_end(&mut bytes);
        let error = read.unwrap_err().to_string();
        assert!(error.contains("timeout"), "{error}");
        assert_eq!(bytes, b"part");
        assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
    }

    #[test]
    fn rejects_page_that_is_sent_byte_by_byte() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/simple/x/", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept()?;
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")?;
            loop {
                stream.write_all(b" ")?;
                std::thread::sleep(Duration::from_millis(20));
            }
            #[expect(unreachable_code, reason = "it has the type of the result")]
            io::Result::Ok(())
        });
        let mut remote = remote(Client::new(true), &url);
        remote.body_time = Duration::from_millis(300);
        let start = Instant::now();
        let mut body = remote.open(Some("text/html")).unwrap();
        let error = body.read_to_end(&mut Vec::new()).unwrap_err().to_string();
        assert!(error.contains("timeout"), "{error}");
        assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
    }

    #[test]
    fn parses_content_ranges() {
        assert_eq!(parse_content_range("bytes 0-9/100"), Some((0..10, 100)));
        for text in [
            "bytes */100",
            "bytes 0-18446744073709551615/1",
            "0-9/100",
            "bytes 0-9/*",
        ] {
            assert_eq!(parse_content_range(text), None, "{text}");
        }
    }
}
