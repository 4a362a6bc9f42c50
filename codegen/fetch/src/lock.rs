//! `headers/sources.toml`: which package each release was read from, and the sha256 of every
//! header. Sorted by release and name, so that equal locks are equal bytes.

use super::error::FetchError;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use sp_data::release::Release;
use sp_parse::api_headers::Headers;
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// The lock of the checkout that this binary was built from.
const EMBEDDED: &str = include_str!("../../../headers/sources.toml");

/// The embedded lock's name in messages.
const BUILT_IN: &str = "the lock that is built into sp-gen";

const HEADING: &str = "\
# What `sp-gen import` took from each release of TensorFlow: the package, the sha256 of every header, and why
# other headers that look like C API were left out.
# Written by `sp-gen import`; `--locked` refuses a release that is not here.

";

/// Every locked release.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    /// By exact patch.
    #[serde(default)]
    pub release: BTreeMap<Release, Locked>,
}

/// One locked release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Locked {
    /// `tensorflow-cpu`
    pub package: String,
    /// The exact version, as the package says it.
    pub version: String,
    /// `cp311`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub python: Option<String>,
    /// `manylinux_2_27_x86_64`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// Header to sha256.
    pub headers: BTreeMap<String, String>,
    /// Headers that look like C API and are not, with what speaks against each.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub left_out: BTreeMap<String, String>,
}

impl Lock {
    /// Reads the lock in a file, which need not exist; with `inherits`, over the one in the binary.
    ///
    /// # Errors
    /// Returns an error if the file exists and cannot be read, or is not a lock.
    pub fn read(path: &Path, inherits: bool) -> Result<Self, FetchError> {
        let mut lock = Self::parse(&text_of(path)?, &path.display().to_string())?;
        if inherits {
            let base = Self::parse(EMBEDDED, BUILT_IN)?;
            for (release, locked) in base.release {
                lock.release.entry(release).or_insert(locked);
            }
        }
        Ok(lock)
    }

    /// Reads one release of what [`Lock::read`] reads, without the time for the others.
    ///
    /// # Errors
    /// Returns an error if the file exists and cannot be read, or the release's part of it is malformed.
    pub fn read_one(
        path: &Path,
        inherits: bool,
        release: Release,
    ) -> Result<Option<Locked>, FetchError> {
        let parse = |text: &str, name: &str| {
            let lock = Self::parse(&part(text, release), name)?;
            Ok(lock.release.into_values().next())
        };
        match parse(&text_of(path)?, &path.display().to_string())? {
            None if inherits => parse(EMBEDDED, BUILT_IN),
            found => Ok(found),
        }
    }

    /// Returns where the entry of `release` is, for messages: `path`, or the lock in the binary.
    pub fn holder(path: &Path, release: Release) -> String {
        match Self::read_one(path, false, release) {
            Ok(None) => BUILT_IN.to_owned(),
            _ => path.display().to_string(),
        }
    }

    /// Reads a lock's text; `name` is for messages.
    pub fn parse(text: &str, name: &str) -> Result<Self, FetchError> {
        toml::from_str(text).map_err(|error| FetchError::LockMalformed {
            lock: name.to_owned(),
            detail: error.to_string(),
        })
    }

    /// Returns the newest locked version that `release` stands for.
    pub fn resolve(&self, release: Release) -> Option<Release> {
        release.newest_match(self.release.keys().copied())
    }

    /// Adds a version. A final release takes the place of the pre-releases of its minor release, and a
    /// pre-release that of earlier ones.
    ///
    /// # Errors
    /// Returns an error for a pre-release if a final or newer version of its minor release is locked; `path`
    /// is the lock's, for the message.
    pub fn add(&mut self, release: Release, locked: Locked, path: &Path) -> Result<(), FetchError> {
        let same_minor = |one: &Release| one.minor() == release.minor();
        let known = self.release.keys().copied().filter(same_minor);
        let newest = known.max_by_key(|one| (one.is_final(), *one));
        let wins = |newest: &Release| newest.is_final() || *newest > release;
        if let Some(newest) = newest.filter(|newest| !release.is_final() && wins(newest)) {
            return Err(FetchError::ReleaseSuperseded {
                release,
                newest,
                lock: Self::holder(path, newest),
            });
        }
        self.release
            .retain(|one, _| one.is_final() || !same_minor(one));
        self.release.insert(release, locked);
        Ok(())
    }

