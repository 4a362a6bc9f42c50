//! The diff's word held against what happens: plain C plugins that trust the headers of one release run
//! on the host of another, and the outcome seen must be the one that the diff predicts.
//!
//! A test without a harness, since each run is a child: this program again.

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
    seen: Outcome,
    /// Words of what was seen; empty where it works.
    words: &'static str,
}

/// What the plugin does, besides being a device.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// Nothing.
    Device,
    /// Nothing, and it has no timers, which newer releases do not ask for.
    Timeless,
    /// It optimizes graphs.
    Graph,
    /// It has a kernel that assigns to a variable.
    Variable,
}

const fn run(
    built: &'static str,
    host: &'static str,
    part: Part,
    seen: Outcome,
    words: &'static str,
) -> Run {
    Run {
        built,
        host,
        part,
        seen,
        words,
    }
}

/// Both ways across every release that broke something, and across some that did not.
const RUNS: &[Run] = &[
    run(
        "2.6",
        "2.7",
        Part::Device,
        Outcome::Rejected,
        "'host_callback' field in SP_StreamExecutor must be set",
    ),
    run(
        "2.7",
        "2.6",
        Part::Device,
        Outcome::CorruptsMemory,
        "byte 264 of SP_StreamExecutor",
    ),
    run(
        "2.5",
        "2.21",
        Part::Device,
        Outcome::Rejected,
        "'host_callback' field in SP_StreamExecutor must be set",
    ),
    run(
        "2.21",
        "2.5",
        Part::Device,
        Outcome::CorruptsMemory,
        "byte 264 of SP_StreamExecutor",
    ),
    run("2.8", "2.9", Part::Device, Outcome::Works, ""),
    run("2.9", "2.8", Part::Device, Outcome::Works, ""),
    run("2.7", "2.21", Part::Device, Outcome::Works, ""),
    run("2.13", "2.14", Part::Device, Outcome::Works, ""),
    run(
        "2.14",
        "2.13",
        Part::Timeless,
        Outcome::Rejected,
        "'create_timer_fns' field in SP_PlatformFns must be set",
    ),
    run("2.15", "2.21", Part::Timeless, Outcome::Works, ""),
    run("2.21", "2.15", Part::Timeless, Outcome::Works, ""),
    run(
        "2.5",
        "2.6",
        Part::Graph,
        Outcome::WrongArguments,
        "not a live TF_Status",
    ),
    run(
        "2.6",
        "2.5",
        Part::Graph,
        Outcome::WrongArguments,
        "not a live TF_Status",
    ),
    run(
        "2.9",
        "2.10",
        Part::Graph,
        Outcome::ReadsWrongMember,
        "pin_to_host_optimization",
    ),
    run(
        "2.10",
        "2.9",
        Part::Graph,
        Outcome::CorruptsMemory,
        "byte 88 of TP_OptimizerConfigs",
    ),
    run("2.10", "2.12", Part::Graph, Outcome::Works, ""),
    run(
        "2.9",
        "2.10",
        Part::Variable,
        Outcome::WrongArguments,
        "not a live TF_Status",
    ),
    run(
        "2.10",
        "2.9",
        Part::Variable,
        Outcome::WrongArguments,
        "not a live TF_Status",
    ),
    run("2.10", "2.18", Part::Variable, Outcome::Works, ""),
];

fn main() {
    let folders = DataFolders::find(Path::new(SOURCES)).expect("this is a checkout");
    if let Some(release) = sp_host::child_release() {
        let apis = apis(&folders, &release);
        let parts = [Part::Device, Part::Timeless, Part::Graph, Part::Variable];
        let suite = Suite::new(&apis, PathBuf::new());
        parts.into_iter().fold(suite, with).own_tests();
        unreachable!("a child ends with its test");
    }
    // SAFETY: no other thread runs yet.
    unsafe { std::env::set_var("SP_HOST_SECONDS", "5") };
    if let Err(why) = compiler().and_then(|()| headers(&folders, "2.5").map(drop)) {
        println!("skipped: {why}");
        return;
    }
    let wrong: Vec<String> = RUNS.iter().filter_map(|run| judge(&folders, run)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    verified(&folders);
}

/// The command says the same: of one plugin, good on the release it was built for, and not on an older.
fn verified(folders: &DataFolders) {
    let plugin = plugin(folders, &RUNS[3]);
    for (release, status, said) in [("2.21", 0, "pass"), ("2.5", 1, "fail")] {
        let ran = Command::new(env!("CARGO_BIN_EXE_sp-gen"))
            .arg("verify")
            .arg(&plugin)
            .args(["--release", release, "--format", "json"])
            .output()
            .expect("the command runs");
        let report: Value = serde_json::from_slice(&ran.stdout).expect("JSON");
        let failed = || {
            let rows = report["rows"].as_array().expect("a list").iter();
            rows.filter(|row| row["status"] == "fail")
                .collect::<Vec<_>>()
        };
        assert_eq!(ran.status.code(), Some(status), "{:#?}", failed());
        let mut rows = report["rows"].as_array().expect("a list").iter();
        let bounds = rows
            .find(|row| row["check"] == "struct_bounds")
            .expect("it is asked");
        assert_eq!(bounds["status"], said, "{bounds}");
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
        Part::Device | Part::Timeless => adds,
        Part::Graph => optimizes,
        Part::Variable => assigns,
    };
    suite.test(part.name(), body)
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Timeless => "timeless",
            Self::Graph => "graph",
            Self::Variable => "variable",
        }
    }

    /// Whether the plugin has to do with an item.
    fn uses(self, api: &str, item: &str) -> bool {
        match self {
            Self::Device => api == "stream_executor" && !is_timer(item),
            Self::Timeless => api == "stream_executor",
            Self::Graph => api == "grappler" && item.starts_with("TP_Optimizer"),
            Self::Variable => item.split('(').next() == Some("TF_AssignVariable"),
        }
    }
}

