//! `sp-gen update` as a process, in plugins of this commit of sp-gen and of earlier ones.

mod killed;
mod scene;
#[path = "../temporary_folder/mod.rs"]
mod temporary_folder;

use scene::{Scene, git, lines};
use sp_tests::{assert_contains, assert_contains_all};
use std::process::Command;

const LIB: &str = "vendor/sp-runtime/src/lib.rs";

#[test]
fn new_plugin_is_unchanged() {
    let scene = Scene::new();
    let before = scene.files();
    assert!(before.contains_key("vendor/.sp-gen.json"));
    let run = scene.update(&[]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    assert!(
        run.stdout
            .starts_with("vendor/ and Cargo.lock are up to date"),
        "{}",
        run.stdout
    );
    assert!(scene.files() == before, "files changed");
}

#[test]
fn check_writes_nothing_and_exits_1() {
    let scene = Scene::new();
    scene.make_older(LIB, "//! Older.\n");
    let before = scene.files();
    let run = scene.update(&["--check"]);
    assert_eq!(run.status, 1, "{}", run.stderr);
    assert!(
        run.stdout
            .contains("would update vendor/sp-runtime: 1 files written"),
        "{}",
        run.stdout
    );
    assert!(scene.files() == before, "files changed");
    assert_eq!(scene.update(&[]).status, 0);
    assert_eq!(scene.update(&["--check"]).status, 0);
}

#[test]
fn leaves_edited_file_alone_and_lists_it() {
    let scene = Scene::new();
    let current = scene.read(LIB);
    scene.write(LIB, "//! Edited.\n");
    let run = scene.update(&[]);
    assert_eq!(run.status, 1);
    assert_contains_all(&run.stderr, &[LIB, "--force"]);
    assert_eq!(scene.read(LIB), "//! Edited.\n");
    assert_eq!(scene.update(&["--force"]).status, 0);
    assert_eq!(scene.read(LIB), current);
}

#[test]
fn prints_removed_items_and_release_diff() {
    let scene = Scene::new();
    let older = format!("{}\npub struct FormerlyHere;\n", scene.read(LIB));
    scene.make_older(LIB, &older);
    scene.write("src/own.rs", "use sp_runtime::FormerlyHere;\n");
    scene.edit_listing(|document| document["release"] = "2.6".into());
    scene.write(
        "plugin.c",
        "void SE_InitPlugin(void* params, void* status) {}\n",
    );
    scene.write("target/release/libmyaccel.so", "");
    let compiled = Command::new("cc")
        .args([
            "-shared",
            "-fPIC",
            "-o",
            "target/release/libmyaccel.so",
            "plugin.c",
        ])
        .current_dir(scene.plugin())
        .status();
    let run = scene.update(&[]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let expected = "src/own.rs:1: `FormerlyHere` of sp-runtime was removed";
    assert!(run.stdout.contains(expected), "{}", run.stdout);
    if !compiled.is_ok_and(|status| status.success()) {
        return eprintln!("skipped: no C compiler");
    }
    for words in [
        "it exports SE_InitPlugin",
        "SP_StreamExecutor",
        "field_inserted",
    ] {
        assert!(run.stdout.contains(words), "`{words}` in {}", run.stdout);
    }
}

#[test]
fn plugin_in_folder_named_like_an_option_is_updated() {
    let scene = Scene::new();
    scene.make_older(LIB, "//! Older.\n");
    scene.edit_listing(|document| document["release"] = "2.6".into());
    scene.write("target/release/libmyaccel.so", "no library");
    let run = scene.update_in_folder_named_like_an_option();
    assert!(
        !run.stderr.contains("unexpected argument"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("libmyaccel.so"), "{}", run.stderr);
    assert_eq!(run.status, 0, "{}", run.stderr);
}

#[test]
fn updated_plugin_exits_0_if_the_report_cannot_be_printed() {
    let scene = Scene::new();
    scene.make_older(LIB, "//! Older.\n");
    let update = |options: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("exec \"$0\" update {options} > /dev/full")]);
        let output = shell
            .arg(env!("CARGO_BIN_EXE_sp-gen"))
            .current_dir(scene.plugin());
        output.output().unwrap()
    };
    assert_eq!(update("--check").status.code(), Some(2));
    let output = update("");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("No space left"), "{stderr}");
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert_eq!(scene.update(&["--check"]).status, 0);
}

#[test]
fn change_of_the_listing_alone_is_reported() {
    let scene = Scene::new();
    scene.edit_listing(|document| document["release"] = "2.6".into());
    let run = scene.update(&[]);
    let first = run.stdout.lines().next();
    assert_eq!(first, Some("updated vendor/.sp-gen.json"), "{}", run.stdout);
}

