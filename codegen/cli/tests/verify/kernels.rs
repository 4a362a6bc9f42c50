//! `verify --kernels`: the list of a plugin's kernels, and the kernels that TensorFlow can never run.

use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;

use crate::scene::Scene;
use crate::verify;
use sp_tests::{assert_contains, compile_library, rows};

/// Makes `kernels.so` with these macros; `None` if there is no compiler for it.
fn compile(scene: &Scene, macros: &[&str]) -> Option<PathBuf> {
    scene.write("framework.c", "");
    let [library, plugin] = ["libtensorflow_framework.so.2", "kernels.so"].map(|it| scene.path(it));
    // Releases up to 2.18 load no plugin with undefined symbols that names no library.
    let soname = "-Wl,-soname,libtensorflow_framework.so.2";
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/verify/kernels.c");
    let linked = ["-Wl,--no-as-needed", library.to_str().unwrap()];
    let linked = [&linked, macros].concat();
    let is_made = compile_library(&library, &scene.path("framework.c"), &[soname])
        && compile_library(&plugin, Path::new(source), &linked);
    is_made.then_some(plugin)
}

/// Runs `verify --kernels`; `None` if there is no compiler.
fn list(macros: &[&str], arguments: &[&str]) -> Option<Output> {
    let scene = Scene::new();
    let plugin = compile(&scene, macros)?;
    let arguments = [&["--kernels"], arguments].concat();
    Some(verify(&scene, &plugin, &arguments).output().unwrap())
}

#[track_caller]
fn parse_json(output: &Output) -> Value {
    let stderr = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"))
}

#[test]
fn kernels_of_one_release_are_a_table() {
    let Some(output) = list(&[], &["--release", "2.21"]) else {
        return;
    };
    let expected = "\
op    types           host memory        options     device  releases
Relu  T=float,double                                 DEMO    2.21
Relu  T=float                            priority 2  DEMO    2.21
Sum   T=float         reduction_indices              DEMO    2.21
4 kernels of 2 ops, 0 findings
";
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    assert_eq!(output.status.code(), Some(0));
}

/// The message and rule of each finding, and the number of its releases. 2.13 added `index_type`.
const NEVER_RUN: &str = "
Relu7: TensorFlow has no such op | kernel_unknown_op | all
Relu T=bool: the op does not allow bool for `T` | kernel_type_not_allowed | all
Sum Tx=int32: the op has no attribute `Tx` | kernel_unknown_attribute | all
MatMul transpose_a=bool: `transpose_a` is not a type attribute | kernel_unknown_attribute | all
Mean: the op has no input or output `axis`, which is placed in host memory
    kernel_unknown_host_argument | all
Mean T=float: serves nodes of Mean with the same priority 0 | kernel_overlap | all
Sum Tx=int32: serves nodes of Sum T=float with the same priority 0 | kernel_overlap | all
TopKV2 index_type=int32: the op has no attribute `index_type` | kernel_unknown_attribute | 8
";

#[test]
fn kernels_that_can_never_run_are_findings_of_their_releases() {
    let Some(output) = list(&["-DNEVER_RUN"], &["--format", "json"]) else {
        return;
    };
    assert_eq!(output.status.code(), Some(1));
    let report = parse_json(&output);
    assert_eq!(report["verdict"], "fail");
    let findings = report["findings"].as_array().unwrap();
    let find = |message: &str| {
        let mut found = findings.iter().filter(|it| it["message"] == message);
        let finding = found
            .next()
            .unwrap_or_else(|| panic!("{message} is not in {findings:#?}"));
        let releases = finding["releases"].as_array().unwrap();
        (finding["rule"].as_str().unwrap(), releases.len())
    };
    let all = report["releases"].as_array().unwrap().len();
    for [message, rule, count] in rows(NEVER_RUN) {
        let count = count.parse().unwrap_or(all);
        assert_eq!(find(message), (rule, count), "{message}");
    }
    assert_eq!(findings.len(), 8, "{findings:#?}");
}

#[test]
fn states_that_no_kernels_are_registered() {
    let Some(output) = list(&["-DNO_KERNELS"], &["--release", "2.21"]) else {
        return;
    };
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_contains(&stdout, "kernels.so registers no kernels\n");
    assert!(
        stdout.ends_with("0 kernels of 0 ops, 0 findings\n"),
        "{stdout}"
    );
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn ops_without_kernel_are_listed_with_the_reason_that_the_plugin_states() {
    let Some(output) = list(&["-DLACKS"], &["--release", "2.21"]) else {
        return;
    };
    let stdout = String::from_utf8_lossy(&output.stdout);
    let line = "\nno kernel (2.21): Abs, Cast, since TF_\\u{1b} is absent\n";
    assert!(stdout.contains(line), "{stdout}");
    assert_eq!(output.status.code(), Some(0));
    let Some(output) = list(&["-DLACKS"], &["--format", "json"]) else {
        return;
    };
    let report = parse_json(&output);
    let expected = serde_json::json!([{
        "reason": "TF_\\u{1b} is absent", "ops": ["Abs", "Cast"], "releases": report["releases"],
    }]);
    assert_eq!(report["lacking"], expected);
}

#[test]
fn crash_of_the_plugin_is_not_an_empty_list() {
    let Some(output) = list(&["-DCRASHES"], &["--release", "2.21"]) else {
        return;
    };
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains("failed (2.21): crashed: abort"), "{stdout}");
    assert_eq!(output.status.code(), Some(2), "{stdout}");
}

#[test]
fn rejects_file_that_is_no_plugin() {
    let scene = Scene::new();
    scene.write("plugin.so", "not a library");
    let plugin = scene.path("plugin.so");
    let output = verify(&scene, &plugin, &["--kernels"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty() && !output.stderr.is_empty());
}

#[test]
fn note_is_for_plugins_that_look_up_the_function_of_a_client() {
    let scene = Scene::new();
    let source =
        "const char* name = NAME;\nvoid SE_InitPlugin(void) {}\nvoid TF_InitKernel(void) {}\n";
    for (name, is_noted) in [
        ("TF_CreateAndSetPjRtCApiClient", true),
        ("TF_NewStatus", false),
    ] {
        scene.write("next.c", source.replace("NAME", &format!("{name:?}")));
        let plugin = scene.path("next.so");
        if !compile_library(&plugin, &scene.path("next.c"), &[]) {
            return;
        }
        let arguments = ["--kernels", "--release", "2.21"];
        let output = verify(&scene, &plugin, &arguments).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        let note = "later wheels do not export TF_CreateAndSetPjRtCApiClient";
        assert_eq!(stderr.contains(note), is_noted, "{name}: {stderr}");
    }
}
