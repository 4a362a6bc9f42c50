//! The snapshot of a small header with every construct of TensorFlow's headers, for all targets. `SP_BLESS=1` rewrites it.

use std::fs;
use std::path::{Path, PathBuf};

use sp_ir::Api;
use sp_parse::clang::Library;
use sp_parse::contract::ExcludedHeaders;
use sp_parse::contract::{KnownNames, Notes};
use sp_parse::extract::{Job, extract_all_targets_with};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/constructs")
}

fn read() -> Option<Api> {
    if let Err(missing) = Library::load() {
        eprintln!("skipped: no libclang: {missing}");
        return None;
    }
    let text = fs::read_to_string(folder().join("demo.toml")).unwrap();
    let notes = [Notes::parse("demo", &text).unwrap()];
    let (excluded, known) = (ExcludedHeaders::default(), KnownNames::default());
    let root = folder().join("include");
    let extracted = extract_all_targets_with(&Job {
        notes: &notes,
        excluded: &excluded,
        known: &known,
        include_root: &root,
        release: "2.21",
        only: &[],
    });
    let mut apis = extracted.unwrap().into_apis().unwrap();
    assert_eq!(apis.len(), 1);
    apis.pop()
}

#[test]
fn constructs_match_golden_files() {
    let Some(api) = read() else { return };
    let text = api.to_json();
    sp_tests::assert_golden("codegen/cli/tests/constructs/demo.json", &text);
    assert_eq!(Api::from_json(&text).unwrap(), api);
}
