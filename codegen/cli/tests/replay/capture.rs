//! Captures that tests write.

use std::path::Path;

use sp_layer::runtime::capture::format::{
    Computed, Content, Created, Record, Registered, Tensor, header,
};

const FLOAT: u32 = 1;
const INT32: u32 = 3;
const INVALID_ARGUMENT: u32 = 3;

/// Writes a capture of TensorFlow 2.21 with these records.
pub fn write(path: &Path, records: &[Record]) {
    let process = Record::Process(1, "2.21".into(), "libx.so".into());
    let end = Record::End(records.len() as u64 + 1);
    let all = [&process].into_iter().chain(records).chain([&end]);
    let bytes: Vec<u8> = all.flat_map(Record::to_bytes).collect();
    std::fs::write(path, [header(), bytes].concat()).unwrap();
}

fn floats(values: &[f32]) -> Tensor {
    Tensor {
        dtype: FLOAT,
        dims: vec![values.len() as i64],
        is_on_device: true,
        content: Content::Bytes(values.iter().flat_map(|it| it.to_le_bytes()).collect()),
    }
}

/// Returns a call of an op with two inputs, whose kernel has no create function.
pub fn call(op: &str, x: &[f32], y: &[f32], z: &[f32]) -> Record {
    Record::Computed(Computed {
        number: 1,
        op: op.into(),
        node: "model/add".into(),
        duration: 1000,
        inputs: vec![floats(x), floats(y)],
        output_types: vec![FLOAT],
        outputs: vec![Some(floats(z))],
        ..Computed::default()
    })
}

/// Returns a call of AddV2.
pub fn addition(x: &[f32], y: &[f32], z: &[f32]) -> Record {
    call("AddV2", x, y, z)
}

/// Returns a call of AddV2 with different shapes, which has failed.
pub fn failed_addition() -> Record {
    let Record::Computed(mut failed) = addition(&[1.0], &[1.0, 2.0], &[]) else {
        unreachable!("it is a call");
    };
    failed.failure = Some((INVALID_ARGUMENT, "the shapes differ".into()));
    failed.outputs = vec![None];
    Record::Computed(failed)
}

/// Returns a call of which nothing was captured.
pub fn omitted(reason: &str) -> Record {
    Record::Computed(Computed {
        op: "Neg".into(),
        omitted: reason.into(),
        ..Computed::default()
    })
}

/// Returns a field of a protocol buffer with bytes.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, bytes.len() as u8], bytes].concat()
}

fn attribute(name: &str, value: [u8; 2]) -> Vec<u8> {
    field(5, &[field(1, name.as_bytes()), field(2, &value)].concat())
}

/// Returns the registration, the creation and a call of a kernel of Sum, whose axis is in host memory.
pub fn sum() -> Vec<Record> {
    let (kind, flag) = (6 << 3, 5 << 3);
    let node_def = [
        field(1, b"model/sum"),
        field(2, b"Sum"),
        attribute("T", [kind, FLOAT as u8]),
        attribute("Tidx", [kind, INT32 as u8]),
        attribute("keep_dims", [flag, 0]),
    ]
    .concat();
    let (op, node) = (String::from("Sum"), String::from("model/sum"));
    let axis = Tensor {
        dtype: INT32,
        dims: vec![1],
        is_on_device: false,
        content: Content::Bytes(vec![0; 4]),
    };
    let total = Tensor {
        dims: vec![],
        ..floats(&[6.0])
    };
    vec![
        Record::Registered(Registered {
            op: op.clone(),
            device: "TEST".into(),
            constraints: vec![("T".into(), FLOAT)],
            host_memory: vec!["reduction_indices".into()],
        }),
        Record::Created(Created {
            kernel: 7,
            op: op.clone(),
            node: node.clone(),
            node_def,
        }),
        Record::Computed(Computed {
            number: 1,
            kernel: 7,
            op,
            node,
            inputs: vec![floats(&[1.0, 2.0, 3.0]), axis],
            output_types: vec![FLOAT],
            outputs: vec![Some(total)],
            ..Computed::default()
        }),
    ]
}

/// Returns a plugin's report: AddV2 is the reference's, and Sum has staging copies. Neg is in none of its lines.
pub fn report() -> String {
    "AddV2 T=TF_FLOAT calls=2 staged=0 staged_bytes=0 staged_us=0 owner=sp_cpu\n\
     Sum T=TF_FLOAT Tidx=TF_INT32 calls=1 staged=1 staged_bytes=16 staged_us=9 owner=sp_cpu\n"
        .into()
}
