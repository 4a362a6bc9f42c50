//! Parses any bytes as a GraphDef; a graph that is written and parsed again is unchanged.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sp_graph::Graph;

fuzz_target!(|bytes: &[u8]| {
    let Ok(graph) = Graph::parse(bytes) else {
        return;
    };
    let written = graph.to_bytes();
    let again = Graph::parse(&written).expect("a written graph can be parsed");
    assert_eq!(written, again.to_bytes());
});
