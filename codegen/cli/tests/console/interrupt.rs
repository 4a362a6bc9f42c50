//! A signal ends the process, which removes its temporary folder.

#![cfg(unix)]

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::scene::Scene;
use crate::sp_gen;

/// Returns the names in the folder that begin with a dot.
fn hidden_entries(scene: &Scene) -> Vec<String> {
    let entries = fs::read_dir(scene.path(".")).unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with('.')).collect()
}

/// Sends `signal` as soon as `new` has created its temporary folder. Returns true if the signal ended the process.
fn interrupt(scene: &Scene, signal: i32) -> bool {
    let mut command = sp_gen(scene, &["new", "myaccel", "--vcs", "none"]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut child = child.unwrap();
    let start = Instant::now();
    while hidden_entries(scene).is_empty() && child.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < Duration::from_secs(60));
        sleep(Duration::from_micros(200));
    }
    // SAFETY: `kill` accepts any process id and signal, and accesses no memory of this process. The id is that of our
    // child: the kernel does not reuse it before `wait`, which follows.
    unsafe { libc::kill(i32::try_from(child.id()).unwrap(), signal) };
    child.wait().unwrap().signal() == Some(signal)
}

#[test]
fn signal_removes_temporary_folder() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // The process may end before the signal arrives, so several runs are tried.
        let is_interrupted = (0..40).any(|_| {
            let scene = Scene::new();
            let is_interrupted = interrupt(&scene, signal);
            assert_eq!(hidden_entries(&scene), [""; 0], "signal {signal}");
            is_interrupted
        });
        assert!(is_interrupted, "no run was interrupted by signal {signal}");
    }
}
