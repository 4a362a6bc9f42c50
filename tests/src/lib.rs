//! What the tests that need more than one crate share: where things lie in the checkout, the committed
//! snapshots, and processes of their own.

pub mod c_declarations;
pub mod futures;
pub mod http;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sp_ir::{Api, Item};

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

/// Function to the libraries that export it: every function of `apis` but `left_out`, from the framework.
pub fn exports_without(apis: &[Api], left_out: &str) -> BTreeMap<String, BTreeSet<String>> {
    let functions = apis.iter().flat_map(|api| api.items.values());
    let symbols = functions.filter_map(|item| match item {
        Item::Function(function) if function.symbol != left_out => Some(function.symbol.clone()),
        _ => None,
    });
    let framework = BTreeSet::from(["libtensorflow_framework.so.2".to_owned()]);
    let symbols = symbols.chain(["TF_Version".to_owned()]);
    symbols.map(|it| (it, framework.clone())).collect()
}

/// The plugin that `examples/NAME.rs` is. Cargo builds the examples before the tests, beside them.
///
/// # Panics
/// Never: a test lies two folders below its examples.
pub fn example(name: &str) -> PathBuf {
    use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
    let this = std::env::current_exe().expect("a test is a file");
    let folder = this.ancestors().nth(2).expect("a test lies in deps/");
    folder.join(format!("examples/{DLL_PREFIX}{name}{DLL_SUFFIX}"))
}

/// Runs `body` of the test called `test` in a process of its own, since a process decides once what its
/// host is; what it said on stderr, or nothing in that process itself.
///
/// # Panics
/// Where that process fails.
pub fn alone(test: &str, body: impl FnOnce()) -> String {
    if std::env::var_os("SP_ALONE").is_some() {
        body();
        return String::new();
    }
    let this = std::env::current_exe().expect("a test is a file");
    let child = Command::new(this)
        .args(["--exact", test, "--nocapture"])
        .env("SP_ALONE", "1")
        .output()
        .expect("it runs again");
    let stderr = String::from_utf8_lossy(&child.stderr).into_owned();
    assert!(child.status.success(), "{stderr}");
    stderr
}
