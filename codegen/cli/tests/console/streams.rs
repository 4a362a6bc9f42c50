//! Streams that take nothing: a full device, a closed pipe, a closed stderr.

use std::fs::File;
use std::io::Read;
use std::process::Stdio;

use crate::scene::Scene;
use crate::{run, sp_gen};
use sp_tests::assert_contains;

/// Every command that prints results, with arguments that make it print some.
const PRINTING: [&[&str]; 8] = [
    &["diff", "2.6", "2.7"],
    &["history", "kernels"],
    &["explain", "--list"],
    &["ir", "kernels"],
    &["new", "myaccel"],
    &["completions", "bash"],
    &["man", "pages"],
    &["generate", "--out", "crate"],
];

#[test]
#[cfg(target_os = "linux")]
fn reports_full_device_as_one_error() {
    for arguments in PRINTING.iter().chain(&[&["--help"][..], &["--version"]]) {
        let scene = Scene::new();
        let full = File::options().write(true).open("/dev/full").unwrap();
        let (status, _, stderr) = run(sp_gen(&scene, arguments).stdout(full).arg("--quiet"));
        assert_eq!(status, 2, "{arguments:?}: {stderr}");
        let errors = stderr.matches("error:").count();
        assert_eq!(errors, 1, "{arguments:?}: {stderr}");
        assert!(
            stderr.contains("cannot write to stdout"),
            "{arguments:?}: {stderr}"
        );
        assert_contains(&stderr, "[sp_gen::console::stdout_unwritable]");
    }
}

#[test]
#[cfg(unix)]
fn ends_quietly_if_reader_closes_pipe() {
    for arguments in [&["history"][..], &["ir", "stream_executor"]] {
        let scene = Scene::new();
        let mut command = sp_gen(&scene, arguments);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = child.spawn().unwrap();
        drop(child.stdout.take());
        let mut stderr = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut stderr)
            .unwrap();
        child.wait().unwrap();
        assert_eq!(stderr, "", "{arguments:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn keeps_status_if_stderr_is_full() {
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let scene = Scene::new();
    let (status, stdout, _) = run(sp_gen(&scene, &["new", "myaccel"]).stderr(full()));
    assert_eq!(status, 0);
    assert!(stdout.starts_with("cd myaccel\n"), "{stdout}");
    let (status, _, _) = run(sp_gen(&scene, &["diff", "2.6", "nothing"]).stderr(full()));
    assert_eq!(status, 2);
}
