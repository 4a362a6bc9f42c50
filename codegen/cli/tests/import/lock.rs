//! The lock of `sp-gen import` has exactly the releases whose import succeeded.

use super::scene::{Scene, assert_rejected, clang_scene, stderr, unwrapped};
use sp_tests::read_files;
use std::fs;
use std::process::Output;

pub const LOCK: &str = "cache/sp-gen/sources.toml";
const VALID: &str = "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint TF_Demo(int x);\n";

/// Writes an installed TensorFlow of one header and imports it.
pub fn import(scene: &Scene, release: &str, header: &str) -> Output {
    let site = install(scene, release, header);
    let from = ["import", "tensorflow", release, "--from", &site];
    scene.command(&from).output().unwrap()
}

fn install(scene: &Scene, release: &str, header: &str) -> String {
    let site = format!("site-{release}");
    let metadata = format!("Name: tensorflow\nVersion: {release}\n");
    scene.write(
        &format!("{site}/tensorflow/include/tensorflow/c/tf_buffer.h"),
        header,
    );
    scene.write(
        &format!("{site}/tensorflow-{release}.dist-info/METADATA"),
        metadata,
    );
    scene.path(&site).display().to_string()
}

pub fn valid_header() -> String {
    format!("{VALID}#ifdef __cplusplus\n}}\n#endif\n")
}

#[test]
fn adds_no_entry_for_unparsable_release() {
    let Some(scene) = clang_scene() else { return };
    let failed = import(&scene, "2.98.0", &format!("{VALID}struct Cut {{ int x\n"));
    assert_eq!(failed.status.code(), Some(2), "{}", stderr(&failed));
    assert!(!scene.path(LOCK).exists(), "{}", stderr(&failed));
    assert!(!scene.path("cache/sp-gen/store").exists());
    let repaired = import(&scene, "2.98.0", &valid_header());
    assert!(repaired.status.success(), "{}", stderr(&repaired));
    let lock = fs::read_to_string(scene.path(LOCK)).unwrap();
    assert!(lock.contains("[release.\"2.98.0\"]"));
    assert!(
        !lock.contains("[release.\"2.21.0\"]"),
        "the entries of the embedded lock were copied"
    );
}

#[test]
fn adds_no_entry_for_release_with_unreadable_api() {
    let Some(scene) = clang_scene() else { return };
    let folder = "site-2.98.0/tensorflow/include/tensorflow/c";
    let bad = format!("{VALID}struct Cut {{ int x\n").replace("TF_Demo", "TF_Cut");
    scene.write(&format!("{folder}/kernels.h"), bad);
    scene.write(
        &format!("{folder}/ops.h"),
        valid_header().replace("TF_Demo", "TF_Op"),
    );
    let failed = import(&scene, "2.98.0", &valid_header());
    assert_eq!(failed.status.code(), Some(2), "{}", stderr(&failed));
    assert!(!scene.path(LOCK).exists(), "{}", stderr(&failed));
    assert!(scene.path("cache/sp-gen/ir/ops/2.98.json").is_file());
}

#[test]
fn adds_no_entry_without_libclang() {
    let scene = Scene::new();
    let site = install(&scene, "2.98.0", &valid_header());
    let mut command = scene.command(&["import", "tensorflow", "2.98.0", "--from", &site]);
    let output = command.env("LIBCLANG_PATH", "/nonexistent").output();
    let output = output.unwrap();
    assert_rejected(&output, "libclang, which reads C headers, was not found");
    assert!(!scene.path(LOCK).exists());
}

#[test]
fn parallel_imports_keep_all_entries() {
    let Some(scene) = clang_scene() else { return };
    let releases = ["2.95.0", "2.96.0", "2.97.0", "2.98.0"];
    std::thread::scope(|scope| {
        for release in releases {
            let scene = &scene;
            scope.spawn(move || {
                let output = import(scene, release, &valid_header());
                assert!(output.status.success(), "{}", stderr(&output));
            });
        }
    });
    let lock = fs::read_to_string(scene.path(LOCK)).unwrap();
    for release in releases {
        assert!(lock.contains(&format!("[release.\"{release}\"]")), "{lock}");
    }
}

#[test]
fn rejects_unreadable_lock_unchanged() {
    let scene = Scene::new();
    scene.write(LOCK, b"# caf\xe9\n");
    let output = import(&scene, "2.98.0", &valid_header());
    assert_rejected(&output, &scene.path(LOCK).display().to_string());
    assert_eq!(fs::read(scene.path(LOCK)).unwrap(), b"# caf\xe9\n");
}

#[test]
fn rejects_release_whose_headers_declare_no_api() {
    let Some(scene) = clang_scene() else { return };
    assert!(import(&scene, "2.98.0", &valid_header()).status.success());
    let before = read_files(&scene.path("cache"));
    let output = import(&scene, "2.98.1", "extern \"C\" {}\n");
    assert_rejected(&output, "declare no item of TensorFlow's C APIs");
    assert!(read_files(&scene.path("cache")) == before, "files changed");
}

#[test]
fn rejects_changed_header_and_names_the_lock() {
    let Some(scene) = clang_scene() else { return };
    assert!(import(&scene, "2.98.0", &valid_header()).status.success());
    let output = import(&scene, "2.98.0", &valid_header().replace("int x", "long x"));
    assert_rejected(&output, &scene.path(LOCK).display().to_string());
}

#[test]
fn rejects_store_with_folder_of_the_user() {
    let Some(scene) = clang_scene() else { return };
    let site = install(&scene, "2.98.0", &valid_header());
    scene.write("own/2.98.0/thesis.txt", "own");
    let store = scene.path("own").display().to_string();
    let arguments = ["import", "tensorflow", "2.98.0", "--from", &site];
    let mut command = scene.command(&arguments);
    let output = command.args(["--store", &store]).output().unwrap();
    assert_rejected(&output, "2.98.0/thesis.txt");
    let own = fs::read(scene.path("own/2.98.0/thesis.txt"));
    assert_eq!(own.unwrap(), b"own");
    assert!(!scene.path(LOCK).exists() && !scene.path("cache/sp-gen/ir/tf_buffer").exists());
}

#[test]
fn partial_folder_removes_no_snapshot() {
    let Some(scene) = clang_scene() else { return };
    let ops = valid_header().replace("TF_Demo", "TF_Op");
    let site = "site-2.98.0/tensorflow/include/tensorflow/c/ops.h";
    scene.write(site, ops);
    assert!(import(&scene, "2.98.0", &valid_header()).status.success());
    let snapshot = scene.path("cache/sp-gen/ir/ops/2.98.json");
    let before = fs::read(&snapshot).unwrap();
    let output = import(&scene, "2.98.1", &valid_header());
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(fs::read(&snapshot).unwrap(), before);
    let shown = unwrapped(&output);
    assert!(shown.contains("ops/2.98.jsonwasnotremoved"), "{shown}");
}
