//! A nightly build is imported only into the user's cache, from which commands read it. A release candidate is stored as
//! its minor release until the final release replaces it. Skipped without libclang or without 2.22.0rc0 in the store.

#[path = "libclang/mod.rs"]
mod libclang;
#[path = "temporary_folder/mod.rs"]
mod temporary_folder;

use std::fs;
use std::path::PathBuf;

use libclang::has_libclang;
use temporary_folder::{Run, TemporaryFolder};

use sp_tests::{assert_contains, copy_files, root, write_dist_info};

const VERSION: &str = "2.23.0.dev20261026";

fn store() -> PathBuf {
    root().join("headers/store/2.22.0rc0/include")
}

/// A temporary folder with a checkout, an installed nightly build and a cache.
struct Scene(TemporaryFolder);

impl Scene {
    /// Returns `None` and prints the reason if the test cannot run here.
    fn new() -> Option<Self> {
        if !store().is_dir() {
            eprintln!("skipped: `sp-gen import tensorflow 2.22.0rc0` has not been run");
            return None;
        }
        let scene = has_libclang().then(|| Self(TemporaryFolder::new()))?;
        scene.0.write("checkout/codegen/cli/Cargo.toml", "");
        scene.0.write("checkout/headers/apis/none.toml", "");
        copy_files(&store(), &scene.path("site/tensorflow/include"));
        scene.install("tf_nightly", VERSION);
        Some(scene)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    /// Writes the metadata of the installation: `package` in `version`.
    fn install(&self, package: &str, version: &str) {
        let dist_info = self.path("site/tensorflow_cpu-0.dist-info");
        write_dist_info(&dist_info, package, version);
    }

    fn run(&self, folder: &str, arguments: &[&str]) -> Run {
        self.0.run(folder, arguments)
    }

    /// Imports the installed nightly build in the checkout.
    fn import(&self) {
        let run = self.import_as("nightly");
        assert_eq!(run.status, 0, "{}", run.stderr);
    }

    fn import_as(&self, release: &str) -> Run {
        let from = self.path("site");
        let from = ["--from", from.to_str().unwrap()];
        let import = ["import", "tensorflow", release];
        self.run("checkout", &[&import[..], &from].concat())
    }
}

#[test]
fn nightly_import_writes_only_to_cache() {
    let Some(scene) = Scene::new() else { return };
    scene.import();
    for name in ["headers/sources.toml", "headers/store", "generated"] {
        assert!(!scene.path("checkout").join(name).exists(), "{name}");
    }
    let nightly = scene.path("cache/sp-gen/nightly");
    let snapshot = nightly.join(format!("ir/stream_executor/{VERSION}.json"));
    let text = fs::read_to_string(snapshot).unwrap();
    assert!(text.contains(&format!("\"preview\":true,\n\"exact\":\"{VERSION}\"")));
    let lock = fs::read_to_string(nightly.join("sources.toml")).unwrap();
    assert!(lock.contains(&format!("[release.\"{VERSION}\"]")));
}

#[test]
fn commands_read_newest_imported_build() {
    let Some(scene) = Scene::new() else { return };
    scene.import();
    let api = ["--api", "stream_executor"];
    let diff = scene.run("cache", &[&["diff", "2.22", "nightly"], &api[..]].concat());
    assert_eq!(diff.status, 0, "{}", diff.stderr);
    let head = format!("2.22 → {VERSION}: identical");
    assert!(diff.stdout.starts_with(&head), "{}", diff.stdout);
    let ir = scene.run("cache", &["ir", "stream_executor", "--release", "nightly"]);
    let head = format!("stream_executor {VERSION} (preview)");
    assert!(ir.stdout.starts_with(&head), "{}", ir.stderr);
    let generate = ["generate", "--release", "nightly", "--out", "sp-abi"];
    let generate = scene.run("cache", &generate);
    assert_eq!(generate.status, 0, "{}", generate.stderr);
    let lib = fs::read_to_string(scene.path("cache/sp-abi/src/lib.rs")).unwrap();
    assert!(lib.contains("(\"2.23.0-dev20261026\", sp_runtime::Release::new(2, 23))"));
}

#[test]
fn tables_have_nightly_build_only_if_requested() {
    let Some(scene) = Scene::new() else { return };
    scene.import();
    let plain = scene.run("cache", &["history", "SP_StreamExecutor"]);
    assert!(!plain.stdout.contains("2.23"), "{}", plain.stdout);
    let arguments = ["history", "SP_StreamExecutor", "--release", "nightly"];
    let stdout_nightly = scene.run("cache", &arguments).stdout;
    assert_contains(&stdout_nightly, &format!("{VERSION}*"));
}

#[test]
fn final_release_replaces_its_preview() {
    let Some(scene) = Scene::new() else { return };
    let read = |name: &str| fs::read_to_string(scene.path("checkout").join(name)).unwrap();
    let lock = "headers/sources.toml";
    let snapshot = "generated/ir/stream_executor/2.22.json";
    scene.install("tensorflow_cpu", "2.22.0rc0");
    assert_eq!(scene.import_as("2.22.0rc0").status, 0);
    assert!(read(snapshot).contains("\"exact\":\"2.22.0rc0\""));
    scene.install("tensorflow_cpu", "2.22.0");
    let output = scene.import_as("2.22");
    assert_eq!(output.status, 0, "{}", output.stderr);
    assert!(!read(snapshot).contains("preview"));
    assert!(read(lock).contains("[release.\"2.22.0\"]"));
    assert!(!read(lock).contains("2.22.0rc0"));
    scene.install("tensorflow_cpu", "2.22.0rc0");
    let late = scene.import_as("2.22.0rc0");
    assert_eq!(late.status, 2);
    assert_contains(&late.stderr, "2.22.0 is imported");
    assert!(!read(snapshot).contains("preview"));
}
