//! A new release needs no hand-written line: after the removal of a release's lock entry, snapshots and sources, `import`
//! and `generate` write the same bytes again. Skipped without libclang or without the release in the store.

use sp_tests::{copy_files, read_files, root, write_dist_info, write_files};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A release: its minor release, version and predecessor, and parts of the report of its import.
struct Case {
    minor: &'static str,
    exact: &'static str,
    before: &'static str,
    report: &'static [&'static str],
}

const FINAL: Case = Case {
    minor: "2.21",
    exact: "2.21.0",
    before: "2.20",
    report: &["tf_tstring: "],
};

const PREVIEW: Case = Case {
    minor: "2.22",
    exact: "2.22.0rc0",
    before: "2.21",
    report: &[
        "stream_executor: 1 added (SP_StreamOptions), 1 changed (SP_StreamExecutor)",
        "added without a note (PJRT_AbiVersion_Extension",
    ],
};

/// Returns the lock without a release, and the headers that its entry lists as not imported.
fn lock_without(release: &str) -> (String, Vec<String>) {
    let text = fs::read_to_string(root().join("headers/sources.toml")).unwrap();
    let is_heading = |line: &str| line.starts_with("[release.\"") && !line.contains("\".");
    let (mut remaining, mut names, mut inside, mut left_out) =
        (String::new(), Vec::new(), false, false);
    for line in text.lines() {
        if is_heading(line) {
            inside = line == format!("[release.\"{release}\"]");
        }
        if line.starts_with('[') {
            left_out = inside && line.ends_with("left_out]");
        }
        match inside {
            false => remaining += &format!("{line}\n"),
            true if left_out && line.starts_with('"') => {
                names.push(line.split('"').nth(1).unwrap().to_owned());
            }
            true => {}
        }
    }
    (remaining.trim_end().to_owned() + "\n", names)
}

/// Writes an installed TensorFlow with the stored headers, and with empty files for the headers that were not imported.
fn install(site: &Path, exact: &str, left_out: &[String]) {
    let include = site.join("tensorflow/include");
    let stored = read_files(&root().join("headers/store").join(exact).join("include"));
    let empty = left_out
        .iter()
        .map(|name| (PathBuf::from(name), Vec::new()));
    write_files(&include, stored.into_iter().chain(empty));
    let dist_info = site.join(format!("tensorflow_cpu-{exact}.dist-info"));
    write_dist_info(&dist_info, "tensorflow_cpu", exact);
}

fn sp_gen(checkout: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sp-gen"));
    let command = command.args(arguments).current_dir(checkout).output();
    command.unwrap()
}

#[test]
fn import_and_generate_restore_a_final_release() {
    assert_restored(&FINAL);
}

#[test]
fn import_and_generate_restore_a_preview() {
    assert_restored(&PREVIEW);
}

fn assert_restored(case: &Case) {
    if !root().join("headers/store").join(case.exact).is_dir() {
        let exact = case.exact;
        return eprintln!("skipped: `sp-gen import tensorflow {exact}` has not been run");
    }
    if sp_parse::clang::Library::load().is_err() {
        return eprintln!("skipped: there is no libclang");
    }
    let scratch = tempfile::tempdir().unwrap();
    let (checkout, site) = (scratch.path().join("checkout"), scratch.path().join("site"));
    for name in ["headers/apis", "generated"] {
        copy_files(&root().join(name), &checkout.join(name));
    }
    fs::create_dir_all(checkout.join("codegen/cli")).unwrap();
    fs::write(checkout.join("codegen/cli/Cargo.toml"), "").unwrap();
    generate(&checkout);
    let before = read_files(&checkout.join("generated"));

    let left_out = remove_release(&checkout, case);
    install(&site, case.exact, &left_out);
    let from = ["--from", site.to_str().unwrap()];
    let import = ["import", "tensorflow", case.exact];
    let imported = sp_gen(&checkout, &[&import[..], &from[..]].concat());
    let stderr = String::from_utf8_lossy(&imported.stderr).into_owned();
    assert!(imported.status.success(), "{stderr}");
    let changes = format!("changes since {}:", case.before);
    for part in ["added to the lock", &changes].iter().chain(case.report) {
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
    generate(&checkout);

    let after = read_files(&checkout.join("generated"));
    for (path, bytes) in &before {
        assert!(after.get(path) == Some(bytes), "{} differs", path.display());
    }
    assert_eq!(before.len(), after.len());
    let lock = |checkout: &Path| fs::read_to_string(checkout.join("headers/sources.toml")).unwrap();
    assert_eq!(lock(root()), lock(&checkout));
}

fn generate(checkout: &Path) {
    let output = sp_gen(checkout, &["generate"]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{stderr}");
}

/// Removes the release's snapshots, the generated sources and the lock's entry. Returns the headers that the entry lists
/// as not imported.
fn remove_release(checkout: &Path, case: &Case) -> Vec<String> {
    let generated = checkout.join("generated");
    for path in read_files(&generated).into_keys() {
        let is_snapshot =
            path.starts_with("ir") && path.file_stem().is_some_and(|name| name == case.minor);
        if is_snapshot || path.starts_with("src") {
            fs::remove_file(generated.join(path)).unwrap();
        }
    }
    let (lock, left_out) = lock_without(case.exact);
    assert!(!lock.contains(&format!("\"{}\"", case.exact)) && !left_out.is_empty());
    fs::write(checkout.join("headers/sources.toml"), lock).unwrap();
    left_out
}
