//! The TensorFlow release that the host emulates: its APIs and the exports of its libraries.
//!
//! Invariant: all APIs are of one release.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use sp_ir::{Api, Constant, Item, Value};

use crate::Error;
use crate::quirks::Quirks;

/// Functions with the SONAMEs of the libraries that export them, in one wheel of the release.
pub type ReleaseExports = BTreeMap<String, BTreeSet<String>>;

/// The APIs that the host uses.
pub const EMULATED_APIS: [&str; 12] = [
    "c_api",
    "grappler",
    "kernels",
    "kernels_experimental",
    "ops",
    "pluggable_profiler",
    "stream_executor",
    "tf_buffer",
    "tf_datatype",
    "tf_status",
    "tf_tensor",
    "tf_tstring",
];

/// One release that the host emulates.
///
/// Without [`ReleaseExports`] each of its libraries exports every function that the APIs declare. With them each
/// exports the functions that it has in the wheel.
#[derive(Debug, Clone, Copy)]
pub struct EmulatedRelease<'a> {
    apis: &'a [Api],
    exports: Option<&'a ReleaseExports>,
    assumed: Option<&'a BTreeSet<String>>,
    installation: Option<Installation<'a>>,
}

/// A folder with the host's libraries, with the headers in `include/` below it, as a wheel's
/// `tensorflow/` does.
#[derive(Debug, Clone, Copy)]
pub struct Installation<'a> {
    /// The folder. It outlives the process.
    pub folder: &'a Path,
    /// True if the framework's library contains the messages about required fields.
    pub has_messages: bool,
}

impl<'a, T: AsRef<[Api]> + ?Sized> From<&'a T> for EmulatedRelease<'a> {
    fn from(apis: &'a T) -> Self {
        Self {
            apis: apis.as_ref(),
            exports: None,
            assumed: None,
            installation: None,
        }
    }
}

impl<'a> EmulatedRelease<'a> {
    /// Returns the release of `apis`.
    pub fn new(apis: &'a [Api]) -> Self {
        apis.into()
    }

    /// Sets the exports of the libraries.
    pub fn with_exports(self, exports: &'a ReleaseExports) -> Self {
        let exports = Some(exports);
        Self { exports, ..self }
    }

    /// Adds the C++ `symbols` to the exports of all libraries. A plugin that imports one loads, and its process
    /// ends when it calls one.
    pub fn with_assumed_symbols(self, symbols: &'a BTreeSet<String>) -> Self {
        let assumed = Some(symbols);
        Self { assumed, ..self }
    }

    /// Puts the libraries into `installation` instead of a temporary folder.
    pub fn with_installation(self, installation: Installation<'a>) -> Self {
        Self {
            installation: Some(installation),
            ..self
        }
    }

    pub(crate) fn installation(&self) -> Option<Installation<'a>> {
        self.installation
    }

    /// Returns the name, such as `2.21`, or an empty string without APIs.
    pub fn name(&self) -> &'a str {
        self.apis.first().map_or("", |api| api.release.as_str())
    }

    /// Returns what `TF_Version()` returns in this release: `2.21.0`, `2.22.0-rc0`.
    pub(crate) fn version(&self) -> String {
        let preview = self.apis.first().and_then(|api| api.preview.as_ref());
        let exact = preview.and_then(|exact| exact.parse::<sp_ir::Release>().ok());
        exact.map_or_else(
            || format!("{}.0", self.name()),
            sp_ir::Release::host_version,
        )
    }

    pub(crate) fn apis(&self) -> &'a [Api] {
        self.apis
    }

    pub(crate) fn exports(&self) -> Option<&'a ReleaseExports> {
        self.exports
    }

    pub(crate) fn assumed(&self) -> impl Iterator<Item = &'a String> {
        self.assumed.into_iter().flatten()
    }

    /// Returns the 21 of `2.21`, or the highest number for a name of another form.
    pub(crate) fn minor(&self) -> u32 {
        let minor = self.name().split('.').nth(1);
        minor
            .and_then(|minor| minor.parse().ok())
            .unwrap_or(u32::MAX)
    }

    pub(crate) fn quirks(&self) -> Quirks {
        Quirks::new(self.minor())
    }

    /// Returns true if the release has the API `name`.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.apis.iter().any(|api| api.name == name)
    }

    fn item(&self, name: &str) -> Option<&'a Item> {
        self.apis.iter().find_map(|api| api.items.get(name))
    }

    /// Returns the value of a macro such as `SE_MAJOR`, or 0 if the release does not have it.
    pub(crate) fn number(&self, name: &str) -> u64 {
        match self.item(name) {
            Some(Item::Constant(Constant {
                value: Value::Int(value),
                ..
            })) => *value as u64,
            _ => 0,
        }
    }

    /// Checks that there are APIs, all of one release.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let releases: BTreeSet<&str> = self.apis.iter().map(|api| api.release.as_str()).collect();
        match releases.len() {
            1 => Ok(()),
            0 => Err(Error::Load("no API was passed to sp-host".into())),
            _ => Err(Error::Load(format!(
                "the APIs passed to sp-host are of several releases: {releases:?}"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn api(release: &str) -> Api {
        Api::new("demo", release, sp_ir::Items::new())
    }

    #[test]
    fn rejects_apis_of_two_releases() {
        let apis = [api("2.12"), api("2.21")];
        let error = EmulatedRelease::new(&apis).check().unwrap_err();
        assert!(error.to_string().contains("several releases"), "{error}");
        assert!(EmulatedRelease::new(&[]).check().is_err());
    }

    #[test]
    fn version_is_spelled_as_by_tf_version() {
        let mut apis = [api("2.22")];
        assert_eq!(EmulatedRelease::new(&apis).version(), "2.22.0");
        apis[0].preview = Some("2.22.0rc0".into());
        assert_eq!(EmulatedRelease::new(&apis).version(), "2.22.0-rc0");
    }

    #[test]
    fn parses_minor_release() {
        assert_eq!(EmulatedRelease::from(&[api("2.9")]).minor(), 9);
        assert_eq!(EmulatedRelease::from(&[api("2.21")]).minor(), 21);
        assert_eq!(EmulatedRelease::new(&[]).minor(), u32::MAX);
    }
}
