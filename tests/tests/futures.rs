//! A plugin in Rust in made-up releases after the newest, played by sp-host: it runs where its host's
//! headers prove what it uses, and otherwise declines with one line.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use sp_host::{Exports, Host, Installation, Op, PlayedRelease, Tensor};
use sp_ir::{Api, Item};
use sp_tests::futures::{Expected, FUTURES, Future, Headers};

const FRAMEWORK: &str = "libtensorflow_framework.so.2";

/// Cargo builds the examples before the tests, beside them.
fn plugin() -> PathBuf {
    let folder = std::env::current_exe().unwrap();
    let folder = folder.ancestors().nth(2).unwrap().join("examples");
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    folder.join(format!("{prefix}far{suffix}"))
}

fn add(host: &Host) -> Result<Vec<Tensor>, sp_host::Error> {
    let one = || Tensor::from([2], &[1_f32, 2.0]);
    host.run(&Op::new("AddV2"), &[one(), one()])
}

/// Returns every function of `apis` as exported by the framework, and nothing else.
fn without_version(apis: &[Api]) -> Exports {
    let functions = apis.iter().flat_map(|api| api.items.values());
    let symbols = functions.filter_map(|item| match item {
        Item::Function(function) => Some(function.symbol.clone()),
        _ => None,
    });
    let framework = BTreeSet::from([FRAMEWORK.to_owned()]);
    symbols.map(|symbol| (symbol, framework.clone())).collect()
}

/// Runs in a process of its own, which `play` starts: a process decides once what its host is.
#[test]
fn plays_one_future() {
    let Ok(name) = std::env::var("SP_FUTURE") else {
        return;
    };
    let (future, folder) = (Future::named(&name), std::env::var("SP_FOLDER").unwrap());
    let apis = future.apis();
    let exports = without_version(&apis);
    let release = PlayedRelease::new(&apis).with_installation(Installation {
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

/// Returns what the process of a future printed: standard output, and the lines of the plugin.
fn play(name: &str, variables: &[(&str, &str)]) -> (String, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    Future::named(name).write_headers(folder.path()).unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "plays_one_future", "--nocapture"])
        .env("SP_FUTURE", name)
        .env("SP_FOLDER", folder.path())
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{name}: {stdout}{stderr}");
    let lines = stderr.lines().filter(|line| line.starts_with("plugin "));
    // The far device's memory is out of the host's reach, which its kernels report.
    let lines = lines.filter(|line| !line.contains("through copies of device memory"));
    (stdout, lines.map(str::to_owned).collect())
}

/// Returns what differs from the table.
fn check(future: &Future, (stdout, lines): &(String, Vec<String>)) -> Option<String> {
    let name = future.name;
    let (result, words) = match &future.rust {
        Expected::Runs => ("added [FLOAT", None),
        Expected::RunsAndReports(words) => ("added [FLOAT", Some(words)),
        Expected::Declines(words) => ("rejected: the plugin reports 0 devices", Some(words)),
        Expected::Unnoticed => return Some(format!("{name}: a plugin in Rust reads headers")),
    };
    let is_line = |line: &String| {
        words.is_some_and(|it| line.contains(it)) && line.starts_with("plugin sp-tests: ")
    };
    let is_right =
        stdout.contains(result) && lines.len() == words.iter().len() && lines.iter().all(is_line);
    (!is_right).then(|| format!("{name}: {stdout}{lines:?}"))
}

#[test]
fn runs_or_declines_as_the_table_states() {
    let wrong = FUTURES
        .iter()
        .filter_map(|it| check(it, &play(it.name, &[])));
    let wrong: Vec<_> = wrong.collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn declines_an_unknown_struct_size_if_headers_are_not_trusted() {
    let found = play("optional_slot_appended", &[("SP_TRUST_HEADERS", "0")]);
    assert!(found.0.contains("reports 0 devices"), "{found:?}");
    let last = found.1.last().unwrap();
    assert!(last.contains("SP_StreamExecutor is "), "{found:?}");
}

#[test]
fn environment_override_accepts_an_appended_struct() {
    let variables = [("SP_ASSUME_APPEND", "1")];
    let found = play("optional_slot_appended_without_headers", &variables);
    assert!(found.0.contains("added [FLOAT"), "{found:?}");
}

#[test]
fn declines_a_release_before_plugins_without_filling_a_slot() {
    let mut apis = sp_tests::snapshots("2.5");
    for api in &mut apis {
        api.release = "2.4".into();
    }
    let test = "declines_a_release_before_plugins_without_filling_a_slot";
    let stderr = sp_tests::alone(test, || {
        assert!(Host::open(&apis, &plugin()).is_err());
    });
    let line =
        "plugin sp-tests: declined TensorFlow 2.4: plugins are loaded from TensorFlow 2.5 on";
    assert!(stderr.is_empty() || stderr.contains(line), "{stderr}");
}
