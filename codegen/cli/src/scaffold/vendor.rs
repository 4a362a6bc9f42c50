//! The crates that a plugin stands on, carried as bytes and laid down under `vendor/`.
//!
//! They are copied verbatim: what they take from their workspace stands in `vendor/Cargo.toml`,
//! which is a workspace of its own.

use crate::embedded::{CRATE_FILES, CRATES};
use std::collections::{BTreeMap, BTreeSet};
use toml::{Table, Value};

const ROOT_MANIFEST: &str = include_str!("../../../../Cargo.toml");
const LICENSE: &str = include_str!("../../../../LICENSE");

/// The vendored files by their path in the plugin.
pub fn files() -> Vec<(String, Vec<u8>)> {
    let verbatim = CRATE_FILES
        .iter()
        .map(|(path, bytes)| (format!("vendor/{path}"), bytes.to_vec()));
    let licenses = crates().map(|name| (license_path(name), LICENSE.as_bytes().to_vec()));
    let manifest = ("vendor/Cargo.toml".to_owned(), workspace().into_bytes());
    verbatim.chain(licenses).chain([manifest]).collect()
}

fn license_path(name: &str) -> String {
    format!("vendor/{name}/LICENSE")
}

/// Returns `vendor/Cargo.toml`: our workspace without what the vendored crates do not use.
fn workspace() -> String {
    let all: Vec<&str> = crates().collect();
    format!(
        "# The crates of sp-gen that this plugin stands on, as the sp-gen that wrote it carried them.\n\n{}",
        workspace_of(&all, "")
    )
}

/// Returns the tables of a workspace with the members `crates`, each in the folder `prefix` + its name,
/// and sp-abi.
fn workspace_of(crates: &[&str], prefix: &str) -> String {
    let root = parse(ROOT_MANIFEST);
    let ours = root["workspace"]
        .as_table()
        .expect("our manifest is a workspace");
    let used: BTreeSet<String> = crates
        .iter()
        .chain(&["sp-abi"])
        .flat_map(|name| dependencies(name, &SECTIONS))
        .collect();
    let dependencies: Table = ours["dependencies"]
        .as_table()
        .into_iter()
        .flatten()
        .filter(|(name, _)| used.contains(*name))
        .map(|(name, value)| (name.clone(), relocated(name, value, prefix)))
        .collect();
    let members: Vec<String> = crates.iter().map(|it| format!("{prefix}{it}")).collect();
    let mut workspace = Table::new();
    workspace.insert("resolver".into(), ours["resolver"].clone());
    workspace.insert("members".into(), members.into());
    workspace.insert("package".into(), ours["package"].clone());
    workspace.insert("dependencies".into(), dependencies.into());
    workspace.insert("lints".into(), ours["lints"].clone());
    Table::from_iter([("workspace".to_owned(), Value::from(workspace))]).to_string()
}

/// Returns a dependency as the vendored workspace has it: our crates are in `prefix` + their name.
fn relocated(name: &str, value: &Value, prefix: &str) -> Value {
    let mut value = value.clone();
    if let Some(path) = value.get_mut("path") {
        *path = format!("{prefix}{name}").into();
    }
    value
}

/// Adds to `files`, the generated sp-abi crate, what it needs to build outside of a workspace: the
/// workspace's tables in its manifest, and the crates that it depends on under `vendor/`.
pub fn make_standalone(files: &mut BTreeMap<String, String>) {
    let needed = our_dependencies("sp-abi");
    if let Some(manifest) = files.get_mut("Cargo.toml") {
        *manifest += &format!("\n{}", workspace_of(&needed, "vendor/"));
    }
    let of_needed = |(path, bytes): &(&str, &[u8])| {
        let name = path.split('/').next()?;
        let text = String::from_utf8_lossy(bytes).into_owned();
        needed
            .contains(&name)
            .then(|| (format!("vendor/{path}"), text))
    };
    files.extend(CRATE_FILES.iter().filter_map(of_needed));
    files.extend(
        needed
            .iter()
            .map(|name| (license_path(name), LICENSE.to_owned())),
    );
}

/// Returns our crates that `name` depends on, directly or not.
fn our_dependencies(name: &str) -> Vec<&'static str> {
    let (mut found, mut open) = (BTreeSet::new(), vec![name.to_owned()]);
    while let Some(name) = open.pop() {
        let direct = dependencies(&name, &SECTIONS);
        let ours = crates().filter(|it| direct.contains(*it));
        open.extend(ours.filter(|it| found.insert(*it)).map(str::to_owned));
    }
    found.into_iter().collect()
}

/// What a plugin's manifest depends on, in its build or its tests.
pub fn manifest_dependencies(manifest: &str) -> Vec<String> {
    let manifest = manifest.parse::<Table>().unwrap_or_default();
    let sections = SECTIONS
        .iter()
        .filter_map(|section| manifest.get(*section)?.as_table());
    let names: BTreeSet<&String> = sections.flat_map(Table::keys).collect();
    names.into_iter().cloned().collect()
}

