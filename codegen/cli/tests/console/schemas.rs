//! JSON output is valid for its committed schema.

use serde_json::Value;

use crate::scene::{Scene, clang_scene};
use crate::schema::violations;
use crate::{run, sp_gen};
use sp_tests::{assert_contains, compile_library, root};

fn schema(name: &str) -> Value {
    let path = root().join(format!("codegen/docs/{name}.schema.json"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Runs the command with `--format json`, validates its output and returns it.
#[track_caller]
fn validated_output(name: &str, arguments: &[&str]) -> Value {
    let scene = Scene::new();
    let arguments = [arguments, &["--format", "json"]].concat();
    let (status, stdout, stderr) = run(&mut sp_gen(&scene, &arguments));
    assert!(status < 2, "{stderr}");
    let value: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(violations(&schema(name), &value), [""; 0], "{arguments:?}");
    value
}

#[test]
fn history_is_valid_for_its_schema() {
    for name in [
        "SP_StreamExecutor",
        "TF_AssignVariable",
        "TF_DataType",
        "kernels",
    ] {
        let value = validated_output("history", &["history", name]);
        assert!(!value["items"].as_object().unwrap().is_empty(), "{name}");
    }
    let all = validated_output("history", &["history"]);
    assert!(!all["lints"].as_array().unwrap().is_empty());
}

#[test]
fn lints_are_valid_for_their_schema() {
    let value = validated_output("lints", &["ir", "pjrt", "--lints"]);
    assert!(!value["lints"].as_array().unwrap().is_empty());
    validated_output("lints", &["ir", "stream_executor", "--lints"]);
}

#[test]
fn list_of_apis_is_valid_for_its_schema() {
    let value = validated_output("apis", &["ir", "--release", "2.21"]);
    assert!(value["apis"].as_array().unwrap().len() > 5);
}

#[test]
fn ops_are_valid_for_their_schema() {
    for name in ["DefaultAttrs", "RefMerge", "TopK", "ParseExampleV2"] {
        let value = validated_output("ops", &["ops", name]);
        assert!(
            !value["ops"][0]["attributes"].as_array().unwrap().is_empty(),
            "{name}"
        );
    }
    let value = validated_output("ops", &["ops", "--release", "2.12"]);
    assert!(value["ops"].as_array().unwrap().len() > 1700);
}

#[test]
fn diff_of_ops_is_valid_for_its_schema() {
    let value = validated_output("diff", &["diff", "2.12", "2.13", "--ops"]);
    assert!(value["findings"].as_array().unwrap().len() > 40);
}

#[test]
fn doctor_is_valid_for_its_schema() {
    let scene = Scene::new();
    let (status, stdout, stderr) = run(&mut sp_gen(&scene, &["doctor", "--format", "json"]));
    if stderr.contains("[sp_gen::doctor::no_python]") {
        return println!("skipped: no python3");
    }
    assert!(status <= 2 && stderr.is_empty(), "{stderr}");
    let value: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(violations(&schema("doctor"), &value), [""; 0]);
    assert!(!value["steps"].as_array().unwrap().is_empty());
}

#[test]
fn verify_is_valid_for_its_schema() {
    let scene = Scene::new();
    let plugin = scene.path("plugin.so");
    let source = root().join("codegen/cli/tests/verify/plugin.c");
    if !compile_library(&plugin, &source, &[]) {
        return;
    }
    let plugin = plugin.to_str().unwrap();
    let value = validated_output("verify", &["verify", plugin, "--release", "2.21"]);
    assert!(!value["rows"].as_array().unwrap().is_empty());
}

#[test]
fn verify_of_pjrt_plugin_is_valid_for_its_schema() {
    let scene = Scene::new();
    let plugin = scene.path("pjrt.so");
    let source = root().join("codegen/cli/tests/verify/pjrt.c");
    if !compile_library(&plugin, &source, &[]) {
        return;
    }
    let plugin = plugin.to_str().unwrap();
    let arguments = ["verify", plugin, "--host", "jaxlib:0.10"];
    let value = validated_output("verify-pjrt", &arguments);
    assert!(value["rows"].as_array().unwrap().len() > 100);
}

#[test]
fn kernels_are_valid_for_their_schema() {
    let scene = Scene::new();
    let plugin = scene.path("kernels.so");
    let source = root().join("codegen/cli/tests/verify/kernels.c");
    if !compile_library(&plugin, &source, &["-DNEVER_RUN"]) {
        return;
    }
    let plugin = plugin.to_str().unwrap();
    let arguments = ["verify", plugin, "--kernels", "--release", "2.21"];
    let value = validated_output("verify-kernels", &arguments);
    assert_eq!(value["kernels"].as_array().unwrap().len(), 11);
    assert!(!value["findings"].as_array().unwrap().is_empty());
}

#[test]
fn demands_of_hosts_are_valid_for_their_schemas() {
    for host in ["jaxlib", "tensorflow"] {
        let value = validated_output("pjrt-history", &["history", "pjrt", "--host", host]);
        let releases = value["releases"].as_array().unwrap();
        assert!(releases.len() >= 4, "{host}");
        for release in releases {
            let release = release["release"].as_str().unwrap();
            let path = root().join(format!("generated/pjrt/{host}/{release}.json"));
            let text = std::fs::read_to_string(path).unwrap();
            let data: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(
                violations(&schema("pjrt-demand"), &data),
                [""; 0],
                "{host} {release}"
            );
        }
    }
}

#[test]
fn history_of_a_slot_has_a_line_for_each_release() {
    let scene = Scene::new();
    let arguments = ["history", "PJRT_Error_ForEachPayload", "--host", "jaxlib"];
    let (status, stdout, stderr) = run(&mut sp_gen(&scene, &arguments));
    assert_eq!(status, 0, "{stderr}");
    assert_contains(&stdout, "jaxlib 0.9.0: unused");
    assert_contains(
        &stdout,
        "jaxlib 0.9.2: required, with a struct of 40 bytes; null: crash",
    );
    for (name, message) in [
        ("PJRT_Erorr_Destroy", "is no slot of PJRT_Api"),
        ("pjrt", "no HTML page"),
    ] {
        let arguments = ["history", name, "--host", "jaxlib", "--format", "html"];
        let (status, _, stderr) = run(&mut sp_gen(&scene, &arguments));
        assert_eq!(status, 2);
        assert_contains(&stderr, message);
    }
}

#[test]
fn registrations_are_valid_for_their_schema() {
    let source = |name: &str| root().join(format!("codegen/port/tests/sources/{name}"));
    for name in ["arrays.cc", "custom_ops.cc", "unread.cc"] {
        let path = source(name);
        let value = validated_output("port", &["port", path.to_str().unwrap()]);
        assert!(!value["kernels"].as_array().unwrap().is_empty(), "{name}");
        assert!(!value["findings"].as_array().unwrap().is_empty(), "{name}");
    }
}

#[test]
fn headers_state_their_release() {
    let Some(scene) = clang_scene() else { return };
    scene.headers("include", "struct TF_Buffer;");
    let version = "#define TF_MAJOR_VERSION 2\n#define TF_MINOR_VERSION 12\n";
    scene.write("include/tensorflow/core/public/version.h", version);
    let arguments = ["ir", "--headers", "include"];
    let (status, stdout, stderr) = run(&mut sp_gen(&scene, &arguments));
    assert_eq!(status, 0, "{stderr}");
    assert!(stdout.starts_with("TensorFlow 2.12\n"), "{stdout}");
    assert_contains(&stderr, "include: headers of TensorFlow 2.12");
}
