//! Predictions of the diff, compared with observations: plain C plugins that rely on the headers of one release run
//! on the host of another, and the observed outcome must be the one that the diff predicts.
//!
//! The test has no harness, since each run is a child process, which is this program again.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use sp_data::folders::DataFolders;
use sp_data::release::Release;
use sp_data::snapshots;
use sp_diff::finding::Outcome;
use sp_diff::{self, Diff};
use sp_gen::operand::{Operand, ReadOptions};
use sp_host::{CheckStatus, EMULATED_APIS, Host, Op, Suite, Tensor};
use sp_ir::Api;

const TARGET: &str = "x86_64-unknown-linux-gnu";
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reality");

/// A plugin built with the headers of one release, run on another.
struct Run {
    built: &'static str,
    host: &'static str,
    part: Part,
    observed: Outcome,
    /// A part of the failure's text; empty if the plugin works.
    failure_text: &'static str,
}

/// The part of the C APIs that the plugin uses in addition to a device.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// None.
    Device,
    /// None, and the plugin has no timers, which newer releases do not require.
    WithoutTimers,
    /// A graph optimizer.
    Graph,
    /// A kernel that assigns to a variable.
    Variable,
}

/// Runs in both directions across every release with a breaking change, and across some others: the release of the
/// headers, the host, the part, the outcome and a part of the failure's text.
const RUNS: &str = "
2.6 | 2.7 | device | Rejected | 'host_callback' field in SP_StreamExecutor must be set
2.7 | 2.6 | device | CorruptsMemory | byte 264 of SP_StreamExecutor
2.5 | 2.21 | device | Rejected | 'host_callback' field in SP_StreamExecutor must be set
2.21 | 2.5 | device | CorruptsMemory | byte 264 of SP_StreamExecutor
2.8 | 2.9 | device | Works |
2.9 | 2.8 | device | Works |
2.7 | 2.21 | device | Works |
2.13 | 2.14 | device | Works |
2.14 | 2.13 | without_timers | Rejected | 'create_timer_fns' field in SP_PlatformFns must be set
2.15 | 2.21 | without_timers | Works |
2.21 | 2.15 | without_timers | Works |
2.5 | 2.6 | graph | WrongArguments | not a live TF_Status
2.6 | 2.5 | graph | WrongArguments | not a live TF_Status
2.9 | 2.10 | graph | ReadsWrongMember | pin_to_host_optimization
2.10 | 2.9 | graph | CorruptsMemory | byte 88 of TP_OptimizerConfigs
2.10 | 2.12 | graph | Works |
2.9 | 2.10 | variable | WrongArguments | not a live TF_Status
2.10 | 2.9 | variable | WrongArguments | not a live TF_Status
2.10 | 2.18 | variable | Works |
";

const PARTS: [Part; 4] = [
    Part::Device,
    Part::WithoutTimers,
    Part::Graph,
    Part::Variable,
];

const OUTCOMES: [Outcome; 5] = [
    Outcome::Works,
    Outcome::Rejected,
    Outcome::ReadsWrongMember,
    Outcome::WrongArguments,
    Outcome::CorruptsMemory,
];

fn runs() -> Vec<Run> {
    let run = |[built, host, part, outcome, failure_text]: [&'static str; 5]| Run {
        built,
        host,
        part: PARTS.into_iter().find(|it| it.name() == part).unwrap(),
        observed: OUTCOMES
            .into_iter()
            .find(|it| format!("{it:?}") == outcome)
            .unwrap(),
        failure_text,
    };
    sp_tests::rows(RUNS).into_iter().map(run).collect()
}

fn main() {
    let folders = DataFolders::find(Path::new(SOURCES)).expect("this is a checkout");
    if let Some(release) = sp_host::child_release() {
        let apis = apis(&folders, &release);
        let suite = Suite::new(&apis, PathBuf::new());
        PARTS.into_iter().fold(suite, with).own_tests();
        unreachable!("a child ends with its test");
    }
    // SAFETY: no other thread runs yet.
    unsafe { std::env::set_var("SP_HOST_SECONDS", "5") };
    if let Err(reason) = compiler().and_then(|()| headers(&folders, "2.5").map(drop)) {
        println!("skipped: {reason}");
        return;
    }
    let runs = runs();
    let differences = runs.iter().filter_map(|run| find_difference(&folders, run));
    let differences: Vec<String> = differences.collect();
    assert!(differences.is_empty(), "{differences:#?}");
    check_verify(&folders, &runs[3]);
}

