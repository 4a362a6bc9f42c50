//! Graphs of nodes with named shapes, for tests of trees and of updates.

mod merges;
mod trees;
mod updates;

use std::collections::BTreeSet;

use super::super::tests::{node, step_operands};
use super::*;
use crate::TypeNumber;

/// Replaces the trees. The shape of names with `_` is `[1]`, names with `?` is of unknown rank, that of names with `*`
/// has a dimension of unknown size, that of names with `+` is large and known, and others have the same dimensions.
/// The kernels of `Relu` are an author's.
fn apply(nodes: &[Node], preserved: &[&str]) -> (bool, Graph) {
    apply_to(DEFAULT, nodes, preserved)
}

/// Replaces the trees of these ops, as [`apply`] does.
fn apply_to(ops: &[&str], nodes: &[Node], preserved: &[&str]) -> (bool, Graph) {
    change(nodes, preserved, |graph, rules| {
        let is_changed = fuse_in(graph, ops, rules);
        update::fuse_in(graph, ops, rules) || is_changed
    })
}

/// Changes a graph by rules as [`apply`] states them.
fn change(
    nodes: &[Node],
    preserved: &[&str],
    change: impl Fn(&mut Graph, &Rules<'_>) -> bool,
) -> (bool, Graph) {
    let mut graph = Graph::default();
    graph.nodes.extend_from_slice(nodes);
    let rules = Rules {
        device_type: "MYACCEL",
        preserved: &preserved
            .iter()
            .map(|it| (*it).to_owned())
            .collect::<BTreeSet<_>>(),
        first_table: &|op, dtype| {
            let is_float = dtype == TypeNumber::FLOAT;
            is_float.then_some(if op == "Relu" { 0 } else { 1 })
        },
        step_operands: &step_operands,
        is_activation: &|_, _| false,
        shapes: &|node| match node {
            it if it.contains('?') => None,
            it if it.contains('_') => Some(vec![InferredDim::Known(1)]),
            it if it.contains('+') => Some(vec![InferredDim::Known(64); 2]),
            it if it.contains('*') => Some(vec![InferredDim::Unknown, InferredDim::Known(3)]),
            _ => Some(vec![InferredDim::Symbol(-7), InferredDim::Known(3)]),
        },
    };
    (change(&mut graph, &rules), graph)
}

/// Returns the names of the nodes, with the inputs and steps of new ones.
fn texts(graph: &Graph) -> Vec<String> {
    let text = |node: &Node| match node.attribute("steps").and_then(Attribute::as_texts) {
        Some(steps) => format!(
            "{}({}) = {}",
            node.name,
            node.inputs.join(" "),
            steps.join(", ")
        ),
        None => node.name.clone(),
    };
    graph.nodes.iter().map(text).collect()
}

fn fused(nodes: &[Node]) -> Vec<String> {
    texts(&apply(nodes, &[]).1)
}
