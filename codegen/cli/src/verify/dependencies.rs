//! Libraries that a plugin needs, found as the dynamic loader does, and the names that the plugin and the
//! libraries in its folders import.

use super::VerifyError;
use crate::diagnostic::Result;
use serde::Serialize;
use sp_host::escape_control;
use sp_library::binary::LibraryError;
use sp_library::binary::NameFilter;
use sp_library::elf;
use sp_library::names::LibraryNames;
use sp_system::budget::Budget;
use sp_system::input::{self, MAX_LIBRARY_BYTES};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Folders that the loader searches last, on the systems of TensorFlow's wheels.
const SYSTEM: [&str; 6] = [
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
];

/// Largest size of all libraries that a plugin brings.
const MAX_TOTAL_BYTES: u64 = 4 * MAX_LIBRARY_BYTES;

/// Most files that are looked for. A plugin needs some dozens of libraries, and has a few folders.
const MAX_LOOKUPS: Budget = Budget::new(1 << 16, 0);

fn too_many_lookups(path: &Path) -> VerifyError {
    let shown = escape_control(&path.display().to_string());
    VerifyError::NoPlugin(format!(
        "{shown}: it needs more libraries in more folders than any real library"
    ))
}

/// A library that a file needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NeededLibrary {
    /// Its name in the file that needs it.
    pub name: String,
    /// The file that needs it.
    pub needed_by: String,
    /// Its source.
    pub source: LibrarySource,
    /// Its file, if it was found.
    #[serde(skip)]
    pub path: Option<PathBuf>,
}

/// The source of a library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LibrarySource {
    /// TensorFlow has it loaded, in the releases that have a library of this name.
    #[serde(rename = "tensorflow")]
    TensorFlow,
    /// A folder of the plugin.
    Plugin,
    /// A folder of the system.
    System,
    /// It was not found.
    Missing,
}

