//! The committed snapshots, read anew from the headers where those and libclang are at hand.

use std::fs;
use std::path::{Path, PathBuf};

use sp_gen::clang::{DEFAULT_TARGET, Library};

const RELEASE: &str = "2.21";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .unwrap()
        .to_owned()
}

/// The headers that `sp-gen import` stored.
fn stored() -> Option<PathBuf> {
    let folders = fs::read_dir(root().join("headers/store")).ok()?.flatten();
    folders
        .filter(|it| {
            it.file_name()
                .to_string_lossy()
                .starts_with(&format!("{RELEASE}."))
        })
        .map(|it| it.path())
        .flat_map(|it| [it.join("include"), it])
        .find(|it| it.join("tensorflow/c/kernels.h").exists())
}

#[test]
fn headers_give_the_committed_snapshots() {
    if let Err(missing) = Library::load() {
        return println!("skipped: no libclang: {missing}");
    }
    let Some(headers) = stored() else {
        return println!("skipped: no headers of {RELEASE}: `sp-gen import tensorflow {RELEASE}`");
    };
    let apis = sp_gen::extract(&headers, RELEASE, DEFAULT_TARGET).unwrap();
    assert!(apis.len() >= 5);
    for api in apis {
        let path = root().join(format!("generated/ir/{}/{RELEASE}.json", api.name));
        let committed = fs::read_to_string(&path).unwrap();
        assert!(
            api.to_json() == committed,
            "{} is not what the headers say",
            path.display()
        );
    }
}
