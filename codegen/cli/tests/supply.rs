//! The packages that a build uses are those of a `Cargo.lock`, and `tests/run` checks each lock.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}

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

/// Runs a script that sources `tests/steps`, with the programs in `folder` before all others.
fn run_steps(script: &str, folder: &Path, in_ci: bool) -> Output {
    let mut bash = Command::new("bash");
    bash.args(["-c", &format!("source tests/steps\n{script}")]);
    let path = std::env::var("PATH").unwrap_or_default();
    bash.env("PATH", format!("{}:{path}", folder.display()));
    bash.env_remove("SP_CI");
    if in_ci {
        bash.env("SP_CI", "1");
    }
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
    let output = run_steps(script, scratch.path(), false);
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
    assert!(!run_steps(script, scratch.path(), false).status.success());
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
        // The tools of earlier runs come first otherwise.
        let script = format!("build_dir={}\nhas_deny", scratch.path().display());
        text(&run_steps(&script, scratch.path(), false).stdout)
    };
    let installed = run("0.0.1");
    let (_, version) = installed.trim().rsplit_once("cargo-deny@").unwrap();
    assert!(
        version.split('.').count() == 3 && installed.contains("--locked"),
        "{installed}"
    );
    assert_eq!(run(version), "");
}

#[test]
fn skipped_check_of_packages_fails_in_ci() {
    let scratch = tempfile::tempdir().unwrap();
    let script = "skip_outside_ci 'cargo deny' 'cannot be built'\nsummary";
    let outside = run_steps(script, scratch.path(), false);
    assert!(outside.status.success(), "{}", text(&outside.stdout));
    assert!(text(&outside.stdout).contains("skipped  cargo deny"));
    let inside = run_steps(script, scratch.path(), true);
    assert!(!inside.status.success(), "{}", text(&inside.stdout));
    assert!(text(&inside.stdout).contains("FAILED   cargo deny"));
    let ci = fs::read_to_string(root().join(".ci/run")).unwrap();
    assert!(ci.contains("export SP_CI=1"));
}
