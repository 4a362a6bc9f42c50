//! The TensorFlow release that the host plays: its APIs, and which of its libraries export what.
//!
//! Invariant: all APIs are of one release.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use sp_ir::{Api, Constant, Item, Value};

use crate::Error;
use crate::quirks::Quirks;

/// Function to the libraries that export it, by their SONAMEs, in one wheel of the release.
pub type Exports = BTreeMap<String, BTreeSet<String>>;

/// The APIs that the host plays; others of a release it has no use for.
pub const PLAYED: [&str; 12] = [
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

/// One release, as it is handed to the host.
///
/// Without [`Exports`] each of its libraries exports every function that the APIs declare; with them,
/// each what it has in the wheel, and a function that none has is not to be found.
#[derive(Debug, Clone, Copy)]
pub struct Release<'a> {
    apis: &'a [Api],
    exports: Option<&'a Exports>,
    assumed: Option<&'a BTreeSet<String>>,
    installation: Option<Installation<'a>>,
}

/// A folder that holds the host's libraries, with the headers in `include/` below it, as a wheel's
/// `tensorflow/` does.
#[derive(Debug, Clone, Copy)]
pub struct Installation<'a> {
    /// The folder. It outlives the process.
    pub folder: &'a Path,
    /// True if the framework's library holds the messages about required fields.
    pub has_messages: bool,
}

impl<'a, T: AsRef<[Api]> + ?Sized> From<&'a T> for Release<'a> {
    fn from(apis: &'a T) -> Self {
        Self {
            apis: apis.as_ref(),
            exports: None,
            assumed: None,
            installation: None,
        }
    }
}

impl<'a> Release<'a> {
    /// The release of `apis`.
    pub fn new(apis: &'a [Api]) -> Self {
        apis.into()
    }

    /// The same, with libraries that export `exports` and nothing else.
    pub fn exporting(self, exports: &'a Exports) -> Self {
        let exports = Some(exports);
        Self { exports, ..self }
    }

    /// The same, with libraries that also export `symbols` of C++: a plugin that wants them loads, and its
    /// process ends where it calls one.
    pub fn assuming(self, symbols: &'a BTreeSet<String>) -> Self {
        let assumed = Some(symbols);
        Self { assumed, ..self }
    }

    /// The same, with its libraries in `installation` instead of a temporary folder.
    pub fn installed(self, installation: Installation<'a>) -> Self {
        Self {
            installation: Some(installation),
            ..self
        }
    }

    pub(crate) fn installation(&self) -> Option<Installation<'a>> {
        self.installation
    }

    /// `2.21`; empty where no API was handed in.
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

    pub(crate) fn exports(&self) -> Option<&'a Exports> {
        self.exports
    }

    pub(crate) fn assumed(&self) -> impl Iterator<Item = &'a String> {
        self.assumed.into_iter().flatten()
    }

    /// The 21 of `2.21`; the newest imaginable where the name is of another form.
    pub(crate) fn minor(&self) -> u32 {
        let minor = self.name().split('.').nth(1);
        minor
            .and_then(|minor| minor.parse().ok())
            .unwrap_or(u32::MAX)
    }

    pub(crate) fn quirks(&self) -> Quirks {
        Quirks::new(self.minor())
    }

    /// Whether the release has the API called `name`.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.apis.iter().any(|api| api.name == name)
    }

    fn item(&self, name: &str) -> Option<&'a Item> {
        self.apis.iter().find_map(|api| api.items.get(name))
    }

    /// The number behind a macro such as `SE_MAJOR`; 0 where the release has none.
    pub(crate) fn number(&self, name: &str) -> u64 {
        match self.item(name) {
            Some(Item::Constant(Constant {
                value: Value::Int(value),
                ..
            })) => *value as u64,
            _ => 0,
        }
    }

    /// Says no to APIs of several releases, and to none.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let releases: BTreeSet<&str> = self.apis.iter().map(|api| api.release.as_str()).collect();
        match releases.len() {
            1 => Ok(()),
            0 => Err(Error::Load("no API was handed to the host".into())),
            _ => Err(Error::Load(format!(
                "the APIs are of several releases: {releases:?}"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn api(release: &str) -> Api {
        let text = format!(
            r#"{{"schema": {}, "name": "demo", "release": "{release}", "items": {{}}}}"#,
            sp_ir::SCHEMA
        );
        Api::from_json(&text).unwrap()
    }

    #[test]
    fn apis_of_two_releases_are_refused() {
        let apis = [api("2.12"), api("2.21")];
        let error = Release::new(&apis).check().unwrap_err();
        assert!(error.to_string().contains("several releases"), "{error}");
        assert!(Release::new(&[]).check().is_err());
    }

    #[test]
    fn version_is_what_tf_version_returns() {
        let mut apis = [api("2.22")];
        assert_eq!(Release::new(&apis).version(), "2.22.0");
        apis[0].preview = Some("2.22.0rc0".into());
        assert_eq!(Release::new(&apis).version(), "2.22.0-rc0");
    }

    #[test]
    fn the_minor_is_a_number() {
        assert_eq!(Release::from(&[api("2.9")]).minor(), 9);
        assert_eq!(Release::from(&[api("2.21")]).minor(), 21);
        assert_eq!(Release::new(&[]).minor(), u32::MAX);
    }
}
