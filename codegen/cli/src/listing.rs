//! `vendor/.sp-gen.json`: the sha256 of every file that sp-gen wrote under `vendor/`. `update` uses it to detect
//! files that the author changed.

use crate::embedded::embedded_release;
use serde::{Deserialize, Serialize};
use sp_ir::Release;
use sp_parse::source::is_safe_relative_path;
use sp_system::hash::sha256;
use std::collections::BTreeMap;

/// The path of the listing in the plugin's folder.
pub const PATH: &str = "vendor/.sp-gen.json";

/// Version of the format.
const SCHEMA: u32 = 1;

/// Adds the listing of `files` to `files`.
pub fn with_listing(mut files: Vec<(String, Vec<u8>)>) -> Vec<(String, Vec<u8>)> {
    let rows = files
        .iter()
        .map(|(path, bytes)| (path.as_str(), bytes.as_slice()));
    let listing = Listing::new(rows).to_json();
    files.push((PATH.to_owned(), listing.into_bytes()));
    files
}

/// The files that a version of sp-gen wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listing {
    schema: u32,
    /// The version of sp-gen.
    pub sp_gen: String,
    /// The release of the crates.
    pub release: String,
    /// sha256 by path in the plugin's folder.
    pub files: BTreeMap<String, String>,
}

impl Listing {
    /// Creates the listing of `files` for this version of sp-gen.
    pub fn new<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Self {
        let row = |(path, bytes): (&str, &[u8])| (path.to_owned(), sha256(bytes));
        Self {
            schema: SCHEMA,
            sp_gen: env!("CARGO_PKG_VERSION").to_owned(),
            release: embedded_release().to_owned(),
            files: files.into_iter().map(row).collect(),
        }
    }

    /// Parses a listing.
    ///
    /// # Errors
    /// Returns the reason if `text` is not a listing. A path outside of `vendor/` is an error, since `update` removes
    /// listed files.
    pub fn parse(text: &str) -> Result<Self, String> {
        let listing: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if listing.schema != SCHEMA {
            return Err(format!(
                "its schema is {}, expected {SCHEMA}",
                listing.schema
            ));
        }
        // `update` passes the release to `diff`, where it could name a file.
        if listing.release.parse::<Release>().is_err() {
            return Err(format!(
                "its release {:?} is none, expected MAJOR.MINOR, such as 2.21",
                listing.release
            ));
        }
        match listing.files.keys().find(|path| !is_vendored(path)) {
            Some(path) => Err(format!("{path:?} is not the path of a file under vendor/")),
            None => Ok(listing),
        }
    }

    /// Formats the listing as JSON.
    pub fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(self);
        format!("{}\n", text.expect("text and numbers only"))
    }

    /// Returns true if sp-gen wrote `bytes` to `path`.
    pub fn has(&self, path: &str, bytes: &[u8]) -> bool {
        self.files
            .get(path)
            .is_some_and(|hash| *hash == sha256(bytes))
    }
}

/// Returns true for the path of a file under `vendor/`, spelled as sp-gen does: another name of a vendored file, such as
/// `vendor//Cargo.toml`, is in no list of the files that are still needed.
fn is_vendored(path: &str) -> bool {
    path.starts_with("vendor/") && is_safe_relative_path(path) && path != PATH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_as_json() {
        let listing = Listing::new([("vendor/a/src/lib.rs", &b"fn a() {}\n"[..])]);
        assert_eq!(Listing::parse(&listing.to_json()), Ok(listing.clone()));
        assert!(listing.has("vendor/a/src/lib.rs", b"fn a() {}\n"));
        assert!(!listing.has("vendor/a/src/lib.rs", b"fn b() {}\n"));
    }

    #[test]
    fn rejects_release_that_is_a_path_or_an_option() {
        for release in [
            "/dev/zero",
            "../old.json",
            "--plugin=x",
            "",
            "2.21\u{1b}[2J",
        ] {
            let mut listing = Listing::new([]);
            listing.release = release.to_owned();
            let error = Listing::parse(&listing.to_json()).unwrap_err();
            assert!(error.starts_with("its release"), "{error}");
            assert!(!error.contains('\u{1b}'), "{error}");
        }
    }

    #[test]
    fn rejects_paths_outside_of_vendor_and_further_names() {
        for path in [
            "src/lib.rs",
            "vendor/../src/lib.rs",
            "/vendor/a",
            "vendor",
            "vendor/",
            "vendor//Cargo.toml",
            "vendor/./Cargo.toml",
            "./vendor/Cargo.toml",
            "vendor/a/",
            PATH,
        ] {
            let listing = Listing::new([(path, &b""[..])]);
            let error = Listing::parse(&listing.to_json()).unwrap_err();
            assert!(error.contains("under vendor/"), "{error}");
        }
        assert!(Listing::parse("{}").is_err());
    }
}
