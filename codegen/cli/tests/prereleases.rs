//! A nightly build is imported only into the user's cache, from which commands read it. A release candidate is stored as
//! its minor release until the final release replaces it. Skipped without libclang or without 2.22.0rc0 in the store.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use sp_tests::{assert_contains, copy_files, root, write_dist_info};

const VERSION: &str = "2.23.0.dev20261026";

fn store() -> PathBuf {
    root().join("headers/store/2.22.0rc0/include")
}

/// A temporary folder with a checkout, an installed nightly build and a cache.
struct Scene(tempfile::TempDir);

impl Scene {
    /// Returns `None` and prints the reason if the test cannot run here.
    fn new() -> Option<Self> {
        if !store().is_dir() {
            eprintln!("skipped: `sp-gen import tensorflow 2.22.0rc0` has not been run");
            return None;
        }
        if sp_parse::clang::Library::load().is_err() {
            eprintln!("skipped: there is no libclang");
            return None;
        }
        let scene = Self(tempfile::tempdir().unwrap());
        scene.write("checkout/codegen/cli/Cargo.toml", "");
        scene.write("checkout/headers/apis/none.toml", "");
        copy_files(&store(), &scene.path("site/tensorflow/include"));
        scene.install("tf_nightly", VERSION);
        Some(scene)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Writes the metadata of the installation: `package` in `version`.
    fn install(&self, package: &str, version: &str) {
        let dist_info = self.path("site/tensorflow_cpu-0.dist-info");
        write_dist_info(&dist_info, package, version);
    }

    fn run(&self, folder: &str, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sp-gen"));
        command.args(arguments).current_dir(self.path(folder));
        command.env("XDG_CACHE_HOME", self.path("cache"));
        command.output().unwrap()
    }

    /// Imports the installed nightly build in the checkout.
    fn import(&self) {
        let output = self.import_as("nightly");
        assert!(output.status.success(), "{}", stderr(&output));
    }

    fn import_as(&self, release: &str) -> Output {
        let from = self.path("site");
        let from = ["--from", from.to_str().unwrap()];
        self.run(
            "checkout",
            &[&["import", "tensorflow", release], &from[..]].concat(),
        )
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
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
    assert!(diff.status.success(), "{}", stderr(&diff));
    let head = format!("2.22 → {VERSION}: identical");
    assert!(stdout(&diff).starts_with(&head), "{}", stdout(&diff));
    let ir = scene.run("cache", &["ir", "stream_executor", "--release", "nightly"]);
    let head = format!("stream_executor {VERSION} (preview)");
    assert!(stdout(&ir).starts_with(&head), "{}", stderr(&ir));
    let generate = ["generate", "--release", "nightly", "--out", "sp-abi"];
    let generate = scene.run("cache", &generate);
    assert!(generate.status.success(), "{}", stderr(&generate));
    let lib = fs::read_to_string(scene.path("cache/sp-abi/src/lib.rs")).unwrap();
    assert!(lib.contains("(\"2.23.0-dev20261026\", sp_runtime::Release::new(2, 23))"));
}

#[test]
fn tables_have_nightly_build_only_if_requested() {
    let Some(scene) = Scene::new() else { return };
    scene.import();
    let plain = scene.run("cache", &["history", "SP_StreamExecutor"]);
    assert!(!stdout(&plain).contains("2.23"), "{}", stdout(&plain));
    let arguments = ["history", "SP_StreamExecutor", "--release", "nightly"];
    let stdout_nightly = stdout(&scene.run("cache", &arguments));
    assert_contains(&stdout_nightly, &format!("{VERSION}*"));
}

#[test]
fn final_release_replaces_its_preview() {
    let Some(scene) = Scene::new() else { return };
    let read = |name: &str| fs::read_to_string(scene.path("checkout").join(name)).unwrap();
    let (lock, snapshot) = (
        "headers/sources.toml",
        "generated/ir/stream_executor/2.22.json",
    );
    scene.install("tensorflow_cpu", "2.22.0rc0");
    assert!(scene.import_as("2.22.0rc0").status.success());
    assert!(read(snapshot).contains("\"exact\":\"2.22.0rc0\""));
    scene.install("tensorflow_cpu", "2.22.0");
    let output = scene.import_as("2.22");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(!read(snapshot).contains("preview"));
    assert!(read(lock).contains("[release.\"2.22.0\"]"));
    assert!(!read(lock).contains("2.22.0rc0"));
    scene.install("tensorflow_cpu", "2.22.0rc0");
    let late = scene.import_as("2.22.0rc0");
    assert_eq!(late.status.code(), Some(2));
    assert_contains(&stderr(&late), "2.22.0 is imported");
    assert!(!read(snapshot).contains("preview"));
}
