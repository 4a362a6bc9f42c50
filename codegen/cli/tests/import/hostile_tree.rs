//! Header trees that would be read without end.

use super::scene::Scene;
use std::os::unix::fs::symlink;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Waits for a process; kills it and returns `None` if it does not end.
fn end_of(mut child: Child) -> Option<ExitStatus> {
    let limit = Instant::now() + Duration::from_secs(30);
    while Instant::now() < limit {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    None
}

#[test]
fn ir_ends_on_a_tree_with_pipes_and_loops() {
    let scene = Scene::new();
    scene.write("work/tree/tensorflow/c/ops.h", "");
    let folder = scene.path("work/tree/tensorflow/c");
    let pipe = folder.join("c_api.h");
    if !Command::new("mkfifo")
        .arg(&pipe)
        .status()
        .is_ok_and(|status| status.success())
    {
        return eprintln!("skipped: there is no mkfifo");
    }
    for name in ["a", "b"] {
        symlink(scene.path("work/tree"), folder.join(name)).unwrap();
    }
    let child = scene
        .command(&["ir", "c_api", "--headers", "tree"])
        .stderr(Stdio::null())
        .spawn();
    let status = end_of(child.unwrap()).expect("it ends");
    assert_eq!(status.code(), Some(2));
}
