//! Calls in a trace.

use std::path::{Path, PathBuf};
use std::process::Command;

use sp_layer::runtime::record::Record;
use sp_layer::runtime::settings::variable;
use sp_layer::trace;

use crate::c::{Compiler, apis_of};
use crate::process::steps;

/// Compiles a plugin and returns the records of its steps. `settings` are variables of the layer.
fn records(release: &str, macros: &str, settings: &[(&str, &str)]) -> Vec<Record> {
    let compiler = Compiler::find(&apis_of(release)).expect("it was there");
    records_of(release, &compiler.plugin(macros), settings)
}

fn records_of(release: &str, plugin: &Path, settings: &[(&str, &str)]) -> Vec<Record> {
    let folder = tempfile::tempdir().expect("a folder is made");
    let mut command = steps(release, plugin, "life");
    command.env(variable::RECORDS, folder.path().join("process"));
    command
        .envs(settings.iter().copied())
        .output()
        .expect("it runs");
    trace::read(folder.path()).expect("the records are read")
}

fn find<'a>(records: &'a [Record], name: &str) -> &'a Record {
    let mut found = records.iter().filter(|it| it.name == name);
    found
        .next()
        .unwrap_or_else(|| panic!("no call of {name} among {} records", records.len()))
}

pub fn trace_shows_calls_of_both_sides(release: &str) {
    let records = records(release, "USE_BFC", &[]);
    let init = find(&records, "SE_InitPlugin");
    assert!(init.result.contains("status=OK"), "{init:?}");
    let allocate = find(&records, "SP_StreamExecutor.allocate");
    assert!(
        allocate.arguments.contains("memory_space=0"),
        "{allocate:?}"
    );
    let copy = find(&records, "SP_StreamExecutor.memcpy_htod");
    assert!(copy.arguments.contains("device_dst={opaque=0x"), "{copy:?}");
    let compute = find(&records, "TF_NewKernelBuilder.compute_func");
    assert_eq!(compute.op, "AddV2", "{compute:?}");
    let output = find(&records, "TF_AllocateOutput");
    assert!(
        output
            .arguments
            .contains("dtype=TF_FLOAT, dims=[3], num_dims=1"),
        "{output:?}"
    );
    assert_eq!((&*output.op, output.depth), ("AddV2", 1), "{output:?}");
    for name in [
        "TF_InitGraph",
        "TP_Optimizer.optimize_func",
        "TF_RegisterKernelBuilder",
    ] {
        assert!(find(&records, name).duration.is_some(), "{name}");
    }
    let filtered = self::records(release, "USE_BFC", &[(variable::FILTER, "slots")]);
    assert!(
        filtered
            .iter()
            .all(|it| !it.name.starts_with("TF_Allocate"))
    );
    assert_eq!(find(&filtered, "SP_StreamExecutor.memcpy_htod").depth, 0);
    println!(
        "{release}: {} calls are shown, {} of slots",
        records.len(),
        filtered.len()
    );
}

pub fn a_crash_shows_the_call_that_has_not_returned(release: &str) {
    let records = records(release, "CRASH", &[]);
    let open: Vec<&Record> = records.iter().filter(|it| it.duration.is_none()).collect();
    let names: Vec<&str> = open.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["SP_StreamExecutor.allocate"]);
}

pub fn library_that_a_plugin_loads_is_shown(release: &str) {
    let compiler = Compiler::find(&apis_of(release)).expect("it was there");
    let renamed = "USE_BFC SE_InitPlugin=acme_device TF_InitKernel=acme_kernels";
    let records = records_of(release, &loader(&compiler.plugin(renamed)), &[]);
    for name in [
        "TF_RegisterKernelBuilder",
        "SP_StreamExecutor.memcpy_htod",
        "TF_AllocateOutput",
    ] {
        assert!(find(&records, name).duration.is_some(), "{name}");
    }
}

/// Compiles a plugin that loads the library of another one.
fn loader(library: &Path) -> PathBuf {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/layer/loader.c");
    let plugin = library.with_file_name("libloader.so");
    let status = Command::new("cc")
        .args(["-std=c11", "-shared", "-fPIC", source, "-ldl", "-o"])
        .arg(&plugin)
        .arg(format!("-DLIBRARY={:?}", library.display().to_string()))
        .status();
    assert!(status.expect("the compiler runs").success());
    plugin
}

pub fn another_plugin_is_not_shown(release: &str) {
    let settings = [(variable::PLUGIN, "libother.so")];
    assert_eq!(records(release, "USE_BFC", &settings), []);
}
