//! `sp-gen` as a process: options, output streams, failures, and files after a signal.

#[path = "../replay/capture.rs"]
#[allow(dead_code, reason = "the tests of `replay` use the other items")]
mod capture;
#[path = "../diff/scene.rs"]
#[allow(dead_code, reason = "the tests of `diff` use the other items")]
mod scene;
#[path = "../diff/schema.rs"]
mod schema;
#[path = "../temporary_folder/mod.rs"]
mod temporary_folder;

mod coverage;
mod failures;
mod interrupt;
mod options;
mod pages;
mod schemas;
mod streams;

use std::process::{Command, Output};

use scene::Scene;

/// Returns an `sp-gen` command that runs in the scene's folder.
fn sp_gen(scene: &Scene, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sp-gen"));
    command
        .args(arguments)
        .current_dir(scene.path("."))
        .env("XDG_CACHE_HOME", scene.path("cache"))
        .env("COLUMNS", "100")
        .env_remove("NO_COLOR")
        .env("TERM", "xterm");
    command
}

fn run(command: &mut Command) -> (i32, String, String) {
    let output: Output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let status = output.status.code().unwrap_or(-1);
    (status, text(&output.stdout), text(&output.stderr))
}
