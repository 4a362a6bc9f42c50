//! Sources of headers: a wheel (local or remote) or an installed TensorFlow.
//!
//! A header's name is its path below the include root. No name refers to a file outside of it.

use miette::Diagnostic;
use sp_system::errors;
use sp_system::input;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Largest header that is read, against crafted files. Real headers are far smaller.
pub const MAX_HEADER_BYTES: u64 = 16 << 20;

/// Largest size of all headers that are read. The wheel of 2.21 has 129 MiB, few of which are read.
pub const MAX_TOTAL_HEADER_BYTES: u64 = 256 << 20;
/// Largest number of files and folders below an include root. That of 2.21 has 13 thousand.
const MAX_ENTRIES: usize = 1 << 18;

errors! {
    /// Headers cannot be read.
    #[derive(Debug, Error, Diagnostic)]
    pub enum SourceError in import {
        /// The wheel or folder has no C headers at the expected path.
        HeadersMissing(String) = headers_missing: ("{0} has no tensorflow/include/tensorflow/c"),
            help("`--from` takes a TensorFlow wheel, a site-packages folder, an installed `tensorflow` folder, or \
                  its `include` folder");

        /// A file of a wheel or an installed TensorFlow is larger than any header.
        MemberTooLarge { origin: String, member: String, limit: u64 }
            = member_too_large: ("{member} in {origin} has more than {limit} bytes"),
            help("TensorFlow's own wheels have no such header; do not use this one");

        /// The wheel, or a file in an installed TensorFlow, cannot be read.
        Unreadable { origin: String, detail: String } = source_unreadable: ("cannot read {origin}: {detail}");
    }
}

/// The package's metadata in its dist-info.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// `tensorflow-cpu`
    pub package: Option<String>,
    /// `2.21.0`
    pub version: Option<String>,
    /// `cp311`
    pub python: Option<String>,
    /// `manylinux_2_27_x86_64`
    pub platform: Option<String>,
}

/// Amount of network traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes of response bodies.
    pub bytes: u64,
    /// Number of HTTP requests.
    pub requests: u32,
}

/// A readable set of headers.
pub trait Source {
    /// The error of reading from this source.
    type Error: From<SourceError>;
    /// Returns a short name for messages.
    fn origin(&self) -> String;
    /// Returns the package's metadata.
    ///
    /// # Errors
    /// Returns an error if the source cannot be read.
    fn identity(&mut self) -> Result<Identity, Self::Error>;
    /// Returns the names of the headers: their paths below the include root.
    fn names(&self) -> &BTreeSet<String>;
    /// Returns the contents of a header.
    ///
    /// # Errors
    /// Returns an error if the header cannot be read or is too large.
    fn read(&mut self, name: &str) -> Result<Vec<u8>, Self::Error>;
    /// Announces headers that will be read next, so that a remote source fetches them together.
    ///
    /// # Errors
    /// Returns an error if the source cannot be read.
    fn prefetch(&mut self, _names: &[&str]) -> Result<(), Self::Error> {
        Ok(())
    }
    /// Returns the network traffic so far.
    fn traffic(&self) -> Traffic {
        Traffic::default()
    }
}

/// Returns true if a name, joined to a folder, is a path inside of that folder.
pub fn is_safe_relative_path(name: &str) -> bool {
    let is_plain =
        |part: &str| !matches!(part, "" | "." | "..") && !part.contains(['\\', ':', '\0']);
    name.split('/').all(is_plain)
}

/// Reads the `Name` and `Version` of METADATA and the `Tag` of WHEEL.
pub fn parse_identity(metadata: &str, wheel: &str) -> Identity {
    let value = |text: &str, key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key))?;
        Some(line.trim_start_matches(':').trim().to_owned())
    };
    let tag = value(wheel, "Tag").unwrap_or_default();
    let mut tag = tag.split('-').map(str::to_owned);
    Identity {
        package: value(metadata, "Name").map(|name| name.replace('_', "-")),
        version: value(metadata, "Version"),
        python: tag.next().filter(|part| !part.is_empty()),
        platform: tag.nth(1),
    }
}

/// The headers of a TensorFlow that is installed on this machine.
pub struct Installed {
    include: PathBuf,
    names: BTreeSet<String>,
    /// Bytes of headers that may still be read.
    remaining: u64,
}

