//! A plugin in C with TensorFlow's headers (before.c) and with the generated headers (after.c), on the host of
//! releases that differ. before.c works with the release of its headers and fails with others as [`BEFORE`] lists;
//! after.c works with all. `SP_EVERY_RELEASE=1` runs both on every release.
//!
//! The test has no harness, since each case runs in a child process, which is this program again.

mod compiler;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use compiler::{STRICT, compile, folder, headers, source, split_words, stored};
use sp_data::folders::DataFolders;
use sp_data::release::Release;
use sp_data::snapshots;
use sp_gen::verify;
use sp_host::{CheckOutcome, CheckStatus, EMULATED_APIS, Host, Op, ReleaseExports, Suite, Tensor};
use sp_ir::Api;
use sp_tests::futures::{Expected, FUTURES, Future};

/// The release of the headers that before.c is built with.
const BUILT_FOR: &str = "2.9";

/// Releases that differ in what before.c uses. `SP_EVERY_RELEASE=1` tests it in all.
const DIFFERING: [&str; 4] = ["2.5", "2.9", "2.18", "2.22"];

/// The failures of before.c in other releases: minor releases, the check or test that fails, a part of its text.
const BEFORE: &[(&[u32], &str, &str)] = &[
    (&[5], "entry_points", "undefined symbol: TF_AssignVariable"),
    (
        &[6],
        "struct_bounds",
        "touched byte 264 of SP_StreamExecutor, past its end",
    ),
    (
        &[7, 8],
        "struct_sizes",
        "SP_Platform.struct_size is 35, above the 34",
    ),
    (
        &[10, 11, 12, 13, 14, 15, 16, 17, 18, 22],
        "assigns",
        "not a live TF_Status",
    ),
    (
        &[10, 11, 12, 13, 14, 15, 16, 17, 18, 22],
        "optimizes",
        "pin_to_host_optimization",
    ),
    (
        &[19, 20, 21],
        "entry_points",
        "undefined symbol: TF_AssignVariable",
    ),
];

fn main() {
    let folders = DataFolders::find(&source("main.rs")).expect("this is a checkout");
    if let Some(release) = sp_host::child_release() {
        own_tests(&folders, &release, Path::new(""));
        unreachable!("a child process ends with its test");
    }
    // SAFETY: the process has one thread, so no other thread reads the environment.
    unsafe { std::env::set_var("SP_HOST_SECONDS", "10") };
    if compiler::compilers(&["cc"]).is_empty() {
        println!("skipped: this machine has no C compiler (cc)");
        return;
    }
    let releases = releases(&folders);
    let after = after();
    for release in &releases {
        passes_all(&folders, release, &after);
    }
    for future in FUTURES.iter().filter(|it| !it.release.is_empty()) {
        checks_future(&folders, future, &after);
    }
    match stored(BUILT_FOR) {
        Some(include) => {
            let before = before(&include);
            works_with_one_release(&folders, &releases, &before);
            verify_reports_other_meaning(&before, &after);
        }
        None => println!("skipped: the headers of {BUILT_FOR} are not stored"),
    }
    decides_by_size();
}

fn releases(folders: &DataFolders) -> Vec<String> {
    let mut all = verify::releases(folders, &[]).expect("the snapshots are read");
    if std::env::var_os("SP_EVERY_RELEASE").is_none() {
        all.retain(|release| DIFFERING.contains(&release.as_str()));
        assert_eq!(all.len(), DIFFERING.len(), "{all:?}");
    }
    all
}

fn works_with_one_release(folders: &DataFolders, releases: &[String], before: &Path) {
    passes_all(folders, BUILT_FOR, before);
    let others = releases.iter().filter(|release| *release != BUILT_FOR);
    for release in others {
        let rows = rows(folders, release, before);
        let minor = release.trim_start_matches("2.").parse().expect("a minor");
        let failures = BEFORE.iter().filter(|(minors, ..)| minors.contains(&minor));
        assert!(
            failures.clone().count() > 0,
            "BEFORE has no entry for {release}"
        );
        for (_, check, words) in failures {
            let row = rows.iter().find(|row| row.check == *check);
            let row = row.expect("the check runs");
            assert_eq!(row.status, CheckStatus::Fail, "before on {release}: {row}");
            assert!(row.detail.contains(words), "before on {release}: {row}");
            println!("before on {release}: {row}");
        }
    }
}