#[test]
fn rejects_other_folder_and_invalid_lock() {
    let scene = Scene::new();
    let run = scene.update(&["src"]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    assert_contains(&run.stderr, "sp_gen::update::no_vendored_crates");
    scene.write("Cargo.lock", "<<<<<<< ours\n");
    let before = scene.files();
    let run = scene.update(&[]);
    assert!(
        run.status == 2 && run.stderr.contains("sp_gen::update::invalid_lock"),
        "{}",
        run.stderr
    );
    assert!(scene.files() == before, "files changed");
}

#[test]
fn cargo_accepts_updated_lock() {
    let scene = Scene::new();
    let fresh = scene.read("Cargo.lock");
    if !scene.lock_error().is_empty() {
        return eprintln!("skipped: cargo's cache does not have the crates of a scaffold");
    }
    // The lock of an sp-runtime with other dependencies, one of which does not exist.
    let head = "name = \"sp-runtime\"\nversion = \"0.1.0\"\ndependencies = [\n";
    let (before, rest) = fresh.split_once(head).unwrap();
    let (_, rest) = rest.split_once("]\n").unwrap();
    scene.write("Cargo.lock", format!("{before}{head} \"once-needed\",\n]\n{rest}\n[[package]]\nname = \"once-needed\"\nversion = \"0.3.0\"\n"));
    assert_ne!(scene.lock_error(), "");
    let run = scene.update(&[]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert_eq!(scene.lock_error(), "");
}

/// Returns the commits whose scaffolds are updated: some of the first-parent ancestors of this one.
fn tested_commits() -> Vec<String> {
    let all = lines(&git(&["rev-list", "--first-parent", "HEAD"]));
    if all.len() < 25 {
        eprintln!(
            "skipped: the history has {} commits: a shallow clone, or no git",
            all.len()
        );
    }
    let steps = [1, 20];
    let steps = steps.iter().filter_map(|step| all.get(*step).cloned());
    steps.collect()
}

#[test]
fn update_converts_plugin_of_earlier_commit() {
    let new = Scene::new().files();
    for commit in tested_commits() {
        let scene = Scene::new();
        scene.use_crates_of(&commit);
        scene.write("src/device.rs", "// Edited.\n");
        let run = scene.update(&[]);
        assert_eq!(run.status, 0, "{commit}: {}", run.stderr);
        let mut updated = scene.files();
        assert_eq!(updated.remove("src/device.rs").unwrap(), b"// Edited.\n");
        for (path, bytes) in &updated {
            assert!(new.get(path) == Some(bytes), "{commit}: {path}");
        }
        assert_eq!(updated.len() + 1, new.len(), "{commit}");
        let again = scene.update(&["--check"]);
        assert_eq!(again.status, 0, "{commit}: {}", again.stdout);
    }
}

#[test]
fn release_of_the_listing_that_is_a_path_is_an_error() {
    let scene = Scene::new();
    for release in ["/dev/zero", "../../old.json", "--plugin=x"] {
        scene.edit_listing(|document| document["release"] = release.into());
        let before = scene.files();
        let run = scene.update(&[]);
        assert_eq!(run.status, 2, "{}", run.stderr);
        assert_contains_all(&run.stderr, &["its release", "such as 2.21"]);
        assert!(scene.files() == before, "files changed");
    }
}

#[test]
fn further_name_of_a_vendored_file_in_the_listing_is_an_error() {
    let scene = Scene::new();
    for (name, file) in [
        ("vendor//sp-abi/Cargo.toml", "vendor/sp-abi/Cargo.toml"),
        ("vendor/./Cargo.toml", "vendor/Cargo.toml"),
    ] {
        scene.edit_listing(|document| {
            let hash = document["files"][file].clone();
            assert!(hash.is_string());
            document["files"][name] = hash;
        });
        let before = scene.files();
        let run = scene.update(&[]);
        assert_eq!(run.status, 2, "{}", run.stderr);
        assert!(run.stderr.contains("under vendor/"), "{}", run.stderr);
        assert!(scene.files() == before, "files changed");
        scene.edit_listing(|document| {
            document["files"].as_object_mut().unwrap().remove(name);
        });
    }
}

#[cfg(unix)]
#[test]
fn vendored_file_that_is_a_pipe_is_an_error() {
    for file in [LIB, "vendor/.sp-gen.json"] {
        let scene = Scene::new();
        let path = scene.plugin().join(file);
        std::fs::remove_file(&path).unwrap();
        let made = Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let run = scene.update(&[]);
        assert_eq!(run.status, 2, "{}", run.stderr);
        assert!(run.stderr.contains("not a regular file"), "{}", run.stderr);
    }
}
