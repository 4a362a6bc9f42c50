//! `sp-gen generate`, and the committed crates: sp-abi is generated from the committed snapshots.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use sp_data::snapshots;
use sp_data::symbols::Symbols;
use sp_emit::{Files, emit_rust};
use sp_gen::disk::{FolderKind, WrittenFiles};
use sp_parse::clang::Library;
use sp_tests::{assert_contains, assert_contains_all, read_files};

fn generated() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../generated")
}

fn files() -> Files {
    let apis = snapshots::read_folder(&generated().join("ir"), None).unwrap();
    let symbols = Symbols::read_folder(&generated().join("symbols")).unwrap();
    emit_rust(&apis, &symbols).unwrap_or_else(|error| panic!("{error}"))
}

fn sp_gen(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sp-gen"));
    command.args(arguments).current_dir(generated());
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn committed_crate_is_up_to_date() {
    let drifts = FolderKind::Crate
        .drift(&generated(), &files(), &WrittenFiles::Marked)
        .unwrap();
    let differences: Vec<_> = drifts
        .iter()
        .map(|drift| format!("{}\n{}", drift.path, drift.diff(12)))
        .collect();
    assert!(
        differences.is_empty(),
        "run `cargo run -p sp-gen -- generate`:\n{}",
        differences.join("\n")
    );
}

#[test]
fn output_is_deterministic() {
    assert_eq!(files(), files());
}

#[test]
fn crate_for_older_release_has_no_later_items() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().to_str().unwrap();
    let output = sp_gen(&["generate", "--release", "2.8", "--out", out]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let read = |name: &str| fs::read_to_string(scratch.path().join("src").join(name)).unwrap();

    assert!(
        read("lib.rs").contains("NEWEST: sp_runtime::Release = sp_runtime::Release::new(2, 8)")
    );
    let exports = read("availability.rs");
    assert!(exports.contains("(2, 8)") && !exports.contains("(2, 9)"));
    // Packages whose symbols are known only for later releases do not occur.
    assert!(!exports.contains("aarch64"));
    // 2.9 appended a field to SP_Platform; 2.12 changed a declaration with a status.
    assert!(!read("stream_executor/structs.rs").contains("force_memory_growth"));
    let traits = read("stream_executor/traits.rs");
    assert!(traits.contains("fn create_stream(&self) -> Result<Self::Stream>"));
}

#[test]
fn check_finds_edited_file_and_only_force_replaces_it() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().to_str().unwrap();
    assert_eq!(sp_gen(&["generate", "--out", out]).status.code(), Some(0));
    let check = || sp_gen(&["generate", "--check", "--out", out]);
    assert_eq!(check().status.code(), Some(0));

    let lib = scratch.path().join("src/lib.rs");
    fs::write(&lib, "//! Changed by hand.\n").unwrap();
    let found = check();
    assert_eq!(found.status.code(), Some(1));
    let stdout = text(&found.stdout);
    assert_contains_all(&stdout, &["lib.rs", "-//! Changed by hand."]);

    let rejected = sp_gen(&["generate", "--out", out]);
    assert_eq!(rejected.status.code(), Some(2));
    let stderr = text(&rejected.stderr);
    assert_contains_all(&stderr, &["sp_gen::generate::edited_files", "lib.rs"]);
    assert_eq!(fs::read_to_string(&lib).unwrap(), "//! Changed by hand.\n");

    let repaired = sp_gen(&["generate", "--force", "--out", out]);
    let stdout = text(&repaired.stdout);
    assert!(
        stdout.contains("lib.rs") && stdout.lines().count() == 1,
        "{stdout}"
    );
    assert_eq!(check().status.code(), Some(0));
}

