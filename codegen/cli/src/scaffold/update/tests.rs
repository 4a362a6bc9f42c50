//! Updates of plugins that `new` wrote, with older or changed files.

use super::*;
use crate::scaffold::{Parts, Plugin, PluginNames, SpSource, create};
use std::fs;

const LIB: &str = "vendor/sp-runtime/src/lib.rs";

fn plugin() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let names = PluginNames::new("myaccel", None, None).unwrap();
    let plugin = Plugin {
        names: &names,
        parts: Parts::without(&[]),
        source: &SpSource::Vendor,
        driver: None,
        backend: None,
    };
    create(folder.path(), &plugin).unwrap();
    folder
}

/// Writes `file` as if an older sp-gen had written it with `text`.
fn make_older(root: &Path, file: &str, text: &str) {
    fs::write(root.join(file), text).unwrap();
    let mut listing = read_listing(root).unwrap().unwrap();
    let older = Listing::new([(file, text.as_bytes())]);
    listing.files.extend(older.files);
    fs::write(root.join(listing::PATH), listing.to_json()).unwrap();
}

fn changes(plan: &UpdatePlan) -> Vec<(String, bool)> {
    plan.changes()
        .map(|(path, is_written)| (path.to_owned(), is_written))
        .collect()
}

fn read(root: &Path, file: &str) -> String {
    fs::read_to_string(root.join(file)).unwrap()
}

#[test]
fn new_plugin_is_up_to_date() {
    let folder = plugin();
    let plan = UpdatePlan::new(folder.path(), false).unwrap();
    assert_eq!(changes(&plan), []);
    assert!(plan.left_alone.is_empty() && plan.has_listing);
}

#[test]
fn listed_file_of_deep_nesting_is_updated() {
    let deep = [
        format!(
            "pub fn f() {{ {}1{} }}",
            "(".repeat(5_000),
            ")".repeat(5_000)
        ),
        format!("pub fn f() {{ {}1 }}", "-".repeat(20_000)),
        format!("pub fn f() {{ 1{} }}", "+1".repeat(20_000)),
    ];
    let folder = plugin();
    for text in deep {
        make_older(folder.path(), LIB, &text);
        let plan = UpdatePlan::new(folder.path(), false).unwrap();
        assert!(changes(&plan).contains(&(LIB.to_owned(), true)));
    }
}

#[test]
fn replaces_older_file_and_removes_obsolete_one() {
    let folder = plugin();
    let root = folder.path();
    let (current, manifest) = (read(root, LIB), read(root, "Cargo.toml"));
    make_older(root, LIB, "//! Older.\n");
    make_older(root, "vendor/sp-runtime/src/stale.rs", "//! Stale.\n");
    fs::create_dir_all(root.join("vendor/sp-old")).unwrap();
    make_older(root, "vendor/sp-old/Cargo.toml", "[package]\n");
    fs::write(root.join("vendor/own.txt"), "own").unwrap();
    let plan = UpdatePlan::new(root, false).unwrap();
    assert_eq!(plan.crates, [vec![], vec!["sp-old".to_owned()]]);
    plan.apply().unwrap();
    assert_eq!(read(root, LIB), current);
    assert!(!root.join("vendor/sp-runtime/src/stale.rs").exists());
    assert!(!root.join("vendor/sp-old").exists());
    assert_eq!(read(root, "vendor/own.txt"), "own");
    assert_eq!(read(root, "Cargo.toml"), manifest);
    assert_eq!(
        changes(&UpdatePlan::new(root, false).unwrap()),
        [],
        "the second update"
    );
}

#[test]
fn leaves_edited_file_alone_unless_forced() {
    let folder = plugin();
    let root = folder.path();
    let current = read(root, LIB);
    fs::write(root.join(LIB), "//! Edited.\n").unwrap();
    for _ in 0..2 {
        let plan = UpdatePlan::new(root, false).unwrap();
        assert_eq!(plan.left_alone, [LIB]);
        plan.apply().unwrap();
        assert_eq!(read(root, LIB), "//! Edited.\n");
    }
    let plan = UpdatePlan::new(root, true).unwrap();
    assert!(plan.left_alone.is_empty());
    plan.apply().unwrap();
    assert_eq!(read(root, LIB), current);
}

#[test]
fn leaves_all_files_of_generated_crate_alone() {
    let folder = plugin();
    let root = folder.path();
    make_older(root, "vendor/sp-abi/Cargo.toml", "[package]\n");
    fs::write(
        root.join("vendor/sp-abi/src/lib.rs"),
        "// Of other releases.\n",
    )
    .unwrap();
    let plan = UpdatePlan::new(root, false).unwrap();
    let expected = ["vendor/sp-abi/Cargo.toml", "vendor/sp-abi/src/lib.rs"];
    assert_eq!(plan.left_alone, expected);
}

#[test]
fn writes_nothing_without_listing_if_a_file_differs() {
    let folder = plugin();
    let root = folder.path();
    fs::remove_file(root.join(listing::PATH)).unwrap();
    let current = read(root, LIB);
    fs::write(root.join(LIB), "//! Older or edited.\n").unwrap();
    fs::remove_file(root.join("vendor/sp-cpu/src/lib.rs")).unwrap();
    let plan = UpdatePlan::new(root, false).unwrap();
    let expected = (false, &[LIB.to_owned()][..]);
    assert_eq!((plan.has_listing, plan.left_alone.as_slice()), expected);
    assert_eq!(changes(&plan), []);
    UpdatePlan::new(root, true).unwrap().apply().unwrap();
    assert_eq!(read(root, LIB), current);
    assert!(root.join("vendor/sp-cpu/src/lib.rs").exists());
    assert_eq!(changes(&UpdatePlan::new(root, false).unwrap()), []);
}

