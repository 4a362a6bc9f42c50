//! Credentials for indexes that need them. pip omits them from its log, so they are read from the same sources as pip
//! reads them: the index URLs of its configuration, and netrc. Keyrings are not read.
//!
//! They are held in memory only, and sent only to the scheme, host and port that they are for.

use super::url::Url;
use sp_system::child::{End, OUTPUT_LIMIT, python_output};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

const SCRIPT: &str = include_str!("credentials.py");

/// The longest time of a lookup, which reads files only.
const LOOKUP_TIME: Duration = Duration::from_secs(60);

/// The value of an `Authorization` header. `Debug` does not print it.
#[derive(Clone, PartialEq, Eq)]
pub struct Authorization(String);

impl Authorization {
    /// Returns the header's value.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Authorization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Authorization(****)")
    }
}

/// A cache of credentials by origin.
#[derive(Debug, Default)]
pub struct Credentials {
    known: Mutex<BTreeMap<String, Option<Authorization>>>,
}

impl Credentials {
    /// Returns the header that pip would send to the origin of `url`, or `None` if pip has no credentials for it.
    pub fn find(&self, url: &Url) -> Option<Authorization> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.entry(url.origin()).or_insert_with(|| look_up(url));
        found.clone()
    }
}

/// Returns the credentials of pip, or `None` also if Python or pip cannot be run: the server's status is reported then.
fn look_up(url: &Url) -> Option<Authorization> {
    let arguments = ["-c", SCRIPT, &url.to_string()];
    let output = python_output(Path::new("python3"), &arguments, LOOKUP_TIME, OUTPUT_LIMIT);
    let output = output.ok()?;
    let value = output.stdout.trim().to_owned();
    let is_header =
        value.starts_with("Basic ") && value.bytes().all(|byte| (32..127).contains(&byte));
    (output.end == End::Exit(0) && is_header).then_some(Authorization(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_hides_the_value() {
        let secret = Authorization("Basic bWU6c2VjcmV0".into());
        assert_eq!(format!("{secret:?}"), "Authorization(****)");
    }
}
