//! Credentials for indexes that need them. pip leaves them out of its log, so they are looked up where pip
//! has them from: the index URLs of its configuration, and netrc. Keyrings are not read.
//!
//! They are only held in memory, and only sent to the scheme, host and port that they belong to.

use super::url::Url;
use sp_system::python;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

const SCRIPT: &str = include_str!("credentials.py");

/// The value of an `Authorization` header, which is not printed.
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

/// The credentials that were looked up, by origin.
#[derive(Debug, Default)]
pub struct Credentials {
    known: Mutex<BTreeMap<String, Option<Authorization>>>,
}

impl Credentials {
    /// Returns what pip would send to the origin of `url`, or `None` if it has no credentials for it.
    pub fn find(&self, url: &Url) -> Option<Authorization> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.entry(url.origin()).or_insert_with(|| look_up(url));
        found.clone()
    }
}

/// Without a usable Python or pip there are no credentials; the server's answer is the error then.
fn look_up(url: &Url) -> Option<Authorization> {
    let output = python::run(Path::new("python3"), &["-c", SCRIPT, &url.to_string()]).ok()?;
    let value = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    let is_header =
        value.starts_with("Basic ") && value.bytes().all(|byte| (32..127).contains(&byte));
    (output.status.success() && is_header).then_some(Authorization(value))
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