#[test]
fn adds_listing_to_plugin_of_this_sp_gen() {
    let folder = plugin();
    let listing = folder.path().join(listing::PATH);
    let before = fs::read(&listing).unwrap();
    fs::remove_file(&listing).unwrap();
    UpdatePlan::new(folder.path(), false)
        .unwrap()
        .apply()
        .unwrap();
    assert_eq!(fs::read(&listing).unwrap(), before);
}

#[test]
fn finds_lines_of_author_that_use_removed_items() {
    let folder = plugin();
    let root = folder.path();
    let older = format!("{}\npub struct FormerlyHere;\n", read(root, LIB));
    make_older(root, LIB, &older);
    fs::write(root.join("src/own.rs"), "\nuse sp_runtime::FormerlyHere;\n").unwrap();
    let plan = UpdatePlan::new(root, false).unwrap();
    let found: Vec<(&str, usize, &str)> = plan
        .mentions
        .iter()
        .map(|mention| (mention.file.as_str(), mention.line, mention.item.as_str()))
        .collect();
    assert_eq!(found, [("src/own.rs", 2, "FormerlyHere")]);
}

#[test]
fn failure_restores_old_files() {
    let folder = plugin();
    let root = folder.path();
    make_older(root, LIB, "//! Older.\n");
    let plan = UpdatePlan::new(root, false).unwrap();
    // A folder is at the path of the last file.
    fs::remove_file(root.join(listing::PATH)).unwrap();
    let before = read(root, LIB);
    fs::create_dir_all(root.join(listing::PATH).join("inside")).unwrap();
    let drifts = plan.drifts.iter().map(|drift| drift.path.as_str());
    assert_eq!(drifts.collect::<Vec<_>>(), [LIB, listing::PATH]);
    let mut plan = plan;
    plan.drifts[1].old = None;
    assert!(matches!(plan.apply(), Err(UpdateError::Replacement(_))));
    assert_eq!(read(root, LIB), before);
    assert!(
        !fs::read_dir(root)
            .unwrap()
            .flatten()
            .any(|entry| { entry.file_name().to_string_lossy().starts_with(".sp-gen") })
    );
}

#[test]
fn file_saved_after_the_plan_stays() {
    for file in [LIB, "Cargo.lock", "vendor/sp-runtime/src/stale.rs"] {
        let folder = plugin();
        let root = folder.path();
        make_older(root, LIB, "//! Older.\n");
        make_older(root, "vendor/sp-runtime/src/stale.rs", "//! Stale.\n");
        fs::write(root.join("Cargo.lock"), older_lock(root)).unwrap();
        let plan = UpdatePlan::new(root, false).unwrap();
        assert!(changes(&plan).iter().any(|(path, _)| path == file));
        fs::write(root.join(file), "saved").unwrap();
        let error = plan.apply().unwrap_err().to_string();
        assert!(error.contains(file), "{error}");
        assert_eq!(read(root, file), "saved");
        assert!(file == LIB || read(root, LIB) == "//! Older.\n");
    }
}

/// Returns the lock of a plugin whose sp-runtime needs a package that this one does not need.
fn older_lock(root: &Path) -> String {
    let head = "name = \"sp-runtime\"\nversion = \"0.1.0\"\n";
    let lock = read(root, "Cargo.lock");
    let (before, rest) = lock.split_once(head).unwrap();
    let (_, rest) = rest.split_once("]\n").unwrap();
    let needed = "[[package]]\nname = \"once-needed\"\nversion = \"0.3.0\"\n";
    format!("{before}{head}dependencies = [\n \"once-needed\",\n]\n{rest}\n{needed}")
}

#[test]
fn rejects_lock_above_the_limit_of_a_lock() {
    let plugin = plugin();
    let lock = read(plugin.path(), "Cargo.lock") + &" ".repeat(MAX_LOCK_BYTES as usize);
    fs::write(plugin.path().join("Cargo.lock"), lock).unwrap();
    let error = UpdatePlan::new(plugin.path(), false).unwrap_err();
    assert!(matches!(error, UpdateError::Unreadable { .. }), "{error}");
}

#[test]
fn rejects_folders_without_vendored_crates_or_valid_listing() {
    let folder = tempfile::tempdir().unwrap();
    let result = UpdatePlan::new(folder.path(), false);
    assert!(matches!(result, Err(UpdateError::NoVendoredCrates(..))));
    let folder = plugin();
    fs::write(folder.path().join(listing::PATH), "{").unwrap();
    let result = UpdatePlan::new(folder.path(), true);
    assert!(matches!(result, Err(UpdateError::Listing { .. })));
}

#[cfg(unix)]
#[test]
fn rejects_symbolic_link_to_vendor_folder() {
    let (folder, other) = (plugin(), plugin());
    let vendor = folder.path().join("vendor");
    fs::remove_dir_all(&vendor).unwrap();
    std::os::unix::fs::symlink(other.path().join("vendor"), &vendor).unwrap();
    let result = UpdatePlan::new(folder.path(), true);
    assert!(matches!(result, Err(UpdateError::Symlink(..))));
}
