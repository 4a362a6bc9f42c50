//! The committed sp-abi is what the committed snapshots give, and `sp-gen generate --check` says so.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use sp_data::snapshots;
use sp_data::symbols::Symbols;
use sp_emit::{Files, emit};
use sp_gen::disk::FolderKind;
use sp_parse::clang::Library;

fn generated() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../generated")
}

fn files() -> Files {
    let apis = snapshots::read_folder(&generated().join("ir"), None).unwrap();
    let symbols = Symbols::read_folder(&generated().join("symbols")).unwrap();
    emit(&apis, &symbols).unwrap_or_else(|refused| panic!("{refused}"))
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
fn the_committed_crate_has_not_drifted() {
    let drifts = FolderKind::Crate.drift(&generated(), &files()).unwrap();
    let told: Vec<_> = drifts
        .iter()
        .map(|it| format!("{}\n{}", it.path, it.diff(12)))
        .collect();
    assert!(
        told.is_empty(),
        "run `cargo run -p sp-gen -- generate`:\n{}",
        told.join("\n")
    );
}

#[test]
fn equal_snapshots_give_equal_bytes() {
    assert_eq!(files(), files());
}

#[test]
fn a_crate_of_an_older_release_knows_of_nothing_later() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().to_str().unwrap();
    let done = sp_gen(&["generate", "--release", "2.8", "--out", out]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let read = |name: &str| fs::read_to_string(scratch.path().join("src").join(name)).unwrap();

    assert!(
        read("lib.rs").contains("NEWEST: sp_runtime::Release = sp_runtime::Release::new(2, 8)")
    );
    let exports = read("availability.rs");
    assert!(exports.contains("(2, 8)") && !exports.contains("(2, 9)"));
    // Of packages that were read later only, nothing is said.
    assert!(!exports.contains("aarch64"));
    // The struct that 2.9 appended to, and the status that 2.12 declared otherwise.
    assert!(!read("stream_executor/structs.rs").contains("force_memory_growth"));
    let traits = read("stream_executor/traits.rs");
    assert!(traits.contains("fn create_stream(&self) -> Result<Self::Stream>"));
}

#[test]
fn check_finds_what_was_changed_and_generate_mends_it() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().to_str().unwrap();
    assert_eq!(sp_gen(&["generate", "--out", out]).status.code(), Some(0));
    let check = || sp_gen(&["generate", "--check", "--out", out]);
    assert_eq!(check().status.code(), Some(0));

    let lib = scratch.path().join("src/lib.rs");
    fs::write(&lib, "//! Changed by hand.\n").unwrap();
    let found = check();
    assert_eq!(found.status.code(), Some(1));
    let told = text(&found.stdout);
    assert!(
        told.contains("lib.rs") && told.contains("-//! Changed by hand."),
        "{told}"
    );

    let mended = sp_gen(&["generate", "--out", out]);
    let told = text(&mended.stdout);
    assert!(
        told.contains("lib.rs") && told.lines().count() == 1,
        "{told}"
    );
    assert_eq!(check().status.code(), Some(0));
}

#[test]
fn an_unknown_release_is_refused_and_writes_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("crate");
    let refused = sp_gen(&[
        "generate",
        "--release",
        "1.15",
        "--out",
        out.to_str().unwrap(),
    ]);
    assert_eq!(refused.status.code(), Some(2));
    let told = text(&refused.stderr);
    assert!(told.contains("no snapshot of 1.15"), "{told}");
    assert!(!out.exists());
}

#[test]
fn headers_alone_make_a_crate_that_is_not_the_committed_one() {
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
    let made = sp_gen(&["generate", "--headers", include, "--out", out]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    let lib = fs::read_to_string(scratch.path().join("src/lib.rs")).unwrap();
    assert!(lib.contains("pub mod stream_executor;"), "{lib}");
    assert!(
        !scratch
            .path()
            .join("src/stream_executor/epochs.rs")
            .exists(),
        "one release has no epochs"
    );
    let committed = sp_gen(&["generate", "--headers", include, "--out", "."]);
    assert_eq!(committed.status.code(), Some(2));
    assert!(text(&committed.stderr).contains("what is committed"));
}

#[test]
fn the_shim_in_c_has_a_folder_to_itself() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("shim");
    let c = |more: &[&str]| sp_gen(&[&["generate", "--lang", "c"], more].concat());
    let there = ["--out", out.to_str().unwrap()];
    assert_eq!(c(&["--check", there[0], there[1]]).status.code(), Some(1));
    assert!(!out.exists(), "--check writes nothing");
    let made = c(&there);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    assert!(out.join("sp_shim.h").exists() && out.join("sp_kernels.h").exists());
    assert_eq!(c(&["--check", there[0], there[1]]).status.code(), Some(0));
    let again = c(&there);
    assert!(
        text(&again.stderr).contains("0 changed"),
        "{}",
        text(&again.stderr)
    );
    fs::write(
        out.join("sp_kernels.h"),
        text(sp_emit::header::GENERATED.as_bytes()),
    )
    .unwrap();
    let drifted = c(&["--check", there[0], there[1]]);
    assert_eq!(drifted.status.code(), Some(1));
    assert!(text(&drifted.stdout).contains("sp_kernels.h"));
}

