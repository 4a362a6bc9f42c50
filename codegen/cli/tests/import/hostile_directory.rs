//! Nothing in the current directory is executed, whatever it is called. `clang::library` has the test of the
//! search for libclang, which asks Python only where the system has none.

use super::scene::{Scene, lacks_pip, stderr};
use std::process::Command;

/// Puts modules into the working directory that create `executed` when they are imported.
fn set_traps(scene: &Scene) {
    let trap = format!("open({:?}, 'w').close()\n", scene.path("executed"));
    for name in [
        "pip.py",
        "clang/__init__.py",
        "clang.py",
        "sitecustomize.py",
        "encodings.py",
    ] {
        scene.write(&format!("work/{name}"), &trap);
    }
}

fn with_relative_python_path(command: &mut Command) -> &mut Command {
    command.env("PYTHONPATH", ".::")
}

#[test]
fn import_runs_no_module_of_the_current_directory() {
    let scene = Scene::new();
    if lacks_pip(&scene.path("home")) {
        return;
    }
    set_traps(&scene);
    let mut plain = Command::new("python3");
    plain
        .args(["-m", "pip", "--version"])
        .current_dir(scene.path("work"));
    plain.output().unwrap();
    assert!(scene.path("executed").exists(), "the trap does not work");
    std::fs::remove_file(scene.path("executed")).unwrap();
    let mut import = scene.command(&["import", "tensorflow", "2.98"]);
    let done = with_relative_python_path(&mut import).output().unwrap();
    assert_eq!(done.status.code(), Some(2));
    assert!(
        stderr(&done).contains("the index has no tensorflow-cpu 2.98"),
        "{}",
        stderr(&done)
    );
    assert!(!scene.path("executed").exists());
}
