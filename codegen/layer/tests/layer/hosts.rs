//! Planted defects of a host: the layer checks the calls of both sides.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::c::{Compiler, apis_of};
use crate::process::{findings_of, with_layer};
use crate::rows;
use sp_layer::runtime::settings::variable;

/// Macros that are those of the plugin, too.
const OF_PLUGIN: [&str; 4] = ["OWN_STATUS", "SHARES_STATUS", "READS_PAST", "WRITES_PAST"];

/// Macros of the host and of the plugin, and the begin of the finding, which is its rule; `none` if there is no defect. With
/// `guarded`, the host memory of copies is guarded.
const HOSTS: &str = "
GOOD | none
BY_EVENT | none
BY_WAIT | none
BY_POLL | none
RUNS_KERNEL | none
UNORDERED | stream_dependency_missing
KERNEL_READS_EARLY | stream_dependency_missing: TF_GetInput
KERNEL_WRITES_LATE | stream_dependency_missing: SP_StreamExecutor.memcpy_dtoh
LONG_COPY_OF_HOST | copy_bounds
FREES_EARLY | host_memory_in_use
STALE_EVENT | use_after_destroy
STALE_COPY | copy_bounds
FREES_BLOCK_TWICE | destroyed_twice
OTHER_RELEASE | release_contract
LEAVES_STREAM | objects_released
LEAVES_BLOCK | objects_released
DESTROYS_IN_USE | concurrent_use: SP_StreamExecutor.destroy_stream
OWN_STATUS | none
SHARES_STATUS | concurrent_use: TF_GetInput
RUNS_KERNEL guarded | none
READS_PAST guarded | host_memory_bounds: SP_StreamExecutor.memcpy_htod
WRITES_PAST guarded | host_memory_bounds: SP_StreamExecutor.memcpy_dtoh
";

pub fn defects_of_hosts_are_found(release: &str) {
    let compiler = Compiler::find(&apis_of(release)).expect("it was there");
    for [macros, rule] in rows::rows(HOSTS) {
        let (macros, guarded) = macros.split_once(' ').unwrap_or((macros, ""));
        let is_of_plugin = OF_PLUGIN.contains(&macros);
        let plugin = compiler.plugin(if is_of_plugin { macros } else { "GOOD" });
        let host = compile(&plugin, macros);
        let mut command = with_layer(release, &host);
        // Before 2.21 the plugin names TensorFlow's libraries.
        let needed = plugin.with_file_name("needed");
        command.arg(&plugin).env("LD_LIBRARY_PATH", needed);
        let output = command
            .env(variable::VALIDATE, "1")
            .env(variable::GUARD, guarded)
            .output()
            .expect("it runs");
        let found = findings_of(&output);
        let is_good = found.is_empty() && output.status.success();
        let is_found = found.iter().any(|line| line.starts_with(rule));
        assert!(
            if rule == "none" { is_good } else { is_found },
            "{release} {macros}: {output:?}"
        );
    }
    println!("{release}: the defects of hosts are found");
}

/// Compiles the host beside the plugin, whose header it uses.
fn compile(plugin: &Path, macros: &str) -> PathBuf {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/layer/host.c");
    let folder = plugin.parent().expect("it has one");
    let program = folder.join(format!("host_{}", macros.to_lowercase()));
    let output = Command::new("cc")
        .args([
            "-std=c11",
            "-O1",
            "-rdynamic",
            "-pthread",
            source,
            "-ldl",
            "-I",
        ])
        .arg(folder)
        .arg(format!("-D{macros}"))
        .arg("-o")
        .arg(&program)
        .output();
    let output = output.expect("the compiler runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    program
}
