//! The lock, `headers/sources.toml`: the package that each release was read from and the sha256 of every header.
//! Sorted by release and name, so that equal locks are equal bytes.

use super::error::FetchError;
use serde::{Deserialize, Serialize};
use sp_data::release::Release;
use sp_parse::api_headers::Headers;
use sp_parse::source::is_safe_relative_path;
use sp_system::hash::sha256;
use sp_system::input::{self, MAX_LOCK_BYTES};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

/// The lock of the checkout that this binary was built from.
const EMBEDDED: &str = include_str!("../../../headers/sources.toml");

/// The embedded lock's name in messages.
const EMBEDDED_NAME: &str = "the lock embedded in sp-gen";

const HEADING: &str = "\
# Written by `sp-gen import`. For each release of TensorFlow: the package, the sha256 of every imported header, and
# the reason why a header that may be C API was not imported.
# `sp-gen import --locked` rejects a release that is not here.

";

/// All locked releases.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    /// By exact version.
    #[serde(default, rename = "release")]
    pub releases: BTreeMap<Release, LockedRelease>,
}

/// The entry of one release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedRelease {
    /// The package, such as `tensorflow-cpu`.
    pub package: String,
    /// The exact version, as the package states it.
    pub version: String,
    /// The Python tag, such as `cp311`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub python: Option<String>,
    /// The platform tag, such as `manylinux_2_27_x86_64`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// sha256 by header.
    pub headers: BTreeMap<String, String>,
    /// Headers that may be C API and were not imported, with the reason for each.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub left_out: BTreeMap<String, String>,
}

impl Lock {
    /// Reads the lock file at `path`, which need not exist. With `inherits`, adds the releases of the embedded lock
    /// that the file does not have.
    ///
    /// # Errors
    /// Returns an error if the file exists and cannot be read, or is not a lock.
    pub fn read(path: &Path, inherits: bool) -> Result<Self, FetchError> {
        let mut lock = Self::parse(&read_text(path)?, &path.display().to_string())?;
        if inherits {
            let base = Self::parse(EMBEDDED, EMBEDDED_NAME)?;
            for (release, locked) in base.releases {
                lock.releases.entry(release).or_insert(locked);
            }
        }
        Ok(lock)
    }

    /// Returns the entry of one release in the lock of [`Lock::read`], without parsing the others.
    ///
    /// # Errors
    /// Returns an error if the file exists and cannot be read, or the release's part of it is malformed.
    pub fn read_release(
        path: &Path,
        inherits: bool,
        release: Release,
    ) -> Result<Option<LockedRelease>, FetchError> {
        let parse = |text: &str, name: &str| {
            let lock = Self::parse(&release_tables(text, release), name)?;
            Ok(lock.releases.into_values().next())
        };
        match parse(&read_text(path)?, &path.display().to_string())? {
            None if inherits => parse(EMBEDDED, EMBEDDED_NAME),
            found => Ok(found),
        }
    }

    /// Returns the name of the lock that has `release`, for messages: `path` or the embedded lock.
    pub fn describe_location(path: &Path, release: Release) -> String {
        match Self::read_release(path, false, release) {
            Ok(None) => EMBEDDED_NAME.to_owned(),
            _ => path.display().to_string(),
        }
    }

    /// Parses a lock's text; `name` is for messages.
    ///
    /// # Errors
    /// Returns an error if the text is not a lock, or if a header's path is outside of its release.
    pub fn parse(text: &str, name: &str) -> Result<Self, FetchError> {
        let malformed = |detail| FetchError::LockMalformed {
            lock: name.to_owned(),
            detail,
        };
        let lock: Self = toml::from_str(text).map_err(|error| malformed(error.to_string()))?;
        let mut headers = (lock.releases.values()).flat_map(|locked| locked.headers.keys());
        match headers.find(|header| !is_safe_relative_path(header)) {
            Some(header) => Err(malformed(format!(
                "{header:?} is not the path of a header below an include root"
            ))),
            None => Ok(lock),
        }
    }

    /// Returns true if `text` is what [`Lock::to_toml`] returns for the lock in it, but for lines that are absent: a user
    /// may remove a release, and with it more or fewer empty lines. A comment or a further key would be lost.
    pub fn is_printed(text: &str) -> bool {
        let Ok(lock) = Self::parse(text, "") else {
            return false;
        };
        let printed = lock.to_toml();
        let mut printed = printed.lines();
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        lines.all(|line| printed.any(|it| it == line))
    }

    /// Returns the newest locked version of `release`.
    pub fn resolve(&self, release: Release) -> Option<Release> {
        release.newest_match(self.releases.keys().copied())
    }