/// A repository that was cloned may have a link to another project of the user, which has edits.
#[cfg(unix)]
#[test]
fn edited_crate_is_not_the_committed_one_through_a_link() {
    let scratch = tempfile::tempdir().unwrap();
    let (checkout, project) = (scratch.path().join("checkout"), scratch.path().join("proj"));
    fs::create_dir_all(checkout.join("headers/apis")).unwrap();
    fs::create_dir_all(checkout.join("codegen/cli")).unwrap();
    fs::write(checkout.join("codegen/cli/Cargo.toml"), "").unwrap();
    let out = project.to_str().unwrap();
    assert_eq!(sp_gen(&["generate", "--out", out]).status.code(), Some(0));
    let lib = project.join("src/lib.rs");
    fs::write(&lib, "//! Changed by hand.\n").unwrap();
    std::os::unix::fs::symlink(&project, checkout.join("generated")).unwrap();
    for (arguments, code) in [
        (&["generate"][..], "sp_gen::checkout::symbolic_link"),
        (
            &["generate", "--release", "2.8", "--out", "generated"],
            "sp_gen::",
        ),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sp-gen"));
        command.args(arguments).current_dir(&checkout);
        let output = command.output().unwrap();
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(code), "{stderr}");
        assert_eq!(fs::read_to_string(&lib).unwrap(), "//! Changed by hand.\n");
    }
}

#[test]
fn rejects_unknown_release_and_writes_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("crate");
    let path = out.to_str().unwrap();
    let rejected = sp_gen(&["generate", "--release", "1.15", "--out", path]);
    assert_eq!(rejected.status.code(), Some(2));
    let stderr = text(&rejected.stderr);
    assert!(stderr.contains("no snapshot of 1.15"), "{stderr}");
    assert!(!out.exists());
}

#[test]
fn generates_crate_from_headers_except_into_committed_one() {
    let store = generated().join("../headers/store");
    let stored = fs::read_dir(&store).into_iter().flatten().flatten();
    let includes = stored.map(|entry| entry.path().join("include"));
    let Some(include) = includes.filter(|path| path.is_dir()).max() else {
        return eprintln!("skipped: no headers in the store");
    };
    if Library::load().is_err() {
        return eprintln!("skipped: no libclang");
    }
    let (scratch, include) = (tempfile::tempdir().unwrap(), include.to_str().unwrap());
    let out = scratch.path().to_str().unwrap();
    let output = sp_gen(&["generate", "--headers", include, "--out", out]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let lib = fs::read_to_string(scratch.path().join("src/lib.rs")).unwrap();
    assert!(lib.contains("pub mod stream_executor;"), "{lib}");
    // One release has one epoch.
    let epochs = scratch.path().join("src/stream_executor/epochs.rs");
    assert!(!epochs.exists());
    let committed = sp_gen(&["generate", "--headers", include, "--out", "."]);
    assert_eq!(committed.status.code(), Some(2));
    assert!(text(&committed.stderr).contains("is the committed crate"));
}

#[test]
fn writes_and_checks_c_shim() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("shim");
    let generate_c = |more: &[&str]| sp_gen(&[&["generate", "--lang", "c"], more].concat());
    let out_option = ["--out", out.to_str().unwrap()];
    let check = || generate_c(&["--check", out_option[0], out_option[1]]);
    assert_eq!(check().status.code(), Some(1));
    assert!(!out.exists(), "--check wrote files");
    let output = generate_c(&out_option);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(out.join("spgen_common.h").exists() && out.join("spgen_kernels.h").exists());
    assert_eq!(check().status.code(), Some(0));
    let again = generate_c(&out_option);
    assert_contains(&text(&again.stderr), "0 changed");
    fs::write(out.join("spgen_kernels.h"), sp_emit::c::GENERATED).unwrap();
    let drifted = check();
    assert_eq!(drifted.status.code(), Some(1));
    assert!(text(&drifted.stdout).contains("spgen_kernels.h"));
}

