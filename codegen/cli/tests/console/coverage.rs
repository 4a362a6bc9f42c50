//! `sp-gen coverage` with programs that write the record of a process as the recorder does. `test_coverage.py` has real ones.

use crate::scene::Scene;
use crate::schema::violations;
use crate::{run, sp_gen};
use serde_json::{Value, json};
use sp_tests::root;
use std::path::PathBuf;

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
    let schema = std::fs::read_to_string(root().join("codegen/docs/coverage.schema.json"));
    let schema = serde_json::from_str(&schema.unwrap()).unwrap();
    assert_eq!(violations(&schema, &value), [""; 0]);
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
