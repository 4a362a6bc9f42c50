//! What a plugin's file asks of its host, by API and release; C++ names come with no promise at all.

use super::needs::{Closure, Library};
use crate::diagnostic::Result;
use serde::Serialize;
use sp_data::folders::DataFolders;
use sp_data::platform::Platform;
use sp_data::symbols::Symbols;
use sp_fetch::symbols::is_wanted;
use sp_host::escape_control;
use sp_ir::{Api, Item};
use sp_library::names::LibraryNames;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// What the parts of a mangled name look like that belong to TensorFlow or what it is built from.
const NAMESPACES: [&str; 6] = [
    "10tensorflow",
    "3tsl",
    "3xla",
    "15stream_executor",
    "4absl",
    "6google8protobuf",
];

/// What the file asks for, and the libraries that came with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Asked {
    /// The libraries that must be there.
    pub libraries: Vec<Library>,
    /// TensorFlow's C functions that it imports or carries the names of.
    pub functions: Vec<Function>,
    /// TensorFlow's C++ symbols that it imports, mangled.
    pub cplusplus: Vec<String>,
}

/// One C function of TensorFlow's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Function {
    /// Its symbol.
    pub name: String,
    /// The API that declares it, where one does.
    pub api: Option<String>,
    /// The releases whose wheel exports it.
    pub releases: Vec<String>,
    /// Whether the file does not load where it is missing; else the plugin looks it up itself.
    pub imported: bool,
}

/// What stands in the file, and in the libraries that came with it.
pub(super) fn closure(plugin: &Path, bytes: Vec<u8>) -> Result<Closure> {
    let wanted = |name: &str| is_wanted(name) || is_cplusplus(name);
    Closure::of(plugin, bytes, &wanted, LibraryNames::read)
}

/// The C++ symbols of TensorFlow's that the file wants; none where it cannot be read.
pub(super) fn cplusplus(plugin: &Path) -> BTreeSet<String> {
    let bytes = fs::read(plugin).ok();
    let read = |bytes| Closure::of(plugin, bytes, &is_cplusplus, LibraryNames::read_linked).ok();
    let closure = bytes.and_then(read);
    closure.map_or_else(BTreeSet::new, |closure| closure.wanted())
}

/// Sorts the names.
pub(super) fn of(closure: &Closure, apis: &[Api], place: &DataFolders) -> Result<Asked> {
    let (names, wanted) = (&closure.names, closure.wanted());
    let symbols = Symbols::load(place)?;
    let function = |name: &String| Function {
        name: escape_control(name),
        api: declaring(apis, name),
        releases: exporting(&symbols, name),
        imported: wanted.contains(name),
    };
    let all = wanted.union(&names.literals);
    let functions = all.filter(|name| is_wanted(name)).map(function);
    // A name in the data is a function's only where some header or library says so.
    let known = functions.filter(|it| it.imported || it.api.is_some());
    let cplusplus = wanted.iter().filter(|name| is_cplusplus(name));
    Ok(Asked {
        libraries: closure.libraries.iter().map(escaped).collect(),
        functions: known.collect(),
        cplusplus: cplusplus.map(|name| escape_control(name)).collect(),
    })
}

/// The names in a file are whatever its author wrote.
fn escaped(library: &Library) -> Library {
    Library {
        name: escape_control(&library.name),
        needed_by: escape_control(&library.needed_by),
        ..library.clone()
    }
}

fn is_cplusplus(name: &str) -> bool {
    name.starts_with("_Z") && NAMESPACES.iter().any(|part| name.contains(part))
}

fn declaring(apis: &[Api], symbol: &str) -> Option<String> {
    let is_it = |item: &Item| match item {
        Item::Function(function) => function.symbol == symbol && is_core(function),
        _ => false,
    };
    let declares = |api: &&Api| api.items.values().any(is_it);
    apis.iter().find(declares).map(|api| api.name.clone())
}

fn is_core(function: &sp_ir::Function) -> bool {
    let by = function.exported_by.as_ref().map(|by| by.value);
    !function.inline && by != Some(sp_ir::Side::Plugin)
}

fn exporting(symbols: &Symbols, name: &str) -> Vec<String> {
    let known = symbols.availability(name);
    let releases = known.releases(super::PACKAGE, Platform::LinuxX86_64);
    releases.iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mangled_names_of_tensorflow_are_told_from_others() {
        assert!(is_cplusplus(
            "_ZN10tensorflow8OpKernelC2EPNS_20OpKernelConstructionE"
        ));
        assert!(is_cplusplus("_ZNK3tsl6Status8ToStringEv"));
        assert!(!is_cplusplus("_ZNSt6vectorIiE4sizeEv"));
        assert!(!is_cplusplus("TF_NewStatus"));
    }
}
