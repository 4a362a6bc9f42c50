//! A note to the author of a plugin whose device takes a PJRT client from TensorFlow.

use std::path::Path;

use sp_library::names::LibraryNames;
use sp_system::input::{self, MAX_LIBRARY_BYTES};

/// The entry point of such a plugin, and the C function that gives core its client.
const NAMES: [&str; 2] = ["TFNPD_InitPlugin", "TF_CreateAndSetPjRtCApiClient"];

const NOTE: &str = "a NextPluggableDevice computes in TensorFlow 2.16 to 2.18 only: later wheels do not export \
                    TF_CreateAndSetPjRtCApiClient, without which core has no PJRT client of the plugin \
                    (codegen/docs/next-pluggable-device.md)";

/// Returns the note if the library exports, imports or contains one of the names.
pub fn note(plugin: &Path) -> Option<&'static str> {
    let bytes = input::read(plugin, MAX_LIBRARY_BYTES).ok()?;
    let names = LibraryNames::read("the plugin", &bytes, &|name| NAMES.contains(&name)).ok()?;
    let found = [names.exported, names.imported, names.literals];
    found.iter().any(|it| !it.is_empty()).then_some(NOTE)
}
