//! `sp-gen import` replaces and removes no file that somebody else has written or edited, and follows no link out of a
//! checkout.

use super::lock::{LOCK, import, valid_header};
use super::network::{WHEEL, wheel};
use super::scene::{Scene, assert_rejected, clang_scene, stderr, unwrapped};
use sp_tests::{copy_files, read_files};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Output};

const SNAPSHOT: &str = "cache/sp-gen/ir/ops/2.98.json";

/// Imports from a wheel, which has all headers of its release.
fn import_wheel(scene: &Scene, options: &[&str]) -> Output {
    let header = valid_header().replace("TF_Demo", "TF_Op");
    scene.write(WHEEL, wheel("ops.h", &header));
    let wheel = scene.path(WHEEL).display().to_string();
    let arguments = [&["import", "tensorflow", "2.98", "--from", &wheel], options];
    scene.command(&arguments.concat()).output().unwrap()
}

#[test]
fn removes_no_file_of_the_user() {
    let Some(scene) = clang_scene() else { return };
    scene.write("cache/sp-gen/ir/mine/2.98.json", "my own data");
    let output = import_wheel(&scene, &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    let shown = unwrapped(&output);
    assert!(shown.contains("mine/2.98.jsonwasnotremoved"), "{shown}");
    let text = fs::read_to_string(scene.path("cache/sp-gen/ir/mine/2.98.json"));
    assert_eq!(text.unwrap(), "my own data");
}

#[test]
fn replaces_edited_snapshot_only_after_its_removal() {
    let Some(scene) = clang_scene() else { return };
    assert!(import_wheel(&scene, &[]).status.success());
    let written = fs::read_to_string(scene.path(SNAPSHOT)).unwrap();
    for edited in [
        "garbage".to_owned(),
        written.replace("TF_Op", "TF_Own") + "\n",
    ] {
        scene.write(SNAPSHOT, &edited);
        let before = read_files(&scene.path("cache"));
        let output = import_wheel(&scene, &[]);
        assert_rejected(&output, "ops/2.98.json differs from what sp-gen wrote");
        assert_rejected(&output, "restore it (`git checkout -- FILE` in a checkout)");
        assert_eq!(read_files(&scene.path("cache")), before);
    }
    fs::remove_file(scene.path(SNAPSHOT)).unwrap();
    assert!(import_wheel(&scene, &[]).status.success());
    assert_eq!(fs::read_to_string(scene.path(SNAPSHOT)).unwrap(), written);
    assert!(import_wheel(&scene, &[]).status.success());
}

#[test]
fn rejects_snapshot_that_is_a_link_or_a_pipe() {
    let Some(scene) = clang_scene() else { return };
    let path = scene.path(SNAPSHOT);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    scene.write("own.json", "own");
    symlink(scene.path("own.json"), &path).unwrap();
    assert_rejected(&import_wheel(&scene, &[]), "or has a symbolic link");
    assert!(path.is_symlink());
    fs::remove_file(&path).unwrap();
    let made = Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    assert_rejected(&import_wheel(&scene, &[]), "is not a regular file");
    assert!(!scene.path(LOCK).exists() && !scene.path("cache/sp-gen/store").exists());
}

#[test]
fn rejects_lock_with_comment_and_keeps_it() {
    let Some(scene) = clang_scene() else { return };
    assert!(import(&scene, "2.97.0", &valid_header()).status.success());
    let lock = fs::read_to_string(scene.path(LOCK)).unwrap();
    scene.write(LOCK, format!("{lock}# reviewed by me\n"));
    let before = read_files(&scene.path("cache"));
    let output = import(&scene, "2.98.0", &valid_header());
    assert_rejected(&output, "sources.toml differs from what sp-gen wrote");
    assert_eq!(read_files(&scene.path("cache")), before);
    let again = import(&scene, "2.97.0", &valid_header());
    assert!(again.status.success(), "{}", stderr(&again));
    scene.write(LOCK, format!("{lock}\n\n"));
    let output = import(&scene, "2.98.0", &valid_header());
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn locked_rejects_symbols_of_release_that_is_not_locked() {
    let scene = Scene::new();
    let output = import_wheel(&scene, &["--symbols", "--locked"]);
    assert_rejected(&output, "TensorFlow 2.98 is not in");
    assert!(!scene.path("cache/sp-gen/symbols").exists());
}

/// Returns a scene whose working directory is a checkout beside the folder `victim/`.
fn checkout() -> Scene {
    let scene = Scene::new();
    scene.write("work/codegen/cli/Cargo.toml", "");
    scene.write("work/headers/apis/none.toml", "");
    scene.write("victim/2.98.json", "own");
    scene
}

#[test]
fn follows_no_link_of_a_checkout() {
    for (link, target) in [
        ("headers/store", "victim"),
        ("headers/sources.toml", "victim/2.98.json"),
        ("headers/.sources.toml.lock", "victim/created"),
        ("generated", "victim"),
        ("generated/ir", "victim"),
        ("generated/ir/ops", "victim"),
        ("generated/symbols", "victim"),
        ("generated/required_fields", "victim"),
        ("generated/ops/ops.txt", "victim/created"),
    ] {
        let Some(_) = clang_scene() else { return };
        let scene = checkout();
        let path = scene.path("work").join(link);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(scene.path(target), &path).unwrap();
        let output = import_wheel(&scene, &[]);
        assert_eq!(output.status.code(), Some(2), "{link}: {}", stderr(&output));
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(unwrapped(&output).contains(name), "{}", stderr(&output));
        let files = read_files(&scene.path("victim"));
        let expected = [(PathBuf::from("2.98.json"), b"own".to_vec())].into();
        assert_eq!(files, expected);
        assert!(!scene.path("work/headers/store/2.98.0").exists(), "{link}");
    }
}

#[test]
fn lock_file_that_is_a_pipe_is_an_error() {
    let Some(_) = clang_scene() else { return };
    let scene = checkout();
    let pipe = scene.path("work/headers/.sources.toml.lock");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    assert_rejected(&import_wheel(&scene, &[]), "cannot lock");
}

#[test]
fn rejects_lock_with_header_outside_of_the_store() {
    let scene = checkout();
    let hash = "0".repeat(64);
    let lock = format!(
        "[release.\"2.98.0\"]\npackage = \"tensorflow-cpu\"\nversion = \"2.98.0\"\n\n\
         [release.\"2.98.0\".headers]\n\"/tmp/../secret\" = \"{hash}\"\n"
    );
    scene.write("work/headers/sources.toml", lock);
    let output = import_wheel(&scene, &["--locked"]);
    assert_rejected(&output, "is not the path of a header");
}

#[test]
fn imports_into_clean_checkout_and_again() {
    let Some(_) = clang_scene() else { return };
    let scene = checkout();
    let imported = import_wheel(&scene, &[]);
    assert!(imported.status.success(), "{}", stderr(&imported));
    for options in [&[][..], &["--locked"]] {
        let before = read_files(&scene.path("work"));
        let output = import_wheel(&scene, options);
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(read_files(&scene.path("work")), before);
    }
    // A clone has the lock and the snapshots, and no store.
    copy_files(&scene.path("work"), &scene.path("clone"));
    fs::remove_dir_all(scene.path("clone/headers/store")).unwrap();
    let wheel = scene.path(WHEEL).display().to_string();
    let arguments = ["import", "tensorflow", "all", "--locked", "--from", &wheel];
    let mut command = scene.command(&arguments);
    let output = command.current_dir(scene.path("clone")).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(scene.path("clone/headers/store/2.98.0").is_dir());
}
