//! A plugin in C as vendors write them, before and after it moved to the shim, on the host of every
//! release: before, it is right on the release that it was built for and wrong on the others, as the
//! table says; after, it is right on all.
//!
//! A test without a harness, since each run is a child: this program again.

mod compiler;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use compiler::{STRICT, compile, folder, headers, source, stored, words};
use sp_data::folders::DataFolders;
use sp_data::release::Release;
use sp_data::snapshots;
use sp_data::symbols::Symbols;
use sp_gen::verify;
use sp_host::{CheckOutcome, Exports, Host, Op, PLAYED_APIS, Suite, Tensor, Verdict};
use sp_ir::Api;
use sp_tests::futures::{Expected, FUTURES, Future};

/// What the plugin was built for.
const BUILT: &str = "2.9";

/// What becomes of the plugin elsewhere: releases, the check or test that fails, words of it.
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
    let place = DataFolders::find(&source("main.rs")).expect("this is a checkout");
    if let Some(release) = sp_host::child_release() {
        own_tests(&place, &release, Path::new(""));
        unreachable!("a child ends with its test");
    }
    // SAFETY: no other thread runs yet.
    unsafe { std::env::set_var("SP_HOST_SECONDS", "10") };
    if compiler::compilers(&["cc"]).is_empty() {
        println!("skipped: this machine has no C compiler (cc)");
        return;
    }
    let releases = verify::releases(&place, None).expect("there are snapshots");
    let after = after();
    for release in &releases {
        passes_everything(&place, release, &after);
    }
    for future in FUTURES.iter().filter(|it| !it.release.is_empty()) {
        plays(&place, future, &after);
    }
    match stored(BUILT) {
        Some(include) => {
            let before = before(&include);
            is_right_on_one(&place, &releases, &before);
            compares_releases(&before, &after);
        }
        None => println!("skipped: the headers of {BUILT} are not stored"),
    }
    decides_alone();
}

fn is_right_on_one(place: &DataFolders, releases: &[String], before: &Path) {
    passes_everything(place, BUILT, before);
    let others = releases.iter().filter(|release| *release != BUILT);
    for release in others {
        let rows = rows(place, release, before);
        let minor = release.trim_start_matches("2.").parse().expect("a minor");
        let told = BEFORE.iter().filter(|(minors, ..)| minors.contains(&minor));
        assert!(
            told.clone().count() > 0,
            "nothing is written down of {release}"
        );
        for (_, check, words) in told {
            let row = rows
                .iter()
                .find(|row| row.check == *check)
                .expect("it is asked");
            assert_eq!(row.status, Verdict::Fail, "before on {release}: {row}");
            assert!(row.detail.contains(words), "before on {release}: {row}");
            println!("before on {release}: {row}");
        }
    }
}

