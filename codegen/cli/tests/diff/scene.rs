//! A folder with the operands of `sp-gen diff`, which runs in it.

#[path = "../libclang/mod.rs"]
mod libclang;

use std::path::PathBuf;

use serde_json::Value;

use self::libclang::has_libclang;
use crate::temporary_folder::{Run, TemporaryFolder};

/// The folder.
pub struct Scene {
    folder: TemporaryFolder,
}

impl Scene {
    /// Creates an empty folder.
    pub fn new() -> Self {
        let folder = TemporaryFolder::new();
        Self { folder }
    }

    /// Returns the path of an entry.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path(name)
    }

    /// Writes a file.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        self.folder.write(name, text);
    }

    /// Writes a snapshot with `items`.
    pub fn snapshot(&self, name: &str, api: &str, release: &str, items: &str) {
        let text =
            format!(r#"{{"schema":2,"name":"{api}","release":"{release}","items":{{{items}}}}}"#);
        self.write(name, text);
    }

    /// Writes an include root with one header that contains `declarations`.
    pub fn headers(&self, name: &str, declarations: &str) {
        let text = format!("#include <stddef.h>\nextern \"C\" {{\n{declarations}\n}}\n");
        self.write(&format!("{name}/tensorflow/c/tf_buffer.h"), text);
    }

    /// Runs `sp-gen` in it.
    pub fn run(&self, arguments: &[&str]) -> Run {
        self.folder.run("", arguments)
    }

    /// Runs `sp-gen diff`.
    pub fn diff(&self, arguments: &[&str]) -> Run {
        self.run(&[&["diff"], arguments].concat())
    }

    /// Runs `sp-gen diff --format json`.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let run = self.diff(&[arguments, &["--format", "json"]].concat());
        serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}", run.stderr))
    }
}

impl Run {
    /// Checks that the run has exit status 2 and a message with `texts`.
    #[track_caller]
    pub fn assert_rejected(&self, texts: &[&str]) {
        let words = self.stderr.split_whitespace().filter(|word| *word != "│");
        let stderr = words.collect::<Vec<&str>>().join(" ");
        assert_eq!(self.status, 2, "{stderr}");
        assert_eq!(self.stdout, "");
        for text in texts {
            assert!(stderr.contains(text), "`{text}` in: {stderr}");
        }
    }
}

/// Creates an empty folder. Without libclang, prints that the test is skipped and returns `None`.
pub fn clang_scene() -> Option<Scene> {
    has_libclang().then(Scene::new)
}
