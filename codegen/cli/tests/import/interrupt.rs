//! Ctrl-C while the index, or the first or a later part of the wheel, does not arrive.

#![cfg(unix)]

use super::network::{WHEEL, page, wheel};
use super::scene::{Scene, import_scene};
use sp_tests::http::{Response, Server};
use std::fs;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// An index that answers `count` requests, and none after them.
fn stalling_index(count: usize) -> Server {
    let (bytes, asked) = (wheel(), AtomicUsize::new(0));
    Server::start(move |request| {
        if asked.fetch_add(1, Ordering::SeqCst) >= count {
            sleep(Duration::from_secs(600));
        }
        match request.path.as_str() {
            "/simple/tensorflow-cpu/" => page(&format!("/files/{WHEEL}")),
            path if path.starts_with("/files/") => Response::part(request, &bytes),
            _ => Response::new(404, ""),
        }
    })
}

/// Starts `import` in a process group of its own, as a shell does.
fn start(scene: &Scene, index: &Server) -> Child {
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
    // SAFETY: `kill` takes any number; the child is not waited for yet, so its id is not used again.
    unsafe { libc::kill(-group, libc::SIGINT) };
    child.wait().unwrap().signal()
}

/// Returns the files and folders below `folder`.
fn entries(folder: &Path) -> Vec<String> {
    let read = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = read.map(|entry| entry.path());
    let below = |path: std::path::PathBuf| {
        let inside = entries(&path);
        std::iter::once(path.display().to_string()).chain(inside)
    };
    paths.flat_map(below).collect()
}

#[test]
fn interrupted_import_leaves_nothing_behind() {
    for count in 0..3 {
        let Some(scene) = import_scene() else { return };
        fs::create_dir(scene.path("tmp")).unwrap();
        let index = stalling_index(count);
        let mut child = start(&scene, &index);
        let begun = Instant::now();
        while index.requests().len() <= count {
            assert!(
                begun.elapsed() < Duration::from_secs(60),
                "{count} requests"
            );
            assert_eq!(child.try_wait().unwrap(), None, "{:?}", index.requests());
            sleep(Duration::from_millis(1));
        }
        assert_eq!(interrupt(child), Some(libc::SIGINT), "{count} requests");
        for folder in ["cache/sp-gen", "work"] {
            assert_eq!(entries(&scene.path(folder)), [""; 0], "{count} requests");
        }
        // pip got the signal too, and may end a little later.
        while !entries(&scene.path("tmp")).is_empty() {
            let left = entries(&scene.path("tmp"));
            assert!(begun.elapsed() < Duration::from_secs(70), "{left:?}");
            sleep(Duration::from_millis(10));
        }
    }
}