/// The command finds in what is loaded and runs that it means something else there.
fn compares_releases(before: &Path, after: &Path) {
    let words = [
        "TP_OptimizerConfigs is filled as in 2.5 to 2.9 (struct_size 88)",
        "`layout_optimizer` is `pin_to_host_optimization`",
        "TF_AssignVariable is called as in 2.6 to 2.9",
        "has `validate_shape` too",
    ];
    for (release, status, detail) in compared(before) {
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
    for (release, status, detail) in compared(after) {
        assert_eq!(status, "pass", "after on {release}: {detail}");
    }
}

/// Each release, with the status and detail that `sp-gen verify` has of its contract.
fn compared(plugin: &Path) -> Vec<(String, String, String)> {
    let ran = Command::new(env!("CARGO_BIN_EXE_sp-gen"))
        .arg("verify")
        .arg(plugin)
        .args(["--format", "json"])
        .output()
        .expect("the command runs");
    let report: Value = serde_json::from_slice(&ran.stdout).expect("JSON");
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

fn passes_everything(place: &DataFolders, release: &str, plugin: &Path) {
    let rows = rows(place, release, plugin);
    let bad: Vec<&CheckOutcome> = rows
        .iter()
        .filter(|row| row.status == Verdict::Fail)
        .collect();
    let name = plugin.file_stem().unwrap_or_default().to_string_lossy();
    assert!(bad.is_empty(), "{name} on {release}: {bad:#?}");
    let passed = rows.iter().filter(|row| row.status == Verdict::Pass);
    let passed: Vec<&str> = passed.map(|row| row.check.as_str()).collect();
    for own in ["adds", "optimizes", "assigns"] {
        assert!(passed.contains(&own), "{own} on {release}");
    }
    println!("{name} on {release}: {}", sp_host::summary(&rows));
}

/// Every check of `sp-gen verify`, and our own tests.
fn rows(place: &DataFolders, release: &str, plugin: &Path) -> Vec<CheckOutcome> {
    let judged = sp_host::verify(
        &[release.to_owned()],
        plugin,
        &sp_host::VerifyOptions::default(),
        |_, _| (),
    );
    let mut rows: Vec<CheckOutcome> = judged.into_iter().map(|(_, row)| row).collect();
    rows.extend(own_tests(place, release, plugin));
    rows
}

/// Runs the plugin in a made-up release, unless it cannot notice the change.
fn plays(place: &DataFolders, future: &Future, plugin: &Path) {
    match future.c {
        Expected::Runs | Expected::RunsAndReports(_) => {
            passes_everything(place, future.release, plugin);
        }
        Expected::Declines(_) => declines(future.release, plugin),
        Expected::Unnoticed => println!("{}: not run, since sizes do not show it", future.name),
    }
}

/// A declined host has no devices, and nothing fails.
fn declines(release: &str, plugin: &Path) {
    let rows = sp_host::verify(
        &[release.to_owned()],
        plugin,
        &sp_host::VerifyOptions::default(),
        |_, _| (),
    );
    let bad: Vec<_> = rows
        .iter()
        .filter(|(_, row)| row.status == Verdict::Fail)
        .collect();
    assert!(bad.is_empty(), "{bad:#?}");
    let streams = rows.iter().find(|(_, row)| row.check == "streams");
    let (release, row) = streams.expect("it is asked");
    assert_eq!(row.status, Verdict::Skip, "{row}");
    println!("after on {release}: {row}");
}

/// In a child, the test or check that was asked for; else our own tests.
fn own_tests(place: &DataFolders, release: &str, plugin: &Path) -> Vec<CheckOutcome> {
    let (apis, exports) = (apis(place, release), exports(place, release));
    let played = sp_host::PlayedRelease::new(&apis);
    let played = match &exports {
        Some(exports) => played.with_exports(exports),
        None => played,
    };
    let assigns = |host: &Host| assigns(host, exports.as_ref());
    Suite::new(played, plugin)
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
    let switched = host.graph_switches();
    assert!(
        switched == [("layout_optimizer".to_owned(), 1)],
        "switched off is {switched:?}"
    );
    // One node: `GraphDef { node { name: "x" op: "Placeholder" } }`.
    let node = [&b"\x0a\x01x\x12\x0b"[..], b"Placeholder"].concat();
    let graph = [&[0x0a, node.len() as u8][..], &node].concat();
    assert_eq!(host.optimize(&graph, &["x"]).unwrap(), graph);
}

/// Where core has no means to it, or none that is known, the plugin has no kernel for it.
fn assigns(host: &Host, exports: Option<&Exports>) {
    let has = exports.is_some_and(|it| it.contains_key("TF_AssignVariable"));
    assert_eq!(host.kernels().any(|it| it.op == "AssignVariableOp"), has);
    if has {
        let variable = host.variable();
        let inputs = [variable.handle(), floats()];
        host.run(&Op::new("AssignVariableOp"), &inputs).unwrap();
        assert_eq!(variable.value().unwrap(), Some(floats()));
    }
}

fn exports(place: &DataFolders, release: &str) -> Option<Exports> {
    let symbols = Symbols::load(place).expect("the symbols are read");
    verify::exports(&symbols, parsed(release))
}

fn apis(place: &DataFolders, release: &str) -> Vec<Api> {
    match FUTURES.iter().find(|it| it.release == release) {
        Some(future) => {
            let is_played = |api: &Api| PLAYED_APIS.contains(&api.name.as_str());
            future.apis().into_iter().filter(is_played).collect()
        }
        None => snapshots::read_apis(place, parsed(release), &PLAYED_APIS)
            .expect("its snapshots are there"),
    }
}

fn parsed(release: &str) -> Release {
    release.parse().expect("a release")
}

/// As vendors link theirs: the library that has its functions is among those it needs.
fn before(include: &Path) -> PathBuf {
    let framework = folder("needed").join("libtensorflow_framework.so.2");
    let soname = "-shared -Wl,-soname,libtensorflow_framework.so.2 -x c /dev/null -o";
    cc([words(soname), vec![framework.display().to_string()]].concat());
    let path = folder("made").join("libbefore.so");
    let options = words("-std=gnu11 -shared -fPIC -O2 -Wl,--no-as-needed");
    let files = [
        format!("-I{}", include.display()),
        source("before.c").display().to_string(),
        framework.display().to_string(),
        format!("-o{}", path.display()),
    ];
    cc([options, files.into()].concat());
    path
}

/// With nothing of TensorFlow: neither a header nor a library.
fn after() -> PathBuf {
    let path = folder("made").join("libafter.so");
    let options = words("-std=c11 -D_DEFAULT_SOURCE -shared -fPIC -O2 -Wl,--no-undefined");
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

/// A host made by hand, in C and in C++: what its structs' sizes make of it, one process each.
fn decides_alone() {
    for (compiler, options) in [
        ("cc", "-std=c11 -D_DEFAULT_SOURCE -x c"),
        ("c++", "-std=c++17 -x c++"),
    ] {
        if compiler::compilers(&[compiler]).is_empty() {
            println!("skipped: this machine has no {compiler}");
            continue;
        }
        hosts(&program(compiler, options, "host.c"));
        for (release, size, declines) in MIN_RELEASES {
            let options = format!("-DSP_MIN_RELEASE={release} {options}");
            let program = program(compiler, &options, "min_release.c");
            let ran = Command::new(program).arg(size).output().expect("it runs");
            let stderr = String::from_utf8_lossy(&ran.stderr);
            let case = format!("SP_MIN_RELEASE={release}, {size} bytes: {stderr}");
            assert_eq!(ran.status.code(), Some(i32::from(!declines)), "{case}");
            assert_eq!(
                stderr.contains("the plugin is for TensorFlow 2."),
                *declines,
                "{case}"
            );
        }
    }
}

/// SP_MIN_RELEASE, the size of SP_Platform (34 up to 2.8, 35 from 2.9 on), and whether the host is declined.
/// The process has no function of TensorFlow, so a plugin that relies on any must decline it.
const MIN_RELEASES: &[(u32, &str, bool)] = &[
    (205, "34", false),
    (209, "34", true),
    (212, "34", true),
    (209, "35", false),
    (212, "35", true),
];

fn program(compiler: &str, options: &str, file: &str) -> PathBuf {
    let path = folder("made").join(format!("{file}-{compiler}"));
    let files = [
        format!("-I{}", folder("include").display()),
        source(file).display().to_string(),
        format!("-o{}", path.display()),
    ];
    let options = words(&format!("-O2 {options}"));
    let arguments = [options, STRICT.map(str::to_owned).into(), files.into()].concat();
    compile(compiler, &arguments).unwrap_or_else(|error| panic!("{arguments:?}: {error}"));
    path
}

fn hosts(program: &Path) {
    for (case, line) in [
        ("34", ""),
        ("35", ""),
        (
            "42",
            "plugin BY_HAND: declined a TensorFlow that does not state its release (2.5 or later): its SP_Platform is 42 bytes, expected 34 or 35",
        ),
        ("0", "its SP_Platform is 0 bytes"),
    ] {
        let ran = Command::new(program).arg(case).output().expect("it runs");
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{case}: {said}");
        match line {
            "" => assert_eq!(said, "", "{case}"),
            line => assert!(
                said.lines().count() == 1 && said.contains(line),
                "{case}: {said}"
            ),
        }
        println!("a host by hand with {case} bytes: {}", said.trim());
    }
}
