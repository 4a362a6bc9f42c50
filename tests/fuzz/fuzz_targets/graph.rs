//! A GraphDef, from any bytes: what was read is written so that it reads as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sp_plugin::graph::Graph;

fuzz_target!(|bytes: &[u8]| {
    let Ok(graph) = Graph::parse(bytes) else {
        return;
    };
    let written = graph.to_bytes();
    let again = Graph::parse(&written).expect("what was written is read");
    assert_eq!(written, again.to_bytes());
});
