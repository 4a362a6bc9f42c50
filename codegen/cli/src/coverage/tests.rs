//! Reports of recorded processes.

use super::process::RegisteredKernel;
use super::*;
use serde_json::{Value, json};
use std::io::Write as _;

/// A process with a plugin of sp-gen: a product of the author's, sums of the reference, of which one has staging copies, an op that
/// only the CPU has, one of another type, and one on both devices.
fn process() -> Value {
    json!({
        "argv": ["train.py"], "error": null, "release": "2.21.0", "devices": ["CPU", "XLA_CPU", "MYACCEL"],
        "nodes": [
            ["MatMul", "MYACCEL", {"T": "float"}, ["dense/a", "dense/b"]],
            ["Sum", "MYACCEL", {"T": "float", "Tidx": "int32"}, ["sum"]],
            ["Identity", "MYACCEL", {"T": "float"}, ["copy"]],
            ["_Arg", "MYACCEL", {"T": "float"}, ["x"]],
            ["StringLength", "CPU", {}, ["length"]],
            ["Erfinv", "CPU", {"T": "int16"}, ["erfinv"]],
            ["Mul", "MYACCEL", {"T": "float"}, []],
            ["Mul", "CPU", {"T": "int32"}, []],
            ["RangeDataset", "CPU", {}, ["range"]],
            ["Never", "CPU", {}, ["never"]],
        ],
        "executed": [
            ["dense/a", "MatMul", 3, 3_000], ["dense/b", "MatMul", 3, 5_000], ["sum", "Sum", 4, 4_000],
            ["copy", "Identity", 6, 60], ["x", "_Arg", 6, 900], ["length", "StringLength", 1, 700],
            ["erfinv", "Erfinv", 2, 900], ["range", "RangeDataset", 1, 10],
        ],
        "device": [["Sum", 4, 8_000], ["copy", 9, 9_000]],
        "eager": [["Mul", 5, 500], ["__inference_f", 3, 9_000]],
        "registered": {
            "Erfinv": [["CPU", {"T": ["int16"]}, ""], ["MYACCEL", {"T": ["float"]}, ""], ["MYACCEL", {"T": ["double"]}, ""]],
            "StringLength": [["CPU", {}, ""]],
            "Mul": [["MYACCEL", {"T": ["float"]}, ""], ["DEFAULT", {"T": ["int32"]}, ""]],
        },
        "plugins": [["/a/libmyaccel.so", "\
            MatMul T=TF_FLOAT calls=6 staged=0 staged_bytes=0 staged_us=0 owner=myaccel\n\
            Sum T=TF_FLOAT calls=3 staged=0 staged_bytes=0 staged_us=0 owner=sp_cpu\n\
            Sum T=TF_FLOAT,TF_DOUBLE calls=1 staged=1 staged_bytes=64 staged_us=2 owner=sp_cpu\n\
            Mul T=TF_FLOAT calls=2 staged=0 staged_bytes=0 staged_us=0 owner=sp_cpu\n"]],
    })
}

fn report(process: &Value) -> CoverageReport {
    CoverageReport::new(&[serde_json::from_value(process.clone()).unwrap()])
}

/// Returns op, class, calls and nanoseconds of all rows.
fn rows(report: &CoverageReport) -> Vec<(&str, Class, u64, u64)> {
    let rows = report.rows.iter();
    rows.map(|it| (&*it.op, it.class, it.calls, it.nanoseconds))
        .collect()
}

#[test]
fn each_op_has_the_kernel_that_computed_it() {
    let report = report(&process());
    let expected = [
        ("Sum", Class::Reference, 3, 6_000),
        ("Sum", Class::Staged, 1, 2_000),
        ("Erfinv", Class::Absent, 2, 900),
        ("StringLength", Class::Absent, 1, 700),
        ("Mul", Class::Cpu, 3, 300),
        ("Mul", Class::Reference, 2, 200),
        ("MatMul", Class::Own, 6, 8_000),
        ("Identity", Class::Core, 6, 60),
        ("RangeDataset", Class::Pipeline, 1, 10),
    ];
    assert_eq!(rows(&report), expected);
    let reasons = report.rows.iter().map(|it| it.reason.as_str());
    let reasons: Vec<&str> = reasons.filter(|it| !it.is_empty()).collect();
    let expected = [
        "no kernel for T=int16, only for double, float",
        "no kernel",
        "the program or TensorFlow's placer chose the CPU",
    ];
    assert_eq!(reasons, expected);
    assert_eq!(report.device_types.iter().collect::<Vec<_>>(), ["MYACCEL"]);
}

