//! A temporary folder for each test, outside of the checkout, in which `sp-gen` runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// The folder, which is removed when it is dropped.
pub struct TemporaryFolder(TempDir);

/// Exit status and output of a run.
pub struct Run {
    /// Its exit status.
    pub status: i32,
    /// Results.
    pub stdout: String,
    /// Progress and diagnostics.
    pub stderr: String,
}

impl TemporaryFolder {
    /// Creates an empty folder.
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Returns the path of an entry.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file, and creates its parent folders.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Runs `sp-gen` in the folder `inside`, with a separate cache.
    pub fn run(&self, inside: impl AsRef<Path>, arguments: &[&str]) -> Run {
        self.run_with(inside, arguments, &[])
    }

    /// Runs `sp-gen` as [`run`](Self::run) does, with environment variables.
    pub fn run_with(
        &self,
        inside: impl AsRef<Path>,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Run {
        let output = Command::new(env!("CARGO_BIN_EXE_sp-gen"))
            .args(arguments)
            .current_dir(self.0.path().join(inside))
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env("COLUMNS", "100")
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        Run {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}
