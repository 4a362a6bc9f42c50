//! `verify` of a library that exports `GetPjrtApi`.

use std::path::PathBuf;
use std::process::Output;

use super::scene::Scene;
use super::verify;

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/verify/pjrt.c");

fn compile(scene: &Scene, arguments: &[&str]) -> Option<PathBuf> {
    let plugin = scene.path("pjrt.so");
    sp_tests::compile_library(&plugin, SOURCE.as_ref(), arguments).then_some(plugin)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
fn assert_output(out: &Output, status: i32, parts: &[&str]) {
    let all = text(&out.stdout) + &text(&out.stderr);
    assert_eq!(out.status.code(), Some(status), "{all}");
    for part in parts {
        assert!(all.contains(part), "{part:?} is not in {all}");
    }
}

#[test]
fn checks_library_with_pjrt_entry_point() {
    let scene = Scene::new();
    let Some(plugin) = compile(&scene, &[]) else {
        return;
    };
    let out = verify(&scene, &plugin, &["--host", "tensorflow:2.21"])
        .output()
        .unwrap();
    let client = "the plugin creates no client on this machine: FAILED_PRECONDITION: no device";
    assert_output(
        &out,
        0,
        &["pass  pjrt_version             version 0.90", client],
    );
}

#[test]
fn prints_table_of_newest_hosts_by_default() {
    let scene = Scene::new();
    let Some(plugin) = compile(&scene, &["-DMAJOR=1"]) else {
        return;
    };
    let out = verify(&scene, &plugin, &[]).output().unwrap();
    let failed =
        "pjrt_version (jaxlib:0.12 to tensorflow:2.22): the major version is 1, expected 0";
    assert_output(&out, 1, &["jaxlib:0.12 tensorflow:2.22", failed]);
}

#[test]
fn missing_device_is_failure_if_required() {
    let scene = Scene::new();
    let Some(plugin) = compile(&scene, &[]) else {
        return;
    };
    let arguments = ["--host", "jaxlib:0.9", "--require-device"];
    let out = verify(&scene, &plugin, &arguments).output().unwrap();
    assert_output(&out, 1, &["FAIL  pjrt_client", "a device is required"]);
}

#[test]
fn rejects_unknown_host_and_library_without_entry_point() {
    let scene = Scene::new();
    let Some(plugin) = compile(&scene, &["-DGetPjrtApi=GetOther"]) else {
        return;
    };
    let out = verify(&scene, &plugin, &["--host", "jaxlib:9"])
        .output()
        .unwrap();
    assert_output(&out, 2, &["no host of PJRT plugins is named `jaxlib:9`"]);
    let out = verify(&scene, &plugin, &["--host", "all"])
        .output()
        .unwrap();
    assert_output(&out, 2, &["exports no entry point of a plugin"]);
    assert!(out.stdout.is_empty());
}
