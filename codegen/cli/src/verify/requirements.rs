//! Requirements of a plugin's file on its host: libraries, C functions by API and release, and C++ symbols, whose
//! names may change with every build of TensorFlow.

use super::dependencies::{Closure, NeededLibrary};
use crate::diagnostic::Result;
use serde::Serialize;
use sp_data::folders::DataFolders;
use sp_data::platform::WheelPlatform;
use sp_data::symbols::Symbols;
use sp_diff::plugin::StatedFacts;
use sp_fetch::symbols::is_plugin_api_name;
use sp_host::escape_control;
use sp_ir::{Api, Item};
use sp_library::names::LibraryNames;
use sp_system::input::{self, MAX_LIBRARY_BYTES};
use std::collections::BTreeSet;
use std::path::Path;

/// Namespaces of TensorFlow and its dependencies, as parts of mangled names.
const NAMESPACES: [&str; 6] = [
    "10tensorflow",
    "3tsl",
    "3xla",
    "15stream_executor",
    "4absl",
    "6google8protobuf",
];

/// Requirements of a plugin and of the libraries in its folders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Requirements {
    /// The libraries that it needs.
    pub libraries: Vec<NeededLibrary>,
    /// TensorFlow's C functions that it imports or looks up by name.
    pub functions: Vec<RequiredFunction>,
    /// TensorFlow's C++ symbols that it imports, mangled.
    pub cplusplus: Vec<String>,
}

/// A C function of TensorFlow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RequiredFunction {
    /// Its symbol.
    pub name: String,
    /// The API that declares it, if any.
    pub api: Option<String>,
    /// The releases whose wheel exports it.
    pub releases: Vec<String>,
    /// True if the file does not load without it; otherwise the plugin looks it up itself.
    pub imported: bool,
    /// The loss without it that the plugin states: `loses kernels of Const`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<String>,
}

/// Reads the names in the file and in the libraries in its folders.
pub(super) fn closure(plugin: &Path, bytes: Vec<u8>) -> Result<Closure> {
    let wanted = |name: &str| is_plugin_api_name(name) || is_cplusplus(name);
    Closure::read(plugin, bytes.into(), &wanted, LibraryNames::read)
}

/// Returns the C++ symbols of TensorFlow that the file imports. Empty if it cannot be read.
pub(super) fn cplusplus(plugin: &Path) -> BTreeSet<String> {
    let bytes = input::read(plugin, MAX_LIBRARY_BYTES).ok();
    let read = |bytes: Vec<u8>| {
        Closure::read(
            plugin,
            bytes.into(),
            &is_cplusplus,
            LibraryNames::read_linked,
        )
        .ok()
    };
    let closure = bytes.and_then(read);
    closure.map_or_else(BTreeSet::new, |closure| closure.unresolved())
}

/// Sorts the names by kind and API.
pub(super) fn from_closure(
    closure: &Closure,
    stated: &StatedFacts,
    apis: &[Api],
    folders: &DataFolders,
) -> Result<Requirements> {
    let (names, wanted) = (&closure.names, closure.unresolved());
    let symbols = Symbols::load(folders)?;
    let function = |name: &String| RequiredFunction {
        name: escape_control(name),
        api: declaring(apis, name),
        releases: exporting(&symbols, name),
        imported: wanted.contains(name),
        loss: stated.loss(name).map(ToString::to_string),
    };
    let all = wanted.union(&names.literals);
    let functions = all.filter(|name| is_plugin_api_name(name)).map(function);
    // A name in the data may be any string, unless a header declares a function of that name.
    let known = functions.filter(|it| it.imported || it.api.is_some());
    let cplusplus = wanted.iter().filter(|name| is_cplusplus(name));
    Ok(Requirements {
        libraries: closure.libraries.iter().map(escaped).collect(),
        functions: known.collect(),
        cplusplus: cplusplus.map(|name| escape_control(name)).collect(),
    })
}

/// Returns the library with escaped names, since a file may contain any bytes.
fn escaped(library: &NeededLibrary) -> NeededLibrary {
    NeededLibrary {
        name: escape_control(&library.name),
        needed_by: escape_control(&library.needed_by),
        ..library.clone()
    }
}

fn is_cplusplus(name: &str) -> bool {
    name.starts_with("_Z") && NAMESPACES.iter().any(|part| name.contains(part))
}

fn declaring(apis: &[Api], symbol: &str) -> Option<String> {
    let declares = |api: &&Api| {
        let mut functions = api.items.values().filter_map(Item::as_function);
        functions.any(|it| it.symbol == symbol && it.is_exported_by_core())
    };
    apis.iter().find(declares).map(|api| api.name.clone())
}

fn exporting(symbols: &Symbols, name: &str) -> Vec<String> {
    let known = symbols.availability(name);
    let releases = known.releases(super::PACKAGE, WheelPlatform::LinuxX86_64);
    releases.iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_mangled_names_of_tensorflow() {
        assert!(is_cplusplus(
            "_ZN10tensorflow8OpKernelC2EPNS_20OpKernelConstructionE"
        ));
        assert!(is_cplusplus("_ZNK3tsl6Status8ToStringEv"));
        assert!(!is_cplusplus("_ZNSt6vectorIiE4sizeEv"));
        assert!(!is_cplusplus("TF_NewStatus"));
    }
}
