//! The installation of the running TensorFlow: its libraries' files and the headers beside them.
//!
//! A wheel has `include/` beside `libtensorflow_framework`. Only regular files below that folder are
//! read, at most [`MAX_TOTAL`] bytes for one header and what it includes.

use std::collections::BTreeMap;
use std::ffi::{CStr, OsStr, c_void};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// Bytes that are read of one header and those that it includes.
const MAX_TOTAL: u64 = 1 << 20;

/// Folders of the C API's headers; other includes are C++ or the system's.
const C_API: &str = "tensorflow/c/";

/// The folder of a host's headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncludeRoot(PathBuf);

impl IncludeRoot {
    /// Finds the headers beside the library at `library`: where its path leads without resolving links
    /// if there is an `include` folder, else where the library's file lies.
    pub fn beside(library: &Path) -> Option<Self> {
        if !library.is_absolute() {
            // The loader's working directory may have been another one.
            return None;
        }
        let resolved = fs::canonicalize(library).ok();
        let candidates = [Some(normalized(library)), resolved];
        let mut roots = candidates.into_iter().flatten().filter_map(|library| {
            let include = library.parent()?.join("include");
            fs::canonicalize(include).ok()
        });
        roots.find(|root| root.is_dir()).map(Self)
    }

    /// The folder `root`, for tests.
    pub fn at(root: &Path) -> Option<Self> {
        fs::canonicalize(root).ok().map(Self)
    }

    /// Reads `header`, a path below the folder, and the C API headers that it includes, by their names.
    ///
    /// # Errors
    /// Returns an error if a file is not below the folder, is not UTF-8, or all are too large.
    pub fn read(&self, header: &str) -> Result<BTreeMap<String, String>, Unreadable> {
        let mut texts = BTreeMap::new();
        let mut rest = vec![header.to_owned()];
        let mut budget = MAX_TOTAL;
        while let Some(name) = rest.pop() {
            if texts.contains_key(&name) {
                continue;
            }
            let text = self.file(&name, &mut budget);
            let text = text.map_err(|why| Unreadable {
                name: name.clone(),
                why,
            })?;
            rest.extend(includes(&text).map(str::to_owned));
            texts.insert(name, text);
        }
        Ok(texts)
    }

    fn file(&self, name: &str, budget: &mut u64) -> Result<String, Why> {
        let missing = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => Why::Missing,
            _ => Why::Unreadable,
        };
        let path = fs::canonicalize(self.0.join(name)).map_err(missing)?;
        if !path.starts_with(&self.0) || !path.is_file() {
            return Err(Why::Outside);
        }
        let file = File::open(path).map_err(|_| Why::Unreadable)?;
        let mut bytes = Vec::new();
        let read = file.take(*budget + 1).read_to_end(&mut bytes);
        read.map_err(|_| Why::Unreadable)?;
        *budget = budget
            .checked_sub(bytes.len() as u64)
            .ok_or(Why::TooLarge)?;
        String::from_utf8(bytes).map_err(|_| Why::NotText)
    }
}

/// A header that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// Its path below the folder.
    pub name: String,
    /// The reason.
    pub why: Why,
}

/// Why a header cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// There is no such file.
    Missing,
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
        let why = match self.why {
            Why::Missing => "is missing",
            Why::Unreadable => "cannot be read",
            Why::Outside => "lies outside of the host's include folder",
            Why::TooLarge => "is over 1 MiB with its includes",
            Why::NotText => "is not UTF-8",
        };
        write!(f, "header {} {why}", self.name)
    }
}

/// Returns the C API headers that a text includes by quotes.
fn includes(text: &str) -> impl Iterator<Item = &str> {
    let quoted = text.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start();
        let rest = rest.strip_prefix("include")?.trim_start();
        rest.strip_prefix('"')?.split('"').next()
    });
    quoted.filter(|name| name.starts_with(C_API))
}

/// Resolves `.` and `..` by their spelling alone.
fn normalized(path: &Path) -> PathBuf {
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

/// Returns the file of the loaded library that holds `address`.
pub(crate) fn library_of(address: *const c_void) -> Option<PathBuf> {
    let mut info = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    // SAFETY: dladdr accepts any address, and `info` is writable.
    let is_found = unsafe { libc::dladdr(address, &raw mut info) } != 0;
    if !is_found || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: dladdr found a library, whose name is a C string for as long as it is loaded;
    // TensorFlow is never unloaded.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    Some(PathBuf::from(OsStr::from_bytes(name.to_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A folder of its own below the system's temporary one, removed at the end.
    struct Folder(PathBuf);

    impl Folder {
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

    impl Drop for Folder {
        fn drop(&mut self) {
            drop(fs::remove_dir_all(&self.0));
        }
    }

    #[test]
    fn reads_a_header_with_its_c_api_includes() {
        let folder = Folder::new("includes");
        folder.write(
            "include/tensorflow/c/a.h",
            "#include \"tensorflow/c/b.h\"\n#include \"x.h\"",
        );
        folder.write("include/tensorflow/c/b.h", "# include \"tensorflow/c/a.h\"");
        folder.write("lib.so", "");
        let root = IncludeRoot::beside(&folder.0.join("python/../lib.so")).unwrap();
        let texts = root.read("tensorflow/c/a.h").unwrap();
        let names: Vec<_> = texts.keys().collect();
        assert_eq!(names, ["tensorflow/c/a.h", "tensorflow/c/b.h"]);
        let missing = root.read("tensorflow/c/c.h").unwrap_err();
        assert_eq!(missing.to_string(), "header tensorflow/c/c.h is missing");
    }

    #[test]
    fn finds_headers_beside_a_library_that_is_a_link() {
        let folder = Folder::new("link");
        folder.write("real/include/tensorflow/c/a.h", "");
        folder.write("real/lib.so", "");
        folder.write("links/x", "");
        symlink(folder.0.join("real/lib.so"), folder.0.join("links/lib.so")).unwrap();
        let root = IncludeRoot::beside(&folder.0.join("links/lib.so"));
        assert_eq!(root, Some(IncludeRoot(folder.0.join("real/include"))));
        assert_eq!(IncludeRoot::beside(Path::new("/no/such/lib.so")), None);
    }

    #[test]
    fn rejects_files_outside_of_the_folder() {
        let folder = Folder::new("outside");
        folder.write("include/tensorflow/c/x.h", "");
        folder.write("secret.h", "");
        symlink(
            folder.0.join("secret.h"),
            folder.0.join("include/tensorflow/c/link.h"),
        )
        .unwrap();
        let root = IncludeRoot::at(&folder.0.join("include")).unwrap();
        for name in ["tensorflow/c/link.h", "../secret.h", "tensorflow/c"] {
            assert_eq!(root.read(name).unwrap_err().why, Why::Outside, "{name}");
        }
    }

    #[test]
    fn rejects_headers_that_are_too_large_or_not_text() {
        let folder = Folder::new("large");
        folder.write(
            "include/tensorflow/c/large.h",
            vec![b' '; MAX_TOTAL as usize + 1],
        );
        folder.write("include/tensorflow/c/binary.h", [0xff, 0xfe]);
        let root = IncludeRoot::at(&folder.0.join("include")).unwrap();
        let why = |name| root.read(name).unwrap_err().why;
        assert_eq!(why("tensorflow/c/large.h"), Why::TooLarge);
        assert_eq!(why("tensorflow/c/binary.h"), Why::NotText);
    }
}
