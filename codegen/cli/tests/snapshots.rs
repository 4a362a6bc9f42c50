//! The committed snapshots equal those of the stored headers. Releases that are not in the store are skipped.

use std::fs;
use std::path::{Path, PathBuf};

use sp_data::folders::DataFolders;
use sp_data::required_fields::RequiredFields;
use sp_data::snapshots::mark_preview;
use sp_ir::{Api, Item, Release, Writer};
use sp_parse::clang::Library;
use sp_parse::contract::Notes;
use sp_parse::contract::required_fields;
use sp_parse::extract::{Extracted, TARGETS, extract, extract_releases};

fn stored(root: &Path) -> Vec<(PathBuf, Release)> {
    let Ok(folders) = fs::read_dir(root.join("headers/store")) else {
        return Vec::new();
    };
    let release = |folder: PathBuf| {
        let release = folder.file_name()?.to_str()?.parse().ok()?;
        Some((folder.join("include"), release))
    };
    let found = folders.filter_map(|entry| release(entry.ok()?.path()));
    let mut found: Vec<_> = found.filter(|(include, _)| include.is_dir()).collect();
    found.sort();
    found
}

#[test]
fn committed_snapshots_equal_those_of_stored_headers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let all = stored(&root);
    if Library::load().is_err() || all.is_empty() {
        return eprintln!("skipped: no libclang, or no headers in the store");
    }
    let (folders, notes) = (DataFolders::find(&root).unwrap(), Notes::all().unwrap());
    let named = all
        .iter()
        .map(|(root, release)| (root.clone(), release.key().to_string()));
    let named: Vec<_> = named.collect();
    for ((_, release), apis) in all.iter().zip(extract_releases(&named)) {
        let apis = apis.and_then(Extracted::into_apis);
        let mut apis = apis.unwrap_or_else(|error| panic!("{release}: {error}"));
        mark_preview(&mut apis, *release);
        let required = RequiredFields::read(&folders, *release).unwrap();
        required_fields::annotate(&mut apis, &required.unwrap(), &notes).unwrap();
        for api in apis {
            assert_eq!(api.release, release.key().to_string());
            assert!(
                committed(&root, &api) == api.to_json(),
                "{} at {release} is outdated: `sp-gen import` writes it",
                api.name
            );
        }
    }
}

fn committed(root: &Path, api: &Api) -> String {
    let path = root.join(format!("generated/ir/{}/{}.json", api.name, api.release));
    fs::read_to_string(path).unwrap_or_default()
}

fn committed_all(root: &Path, release: &str) -> Vec<Api> {
    let apis = fs::read_dir(root.join("generated/ir")).unwrap();
    let paths = apis.map(|api| api.unwrap().path().join(format!("{release}.json")));
    let texts = paths.filter_map(|path| fs::read_to_string(path).ok());
    texts.map(|text| Api::from_json(&text).unwrap()).collect()
}

#[test]
fn one_target_gives_same_snapshots() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let all = stored(&root);
    if Library::load().is_err() || all.is_empty() {
        return eprintln!("skipped: no libclang, or no headers in the store");
    }
    for (include, release) in all {
        let key = release.key().to_string();
        let baseline = committed_all(&root, &key);
        let apis = extract(&include, &key, TARGETS[0], baseline);
        let apis = apis.and_then(Extracted::into_apis);
        let mut apis = apis.unwrap_or_else(|error| panic!("{release}: {error}"));
        mark_preview(&mut apis, release);
        for api in apis {
            let mut expected = Api::from_json(&committed(&root, &api)).unwrap();
            expected.targets.clear();
            let is_equal = expected.to_json() == api.to_json();
            assert!(is_equal, "{} at {release} differs", api.name);
        }
    }
}

/// Both fields are marked `out`, from the view of the program that calls the plugin.
#[test]
fn pjrt_writers_follow_text_above_structs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let releases: Vec<String> = (14..=22).map(|minor| format!("2.{minor}")).collect();
    for release in releases {
        let apis = committed_all(&root, &release);
        let pjrt = apis.iter().find(|api| api.name == "pjrt").unwrap();
        let writer = |name: &str, field: &str| {
            let Some(Item::Struct(found)) = pjrt.items.get(name) else {
                panic!("{release}: {name} is no struct")
            };
            let field = found.fields.iter().find(|it| it.name == field).unwrap();
            found.writer(field, |_| true)
        };
        let number = writer("PJRT_Api_Version", "minor_version");
        assert_eq!(number, Some(Writer::Plugin), "{release}");
        let program = writer("PJRT_Executable_OptimizedProgram_Args", "program");
        assert_eq!(program, Some(Writer::Core), "{release}");
    }
}
