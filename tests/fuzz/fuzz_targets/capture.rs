//! Reads any records with valid checksums, and any bytes, as a capture: they are read or rejected, without a panic and with
//! memory in proportion to the file. A record that is written and read again is unchanged, and its tensors are created and
//! compared as `sp-gen replay` does.

#![no_main]

#[path = "../../../codegen/cli/src/replay/compare.rs"]
mod compare;
#[path = "../../../codegen/cli/src/replay/element.rs"]
mod element;
#[path = "../../../codegen/cli/src/replay/values.rs"]
mod values;

use libfuzzer_sys::fuzz_target;
use sp_fuzz::bytes::edited;
use sp_fuzz::sized::{Counting, most_taken};
use sp_host::Tensor;
use sp_layer::runtime::capture::format::{
    self, Computed, Content, Created, Record, Records, Registered, VariableUse,
};

/// The largest number of bytes to allocate for each byte of a file: an output that was not set is a byte there and 64 here,
/// and a list that grows has room for twice as many beside its old copy.
const PROPORTION: usize = 256;

/// Bytes of a record before and after its payload.
const HEAD: usize = 12;
const CHECKSUM: usize = 8;

#[global_allocator]
static COUNTING: Counting = Counting;

fuzz_target!(|input: (Vec<(u8, Vec<u8>)>, Vec<u8>)| {
    let (parts, edits) = input;
    let samples = samples();
    let mut file = format::header();
    for (kind, edits) in &parts {
        let record = samples[usize::from(*kind) % samples.len()].to_bytes();
        let payload = &record[HEAD..record.len() - CHECKSUM];
        file.extend(format::frame(u32::from(record[0]), &edited(payload, edits)));
    }
    file.extend(Record::End(parts.len() as u64).to_bytes());
    check(&edited(&file, &edits));
});

fn check(file: &[u8]) {
    let mut found = Vec::new();
    let taken = most_taken(|| found = read(file));
    let limit = 4096 + PROPORTION * file.len();
    assert!(taken <= limit, "{taken} bytes for {}", file.len());
    for record in &found {
        let written = record.to_bytes();
        let again = Records::without_header(&written[..]).next_record();
        assert!(
            matches!(&again, Ok(Some((it, _))) if it == record),
            "{again:?}"
        );
        if let Record::Computed(call) = record {
            compare_tensors(call);
        }
    }
}

fn read(file: &[u8]) -> Vec<Record> {
    let Ok(mut records) = Records::new(file) else {
        return Vec::new();
    };
    let next = || records.next_record().ok().flatten();
    std::iter::from_fn(next).map(|(record, _)| record).collect()
}

/// Compares each tensor of a call with itself and with the one before it.
fn compare_tensors(call: &Computed) {
    let _ = values::types(&call.inputs);
    let variables = call.variables.iter();
    let variables = variables.flat_map(|it| it.before.iter().chain(&it.after));
    let outputs = call.outputs.iter().flatten();
    let mut last: Option<Tensor> = None;
    for captured in call.inputs.iter().chain(outputs).chain(variables) {
        let Ok(tensor) = values::tensor(captured) else {
            continue;
        };
        assert_eq!(compare::difference(captured, &tensor, None), None);
        if let Some(last) = &last {
            let _ = compare::difference(captured, last, Some(1e-3));
        }
        last = Some(tensor);
    }
}

fn samples() -> [Record; 4] {
    let tensor = |dtype, content| format::Tensor {
        dtype,
        dims: vec![1, 2],
        is_on_device: true,
        content,
    };
    let float = || tensor(1, Content::Bytes(vec![0, 0, 128, 63, 0, 0, 0, 64]));
    let strings = Content::Strings(vec![b"a".to_vec(), Vec::new()]);
    let call = Computed {
        op: "AddV2".into(),
        inputs: vec![
            float(),
            tensor(7, strings),
            tensor(20, Content::Resource(vec![1])),
        ],
        output_types: vec![1],
        outputs: vec![None, Some(float())],
        variables: vec![VariableUse {
            input: 2,
            before: None,
            after: Some(float()),
        }],
        failure: Some((3, "shapes".into())),
        ..Computed::default()
    };
    let registered = Registered {
        constraints: vec![("T".into(), 1)],
        host_memory: vec!["axis".into()],
        ..Registered::default()
    };
    [
        Record::Computed(call),
        Record::Registered(registered),
        Record::Created(Created::default()),
        Record::Process(1, "2.21".into(), "libx.so".into()),
    ]
}
