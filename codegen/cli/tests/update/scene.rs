//! A plugin that `sp-gen new` wrote, with the vendored crates of any commit of sp-gen.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use sp_gen::embedded::CRATES;
use sp_gen::listing::{self, Listing};

use crate::temporary_folder::{Run, TemporaryFolder};
use sp_tests::{read_files, root};

/// A temporary folder with the plugin `myaccel/`.
pub struct Scene {
    folder: TemporaryFolder,
}

impl Scene {
    /// Writes a plugin with this sp-gen.
    pub fn new() -> Self {
        let scene = Self {
            folder: TemporaryFolder::new(),
        };
        let run = scene.folder.run("", &["new", "myaccel"]);
        assert_eq!(run.status, 0, "{}", run.stderr);
        scene
    }

    /// Returns the plugin's folder.
    pub fn plugin(&self) -> PathBuf {
        self.folder.path("myaccel")
    }

    /// Runs `sp-gen update` in the plugin.
    pub fn update(&self, arguments: &[&str]) -> Run {
        self.folder
            .run("myaccel", &[&["update"], arguments].concat())
    }

    /// Renames the plugin's folder to `-p` and runs `sp-gen update` beside it.
    pub fn update_in_folder_named_like_an_option(&self) -> Run {
        fs::rename(self.plugin(), self.folder.path("-p")).unwrap();
        self.folder.run("", &["update", "--", "-p"])
    }

    /// Writes a file of the plugin.
    pub fn write(&self, file: &str, text: impl AsRef<[u8]>) {
        self.folder.write(&format!("myaccel/{file}"), text);
    }

    /// Reads a file of the plugin.
    pub fn read(&self, file: &str) -> String {
        fs::read_to_string(self.plugin().join(file)).unwrap()
    }

    /// Edits the listing.
    pub fn edit_listing(&self, edit: impl FnOnce(&mut Value)) {
        let mut document: Value = serde_json::from_str(&self.read(listing::PATH)).unwrap();
        edit(&mut document);
        self.write(listing::PATH, document.to_string());
    }

    /// Writes `file` as if an older sp-gen had written it with `text`.
    pub fn make_older(&self, file: &str, text: &str) {
        self.write(file, text);
        let older = Listing::new([(file, text.as_bytes())]);
        self.edit_listing(|document| document["files"][file] = older.files[file].as_str().into());
    }

    /// Returns the files of the plugin by path, without those of git.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let files = read_files(&self.plugin()).into_iter();
        let own = files.filter(|(path, _)| !path.starts_with(".git"));
        own.map(|(path, bytes)| (path.display().to_string(), bytes))
            .collect()
    }

    /// Replaces the vendored crates by those of a commit, with the listing that the sp-gen of that commit wrote.
    pub fn use_crates_of(&self, commit: &str) {
        let vendor = self.plugin().join("vendor");
        let mut files = BTreeMap::from([(
            "vendor/Cargo.toml".to_owned(),
            fs::read(vendor.join("Cargo.toml")).unwrap(),
        )]);
        for (name, folder) in CRATES {
            fs::remove_dir_all(vendor.join(name)).unwrap();
            for (inside, bytes) in files_of(commit, folder) {
                if is_embedded(&inside) {
                    files.insert(format!("vendor/{name}/{inside}"), bytes);
                }
            }
        }
        for (file, bytes) in &files {
            self.write(file, bytes);
        }
        let rows = files.iter();
        let listing = Listing::new(rows.map(|(path, bytes)| (path.as_str(), bytes.as_slice())));
        self.write(listing::PATH, listing.to_json());
    }

    /// Returns the error of `cargo metadata --locked --offline`, or an empty text if the lock is valid.
    pub fn lock_error(&self) -> String {
        let output = Command::new(env!("CARGO"))
            .args(["metadata", "--locked", "--offline", "--format-version", "1"])
            .current_dir(self.plugin())
            .output()
            .unwrap();
        match output.status.success() {
            true => String::new(),
            false => String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// Returns true for the files of a crate that `new` writes, without snapshots.
fn is_embedded(file: &str) -> bool {
    let parts = ["src/", "tests/", "benches/", "examples/"];
    file == "Cargo.toml" || parts.iter().any(|part| file.starts_with(part))
}

/// Returns the files of a commit's folder by their paths in it; none if the commit has no such folder.
fn files_of(commit: &str, folder: &str) -> Vec<(String, Vec<u8>)> {
    let Some(archive) = git(&["archive", commit, folder]) else {
        return Vec::new();
    };
    let target = TemporaryFolder::new();
    target.write("archive.tar", archive);
    // Links lead to files of other folders.
    let mut shell = Command::new("sh");
    let status = shell
        .args(["-c", "tar -xf archive.tar && find . -type l -delete"])
        .current_dir(target.path("."));
    assert!(status.status().unwrap().success());
    let files = read_files(&target.path(folder)).into_iter();
    files
        .map(|(path, bytes)| (path.display().to_string(), bytes))
        .collect()
}

/// Runs git in the checkout and returns its output, or `None` if it fails.
pub fn git(arguments: &[&str]) -> Option<Vec<u8>> {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(root())
        .output();
    output
        .ok()
        .filter(|output| output.status.success())
        .map(|output| output.stdout)
}

/// Returns the lines of an output.
pub fn lines(output: &Option<Vec<u8>>) -> Vec<String> {
    let text = String::from_utf8_lossy(output.as_deref().unwrap_or_default());
    text.lines().map(str::to_owned).collect()
}