/// `sp-gen verify` reports structs and calls that have another meaning in a release, without running a kernel.
fn verify_reports_other_meaning(before: &Path, after: &Path) {
    let words = [
        "TP_OptimizerConfigs is filled as in 2.5 to 2.9 (struct_size 88)",
        "`layout_optimizer` is `pin_to_host_optimization`",
        "TF_AssignVariable is called as in 2.6 to 2.9",
        "has `validate_shape` too",
    ];
    for (release, status, detail) in release_contracts(before) {
        let minor: u32 = release.trim_start_matches("2.").parse().expect("a minor");
        match minor {
            10..=18 | 22 => {
                assert_eq!(status, "fail", "before on {release}: {detail}");
                for words in words {
                    assert!(detail.contains(words), "before on {release}: {detail}");
                }
            }
            9 => assert_eq!(status, "pass", "before on {release}: {detail}"),
            _ => {}
        }
        println!("before on {release}: {status} {detail}");
    }
    for (release, status, detail) in release_contracts(after) {
        assert_eq!(status, "pass", "after on {release}: {detail}");
    }
}

/// Returns each release with the status and detail of its row `release_contract` in `sp-gen verify`.
fn release_contracts(plugin: &Path) -> Vec<(String, String, String)> {
    let output = Command::new(env!("CARGO_BIN_EXE_sp-gen"))
        .arg("verify")
        .arg(plugin)
        .args(["--format", "json"])
        .output()
        .expect("the command runs");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rows = report["rows"].as_array().expect("a list").iter();
    let rows = rows.filter(|row| row["check"] == "release_contract");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    rows.map(|row| {
        (
            text(&row["release"]),
            text(&row["status"]),
            text(&row["detail"]),
        )
    })
    .collect()
}

fn passes_all(folders: &DataFolders, release: &str, plugin: &Path) {
    let rows = rows(folders, release, plugin);
    let bad = rows.iter().filter(|row| row.status == CheckStatus::Fail);
    let bad: Vec<&CheckOutcome> = bad.collect();
    let name = plugin.file_stem().unwrap_or_default().to_string_lossy();
    assert!(bad.is_empty(), "{name} on {release}: {bad:#?}");
    let passed = rows.iter().filter(|row| row.status == CheckStatus::Pass);
    let passed: Vec<&str> = passed.map(|row| row.check.as_str()).collect();
    for own in ["adds", "optimizes", "assigns"] {
        assert!(passed.contains(&own), "{own} on {release}");
    }
    println!("{name} on {release}: {}", sp_host::summary(&rows));
}

/// Runs every check of `sp-gen verify`, and the tests of this file.
fn rows(folders: &DataFolders, release: &str, plugin: &Path) -> Vec<CheckOutcome> {
    let results = sp_host::verify(
        &[release.to_owned()],
        plugin,
        &sp_host::VerifyOptions::default(),
        |_, _| (),
    );
    let mut rows: Vec<CheckOutcome> = results.into_iter().map(|(_, row)| row).collect();
    rows.extend(own_tests(folders, release, plugin));
    rows
}

/// Runs the plugin in a hypothetical release, unless the plugin cannot detect the change.
fn checks_future(folders: &DataFolders, future: &Future, plugin: &Path) {
    match future.c {
        Expected::Runs | Expected::RunsAndReports(_) => {
            passes_all(folders, future.release, plugin);
        }
        Expected::Declines(_) => declines(future.release, plugin),
        Expected::Unnoticed => println!("{}: not run, since no size shows the change", future.name),
    }
}

