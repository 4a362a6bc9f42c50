//! Ctrl-C while the index or the server of the wheel does not respond.

#![cfg(unix)]

use super::network::{WHEEL, page, valid_wheel};
use super::scene::{Scene, import_scene};
use sp_tests::http::{Response, Server};
use std::fs;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Starts an index that responds to `count` requests and to no later ones.
fn stalling_index(count: usize) -> Server {
    let (bytes, received) = (valid_wheel(), AtomicUsize::new(0));
    Server::start(move |request| {
        if received.fetch_add(1, Ordering::SeqCst) >= count {
            sleep(Duration::from_secs(600));
        }
        match request.path.as_str() {
            "/simple/tensorflow-cpu/" => page(&format!("/files/{WHEEL}")),
            path if path.starts_with("/files/") => Response::part(request, &bytes),
            _ => Response::new(404, ""),
        }
    })
}

/// Starts `import` in a separate process group, as a shell does.
fn start_import(scene: &Scene, index: &Server) -> Child {
    let arguments = ["import", "tensorflow", "2.98", "--allow-http"];
    let mut command = scene.command(&arguments);
    command
        .env_remove("PIP_NO_INDEX")
        .env("PIP_INDEX_URL", index.url("/simple"))
        .env("TMPDIR", scene.path("tmp"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0);
    command.spawn().unwrap()
}

/// Sends SIGINT to the process group of `child`, and waits for it. Returns the signal that ended it.
fn interrupt(mut child: Child) -> Option<i32> {
    let group = i32::try_from(child.id()).unwrap();
    // SAFETY: `kill` accepts any process group and signal, and accesses no memory of this process. The group is that of
    // our child: the kernel does not reuse the id before `wait`, which follows.
    unsafe { libc::kill(-group, libc::SIGINT) };
    child.wait().unwrap().signal()
}

/// Returns the files and folders below `folder`.
fn entries(folder: &Path) -> Vec<String> {
    let read = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = read.map(|entry| entry.path());
    let below = |path: std::path::PathBuf| {
        let inner = entries(&path);
        std::iter::once(path.display().to_string()).chain(inner)
    };
    paths.flat_map(below).collect()
}

#[test]
fn interrupted_import_removes_its_files() {
    for count in 0..3 {
        let Some(scene) = import_scene() else { return };
        fs::create_dir(scene.path("tmp")).unwrap();
        let index = stalling_index(count);
        let mut child = start_import(&scene, &index);
        let start = Instant::now();
        while index.requests().len() <= count {
            assert!(
                start.elapsed() < Duration::from_secs(60),
                "{count} requests"
            );
            assert_eq!(child.try_wait().unwrap(), None, "{:?}", index.requests());
            sleep(Duration::from_millis(1));
        }
        assert_eq!(interrupt(child), Some(libc::SIGINT), "{count} requests");
        for folder in ["cache/sp-gen", "work"] {
            assert_eq!(entries(&scene.path(folder)), [""; 0], "{count} requests");
        }
        // pip also received the signal, and may end later than sp-gen.
        let start = Instant::now();
        while !entries(&scene.path("tmp")).is_empty() {
            let remaining = entries(&scene.path("tmp"));
            assert!(start.elapsed() < Duration::from_secs(120), "{remaining:?}");
            sleep(Duration::from_millis(10));
        }
    }
}