#[test]
fn kernels_of_a_plugin_without_report_are_the_authors() {
    let mut process = process();
    process["plugins"] = json!([["/a/libother.so", null]]);
    process["registered"]["MatMul"] = json!([["MYACCEL", {"T": ["float"]}, ""]]);
    let report = report(&process);
    let class = |op: &str| report.rows.iter().find(|it| it.op == op).unwrap().class;
    assert_eq!(
        (class("MatMul"), class("Identity")),
        (Class::Own, Class::Core)
    );
}

#[test]
fn processes_are_added() {
    let process: Vec<Process> = [process(), process()]
        .map(|it| serde_json::from_value(it).unwrap())
        .into();
    let report = CoverageReport::new(&process);
    let product = report.rows.iter().find(|it| it.op == "MatMul").unwrap();
    assert_eq!((product.calls, report.processes), (12, 2));
}

#[test]
fn text_has_shares_and_candidates_by_time() {
    let text = print_text(&report(&process()), false);
    let head = "TensorFlow 2.21.0, device type MYACCEL, 1 process, 0.0 ms of ops\n";
    assert!(text.starts_with(head), "{text}");
    let candidates = text.split("by time:\n").nth(1).unwrap();
    let ops: Vec<&str> = candidates
        .lines()
        .filter_map(|it| it.split(' ').next())
        .collect();
    assert_eq!(
        ops,
        ["op", "Sum", "Sum", "Erfinv", "StringLength", "Mul", "Mul"]
    );
    assert!(text.contains("1 of 1 calls copied 64 bytes"), "{text}");
}

#[test]
fn page_escapes_names() {
    let mut process = process();
    process["nodes"][4][0] = "<b>".into();
    process["executed"][5][1] = "<b>".into();
    let page = print_html(&report(&process)).unwrap();
    assert!(
        !page.contains("<b>") && page.contains("&#60;b&#62;"),
        "{page}"
    );
}

#[test]
fn worse_kernels_than_in_the_baseline_are_found() {
    let before = report(&process());
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(print_json(&before, &[]).as_bytes()).unwrap();
    let baseline = Baseline::read(file.path()).unwrap();
    assert_eq!(baseline.regressions(&before), []);
    let mut process = process();
    let text = process["plugins"][0][1].as_str().unwrap();
    process["plugins"][0][1] = text.replace("owner=myaccel", "owner=sp_cpu").into();
    process["nodes"][7][2]["T"] = "int8".into();
    let found = baseline.regressions(&report(&process));
    let found = found.iter().map(|it| (&*it.op, it.before, it.now));
    let expected = [
        ("MatMul", Some(Class::Own), Class::Reference),
        ("Mul", None, Class::Absent),
    ];
    assert_eq!(found.collect::<Vec<_>>(), expected);
}

#[test]
fn op_of_a_capture_is_no_regression_on_the_cpu_with_other_types() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let row = json!({"op": "Mul", "types": "T=float", "class": "own"});
    let before = json!({"schema": 1, "unknown_classes": ["cpu", "absent"], "rows": [row]});
    file.write_all(before.to_string().as_bytes()).unwrap();
    let baseline = Baseline::read(file.path()).unwrap();
    let mut process = process();
    process["nodes"][7][2]["T"] = "int8".into();
    let found = baseline.regressions(&report(&process));
    assert!(found.iter().all(|it| it.types != "T=int8"), "{found:?}");
    let float = found.iter().find(|it| it.op == "Mul");
    assert_eq!(float.map(|it| it.before), Some(Some(Class::Own)));
}

/// Returns op, types, calls and nanoseconds of the rows of an op.
fn rows_of(report: &CoverageReport, op: &str) -> Vec<(String, u64, u64)> {
    let rows = report.rows.iter().filter(|it| it.op == op);
    let mut rows: Vec<_> = rows
        .map(|it| (it.types.clone(), it.calls, it.nanoseconds))
        .collect();
    rows.sort();
    rows
}

