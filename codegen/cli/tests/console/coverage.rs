//! `sp-gen coverage` with programs that write the record of a process as the recorder does. `test_coverage.py` has real ones.

use crate::capture;
use crate::scene::Scene;
use crate::schema::violations;
use crate::{run, sp_gen};
use serde_json::{Value, json};
use sp_layer::runtime::capture::format::Record;
use sp_tests::root;
use std::path::PathBuf;

fn schema() -> Value {
    let text = std::fs::read_to_string(root().join("codegen/docs/coverage.schema.json"));
    serde_json::from_str(&text.unwrap()).unwrap()
}

/// Writes a record: a product of `owner`.
fn record(scene: &Scene, owner: &str) -> PathBuf {
    let calls =
        format!("MatMul T=TF_FLOAT calls=2 staged=0 staged_bytes=0 staged_us=0 owner={owner}\n");
    let record = json!({
        "argv": ["train.py"], "error": null, "release": "2.21.0", "devices": ["CPU", "MYACCEL"],
        "nodes": [["MatMul", "MYACCEL", {"T": "float"}, ["a"]], ["Erf", "CPU", {"T": "half"}, ["b"]]],
        "executed": [["a", "MatMul", 2, 3000], ["b", "Erf", 1, 1000]], "eager": [], "registered": {},
        "plugins": [["/libmyaccel.so", calls]],
    });
    let path = scene.path(&format!("{owner}.json"));
    std::fs::write(&path, record.to_string()).unwrap();
    path
}

/// Runs `coverage` for a program of the shell. Returns exit status, stdout and stderr.
fn coverage(scene: &Scene, options: &[&str], program: &str) -> (i32, String, String) {
    let command = ["--", "sh", "-c", program];
    let arguments = [&["coverage"], options, &command].concat();
    run(&mut sp_gen(scene, &arguments))
}

/// Returns a program that writes the record and prints a line.
fn writes(record: &std::path::Path) -> String {
    let record = record.display();
    format!("cp '{record}' \"$SP_COVERAGE_FOLDER/1.json\" && echo trained")
}

#[test]
fn report_is_the_only_output_and_valid_for_its_schema() {
    let scene = Scene::new();
    let program = writes(&record(&scene, "sp_cpu"));
    let (status, stdout, stderr) = coverage(&scene, &["--format", "json"], &program);
    assert_eq!((status, &*stderr), (0, "trained\n"));
    let value: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(violations(&schema(), &value), [""; 0]);
    assert_eq!(value["rows"].as_array().unwrap().len(), 2);
}

#[test]
fn worse_kernel_than_in_the_baseline_has_status_1() {
    let scene = Scene::new();
    let baseline = scene.path("base.json");
    let own = writes(&record(&scene, "myaccel"));
    let (_, before, _) = coverage(&scene, &["--format", "json"], &own);
    std::fs::write(&baseline, before).unwrap();
    let compare = ["--baseline", baseline.to_str().unwrap()];
    assert_eq!(coverage(&scene, &compare, &own).0, 0);
    let reference = writes(&record(&scene, "sp_cpu"));
    let (status, stdout, _) = coverage(&scene, &compare, &reference);
    let line = "MatMul T=float: own in the baseline, reference now\n";
    assert!(status == 1 && stdout.ends_with(line), "{stdout}");
}

#[test]
fn program_that_fails_has_status_1_and_its_ops() {
    let scene = Scene::new();
    let program = writes(&record(&scene, "myaccel")) + "; exit 3";
    let (status, stdout, stderr) = coverage(&scene, &[], &program);
    assert_eq!(status, 1);
    assert!(stdout.contains("Erf"), "{stdout}");
    let warning = "the program failed (exit status: 3): the report has the ops up to then";
    assert!(stderr.contains(warning), "{stderr}");
}

#[test]
fn without_a_record_or_a_valid_one_nothing_is_printed() {
    let scene = Scene::new();
    let broken = "echo '{}' > \"$SP_COVERAGE_FOLDER/1.json\"";
    for (program, words) in [
        ("true", "no process used TensorFlow"),
        (broken, "[sp_gen::coverage::invalid_record]"),
    ] {
        let (status, stdout, stderr) = coverage(&scene, &[], program);
        assert_eq!((status, &*stdout), (2, ""));
        assert!(stderr.contains(words), "{stderr}");
    }
    let arguments = ["coverage", "--", "no-such-program"];
    let (status, _, stderr) = run(&mut sp_gen(&scene, &arguments));
    assert!(
        status == 2 && stderr.contains("cannot start no-such-program"),
        "{stderr}"
    );
    let file = scene.path("other.json");
    std::fs::write(&file, "{\"schema\": 7, \"rows\": []}").unwrap();
    let (status, _, stderr) = coverage(&scene, &["--baseline", file.to_str().unwrap()], "true");
    assert!(
        status == 2 && stderr.contains("schema 7, expected 1"),
        "{stderr}"
    );
}

/// The output of `coverage` for [`capture_of_calls`].
const CAPTURE: &str = "\
TensorFlow 2.21, device type TEST, 1 process, 0.0 ms of ops

