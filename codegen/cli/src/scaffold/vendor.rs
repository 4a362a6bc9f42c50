//! The embedded crates that a plugin depends on, which are written to `vendor/`.
//!
//! They are copied verbatim. `vendor/Cargo.toml` is a workspace that has the values which they inherit.

use crate::embedded::{CRATE_FILES, CRATES};
use std::collections::{BTreeMap, BTreeSet};
use toml::{Table, Value};

const ROOT_MANIFEST: &str = include_str!("../../../../Cargo.toml");
const LICENSE: &str = include_str!("../../../../LICENSE");

/// Returns the vendored files by path in the plugin.
pub fn vendored_files() -> Vec<(String, Vec<u8>)> {
    let verbatim = CRATE_FILES
        .iter()
        .map(|(path, bytes)| (format!("vendor/{path}"), bytes.to_vec()));
    let licenses = crate_names().map(|name| (license_path(name), LICENSE.as_bytes().to_vec()));
    let manifest = ("vendor/Cargo.toml".to_owned(), workspace().into_bytes());
    verbatim.chain(licenses).chain([manifest]).collect()
}

fn license_path(name: &str) -> String {
    format!("vendor/{name}/LICENSE")
}

/// Returns `vendor/Cargo.toml`: the workspace of sp-gen with only the dependencies of the vendored crates.
fn workspace() -> String {
    let names: Vec<&str> = crate_names().collect();
    format!(
        "# The crates of sp-gen that this plugin depends on, as written by `sp-gen new` or `sp-gen update`.\n\n{}",
        workspace_manifest(&names, "")
    )
}

/// Returns a workspace manifest with the members `crates`, each in the folder `prefix` + its name, and the
/// dependencies of these crates and sp-abi.
fn workspace_manifest(crates: &[&str], prefix: &str) -> String {
    let root = parse(ROOT_MANIFEST);
    let ours = root["workspace"]
        .as_table()
        .expect("our manifest is a workspace");
    let used: BTreeSet<String> = crates
        .iter()
        .chain(&["sp-abi"])
        .flat_map(|name| dependencies(name, &DEPENDENCY_SECTIONS))
        .collect();
    let dependencies: Table = ours["dependencies"]
        .as_table()
        .into_iter()
        .flatten()
        .filter(|(name, _)| used.contains(*name))
        .map(|(name, value)| (name.clone(), relocated(name, value, prefix)))
        .collect();
    let members = crates.iter().map(|name| format!("{prefix}{name}"));
    let members: Vec<String> = members.collect();
    let mut workspace = Table::new();
    workspace.insert("resolver".into(), ours["resolver"].clone());
    workspace.insert("members".into(), members.into());
    workspace.insert("package".into(), ours["package"].clone());
    workspace.insert("dependencies".into(), dependencies.into());
    workspace.insert("lints".into(), ours["lints"].clone());
    Table::from_iter([("workspace".to_owned(), Value::from(workspace))]).to_string()
}

/// Returns a dependency for the vendored workspace. The path of an sp-* crate becomes `prefix` + its name.
fn relocated(name: &str, value: &Value, prefix: &str) -> Value {
    let mut value = value.clone();
    if let Some(path) = value.get_mut("path") {
        *path = format!("{prefix}{name}").into();
    }
    value
}

/// Makes `files`, the generated sp-abi crate, build outside of a workspace: adds the workspace's tables to its
/// manifest, and the crates that it depends on under `vendor/`.
pub fn make_standalone(files: &mut BTreeMap<String, String>) {
    let needed = our_dependencies("sp-abi");
    if let Some(manifest) = files.get_mut("Cargo.toml") {
        *manifest += &format!("\n{}", workspace_manifest(&needed, "vendor/"));
    }
    let needed_file = |(path, bytes): &(&str, &[u8])| {
        let name = path.split('/').next()?;
        let text = String::from_utf8_lossy(bytes).into_owned();
        needed
            .contains(&name)
            .then(|| (format!("vendor/{path}"), text))
    };
    files.extend(CRATE_FILES.iter().filter_map(needed_file));
    files.extend(
        needed
            .iter()
            .map(|name| (license_path(name), LICENSE.to_owned())),
    );
}

