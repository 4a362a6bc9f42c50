//! The files that git tracks. The build scripts embed no other files: an editor's backup in a folder of the checkout must
//! not get into the binary or a vendored crate.

use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Maximum number of files that are named in the build's warnings.
const MAX_NAMED: usize = 5;

/// Removes from `files`, which are below `root`, those that git does not track, and prints a warning for cargo. Outside of
/// a repository, as in a source archive, all files remain.
///
/// # Errors
/// Returns an error if git fails.
pub fn retain_tracked(root: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let untracked = remove_untracked(root, files)?;
    for file in untracked.iter().take(MAX_NAMED) {
        let file = file.display();
        println!(
            "cargo::warning={file} is not embedded, since git does not track it: `git add` it"
        );
    }
    if untracked.len() > MAX_NAMED {
        let more = untracked.len() - MAX_NAMED;
        println!("cargo::warning=... and {more} more files");
    }
    if !untracked.is_empty() {
        // `git add` changes the index, and none of the folders that the build script watches.
        let index = git(root, &["rev-parse", "--git-path", "index"])?.unwrap_or_default();
        let index = root.join(String::from_utf8_lossy(&index).trim());
        println!("cargo::rerun-if-changed={}", index.display());
    }
    Ok(())
}

/// Removes from `files` those that git does not track, and returns them.
pub fn remove_untracked(root: &Path, files: &mut Vec<PathBuf>) -> io::Result<Vec<PathBuf>> {
    let Some(tracked) = tracked_files(root)? else {
        return Ok(Vec::new());
    };
    let is_tracked = |file: &PathBuf| tracked.contains(file);
    let (kept, removed) = files.drain(..).partition(is_tracked);
    *files = kept;
    Ok(removed)
}

/// Returns the tracked files below `root`, or `None` if it is not the root of a repository.
fn tracked_files(root: &Path) -> io::Result<Option<BTreeSet<PathBuf>>> {
    // A copy of the checkout may be in another repository, which tracks none of its files.
    if !root.join(".git").exists() {
        return Ok(None);
    }
    let Some(listed) = git(root, &["ls-files", "-z"])? else {
        return Ok(None);
    };
    let names = listed.split(|byte| *byte == 0);
    let path = |name: &[u8]| root.join(String::from_utf8_lossy(name).into_owned());
    Ok(Some(names.map(path).collect()))
}

/// Returns the output of git in `root`, or `None` if git is not installed: cargo fetches a repository without it.
fn git(root: &Path, arguments: &[&str]) -> io::Result<Option<Vec<u8>>> {
    let mut git = Command::new("git");
    // In a container the checkout often belongs to another user.
    git.arg("-c")
        .arg(format!("safe.directory={}", root.display()));
    git.args(["-c", "core.fsmonitor=false"]).args(arguments);
    // Set if git started the build, for example in a hook; they select another repository.
    let variables = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"];
    for variable in variables {
        git.env_remove(variable);
    }
    match git.current_dir(root).output() {
        Ok(output) if output.status.success() => Ok(Some(output.stdout)),
        Ok(output) => Err(io::Error::other(format!(
            "git cannot list the files of {}: {}",
            root.display(),
            String::from_utf8_lossy(&output.stderr)
        ))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
