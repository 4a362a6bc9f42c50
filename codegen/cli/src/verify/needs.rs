//! The libraries that a plugin needs, found where the dynamic loader finds them, and what all of them
//! that came with the plugin ask of others.

use crate::diagnostic::Result;
use serde::Serialize;
use sp_host::escape_control;
use sp_library::binary::LibraryError;
use sp_library::binary::NameFilter;
use sp_library::elf;
use sp_library::names::LibraryNames;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Where the loader looks at last, on the systems that TensorFlow's wheels are for.
const SYSTEM: [&str; 6] = [
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
];

/// A library that must be there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Library {
    /// As the file names it.
    pub name: String,
    /// Which file names it.
    pub needed_by: String,
    /// Where it comes from.
    pub found: Found,
    /// Its file, if it came with the plugin or this machine has it.
    #[serde(skip)]
    pub path: Option<PathBuf>,
}

/// Where a library comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    /// TensorFlow has it loaded, in the releases that have one of this name.
    TensorFlow,
    /// It came with the plugin.
    Beside,
    /// This machine has it.
    Machine,
    /// Nobody has.
    Nowhere,
}

/// How the names in a file are read: [`LibraryNames::read`] or [`LibraryNames::read_linked`].
pub type Read =
    fn(&str, Vec<u8>, NameFilter<'_>) -> std::result::Result<LibraryNames, LibraryError>;

/// A plugin with all that came with it.
#[derive(Debug, Default)]
pub struct Closure {
    /// The names in all of its files.
    pub names: LibraryNames,
    /// What they need, in the order in which it is met.
    pub libraries: Vec<Library>,
}

impl Closure {
    /// Reads the plugin and the libraries beside it, each as `read` does.
    ///
    /// # Errors
    /// Where the plugin is no library that can be read.
    pub fn of(plugin: &Path, bytes: Vec<u8>, wanted: NameFilter<'_>, read: Read) -> Result<Self> {
        let mut closure = Self::default();
        let mut waiting = vec![(plugin.to_owned(), bytes)];
        while let Some((path, bytes)) = waiting.pop() {
            let needs = elf::read_dependencies(&bytes).unwrap_or_default();
            let name = escape_control(&path.display().to_string());
            closure.add(read(&name, bytes, wanted)?);
            for name in &needs.needed {
                let (found, at) = find(name, &path, &needs.folders);
                if !closure.add_library(name, &path, found, at.clone()) {
                    continue;
                }
                let own = at.filter(|_| found == Found::Beside);
                waiting.extend(own.and_then(|path| Some((path.clone(), fs::read(path).ok()?))));
            }
        }
        Ok(closure)
    }

    fn add(&mut self, names: LibraryNames) {
        self.names.exported.extend(names.exported);
        self.names.imported.extend(names.imported);
        self.names.literals.extend(names.literals);
    }

    /// Whether the library is a new one.
    fn add_library(&mut self, name: &str, by: &Path, found: Found, path: Option<PathBuf>) -> bool {
        if self.libraries.iter().any(|known| known.name == name) {
            return false;
        }
        let by = by.file_name().unwrap_or(by.as_os_str());
        self.libraries.push(Library {
            name: name.to_owned(),
            needed_by: by.to_string_lossy().into_owned(),
            found,
            path,
        });
        true
    }

    /// What the files import and none of them has.
    pub fn wanted(&self) -> BTreeSet<String> {
        let names = &self.names;
        names
            .imported
            .difference(&names.exported)
            .cloned()
            .collect()
    }
}

/// Where a library is that the one at `by` needs.
fn find(name: &str, by: &Path, folders: &[String]) -> (Found, Option<PathBuf>) {
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
        Some(path) => (Found::Beside, Some(path)),
        None if is_tensorflow => (Found::TensorFlow, None),
        None => match machine.find(|path| path.is_file()) {
            Some(path) => (Found::Machine, Some(path)),
            None => (Found::Nowhere, None),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_looked_for_beside_the_plugin_then_on_the_machine() {
        let folder = std::env::temp_dir().join(format!("sp-gen-needs-{}", std::process::id()));
        fs::create_dir_all(folder.join("own")).unwrap();
        fs::write(folder.join("own/libown.so.1"), "").unwrap();
        let plugin = folder.join("libplugin.so");
        let find = |name: &str| find(name, &plugin, &["${ORIGIN}/own".to_owned()]).0;
        assert_eq!(find("libown.so.1"), Found::Beside);
        assert_eq!(find("libtensorflow_framework.so.2"), Found::TensorFlow);
        assert_eq!(find("libnosuch.so.7"), Found::Nowhere);
        assert_eq!(find("libc.so.6"), Found::Machine);
        fs::remove_dir_all(&folder).unwrap();
    }
}
