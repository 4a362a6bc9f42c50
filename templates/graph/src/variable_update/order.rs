//! The order of replaced nodes that change one variable.
//!
//! TensorFlow orders most ops of a variable in a function, but not those of random generators, whose kernels lock it. Without
//! an edge two of them would read one state, and draw the same numbers.

use std::collections::{HashMap, HashSet};

use crate::{Graph, Node};

/// The edges of loops of TensorFlow 1, across which no control edge may be added.
const LOOP: &str = "Enter";

/// A node that reads a variable and assigns its next value before it is done.
pub struct Changing {
    pub variable: String,
    /// The name of the node that is done last.
    pub node: String,
    /// The name of the node that reads the variable.
    pub read: String,
}

/// Adds edges, so that each node that changes a variable waits for the one before it. Nodes of a loop of TensorFlow 1 remain
/// without an order.
pub fn chain(graph: &mut Graph, mut changing: Vec<Changing>) {
    if changing.len() < 2 || graph.nodes.iter().any(|it| it.op == LOOP) {
        return;
    }
    let positions = positions(graph);
    changing.sort_by_key(|it| positions.get(&it.node).copied());
    let mut last = HashMap::new();
    let mut waits = HashMap::new();
    for it in changing {
        if let Some(before) = last.insert(it.variable, it.node) {
            waits.insert(it.read, format!("^{before}"));
        }
    }
    for node in &mut graph.nodes {
        let control = waits.remove(&node.name);
        node.inputs.extend(control);
    }
}

/// Returns the position of each node in an order in which a node follows its inputs, so that an edge from an earlier to a later
/// node closes no circle.
fn positions(graph: &Graph) -> HashMap<String, usize> {
    let nodes: HashMap<&str, &Node> = graph.nodes.iter().map(|it| (&*it.name, it)).collect();
    let mut positions = HashMap::new();
    // A node is on the stack twice: before its inputs, and after them.
    let mut stack: Vec<(&Node, bool)> = graph.nodes.iter().rev().map(|it| (it, false)).collect();
    let mut entered = HashSet::new();
    while let Some((node, is_done)) = stack.pop() {
        if is_done {
            positions.insert(node.name.clone(), positions.len());
        } else if entered.insert(&*node.name) {
            stack.push((node, true));
            let inputs = node.inputs().filter_map(|it| nodes.get(it.node));
            stack.extend(inputs.map(|it| (*it, false)));
        }
    }
    positions
}
