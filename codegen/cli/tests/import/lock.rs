//! The lock has exactly the releases whose import succeeded.

use super::scene::{Scene, stderr};
use std::fs;
use std::process::Output;

const LOCK: &str = "cache/sp-gen/sources.toml";
const GOOD: &str = "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint TF_Demo(int x);\n";

/// Installs a TensorFlow of one header and imports it.
fn import(scene: &Scene, release: &str, header: &str) -> Output {
    let site = install(scene, release, header);
    let from = ["import", "tensorflow", release, "--from", &site];
    scene.command(&from).output().unwrap()
}

fn install(scene: &Scene, release: &str, header: &str) -> String {
    let site = format!("site-{release}");
    let metadata = format!("Name: tensorflow\nVersion: {release}\n");
    scene.write(
        &format!("{site}/tensorflow/include/tensorflow/c/c_api.h"),
        header,
    );
    scene.write(
        &format!("{site}/tensorflow-{release}.dist-info/METADATA"),
        metadata,
    );
    scene.path(&site).display().to_string()
}

fn has_libclang() -> bool {
    let found = sp_parse::clang::Library::load().is_ok();
    if !found {
        eprintln!("skipped: there is no libclang");
    }
    found
}

fn good() -> String {
    format!("{GOOD}#ifdef __cplusplus\n}}\n#endif\n")
}

#[test]
fn a_release_that_cannot_be_parsed_leaves_no_entry() {
    if !has_libclang() {
        return;
    }
    let scene = Scene::new();
    let failed = import(&scene, "2.98.0", &format!("{GOOD}struct Cut {{ int x\n"));
    assert_eq!(failed.status.code(), Some(2), "{}", stderr(&failed));
    assert!(!scene.path(LOCK).exists(), "{}", stderr(&failed));
    assert!(!scene.path("cache/sp-gen/store").exists());
    let repaired = import(&scene, "2.98.0", &good());
    assert!(repaired.status.success(), "{}", stderr(&repaired));
    let lock = fs::read_to_string(scene.path(LOCK)).unwrap();
    assert!(lock.contains("[release.\"2.98.0\"]"));
    assert!(
        !lock.contains("[release.\"2.21.0\"]"),
        "the built-in entries are copied"
    );
}

#[test]
fn a_release_of_which_one_api_cannot_be_parsed_leaves_no_entry() {
    if !has_libclang() {
        return;
    }
    let scene = Scene::new();
    let folder = "site-2.98.0/tensorflow/include/tensorflow/c";
    let bad = format!("{GOOD}struct Cut {{ int x\n").replace("TF_Demo", "TF_Cut");
    scene.write(&format!("{folder}/kernels.h"), bad);
    scene.write(
        &format!("{folder}/ops.h"),
        good().replace("TF_Demo", "TF_Op"),
    );
    let failed = import(&scene, "2.98.0", &good());
    assert_eq!(failed.status.code(), Some(2), "{}", stderr(&failed));
    assert!(!scene.path(LOCK).exists(), "{}", stderr(&failed));
    assert!(scene.path("cache/sp-gen/ir/ops/2.98.json").is_file());
}

#[test]
fn without_libclang_there_is_no_entry() {
    let scene = Scene::new();
    let site = install(&scene, "2.98.0", &good());
    let mut command = scene.command(&["import", "tensorflow", "2.98.0", "--from", &site]);
    let done = command
        .env("LIBCLANG_PATH", "/nonexistent")
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(2));
    assert!(
        stderr(&done).contains("libclang is needed"),
        "{}",
        stderr(&done)
    );
    assert!(!scene.path(LOCK).exists());
}

#[test]
fn parallel_imports_lose_no_entry() {
    if !has_libclang() {
        return;
    }
    let scene = Scene::new();
    let releases = ["2.95.0", "2.96.0", "2.97.0", "2.98.0"];
    std::thread::scope(|scope| {
        for release in releases {
            let scene = &scene;
            scope.spawn(move || {
                let done = import(scene, release, &good());
                assert!(done.status.success(), "{}", stderr(&done));
            });
        }
    });
    let lock = fs::read_to_string(scene.path(LOCK)).unwrap();
    for release in releases {
        assert!(lock.contains(&format!("[release.\"{release}\"]")), "{lock}");
    }
}

#[test]
fn a_damaged_lock_is_named_and_left_alone() {
    let scene = Scene::new();
    scene.write(LOCK, b"# caf\xe9\n");
    let done = import(&scene, "2.98.0", &good());
    assert_eq!(done.status.code(), Some(2));
    let shown = stderr(&done).replace(['\n', ' ', '│'], "");
    let path = scene.path(LOCK).display().to_string();
    assert!(shown.contains(&path), "{}", stderr(&done));
    assert_eq!(fs::read(scene.path(LOCK)).unwrap(), b"# caf\xe9\n");
}

#[test]
fn a_changed_header_names_the_lock() {
    if !has_libclang() {
        return;
    }
    let scene = Scene::new();
    assert!(import(&scene, "2.98.0", &good()).status.success());
    let done = import(&scene, "2.98.0", &good().replace("int x", "long x"));
    assert_eq!(done.status.code(), Some(2));
    let shown = stderr(&done).replace(['\n', ' ', '│'], "");
    let path = scene.path(LOCK).display().to_string();
    assert!(shown.contains(&path), "{}", stderr(&done));
}
