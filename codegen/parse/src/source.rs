//! Where headers come from: a wheel (local or remote) or an installed TensorFlow.
//!
//! Either way a header's name is its path below the include root, and no name leads out of it.

use miette::Diagnostic;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// No C header comes near this; a crafted one could otherwise be read without end.
pub const HEADER_MOST: u64 = 16 << 20;
/// The most files and folders below an include root. That of 2.21 has 13 thousand.
const ENTRIES_MOST: usize = 1 << 18;

/// Headers cannot be read.
#[derive(Debug, Error, Diagnostic)]
pub enum SourceError {
    /// There are no C headers where they are expected.
    #[error("{origin} has no tensorflow/include/tensorflow/c")]
    #[diagnostic(
        code(sp_gen::import::headers_missing),
        help(
            "`--from` takes a TensorFlow wheel, a site-packages folder, an installed `tensorflow` folder, or its `include` folder"
        )
    )]
    HeadersMissing {
        /// The wheel or folder.
        origin: String,
    },
    /// A file of a wheel or an installed TensorFlow is larger than any header.
    #[error("{member} in {origin} has more than {limit} bytes")]
    #[diagnostic(
        code(sp_gen::import::member_too_large),
        help("TensorFlow's own wheels have no such header; do not use this one")
    )]
    MemberTooLarge {
        /// The wheel or folder.
        origin: String,
        /// The file.
        member: String,
        /// Limit in bytes.
        limit: u64,
    },
    /// The wheel, or a file in an installed TensorFlow, cannot be read.
    #[error("cannot read {origin}: {detail}")]
    #[diagnostic(code(sp_gen::import::source_unreadable))]
    Unreadable {
        /// The wheel or folder.
        origin: String,
        /// Why not.
        detail: String,
    },
}

/// What a package says of itself in its dist-info.
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

/// What was moved over the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Bytes of bodies.
    pub bytes: u64,
    /// HTTP requests.
    pub requests: u32,
}

/// A readable set of headers.
pub trait Source {
    /// An error of this source; those of reading headers are among them.
    type Error: From<SourceError>;
    /// A short name for messages.
    fn origin(&self) -> String;
    /// What it says it is.
    fn identity(&mut self) -> Result<Identity, Self::Error>;
    /// The headers it has, by path below the include root.
    fn names(&self) -> &BTreeSet<String>;
    /// One of them.
    fn read(&mut self, name: &str) -> Result<Vec<u8>, Self::Error>;
    /// Says which headers will be read soon, so that a remote source reads them together.
    fn expect(&mut self, _names: &[&str]) -> Result<(), Self::Error> {
        Ok(())
    }
    /// What it cost so far.
    fn moved(&self) -> Moved {
        Moved::default()
    }
    /// Returns true for a wheel that was fetched whole, and whose sha256 the index does not state.
    fn is_unstated(&self) -> bool {
        false
    }
}

/// Whether a name stays below the folder it is joined to.
pub fn stays_inside(name: &str) -> bool {
    let plain = |part: &str| !matches!(part, "" | "." | "..") && !part.contains(['\\', ':', '\0']);
    name.split('/').all(plain)
}

/// Reads `Name`/`Version` of METADATA and `Tag` of WHEEL.
pub fn identity_of(metadata: &str, wheel: &str) -> Identity {
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
}

impl Installed {
    /// Opens an environment, a site-packages folder, a `tensorflow` folder or an include root.
    pub fn open(folder: &Path) -> Result<Self, SourceError> {
        let include = include_root(folder).ok_or_else(|| SourceError::HeadersMissing {
            origin: folder.display().to_string(),
        })?;
        Self::at(&include)
    }

    /// Opens an include root, whatever it holds.
    pub fn at(include: &Path) -> Result<Self, SourceError> {
        let include = include.to_owned();
        let mut walk = Walk {
            root: &include,
            above: Vec::new(),
            entries: 0,
            names: BTreeSet::new(),
        };
        walk.collect(&include)
            .map_err(|error| unreadable(&include, &error))?;
        let names = walk.names;
        Ok(Self { include, names })
    }
}

/// What the package that has this include root says of itself; nothing where none does.
pub fn identity_beside(include: &Path) -> Identity {
    let Some(folder) = dist_info(include) else {
        return Identity::default();
    };
    let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
    identity_of(&text("METADATA"), &text("WHEEL"))
}

/// `site-packages/tensorflow_cpu-2.21.0.dist-info`, beside the package.
fn dist_info(include: &Path) -> Option<PathBuf> {
    let site = include.parent()?.parent()?;
    let entries = fs::read_dir(site).ok()?.flatten();
    let mut found: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| is_dist_info(path))
        .collect();
    found.sort();
    found.pop()
}