/// A function that reads the names in a file: [`LibraryNames::read`] or [`LibraryNames::read_linked`].
pub type Read = fn(&str, &[u8], NameFilter<'_>) -> std::result::Result<LibraryNames, LibraryError>;

/// A plugin with the libraries that it needs.
#[derive(Debug, Default)]
pub struct Closure {
    /// The names in the plugin and the libraries in its folders.
    pub names: LibraryNames,
    /// The needed libraries, in the order of their discovery.
    pub libraries: Vec<NeededLibrary>,
}

impl Closure {
    /// Reads the plugin and the libraries in its folders with `read`.
    ///
    /// # Errors
    /// Returns an error if the plugin is not a library that can be read.
    pub fn read(
        plugin: &Path,
        bytes: Cow<'_, [u8]>,
        wanted: NameFilter<'_>,
        read_names: Read,
    ) -> Result<Self> {
        let mut closure = Self::default();
        let mut lookups = MAX_LOOKUPS;
        let mut next = Some((plugin.to_owned(), bytes));
        let (mut waiting, mut left) = (Vec::new(), MAX_TOTAL_BYTES);
        while let Some((path, bytes)) = next.take() {
            let needs = elf::read_dependencies(&bytes).unwrap_or_default();
            let name = escape_control(&path.display().to_string());
            closure.add(read_names(&name, &bytes, wanted)?);
            for name in &needs.needed {
                let folders = needs.folders.len() + SYSTEM.len();
                lookups.step(folders).map_err(|_| too_many_lookups(&path))?;
                let (source, path_found) = find(name, &path, &needs.folders);
                if !closure.add_library(name, &path, source, path_found.clone()) {
                    continue;
                }
                waiting.extend(path_found.filter(|_| source == LibrarySource::Plugin));
            }
            // One library at a time is in memory.
            while next.is_none()
                && let Some(path) = waiting.pop()
            {
                let bytes = input::read(&path, left.min(MAX_LIBRARY_BYTES)).ok();
                next = bytes.map(|bytes| (path, Cow::Owned(bytes)));
            }
            left = left.saturating_sub(next.as_ref().map_or(0, |(_, bytes)| bytes.len() as u64));
        }
        Ok(closure)
    }

    fn add(&mut self, names: LibraryNames) {
        self.names.exported.extend(names.exported);
        self.names.imported.extend(names.imported);
        self.names.literals.extend(names.literals);
    }

    /// Adds the library. Returns true if it is a new one.
    fn add_library(
        &mut self,
        name: &str,
        by: &Path,
        source: LibrarySource,
        path: Option<PathBuf>,
    ) -> bool {
        if self.libraries.iter().any(|known| known.name == name) {
            return false;
        }
        let by = by.file_name().unwrap_or(by.as_os_str());
        self.libraries.push(NeededLibrary {
            name: name.to_owned(),
            needed_by: by.to_string_lossy().into_owned(),
            source,
            path,
        });
        true
    }

    /// Returns the names that the files import and none of them exports.
    pub fn unresolved(&self) -> BTreeSet<String> {
        let names = &self.names;
        let names = names.imported.difference(&names.exported).cloned();
        names.collect()
    }
}

/// Finds a library that the file at `by` needs.
fn find(name: &str, by: &Path, folders: &[String]) -> (LibrarySource, Option<PathBuf>) {
    let origin = by.parent().unwrap_or(Path::new("")).display().to_string();
    let own = folders.iter().map(|folder| {
        let folder = folder.replace("${ORIGIN}", &origin);
        PathBuf::from(folder.replace("$ORIGIN", &origin)).join(name)
    });
    let listed = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let machine = std::env::split_paths(&listed).chain(SYSTEM.map(PathBuf::from));
    let mut machine = machine.map(|folder| folder.join(name));
    let is_tensorflow = name.contains("tensorflow");
    match own.into_iter().find(|path| path.is_file()) {
        Some(path) => (LibrarySource::Plugin, Some(path)),
        None if is_tensorflow => (LibrarySource::TensorFlow, None),
        None => match machine.find(|path| path.is_file()) {
            Some(path) => (LibrarySource::System, Some(path)),
            None => (LibrarySource::Missing, None),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn reads_each_library_that_the_plugin_brings() {
        let folder = tempfile::tempdir().unwrap();
        let compile = |name: &str, arguments: &[&str]| {
            let source = folder.path().join(format!("{name}.c"));
            fs::write(&source, format!("int TF_{name}(void) {{ return 0; }}\n")).unwrap();
            let mut cc = std::process::Command::new("cc");
            cc.args([
                "-shared",
                "-fPIC",
                "-Wl,--no-as-needed",
                "-Wl,-rpath,$ORIGIN",
                "-o",
            ]);
            cc.arg(format!("lib{name}.so")).arg(source).args(arguments);
            let status = cc.current_dir(folder.path()).status();
            status.is_ok_and(|it| it.success())
        };
        let own = ["first", "second", "third"];
        let libraries = ["-L.", "-lfirst", "-lsecond", "-lthird"];
        if !own.iter().all(|name| compile(name, &[])) || !compile("plugin", &libraries) {
            println!("skipped: no C compiler");
            return;
        }
        let plugin = folder.path().join("libplugin.so");
        let bytes = fs::read(&plugin).unwrap();
        let is_function = |name: &str| name.starts_with("TF_");
        let closure =
            Closure::read(&plugin, bytes.into(), &is_function, LibraryNames::read).unwrap();
        let expected = ["TF_first", "TF_plugin", "TF_second", "TF_third"];
        assert!(closure.names.exported.iter().eq(&expected));
    }

    #[test]
    fn searches_folders_of_plugin_then_of_system() {
        let folder = std::env::temp_dir().join(format!("sp-gen-needs-{}", std::process::id()));
        fs::create_dir_all(folder.join("own")).unwrap();
        fs::write(folder.join("own/libown.so.1"), "").unwrap();
        let plugin = folder.join("libplugin.so");
        let find = |name: &str| find(name, &plugin, &["${ORIGIN}/own".to_owned()]).0;
        assert_eq!(find("libown.so.1"), LibrarySource::Plugin);
        let expected = LibrarySource::TensorFlow;
        assert_eq!(find("libtensorflow_framework.so.2"), expected);
        assert_eq!(find("libnosuch.so.7"), LibrarySource::Missing);
        assert_eq!(find("libc.so.6"), LibrarySource::System);
        fs::remove_dir_all(&folder).unwrap();
    }
}
