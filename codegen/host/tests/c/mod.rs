//! Plugins in C for tests. The header is printed from the committed IR, so that plugin and host share only the IR.
//! The compiler is that of the system.

mod header;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use sp_ir::Api;

const SNAPSHOTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../generated/ir");
const PLUGIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../host/tests/c/plugin.c");
const KERNELS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../host/tests/c/kernels.c");
const EXTRAS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../host/tests/c/extras.c");
const MEMORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../host/tests/c/memory.c");
const MEMORY_HEADER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../host/tests/c/memory.h");
const QUEUES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../host/tests/c/queues.c");
const QUEUES_HEADER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../host/tests/c/queues.h");
const CALLS_HEADER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../host/tests/c/calls.h");
const HOSTILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../host/tests/c/hostile.c");
const CC_OPTIONS: &str =
    "-std=c11 -Wall -Werror -Wno-unused-function -shared -fPIC -O1 -pthread -I";

/// The sources of the plugin.
const SOURCES: [&str; 5] = [PLUGIN, MEMORY, KERNELS, EXTRAS, QUEUES];
/// This file, which has the compiler's options.
const OPTIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../host/tests/c/mod.rs");
const PANICS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../host/tests/c/panics.rs");

/// Returns the supported releases that have snapshots.
#[allow(dead_code, reason = "each test crate has this module and uses a part")]
pub fn releases() -> Vec<String> {
    let first = sp_ir::Release::FIRST_SUPPORTED.minor;
    (first..=22).map(|minor| format!("2.{minor}")).collect()
}

/// Returns the APIs of TensorFlow 2.21.
#[allow(dead_code, reason = "each test crate has this module and uses a part")]
pub fn apis() -> Vec<Api> {
    apis_of("2.21")
}

/// Returns the APIs of a release.
pub fn apis_of(release: &str) -> Vec<Api> {
    let names = [
        "tf_status",
        "tf_datatype",
        "tf_buffer",
        "tf_tensor",
        "c_api",
        "stream_executor",
        "kernels",
        "kernels_experimental",
        "ops",
        "grappler",
        "pluggable_profiler",
    ];
    let paths = names.map(|name| format!("{SNAPSHOTS}/{name}/{release}.json"));
    let there = paths.iter().filter(|path| Path::new(path).exists());
    there.map(|path| snapshot(path)).collect()
}

