//! The build scripts embed only files that git tracks.

#![allow(dead_code, reason = "the build scripts use the rest of the module")]

#[path = "../tracked.rs"]
mod tracked;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tracked::remove_untracked;

/// Runs git in `folder`. Returns false if it is not installed.
fn git(folder: &Path, arguments: &[&str]) -> bool {
    let mut git = Command::new("git");
    let status = git.args(arguments).current_dir(folder).status();
    status.is_ok_and(|status| status.success())
}

fn files(root: &Path) -> Vec<PathBuf> {
    ["src/a.rs", "src/a.rs~", "src/b.rs"]
        .map(|file| root.join(file))
        .into()
}

#[test]
fn removes_files_that_git_does_not_track() {
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path();
    fs::create_dir(root.join("src")).unwrap();
    for file in files(root) {
        fs::write(file, "").unwrap();
    }
    // Without a repository every file remains.
    let mut found = files(root);
    assert!(remove_untracked(root, &mut found).unwrap().is_empty());
    assert_eq!(found, files(root));
    if !git(root, &["init", "--quiet"]) {
        return eprintln!("skipped: git is not installed");
    }
    assert!(git(root, &["add", "src/a.rs", "src/b.rs"]));
    let removed = remove_untracked(root, &mut found).unwrap();
    assert_eq!(removed, [root.join("src/a.rs~")]);
    assert_eq!(found, [root.join("src/a.rs"), root.join("src/b.rs")]);
}

#[test]
fn fails_in_damaged_repository() {
    let scratch = tempfile::tempdir().unwrap();
    fs::write(scratch.path().join(".git"), "gitdir: /nonexistent\n").unwrap();
    if !git(scratch.path(), &["--version"]) {
        return eprintln!("skipped: git is not installed");
    }
    let error = remove_untracked(scratch.path(), &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("git cannot list"), "{error}");
}