#[test]
fn rejects_folder_with_foreign_files_for_c_shim() {
    let scratch = tempfile::tempdir().unwrap();
    let (file, folder) = (scratch.path().join("file"), scratch.path().join("folder"));
    fs::write(&file, "own\n").unwrap();
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("own.c"), "int mine;\n").unwrap();
    let paths = [&file, &folder].map(|path| path.to_str().unwrap());
    for (arguments, expected) in [
        (vec![], "--out"),
        (vec!["--out", paths[0]], "file is not a folder"),
        (vec!["--out", paths[1]], "own.c, which sp-gen did not write"),
    ] {
        let rejected = sp_gen(&[&["generate", "--lang", "c"], &arguments[..]].concat());
        // Long lines are wrapped.
        let joined = |text: String| text.replace(char::is_whitespace, "").replace('│', "");
        let (stderr, expected) = (joined(text(&rejected.stderr)), joined(expected.to_owned()));
        assert_eq!(rejected.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(&expected), "{stderr}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "own\n");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 2);
}

#[test]
fn leaves_edits_of_vendored_crates_and_own_marked_files_alone() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().to_str().unwrap();
    assert_eq!(sp_gen(&["generate", "--out", out]).status.code(), Some(0));
    let own = scratch.path().join("src/own.rs");
    fs::write(&own, "// Generated by `sp-gen generate`. Edited.\n").unwrap();
    let older = ["generate", "--release", "2.20", "--out", out];
    let output = sp_gen(&older);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(own.exists());

    let vendored = scratch.path().join("vendor/sp-runtime/src/lib.rs");
    fs::write(&vendored, "//! Edited.\n").unwrap();
    let before = read_files(scratch.path());
    let rejected = sp_gen(&["generate", "--out", out]);
    assert_eq!(rejected.status.code(), Some(2));
    let stderr = text(&rejected.stderr);
    assert!(stderr.contains("vendor/sp-runtime/src/lib.rs"), "{stderr}");
    assert!(read_files(scratch.path()) == before);
}

#[test]
fn rejects_scaffold_as_output_folder() {
    let scratch = tempfile::tempdir().unwrap();
    let plugin = scratch.path().join("plugin");
    let path = plugin.to_str().unwrap();
    let output = sp_gen(&["new", "myaccel", "--path", path]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let before = read_files(&plugin);
    for out in [
        path.to_owned(),
        format!("{path}/src"),
        format!("{path}/vendor"),
    ] {
        let rejected = sp_gen(&["generate", "--out", &out]);
        let stderr = text(&rejected.stderr);
        assert_eq!(rejected.status.code(), Some(2), "{out}: {stderr}");
        assert!(stderr.contains("did not write"), "{out}: {stderr}");
        assert!(read_files(&plugin) == before, "{out}: files changed");
    }
}

#[test]
fn regenerates_vendored_crate_of_scaffold() {
    let scratch = tempfile::tempdir().unwrap();
    let plugin = scratch.path().join("plugin");
    sp_gen(&["new", "myaccel", "--path", plugin.to_str().unwrap()]);
    let vendored = plugin.join("vendor/sp-abi");
    let snapshots = read_files(&vendored.join("ir"));
    let out = vendored.to_str().unwrap();
    let output = sp_gen(&["generate", "--out", out]);
    assert_eq!(text(&output.stdout), "", "{}", text(&output.stderr));
    let output = sp_gen(&["generate", "--release", "2.20", "--out", out]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let manifest = fs::read_to_string(vendored.join("Cargo.toml")).unwrap();
    assert!(!manifest.contains("[workspace"), "{manifest}");
    assert!(read_files(&vendored.join("ir")) == snapshots);
}

#[test]
fn manifest_above_the_limit_of_a_configuration_is_not_read() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("bindings");
    let is_standalone = |padding: usize| {
        let dependencies = "[workspace.dependencies]\nsp-runtime = \"0.1\"\n";
        let manifest = dependencies.to_owned() + &" ".repeat(padding);
        fs::write(scratch.path().join("Cargo.toml"), manifest).unwrap();
        let output = sp_gen(&["generate", "--out", out.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let manifest = fs::read_to_string(out.join("Cargo.toml")).unwrap();
        manifest.contains("[workspace")
    };
    assert!(!is_standalone(1));
    assert!(is_standalone(1 << 20));
}

#[test]
fn crate_outside_of_workspace_builds() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("bindings");
    let output = sp_gen(&["generate", "--out", out.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let target = generated().join("../target/tests/standalone");
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["check", "--quiet", "--all-features"])
        .current_dir(&out);
    let checked = cargo.env("CARGO_TARGET_DIR", target).output().unwrap();
    assert!(checked.status.success(), "{}", text(&checked.stderr));
    fs::write(out.join("LICENSE"), "own\n").unwrap();
    let again = sp_gen(&["generate", "--check", "--out", out.to_str().unwrap()]);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stdout));
    let path = out.to_str().unwrap();
    sp_gen(&["generate", "--release", "2.20", "--out", path]);
    assert_eq!(fs::read_to_string(out.join("LICENSE")).unwrap(), "own\n");
}
