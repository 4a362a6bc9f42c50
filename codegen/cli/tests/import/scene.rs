//! A temporary folder with a cache, a home and a working directory, in which `sp-gen` runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::libclang::has_libclang;
use crate::temporary_folder::TemporaryFolder;

pub struct Scene(TemporaryFolder);

impl Scene {
    pub fn new() -> Self {
        let scene = Self(TemporaryFolder::new());
        for folder in ["work", "home", "cache"] {
            fs::create_dir(scene.path(folder)).unwrap();
        }
        scene
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        self.0.write(name, bytes);
    }

    /// Returns an `sp-gen` command whose pip reads neither the settings of this computer nor an index.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sp-gen"));
        command.args(arguments).current_dir(self.path("work"));
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy().into_owned();
            let is_setting = ["PIP_", "PYTHON", "NETRC"]
                .iter()
                .any(|prefix| name.starts_with(prefix));
            if is_setting || name.to_lowercase().ends_with("_proxy") {
                command.env_remove(name);
            }
        }
        command.env("HOME", self.path("home"));
        command.env("XDG_CACHE_HOME", self.path("cache"));
        command.env("PIP_CONFIG_FILE", "/dev/null");
        command.env("PIP_NO_INDEX", "1");
        command
    }
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns the message without the line breaks of its layout.
pub fn unwrapped(output: &Output) -> String {
    stderr(output).replace(['\n', ' ', '│'], "")
}

#[track_caller]
pub fn assert_rejected(output: &Output, words: &str) {
    assert_eq!(output.status.code(), Some(2), "{}", stderr(output));
    let is_named = unwrapped(output).contains(&words.replace(' ', ""));
    assert!(is_named, "`{words}` is not in: {}", stderr(output));
}

/// Returns true and prints a line if there is no `python3` with pip, so that the test must be skipped.
pub fn lacks_pip(folder: &Path) -> bool {
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "--version"]).current_dir(folder);
    let is_present = pip.output().is_ok_and(|output| output.status.success());
    if !is_present {
        eprintln!("skipped: python3 has no pip");
    }
    !is_present
}

/// Creates the folders. Without libclang, prints that the test is skipped and returns `None`.
pub fn clang_scene() -> Option<Scene> {
    has_libclang().then(Scene::new)
}

/// Returns `None` and prints the reason if tests of `import` cannot run here.
pub fn import_scene() -> Option<Scene> {
    clang_scene().filter(|scene| !lacks_pip(&scene.path("home")))
}
