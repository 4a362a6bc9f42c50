//! `sp-gen layer` as a whole process, without TensorFlow. Plugins are in `codegen/layer/tests/layer`.

use std::path::Path;
use std::process::{Command, Output};

/// Runs `sp-gen layer` with these arguments. The library is compiled once for all tests.
fn layer(arguments: &[&str]) -> Output {
    let mut command = command(arguments);
    command.output().expect("sp-gen runs")
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sp-gen"));
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("layer-cache");
    command
        .arg("layer")
        .args(arguments)
        .env("XDG_CACHE_HOME", cache);
    command
}

fn is_supported() -> bool {
    let is_supported = cfg!(all(target_os = "linux", target_arch = "x86_64"));
    if !is_supported {
        println!("skipped: the layer was tried on x86-64 Linux only");
    }
    is_supported
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const SHELL: [&str; 5] = ["--release", "2.21", "--", "sh", "-c"];

#[test]
fn exit_status_is_that_of_the_program() {
    if !is_supported() {
        return;
    }
    for (script, status) in [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 143)] {
        let output = layer(&[&SHELL[..], &[script]].concat());
        assert_eq!(output.status.code(), Some(status), "{script}: {output:?}");
    }
}

#[test]
fn trace_of_a_program_without_plugin_is_empty() {
    if !is_supported() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace.json");
    let path = file.display().to_string();
    let output = layer(&[&["--trace", &path][..], &SHELL, &["true"]].concat());
    assert!(output.status.success(), "{output:?}");
    assert!(stderr(&output).contains("0 calls"), "{output:?}");
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(text, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[]}\n");
}

#[test]
fn existing_file_is_not_replaced_and_one_of_a_program_that_does_not_start_is_removed() {
    if !is_supported() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("train.py"), "print()\n").unwrap();
    let output = layer(&[&["--trace", &path("train.py")][..], &SHELL, &["touch ran"]].concat());
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(
        stderr(&output).contains("[sp_gen::layer::existing_file]"),
        "{output:?}"
    );
    assert_eq!(
        std::fs::read_to_string(path("train.py")).unwrap(),
        "print()\n"
    );
    let new = path("new.txt");
    let program = [
        "--trace",
        &new,
        "--release",
        "2.21",
        "--",
        "/nonexistent/program",
    ];
    assert_eq!(layer(&program).status.code(), Some(2));
    assert!(!folder.path().join("new.txt").exists());
}

#[test]
fn rejects_what_cannot_be_run() {
    if !is_supported() {
        return;
    }
    let nothing = ["--filter", "slots,SP_NoSuchTable.*"];
    let cases: [(&[&str], &str); 6] = [
        (
            &[
                &["--capture", "c", "--capture-limit", "4GB"][..],
                &SHELL,
                &["true"],
            ]
            .concat(),
            "expected a size such as 512MiB or 4GiB",
        ),
        (
            &[&["--capture-limit", "512MiB"][..], &SHELL, &["true"]].concat(),
            "--capture <FILE>",
        ),
        (
            &[&nothing[..], &SHELL, &["true"]].concat(),
            "no function, slot or group matches `SP_NoSuchTable.*`",
        ),
        (
            &["--", "sh", "-c", "true"],
            "cannot determine the Python of sh",
        ),
        (
            &["--python", "/nonexistent/python", "--", "true"],
            "cannot run /nonexistent/python",
        ),
        (
            &["--release", "2.21", "--", "/nonexistent/program"],
            "cannot run /nonexistent/program",
        ),
    ];
    for (arguments, message) in cases {
        let output = layer(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        assert!(
            stderr(&output).contains(message),
            "{arguments:?}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn absent_compiler_is_one_message() {
    if !is_supported() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut command = command(&[&SHELL[..], &["true"]].concat());
    command
        .env("XDG_CACHE_HOME", folder.path())
        .env("RUSTC", "/nonexistent/rustc");
    let output = command.output().expect("sp-gen runs");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(
        stderr(&output).contains("install Rust 1.88 or later"),
        "{output:?}"
    );
}

#[test]
fn rules_of_the_layer_are_explained() {
    let explain = |rule: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sp-gen"));
        command
            .args(["explain", rule])
            .output()
            .expect("sp-gen runs")
    };
    for (rule, ..) in sp_layer::runtime::check::RULES {
        let output = explain(rule);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            text.starts_with(&format!("{rule} (sp-gen layer)")),
            "{rule}: {output:?}"
        );
    }
}