#[test]
fn calls_of_a_kernel_of_all_types_are_those_of_the_nodes() {
    let mut process = process();
    process["nodes"] = json!([
        ["Cast", "MYACCEL", {"SrcT": "half", "DstT": "float"}, ["up"]],
        ["Cast", "MYACCEL", {"SrcT": "float", "DstT": "half"}, ["down", "again"]],
        ["Cast", "MYACCEL", {"SrcT": "int32", "DstT": "float"}, ["never"]],
        ["IdentityN", "MYACCEL", {"T": "float,int32"}, ["several"]],
        ["Fill", "MYACCEL", {"T": "float", "index_type": "int32"}, ["fill"]],
        ["Fill", "MYACCEL", {"T": "int32", "index_type": "int32"}, ["counts"]],
    ]);
    process["executed"] = json!([
        ["up", "Cast", 2, 200],
        ["down", "Cast", 3, 30],
        ["again", "Cast", 1, 10],
        ["several", "IdentityN", 1, 1],
        ["fill", "Fill", 5, 50],
        ["counts", "Fill", 2, 8],
    ]);
    process["device"] = json!([]);
    process["plugins"][0][1] = "\
        Cast calls=6 staged=0 staged_bytes=0 staged_us=0 owner=sp_cpu\n\
        IdentityN calls=1 staged=0 staged_bytes=0 staged_us=0 owner=sp_cpu\n\
        Fill calls=2 staged=0 staged_bytes=0 staged_us=0 owner=sp_cpu\n\
        Fill T=TF_FLOAT calls=5 staged=0 staged_bytes=0 staged_us=0 owner=myaccel\n"
        .into();
    let report = report(&process);
    let expected = [
        ("DstT=float SrcT=half", 2, 200),
        ("DstT=half SrcT=float", 4, 40),
    ];
    let expected = expected.map(|(types, calls, time)| (types.to_owned(), calls, time));
    assert_eq!(rows_of(&report, "Cast"), expected);
    assert_eq!(rows_of(&report, "IdentityN")[0].0, "T=float,int32");
    let fills = [
        ("T=float index_type=int32", 5, 50),
        ("T=int32 index_type=int32", 2, 8),
    ];
    let fills = fills.map(|(types, calls, time)| (types.to_owned(), calls, time));
    assert_eq!(rows_of(&report, "Fill"), fills);
    let classes = report.rows.iter().filter(|it| it.op == "Fill");
    let mut classes: Vec<_> = classes.map(|it| (it.class, it.calls)).collect();
    classes.sort_unstable();
    assert_eq!(classes, [(Class::Own, 5), (Class::Reference, 2)]);
}

/// An op on both devices: six calls in graphs and two in eager mode on the device, one in eager mode on the CPU.
#[test]
fn nodes_on_a_device_have_calls_and_time_of_its_profile() {
    let mut process = process();
    process["nodes"] = json!([
        ["Cast", "MYACCEL", {"SrcT": "half", "DstT": "float"}, ["f/up", "g/up"]],
        ["Cast", "MYACCEL", {"SrcT": "float", "DstT": "half"}, ["f/down", "Cast"]],
        ["Cast", "CPU", {"SrcT": "string", "DstT": "half"}, []],
    ]);
    process["executed"] = json!([]);
    process["eager"] = json!([["Cast", 3, 30]]);
    process["device"] = json!([["Cast", 8, 700]]);
    process["device_nodes"] = json!([
        ["f/up", "Cast", 2, 200],
        ["g/up", "Cast", 3, 300],
        ["f/down", "Cast", 1, 100],
        ["Cast", "Cast", 2, 100],
    ]);
    process["plugins"][0][1] =
        "Cast calls=8 staged=0 staged_bytes=0 staged_us=0 owner=sp_cpu\n".into();
    let expected = [
        ("DstT=float SrcT=half", 5, 500),
        ("DstT=half SrcT=float", 3, 200),
        ("DstT=half SrcT=string", 1, 10),
    ];
    let expected = expected.map(|(types, calls, time)| (types.to_owned(), calls, time));
    assert_eq!(rows_of(&report(&process), "Cast"), expected);
}

#[test]
fn kernel_without_an_executed_node_has_its_own_types() {
    let mut process = process();
    process["nodes"] = json!([["Sum", "MYACCEL", {"T": "int8"}, ["sum"]]]);
    let report = report(&process);
    assert_eq!(rows_of(&report, "Sum")[0].0, "T=float");
}

#[test]
fn type_list_is_served_if_all_its_types_are() {
    let kernel = RegisteredKernel(
        "MYACCEL".into(),
        [("T".to_owned(), vec!["float".to_owned(), "int32".to_owned()])].into(),
        String::new(),
    );
    let types = |text: &str| [("T".to_owned(), text.to_owned())].into();
    assert!(kernel.allows(&types("float,int32")) && !kernel.allows(&types("float,half")));
}