impl Installed {
    /// Opens an environment, a site-packages folder, a `tensorflow` folder or an include root.
    ///
    /// # Errors
    /// Returns an error if `folder` has no include root, or if it cannot be read.
    pub fn open(folder: &Path) -> Result<Self, SourceError> {
        let include = include_root(folder)
            .ok_or_else(|| SourceError::HeadersMissing(folder.display().to_string()))?;
        Self::open_root(&include)
    }

    /// Opens an include root, whether or not it contains headers.
    ///
    /// # Errors
    /// Returns an error if it cannot be read.
    pub fn open_root(include: &Path) -> Result<Self, SourceError> {
        let include = include.to_owned();
        let mut traversal = Traversal {
            root: &include,
            ancestors: Vec::new(),
            entries: 0,
            names: BTreeSet::new(),
        };
        traversal
            .collect(&include)
            .map_err(|error| unreadable(&include, &error))?;
        let (names, remaining) = (traversal.names, MAX_TOTAL_HEADER_BYTES);
        Ok(Self {
            include,
            names,
            remaining,
        })
    }
}

/// Returns the metadata of the package that contains an include root; its fields are `None` if no package does.
pub fn find_identity(include: &Path) -> Identity {
    let Some(folder) = dist_info(include) else {
        return Identity::default();
    };
    let text = |name: &str| input::read_text(&folder.join(name)).unwrap_or_default();
    parse_identity(&text("METADATA"), &text("WHEEL"))
}

/// Returns the package's metadata folder beside it: `site-packages/tensorflow_cpu-2.21.0.dist-info`.
fn dist_info(include: &Path) -> Option<PathBuf> {
    let site = include.parent()?.parent()?;
    let entries = fs::read_dir(site).ok()?.flatten();
    let found = entries.map(|entry| entry.path());
    let mut found: Vec<_> = found.filter(|path| is_dist_info(path)).collect();
    found.sort();
    found.pop()
}

impl Source for Installed {
    type Error = SourceError;

    fn origin(&self) -> String {
        self.include.display().to_string()
    }

    fn identity(&mut self) -> Result<Identity, SourceError> {
        Ok(find_identity(&self.include))
    }

    fn names(&self) -> &BTreeSet<String> {
        &self.names
    }

    fn read(&mut self, name: &str) -> Result<Vec<u8>, SourceError> {
        let path = self.include.join(name);
        let limit = MAX_HEADER_BYTES.min(self.remaining);
        let bytes = input::read(&path, limit).map_err(|error| match error.kind() {
            io::ErrorKind::FileTooLarge => SourceError::MemberTooLarge {
                origin: self.origin(),
                member: name.to_owned(),
                limit,
            },
            _ => unreadable(&path, &error),
        })?;
        self.remaining -= bytes.len() as u64;
        Ok(bytes)
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> SourceError {
    SourceError::Unreadable {
        origin: path.display().to_string(),
        detail: error.to_string(),
    }
}

/// Returns true for the metadata folder of a package with headers: tensorflow or one of its per-platform builds.
fn is_dist_info(path: &Path) -> bool {
    const PACKAGES: [&str; 7] = [
        "tensorflow",
        "tensorflow_rocm",
        "tf_nightly",
        "tf_nightly_cpu",
        "tensorflow_cpu",
        "tensorflow_intel",
        "tensorflow_macos",
    ];
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.unwrap_or_default();
    let package = name
        .strip_suffix(".dist-info")
        .and_then(|name| name.split_once('-'));
    package.is_some_and(|(package, _)| PACKAGES.contains(&package))
}

/// Returns the include root that `folder` is or contains, or `None`. `folder` may be an environment, a site-packages
/// folder or a `tensorflow` folder.
pub fn include_root(folder: &Path) -> Option<PathBuf> {
    let mut candidates = vec![
        folder.to_owned(),
        folder.join("include"),
        folder.join("tensorflow/include"),
    ];
    candidates.extend(environments(folder));
    // A folder with XLA's headers alone is an include root too.
    let subfolders = ["tensorflow/c", "xla/pjrt/c"].iter();
    let find = |subfolder: &&str| {
        let mut roots = candidates.iter();
        roots.find(|root| root.join(subfolder).is_dir()).cloned()
    };
    subfolders.filter_map(find).next()
}

/// Returns the include roots of a virtual environment: `lib/python3.11/site-packages/tensorflow/include`.
fn environments(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.join("lib"))
        .into_iter()
        .flatten()
        .flatten();
    let pythons =
        entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("python3"));
    pythons
        .map(|entry| entry.path().join("site-packages/tensorflow/include"))
        .collect()
}

