//! A virtual Python for each test: the machine's Python, with a small package `tensorflow` in a site-packages
//! folder that loads plugins as TensorFlow does.

use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use crate::temporary_folder::{Run, TemporaryFolder};

const PACKAGE: &str = r#"
import os, sys
from tensorflow.python.framework import load_library as _loader
__version__ = "2.99.0"
for folder in [os.path.join(folder, "tensorflow-plugins") for folder in sys.path if "site-packages" in folder]:
    if os.path.exists(folder):
        _loader.load_library(folder)
        _loader.load_pluggable_device_library(folder)

class Device:
    def __init__(self, device_type):
        self.device_type = device_type

class config:
    @staticmethod
    def list_physical_devices():
        return [Device(name) for name in ["CPU"] + _loader.devices]
"#;

const LOADER: &str = r#"
import ctypes, os
devices, kernels = [], ["CPU"] * 5

def load_library(path):
    pass

def load_pluggable_device_library(path):
    names = [os.path.join(path, name) for name in os.listdir(path)] if os.path.isdir(path) else [path]
    for name in sorted(names):
        library = ctypes.CDLL(name)
        library.SE_InitPlugin.restype = ctypes.c_char_p
        device = library.SE_InitPlugin()
        if device and device.decode() in devices:
            os.write(2, b"F0000 00:00 device_factory.cc:110] Duplicate registration of device factory for type %s\n" % device)
            os.abort()
        if device:
            devices.append(device.decode())
            if hasattr(library, "TF_InitKernel"):
                kernels.extend([device.decode()] * 3)
"#;

const KERNELS: &str = r#"
from tensorflow.python.framework import load_library

class Kernel:
    def __init__(self, device_type):
        self.device_type = device_type

class List:
    kernel = property(lambda self: [Kernel(name) for name in load_library.kernels])

def get_all_registered_kernels():
    return List()
"#;

/// The folder.
pub struct Scene {
    folder: TemporaryFolder,
}

impl Scene {
    /// Returns a Python without TensorFlow; `None` if the machine has no Python.
    pub fn without_tensorflow() -> Option<Self> {
        let scene = Self {
            folder: TemporaryFolder::new(),
        };
        let has_python = Command::new("python3").arg("--version").output();
        if !has_python.is_ok_and(|it| it.status.success()) {
            eprintln!("skipped: no python3");
            return None;
        }
        scene.write("site-packages/README", "");
        let [site, user] = ["site-packages", "user/site-packages"].map(|it| scene.path(it));
        let folders = format!("{}:{}", site.display(), user.display());
        // -S: neither an installed TensorFlow nor its plugins are found.
        scene.program(
            "python",
            &format!("PYTHONPATH={folders} exec python3 -S \"$@\""),
        );
        Some(scene)
    }

    /// Returns a Python with TensorFlow.
    pub fn new() -> Option<Self> {
        let scene = Self::without_tensorflow()?;
        let package = "site-packages/tensorflow";
        scene.write(&format!("{package}/__init__.py"), PACKAGE);
        for folder in ["python", "python/framework"] {
            scene.write(&format!("{package}/{folder}/__init__.py"), "");
        }
        let framework = format!("{package}/python/framework");
        scene.write(&format!("{framework}/load_library.py"), LOADER);
        scene.write(&format!("{framework}/kernels.py"), KERNELS);
        Some(scene)
    }

    /// Returns a Python with TensorFlow and a plugin in C for each pair of name and source; `None` if Python or the
    /// compiler is absent.
    pub fn with_plugins(plugins: &[(&str, &str)]) -> Option<Self> {
        let scene = Self::new()?;
        let mut all = plugins.iter();
        all.all(|(name, source)| scene.build("site-packages", name, source))
            .then_some(scene)
    }

    /// Compiles a plugin into the plugins folder of `site`. Returns false if the machine has no compiler.
    pub fn build(&self, site: &str, name: &str, source: &str) -> bool {
        self.write("plugin.c", source);
        let plugin = format!("{site}/tensorflow-plugins/{name}");
        self.write(&plugin, "");
        sp_tests::compile_library(&self.path(&plugin), &self.path("plugin.c"), &[])
    }

    /// Returns the path of a file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path(name)
    }

    /// Writes a file.
    pub fn write(&self, name: &str, text: &str) {
        self.folder.write(name, text);
    }

    /// Writes a shell script that can be run.
    pub fn program(&self, name: &str, body: &str) {
        self.write(name, &format!("#!/bin/sh\n{body}\n"));
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Runs `sp-gen doctor` with `arguments`, in the folder.
    pub fn doctor(&self, arguments: &[&str]) -> Run {
        self.folder.run("", &[&["doctor"], arguments].concat())
    }

    /// Runs it with the scene's Python and returns the exit status and the steps.
    pub fn steps(&self, arguments: &[&str]) -> (i32, Vec<Value>) {
        let run = self.doctor(&[&["./python", "--format", "json"], arguments].concat());
        let page: Value = serde_json::from_str(&run.stdout)
            .unwrap_or_else(|_| panic!("{}{}", run.stdout, run.stderr));
        assert_eq!(page["schema"], 1);
        (run.status, page["steps"].as_array().unwrap().clone())
    }
}

/// Returns verdict, detail and advice of the first step of that name.
#[track_caller]
pub fn step<'a>(steps: &'a [Value], name: &str) -> [&'a str; 3] {
    let found = steps.iter().find(|it| it["step"] == name);
    let found = found.unwrap_or_else(|| panic!("no step {name} in {steps:?}"));
    ["verdict", "detail", "advice"].map(|key| found[key].as_str().unwrap())
}