/// What a plugin that sets its timers never meets.
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

/// What is wrong, where the outcome is not the one written down, or the diff predicts another.
fn judge(folders: &DataFolders, run: &Run) -> Option<String> {
    let (built, host) = (run.built, run.host);
    let apis = apis(folders, host);
    let suite = Suite::new(&apis, plugin(folders, run));
    let row = with(suite, run.part).own_tests().remove(0);
    let name = run.part.name();
    println!("{name} of {built} on {host}: {row}");
    let seen = match row.status {
        CheckStatus::Pass => Some(Outcome::Works),
        _ => outcome(&row.detail),
    };
    let predicted = predicted(folders, run);
    let expected = seen == Some(run.seen) && row.detail.contains(run.words);
    let agreed = seen.is_some_and(|seen| agrees(seen, &predicted));
    (!expected || !agreed).then(|| {
        format!("{name} of {built} on {host}: {row}; seen {seen:?}, predicted {predicted:?}")
    })
}

/// What the words of a failure come to.
fn outcome(detail: &str) -> Option<Outcome> {
    let words = [
        ("past its end", Outcome::CorruptsMemory),
        ("must be set", Outcome::Rejected),
        ("not a live TF_Status", Outcome::WrongArguments),
        ("switched off is", Outcome::ReadsWrongMember),
        // sp-host reports it; TensorFlow looks only if a size is 0.
        ("struct_size is", Outcome::Works),
    ];
    let found = words.iter().find(|(words, _)| detail.contains(words));
    found.map(|(_, outcome)| *outcome)
}

/// A refusal comes before any call, so it hides a worse outcome.
fn agrees(seen: Outcome, predicted: &[Outcome]) -> bool {
    let worst = predicted.iter().max().copied().unwrap_or(Outcome::Works);
    match seen {
        Outcome::Works => worst <= Outcome::WorksWithout,
        Outcome::Rejected => predicted.contains(&Outcome::Rejected),
        seen => seen == worst,
    }
}

/// What the diff says of the part, in the direction of the run.
fn predicted(folders: &DataFolders, run: &Run) -> Vec<Outcome> {
    let minor = |release: &str| release.parse::<Release>().expect("a release");
    let is_older = minor(run.built) < minor(run.host);
    let diff = match is_older {
        true => diff(folders, run.built, run.host),
        false => diff(folders, run.host, run.built),
    };
    let used = diff
        .findings
        .iter()
        .filter(|it| run.part.uses(&it.api, &it.item));
    let outcomes = used.map(|finding| match is_older {
        true => finding.directions.old_on_new.outcome,
        false => finding.directions.new_on_old.outcome,
    });
    outcomes.collect()
}

fn diff(folders: &DataFolders, old: &str, new: &str) -> Diff {
    let reading = ReadOptions {
        folders: folders,
        target: TARGET,
        apis: &[],
    };
    let side = |text: &str| {
        let operand = Operand::parse(text).expect("a release");
        operand.read(reading).expect("its snapshots are there")
    };
    sp_diff::diff(&side(old).surface, &side(new).surface, TARGET)
}

fn apis(folders: &DataFolders, release: &str) -> Vec<Api> {
    let release = release.parse().expect("a release");
    snapshots::read_apis(folders, release, &EMULATED_APIS).expect("its snapshots are there")
}

fn compiler() -> Result<(), String> {
    let version = Command::new("cc").arg("--version").output();
    version
        .map(drop)
        .map_err(|_| "this machine has no C compiler (cc)".into())
}

/// The include root of a release's stored headers.
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

/// The plugin, as vendors link theirs: the library that has its functions is among those it needs.
fn plugin(folders: &DataFolders, run: &Run) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("reality");
    std::fs::create_dir_all(&folder).expect("the folder is made");
    let framework = folder.join("libtensorflow_framework.so.2");
    let soname = "-Wl,-soname,libtensorflow_framework.so.2";
    cc(
        &framework,
        &[soname.into(), "-x".into(), "c".into(), "/dev/null".into()],
    );
    let more = match run.part {
        Part::Device | Part::Timeless => "none",
        part => part.name(),
    };
    let timers = match run.part {
        Part::Timeless => "-DNO_TIMERS",
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
        format!("{SOURCES}/{more}.c"),
        "-Wl,--no-as-needed".into(),
        framework.display().to_string(),
    ];
    cc(&path, &arguments);
    path
}

fn cc(output: &Path, arguments: &[String]) {
    let ran = Command::new("cc")
        .args(["-std=gnu11", "-shared", "-fPIC", "-O1"])
        .args(arguments)
        .arg("-o")
        .arg(output)
        .output()
        .expect("the compiler runs");
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
}
