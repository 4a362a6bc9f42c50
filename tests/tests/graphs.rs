//! The queries of a graph optimizer about its graph, in three releases, without TensorFlow:
//! `examples/graph_queries.rs`.

use sp_host::Host;
use sp_plugin::graph::{Attribute, Graph, Node};

/// Returns the graph `y = Neg(x)`.
fn graph() -> Graph {
    let mut negated = Node::new("y", "Neg");
    negated.inputs.push("x".to_owned());
    let mut graph = Graph::default();
    graph.nodes.extend([Node::new("x", "Placeholder"), negated]);
    graph
}

/// Checks the answers that the optimizer gets in `release`.
fn check_queries(release: &str) {
    let host = Host::open(
        &sp_tests::snapshots(release),
        &sp_tests::example("graph_queries"),
    )
    .unwrap();
    let bytes = host.optimize(&graph().to_bytes(), &["y"]).unwrap();
    let optimized = Graph::parse(&bytes).unwrap();
    let answers = optimized.node("y").unwrap().attribute("_answers");
    let answers = answers.and_then(Attribute::as_str).unwrap();
    assert!(answers.contains(", fetched, preserved, "), "{answers}");
    assert!(
        answers.ends_with("bytes of Neg") && !answers.contains(" 0 bytes"),
        "{answers}"
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
fn answers_graph_queries_in_2_5() {
    sp_tests::in_own_process("answers_graph_queries_in_2_5", || check_queries("2.5"));
}

#[test]
fn answers_graph_queries_in_2_6() {
    sp_tests::in_own_process("answers_graph_queries_in_2_6", || check_queries("2.6"));
}

#[test]
fn answers_graph_queries_in_2_21() {
    sp_tests::in_own_process("answers_graph_queries_in_2_21", || check_queries("2.21"));
}
