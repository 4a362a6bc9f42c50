//! `sp-gen replay` of captures that these tests write, with plugins in C. Captures of TensorFlow are in
//! `tests/tensorflow/test_layer.py`.

#[allow(dead_code, reason = "the tests of sp-host use the rest")]
#[path = "../../../host/tests/c/mod.rs"]
mod c;
mod capture;
#[path = "../diff/schema.rs"]
mod schema;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use capture::{addition, failed_addition, omitted, report, sum, write};
use serde_json::Value;
use sp_layer::runtime::capture::format::{Content, Record};
use sp_tests::{assert_contains, root};
use tempfile::TempDir;

/// A folder with a capture, and a plugin; `None` if the machine has no C compiler.
struct Scene {
    folder: TempDir,
    plugin: PathBuf,
}

impl Scene {
    fn new(macros: &str, records: &[Record]) -> Option<Self> {
        let Some(compiler) = c::Compiler::find(&c::apis()) else {
            println!("skipped: this machine has no C compiler (cc)");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join("step.capture"), records);
        let plugin = compiler.plugin(macros);
        Some(Self { folder, plugin })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn replay(&self, capture: &str, options: &[&str]) -> Output {
        let plugin = self.plugin.to_str().unwrap();
        replay(
            &self.path(capture),
            &[&["--plugin", plugin], options].concat(),
        )
    }

    /// Returns the report in JSON, which is valid for its schema, and the exit status.
    #[track_caller]
    fn report(&self, capture: &str, options: &[&str]) -> (Value, i32) {
        let output = self.replay(capture, &[options, &["--format", "json"]].concat());
        let value: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {output:?}"));
        let path = root().join("codegen/docs/replay.schema.json");
        let schema = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        assert_eq!(schema::violations(&schema, &value), [""; 0]);
        (value, output.status.code().unwrap())
    }
}

fn replay(capture: &Path, options: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sp-gen"));
    command.arg("replay").arg(capture).args(options);
    command.output().unwrap()
}

#[track_caller]
fn assert_error(output: &Output, message: &str) {
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_contains(&String::from_utf8_lossy(&output.stderr), message);
}

/// Three calls that the plugin computes: one of an op with a kernel that has attributes, one that fails.
fn calls() -> Vec<Record> {
    let mut records = sum();
    records.extend([
        addition(&[1.0, 2.0], &[3.0, 4.5], &[4.0, 6.5]),
        failed_addition(),
    ]);
    records
}

#[test]
fn equal_calls_end_with_status_0() {
    for macros in ["GOOD", "ASYNC USE_BFC"] {
        let Some(scene) = Scene::new(macros, &calls()) else {
            return;
        };
        let (report, status) = scene.report("step.capture", &[]);
        assert_eq!((status, &report["equal"]), (0, &3.into()), "{report:#}");
        assert_eq!(report["findings"], Value::Array(vec![]));
        let ops = report["ops"].as_array().unwrap();
        assert!(ops.iter().any(|it| it["op"] == "Sum"), "{report:#}");
    }
}

#[test]
fn wrong_kernel_is_named_with_its_node_and_the_first_difference() {
    let Some(scene) = Scene::new("WRONG_ADD", &calls()) else {
        return;
    };
    let output = scene.replay("step.capture", &[]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let expected = "call 2: AddV2 \"model/add\" of FLOAT[2], FLOAT[2]: output 0 differs at [1]: expected 6.5, found 7.5 \
                    (1 of 2 elements)\n";
    assert_contains(&String::from_utf8_lossy(&output.stdout), expected);
    let (report, status) = scene.report("step.capture", &[]);
    assert_eq!((status, &report["different"]), (1, &1.into()), "{report:#}");
}

#[test]
fn tolerance_accepts_near_numbers_only() {
    let records = [addition(&[1.0], &[2.0], &[3.0001])];
    let Some(scene) = Scene::new("GOOD", &records) else {
        return;
    };
    for (options, expected) in [
        (&[][..], 1),
        (&["--tolerance", "1e-3"], 0),
        (&["--tolerance", "1e-6"], 1),
    ] {
        assert_eq!(
            scene.report("step.capture", options).1,
            expected,
            "{options:?}"
        );
    }
    let output = scene.replay("step.capture", &["--tolerance", "-1"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn call_that_ends_the_process_is_a_finding_and_the_next_ones_are_repeated() {
    let add = || addition(&[1.0], &[2.0], &[3.0]);
    let Some(scene) = Scene::new("ADD_ENDS", &[add(), add(), add()]) else {
        return;
    };
    let (report, status) = scene.report("step.capture", &[]);
    assert_eq!(status, 1, "{report:#}");
    assert_eq!([&report["equal"], &report["failed"]], [&2, &1]);
    let finding = &report["findings"][0];
    assert_eq!(finding["call"], 2);
    assert_contains(
        finding["detail"].as_str().unwrap(),
        "the kernel did not return",
    );
}

#[test]
fn call_that_does_not_return_is_a_finding() {
    let Some(scene) = Scene::new("ADD_HANGS", &[addition(&[1.0], &[2.0], &[3.0])]) else {
        return;
    };
    let (report, status) = scene.report("step.capture", &["--timeout", "3"]);
    assert_eq!(status, 1, "{report:#}");
    let detail = report["findings"][0]["detail"].as_str().unwrap();
    assert_contains(detail, "no result in 3 seconds");
}

#[test]
fn reduced_capture_has_the_calls_that_the_failure_needs() {
    let add = || addition(&[1.0], &[2.0], &[3.0]);
    let mut records = sum();
    records.extend((0..6).map(|_| add()));
    for (macros, count) in [("WRONG_ADD", 1), ("WRONG_THIRD_ADD", 3)] {
        let Some(scene) = Scene::new(macros, &records) else {
            return;
        };
        let small = scene.path("small.capture").display().to_string();
        let output = scene.replay("step.capture", &["--reduce", &small]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let (report, status) = scene.report("small.capture", &[]);
        assert_eq!((status, &report["calls"]), (1, &count.into()), "{report:#}");
        assert_eq!(report["findings"][0]["op"], "AddV2");
        let again = scene.replay("step.capture", &["--reduce", &small]);
        assert_error(&again, "[sp_gen::replay::existing_file]");
    }
}

#[test]
fn values_that_do_not_fit_their_type_and_shape_are_not_compared() {
    let Record::Computed(mut strings) = addition(&[1.0], &[2.0], &[3.0]) else {
        unreachable!("it is a call");
    };
    let Some(output) = &mut strings.outputs[0] else {
        unreachable!("it is set");
    };
    output.content = Content::Strings(vec![b"3".to_vec()]);
    let mut overflowing = strings.clone();
    overflowing.inputs[0].dims = vec![i64::MAX, 2, 0];
    overflowing.inputs[0].content = Content::Bytes(vec![]);
    let records = [strings, overflowing].map(Record::Computed);
    let Some(scene) = Scene::new("GOOD", &records) else {
        return;
    };
    let output = scene.replay("step.capture", &[]);
    assert_error(&output, "could be compared");
    let reported = String::from_utf8_lossy(&output.stdout);
    assert_eq!(
        reported.matches("has another size").count(),
        2,
        "{reported}"
    );
}

#[test]
fn nothing_to_compare_is_no_success() {
    let Some(scene) = Scene::new("GOOD", &[omitted("it is asynchronous")]) else {
        return;
    };
    let output = scene.replay("step.capture", &["--call", "1"]);
    assert_error(&output, "call 1 of");
    let output = scene.replay("step.capture", &[]);
    assert_error(&output, "nothing in");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_contains(&stdout, "not compared: 1, not captured: it is asynchronous");
    write(&scene.path("empty.capture"), &[]);
    assert_error(
        &scene.replay("empty.capture", &[]),
        "has no call of a kernel",
    );
}

#[test]
fn rejects_files_that_are_no_complete_capture() {
    let Some(scene) = Scene::new("GOOD", &calls()) else {
        return;
    };
    let whole = std::fs::read(scene.path("step.capture")).unwrap();
    let mut damaged = whole.clone();
    damaged[40] ^= 1;
    let mut newer = whole.clone();
    newer[8] = 3;
    let files: [(&str, &[u8], &str); 5] = [
        (
            "cut",
            &whole[..whole.len() - 1],
            "is truncated: it ends after 6 complete records",
        ),
        ("short", &whole[..10], "is truncated"),
        (
            "damaged",
            &damaged,
            "is damaged: the record after the first 0",
        ),
        ("newer", &newer, "is a capture of format 3"),
        ("text", b"import tensorflow as tf\n", "is no capture"),
    ];
    for (name, bytes, message) in files {
        std::fs::write(scene.path(name), bytes).unwrap();
        assert_error(&scene.replay(name, &[]), message);
    }
    assert_error(&scene.replay("absent", &[]), "cannot read");
}

#[test]
fn plugin_that_cannot_be_loaded_or_has_no_kernel_is_reported() {
    let Some(mut scene) = Scene::new("GOOD", &[addition(&[1.0], &[2.0], &[3.0])]) else {
        return;
    };
    write(
        &scene.path("other.capture"),
        &[capture::call("Mul", &[1.0], &[2.0], &[2.0])],
    );
    let output = scene.replay("other.capture", &[]);
    assert_error(&output, "nothing in");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_contains(
        &stdout,
        "not compared: 1, the plugin registered no kernel for Mul",
    );
    for plugin in [
        "/nonexistent.so",
        concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
    ] {
        scene.plugin = Path::new(plugin).to_owned();
        assert_error(&scene.replay("step.capture", &[]), "cannot load the plugin");
    }
}

#[test]
fn one_call_is_repeated_with_its_kernel_and_another_number_is_rejected() {
    let Some(scene) = Scene::new("WRONG_ADD", &calls()) else {
        return;
    };
    for (call, op, expected) in [("1", "Sum", 0), ("2", "AddV2", 1)] {
        let (report, status) = scene.report("step.capture", &["--call", call]);
        assert_eq!((status, &report["calls"]), (expected, &1.into()));
        assert_eq!(report["ops"][0]["op"], op, "{report:#}");
    }
    let output = scene.replay("step.capture", &["--call", "4"]);
    assert_error(&output, "has no call 4: its calls have the numbers 1 to 3");
    assert_error(&scene.replay("step.capture", &["--call", "0"]), "0 is not");
}

#[test]
fn list_has_a_line_for_each_call_with_the_author_of_its_kernel() {
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("step.capture");
    let mut records = calls();
    records.push(omitted("it is asynchronous"));
    let unknown = "\
        1 Sum \"model/sum\" (FLOAT[3], INT32[1]) -> (FLOAT[]) unknown\n\
        2 AddV2 \"model/add\" (FLOAT[2], FLOAT[2]) -> (FLOAT[2]) unknown\n\
        3 AddV2 \"model/add\" (FLOAT[1], FLOAT[2]) -> () unknown, failed: the shapes differ\n\
        4 Neg \"\" () -> () unknown, not captured: it is asynchronous\n";
    write(&capture, &records);
    let list = || String::from_utf8(replay(&capture, &["--list"]).stdout).unwrap();
    assert_eq!(list(), unknown);
    records.extend([Record::Report(report()), Record::Cut(4 << 30)]);
    write(&capture, &records);
    let known = unknown.replacen("unknown", "staged", 1);
    let known = known
        .replacen("unknown", "reference", 2)
        .replacen("unknown", "own", 1);
    assert_eq!(
        list(),
        known + "the capture of this process was cut at 4 GiB\n"
    );
    write(&capture, &[]);
    assert_error(&replay(&capture, &["--list"]), "has no call of a kernel");
    let output = replay(&capture, &["--list", "--call", "1"]);
    assert_error(&output, "cannot be used with");
    assert_error(&replay(&capture, &[]), "--plugin <LIB>");
}

#[test]
fn report_states_that_the_capture_was_cut_and_a_reduced_one_is_whole() {
    let mut records = calls();
    records.extend([Record::Report(report()), Record::Cut(4096)]);
    let Some(scene) = Scene::new("WRONG_ADD", &records) else {
        return;
    };
    let small = scene.path("small.capture").display().to_string();
    let output = scene.replay("step.capture", &["--reduce", &small]);
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_contains(&stdout, "the capture was cut at 4 KiB");
    let limit = |capture| scene.report(capture, &[]).0["capture_limit"].clone();
    assert_eq!(limit("step.capture"), 4096);
    assert_eq!(limit("small.capture"), Value::Null);
    let output = replay(&scene.path("small.capture"), &["--list"]);
    let line = "1 AddV2 \"model/add\" (FLOAT[2], FLOAT[2]) -> (FLOAT[2]) reference\n";
    assert_eq!(String::from_utf8_lossy(&output.stdout), line);
    let bytes = std::fs::read(scene.path("small.capture")).unwrap();
    assert!(!String::from_utf8_lossy(&bytes).contains("Sum T=TF_FLOAT"));
}
