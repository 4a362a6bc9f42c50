//! The exports of the libraries of an installed TensorFlow. Only their symbol tables are read.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::{OperandError, Result};
use sp_diff::surface::SideExports;
use sp_fetch::error::FetchError;
use sp_fetch::symbols::is_plugin_api_name;
use sp_library::binary::Binary;
use sp_library::elf;
use sp_parse::clang::DEFAULT_TARGET;
use sp_system::input;

/// Returns the exports of the libraries in `tensorflow/`, the parent folder of `include`. Returns `None` if there are no
/// libraries, or if they are of another target than `target`.
pub fn read_package(include: &Path, target: &str) -> Result<Option<SideExports>> {
    let Some(package) = include.parent().filter(|_| target == DEFAULT_TARGET) else {
        return Ok(None);
    };
    let mut exports: Option<SideExports> = None;
    for path in libraries(package) {
        let mut library = LibraryFile::open(&path)?;
        if !elf::is_x86_64(&library.read_range(0..64)?) {
            continue;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let symbols = elf::exports(&mut library, &is_plugin_api_name)?;
        let exports = exports.get_or_insert_default();
        for function in symbols.names {
            exports
                .entry(function)
                .or_default()
                .insert(name.to_string());
        }
    }
    Ok(exports)
}

/// Returns the libraries with "tensorflow" in their names, directly in `tensorflow/` and `tensorflow/python/`, as in a
/// wheel. Symbolic links are left out, since their targets are libraries of their own.
fn libraries(package: &Path) -> Vec<PathBuf> {
    let folders = [package.to_owned(), package.join("python")];
    let entries = folders
        .iter()
        .filter_map(|folder| fs::read_dir(folder).ok());
    let paths = entries.flatten().flatten().map(|entry| entry.path());
    let is_library = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let shared = name.ends_with(".so") || name.contains(".so.");
        shared && name.contains("tensorflow") && path.is_file() && !path.is_symlink()
    };
    let mut libraries: Vec<PathBuf> = paths.filter(is_library).collect();
    libraries.sort();
    libraries
}

/// A library file.
struct LibraryFile {
    path: PathBuf,
    file: File,
    length: u64,
}

impl LibraryFile {
    fn open(path: &Path) -> Result<Self> {
        let unreadable = |source| OperandError::Unreadable {
            path: path.to_owned(),
            source,
        };
        let file = input::open_regular_file(path).map_err(unreadable)?;
        let length = file.metadata().map_err(unreadable)?.len();
        let path = path.to_owned();
        Ok(Self { path, file, length })
    }

    fn read_file_range(&mut self, range: &Range<u64>) -> io::Result<Vec<u8>> {
        let end = range.end.min(self.length);
        let mut bytes = Vec::new();
        self.file.seek(SeekFrom::Start(range.start))?;
        let length = end.saturating_sub(range.start);
        self.file.by_ref().take(length).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

impl Binary for LibraryFile {
    type Error = FetchError;

    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn length(&self) -> u64 {
        self.length
    }

    fn read_ranges(
        &mut self,
        ranges: &[Range<u64>],
    ) -> std::result::Result<Vec<Vec<u8>>, FetchError> {
        let parts = ranges.iter().map(|range| self.read_file_range(range));
        let parts: io::Result<Vec<_>> = parts.collect();
        parts.map_err(|error| FetchError::unreadable(self.name(), error))
    }
}
