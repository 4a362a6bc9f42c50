//! The git repository of a new plugin.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// The result of [`init`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repository {
    /// `git init` created one.
    Created,
    /// The folder is in one.
    Present,
    /// git is not installed, or failed.
    Unavailable,
}

/// Creates a git repository in `folder`, unless the folder is in one.
pub fn init(folder: &Path) -> Repository {
    if is_inside_repository(folder) {
        return Repository::Present;
    }
    match run_git_init(folder) {
        Ok(true) => Repository::Created,
        Ok(false) | Err(_) => Repository::Unavailable,
    }
}

fn is_inside_repository(folder: &Path) -> bool {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    folder
        .ancestors()
        .any(|ancestor| ancestor.join(".git").exists())
}

fn run_git_init(folder: &Path) -> io::Result<bool> {
    let mut git = Command::new("git");
    git.args(["init", "--quiet"]).current_dir(folder);
    // Set if git started sp-gen, for example in a hook; they select another repository.
    let variables = [
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_OBJECT_DIRECTORY",
    ];
    variables.iter().for_each(|variable| {
        git.env_remove(variable);
    });
    let status = git.stdin(Stdio::null()).stdout(Stdio::null());
    let status = status.stderr(Stdio::null()).status()?;
    Ok(status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn creates_repository_only_outside_of_one() {
        let scratch = tempfile::tempdir().unwrap();
        let outer = init(scratch.path());
        if outer == Repository::Unavailable {
            return println!("skipped: git is not installed");
        }
        assert_eq!(outer, Repository::Created);
        assert!(scratch.path().join(".git").is_dir());
        let inner = scratch.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        assert_eq!(init(&inner), Repository::Present);
        assert!(!inner.join(".git").exists());
    }
}
