//! Files that cannot be checked: exit status 2 and a reason, not a list of skipped checks and success.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::scene::Scene;
use crate::{compile, verify};

/// Returns the lines of a diagnostic as one, without its frame.
fn words(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let words = text.split_whitespace().filter(|word| *word != "│");
    words.collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn assert_rejected(output: &Output, expected: &str) {
    let stderr = words(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains(expected), "{stderr}");
    assert!(output.stdout.is_empty());
}

#[test]
fn does_not_load_file_without_entry_points() {
    let scene = Scene::new();
    let Some(plugin) = compile(&scene, &["-DNO_ENTRY_POINT", "-DMARKS_FILE"]) else {
        return;
    };
    let start = Instant::now();
    let output = verify(&scene, &plugin, &[]).output().unwrap();
    assert_rejected(&output, "plugin.so exports no entry point of a plugin");
    assert!(words(&output.stderr).contains("SE_InitPlugin, TF_InitKernel"));
    let taken = start.elapsed();
    assert!(taken < Duration::from_secs(5), "{taken:?}");
    assert!(!scene.path("marker").exists(), "the file was loaded");
}

/// A file of 300 MiB does not fit twice in 500 MB.
#[cfg(target_os = "linux")]
#[test]
fn large_file_is_held_once_in_limited_memory() {
    let scene = Scene::new();
    let plugin = scene.path("plugin.so");
    let own = fs::read(env!("CARGO_BIN_EXE_sp-gen")).unwrap();
    // The header of a library for this machine, without a section.
    fs::write(&plugin, &own[..64]).unwrap();
    let file = fs::File::options().write(true).open(&plugin).unwrap();
    file.set_len(300 << 20).unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -v 500000 && exec \"$0\" verify \"$1\""]);
    let output = shell.arg(env!("CARGO_BIN_EXE_sp-gen")).arg(&plugin);
    let output = output.output();
    assert_rejected(&output.unwrap(), "it has no dynamic section");
}

#[test]
fn rejects_program_of_the_system() {
    let scene = Scene::new();
    for program in ["/bin/true", "/usr/bin/true"].map(Path::new) {
        if program.is_file() {
            let output = verify(&scene, program, &[]).output().unwrap();
            assert_rejected(&output, "true exports no entry point of a plugin");
        }
    }
}

#[test]
fn rejects_plugin_for_another_machine() {
    let scene = Scene::new();
    let Some(plugin) = compile(&scene, &[]) else {
        return;
    };
    let mut bytes = fs::read(&plugin).unwrap();
    // The machine of an ELF header; 22 is s390x.
    bytes[18..20].copy_from_slice(&22_u16.to_le_bytes());
    fs::write(&plugin, bytes).unwrap();
    let output = verify(&scene, &plugin, &[]).output().unwrap();
    assert_rejected(
        &output,
        "plugin.so is built for s390x, and this sp-gen runs on",
    );
}

#[test]
fn reports_nothing_checked_if_a_library_is_missing() {
    let scene = Scene::new();
    scene.write("absent.c", "int absent(void) { return 0; }\n");
    let library = scene.path("libabsent.so");
    let made = std::process::Command::new("cc")
        .args(["-shared", "-fPIC", "-Wl,-soname,libabsent.so", "-o"])
        .arg(&library)
        .arg(scene.path("absent.c"))
        .status();
    if !made.is_ok_and(|status| status.success()) {
        println!("skipped: no C compiler");
        return;
    }
    let needs = ["-Wl,--no-as-needed", library.to_str().unwrap()];
    let Some(plugin) = compile(&scene, &needs) else {
        return;
    };
    fs::remove_file(&library).unwrap();
    for release in ["2.21", "all"] {
        let arguments = ["--release", release, "--format", "json"];
        let output = verify(&scene, &plugin, &arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{release}");
        let stderr = words(&output.stderr);
        assert!(
            stderr.contains("nothing could be checked: the plugin needs libabsent.so"),
            "{stderr}"
        );
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["verdict"], "unchecked");
        let mut rows = report["rows"].as_array().unwrap().iter();
        assert!(rows.all(|row| row["status"] == "skip"));
    }
}

#[test]
fn requires_a_device_only_if_asked() {
    let scene = Scene::new();
    let Some(plugin) = compile(&scene, &[]) else {
        return;
    };
    for (option, status) in [(None, 0), (Some("--require-device"), 1)] {
        let mut arguments = vec!["--release", "2.21"];
        arguments.extend(option);
        let output = verify(&scene, &plugin, &arguments).output().unwrap();
        let stdout = words(&output.stdout);
        assert_eq!(output.status.code(), Some(status), "{stdout}");
        let is_reported =
            stdout.contains("FAIL devices a device is required, but the plugin has none");
        assert_eq!(is_reported, option.is_some(), "{stdout}");
    }
}