/// Checks that the plugin declines the host: there are no devices, and no check fails.
fn declines(release: &str, plugin: &Path) {
    let rows = sp_host::verify(
        &[release.to_owned()],
        plugin,
        &sp_host::VerifyOptions::default(),
        |_, _| (),
    );
    let bad: Vec<_> = rows
        .iter()
        .filter(|(_, row)| row.status == CheckStatus::Fail)
        .collect();
    assert!(bad.is_empty(), "{bad:#?}");
    let streams = rows.iter().find(|(_, row)| row.check == "streams");
    let (release, row) = streams.expect("the check runs");
    assert_eq!(row.status, CheckStatus::Skip, "{row}");
    println!("after on {release}: {row}");
}

/// Runs the tests of this file. In a child process, runs the requested test or check.
fn own_tests(folders: &DataFolders, release: &str, plugin: &Path) -> Vec<CheckOutcome> {
    let (apis, exports) = (apis(folders, release), exports(folders, release));
    let emulated = sp_host::EmulatedRelease::new(&apis);
    let emulated = match &exports {
        Some(exports) => emulated.with_exports(exports),
        None => emulated,
    };
    let assigns = |host: &Host| assigns(host, exports.as_ref());
    Suite::new(emulated, plugin)
        .test("adds", adds)
        .test("optimizes", optimizes)
        .test("assigns", assigns)
        .own_tests()
}

fn floats() -> Tensor {
    Tensor::from([3], &[1_f32, -2.0, 4.0])
}

fn adds(host: &Host) {
    let sum = host.run(&Op::new("AddV2"), &[floats(), floats()]).unwrap();
    assert_eq!(sum, [Tensor::from([3], &[2_f32, -4.0, 8.0])]);
}

fn optimizes(host: &Host) {
    let switches = host.graph_switches();
    assert!(
        switches == [("layout_optimizer".to_owned(), 1)],
        "switches: {switches:?}"
    );
    // A graph of one node: `GraphDef { node { name: "x" op: "Placeholder" } }`.
    let node = [&b"\x0a\x01x\x12\x0b"[..], b"Placeholder"].concat();
    let graph = [&[0x0a, node.len() as u8][..], &node].concat();
    assert_eq!(host.optimize(&graph, &["x"]).unwrap(), graph);
}

/// The plugin registers this kernel only if the host has TF_AssignVariable with a known signature.
fn assigns(host: &Host, exports: Option<&ReleaseExports>) {
    let is_exported = exports.is_some_and(|it| it.contains_key("TF_AssignVariable"));
    assert_eq!(
        host.kernels().any(|it| it.op == "AssignVariableOp"),
        is_exported
    );
    if is_exported {
        let variable = host.variable();
        let inputs = [variable.handle(), floats()];
        host.run(&Op::new("AssignVariableOp"), &inputs).unwrap();
        assert_eq!(variable.value().unwrap(), Some(floats()));
    }
}

fn exports(folders: &DataFolders, release: &str) -> Option<ReleaseExports> {
    verify::exports(folders, parsed(release)).expect("the symbols are read")
}

fn apis(folders: &DataFolders, release: &str) -> Vec<Api> {
    match FUTURES.iter().find(|it| it.release == release) {
        Some(future) => {
            let is_emulated = |api: &Api| EMULATED_APIS.contains(&api.name.as_str());
            future.apis().into_iter().filter(is_emulated).collect()
        }
        None => snapshots::read_apis(folders, parsed(release), &EMULATED_APIS)
            .expect("the snapshots are read"),
    }
}

fn parsed(release: &str) -> Release {
    release.parse().expect("a release")
}