#[test]
fn the_shim_in_c_is_written_over_nobodys_files() {
    let scratch = tempfile::tempdir().unwrap();
    let (file, folder) = (scratch.path().join("file"), scratch.path().join("folder"));
    fs::write(&file, "mine\n").unwrap();
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("mine.c"), "int mine;\n").unwrap();
    for (arguments, told) in [
        (vec![], "--out"),
        (
            vec!["--out", file.to_str().unwrap()],
            "file is not a folder",
        ),
        (
            vec!["--out", folder.to_str().unwrap()],
            "mine.c, which sp-gen did not write",
        ),
    ] {
        let refused = sp_gen(&[&["generate", "--lang", "c"], &arguments[..]].concat());
        // Long lines are broken for the terminal.
        let joined = |text: String| text.replace(char::is_whitespace, "").replace('│', "");
        let (said, told) = (joined(text(&refused.stderr)), joined(told.to_owned()));
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains(&told), "{said}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine\n");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 2);
}

/// Returns every file below `folder` with its text.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(contents(&path)),
            false => files.push((path.clone(), fs::read(path).unwrap())),
        }
    }
    files.sort();
    files
}

#[test]
fn rejects_a_scaffold_as_output_folder() {
    let scratch = tempfile::tempdir().unwrap();
    let plugin = scratch.path().join("plugin");
    let path = plugin.to_str().unwrap();
    let made = sp_gen(&["new", "myaccel", "--path", path]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    let before = contents(&plugin);
    for out in [
        path.to_owned(),
        format!("{path}/src"),
        format!("{path}/vendor"),
    ] {
        let rejected = sp_gen(&["generate", "--out", &out]);
        let stderr = text(&rejected.stderr);
        assert_eq!(rejected.status.code(), Some(2), "{out}: {stderr}");
        assert!(stderr.contains("did not write"), "{out}: {stderr}");
        assert!(contents(&plugin) == before, "{out}: files changed");
    }
}

#[test]
fn regenerates_the_vendored_crate_of_a_scaffold() {
    let scratch = tempfile::tempdir().unwrap();
    let plugin = scratch.path().join("plugin");
    sp_gen(&["new", "myaccel", "--path", plugin.to_str().unwrap()]);
    let vendored = plugin.join("vendor/sp-abi");
    let snapshots = contents(&vendored.join("ir"));
    let out = vendored.to_str().unwrap();
    let done = sp_gen(&["generate", "--out", out]);
    assert_eq!(text(&done.stdout), "", "{}", text(&done.stderr));
    let done = sp_gen(&["generate", "--release", "2.20", "--out", out]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let manifest = fs::read_to_string(vendored.join("Cargo.toml")).unwrap();
    assert!(!manifest.contains("[workspace"), "{manifest}");
    assert!(contents(&vendored.join("ir")) == snapshots);
}

#[test]
fn crate_outside_of_a_workspace_builds_alone() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("bindings");
    let done = sp_gen(&["generate", "--out", out.to_str().unwrap()]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let target = generated().join("../target/tests/standalone");
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["check", "--quiet", "--all-features"])
        .current_dir(&out);
    let checked = cargo.env("CARGO_TARGET_DIR", target).output().unwrap();
    assert!(checked.status.success(), "{}", text(&checked.stderr));
    fs::write(out.join("LICENSE"), "mine\n").unwrap();
    let again = sp_gen(&["generate", "--check", "--out", out.to_str().unwrap()]);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stdout));
    sp_gen(&[
        "generate",
        "--release",
        "2.20",
        "--out",
        out.to_str().unwrap(),
    ]);
    assert_eq!(fs::read_to_string(out.join("LICENSE")).unwrap(), "mine\n");
}
