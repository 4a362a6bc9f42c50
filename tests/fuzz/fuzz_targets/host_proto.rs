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

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use dtype::DType;
use graph::GraphDef;
use libfuzzer_sys::fuzz_target;
use proto::FieldValue;

/// The largest number of bytes to allocate for each byte of a message: an empty node is 2 bytes there, about 100 here, and
/// a list that grows has room for twice as many.
const PROPORTION: usize = 256;

/// The number of allocated bytes, and its maximum since the last reset.
static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: every call is passed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller's obligations are those of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as above; `memory` is of the system's allocator.
        unsafe { System.dealloc(memory, layout) }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let before = NOW.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    read(bytes);
    let taken = MOST.load(Ordering::Relaxed) - before;
    assert!(taken <= 4096 + PROPORTION * bytes.len(), "{taken} bytes for {}", bytes.len());
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
    let fields = fields.into_iter().filter(|(_, value)| *value != FieldValue::Fixed);
    let fields: Vec<(u32, FieldValue<'_>)> = fields.collect();
    let written = fields.iter().flat_map(|(number, value)| match value {
        FieldValue::Number(value) => proto::varint_field(*number, *value),
        FieldValue::Bytes(bytes) => proto::bytes_field(*number, bytes),
        FieldValue::Fixed => Vec::new(),
    });
    let written: Vec<u8> = written.collect();
    assert_eq!(proto::parse_fields(&written).as_ref(), Some(&fields));
}