own          0.0%         1 calls     1 ops and types   a kernel of the plugin's author
core            -           unknown: not in a capture   a kernel of TensorFlow's for every device
pipeline        -           unknown: not in a capture   the CPU: an op of tf.data
reference  100.0%         2 calls     1 ops and types   a kernel of the reference backend
staged       0.0%         1 calls     1 ops and types   a kernel on host memory, with staging copies
cpu             -           unknown: not in a capture   the CPU, although the device has a kernel
absent          -           unknown: not in a capture   the CPU, since the device has no kernel

without a kernel of the author, by time:
op     types               kernel     calls    ms   share  why
AddV2  T=float             reference      2  0.00  100.0%
Sum    T=float Tidx=int32  staged         1  0.00    0.0%  1 of 1 calls copied 16 bytes
";

/// Writes a capture with a kernel of the reference, one with staging copies, and one of the author.
fn capture_of_calls(scene: &Scene, records: impl IntoIterator<Item = Record>) -> String {
    let add = || capture::addition(&[1.0], &[2.0], &[3.0]);
    let mut all = capture::sum();
    all.extend([add(), add(), capture::omitted("it is asynchronous")]);
    all.extend(records);
    let path = scene.path("step.capture");
    capture::write(&path, &all);
    path.display().to_string()
}

#[test]
fn capture_has_the_kernels_of_the_plugin_and_the_rest_is_unknown() {
    let scene = Scene::new();
    let path = capture_of_calls(&scene, [Record::Report(capture::report())]);
    let coverage = |options: &[&str]| {
        run(&mut sp_gen(
            &scene,
            &[&["coverage", &path], options].concat(),
        ))
    };
    assert_eq!(coverage(&[]), (0, CAPTURE.into(), String::new()));
    let (status, json, _) = coverage(&["--format", "json"]);
    let value: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((status, violations(&schema(), &value)), (0, vec![]));
    let unknown = json!(["core", "pipeline", "cpu", "absent"]);
    assert_eq!(value["unknown_classes"], unknown);
    assert_eq!(value["classes"].as_array().unwrap().len(), 3);
    let (_, page, _) = coverage(&["--format", "html"]);
    assert!(
        page.contains("A capture has the calls of the plugin's kernels only"),
        "{page}"
    );

    // A report of a capture as a baseline: an op on the CPU may have run before.
    std::fs::write(scene.path("base.json"), json).unwrap();
    let program = writes(&record(&scene, "sp_cpu"));
    let (status, stdout, _) = self::coverage(&scene, &["--baseline", "base.json"], &program);
    assert_eq!(status, 0, "{stdout}");
}

#[test]
fn capture_that_was_cut_or_has_no_owners_is_reported() {
    let scene = Scene::new();
    let path = capture_of_calls(&scene, [Record::Cut(1 << 20)]);
    let (status, stdout, stderr) = run(&mut sp_gen(&scene, &["coverage", &path]));
    assert_eq!(status, 0, "{stderr}");
    assert!(
        stdout.contains("own        100.0%         4 calls"),
        "{stdout}"
    );
    let lines = [
        "the calls after its limit of 1 MiB",
        "the authors of the kernels",
    ];
    assert!(lines.iter().all(|it| stderr.contains(it)), "{stderr}");
}

#[test]
fn input_that_is_none_has_status_2() {
    let scene = Scene::new();
    let path = |name: &str| scene.path(name).display().to_string();
    let whole = capture_of_calls(&scene, []);
    std::fs::write(path("train.py"), "import tensorflow as tf\n").unwrap();
    std::fs::create_dir(path("folder")).unwrap();
    std::fs::create_dir(path("model")).unwrap();
    std::fs::write(path("model/saved_model.pb"), "").unwrap();
    let bytes = std::fs::read(&whole).unwrap();
    std::fs::write(path("short"), &bytes[..bytes.len() - 1]).unwrap();
    capture::write(&scene.path("empty"), &[]);
    let cases: [(&[&str], &str); 9] = [
        (&["absent"], "cannot read absent"),
        (
            &["train.py"],
            "train.py is neither a SavedModel nor a capture",
        ),
        (
            &["folder"],
            "folder is no SavedModel: it has no saved_model.pb",
        ),
        (&["short"], "short is truncated"),
        (&["empty"], "empty has no call of a kernel"),
        (
            &["step.capture", "--seconds", "3"],
            "--python and --seconds do not apply",
        ),
        (
            &["model", "--python", "no-such-python"],
            "cannot start no-such-python",
        ),
        (
            &["model", "--python", "false"],
            "false ended (exit status: 1) before it called a signature",
        ),
        (&["step.capture", "--", "true"], "cannot be used with"),
    ];
    for (arguments, message) in cases {
        let (status, stdout, stderr) =
            run(&mut sp_gen(&scene, &[&["coverage"], arguments].concat()));
        assert_eq!((status, &*stdout), (2, ""), "{arguments:?}: {stderr}");
        assert!(stderr.contains(message), "{arguments:?}: {stderr}");
    }
    assert_eq!(run(&mut sp_gen(&scene, &["coverage"])).0, 2);
}
