//! No file in the current directory is executed. `clang::library` tests the search for libclang, which uses Python
//! only if the system has no libclang.

use super::scene::{Scene, assert_rejected, lacks_pip};
use std::process::Command;

/// Writes modules to the working directory that create the file `executed` if they are imported.
fn write_malicious_modules(scene: &Scene) {
    let module = format!("open({:?}, 'w').close()\n", scene.path("executed"));
    for name in [
        "pip.py",
        "clang/__init__.py",
        "clang.py",
        "sitecustomize.py",
        "encodings.py",
    ] {
        scene.write(&format!("work/{name}"), &module);
    }
}

#[test]
fn import_executes_no_module_of_the_current_directory() {
    let scene = Scene::new();
    if lacks_pip(&scene.path("home")) {
        return;
    }
    write_malicious_modules(&scene);
    let mut plain = Command::new("python3");
    plain
        .args(["-m", "pip", "--version"])
        .current_dir(scene.path("work"));
    plain.output().unwrap();
    assert!(
        scene.path("executed").exists(),
        "the modules are not executed by plain Python"
    );
    std::fs::remove_file(scene.path("executed")).unwrap();
    let mut import = scene.command(&["import", "tensorflow", "2.98"]);
    let output = import.env("PYTHONPATH", ".::").output().unwrap();
    assert_rejected(&output, "the index has no tensorflow-cpu 2.98");
    assert!(!scene.path("executed").exists());
}
