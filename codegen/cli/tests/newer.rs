//! An author who has only the binary, and a release that it never saw: inside a scaffold, `import` and
//! `generate` bring its ABI crate up to it and say what changed. The release is 2.22's headers with a
//! function inserted into SP_StreamExecutor. Runs where libclang is and the store has 2.22.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const HEADER: &str = "tensorflow/c/experimental/stream_executor/stream_executor.h";
const BEFORE: &str = "  void (*deallocate)(";
const INSERTED: &str = "  void (*rest)(const SP_Device* device, TF_Status* status);\n";

fn store() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("headers/store/2.22.0rc0/include")
}

/// An installed TensorFlow 2.23 below `site`.
fn install(site: &Path) {
    copy(&store(), &site.join("tensorflow/include"));
    let header = site.join("tensorflow/include").join(HEADER);
    let text = fs::read_to_string(&header).unwrap();
    assert_eq!(text.matches(BEFORE).count(), 1);
    let patched = text.replace(BEFORE, &format!("{INSERTED}{BEFORE}"));
    fs::write(header, patched).unwrap();
    let about = site.join("tensorflow_cpu-2.23.0.dist-info");
    fs::create_dir_all(&about).unwrap();
    let metadata = "Name: tensorflow_cpu\nVersion: 2.23.0\n";
    fs::write(about.join("METADATA"), metadata).unwrap();
    let tag = "Tag: cp311-cp311-manylinux_2_27_x86_64\n";
    fs::write(about.join("WHEEL"), tag).unwrap();
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let to = to.join(entry.file_name());
        match entry.path() {
            path if path.is_dir() => copy(&path, &to),
            path => drop(fs::copy(path, to).unwrap()),
        }
    }
}

/// What the binary says on stderr, with a cache of its own.
fn sp_gen(scratch: &Path, folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sp-gen"));
    command.args(arguments).current_dir(folder);
    command.env("XDG_CACHE_HOME", scratch.join("cache"));
    let done = command.output().unwrap();
    let told = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{arguments:?}: {told}");
    told
}

#[test]
fn a_scaffold_is_brought_up_to_a_release_that_the_binary_never_saw() {
    if !store().is_dir() {
        return eprintln!("skipped: `sp-gen import tensorflow 2.22` has not been run");
    }
    if sp_parse::clang::Library::load().is_err() {
        return eprintln!("skipped: there is no libclang");
    }
    let scratch = tempfile::tempdir().unwrap();
    let (site, plugin) = (scratch.path().join("site"), scratch.path().join("acme"));
    install(&site);
    let run = |folder: &Path, arguments: &[&str]| sp_gen(scratch.path(), folder, arguments);
    run(
        scratch.path(),
        &["new", "acme", "--path", plugin.to_str().unwrap()],
    );

    let from = [
        "import",
        "tensorflow",
        "2.23",
        "--from",
        site.to_str().unwrap(),
    ];
    let told = run(&plugin, &from);
    for part in [
        "new in the lock",
        "beside 2.22:",
        "stream_executor: 1 changed (SP_StreamExecutor)",
        "layout_changed_version_not_bumped SP_StreamExecutor",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }

    let to = ["generate", "--release", "2.23", "--out", "vendor/sp-abi"];
    let told = run(&plugin, &to);
    let lints = "stream_executor: 6 layout_changed_version_not_bumped";
    assert!(told.contains(lints), "{told}");
    let read = |name: &str| {
        let path = plugin.join("vendor/sp-abi/src/stream_executor").join(name);
        fs::read_to_string(path).unwrap()
    };
    assert!(read("structs.rs").contains("pub rest: Option<"));
    assert!(read("traits.rs").contains("fn rest(&self"));
    // What 2.22 had is an older form now, and is still there for the hosts that have it.
    assert!(read("epochs.rs").contains("pub mod v2_7"));
    assert!(run(&plugin, &to).contains("0 changed"));
}
