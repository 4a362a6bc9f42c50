//! The installation of the running TensorFlow: the files of its libraries and the headers beside them.
//!
//! A wheel has `include/` beside `libtensorflow_framework`. Only regular files below that folder are
//! read, at most `MAX_TOTAL` bytes for one header and those that it includes.

use std::collections::BTreeMap;
use std::ffi::{CStr, OsStr, c_void};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use crate::symbol;

/// Limit for the size of one header and those that it includes, in bytes.
const MAX_TOTAL: u64 = 1 << 20;

/// Path prefix of the C API's headers. Other includes are C++ or the system's.
const C_API: &str = "tensorflow/c/";

/// Limit for the files and folders below `C_API` among which a moved header is searched. TensorFlow 2.22 has 68.
const MAX_ENTRIES: usize = 4096;

/// The folder of a host's headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncludeRoot(PathBuf);

impl IncludeRoot {
    /// Finds the `include` folder of the running TensorFlow, or returns `None` if there is none.
    pub fn find() -> Option<Self> {
        framework_library().and_then(Self::find_beside)
    }

    /// Finds the `include` folder beside `library`, or returns `None` if there is none.
    ///
    /// The folder beside the path as it is spelled comes first, then the one beside the file to which
    /// symbolic links lead.
    pub fn find_beside(library: &Path) -> Option<Self> {
        if !library.is_absolute() {
            // The working directory may have been another one when the loader opened the library.
            return None;
        }
        let resolved = fs::canonicalize(library).ok();
        let candidates = [Some(normalize(library)), resolved];
        let mut roots = candidates.into_iter().flatten().filter_map(|library| {
            let include = library.parent()?.join("include");
            fs::canonicalize(include).ok()
        });
        roots.find(|root| root.is_dir()).map(Self)
    }

    /// Creates the include root `root`, or returns `None` if there is no such folder. For tests.
    pub fn new(root: &Path) -> Option<Self> {
        fs::canonicalize(root).ok().map(Self)
    }

    /// Reads `header`, a path below the folder, and the C API headers that it includes. Returns the texts
    /// by path. If there is no such file, a header of the C API with its file name is read, if exactly one exists:
    /// a release can move it, for example out of `experimental`.
    ///
    /// # Errors
    /// Returns an error if a file is not below the folder, is not UTF-8, or all are too large.
    pub fn read(&self, header: &str) -> Result<BTreeMap<String, String>, Unreadable> {
        let moved = match self.0.join(header).exists() {
            true => None,
            false => self.find_moved(header),
        };
        let mut texts = BTreeMap::new();
        let mut pending = vec![moved.unwrap_or_else(|| header.to_owned())];
        let mut budget = MAX_TOTAL;
        while let Some(name) = pending.pop() {
            if texts.contains_key(&name) {
                continue;
            }
            let text = self.read_file(&name, &mut budget);
            let text = text.map_err(|reason| Unreadable {
                name: name.clone(),
                reason,
            })?;
            pending.extend(c_api_includes(&text).map(str::to_owned));
            texts.insert(name, text);
        }
        Ok(texts)
    }

    /// Returns the path of the only header of the C API with the file name of `header`, or `None`.
    fn find_moved(&self, header: &str) -> Option<String> {
        let file_name = Path::new(header).file_name()?;
        let mut pending = vec![self.0.join(C_API)];
        let (mut found, mut entries) = (None, 0);
        while let Some(folder) = pending.pop() {
            for entry in fs::read_dir(folder).ok()?.flatten() {
                entries += 1;
                let path = entry.path();
                // The type of the entry itself: a link to a folder is not followed.
                let is_folder = entry.file_type().ok()?.is_dir();
                if is_folder {
                    pending.push(path);
                } else if path.file_name() == Some(file_name) && found.replace(path).is_some() {
                    return None;
                }
                if entries > MAX_ENTRIES {
                    return None;
                }
            }
        }
        let path = found?;
        let path = path.strip_prefix(&self.0).ok()?;
        path.to_str().map(str::to_owned)
    }

    fn read_file(&self, name: &str, budget: &mut u64) -> Result<String, UnreadableReason> {
        let open_failure = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => UnreadableReason::NotFound,
            _ => UnreadableReason::Unreadable,
        };
        let path = fs::canonicalize(self.0.join(name)).map_err(open_failure)?;
        if !path.starts_with(&self.0) || !path.is_file() {
            return Err(UnreadableReason::Outside);
        }
        let file = File::open(path).map_err(|_| UnreadableReason::Unreadable)?;
        let mut bytes = Vec::new();
        let read = file.take(*budget + 1).read_to_end(&mut bytes);
        read.map_err(|_| UnreadableReason::Unreadable)?;
        *budget = budget
            .checked_sub(bytes.len() as u64)
            .ok_or(UnreadableReason::TooLarge)?;
        String::from_utf8(bytes).map_err(|_| UnreadableReason::NotText)
    }
}

/// A header that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// Path below the include folder.
    pub name: String,
    /// The reason.
    pub reason: UnreadableReason,
}

/// The reason for which a header cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnreadableReason {
    /// There is no such file.
    NotFound,
    /// Reading it fails.
    Unreadable,
    /// It is a link that leads out of the folder, or no regular file.
    Outside,
    /// It and its includes are over 1 MiB.
    TooLarge,
    /// It is not UTF-8.
    NotText,
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let reason = match self.reason {
            UnreadableReason::NotFound => "is missing",
            UnreadableReason::Unreadable => "cannot be read",
            UnreadableReason::Outside => "lies outside of the host's include folder",
            UnreadableReason::TooLarge => "is over 1 MiB with its includes",
            UnreadableReason::NotText => "is not UTF-8",
        };
        write!(f, "header {} {reason}", self.name)
    }
}

