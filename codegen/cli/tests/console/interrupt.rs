//! A signal ends the process and leaves no staged folder behind.

#![cfg(unix)]

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::scene::Scene;
use crate::sp_gen;

/// Returns the names in the folder that begin with a dot.
fn staged(scene: &Scene) -> Vec<String> {
    let entries = fs::read_dir(scene.path(".")).unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with('.')).collect()
}

/// Sends `signal` as soon as `new` has made its staged folder. Returns true if it ended by the signal.
fn interrupt(scene: &Scene, signal: i32) -> bool {
    let mut command = sp_gen(scene, &["new", "myaccel", "--vcs", "none"]);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while staged(scene).is_empty() && child.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < Duration::from_secs(60));
        sleep(Duration::from_micros(200));
    }
    // SAFETY: `kill` takes any number; the child is not waited for yet, or its id is not used again before `wait`.
    unsafe { libc::kill(i32::try_from(child.id()).unwrap(), signal) };
    child.wait().unwrap().signal() == Some(signal)
}

#[test]
fn signal_removes_staged_folder() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // The process may end before the signal arrives; one of several runs is interrupted.
        let is_interrupted = (0..40).any(|_| {
            let scene = Scene::new();
            let is_interrupted = interrupt(&scene, signal);
            assert_eq!(staged(&scene), [""; 0], "signal {signal}");
            is_interrupted
        });
        assert!(is_interrupted, "no run was interrupted by signal {signal}");
    }
}
