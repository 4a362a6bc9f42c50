//! Parses any bytes as a plugin's message to sp-host: without a panic, and with memory proportional to the
//! message. Fields that are written and parsed again are unchanged.

#![no_main]
#![allow(dead_code, reason = "modules of sp-host, which it does not export")]

#[path = "../../../codegen/host/src/dtype.rs"]
mod dtype;
#[path = "../../../codegen/host/src/graph.rs"]
mod graph;
#[path = "../../../codegen/host/src/proto.rs"]
mod proto;

use dtype::DType;
use graph::GraphDef;
use libfuzzer_sys::fuzz_target;
use proto::FieldValue;
use sp_fuzz::sized::{Counting, most_taken};

/// The largest number of bytes to allocate for each byte of a message: an empty node is 2 bytes there, about 100 here, and
/// a list that grows has room for twice as many.
const PROPORTION: usize = 256;

#[global_allocator]
static COUNTING: Counting = Counting;

fuzz_target!(|bytes: &[u8]| {
    let taken = most_taken(|| read(bytes));
    assert!(
        taken <= 4096 + PROPORTION * bytes.len(),
        "{taken} bytes for {}",
        bytes.len()
    );
    check_written(bytes);
});

fn read(bytes: &[u8]) {
    let names = GraphDef::node_names(bytes);
    let graph = GraphDef::parse(bytes, &["y"]);
    if let Some(names) = names {
        assert!(names.len() == graph.nodes.len(), "{names:?}");
    }
    for (_, signature) in graph::functions(bytes) {
        assert!(signature.len() <= bytes.len());
    }
    let _ = proto::field_values(bytes, 1).count();
}

/// Checks that fields are unchanged after they are written and parsed again.
fn check_written(bytes: &[u8]) {
    let Some(fields) = proto::parse_fields(bytes) else {
        return;
    };
    let fields = fields
        .into_iter()
        .filter(|(_, value)| *value != FieldValue::Fixed);
    let fields: Vec<(u32, FieldValue<'_>)> = fields.collect();
    let written = fields.iter().flat_map(|(number, value)| match value {
        FieldValue::Number(value) => proto::varint_field(*number, *value),
        FieldValue::Bytes(bytes) => proto::bytes_field(*number, bytes),
        FieldValue::Fixed => Vec::new(),
    });
    let written: Vec<u8> = written.collect();
    assert_eq!(proto::parse_fields(&written).as_ref(), Some(&fields));
}