/// Returns the C API headers that `text` includes with quotes.
fn c_api_includes(text: &str) -> impl Iterator<Item = &str> {
    let quoted = text.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start();
        let rest = rest.strip_prefix("include")?.trim_start();
        rest.strip_prefix('"')?.split('"').next()
    });
    quoted.filter(|name| name.starts_with(C_API))
}

/// Resolves `.` and `..` lexically, without access to the file system.
fn normalize(path: &Path) -> PathBuf {
    let mut found = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(found.pop()),
            _ => found.push(part),
        }
    }
    found
}

/// Returns the file of the framework library of the running TensorFlow. It exports `TF_SetStatus` in every release.
pub(crate) fn framework_library() -> Option<&'static Path> {
    static FRAMEWORK: OnceLock<Option<PathBuf>> = OnceLock::new();
    let find = || find_library(symbol::find_symbol(c"TF_SetStatus")?);
    FRAMEWORK.get_or_init(find).as_deref()
}

/// Returns the file of the loaded library that contains `address`.
fn find_library(address: *const c_void) -> Option<PathBuf> {
    let mut info = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    // SAFETY: dladdr accepts any address and dereferences none; `info` is writable.
    let is_found = unsafe { libc::dladdr(address, &raw mut info) } != 0;
    if !is_found || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: dladdr succeeded, so `dli_fname` is the C string of a loaded library. It stays valid while
    // the library is loaded, and TensorFlow is never unloaded.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    Some(PathBuf::from(OsStr::from_bytes(name.to_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A temporary folder, removed on drop.
    struct TestFolder(PathBuf);

    impl TestFolder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("sp-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Self(fs::canonicalize(path).unwrap())
        }

        fn write(&self, name: &str, text: impl AsRef<[u8]>) {
            let path = self.0.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    impl Drop for TestFolder {
        fn drop(&mut self) {
            drop(fs::remove_dir_all(&self.0));
        }
    }

    #[test]
    fn reads_header_with_its_c_api_includes() {
        let folder = TestFolder::new("includes");
        folder.write(
            "include/tensorflow/c/a.h",
            "#include \"tensorflow/c/b.h\"\n#include \"x.h\"",
        );
        folder.write("include/tensorflow/c/b.h", "# include \"tensorflow/c/a.h\"");
        folder.write("lib.so", "");
        let root = IncludeRoot::find_beside(&folder.0.join("python/../lib.so")).unwrap();
        let texts = root.read("tensorflow/c/a.h").unwrap();
        let names: Vec<_> = texts.keys().collect();
        assert_eq!(names, ["tensorflow/c/a.h", "tensorflow/c/b.h"]);
        let error = root.read("tensorflow/c/c.h").unwrap_err();
        assert_eq!(error.to_string(), "header tensorflow/c/c.h is missing");
    }

    #[test]
    fn reads_moved_header_if_its_file_name_is_unique() {
        let folder = TestFolder::new("moved");
        folder.write("tensorflow/c/device/a.h", "moved");
        folder.write("tensorflow/other/a.h", "");
        let root = IncludeRoot::new(&folder.0).unwrap();
        let texts = root.read("tensorflow/c/experimental/a.h").unwrap();
        assert_eq!(texts["tensorflow/c/device/a.h"], "moved");
        folder.write("tensorflow/c/a.h", "");
        let error = root.read("tensorflow/c/experimental/a.h").unwrap_err();
        assert_eq!(error.reason, UnreadableReason::NotFound);
    }

    #[test]
    fn finds_headers_beside_target_of_linked_library() {
        let folder = TestFolder::new("link");
        folder.write("real/include/tensorflow/c/a.h", "");
        folder.write("real/lib.so", "");
        folder.write("links/x", "");
        symlink(folder.0.join("real/lib.so"), folder.0.join("links/lib.so")).unwrap();
        let root = IncludeRoot::find_beside(&folder.0.join("links/lib.so"));
        assert_eq!(root, Some(IncludeRoot(folder.0.join("real/include"))));
        assert_eq!(IncludeRoot::find_beside(Path::new("/no/such/lib.so")), None);
    }

    #[test]
    fn rejects_files_outside_of_folder() {
        let folder = TestFolder::new("outside");
        folder.write("include/tensorflow/c/x.h", "");
        folder.write("secret.h", "");
        symlink(
            folder.0.join("secret.h"),
            folder.0.join("include/tensorflow/c/link.h"),
        )
        .unwrap();
        let root = IncludeRoot::new(&folder.0.join("include")).unwrap();
        for name in ["tensorflow/c/link.h", "../secret.h", "tensorflow/c"] {
            assert_eq!(
                root.read(name).unwrap_err().reason,
                UnreadableReason::Outside,
                "{name}"
            );
        }
    }

    #[test]
    fn rejects_headers_that_are_too_large_or_not_text() {
        let folder = TestFolder::new("large");
        folder.write(
            "include/tensorflow/c/large.h",
            vec![b' '; MAX_TOTAL as usize + 1],
        );
        folder.write("include/tensorflow/c/binary.h", [0xff, 0xfe]);
        let root = IncludeRoot::new(&folder.0.join("include")).unwrap();
        let reason = |name| root.read(name).unwrap_err().reason;
        assert_eq!(reason("tensorflow/c/large.h"), UnreadableReason::TooLarge);
        assert_eq!(reason("tensorflow/c/binary.h"), UnreadableReason::NotText);
    }
}