    /// Adds a version. A final release replaces the pre-releases of its minor release, and a pre-release
    /// replaces earlier ones.
    ///
    /// # Errors
    /// Returns an error for a pre-release if a final or newer version of its minor release is locked. `path` is
    /// the lock file, for the message.
    pub fn add(
        &mut self,
        release: Release,
        locked: LockedRelease,
        path: &Path,
    ) -> Result<(), FetchError> {
        let is_same_minor = |other: &Release| other.minor() == release.minor();
        let known = self.releases.keys().copied().filter(is_same_minor);
        let newest = known.max_by_key(|version| (version.is_final(), *version));
        let supersedes = |newest: &Release| newest.is_final() || *newest > release;
        if let Some(newest) = newest.filter(|newest| !release.is_final() && supersedes(newest)) {
            return Err(FetchError::ReleaseSuperseded {
                release,
                newest,
                lock: Self::describe_location(path, newest),
            });
        }
        self.releases
            .retain(|version, _| version.is_final() || !is_same_minor(version));
        self.releases.insert(release, locked);
        Ok(())
    }

    /// Returns the text of the lock file.
    pub fn to_toml(&self) -> String {
        let body = toml::to_string_pretty(self).expect("a map of strings always serializes");
        format!("{HEADING}{body}")
    }
}

impl LockedRelease {
    /// Checks that `found`, sha256 by header, has the same headers and hashes as the lock.
    ///
    /// # Errors
    /// Returns an error that names the first header that differs and the lock, whose file is `path`.
    pub fn check_hashes(
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
        let hash = |hashes: &BTreeMap<String, String>| {
            hashes
                .get(header)
                .cloned()
                .unwrap_or_else(|| "absent".into())
        };
        Err(FetchError::HeaderHashMismatch {
            header: header.clone(),
            release,
            locked: hash(&self.headers),
            found: hash(found),
            lock: Lock::describe_location(path, release),
        })
    }
}

/// Returns the text of a lock file, which is empty if there is no file.
fn read_text(path: &Path) -> Result<String, FetchError> {
    let unreadable = |detail: String| FetchError::LockUnreadable {
        lock: path.display().to_string(),
        detail,
    };
    match input::read_toml(path, MAX_LOCK_BYTES) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(unreadable(error.to_string())),
    }
}