/// Builds before.c. It names the library with TensorFlow's functions, as most plugins do.
fn before(include: &Path) -> PathBuf {
    let framework = folder("needed").join("libtensorflow_framework.so.2");
    let soname = "-shared -Wl,-soname,libtensorflow_framework.so.2 -x c /dev/null -o";
    cc([split_words(soname), vec![framework.display().to_string()]].concat());
    let path = folder("built").join("libbefore.so");
    let options = split_words("-std=gnu11 -shared -fPIC -O2 -Wl,--no-as-needed");
    let files = [
        format!("-I{}", include.display()),
        source("before.c").display().to_string(),
        framework.display().to_string(),
        format!("-o{}", path.display()),
    ];
    cc([options, files.into()].concat());
    path
}

/// Builds after.c without a header or library of TensorFlow.
fn after() -> PathBuf {
    let path = folder("built").join("libafter.so");
    let options = split_words("-std=c11 -D_DEFAULT_SOURCE -shared -fPIC -O2 -Wl,--no-undefined");
    let files = [
        format!("-I{}", headers().display()),
        source("after.c").display().to_string(),
        format!("-o{}", path.display()),
    ];
    cc([options, STRICT.map(str::to_owned).into(), files.into()].concat());
    path
}

fn cc(arguments: Vec<String>) {
    compile("cc", &arguments).unwrap_or_else(|error| panic!("{arguments:?}: {error}"));
}

/// Runs hand-written hosts, in C and in C++: the plugin decides by the sizes of their structs.
fn decides_by_size() {
    for (compiler, options) in [
        ("cc", "-std=c11 -D_DEFAULT_SOURCE -x c"),
        ("c++", "-std=c++17 -x c++"),
    ] {
        if compiler::compilers(&[compiler]).is_empty() {
            println!("skipped: this machine has no {compiler}");
            continue;
        }
        checks_hosts(&program(compiler, options, "host.c"));
        for (release, size, declines) in MIN_RELEASES {
            let options = format!("-DSPGEN_MIN_RELEASE={release} {options}");
            let program = program(compiler, &options, "min_release.c");
            let output = Command::new(program)
                .arg(size)
                .output()
                .expect("the host runs");
            let stderr = String::from_utf8_lossy(&output.stderr);
            let case = format!("SPGEN_MIN_RELEASE={release}, {size} bytes: {stderr}");
            assert_eq!(output.status.code(), Some(i32::from(!declines)), "{case}");
            assert_eq!(
                stderr.contains("the plugin is for TensorFlow 2."),
                *declines,
                "{case}"
            );
        }
    }
}

/// SPGEN_MIN_RELEASE, the size of SP_Platform (34 up to 2.8, 35 from 2.9 on), and true if the host is declined.
/// The process has no function of TensorFlow, so a plugin that requires one must decline the host.
const MIN_RELEASES: &[(u32, &str, bool)] = &[
    (205, "34", false),
    (209, "34", true),
    (212, "34", true),
    (209, "35", false),
    (212, "35", true),
];

fn program(compiler: &str, options: &str, file: &str) -> PathBuf {
    let path = folder("built").join(format!("{file}-{compiler}"));
    let files = [
        format!("-I{}", folder("include").display()),
        source(file).display().to_string(),
        format!("-o{}", path.display()),
    ];
    let options = split_words(&format!("-O2 {options}"));
    let arguments = [options, STRICT.map(str::to_owned).into(), files.into()].concat();
    compile(compiler, &arguments).unwrap_or_else(|error| panic!("{arguments:?}: {error}"));
    path
}

fn checks_hosts(program: &Path) {
    for (case, line) in [
        ("34", ""),
        ("35", ""),
        (
            "42",
            "plugin BY_HAND: declined a TensorFlow that does not state its release (2.5 or later): its SP_Platform is 42 bytes, expected 34 or 35",
        ),
        ("0", "its SP_Platform is 0 bytes"),
    ] {
        let output = Command::new(program)
            .arg(case)
            .output()
            .expect("the host runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{case}: {stderr}");
        match line {
            "" => assert_eq!(stderr, "", "{case}"),
            line => assert!(
                stderr.lines().count() == 1 && stderr.contains(line),
                "{case}: {stderr}"
            ),
        }
        println!("a hand-written host with {case} bytes: {}", stderr.trim());
    }
}
