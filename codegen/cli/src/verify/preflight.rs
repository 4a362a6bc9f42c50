//! Reasons to reject a file without running it, read from its ELF headers and symbols in milliseconds.

use super::VerifyError;
use super::dependencies::{Closure, LibrarySource};
use crate::diagnostic::Result;
use sp_host::{ENTRY_POINTS, escape_control};
use sp_library::elf;
use sp_library::names::LibraryNames;
use sp_system::input::{self, MAX_LIBRARY_BYTES};
use std::collections::BTreeSet;
use std::env::consts::ARCH;
use std::path::Path;

/// Checks that the file is for this machine and exports an entry point of a plugin.
///
/// # Errors
/// Returns an error if it is not or does not, or is no library that can be read.
pub(super) fn check(plugin: &Path, bytes: &[u8]) -> Result<()> {
    check_machine(plugin, bytes)?;
    match entry_points(plugin, bytes)?.is_empty() {
        true => {
            let shown = escape_control(&plugin.display().to_string());
            Err(VerifyError::NoEntryPoint(shown).into())
        }
        false => Ok(()),
    }
}

/// Checks that the file is for this machine.
///
/// # Errors
/// Returns an error if it is not.
pub(super) fn check_machine(plugin: &Path, bytes: &[u8]) -> Result<()> {
    let shown = escape_control(&plugin.display().to_string());
    let machine = elf::machine(bytes).map(elf::machine_name);
    if let Some(machine) = machine.filter(|machine| machine != ARCH) {
        let plugin = shown;
        return Err(VerifyError::WrongMachine { plugin, machine }.into());
    }
    Ok(())
}

/// Returns the entry points that `dlsym` finds: those of the file and of the libraries that it needs.
fn entry_points(plugin: &Path, bytes: &[u8]) -> Result<BTreeSet<String>> {
    let wanted = |name: &str| ENTRY_POINTS.contains(&name);
    let closure = Closure::read(plugin, bytes.into(), &wanted, LibraryNames::read_linked)?;
    let own = closure.names.exported;
    if !own.is_empty() {
        return Ok(own);
    }
    let machine = closure.libraries.iter();
    let machine = machine.filter(|library| library.source == LibrarySource::System);
    let exported = machine.filter_map(|library| {
        let bytes = input::read(library.path.as_ref()?, MAX_LIBRARY_BYTES).ok()?;
        Some(
            LibraryNames::read_linked(&library.name, &bytes, &wanted)
                .ok()?
                .exported,
        )
    });
    Ok(exported.flatten().collect())
}
