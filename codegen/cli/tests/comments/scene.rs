//! A copy of a release's headers in a temporary folder.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use sp_data::folders::DataFolders;
use sp_diff::{Diff, Surface, diff};
use sp_gen::operand::{Operand, ReadOptions};
use sp_parse::clang::Library;
use sp_parse::extract::TARGETS;
use sp_tests::{copy_files, root, write_dist_info};
use tempfile::TempDir;

use crate::edits::Edit;

const RELEASE: &str = "2.21.0";

pub struct Scene {
    folder: TempDir,
    folders: DataFolders,
    release: Surface,
}

impl Scene {
    /// Copies the headers. Without stored headers or libclang, prints the reason and returns `None`.
    pub fn new() -> Option<Self> {
        let stored = root().join("headers/store").join(RELEASE);
        if Library::load().is_err() || !stored.is_dir() {
            eprintln!("skipped: no libclang, or no headers in the store");
            return None;
        }
        let folders = DataFolders::find(root()).unwrap();
        let release = read("2.21", &folders);
        let folder = tempfile::tempdir().unwrap();
        let scene = Self {
            folder,
            folders,
            release,
        };
        copy_files(&stored, &scene.path(RELEASE));
        Some(scene)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Edits the headers.
    pub fn edit(&self, edits: &[Edit]) {
        for edit in edits {
            let path = self.path(RELEASE).join("include").join(edit.header);
            let text = fs::read_to_string(&path).unwrap();
            fs::write(&path, edit.apply(&text)).unwrap();
        }
    }

    /// Compares the release with its edited headers, and reverts the edits.
    pub fn diff(&self, edits: &[Edit]) -> Diff {
        let paths = edits
            .iter()
            .map(|edit| self.path(RELEASE).join("include").join(edit.header));
        let saved: Vec<_> = paths.map(|path| (fs::read(&path).unwrap(), path)).collect();
        self.edit(edits);
        let edited = read(self.path(RELEASE).to_str().unwrap(), &self.folders);
        for (bytes, path) in saved {
            fs::write(path, bytes).unwrap();
        }
        diff(&self.release, &edited, TARGETS[0])
    }

    /// Writes an installed TensorFlow of another release with these headers.
    pub fn install(&self, release: &str) {
        let site = self.path("site");
        let about = site.join(format!("tensorflow_cpu-{release}.dist-info"));
        copy_files(&self.path(RELEASE), &site.join("tensorflow"));
        write_dist_info(&about, "tensorflow_cpu", release);
    }

    /// Runs `sp-gen` in the folder and returns its output.
    pub fn run(&self, arguments: &[&str]) -> String {
        let output = Command::new(env!("CARGO_BIN_EXE_sp-gen"))
            .args(arguments)
            .current_dir(self.folder.path())
            .env("XDG_CACHE_HOME", self.path("cache"))
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    }
}

/// Reads an operand without its exports, which an include root does not have.
fn read(operand: &str, folders: &DataFolders) -> Surface {
    let target = TARGETS[0];
    let side = Operand::parse(operand).unwrap().read(ReadOptions {
        folders,
        target,
        apis: &[],
    });
    Surface {
        exports: None,
        visibility: None,
        ..side
            .unwrap_or_else(|error| panic!("{operand}: {error}"))
            .surface
    }
}