/// Returns the embedded crates that `name` depends on, directly or transitively.
fn our_dependencies(name: &str) -> Vec<&'static str> {
    let (mut found, mut pending) = (BTreeSet::new(), vec![name.to_owned()]);
    while let Some(name) = pending.pop() {
        let direct = dependencies(&name, &DEPENDENCY_SECTIONS);
        let ours = crate_names().filter(|name| direct.contains(*name));
        pending.extend(ours.filter(|name| found.insert(*name)).map(str::to_owned));
    }
    found.into_iter().collect()
}

/// Returns the dependencies of a plugin's manifest, also of its build and tests.
pub fn manifest_dependencies(manifest: &str) -> Vec<String> {
    let manifest = manifest.parse::<Table>().unwrap_or_default();
    let sections = DEPENDENCY_SECTIONS
        .iter()
        .filter_map(|section| manifest.get(*section)?.as_table());
    let names: BTreeSet<&String> = sections.flat_map(Table::keys).collect();
    names.into_iter().cloned().collect()
}

/// The manifest's sections of dependencies. The last is for tests only.
pub(super) const DEPENDENCY_SECTIONS: [&str; 3] =
    ["dependencies", "build-dependencies", "dev-dependencies"];

/// Returns the dependencies of an embedded crate in the given sections, for all targets.
pub(super) fn dependencies(name: &str, sections: &[&str]) -> BTreeSet<String> {
    let path = format!("{name}/Cargo.toml");
    let bytes = CRATE_FILES
        .iter()
        .find(|(file, _)| *file == path)
        .map_or(&[][..], |(_, bytes)| bytes);
    let manifest = parse(&String::from_utf8_lossy(bytes));
    let targets = manifest.get("target").and_then(Value::as_table).into_iter();
    let targets = targets.flatten();
    let tables = targets.filter_map(|(_, table)| table.as_table());
    let tables: Vec<&Table> = tables.chain([&manifest]).collect();
    let listed = tables.iter().flat_map(|table| {
        sections
            .iter()
            .filter_map(|section| table.get(*section)?.as_table())
    });
    listed.flat_map(|section| section.keys().cloned()).collect()
}

/// Returns the names of the embedded crates.
pub(super) fn crate_names() -> impl Iterator<Item = &'static str> {
    CRATES.iter().map(|(name, _)| *name)
}

/// Parses a manifest or lock of sp-gen itself, with which this binary was built.
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
    fn embedded_files_equal_files_on_disk() {
        for (path, bytes) in CRATE_FILES.iter() {
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
    fn every_source_on_disk_is_embedded() {
        for (name, folder) in CRATES {
            let is_embedded = |inside: &Path| {
                let path = format!("{name}/{}", inside.display());
                CRATE_FILES.iter().any(|(embedded, _)| *embedded == path)
            };
            assert!(is_embedded("Cargo.toml".as_ref()));
            for file in sp_tests::read_files(&checkout().join(folder).join("src")).keys() {
                let inside = Path::new("src").join(file);
                assert!(is_embedded(&inside), "{folder}/{}", inside.display());
            }
        }
    }

    #[test]
    fn every_vendored_crate_has_its_licence() {
        let files = vendored_files();
        for name in crate_names() {
            let found = files.iter().find(|(path, _)| *path == license_path(name));
            let text = String::from_utf8_lossy(&found.unwrap().1).into_owned();
            assert!(
                text.contains("Apache-2.0") && text.contains("MIT"),
                "{name}: {text}"
            );
        }
    }

    /// Cargo rejects a manifest with a target whose file is absent.
    #[test]
    fn every_target_of_a_manifest_is_embedded() {
        let has = |path: &str| CRATE_FILES.iter().any(|(file, _)| *file == path);
        for name in crate_names() {
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
    fn vendored_workspace_has_all_inherited_dependencies() {
        let workspace = parse(&workspace());
        let has = workspace["workspace"]["dependencies"].as_table().unwrap();
        for name in crate_names() {
            for dependency in dependencies(name, &DEPENDENCY_SECTIONS) {
                assert!(has.contains_key(&dependency), "{name} needs {dependency}");
            }
        }
        assert!(
            !has.contains_key("clap"),
            "a dependency of sp-gen itself is vendored"
        );
        assert_eq!(has["sp-abi"]["path"].as_str(), Some("sp-abi"));
    }
}