/// The sections of a manifest that name dependencies; the last is for tests only.
pub(super) const SECTIONS: [&str; 3] = ["dependencies", "build-dependencies", "dev-dependencies"];

/// What a vendored crate's manifest names in the given sections, for any target.
pub(super) fn dependencies(name: &str, sections: &[&str]) -> BTreeSet<String> {
    let path = format!("{name}/Cargo.toml");
    let bytes = CRATE_FILES
        .iter()
        .find(|(file, _)| *file == path)
        .map_or(&[][..], |(_, bytes)| bytes);
    let manifest = parse(&String::from_utf8_lossy(bytes));
    let targets = manifest
        .get("target")
        .and_then(Value::as_table)
        .into_iter()
        .flatten();
    let tables: Vec<&Table> = targets
        .filter_map(|(_, table)| table.as_table())
        .chain([&manifest])
        .collect();
    let listed = tables.iter().flat_map(|table| {
        sections
            .iter()
            .filter_map(|section| table.get(*section)?.as_table())
    });
    listed.flat_map(|section| section.keys().cloned()).collect()
}

/// The carried crates.
pub(super) fn crates() -> impl Iterator<Item = &'static str> {
    CRATES.iter().map(|(name, _)| *name)
}

/// Our own manifests and lock: a malformed one would not have built this binary.
pub(super) fn parse(text: &str) -> Table {
    text.parse()
        .expect("cargo read this file when it built sp-gen")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::{Path, PathBuf};

    fn checkout() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    #[test]
    fn what_is_carried_is_what_is_on_disk() {
        for (path, bytes) in CRATE_FILES {
            let (name, inside) = path.split_once('/').unwrap();
            let (_, folder) = CRATES
                .iter()
                .find(|(crate_name, _)| *crate_name == name)
                .unwrap();
            let disk = checkout().join(folder).join(inside);
            assert!(
                fs::read(&disk).unwrap() == *bytes,
                "{} has changed since sp-gen was built",
                disk.display()
            );
        }
    }

    #[test]
    fn every_source_on_disk_is_carried() {
        for (name, folder) in CRATES {
            let carried = |file: &Path| {
                let inside = file.strip_prefix(checkout().join(folder)).unwrap();
                let path = format!("{name}/{}", inside.display());
                CRATE_FILES.iter().any(|(carried, _)| *carried == path)
            };
            assert!(carried(&checkout().join(folder).join("Cargo.toml")));
            let mut open = vec![checkout().join(folder).join("src")];
            while let Some(place) = open.pop() {
                for entry in fs::read_dir(place).unwrap().flatten() {
                    match entry.path().is_dir() {
                        true => open.push(entry.path()),
                        false => assert!(carried(&entry.path()), "{}", entry.path().display()),
                    }
                }
            }
        }
    }

    #[test]
    fn every_vendored_crate_has_its_licence() {
        let files = files();
        for name in crates() {
            let found = files.iter().find(|(path, _)| *path == license_path(name));
            let text = String::from_utf8_lossy(&found.unwrap().1).into_owned();
            assert!(
                text.contains("Apache-2.0") && text.contains("MIT"),
                "{name}: {text}"
            );
        }
    }

    /// Cargo refuses a manifest that names a target which is not there.
    #[test]
    fn every_target_that_a_manifest_names_is_carried() {
        let has = |path: &str| CRATE_FILES.iter().any(|(file, _)| *file == path);
        for name in crates() {
            let path = format!("{name}/Cargo.toml");
            let (_, bytes) = CRATE_FILES.iter().find(|(file, _)| *file == path).unwrap();
            let manifest = parse(std::str::from_utf8(bytes).unwrap());
            for (section, folder) in [
                ("test", "tests"),
                ("bench", "benches"),
                ("example", "examples"),
            ] {
                for target in manifest
                    .get(section)
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten()
                {
                    let named = format!("{folder}/{}.rs", target["name"].as_str().unwrap());
                    let file = target.get("path").and_then(Value::as_str).unwrap_or(&named);
                    assert!(has(&format!("{name}/{file}")), "{name}/{file}");
                }
            }
        }
    }

    #[test]
    fn the_vendored_workspace_has_all_that_its_crates_inherit() {
        let workspace = parse(&workspace());
        let has = workspace["workspace"]["dependencies"].as_table().unwrap();
        for name in crates() {
            for dependency in dependencies(name, &SECTIONS) {
                assert!(has.contains_key(&dependency), "{name} needs {dependency}");
            }
        }
        assert!(
            !has.contains_key("clap"),
            "sp-gen's own dependencies stay behind"
        );
        assert_eq!(has["sp-abi"]["path"].as_str(), Some("sp-abi"));
    }
}
