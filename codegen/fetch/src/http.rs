//! Requests for wheels. Plain http is rejected unless the user asks for it, in redirects too, and
//! credentials are sent to the origin of the link and to no other.

use super::credentials::{Authorization, Credentials};
use super::range::{Part, RangeError, Transport};
use super::url::Url;
use std::io::Read;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use ureq::Body;
use ureq::http::Response;
use ureq::tls::{RootCerts, TlsConfig};

const REDIRECTS_MOST: usize = 8;

/// Sends the requests of one run of sp-gen.
#[derive(Debug)]
pub struct Client {
    agent: ureq::Agent,
    allow_http: bool,
    credentials: Credentials,
}

impl Client {
    /// Makes a client that sends plain http requests only if `allow_http`.
    pub fn new(allow_http: bool) -> Self {
        Self {
            agent: agent(allow_http),
            allow_http,
            credentials: Credentials::default(),
        }
    }

    /// Checks that `url` may be requested.
    ///
    /// # Errors
    /// Returns an error for a plain http URL, unless they are allowed.
    pub fn check(&self, url: &Url) -> Result<(), RangeError> {
        match url.is_https() || self.allow_http {
            true => Ok(()),
            false => Err(RangeError::Insecure(url.host().to_owned())),
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
pub struct Remote {
    client: Arc<Client>,
    url: Url,
    authorization: Option<Authorization>,
    /// Credentials are looked up once, if the server asks for them.
    is_looked_up: bool,
    accept: &'static str,
}

impl Remote {
    /// Names a file; sends nothing yet.
    pub fn new(client: Arc<Client>, url: Url) -> Self {
        Self {
            client,
            url,
            authorization: None,
            is_looked_up: false,
            accept: "*/*",
        }
    }

    /// Requests the whole file, as the media type `accept` if there is one.
    ///
    /// # Errors
    /// Returns an error if the server cannot be reached or does not have it.
    pub fn open(&mut self, accept: Option<&'static str>) -> Result<impl Read + use<>, RangeError> {
        self.accept = accept.unwrap_or("*/*");
        let response = self.request(None)?;
        match response.status().as_u16() {
            200 => Ok(response.into_body().into_reader()),
            status => Err(self.denied(status)),
        }
    }

    /// Requests a part of the file, or all of it, with credentials if the server does not answer without.
    fn request(&mut self, range: Option<&Range<u64>>) -> Result<Response<Body>, RangeError> {
        let response = self.follow(range)?;
        // Some servers hide what needs credentials behind 403 or 404.
        let is_closed = matches!(response.status().as_u16(), 401 | 403 | 404);
        if !is_closed || self.is_looked_up {
            return Ok(response);
        }
        self.is_looked_up = true;
        self.authorization = self.client.credentials.find(&self.url);
        match self.authorization {
            Some(_) => self.follow(range),
            None => Ok(response),
        }
    }

    fn follow(&self, range: Option<&Range<u64>>) -> Result<Response<Body>, RangeError> {
        let mut url = self.url.clone();
        for _ in 0..REDIRECTS_MOST {
            let response = self.send(&url, range)?;
            if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
                return Ok(response);
            }
            let location = response.headers().get("location");
            let next = location.and_then(|value| url.join(value.to_str().ok()?));
            url = next.ok_or_else(|| invalid(&url, "redirects to no http or https URL"))?;
        }
        Err(invalid(&self.url, "redirects without end"))
    }

    fn send(&self, url: &Url, range: Option<&Range<u64>>) -> Result<Response<Body>, RangeError> {
        self.client.check(url)?;
        // A whole wheel takes as long as it takes.
        let limit = range.is_some().then_some(Duration::from_secs(120));
        let request = self.client.agent.get(url.to_string()).config();
        let mut request = request.timeout_recv_body(limit).build();
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
        // The error may quote the URL of a redirect, which can be signed.
        let away =
            |error: ureq::Error| RangeError::Away(format!("{}: {}", url.host(), cause(&error)));
        request.call().map_err(away)
    }

    fn denied(&self, status: u16) -> RangeError {
        RangeError::Denied {
            host: self.url.host().to_owned(),
            status,
        }
    }
}

impl Transport for Remote {
    fn get(&mut self, range: Range<u64>) -> Result<Part, RangeError> {
        let response = self.request(Some(&range))?;
        match response.status().as_u16() {
            206 => {}
            200 => return Err(RangeError::Refused),
            status => return Err(self.denied(status)),
        }
        let stated = response.headers().get("content-range");
        let stated = stated.and_then(|value| content_range(value.to_str().ok()?));
        let (stated, length) = stated.ok_or(RangeError::Refused)?;
        let mut bytes = Vec::new();
        let limit = range.end - range.start + 1;
        let body = response.into_body().into_reader();
        let read = body.take(limit).read_to_end(&mut bytes);
        read.map_err(|error| RangeError::Away(format!("{}: {}", self.url.host(), error.kind())))?;
        Ok(Part {
            range: stated,
            length,
            bytes,
        })
    }
}

/// Parses `bytes 0-9/100`.
fn content_range(text: &str) -> Option<(Range<u64>, u64)> {
    let (range, length) = text.strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let end = last.parse::<u64>().ok()?.checked_add(1)?;
    Some((first.parse().ok()?..end, length.parse().ok()?))
}

fn invalid(url: &Url, detail: &str) -> RangeError {
    RangeError::Invalid(format!("{} {detail}", url.host()))
}

fn cause(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Io(error) => error.to_string(),
        ureq::Error::RequireHttpsOnly(_) | ureq::Error::BadUri(_) => "its URL is not usable".into(),
        error => error.to_string(),
    }
}

fn agent(allow_http: bool) -> ureq::Agent {
    // The platform's verifier knows the certificates that the user's environment adds.
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
        .user_agent(concat!("sp-gen/", env!("CARGO_PKG_VERSION")));
    config.build().new_agent()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sp_tests::http::Server;

    fn remote(client: Client, url: &str) -> Remote {
        Remote::new(Arc::new(client), Url::parse(url).unwrap())
    }

    #[test]
    fn each_request_of_a_redirect_is_checked_for_plain_http() {
        let server = Server::start(|_| sp_tests::http::Response::new(200, "x"));
        let remote = remote(Client::default(), "https://127.0.0.1/x.whl");
        // `follow` calls this for each URL of the redirect chain.
        let target = Url::parse(&server.url("/x.whl")).unwrap();
        let sent = remote.send(&target, None).map(drop);
        assert!(matches!(sent, Err(RangeError::Insecure(host)) if host == server.host()));
        assert!(server.requests().is_empty());
    }

    #[test]
    fn redirects_end() {
        let server =
            Server::start(|_| sp_tests::http::Response::new(302, "").with("Location", "/x"));
        let sent = remote(Client::new(true), &server.url("/x"))
            .get(0..1)
            .map(drop);
        assert!(matches!(sent, Err(RangeError::Invalid(_))), "{sent:?}");
        assert_eq!(server.requests().len(), REDIRECTS_MOST);
    }

    #[test]
    fn messages_leave_out_the_query_of_a_redirect() {
        let server = Server::start(|_| {
            let signed = "http://127.0.0.1:1/x?signature=secret";
            sp_tests::http::Response::new(302, "").with("Location", signed)
        });
        let sent = remote(Client::new(true), &server.url("/x")).get(0..1);
        let error = sent.map(drop).unwrap_err().to_string();
        assert!(
            error.contains("127.0.0.1:1") && !error.contains("secret"),
            "{error}"
        );
    }

    #[test]
    fn parses_content_ranges() {
        assert_eq!(content_range("bytes 0-9/100"), Some((0..10, 100)));
        for text in [
            "bytes */100",
            "bytes 0-18446744073709551615/1",
            "0-9/100",
            "bytes 0-9/*",
        ] {
            assert_eq!(content_range(text), None, "{text}");
        }
    }
}
