//! The packages that a build uses are those of a `Cargo.lock`, and `tests/deny` checks each lock.

use sp_tests::root;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns the tracked files with the given name, or `None` without a repository.
fn tracked(name: &str) -> Option<BTreeSet<String>> {
    let mut git = Command::new("git");
    git.args(["ls-files", &format!("*{name}")])
        .current_dir(root());
    let output = git.output().ok().filter(|output| output.status.success())?;
    Some(text(&output.stdout).lines().map(str::to_owned).collect())
}

/// Runs a script that sources `tests/deny`, with the programs in `folder` before all others. It has no tools of earlier
/// runs, and writes no scaffold.
#[cfg(unix)]
fn run_deny(script: &str, folder: &Path) -> Output {
    let mut bash = Command::new("bash");
    let folder_variables = format!("build_dir={0} accepted={0}/deny.txt", folder.display());
    let variables = format!("{folder_variables}\nscaffold() {{ :; }}");
    bash.args(["-c", &format!("source tests/deny\n{variables}\n{script}")]);
    let path = std::env::var("PATH").unwrap_or_default();
    bash.env("PATH", format!("{}:{path}", folder.display()));
    bash.current_dir(root()).output().unwrap()
}

/// Writes a program that runs `script`.
#[cfg(unix)]
fn write_program(folder: &Path, name: &str, script: &str) {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
}

#[test]
fn wheel_is_built_with_locked_packages() {
    let text = fs::read_to_string(root().join("codegen/cli/pyproject.toml")).unwrap();
    let table: toml::Table = text.parse().unwrap();
    let locked = &table["tool"]["maturin"]["locked"];
    assert_eq!(locked.as_bool(), Some(true));
}

#[test]
fn each_workspace_has_tracked_lock() {
    let (Some(manifests), Some(locks)) = (tracked("Cargo.toml"), tracked("Cargo.lock")) else {
        return eprintln!("skipped: no repository, or no git");
    };
    for manifest in manifests {
        let text = fs::read_to_string(root().join(&manifest)).unwrap();
        let has_workspace = text.lines().any(|line| line == "[workspace]");
        let lock = manifest.replace("Cargo.toml", "Cargo.lock");
        assert!(!has_workspace || locks.contains(&lock), "{lock} is absent");
    }
}

#[cfg(unix)]
#[test]
fn every_lock_is_checked() {
    let Some(locks) = tracked("Cargo.lock") else {
        return eprintln!("skipped: no repository, or no git");
    };
    let scratch = tempfile::tempdir().unwrap();
    write_program(scratch.path(), "cargo", "echo \"cargo $*\"");
    let script = "mapfile -t locks < <(lock_folders)\ndeny \"${locks[@]}\"";
    let output = run_deny(script, scratch.path());
    let stdout = text(&output.stdout);
    assert!(output.status.success() && locks.len() > 1, "{stdout}");
    for lock in locks {
        let folder = lock.strip_suffix("/Cargo.lock").unwrap_or(".");
        let command = format!("cargo deny --manifest-path {folder}/Cargo.toml --config ");
        assert!(stdout.contains(&command), "{lock}: {stdout}");
    }
    write_program(
        scratch.path(),
        "cargo",
        "case \"$*\" in *loom*) exit 1 ;; esac",
    );
    assert!(!run_deny(script, scratch.path()).status.success());
}

#[cfg(unix)]
#[test]
fn other_version_of_cargo_deny_is_replaced_by_pinned_one() {
    let scratch = tempfile::tempdir().unwrap();
    write_program(scratch.path(), "cargo", "echo \"cargo $*\"");
    let run = |version: &str| {
        write_program(
            scratch.path(),
            "cargo-deny",
            &format!("echo cargo-deny {version}"),
        );
        text(&run_deny("has_deny", scratch.path()).stdout)
    };
    let installed = run("0.0.1");
    let (_, version) = installed.trim().rsplit_once("cargo-deny@").unwrap();
    assert!(
        version.split('.').count() == 3 && installed.contains("--locked"),
        "{installed}"
    );
    assert_eq!(run(version), "");
}

#[cfg(unix)]
#[test]
fn packages_are_checked_unless_they_were_accepted() {
    let scratch = tempfile::tempdir().unwrap();
    let accepted = scratch.path().join("deny.txt");
    let check = |cargo: &str| {
        write_program(scratch.path(), "cargo", cargo);
        run_deny("check_packages changed", scratch.path())
    };
    fs::write(&accepted, "of other packages\n").unwrap();
    assert!(!check("exit 1").status.success());
    let expected = "of other packages\n";
    assert_eq!(fs::read_to_string(&accepted).unwrap(), expected);
    let output = check("echo \"cargo $*\"");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("myaccel/Cargo.toml --config "));
    let output = check("exit 1");
    assert!(output.status.success(), "{}", text(&output.stderr));
}
