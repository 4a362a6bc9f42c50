//! A plugin in Rust in hypothetical releases after the newest, which sp-host emulates. The plugin runs if
//! the host's headers declare all that it uses, and otherwise declines with one line.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sp_host::{EmulatedRelease, Host, Installation, Op, ReleaseExports, Tensor};
use sp_ir::{Api, Item};
use sp_tests::futures::{Expected, FUTURES, Future, Headers};

const FRAMEWORK: &str = "libtensorflow_framework.so.2";

fn plugin() -> PathBuf {
    sp_tests::example("remote_memory")
}

fn add(host: &Host) -> Result<Vec<Tensor>, sp_host::Error> {
    let vector = || Tensor::from([2], &[1_f32, 2.0]);
    host.run(&Op::new("AddV2"), &[vector(), vector()])
}

/// Returns every function of `apis` as exported by the framework, and nothing else.
fn without_version(apis: &[Api]) -> ReleaseExports {
    let functions = apis.iter().flat_map(|api| api.items.values());
    let symbols = functions.filter_map(|item| match item {
        Item::Function(function) => Some(function.symbol.clone()),
        _ => None,
    });
    let framework = BTreeSet::from([FRAMEWORK.to_owned()]);
    symbols.map(|symbol| (symbol, framework.clone())).collect()
}

/// Prints the result of the release that `SP_FUTURE` names. [`run_future`] starts this test in a process
/// of its own, since a process identifies its host once.
#[test]
fn print_result() {
    let Ok(name) = std::env::var("SP_FUTURE") else {
        return;
    };
    let (future, folder) = (Future::find(&name), std::env::var("SP_FOLDER").unwrap());
    let apis = future.apis();
    let exports = without_version(&apis);
    let release = EmulatedRelease::new(&apis).with_installation(Installation {
        folder: Path::new(&folder),
        has_messages: future.headers != Headers::WithoutMessages,
    });
    let release = match future.release {
        "" => release.with_exports(&exports),
        _ => release,
    };
    match Host::open(release, &plugin()).and_then(|host| add(&host)) {
        Ok(sums) => println!("added {sums:?}"),
        Err(error) => println!("rejected: {error}"),
    }
}

/// Runs [`print_result`] for the release `name`; returns its standard output, and the plugin's lines.
fn run_future(name: &str, variables: &[(&str, &str)]) -> (String, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    Future::find(name).write_headers(folder.path()).unwrap();
    let folder = folder.path().to_str().unwrap();
    let own = [("SP_FUTURE", name), ("SP_FOLDER", folder)];
    let [stdout, stderr] = sp_tests::run_test("print_result", &[&own, variables].concat());
    let lines = stderr.lines().filter(|line| line.starts_with("plugin "));
    // The host cannot address this device's memory. Kernels of variables need functions that are called in a later
    // release only if its headers declare them.
    let other = ["through copies of device memory", "no kernel in"];
    let lines = lines.filter(|line| !other.iter().any(|it| line.contains(it)));
    (stdout, lines.map(str::to_owned).collect())
}

/// Returns a description of the difference from the table, or `None` if the plugin behaves as expected.
fn find_difference(future: &Future, (stdout, lines): &(String, Vec<String>)) -> Option<String> {
    let name = future.name;
    let (result, text) = match &future.rust {
        Expected::Runs => ("added [FLOAT", None),
        Expected::RunsAndReports(text) => ("added [FLOAT", Some(text)),
        Expected::Declines(text) => ("rejected: the plugin reports 0 devices", Some(text)),
        Expected::Unnoticed => {
            return Some(format!(
                "{name}: a plugin in Rust reads headers, so it notices every change"
            ));
        }
    };
    let is_expected_line = |line: &String| {
        text.is_some_and(|text| line.contains(text)) && line.starts_with("plugin sp-tests: ")
    };
    let matches_table = stdout.contains(result)
        && lines.len() == text.iter().len()
        && lines.iter().all(is_expected_line);
    (!matches_table).then(|| format!("{name}: {stdout}{lines:?}"))
}

#[test]
fn runs_or_declines_as_table_states() {
    let differences = FUTURES.iter();
    let differences =
        differences.filter_map(|future| find_difference(future, &run_future(future.name, &[])));
    let differences: Vec<_> = differences.collect();
    assert!(differences.is_empty(), "{differences:#?}");
}

#[test]
fn declines_unknown_struct_size_if_headers_are_not_trusted() {
    let (stdout, lines) = run_future("optional_slot_appended", &[("SP_TRUST_HEADERS", "0")]);
    assert!(stdout.contains("reports 0 devices"), "{stdout}");
    let last = lines.last().unwrap();
    assert!(last.contains("SP_StreamExecutor is "), "{lines:?}");
}

#[test]
fn env_override_accepts_appended_struct() {
    let variables = [("SP_ASSUME_APPEND", "1")];
    let (stdout, lines) = run_future("optional_slot_appended_without_headers", &variables);
    assert!(stdout.contains("added [FLOAT"), "{stdout}{lines:?}");
}

#[test]
fn declines_release_without_plugin_support_and_fills_no_slot() {
    let mut apis = sp_tests::snapshots("2.5");
    for api in &mut apis {
        api.release = "2.4".into();
    }
    let test = "declines_release_without_plugin_support_and_fills_no_slot";
    let stderr = sp_tests::in_own_process(test, || {
        assert!(Host::open(&apis, &plugin()).is_err());
    });
    let line =
        "plugin sp-tests: declined TensorFlow 2.4: plugins are loaded from TensorFlow 2.5 on";
    assert!(stderr.is_empty() || stderr.contains(line), "{stderr}");
}
