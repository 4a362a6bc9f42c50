//! What a graph optimizer of an author's hears from its host, release by release, without TensorFlow:
//! `examples/asking.rs`.

use std::path::PathBuf;

use sp_host::Host;
use sp_plugin::graph::{Attribute, Graph, Node};

/// Cargo builds the examples before the tests, beside them.
fn asking() -> PathBuf {
    let folder = std::env::current_exe().unwrap();
    let folder = folder.ancestors().nth(2).unwrap().join("examples");
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    folder.join(format!("{prefix}asking{suffix}"))
}

/// `y = Neg(x)`.
fn graph() -> Graph {
    let mut negated = Node::new("y", "Neg");
    negated.inputs.push("x".to_owned());
    let mut graph = Graph::default();
    graph.nodes.extend([Node::new("x", "Placeholder"), negated]);
    graph
}

/// The process decides once which release its host is, so each release has a process of its own.
fn heard_in(release: &str) {
    let host = Host::open(&sp_tests::snapshots(release), &asking()).unwrap();
    let bytes = host.optimize(&graph().to_bytes(), &["y"]).unwrap();
    let better = Graph::parse(&bytes).unwrap();
    let heard = better.node("y").unwrap().attribute("_heard");
    let heard = heard.and_then(Attribute::as_str).unwrap();
    assert!(heard.contains(", fetched, stays, "), "{heard}");
    assert!(
        heard.ends_with("bytes of Neg") && !heard.contains(" 0 bytes"),
        "{heard}"
    );
    let switches: Vec<_> = host.graph_switches();
    let expected = [
        ("disable_model_pruning", 2),
        ("remapping", 1),
        ("loop_optimization", 2),
    ];
    assert_eq!(
        switches,
        expected.map(|(name, value)| (name.to_owned(), value))
    );
    let tally = host.close().unwrap();
    assert!(tally.is_clean(), "{tally}");
}

#[test]
fn what_2_5_keeps_by_the_graphs_buffer() {
    sp_tests::alone("what_2_5_keeps_by_the_graphs_buffer", || heard_in("2.5"));
}

#[test]
fn what_2_6_hands_over() {
    sp_tests::alone("what_2_6_hands_over", || heard_in("2.6"));
}

#[test]
fn what_2_21_hands_over() {
    sp_tests::alone("what_2_21_hands_over", || heard_in("2.21"));
}
