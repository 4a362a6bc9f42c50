//! Header trees with pipes and loops of links.

use super::scene::Scene;
use std::os::unix::fs::symlink;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Waits for a process. Kills it and returns `None` if it does not end within 30 seconds.
fn wait_with_timeout(mut child: Child) -> Option<ExitStatus> {
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
fn ir_rejects_tree_with_pipes_and_loops() {
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
    let status = wait_with_timeout(child.unwrap()).expect("`sp-gen ir` did not end");
    assert_eq!(status.code(), Some(2));
}
