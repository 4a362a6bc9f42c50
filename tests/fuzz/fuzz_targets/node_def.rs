//! Reads any bytes as the `NodeDef` of a kernel in a capture: without a panic, and with memory in proportion to the message,
//! apart from repeated elements of tensors, which have a limit.

#![no_main]
#![allow(dead_code, reason = "a module of sp-host, which it does not export")]

#[path = "../../../codegen/host/src/proto.rs"]
mod proto;

use libfuzzer_sys::fuzz_target;
use proto::{bytes_field, varint_field};
use sp_fuzz::bytes::edited;
use sp_fuzz::sized::{Counting, most_taken};
use sp_host::Op;
use std::sync::LazyLock;

/// The most memory: for the table of ops and for repeated elements, of which there is a second copy, and for each byte.
const BASE: usize = 192 << 20;
const PROPORTION: usize = 256;

#[global_allocator]
static COUNTING: Counting = Counting;

static SAMPLE: LazyLock<Vec<u8>> = LazyLock::new(sample);

fuzz_target!(|input: (bool, &[u8])| {
    let (is_edited, bytes) = input;
    let message = match is_edited {
        true => edited(&SAMPLE, bytes),
        false => bytes.to_vec(),
    };
    let taken = most_taken(|| drop(Op::from_node_def(&message)));
    let limit = BASE + PROPORTION * message.len();
    assert!(taken <= limit, "{taken} bytes for {}", message.len());
});

/// Returns a node with an attribute of each form.
fn sample() -> Vec<u8> {
    let shape = bytes_field(2, varint_field(1, 2));
    let tensor = |content| [varint_field(1, 1), bytes_field(2, &shape), content].concat();
    let filled = tensor(vec![5 << 3 | 5, 0, 0, 128, 63]);
    let whole = tensor(bytes_field(4, [0_u8; 8]));
    let list = [bytes_field(3, [1_u8, 0x80, 1]), bytes_field(6, [1_u8, 3])].concat();
    let values = [
        bytes_field(2, "text"),
        varint_field(3, 5),
        varint_field(5, 1),
        varint_field(6, 3),
        bytes_field(7, &shape),
        bytes_field(8, filled),
        bytes_field(8, whole),
        bytes_field(10, bytes_field(1, "function")),
        bytes_field(1, list),
    ];
    let attributes = values.iter().enumerate().flat_map(|(index, value)| {
        let name = bytes_field(1, format!("a{index}"));
        bytes_field(5, [name, bytes_field(2, value)].concat())
    });
    let head = [bytes_field(1, "node"), bytes_field(2, "Const")].concat();
    head.into_iter().chain(attributes).collect()
}