impl Source for Installed {
    type Error = SourceError;

    fn origin(&self) -> String {
        self.include.display().to_string()
    }

    fn identity(&mut self) -> Result<Identity, SourceError> {
        Ok(identity_beside(&self.include))
    }

    fn names(&self) -> &BTreeSet<String> {
        &self.names
    }

    fn read(&mut self, name: &str) -> Result<Vec<u8>, SourceError> {
        let path = self.include.join(name);
        let mut bytes = Vec::new();
        let file =
            open_file(&path).and_then(|file| file.take(HEADER_MOST + 1).read_to_end(&mut bytes));
        file.map_err(|error| unreadable(&path, &error))?;
        match bytes.len() as u64 > HEADER_MOST {
            true => Err(SourceError::MemberTooLarge {
                origin: self.origin(),
                member: name.to_owned(),
                limit: HEADER_MOST,
            }),
            false => Ok(bytes),
        }
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> SourceError {
    SourceError::Unreadable {
        origin: path.display().to_string(),
        detail: error.to_string(),
    }
}

/// The packages that carry the headers: tensorflow itself and its per-platform builds.
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
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let package = name
        .strip_suffix(".dist-info")
        .and_then(|name| name.split_once('-'));
    package.is_some_and(|(package, _)| PACKAGES.contains(&package))
}

/// The include root that a folder is or has: of an environment, a site-packages folder, a
/// `tensorflow` folder.
pub fn include_root(folder: &Path) -> Option<PathBuf> {
    let mut places = vec![
        folder.to_owned(),
        folder.join("include"),
        folder.join("tensorflow/include"),
    ];
    places.extend(environments(folder));
    // XLA's headers alone are an include root too.
    let marks = ["tensorflow/c", "xla/pjrt/c"].iter();
    let holds = |mark: &&str| {
        places
            .iter()
            .find(|place| place.join(mark).is_dir())
            .cloned()
    };
    marks.filter_map(holds).next()
}

/// `lib/python3.11/site-packages/tensorflow/include` of a virtual environment.
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

/// A walk through the folders below an include root.
struct Walk<'a> {
    root: &'a Path,
    /// The folders that lead to the current one, without symbolic links.
    above: Vec<PathBuf>,
    entries: usize,
    names: BTreeSet<String>,
}

impl Walk<'_> {
    /// Collects the files below `folder`. Pipes and devices, which have no end, are not collected, and a
    /// symbolic link to a folder above is not followed.
    fn collect(&mut self, folder: &Path) -> io::Result<()> {
        let real = folder.canonicalize()?;
        if self.above.contains(&real) {
            return Ok(());
        }
        self.above.push(real);
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            self.entries += 1;
            if self.entries > ENTRIES_MOST {
                return Err(io::Error::other("it has more files than any include root"));
            }
            if path.is_dir() {
                self.collect(&path)?;
            } else if path.is_file() {
                self.insert(&path);
            }
        }
        self.above.pop();
        Ok(())
    }

    fn insert(&mut self, path: &Path) {
        if let Some(name) = path.strip_prefix(self.root).ok().and_then(Path::to_str) {
            let name = name.replace(std::path::MAIN_SEPARATOR, "/");
            self.names.insert(name);
        }
    }
}

/// Opens a file that has an end: reading a pipe or a device could wait or continue without end.
pub fn open_file(path: &Path) -> io::Result<File> {
    match path.metadata()?.is_file() {
        true => File::open(path),
        false => Err(io::Error::other("it is not a file")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_out_are_seen() {
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
            assert!(!stays_inside(name), "{name}");
        }
        for name in ["a.h", "tensorflow/c/ops.h", "a/..b/c.h"] {
            assert!(stays_inside(name), "{name}");
        }
    }

    #[test]
    fn identity_is_read_from_dist_info() {
        let found = identity_of(
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
        let header = File::create(scratch.path().join("x.h")).unwrap();
        header.set_len(HEADER_MOST + 1).unwrap();
        let mut source = Installed::at(scratch.path()).unwrap();
        let read = source.read("x.h");
        assert!(matches!(read, Err(SourceError::MemberTooLarge { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn a_tree_with_loops_and_devices_ends() {
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
        let found = Installed::at(scratch.path()).unwrap();
        assert_eq!(found.names(), &BTreeSet::from(["c/x.h".to_owned()]));
    }

    #[test]
    fn an_installed_tensorflow_is_found_from_each_of_its_folders() {
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
            assert_eq!(
                source.identity().unwrap().version.as_deref(),
                Some("2.21.0")
            );
        }
        let empty = tempfile::tempdir().unwrap();
        assert!(matches!(
            Installed::open(empty.path()),
            Err(SourceError::HeadersMissing { .. })
        ));
    }
}
