//! SIGKILL while `sp-gen` writes: the next run finishes or undoes what it has begun.

use super::scene::Scene;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The number of times that each command is killed: each time in another state.
const TRIES: usize = 4;

/// Returns the staging folders in `folder`.
fn staging_folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_staged = |path: &PathBuf| path.display().to_string().contains("/.sp-gen-staged-");
    let entries = entries.map(|entry| entry.path()).filter(is_staged);
    entries.collect()
}

/// Waits until `child` begins to change files in `folder`, and kills it. Returns true if it had not ended.
fn kill_at_first_change(mut child: Child, folder: &Path) -> bool {
    let has_begun = |path: &PathBuf| path.join("journal.json").exists();
    while child.try_wait().unwrap().is_none() {
        if staging_folders(folder).iter().any(has_begun) {
            child.kill().unwrap();
        }
    }
    !staging_folders(folder).is_empty()
}

fn start(folder: &Path, arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sp-gen"));
    command.args(arguments).current_dir(folder);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

#[test]
fn next_update_completes_killed_one() {
    let scene = Scene::new();
    let expected = scene.files();
    let mut killed = 0;
    for _ in 0..TRIES {
        let is_listed = |path: &&String| path.starts_with("vendor/") && path.ends_with("/mod.rs");
        for file in expected.keys().filter(is_listed).take(20) {
            scene.make_older(file, "//! Older.\n");
        }
        let child = start(&scene.plugin(), &["update"]);
        killed += usize::from(kill_at_first_change(child, &scene.plugin()));
        let run = scene.update(&[]);
        assert_eq!(run.status, 0, "{}", run.stderr);
        assert!(scene.files() == expected, "files differ");
        assert!(staging_folders(&scene.plugin()).is_empty());
    }
    if killed == 0 {
        eprintln!("skipped: each update ended before it was killed");
    }
}

#[test]
fn new_succeeds_after_killed_one() {
    let scratch = tempfile::tempdir().unwrap();
    let arguments = ["new", "myaccel", "--vcs", "none"];
    for _ in 0..TRIES {
        kill_at_first_change(start(scratch.path(), &arguments), scratch.path());
        let plugin = scratch.path().join("myaccel");
        // If the folder was renamed before the process was killed, the plugin is complete.
        let expected = if plugin.exists() { 2 } else { 0 };
        let status = start(scratch.path(), &arguments).wait().unwrap();
        assert_eq!(status.code(), Some(expected));
        assert!(plugin.join("vendor/.sp-gen.json").is_file());
        assert!(staging_folders(scratch.path()).is_empty());
        fs::remove_dir_all(plugin).unwrap();
    }
}