/// A traversal of the folders below an include root.
struct Traversal<'a> {
    root: &'a Path,
    /// The canonical paths of the current folder and those above it.
    ancestors: Vec<PathBuf>,
    entries: usize,
    names: BTreeSet<String>,
}

impl Traversal<'_> {
    /// Collects the files below `folder`. Pipes and devices, which have no end, are not collected. A symbolic link to
    /// a folder above is not followed.
    fn collect(&mut self, folder: &Path) -> io::Result<()> {
        let real = folder.canonicalize()?;
        if self.ancestors.contains(&real) {
            return Ok(());
        }
        self.ancestors.push(real);
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                return Err(io::Error::other(
                    "it has too many files for an include root",
                ));
            }
            if path.is_dir() {
                self.collect(&path)?;
            } else if path.is_file() {
                self.insert(&path);
            }
        }
        self.ancestors.pop();
        Ok(())
    }

    fn insert(&mut self, path: &Path) {
        if let Some(name) = path.strip_prefix(self.root).ok().and_then(Path::to_str) {
            let name = name.replace(std::path::MAIN_SEPARATOR, "/");
            self.names.insert(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_names_outside_of_the_root() {
        for name in [
            "../x",
            "a/../../x",
            "/etc/x",
            "a//b",
            "a/./b",
            "",
            "c:x",
            "a\\..\\b",
            "a/..",
        ] {
            assert!(!is_safe_relative_path(name), "{name}");
        }
        for name in ["a.h", "tensorflow/c/ops.h", "a/..b/c.h"] {
            assert!(is_safe_relative_path(name), "{name}");
        }
    }

    #[test]
    fn reads_identity_from_dist_info() {
        let found = parse_identity(
            "Metadata-Version: 2.4\nName: tensorflow_cpu\nVersion: 2.21.0\n",
            "Wheel-Version: 1.0\nTag: cp311-cp311-manylinux_2_27_x86_64\n",
        );
        assert_eq!(found.package.as_deref(), Some("tensorflow-cpu"));
        assert_eq!(found.version.as_deref(), Some("2.21.0"));
        assert_eq!(found.python.as_deref(), Some("cp311"));
        assert_eq!(found.platform.as_deref(), Some("manylinux_2_27_x86_64"));
    }

    #[test]
    fn rejects_headers_over_the_limit() {
        let scratch = tempfile::tempdir().unwrap();
        let header = fs::File::create(scratch.path().join("x.h")).unwrap();
        header.set_len(MAX_HEADER_BYTES + 1).unwrap();
        let mut source = Installed::open_root(scratch.path()).unwrap();
        let read = source.read("x.h");
        assert!(matches!(read, Err(SourceError::MemberTooLarge { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn skips_symlink_loops_and_devices() {
        use std::os::unix::fs::symlink;
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("c");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("x.h"), "").unwrap();
        // Followed, these would be 2^40 folders.
        for name in ["a", "b"] {
            symlink(&folder, folder.join(name)).unwrap();
        }
        symlink("/dev/zero", folder.join("zero.h")).unwrap();
        symlink("/nonexistent", folder.join("gone.h")).unwrap();
        let found = Installed::open_root(scratch.path()).unwrap();
        assert_eq!(found.names(), &BTreeSet::from(["c/x.h".to_owned()]));
    }

    #[test]
    fn finds_installed_tensorflow_from_each_of_its_folders() {
        let scratch = tempfile::tempdir().unwrap();
        let site = scratch.path().join("lib/python3.11/site-packages");
        let include = site.join("tensorflow/include");
        fs::create_dir_all(include.join("tensorflow/c")).unwrap();
        fs::write(include.join("tensorflow/c/ops.h"), "").unwrap();
        fs::create_dir_all(site.join("tensorflow_cpu-2.21.0.dist-info")).unwrap();
        fs::write(
            site.join("tensorflow_cpu-2.21.0.dist-info/METADATA"),
            "Version: 2.21.0\n",
        )
        .unwrap();
        for folder in [scratch.path(), &site, &site.join("tensorflow"), &include] {
            let mut source = Installed::open(folder).unwrap();
            assert!(source.names().contains("tensorflow/c/ops.h"));
            let expected = Some("2.21.0");
            assert_eq!(source.identity().unwrap().version.as_deref(), expected);
        }
        let empty = tempfile::tempdir().unwrap();
        assert!(matches!(
            Installed::open(empty.path()),
            Err(SourceError::HeadersMissing(..))
        ));
    }
}
