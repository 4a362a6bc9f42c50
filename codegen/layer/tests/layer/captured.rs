//! Captures of plugins in sp-host. Captures of TensorFlow are in `tests/tensorflow/test_layer.py`.

use std::fs::File;

use sp_layer::capture::{CaptureReader, join};
use sp_layer::runtime::capture::format::{Computed, Content, Record, size_text};
use sp_layer::runtime::settings::variable;

use crate::c::{Compiler, apis_of};
use crate::process::{findings_of, steps};

fn records(release: &str, macros: &str) -> Vec<Record> {
    captured(release, macros, None).0
}

/// Runs the steps of a plugin and returns the records of its capture, which has a limit in bytes, and the layer's lines.
fn captured(release: &str, macros: &str, limit: Option<u64>) -> (Vec<Record>, Vec<String>) {
    let compiler = Compiler::find(&apis_of(release)).expect("it was there");
    let folder = tempfile::tempdir().expect("a folder is made");
    let parts = folder.path().join("parts");
    std::fs::create_dir(&parts).expect("the folder is made");
    let mut command = steps(release, &compiler.plugin(macros), "life");
    command.env(variable::CAPTURE, parts.join("process"));
    command.envs(limit.map(|it| (variable::CAPTURE_LIMIT, it.to_string())));
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{release} {macros}: {output:?}");
    let file = folder.path().join("capture");
    let empty = File::create(&file).expect("the file is created");
    let joined = join(&parts, &file, empty).expect("the parts are read");
    assert_eq!((joined.cut, joined.limit.is_some()), (0, limit.is_some()));
    let mut reader = CaptureReader::open(&file).expect("the file is read");
    let next = || reader.next_record().expect("the file is complete");
    let records = std::iter::from_fn(next).map(|(record, _)| record);
    (records.collect(), findings_of(&output))
}

fn find<'a>(records: &'a [Record], op: &str) -> &'a Computed {
    let calls = records.iter().filter_map(|it| match it {
        Record::Computed(call) => Some(call),
        _ => None,
    });
    let mut calls = calls.filter(|it| it.op == op);
    calls
        .next()
        .unwrap_or_else(|| panic!("no call of {op}: {records:?}"))
}

fn bytes(values: &[f32]) -> Content {
    Content::Bytes(values.iter().flat_map(|it| it.to_le_bytes()).collect())
}

pub fn capture_has_inputs_and_outputs_by_value(release: &str) {
    for macros in ["GOOD", "USE_BFC", "ASYNC", "ASYNC USE_BFC"] {
        let records = records(release, macros);
        let name = format!("{release} {macros}");
        let add = find(&records, "AddV2");
        assert_eq!(add.omitted, "", "{name}");
        assert_eq!(add.inputs[0].content, bytes(&[1.0; 3]), "{name}");
        assert!(add.inputs[0].is_on_device, "{name}");
        let output = add.outputs[0].as_ref().expect("the kernel sets it");
        assert_eq!(output.content, bytes(&[2.0; 3]), "{name}");
        assert_eq!((&output.dims, output.is_on_device), (&vec![3], true));
        let sum = find(&records, "Sum");
        assert!(!sum.inputs[1].is_on_device, "{name}");
        let output = sum.outputs[0].as_ref().expect("the kernel sets it");
        assert_eq!((&output.content, output.dims.len()), (&bytes(&[3.0]), 0));
        let created = |record: &Record| matches!(record, Record::Created(it) if it.kernel == sum.kernel && !it.node_def.is_empty());
        assert!(records.iter().any(created), "{name}: {records:?}");
        let registered = |record: &Record| matches!(record, Record::Registered(it) if it.host_memory == ["reduction_indices"]);
        assert!(records.iter().any(registered), "{name}: {records:?}");
        assert!(records.contains(&Record::Deleted(sum.kernel)), "{name}");
    }
    println!("{release}: captures have inputs and outputs by value");
}

/// From 2.13 on the plugin has an asynchronous kernel.
pub fn asynchronous_kernel_is_omitted_with_its_reason(release: &str) {
    if release != "2.12" {
        let records = records(release, "GOOD");
        assert_eq!(find(&records, "Neg").omitted, "it is asynchronous");
    }
}

/// The limit is reached by the records of the kernels' registrations, or by a call.
pub fn capture_ends_at_its_limit_and_states_it(release: &str) {
    let whole = records(release, "GOOD");
    let computed = |it: &&Record| matches!(it, Record::Computed(_));
    let calls = whole.iter().filter(computed).count();
    let last = whole
        .iter()
        .rposition(|it| computed(&it))
        .expect("kernels have computed");
    let size: usize = whole[..=last].iter().map(|it| it.to_bytes().len()).sum();
    for limit in [1, size as u64 - 1] {
        let (records, lines) = captured(release, "GOOD", Some(limit));
        let [.., report, cut] = &records[..] else {
            panic!("{release}: {records:?}");
        };
        // The plugin has no report.
        assert_eq!(
            (report, cut),
            (&Record::Report(String::new()), &Record::Cut(limit))
        );
        assert!(records.iter().filter(computed).count() < calls, "{release}");
        let [line] = &lines[..] else {
            panic!("{release}: {lines:?}");
        };
        let expected = format!("the capture has reached its limit of {}", size_text(limit));
        assert!(line.starts_with(&expected), "{line}");
    }
    assert!(whole.contains(&Record::Report(String::new())), "{release}");
    println!("{release}: captures end at their limit");
}