/// Checks that `sp-gen verify` passes a plugin on the release it was built for, and fails it on an older one.
fn check_verify(folders: &DataFolders, run: &Run) {
    let plugin = plugin(folders, run);
    for (release, exit_status, check_status) in [("2.21", 0, "pass"), ("2.5", 1, "fail")] {
        let output = Command::new(env!("CARGO_BIN_EXE_sp-gen"))
            .arg("verify")
            .arg(&plugin)
            .args(["--release", release, "--format", "json"])
            .output()
            .expect("the command runs");
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let failed = || {
            let rows = report["rows"].as_array().expect("a list").iter();
            rows.filter(|row| row["status"] == "fail")
                .collect::<Vec<_>>()
        };
        assert_eq!(output.status.code(), Some(exit_status), "{:#?}", failed());
        let mut rows = report["rows"].as_array().expect("a list").iter();
        let bounds = rows
            .find(|row| row["check"] == "struct_bounds")
            .expect("a row");
        assert_eq!(bounds["status"], check_status, "{bounds}");
        assert_eq!(bounds["release"], release);
        let functions = report["requirements"]["functions"]
            .as_array()
            .expect("a list");
        assert!(
            functions.iter().any(|it| it["name"] == "TF_NewStatus"),
            "{functions:?}"
        );
    }
}

fn with(suite: Suite<'_>, part: Part) -> Suite<'_> {
    let body: fn(&Host) = match part {
        Part::Device | Part::WithoutTimers => adds,
        Part::Graph => optimizes,
        Part::Variable => assigns,
    };
    suite.test(part.name(), body)
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::WithoutTimers => "without_timers",
            Self::Graph => "graph",
            Self::Variable => "variable",
        }
    }

    /// Returns true if the plugin uses the item.
    fn uses(self, api: &str, item: &str) -> bool {
        match self {
            Self::Device => api == "stream_executor" && !is_timer(item),
            Self::WithoutTimers => api == "stream_executor",
            Self::Graph => api == "grappler" && item.starts_with("TP_Optimizer"),
            Self::Variable => item.split('(').next() == Some("TF_AssignVariable"),
        }
    }
}

/// Returns true for an item that does not concern a plugin with timers.
fn is_timer(item: &str) -> bool {
    item.contains("timer") || item.contains("TimerFns")
}

fn floats() -> Tensor {
    Tensor::from([3], &[1_f32, -2.0, 4.0])
}

fn adds(host: &Host) {
    let sum = host.run(&Op::new("AddV2"), &[floats(), floats()]).unwrap();
    assert_eq!(sum, [Tensor::from([3], &[2_f32, -4.0, 8.0])]);
}

