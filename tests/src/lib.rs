//! Shared code of the tests that need more than one crate: paths in the checkout, the committed
//! snapshots, and tests in a process of their own.

pub mod c_declarations;
pub mod futures;
pub mod http;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sp_ir::{Api, Item};

/// Returns the root of the checkout.
///
/// # Panics
/// Never: this crate is a folder of the checkout.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("tests/ is a folder of the checkout")
}

/// Returns the committed snapshots of `release`, sorted by API.
///
/// # Panics
/// Panics if a snapshot cannot be read or parsed.
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
    paths.iter().map(|path| read_snapshot(path)).collect()
}

fn read_snapshot(path: &Path) -> Api {
    let text = fs::read_to_string(path).expect("a readable snapshot");
    Api::from_json(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the exports of a framework library that has every function of `apis` except `absent`:
/// each function with the names of the libraries that export it.
pub fn exports_without(apis: &[Api], absent: &str) -> BTreeMap<String, BTreeSet<String>> {
    let functions = apis.iter().flat_map(|api| api.items.values());
    let symbols = functions.filter_map(|item| match item {
        Item::Function(function) if function.symbol != absent => Some(function.symbol.clone()),
        _ => None,
    });
    let framework = BTreeSet::from(["libtensorflow_framework.so.2".to_owned()]);
    let symbols = symbols.chain(["TF_Version".to_owned()]);
    symbols.map(|symbol| (symbol, framework.clone())).collect()
}

/// Returns the library of the plugin `examples/NAME.rs`. Cargo builds the examples before the tests.
///
/// # Panics
/// Never: a test's executable is in `deps/`, beside `examples/`.
pub fn example(name: &str) -> PathBuf {
    use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
    let executable = std::env::current_exe().expect("a test has an executable");
    let folder = executable.ancestors().nth(2).expect("a test is in deps/");
    folder.join(format!("examples/{DLL_PREFIX}{name}{DLL_SUFFIX}"))
}

/// Runs `body` of the test called `test` in a child process, and returns that process's stderr.
///
/// A process identifies its host once, so tests with different hosts need different processes.
/// In the child process itself this runs `body` and returns an empty string.
///
/// # Panics
/// Panics if the child process fails.
pub fn in_own_process(test: &str, body: impl FnOnce()) -> String {
    if std::env::var_os("SP_OWN_PROCESS").is_some() {
        body();
        return String::new();
    }
    let executable = std::env::current_exe().expect("a test has an executable");
    let child = Command::new(executable)
        .args(["--exact", test, "--nocapture"])
        .env("SP_OWN_PROCESS", "1")
        .output()
        .expect("the executable runs again");
    let stderr = String::from_utf8_lossy(&child.stderr).into_owned();
    assert!(child.status.success(), "{stderr}");
    stderr
}
