//! Facts of a plugin's file that need no loading: machine, libraries and entry points.

use super::{Step, StepKind};
use crate::verify::dependencies::{Closure, LibrarySource, NeededLibrary};
use sp_host::ENTRY_POINTS;
use sp_library::elf;
use sp_library::names::LibraryNames;
use sp_system::input::{self, MAX_LIBRARY_BYTES};
use std::collections::BTreeSet;
use std::path::Path;

/// The entry point without which a plugin has no device.
const DEVICE: &str = "SE_InitPlugin";

/// Returns the step of a file in the plugins folder that TensorFlow does not load.
pub fn not_loaded(path: &str) -> Step {
    Step::unknown(
        StepKind::File,
        "TensorFlow loads only files whose names end with .so or .so.NUMBER",
        "rename it if it is a plugin",
    )
    .for_plugin(path)
}

/// Returns the steps of the file of a plugin of TensorFlow at `path` for a Python on `machine`.
pub fn steps(path: &Path, machine: &str) -> Vec<Step> {
    steps_with(path, machine, DEVICE)
}

/// Returns the steps of the file at `path` of a plugin that exports `entry_point`.
pub fn steps_with(path: &Path, machine: &str, entry_point: &str) -> Vec<Step> {
    let kind = StepKind::File;
    let bytes = match input::read(path, MAX_LIBRARY_BYTES) {
        Ok(bytes) => bytes,
        Err(error) => {
            let advice = "install the plugin again: a link in the folder may be broken";
            return vec![Step::failed(kind, &error.to_string(), advice)];
        }
    };
    if !elf::is_elf(&bytes) {
        let advice = "install the plugin again: the file may be truncated, or of another system";
        return vec![Step::failed(
            kind,
            "the file is not a 64-bit ELF library",
            advice,
        )];
    }
    let file = Step::ok(kind, &format!("{} bytes", bytes.len()));
    let mut steps = vec![file, architecture(&bytes, machine)];
    let wanted = |name: &str| name == entry_point || ENTRY_POINTS.contains(&name);
    match Closure::read(path, bytes.into(), &wanted, LibraryNames::read_linked) {
        Ok(closure) => steps.extend([
            libraries(&closure.libraries),
            entry_points(&closure.names.exported, entry_point),
        ]),
        Err(error) => steps.push(Step::failed(
            StepKind::Libraries,
            &error.to_string(),
            "install the plugin again: the file may be truncated",
        )),
    }
    steps
}

fn architecture(bytes: &[u8], machine: &str) -> Step {
    let kind = StepKind::Architecture;
    let found = elf::machine(bytes).map(elf::machine_name);
    let found = found.unwrap_or_else(|| "no machine".to_owned());
    // Names on systems other than Linux.
    let machine = match machine {
        "arm64" => "aarch64",
        "AMD64" | "amd64" => "x86_64",
        other => other,
    };
    match found == machine {
        true => Step::ok(kind, &found),
        false => Step::failed(
            kind,
            &format!("the file is for {found}, this Python runs on {machine}"),
            &format!("build the plugin for {machine}, and install that"),
        ),
    }
}

fn libraries(libraries: &[NeededLibrary]) -> Step {
    let kind = StepKind::Libraries;
    let missing = libraries
        .iter()
        .filter(|it| it.source == LibrarySource::Missing);
    let missing: Vec<String> = missing
        .map(|it| format!("{} (needed by {})", it.name, it.needed_by))
        .collect();
    if !missing.is_empty() {
        return Step::unknown(
            kind,
            &format!(
                "libraries that are not in the usual folders: {}",
                missing.join(", ")
            ),
            "install them, or name their folder in LD_LIBRARY_PATH, if the step `load` fails",
        );
    }
    let names: Vec<&str> = libraries.iter().map(|it| it.name.as_str()).collect();
    match names.is_empty() {
        true => Step::ok(kind, "the file needs no library"),
        false => Step::ok(kind, &names.join(", ")),
    }
}

fn entry_points(exported: &BTreeSet<String>, needed: &str) -> Step {
    let kind = StepKind::EntryPoints;
    let names = exported.iter().cloned().collect::<Vec<_>>().join(", ");
    match (exported.contains(needed), exported.is_empty()) {
        (true, _) => Step::ok(kind, &names),
        (_, true) => Step::failed(
            kind,
            "the file exports no entry point of a plugin",
            &format!(
                "export {needed}: `plugin!` exports SE_InitPlugin; in C, check the visibility of symbols"
            ),
        ),
        _ => Step::failed(
            kind,
            &format!("the file exports {names}, but not {needed}, so the plugin has no device"),
            &format!("export {needed}, if the plugin is to have a device"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::StepVerdict;
    use sp_library::sample::elf_library;
    use std::fs;

    fn verdicts(bytes: &[u8], machine: &str) -> Vec<(StepKind, StepVerdict)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("libx.so");
        fs::write(&path, bytes).unwrap();
        let steps = steps(&path, machine);
        steps.iter().map(|it| (it.step, it.verdict)).collect()
    }

    fn device() -> Vec<u8> {
        let mut bytes = elf_library(&["SE_InitPlugin"], false, 8);
        bytes[18] = 62;
        bytes
    }

    #[test]
    fn accepts_library_with_entry_point_for_this_machine() {
        let expected = [
            StepKind::File,
            StepKind::Architecture,
            StepKind::Libraries,
            StepKind::EntryPoints,
        ]
        .map(|kind| (kind, StepVerdict::Ok));
        assert_eq!(verdicts(&device(), "x86_64"), expected);
    }

    #[test]
    fn fails_for_another_machine() {
        let found = verdicts(&device(), "aarch64");
        assert!(found.contains(&(StepKind::Architecture, StepVerdict::Failed)));
    }

    #[test]
    fn fails_without_the_entry_point_of_a_device() {
        for names in [&["TF_InitGraph"][..], &[]] {
            let found = verdicts(&elf_library(names, false, 8), "x86_64");
            assert!(found.contains(&(StepKind::EntryPoints, StepVerdict::Failed)));
        }
    }

    #[test]
    fn rejects_truncated_library_and_other_files() {
        let failed = [(StepKind::File, StepVerdict::Failed)];
        assert_eq!(verdicts(b"#!/bin/sh\n", "x86_64"), failed);
        let found = verdicts(&device()[..200], "x86_64");
        assert!(found.contains(&(StepKind::Libraries, StepVerdict::Failed)));
        let absent = steps(Path::new("/nonexistent/libx.so"), "x86_64");
        assert_eq!(absent[0].verdict, StepVerdict::Failed);
    }

    #[test]
    fn library_that_only_the_loader_finds_is_unknown() {
        let library = |source| NeededLibrary {
            name: "libdriver.so.1".into(),
            needed_by: "libx.so".into(),
            source,
            path: None,
        };
        let step = libraries(&[library(LibrarySource::Missing)]);
        assert_eq!(step.verdict, StepVerdict::Unknown);
        assert!(step.detail.contains("libdriver.so.1"));
        assert_eq!(
            libraries(&[library(LibrarySource::System)]).verdict,
            StepVerdict::Ok
        );
    }
}
