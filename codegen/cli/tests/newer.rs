//! A release that is newer than the binary: in a scaffold, `import` and `generate` add it to the vendored sp-abi and
//! report its changes. The release has 2.22's headers with a function inserted into SP_StreamExecutor. Skipped without
//! libclang or without 2.22 in the store.

#[path = "libclang/mod.rs"]
mod libclang;
#[path = "temporary_folder/mod.rs"]
#[allow(dead_code, reason = "other tests write files in the folder")]
mod temporary_folder;

use std::fs;
use std::path::{Path, PathBuf};

use libclang::has_libclang;
use temporary_folder::TemporaryFolder;

use sp_tests::{copy_files, root, write_dist_info};

const HEADER: &str = "tensorflow/c/experimental/stream_executor/stream_executor.h";
const BEFORE: &str = "  void (*deallocate)(";
const INSERTED: &str = "  void (*rest)(const SP_Device* device, TF_Status* status);\n";

fn store() -> PathBuf {
    root().join("headers/store/2.22.0rc0/include")
}

/// Writes an installed TensorFlow 2.23 to `site`.
fn install(site: &Path) {
    copy_files(&store(), &site.join("tensorflow/include"));
    let header = site.join("tensorflow/include").join(HEADER);
    let text = fs::read_to_string(&header).unwrap();
    assert_eq!(text.matches(BEFORE).count(), 1);
    let patched = text.replace(BEFORE, &format!("{INSERTED}{BEFORE}"));
    fs::write(header, patched).unwrap();
    let dist_info = site.join("tensorflow_cpu-2.23.0.dist-info");
    write_dist_info(&dist_info, "tensorflow_cpu", "2.23.0");
}

#[test]
fn import_and_generate_add_unknown_release_to_scaffold() {
    if !store().is_dir() {
        return eprintln!("skipped: `sp-gen import tensorflow 2.22` has not been run");
    }
    if !has_libclang() {
        return;
    }
    let scratch = TemporaryFolder::new();
    let (site, plugin) = (scratch.path("site"), scratch.path("acme"));
    install(&site);
    let run = |folder: &str, arguments: &[&str]| {
        let run = scratch.run(folder, arguments);
        assert_eq!(run.status, 0, "{arguments:?}: {}", run.stderr);
        run.stderr
    };
    run("", &["new", "acme"]);

    let from = [
        "import",
        "tensorflow",
        "2.23",
        "--from",
        site.to_str().unwrap(),
    ];
    let stderr = run("acme", &from);
    for part in [
        "added to the lock",
        "changes since 2.22:",
        "stream_executor: 1 changed (SP_StreamExecutor)",
        "layout_changed_version_not_bumped SP_StreamExecutor",
    ] {
        assert!(stderr.contains(part), "{part}: {stderr}");
    }

    let to = ["generate", "--release", "2.23", "--out", "vendor/sp-abi"];
    let stderr = run("acme", &to);
    let lints = "stream_executor: 6 layout_changed_version_not_bumped";
    assert!(stderr.contains(lints), "{stderr}");
    let read = |name: &str| {
        let path = plugin.join("vendor/sp-abi/src/stream_executor").join(name);
        fs::read_to_string(path).unwrap()
    };
    assert!(read("structs.rs").contains("pub rest: Option<"));
    assert!(read("traits.rs").contains("fn rest(&self"));
    // The layouts of earlier releases remain for their hosts.
    assert!(read("epochs.rs").contains("pub mod v2_7"));
    assert!(run("acme", &to).contains("0 changed"));
}
