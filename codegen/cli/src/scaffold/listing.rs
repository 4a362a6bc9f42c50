//! `vendor/.sp-gen.json`: the sha256 of every file that sp-gen wrote under `vendor/`. By it `update` tells
//! a file that the author changed from one that is as sp-gen wrote it.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Component, Path};

/// Its path in the plugin's folder.
pub const PATH: &str = "vendor/.sp-gen.json";

/// The version of the form.
const SCHEMA: u32 = 1;

/// Returns the vendored files and their listing.
pub fn with_listing(mut files: Vec<(String, Vec<u8>)>) -> Vec<(String, Vec<u8>)> {
    let rows = files
        .iter()
        .map(|(path, bytes)| (path.as_str(), bytes.as_slice()));
    let listing = Listing::new(rows).print();
    files.push((PATH.to_owned(), listing.into_bytes()));
    files
}

/// The files that an sp-gen wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listing {
    schema: u32,
    /// The version of that sp-gen.
    pub sp_gen: String,
    /// The release whose contract its crates have.
    pub release: String,
    /// Path in the plugin's folder to sha256.
    pub files: BTreeMap<String, String>,
}

impl Listing {
    /// Returns the listing of `files`, written by this sp-gen.
    pub fn new<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Self {
        let row = |(path, bytes): (&str, &[u8])| (path.to_owned(), sha256(bytes));
        Self {
            schema: SCHEMA,
            sp_gen: env!("CARGO_PKG_VERSION").to_owned(),
            release: super::carried_release().to_owned(),
            files: files.into_iter().map(row).collect(),
        }
    }

    /// Parses a listing.
    ///
    /// # Errors
    /// Returns why `text` is none. A path that leads out of `vendor/` is an error: `update` removes
    /// files by it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let listing: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if listing.schema != SCHEMA {
            return Err(format!(
                "its schema is {}, expected {SCHEMA}",
                listing.schema
            ));
        }
        match listing.files.keys().find(|path| !is_vendored(path)) {
            Some(path) => Err(format!("{path:?} is no file under vendor/")),
            None => Ok(listing),
        }
    }

    /// Returns the listing's text.
    pub fn print(&self) -> String {
        let text = serde_json::to_string_pretty(self);
        format!("{}\n", text.expect("text and numbers only"))
    }

    /// Returns true if `bytes` are what sp-gen wrote at `path`.
    pub fn has(&self, path: &str, bytes: &[u8]) -> bool {
        self.files.get(path).is_some_and(|it| *it == sha256(bytes))
    }
}

/// Returns true for a path of a file under `vendor/`, without `..` or a root.
fn is_vendored(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    let is_below = parts.next() == Some(Component::Normal("vendor".as_ref()));
    let is_plain = |part| matches!(part, Component::Normal(_));
    is_below && path != PATH && path.len() > "vendor/".len() && parts.all(is_plain)
}

fn sha256(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_what_it_prints() {
        let listing = Listing::new([("vendor/a/src/lib.rs", &b"fn a() {}\n"[..])]);
        assert_eq!(Listing::parse(&listing.print()), Ok(listing.clone()));
        assert!(listing.has("vendor/a/src/lib.rs", b"fn a() {}\n"));
        assert!(!listing.has("vendor/a/src/lib.rs", b"fn b() {}\n"));
    }

    #[test]
    fn rejects_paths_outside_of_vendor() {
        for path in [
            "src/lib.rs",
            "vendor/../src/lib.rs",
            "/vendor/a",
            "vendor",
            PATH,
        ] {
            let listing = Listing::new([(path, &b""[..])]);
            let error = Listing::parse(&listing.print()).unwrap_err();
            assert!(error.contains("under vendor/"), "{error}");
        }
        assert!(Listing::parse("{}").is_err());
    }
}
