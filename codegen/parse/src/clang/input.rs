//! The input of a parse.

use std::fs;
use std::path::{Path, PathBuf};

/// The target whose layouts a snapshot records.
pub const DEFAULT_TARGET: &str = "x86_64-unknown-linux-gnu";

/// The input of a parse.
#[derive(Debug, Clone)]
pub struct ParseInput {
    /// The folder that `#include "tensorflow/c/..."` starts from.
    pub include_root: PathBuf,
    /// The headers, relative to it.
    pub headers: Vec<String>,
    /// The target triple.
    pub target: String,
    /// The language of the headers and the folders of other headers.
    pub dialect: Dialect,
}

/// The language of headers and the folders of the headers that they include.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Dialect {
    /// C++17. All headers are below the include root or builtin headers, so the result does not depend on the machine.
    #[default]
    TensorFlow,
    /// A driver's header. Headers are also found in folders of the user and of the system, and those outside of the
    /// include root are named by their absolute paths.
    Driver {
        /// The language.
        language: Language,
        /// The folders, in order. The system's come last, then the builtin headers.
        folders: Vec<PathBuf>,
        /// Macros, as `NAME` or `NAME=VALUE`.
        defines: Vec<String>,
    },
}

/// A language of headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// C11 with GNU's extensions.
    C,
    /// C++17.
    Cpp,
}

impl ParseInput {
    /// Returns true if `header` is one of the input's own headers, not only included by them.
    pub fn has(&self, header: &str) -> bool {
        self.headers.iter().any(|own| own == header)
    }
}

/// Returns the folders of this machine's C headers. They are searched after all others.
pub(super) fn system_folders() -> Vec<PathBuf> {
    let multiarch = format!("/usr/include/{}-linux-gnu", std::env::consts::ARCH);
    let folders = ["/usr/local/include", &multiarch, "/usr/include"].map(PathBuf::from);
    let folders = folders.into_iter();
    folders.filter(|folder| folder.is_dir()).collect()
}

/// Returns the folder with the headers of the newest installed clang, or else gcc. It has what belongs to a compiler and is not among
/// the builtin headers, such as `stdatomic.h`.
pub(super) fn compiler_folder() -> Option<PathBuf> {
    let children = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        paths.into_iter().rev()
    };
    let clang = children(Path::new("/usr/lib/clang"));
    let gcc = children(Path::new("/usr/lib/gcc")).flat_map(|target| children(&target));
    let mut folders = clang.chain(gcc).map(|folder| folder.join("include"));
    folders.find(|folder| folder.is_dir())
}
