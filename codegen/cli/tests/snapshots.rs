//! The committed snapshots are what the stored headers give, all releases read at once. What is not in
//! the store is skipped.

use std::fs;
use std::path::{Path, PathBuf};

use sp_gen::clang::Library;
use sp_gen::extract::releases;

fn stored(root: &Path) -> Vec<(PathBuf, String)> {
    let Ok(folders) = fs::read_dir(root.join("headers/store")) else {
        return Vec::new();
    };
    let release = |folder: PathBuf| {
        let name = folder.file_name()?.to_str()?;
        let minor: Vec<&str> = name.split('.').take(2).collect();
        Some((folder.join("include"), minor.join(".")))
    };
    let mut found: Vec<_> = folders
        .filter_map(|entry| release(entry.ok()?.path()))
        .filter(|(include, _)| include.is_dir())
        .collect();
    found.sort();
    found
}

#[test]
fn headers_give_the_committed_snapshots() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let all = stored(&root);
    if Library::load().is_err() || all.is_empty() {
        return eprintln!("skipped: no libclang, or no headers in the store");
    }
    for ((_, release), apis) in all.iter().zip(releases(&all)) {
        let apis = apis.unwrap_or_else(|error| panic!("{release}: {error}"));
        for api in apis {
            assert_eq!(api.release, *release);
            let path = root.join(format!("generated/ir/{}/{release}.json", api.name));
            let there = fs::read_to_string(&path).unwrap_or_default();
            assert!(
                there == api.to_json(),
                "{} drifted: import writes it",
                path.display()
            );
        }
    }
}
