//! URLs of wheels, without users and passwords.

use std::fmt;

/// An http or https URL without user and password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    is_https: bool,
    /// Host and port.
    authority: String,
    /// Path and query, beginning with a slash.
    path: String,
}

impl Url {
    /// Parses an absolute URL. Returns `None` if it is not an http or https URL with a host.
    pub fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let is_https = match scheme.to_ascii_lowercase().as_str() {
            "https" => true,
            "http" => false,
            _ => return None,
        };
        let rest = rest.split('#').next()?;
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let host = authority
            .rsplit_once('@')
            .map_or(authority, |(_, host)| host);
        let is_printable = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
        (!host.is_empty() && is_printable(rest)).then(|| Self {
            is_https,
            authority: host.to_ascii_lowercase(),
            path: match path.starts_with('/') {
                true => path.to_owned(),
                false => format!("/{path}"),
            },
        })
    }

    /// Resolves the `Location` of a redirect. Returns `None` if it is not an http or https URL.
    pub fn join(&self, location: &str) -> Option<Self> {
        let scheme = if self.is_https { "https" } else { "http" };
        let folder = self.path.split('?').next()?.rsplit_once('/')?.0;
        let absolute = match location {
            _ if location.contains("://") => location.to_owned(),
            _ if location.starts_with("//") => format!("{scheme}:{location}"),
            _ if location.starts_with('/') => format!("{}{location}", self.origin()),
            _ => format!("{}{folder}/{location}", self.origin()),
        };
        Self::parse(&absolute)
    }

    /// Returns true if the scheme is https.
    pub fn is_https(&self) -> bool {
        self.is_https
    }

    /// Returns scheme, host and port, without the scheme's default port.
    pub fn origin(&self) -> String {
        let (scheme, port) = if self.is_https {
            ("https", ":443")
        } else {
            ("http", ":80")
        };
        let host = self.authority.strip_suffix(port).unwrap_or(&self.authority);
        format!("{scheme}://{host}")
    }

    /// Returns host and port, for messages.
    pub fn host(&self) -> &str {
        &self.authority
    }

    /// Returns the last part of the path.
    pub fn file_name(&self) -> &str {
        let path = self.path.split('?').next().unwrap_or_default();
        path.rsplit_once('/').map_or(path, |(_, name)| name)
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.origin(), self.path)
    }
}

/// Replaces the users and passwords of all URLs in `text` by asterisks.
pub fn redact(text: &str) -> String {
    let mut parts = text.split("://");
    let mut redacted = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|letter: char| letter == '/' || letter.is_whitespace());
        let authority = &part[..end.unwrap_or(part.len())];
        let host = authority.rfind('@').map(|offset| &part[offset..]);
        redacted.push_str("://");
        redacted.push_str(if host.is_some() { "****" } else { "" });
        redacted.push_str(host.unwrap_or(part));
    }
    redacted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_without_user_and_fragment() {
        let url = Url::parse("HTTPS://me:p%40s@Files.example:443/a/x.whl?y=1#sha256=00").unwrap();
        assert_eq!(url.to_string(), "https://files.example/a/x.whl?y=1");
        assert_eq!(url.origin(), "https://files.example");
        assert_eq!(url.file_name(), "x.whl");
        for text in [
            "ftp://x/y",
            "/x",
            "https:///x",
            "https://a b/",
            "https://x/\r\nHost: y",
        ] {
            assert_eq!(Url::parse(text), None, "{text}");
        }
    }

    #[test]
    fn resolves_redirects() {
        let url = Url::parse("https://a.example:8443/simple/x.whl?q=/z").unwrap();
        for (location, expected) in [
            ("https://u:p@b.example/y", "https://b.example/y"),
            ("http://b.example/y", "http://b.example/y"),
            ("//b.example/y", "https://b.example/y"),
            ("/y", "https://a.example:8443/y"),
            ("y", "https://a.example:8443/simple/y"),
        ] {
            assert_eq!(url.join(location).unwrap().to_string(), expected);
        }
        assert_eq!(url.join("file:///etc/passwd"), None);
    }

    #[test]
    fn redacts_users_of_all_urls() {
        for (text, expected) in [
            (
                "at https://me:secret@x.example/y now",
                "at https://****@x.example/y now",
            ),
            (
                "http://tok@x and https://a:b@c@y/z@q",
                "http://****@x and https://****@y/z@q",
            ),
            ("https://x.example/@scope", "https://x.example/@scope"),
        ] {
            assert_eq!(redact(text), expected);
        }
    }
}
