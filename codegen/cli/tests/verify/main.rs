//! `sp-gen verify` as a whole process: how it ends, what it prints, and what it leaves behind.

#[path = "../diff/scene.rs"]
#[allow(dead_code, reason = "the tests of `diff` use the rest")]
mod scene;
#[path = "../temporary_folder/mod.rs"]
mod temporary_folder;

mod containment;
mod kernels;
mod pjrt;
mod unchecked;

use std::path::{Path, PathBuf};
use std::process::Command;

use scene::Scene;

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/verify/plugin.c");

/// The environment variable with a file that the plugin writes.
const FILE: &str = "HOSTILE_FILE";

/// Makes `plugin.so` with these macros and flags; prints it if there is no compiler for it.
fn compile(scene: &Scene, arguments: &[&str]) -> Option<PathBuf> {
    let plugin = scene.path("plugin.so");
    sp_tests::compile_library(&plugin, Path::new(SOURCE), arguments).then_some(plugin)
}

/// The command in the scene's folder; the plugin's file is `marker`.
fn verify(scene: &Scene, plugin: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sp-gen"));
    command
        .arg("verify")
        .arg(plugin)
        .args(arguments)
        .current_dir(scene.path("."))
        .env("XDG_CACHE_HOME", scene.path("cache"))
        .env("COLUMNS", "100")
        .env(FILE, scene.path("marker"));
    command
}
