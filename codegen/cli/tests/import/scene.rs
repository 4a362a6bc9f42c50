//! A scratch folder with a cache and a working directory, and `sp-gen` run in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub struct Scene(tempfile::TempDir);

impl Scene {
    pub fn new() -> Self {
        let scene = Self(tempfile::tempdir().unwrap());
        for folder in ["work", "home", "cache"] {
            fs::create_dir(scene.path(folder)).unwrap();
        }
        scene
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Returns the command, whose pip reads no setting of this machine and no index.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sp-gen"));
        command.args(arguments).current_dir(self.path("work"));
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy().into_owned();
            let is_setting = ["PIP_", "PYTHON", "NETRC"]
                .iter()
                .any(|it| name.starts_with(it));
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

pub fn stderr(done: &Output) -> String {
    String::from_utf8_lossy(&done.stderr).into_owned()
}

/// Returns true, and says so, if the test must be skipped because there is no `python3` with pip.
pub fn lacks_pip(folder: &Path) -> bool {
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "--version"]).current_dir(folder);
    let is_there = pip.output().is_ok_and(|output| output.status.success());
    if !is_there {
        eprintln!("skipped: python3 has no pip");
    }
    !is_there
}

/// Returns `None`, and says why, if the tests cannot run here.
pub fn import_scene() -> Option<Scene> {
    let scene = Scene::new();
    if lacks_pip(&scene.path("home")) {
        return None;
    }
    if sp_parse::clang::Library::load().is_err() {
        eprintln!("skipped: there is no libclang");
        return None;
    }
    Some(scene)
}
