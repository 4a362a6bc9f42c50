//! Plugins in C, for tests: the header is printed from the committed IR, so that the test's plugin
//! and the host agree on nothing but the IR; the compiler is the machine's own.

mod header;

use std::path::{Path, PathBuf};
use std::process::Command;

use sp_ir::Api;

const SNAPSHOTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../generated/ir");
const PLUGIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/c/plugin.c");

/// The APIs of TensorFlow 2.21 that a device plugin uses.
pub fn apis() -> Vec<Api> {
    let names = [
        "tf_status",
        "tf_datatype",
        "tf_tensor",
        "c_api",
        "stream_executor",
        "kernels",
    ];
    names
        .map(|name| snapshot(&format!("{SNAPSHOTS}/{name}/2.21.json")))
        .into()
}

fn snapshot(path: &str) -> Api {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    Api::from_json(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A C compiler and a folder for what it makes.
pub struct Compiler {
    folder: PathBuf,
}

impl Compiler {
    /// Nothing, where the machine has no C compiler.
    pub fn find(apis: &[Api]) -> Option<Self> {
        let version = Command::new("cc").arg("--version").output().ok()?;
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(env!("CARGO_CRATE_NAME"));
        if !sp_host::is_child() {
            std::fs::create_dir_all(&folder).expect("the folder is made");
            let text = header::of(apis);
            std::fs::write(folder.join("tensorflow.h"), text).expect("the header is written");
        }
        version.status.success().then_some(Self { folder })
    }

    /// The plugin with one `defect` (or none), as a shared object.
    pub fn plugin(&self, defect: &str) -> PathBuf {
        let path = self.folder.join(format!("lib{}.so", defect.to_lowercase()));
        self.cc(&path, &[&format!("-D{defect}"), PLUGIN]);
        path
    }

    /// The plugin as vendors link theirs, with TensorFlow's libraries among those it needs.
    #[allow(dead_code, reason = "each test crate has this module and uses a part")]
    pub fn plugin_with_needed(&self) -> PathBuf {
        let mut libraries = vec![];
        for name in ["libtensorflow_framework.so.2", "libtensorflow_cc.so.2"] {
            let path = self.folder.join(name);
            self.cc(
                &path,
                &[&format!("-Wl,-soname,{name}"), "-x", "c", "/dev/null"],
            );
            libraries.push(path.display().to_string());
        }
        let path = self.folder.join("libneeded.so");
        self.cc(
            &path,
            &[PLUGIN, "-Wl,--no-as-needed", &libraries[0], &libraries[1]],
        );
        // What is needed must come from the host.
        libraries
            .iter()
            .for_each(|path| std::fs::remove_file(path).expect("it is there"));
        path
    }

    /// A child finds what its parent made.
    fn cc(&self, output: &Path, arguments: &[&str]) {
        if sp_host::is_child() {
            return;
        }
        let out = Command::new("cc")
            .args([
                "-std=c11", "-Wall", "-Werror", "-shared", "-fPIC", "-O1", "-pthread", "-I",
            ])
            .arg(&self.folder)
            .args(arguments)
            .arg("-o")
            .arg(output)
            .output()
            .expect("the compiler runs");
        assert!(
            out.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&out.stderr)
        );
    }
}