fn optimizes(host: &Host) {
    adds(host);
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

fn assigns(host: &Host) {
    let variable = host.variable();
    let inputs = [variable.handle(), floats()];
    host.run(&Op::new("AssignVariableOp"), &inputs).unwrap();
    assert_eq!(variable.value().unwrap(), Some(floats()));
}

/// Returns a message if the observed outcome is not that of `run`, or not the one that the diff predicts.
fn find_difference(folders: &DataFolders, run: &Run) -> Option<String> {
    let (built, host) = (run.built, run.host);
    let apis = apis(folders, host);
    let suite = Suite::new(&apis, plugin(folders, run));
    let row = with(suite, run.part).own_tests().remove(0);
    let name = run.part.name();
    println!("{name} of {built} on {host}: {row}");
    let observed = match row.status {
        CheckStatus::Pass => Some(Outcome::Works),
        _ => outcome(&row.detail),
    };
    let predicted = predict(folders, run);
    let is_expected = observed == Some(run.observed) && row.detail.contains(run.failure_text);
    let is_predicted = observed.is_some_and(|observed| agrees(observed, &predicted));
    (!is_expected || !is_predicted).then(|| {
        format!(
            "{name} of {built} on {host}: {row}; observed {observed:?}, predicted {predicted:?}"
        )
    })
}

/// Returns the outcome that the text of a failure shows.
fn outcome(detail: &str) -> Option<Outcome> {
    let texts = [
        ("past its end", Outcome::CorruptsMemory),
        ("must be set", Outcome::Rejected),
        ("not a live TF_Status", Outcome::WrongArguments),
        ("switched off is", Outcome::ReadsWrongMember),
        // sp-host reports it; TensorFlow checks only that the size is not 0.
        ("struct_size is", Outcome::Works),
    ];
    let found = texts.iter().find(|(text, _)| detail.contains(text));
    found.map(|(_, outcome)| *outcome)
}

/// Returns true if the outcome is the worst predicted one. A rejection precedes any call, so it hides a worse outcome.
fn agrees(observed: Outcome, predicted: &[Outcome]) -> bool {
    let worst = predicted.iter().max().copied().unwrap_or(Outcome::Works);
    match observed {
        Outcome::Works => worst <= Outcome::WorksWithout,
        Outcome::Rejected => predicted.contains(&Outcome::Rejected),
        observed => observed == worst,
    }
}

/// Returns the outcomes that the diff predicts for the part, in the direction of the run.
fn predict(folders: &DataFolders, run: &Run) -> Vec<Outcome> {
    let minor = |release: &str| release.parse::<Release>().expect("a release");
    let is_older = minor(run.built) < minor(run.host);
    let diff = match is_older {
        true => diff(folders, run.built, run.host),
        false => diff(folders, run.host, run.built),
    };
    let used = diff.findings.iter();
    let used = used.filter(|it| run.part.uses(&it.api, &it.item));
    let outcomes = used.map(|finding| match is_older {
        true => finding.directions.old_on_new.outcome,
        false => finding.directions.new_on_old.outcome,
    });
    outcomes.collect()
}

fn diff(folders: &DataFolders, old: &str, new: &str) -> Diff {
    let reading = ReadOptions {
        folders,
        target: TARGET,
        apis: &[],
    };
    let side = |text: &str| {
        let operand = Operand::parse(text).expect("a release");
        operand.read(reading).expect("the release has snapshots")
    };
    sp_diff::diff(&side(old).surface, &side(new).surface, TARGET)
}

fn apis(folders: &DataFolders, release: &str) -> Vec<Api> {
    let release = release.parse().expect("a release");
    snapshots::read_apis(folders, release, &EMULATED_APIS).expect("the release has snapshots")
}

fn compiler() -> Result<(), String> {
    let version = Command::new("cc").arg("--version").output();
    version
        .map(drop)
        .map_err(|_| "this machine has no C compiler (cc)".into())
}

/// Returns the include root of a release's stored headers.
fn headers(folders: &DataFolders, release: &str) -> Result<PathBuf, String> {
    let stored = std::fs::read_dir(&folders.store)
        .into_iter()
        .flatten()
        .flatten();
    let prefix = format!("{release}.");
    let mut names = stored.filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix));
    let found = names.next().map(|entry| entry.path().join("include"));
    found.ok_or_else(|| {
        format!("the headers of {release} are not stored; `sp-gen import tensorflow {release}`")
    })
}

/// Builds the plugin. As plugins of vendors, it names the library with TensorFlow's functions.
fn plugin(folders: &DataFolders, run: &Run) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("reality");
    std::fs::create_dir_all(&folder).expect("the folder can be created");
    let framework = folder.join("libtensorflow_framework.so.2");
    let soname = "-Wl,-soname,libtensorflow_framework.so.2";
    cc(
        &framework,
        &[soname.into(), "-x".into(), "c".into(), "/dev/null".into()],
    );
    let source = match run.part {
        Part::Device | Part::WithoutTimers => "none",
        part => part.name(),
    };
    let timers = match run.part {
        Part::WithoutTimers => "-DNO_TIMERS",
        _ => "-DTIMERS",
    };
    let headers = headers(folders, run.built).expect("all releases are stored, or none");
    let minor = run.built.trim_start_matches("2.");
    let path = folder.join(format!("lib{}_{minor}.so", run.part.name()));
    let arguments = [
        format!("-DBUILT={minor}"),
        timers.into(),
        format!("-I{}", headers.display()),
        format!("{SOURCES}/device.c"),
        format!("{SOURCES}/{source}.c"),
        "-Wl,--no-as-needed".into(),
        framework.display().to_string(),
    ];
    cc(&path, &arguments);
    path
}

fn cc(library: &Path, arguments: &[String]) {
    let output = Command::new("cc")
        .args(["-std=gnu11", "-shared", "-fPIC", "-O1"])
        .args(arguments)
        .arg("-o")
        .arg(library)
        .output()
        .expect("the compiler runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