fn snapshot(path: &str) -> Api {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    Api::from_json(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A C compiler and the output folder for one release.
pub struct Compiler {
    folder: PathBuf,
    minor: u32,
}

impl Compiler {
    /// Returns `None` if the system has no C compiler.
    pub fn find(apis: &[Api]) -> Option<Self> {
        let version = Command::new("cc").arg("--version").output().ok()?;
        let release = &apis[0].release;
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(env!("CARGO_CRATE_NAME"));
        let folder = folder.join(release);
        let minor = release.split('.').nth(1)?.parse().ok()?;
        if !sp_host::is_child() {
            std::fs::create_dir_all(folder.join("needed")).expect("the folder is made");
            let (path, text) = (folder.join("tensorflow.h"), header::print(apis));
            if std::fs::read_to_string(&path).ok().as_deref() != Some(&text) {
                std::fs::write(path, text).expect("the header is written");
            }
        }
        version.status.success().then_some(Self { folder, minor })
    }

    /// Compiles the plugin with the macros `defect`, separated by spaces. Before 2.21 it names the libraries that it
    /// needs, without which those releases do not load it.
    pub fn plugin(&self, defect: &str) -> PathBuf {
        let file = defect.to_lowercase().replace('=', ".");
        let file = file.replace([' ', '/'], "_");
        let path = self.folder.join(format!("lib{file}.so"));
        let defines: Vec<String> = defect.split(' ').map(|it| format!("-D{it}")).collect();
        let defines: Vec<&str> = defines.iter().map(String::as_str).collect();
        match self.minor {
            ..=20 => self.link(&path, &defines),
            _ => self.cc(&path, &[&defines[..], &SOURCES].concat()),
        }
        path
    }

    /// Compiles the plugin with TensorFlow's libraries among those that it needs, as vendors do.
    #[allow(dead_code, reason = "each test crate has this module and uses a part")]
    pub fn plugin_with_needed(&self) -> PathBuf {
        let path = self.folder.join("libneeded.so");
        self.link(&path, &[]);
        path
    }

    /// Compiles the hostile plugin with these macros, separated by spaces.
    #[allow(dead_code, reason = "each test crate has this module and uses a part")]
    pub fn hostile(&self, variants: &str) -> PathBuf {
        let file = variants.to_lowercase().replace(' ', "_");
        let path = self.folder.join(format!("libhostile_{file}.so"));
        let defines: Vec<String> = variants.split(' ').map(|it| format!("-D{it}")).collect();
        let defines: Vec<&str> = defines.iter().map(String::as_str).collect();
        self.cc(&path, &[&defines[..], &[HOSTILE]].concat());
        path
    }

    /// Compiles a plugin in Rust that panics.
    #[allow(dead_code, reason = "each test crate has this module and uses a part")]
    pub fn panicking(&self) -> PathBuf {
        let path = self.folder.join("libpanics.so");
        if !sp_host::is_child() {
            let out = Command::new("rustc")
                .args(["--edition", "2024", "--crate-type", "cdylib", PANICS, "-o"])
                .arg(&path)
                .output()
                .expect("the compiler runs");
            assert!(
                out.status.success(),
                "{}",
                String::from_utf8_lossy(&out.stderr)
            );
        }
        path
    }

    /// Compiles a plugin that exports nothing.
    #[allow(dead_code, reason = "each test crate has this module and uses a part")]
    pub fn empty(&self) -> PathBuf {
        let path = self.folder.join("libempty.so");
        self.cc(&path, &["-x", "c", "/dev/null"]);
        path
    }

    /// Links against empty libraries with TensorFlow's SONAMEs, so that the symbols come from the host.
    fn link(&self, path: &Path, options: &[&str]) {
        let second = match self.minor {
            ..=11 => "_pywrap_tensorflow_internal.so",
            _ => "libtensorflow_cc.so.2",
        };
        let libraries = ["libtensorflow_framework.so.2", second].map(|name| {
            let library = self.folder.join("needed").join(name);
            let soname = format!("-Wl,-soname,{name}");
            if !library.exists() {
                self.cc(&library, &[&soname, "-x", "c", "/dev/null"]);
            }
            library.display().to_string()
        });
        let needed = ["-Wl,--no-as-needed", &libraries[0], &libraries[1]];
        self.cc(path, &[options, &SOURCES, &needed].concat());
    }

    /// Returns true if no source is newer than `output`.
    fn is_fresh(&self, output: &Path) -> bool {
        let modified = |path: &Path| path.metadata()?.modified();
        let header = self.folder.join("tensorflow.h");
        let sources = [
            &header,
            Path::new(PLUGIN),
            Path::new(KERNELS),
            Path::new(EXTRAS),
            Path::new(MEMORY),
            Path::new(MEMORY_HEADER),
            Path::new(QUEUES),
            Path::new(QUEUES_HEADER),
            Path::new(CALLS_HEADER),
            Path::new(HOSTILE),
            Path::new(OPTIONS),
        ];
        let newest = sources.into_iter().filter_map(|path| modified(path).ok());
        let newest = newest.max();
        modified(output).ok() > newest
    }

    /// Compiles, unless this process is a child, whose parent has done so. Two threads may ask for the same output:
    /// it gets its name once it is complete.
    fn cc(&self, output: &Path, arguments: &[&str]) {
        if sp_host::is_child() || self.is_fresh(output) {
            return;
        }
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let part = output.with_extension(format!("{}.part", COUNT.fetch_add(1, Relaxed)));
        let out = Command::new("cc")
            .args(CC_OPTIONS.split(' '))
            .arg(&self.folder)
            .args(arguments)
            .arg("-o")
            .arg(&part)
            .output()
            .expect("the compiler runs");
        assert!(
            out.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&out.stderr)
        );
        std::fs::rename(&part, output).expect("the output gets its name");
    }
}
