use std::fs;

use super::*;
use sp_parse::clang::DEFAULT_TARGET;
use sp_tests::assert_contains_all;

fn folders() -> DataFolders {
    DataFolders::find(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn read(text: &str) -> Result<LoadedSide> {
    let folders = folders();
    let target = DEFAULT_TARGET;
    Operand::parse(text)?.read(ReadOptions {
        folders: &folders,
        target,
        apis: &[],
    })
}

fn api(name: &str, schema: u32) -> String {
    format!(r#"{{"schema": {schema}, "name": "{name}", "release": "2.21", "items": {{}}}}"#)
}

fn names(side: &LoadedSide) -> Vec<&str> {
    let surface = side.surface.apis.iter().map(|api| api.name.as_str());
    surface.collect()
}

#[test]
fn release_has_exports() {
    let side = read("2.12.0").unwrap();
    assert_eq!(side.surface.label, "2.12.0");
    assert!(names(&side).contains(&"stream_executor"));
    assert!(side.surface.apis.iter().all(|api| api.release == "2.12"));
    let exports = side.surface.exports.unwrap();
    assert!(exports["TF_NewStatus"].contains("libtensorflow_framework.so.2"));
    assert!(
        exports["SE_InitPlugin"].is_empty(),
        "a plugin exports it, not TensorFlow"
    );
}

#[test]
fn unknown_release_lists_known_releases() {
    let error = read("2.99").unwrap_err();
    let OperandError::UnknownRelease { help, .. } = &error else {
        panic!("{error}");
    };
    assert_contains_all(help, &["known: 2.4, 2.5, ", "2.21"]);
}

#[test]
fn reads_snapshots_from_file_and_folders() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("one/a.json");
    fs::create_dir(path.parent().unwrap()).unwrap();
    fs::write(&path, api("a", 2)).unwrap();
    fs::write(scratch.path().join("b.json"), api("b", 2)).unwrap();
    assert_eq!(names(&read(path.to_str().unwrap()).unwrap()), ["a"]);
    let folder = scratch.path().to_str().unwrap();
    assert_eq!(names(&read(folder).unwrap()), ["a", "b"]);
    fs::write(scratch.path().join("one/b.json"), api("b", 2)).unwrap();
    assert!(matches!(read(folder), Err(OperandError::DuplicateApi { api, .. }) if api == "b"));
}

#[test]
fn rejects_file_that_is_not_a_snapshot() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("a.json");
    let whole = api("a", 2);
    for (text, expected) in [
        (&whole[..whole.len() / 2], "not an sp-gen snapshot"),
        (&api("a", 99)[..], "use a newer sp-gen"),
    ] {
        fs::write(&path, text).unwrap();
        let error = read(path.to_str().unwrap()).unwrap_err().to_string();
        assert_contains_all(&error, &["a.json", expected]);
    }
}

#[test]
fn rejects_missing_empty_and_unrecognised_paths() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().to_str().unwrap().to_owned();
    assert!(matches!(read("no-such"), Err(OperandError::Missing { .. })));
    assert!(matches!(read(&folder), Err(OperandError::Empty(..))));
    let path = scratch.path().join("notes.txt");
    fs::write(&path, "").unwrap();
    let unrecognised = read(path.to_str().unwrap());
    assert!(matches!(unrecognised, Err(OperandError::Unrecognised(..))));
}

#[test]
fn rejects_target_without_layouts_in_snapshots() {
    let folders = folders();
    let target = "riscv64gc-unknown-linux-gnu";
    let read = Operand::parse("2.21").unwrap().read(ReadOptions {
        folders: &folders,
        target,
        apis: &[],
    });
    assert!(matches!(read, Err(OperandError::UnknownTarget { .. })));
}
