//! What the tests that need more than one crate share: where things lie in the checkout, and the
//! committed snapshots.

use std::fs;
use std::path::{Path, PathBuf};

use sp_ir::Api;

/// The checkout.
///
/// # Panics
/// Never: this crate lies in it.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("tests/ lies in the checkout")
}

/// The committed snapshots of one release, sorted by API.
///
/// # Panics
/// Where one is missing or does not parse: the checkout is broken.
pub fn snapshots(release: &str) -> Vec<Api> {
    let folder = root().join("generated/ir");
    let mut paths: Vec<PathBuf> = fs::read_dir(&folder)
        .expect("generated/ir is committed")
        .map(|entry| {
            entry
                .expect("a readable folder")
                .path()
                .join(format!("{release}.json"))
        })
        .filter(|path| path.exists())
        .collect();
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Api {
    let text = fs::read_to_string(path).expect("a readable snapshot");
    Api::from_json(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