/// Returns the TOML tables of one release.
fn release_tables(text: &str, release: Release) -> String {
    let heading = format!("[release.\"{release}\"");
    let mut inside = false;
    let lines = text.lines().filter(|line| {
        if line.starts_with('[') {
            inside = line.starts_with(&heading);
        }
        inside
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the sha256 of each header in hexadecimal.
pub fn header_hashes(headers: &Headers) -> BTreeMap<String, String> {
    let hash = |(name, bytes): (&String, &Vec<u8>)| (name.clone(), sha256(bytes));
    headers.iter().map(hash).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn headers() -> Headers {
        Headers::from([("tensorflow/c/ops.h".to_owned(), b"abc".to_vec())])
    }

    fn locked() -> LockedRelease {
        LockedRelease {
            package: "tensorflow-cpu".into(),
            version: "2.21.0".into(),
            python: Some("cp311".into()),
            platform: None,
            headers: header_hashes(&headers()),
            left_out: BTreeMap::new(),
        }
    }

    #[test]
    fn rejects_file_above_the_limit_of_a_lock() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), " ".repeat(MAX_LOCK_BYTES as usize)).unwrap();
        assert!(Lock::read(file.path(), false).is_ok());
        fs::write(file.path(), " ".repeat(MAX_LOCK_BYTES as usize + 1)).unwrap();
        let error = Lock::read(file.path(), false).unwrap_err().to_string();
        assert!(error.contains("more than 8 MiB"), "{error}");
    }

    fn absent_path() -> &'static Path {
        Path::new("no such lock")
    }

    fn lock(releases: &[&str]) -> Lock {
        let releases = releases
            .iter()
            .map(|name| (name.parse().unwrap(), locked()))
            .collect();
        Lock { releases }
    }

    #[test]
    fn read_release_agrees_with_whole_lock() {
        let lock = Lock::parse(EMBEDDED, "lock").unwrap();
        for (release, locked) in &lock.releases {
            let entry = Lock::read_release(absent_path(), true, *release).unwrap();
            assert_eq!(entry.as_ref(), Some(locked), "{release}");
        }
        let unlocked = "2.3.1".parse().unwrap();
        assert_eq!(
            Lock::read_release(absent_path(), true, unlocked).unwrap(),
            None
        );
    }

    #[test]
    fn round_trips_in_order_of_releases() {
        let written = lock(&["2.21.0", "2.9.3", "2.12.1"]).to_toml();
        assert_eq!(Lock::parse(&written, "x").unwrap().to_toml(), written);
        let position = |name: &str| written.find(&format!("[release.\"{name}\"]")).unwrap();
        assert!(position("2.9.3") < position("2.12.1") && position("2.12.1") < position("2.21.0"));
    }

    #[test]
    fn resolves_minor_release_to_newest_patch() {
        let lock = lock(&["2.5.0", "2.5.3", "2.50.0"]);
        assert_eq!(lock.resolve("2.5".parse().unwrap()), "2.5.3".parse().ok());
        assert_eq!(lock.resolve("2.5.0".parse().unwrap()), "2.5.0".parse().ok());
        assert_eq!(lock.resolve("2.6".parse().unwrap()), None);
    }

    #[test]
    fn final_release_replaces_locked_pre_releases() {
        let mut lock = lock(&["2.21.0", "2.22.0rc0"]);
        let release = |text: &str| text.parse::<Release>().unwrap();
        assert_eq!(lock.resolve(release("2.22")), Some(release("2.22.0rc0")));
        for added in ["2.22.0rc1", "2.22.0"] {
            let result = lock.add(release(added), locked(), absent_path());
            result.unwrap();
        }
        let remaining: Vec<String> = lock.releases.keys().map(Release::to_string).collect();
        assert_eq!(remaining, ["2.21.0", "2.22.0"]);
    }

    #[test]
    fn rejects_pre_release_of_locked_release() {
        let mut lock = lock(&["2.22.0"]);
        let before = lock.clone();
        let result = lock.add("2.22.0rc1".parse().unwrap(), locked(), absent_path());
        let error = result.unwrap_err().to_string();
        let expected = "TensorFlow 2.22.0rc1 cannot be imported: 2.22.0 is imported already";
        assert_eq!(error, expected);
        assert_eq!(lock, before);
    }

    fn check_hashes(found: &BTreeMap<String, Vec<u8>>) -> Result<(), FetchError> {
        let release = "2.21.0".parse().unwrap();
        locked().check_hashes(release, &header_hashes(found), absent_path())
    }

    #[test]
    fn mismatch_shows_both_hashes() {
        let mut changed = headers();
        changed.insert("tensorflow/c/ops.h".into(), b"abd".to_vec());
        let error = check_hashes(&changed).unwrap_err().to_string();
        for hash in [
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "a52d159f262b2c6ddb724a61840befc36eb30c88877a4030b65cbe86298449c9",
        ] {
            assert!(error.contains(hash), "{error}");
        }
        assert!(check_hashes(&headers()).is_ok());
    }

    #[test]
    fn rejects_additional_and_absent_headers() {
        let mut more = headers();
        more.insert("tensorflow/c/new.h".into(), Vec::new());
        let error = |found| check_hashes(found).unwrap_err().to_string();
        assert!(error(&more).contains("locked absent"));
        assert!(error(&BTreeMap::new()).contains("found  absent"));
    }

    #[test]
    fn adds_releases_of_embedded_lock_if_inherited() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("sources.toml");
        let file_lock = lock(&["2.3.0"]);
        fs::write(&path, file_lock.to_toml()).unwrap();
        assert_eq!(Lock::read(&path, false).unwrap(), file_lock);
        let both = Lock::read(&path, true).unwrap();
        for release in ["2.21", "2.3"] {
            assert!(both.resolve(release.parse().unwrap()).is_some());
        }
        fs::write(&path, "[release.x]").unwrap();
        let read = Lock::read(&path, true);
        assert!(matches!(read, Err(FetchError::LockMalformed { .. })));
    }

    #[test]
    fn rejects_binary_lock_and_folder() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("sources.toml");
        let release = "2.21.0".parse().unwrap();
        let assert_unreadable = || {
            for found in [
                Lock::read(&path, true).map(drop),
                Lock::read_release(&path, true, release).map(drop),
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
    fn rejects_header_outside_of_the_release() {
        for header in ["/tmp/../secret", "../x.h", "a//b.h", "./a.h", ""] {
            let mut outside = lock(&["2.21.0"]);
            let locked = outside.releases.values_mut().next().unwrap();
            locked.headers.insert(header.to_owned(), "00".to_owned());
            let error = Lock::parse(&outside.to_toml(), "lock").unwrap_err();
            let part = format!("{header:?} is not the path");
            assert!(error.to_string().contains(&part), "{error}");
        }
    }

    #[test]
    fn text_with_comment_or_other_form_is_not_as_printed() {
        let text = lock(&["2.20.0", "2.21.0"]).to_toml();
        let (first, _) = text.split_once("[release.\"2.21.0\"]").unwrap();
        for printed in [&text, first, &format!("{first}\n\n"), ""] {
            assert!(Lock::is_printed(printed), "{printed}");
        }
        let twice = text.replace("version = ", "version  = ");
        for edited in [
            format!("# own\n{text}"),
            text.replace("\"cp311\"", "\"cp311\" # own"),
            format!("{text}# own\n"),
            twice,
        ] {
            assert!(!Lock::is_printed(&edited), "{edited}");
        }
    }

    #[test]
    fn location_names_lock_with_the_entry() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("sources.toml");
        fs::write(&path, lock(&["2.3.0"]).to_toml()).unwrap();
        let location = |release: &str| Lock::describe_location(&path, release.parse().unwrap());
        assert_eq!(location("2.3.0"), path.display().to_string());
        assert_eq!(location("2.21.0"), EMBEDDED_NAME);
    }

    #[test]
    fn committed_lock_is_as_import_writes_it() {
        let lock = Lock::parse(EMBEDDED, "embedded").unwrap();
        assert_eq!(lock.to_toml(), EMBEDDED);
    }
}