    /// The file's text.
    pub fn text(&self) -> String {
        let body = toml::to_string_pretty(self).expect("a map of strings always serializes");
        format!("{HEADING}{body}")
    }
}

impl Locked {
    /// Checks that headers with these hashes are the locked ones, none more and none less.
    ///
    /// # Errors
    /// Returns an error that names the first header that differs, and the lock in the file `path`.
    pub fn check(
        &self,
        release: Release,
        found: &BTreeMap<String, String>,
        path: &Path,
    ) -> Result<(), FetchError> {
        let names = self.headers.keys().chain(found.keys());
        let differs = |name: &&String| self.headers.get(*name) != found.get(*name);
        let Some(header) = names.into_iter().find(differs) else {
            return Ok(());
        };
        let shown = |hashes: &BTreeMap<String, String>| {
            hashes
                .get(header)
                .cloned()
                .unwrap_or_else(|| "absent".into())
        };
        Err(FetchError::HashDiffers {
            header: header.clone(),
            release,
            locked: shown(&self.headers),
            found: shown(found),
            lock: Lock::holder(path, release),
        })
    }
}

/// Returns the text of a lock, which is empty if there is no file.
fn text_of(path: &Path) -> Result<String, FetchError> {
    let unreadable = |detail: String| FetchError::LockUnreadable {
        lock: path.display().to_string(),
        detail,
    };
    match fs::read(path) {
        Ok(bytes) => String::from_utf8(bytes).map_err(|error| unreadable(error.to_string())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(unreadable(error.to_string())),
    }
}

/// The tables of one release, from their headings to the next release's.
fn part(text: &str, release: Release) -> String {
    let of_it = format!("[release.\"{release}\"");
    let mut inside = false;
    let lines = text.lines().filter(|line| {
        if line.starts_with('[') {
            inside = line.starts_with(&of_it);
        }
        inside
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Header to sha256, in hexadecimal.
pub fn hashes(headers: &Headers) -> BTreeMap<String, String> {
    let hash = |bytes: &[u8]| {
        Sha256::digest(bytes)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    };
    headers
        .iter()
        .map(|(name, bytes)| (name.clone(), hash(bytes)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers() -> Headers {
        Headers::from([("tensorflow/c/ops.h".to_owned(), b"abc".to_vec())])
    }

    fn locked() -> Locked {
        Locked {
            package: "tensorflow-cpu".into(),
            version: "2.21.0".into(),
            python: Some("cp311".into()),
            platform: None,
            headers: hashes(&headers()),
            left_out: BTreeMap::new(),
        }
    }

    fn nowhere() -> &'static Path {
        Path::new("no such lock")
    }

    fn lock(releases: &[&str]) -> Lock {
        let release = releases
            .iter()
            .map(|name| (name.parse().unwrap(), locked()))
            .collect();
        Lock { release }
    }

    #[test]
    fn one_release_is_read_as_with_the_others() {
        let lock = Lock::parse(EMBEDDED, "lock").unwrap();
        for (release, locked) in &lock.release {
            let one = Lock::read_one(nowhere(), true, *release).unwrap();
            assert_eq!(one.as_ref(), Some(locked), "{release}");
        }
        let unlocked = "2.3.1".parse().unwrap();
        assert_eq!(Lock::read_one(nowhere(), true, unlocked).unwrap(), None);
    }

    #[test]
    fn reads_what_it_writes_in_the_order_of_releases() {
        let written = lock(&["2.21.0", "2.9.3", "2.12.1"]).text();
        assert_eq!(Lock::parse(&written, "x").unwrap().text(), written);
        let at = |name: &str| written.find(&format!("[release.\"{name}\"]")).unwrap();
        assert!(at("2.9.3") < at("2.12.1") && at("2.12.1") < at("2.21.0"));
    }

    #[test]
    fn a_minor_is_its_newest_locked_patch() {
        let lock = lock(&["2.5.0", "2.5.3", "2.50.0"]);
        assert_eq!(lock.resolve("2.5".parse().unwrap()), "2.5.3".parse().ok());
        assert_eq!(lock.resolve("2.5.0".parse().unwrap()), "2.5.0".parse().ok());
        assert_eq!(lock.resolve("2.6".parse().unwrap()), None);
    }

    #[test]
    fn final_release_replaces_locked_candidates() {
        let mut lock = lock(&["2.21.0", "2.22.0rc0"]);
        let release = |text: &str| text.parse::<Release>().unwrap();
        assert_eq!(lock.resolve(release("2.22")), Some(release("2.22.0rc0")));
        lock.add(release("2.22.0rc1"), locked(), nowhere()).unwrap();
        lock.add(release("2.22.0"), locked(), nowhere()).unwrap();
        let left: Vec<String> = lock.release.keys().map(Release::to_string).collect();
        assert_eq!(left, ["2.21.0", "2.22.0"]);
    }

    #[test]
    fn rejects_candidate_if_its_final_release_is_locked() {
        let mut lock = lock(&["2.22.0"]);
        let before = lock.clone();
        let late = lock.add("2.22.0rc1".parse().unwrap(), locked(), nowhere());
        let error = late.unwrap_err().to_string();
        assert_eq!(
            error,
            "TensorFlow 2.22.0rc1 cannot be imported: 2.22.0 is imported already"
        );
        assert_eq!(lock, before);
    }

    #[test]
    fn a_changed_header_is_shown_with_both_hashes() {
        let mut changed = headers();
        changed.insert("tensorflow/c/ops.h".into(), b"abd".to_vec());
        let error = locked()
            .check("2.21.0".parse().unwrap(), &hashes(&changed), nowhere())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            "{error}"
        );
        assert!(
            error.contains("a52d159f262b2c6ddb724a61840befc36eb30c88877a4030b65cbe86298449c9"),
            "{error}"
        );
        assert!(
            locked()
                .check("2.21.0".parse().unwrap(), &hashes(&headers()), nowhere())
                .is_ok()
        );
    }

    #[test]
    fn a_header_more_or_less_differs_too() {
        let release = "2.21.0".parse().unwrap();
        let mut more = headers();
        more.insert("tensorflow/c/new.h".into(), Vec::new());
        assert!(
            locked()
                .check(release, &hashes(&more), nowhere())
                .unwrap_err()
                .to_string()
                .contains("locked absent")
        );
        assert!(
            locked()
                .check(release, &BTreeMap::new(), nowhere())
                .unwrap_err()
                .to_string()
                .contains("found  absent")
        );
    }

    #[test]
    fn outside_a_checkout_the_lock_adds_to_the_built_in_one() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("sources.toml");
        let alone = lock(&["2.3.0"]);
        fs::write(&path, alone.text()).unwrap();
        assert_eq!(Lock::read(&path, false).unwrap(), alone);
        let both = Lock::read(&path, true).unwrap();
        assert!(
            both.resolve("2.21".parse().unwrap()).is_some()
                && both.resolve("2.3".parse().unwrap()).is_some()
        );
        fs::write(&path, "[release.x]").unwrap();
        assert!(matches!(
            Lock::read(&path, true),
            Err(FetchError::LockMalformed { .. })
        ));
    }

    #[test]
    fn rejects_a_lock_that_is_not_text_or_not_a_file() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("sources.toml");
        let release = "2.21.0".parse().unwrap();
        let assert_unreadable = || {
            for found in [
                Lock::read(&path, true).map(drop),
                Lock::read_one(&path, true, release).map(drop),
            ] {
                let error = found.unwrap_err();
                assert!(
                    matches!(error, FetchError::LockUnreadable { .. }),
                    "{error}"
                );
                assert!(error.to_string().contains("sources.toml"), "{error}");
            }
        };
        fs::write(&path, b"# \xff\n").unwrap();
        assert_unreadable();
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert_unreadable();
    }

    #[test]
    fn names_the_lock_that_has_the_entry() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("sources.toml");
        fs::write(&path, lock(&["2.3.0"]).text()).unwrap();
        let holder = |release: &str| Lock::holder(&path, release.parse().unwrap());
        assert_eq!(holder("2.3.0"), path.display().to_string());
        assert_eq!(holder("2.21.0"), BUILT_IN);
    }

    #[test]
    fn the_committed_lock_is_as_import_writes_it() {
        assert_eq!(Lock::parse(EMBEDDED, "embedded").unwrap().text(), EMBEDDED);
    }
}
