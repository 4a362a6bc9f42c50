//! Changes of variables as the last steps of trees: an optimizer's update then is one pass over memory.
//!
//! Core's kernels of these ops read what the tree has written. A tree that reads the variable writes the new value, which
//! an assignment takes over without a copy.
//!
//! The read, the steps and the assignment are those of `optimizer/assignment.rs`, as in `variable_update`. The price
//! is that two threads that change one variable without a lock can lose an update, as on devices whose memory the
//! host cannot use. Counters and totals, which are small, stay atomic, and so do updates in loops and branches. Where
//! a plugin can use variables, its kernels lock them.

use std::collections::HashMap;

use super::{MAX_STEPS, OP, fused, is_listed, renumbered, shape_of, step_text};
use crate::assignment::{self, AssignUpdate};
use crate::fusion::{Rules, chain::Links, flow::is_switch};
use crate::{Attribute, Graph, Input, Node};

/// The ops that use a variable without changing it.
const READS: &[&str] = &["ReadVariableOp", "VariableShape", "VarIsInitializedOp"];

/// The ops whose result is a variable for the first time in a graph.
const SOURCES: &[&str] = &["_Arg", "VarHandleOp"];

/// The op that passes a variable on, such as to the nodes of an inlined function. Those of loops and branches are none:
/// their updates stay, since several iterations may run at a time, and a read may run where the update does not.
const ALIAS: &str = "Identity";

/// The elements of a variable from which on its updates are replaced: counters and totals stay atomic.
const MIN_ELEMENTS: u64 = 4096;

/// Replaces the updates by trees. Returns true if there were any.
pub(in crate::fusion) fn fuse_in(graph: &mut Graph, ops: &[&str], rules: &Rules<'_>) -> bool {
    let updates = Updates::find(graph, ops, rules);
    let is_changed = !updates.is_empty();
    for update in updates {
        update.apply(graph);
    }
    is_changed
}

/// A change of a variable by the result of a tree.
struct Update {
    /// The position of the changing node.
    node: usize,
    /// The type of the variable.
    dtype: Attribute,
    /// The position of the tree.
    value: usize,
    /// The tree, with the read of the variable and the further steps.
    tree: Node,
    read: Node,
}

impl Update {
    fn apply(self, graph: &mut Graph) {
        let value = self.tree.name.clone();
        assignment::become_assignment(&mut graph.nodes[self.node], self.dtype, value);
        graph.nodes[self.value] = self.tree;
        graph.nodes.push(self.read);
    }
}

/// The search for updates.
struct Updates<'g> {
    graph: &'g Graph,
    links: Links<'g>,
    /// The number of inputs of nodes that may change a variable, by the position of its source.
    changes: HashMap<usize, usize>,
    ops: &'g [&'g str],
    rules: &'g Rules<'g>,
}

impl<'g> Updates<'g> {
    fn find(graph: &'g Graph, ops: &'g [&'g str], rules: &'g Rules<'g>) -> Vec<Update> {
        let (links, changes) = (Links::new(graph), HashMap::new());
        let mut all = Self {
            graph,
            links,
            changes,
            ops,
            rules,
        };
        all.count_changes();
        let nodes = 0..graph.nodes.len();
        nodes.filter_map(|node| all.find_update(node)).collect()
    }

    fn count_changes(&mut self) {
        let nodes = self.graph.nodes.iter();
        let changing = nodes.filter(|it| it.op != ALIAS && !READS.contains(&&*it.op));
        for input in changing.flat_map(Node::inputs) {
            if let Some(source) = self.find_source(input) {
                *self.changes.entry(source).or_default() += 1;
            }
        }
    }

    /// Returns the node from which the graph has a variable, or `None` if it passes through a loop or a branch, or is none.
    fn find_source(&self, variable: Input<'_>) -> Option<usize> {
        variable.output?;
        let mut position = self.links.position(variable.node)?;
        // Aliases of an invalid graph can be a cycle.
        for _ in 0..self.graph.nodes.len() {
            let node = &self.graph.nodes[position];
            if node.op != ALIAS {
                return SOURCES.contains(&&*node.op).then_some(position);
            }
            position = self.links.position(node.inputs().next()?.node)?;
        }
        None
    }

    /// Returns the update by the node at this position, or `None` if it stays.
    fn find_update(&self, position: usize) -> Option<Update> {
        let node = &self.graph.nodes[position];
        let update = AssignUpdate::find(&node.op)?;
        let (variable, value) = (node.inputs().next()?, node.inputs().nth(1)?);
        let is_only_change = self.changes.get(&self.find_source(variable)?) == Some(&1);
        let at = self.links.position(value.node)?;
        let is_tree = value.output == Some(0) && self.is_tree_of(at, node);
        let dtype = node.attribute("dtype")?.clone();
        let number = dtype.as_type()?;
        let is_step =
            |op: &str| is_listed(op, self.ops) && (self.rules.step_operands)(op, number).is_some();
        if !is_only_change || !is_tree || !update.steps().iter().all(|it| is_step(it.op())) {
            return None;
        }
        let tree = match self.graph.nodes[at].op == OP {
            true => self.graph.nodes[at].clone(),
            false => {
                shape_of(&self.graph.nodes[at], self.ops, self.rules)?;
                fused(self.graph, &[at])
            }
        };
        let read = self.new_read(node, &dtype, &tree)?;
        Some(Update {
            node: position,
            dtype,
            value: at,
            tree: with_update(tree, &read.name, update)?,
            read,
        })
    }

    /// Returns true if the node at this position may compute the new value of the variable that `update`, its only reader,
    /// changes.
    fn is_tree_of(&self, position: usize, update: &Node) -> bool {
        let (tree, rules) = (&self.graph.nodes[position], self.rules);
        tree.device == update.device
            && tree.device_type() == Some(rules.device_type)
            && tree.attribute("T") == update.attribute("dtype")
            && !self.links.has_other_uses(position, 1)
            && !rules.preserved.contains(&tree.name)
            && is_large(&tree.name, rules)
    }

    /// Returns a read of the variable after all that the tree and the changing node wait for. `None` if one of these is a
    /// branch, after which the read would run although the update may not.
    fn new_read(&self, update: &Node, dtype: &Attribute, tree: &Node) -> Option<Node> {
        let mut sources = Vec::new();
        for input in tree.inputs().chain(update.inputs().skip(2)) {
            let source = self.links.position(input.node)?;
            let source = &self.graph.nodes[source];
            if is_switch(source) {
                return None;
            }
            // Arguments and constants without inputs are there before any node runs.
            if !source.inputs.is_empty() {
                sources.push(input.node);
            }
        }
        Some(assignment::read_after(update, dtype.clone(), sources))
    }
}

/// Returns true if the node's result is known to have so many elements that its update is replaced.
fn is_large(node: &str, rules: &Rules<'_>) -> bool {
    let Some(dims) = (rules.shapes)(node) else {
        return false;
    };
    let mut sizes = dims.iter().map(|it| it.size());
    let len = sizes.try_fold(1, |len: u64, size| len.checked_mul(size?));
    len.is_some_and(|it| it >= MIN_ELEMENTS)
}

/// Returns the tree with the variable's value as a further input, whose last step is the new value. `None` if the steps are
/// too many.
fn with_update(mut tree: Node, variable: &str, update: AssignUpdate) -> Option<Node> {
    let inputs = tree.inputs().filter(|it| it.output.is_some()).count();
    let steps = tree.attribute("steps")?.as_texts()?;
    let numbers: Vec<usize> = (0..inputs).collect();
    let moved = steps.iter().map(|it| renumbered(it, &numbers, inputs + 1));
    let mut steps: Vec<String> = moved.collect();
    let result = inputs + steps.len();
    update.new_value(&inputs, result, |step, operands| {
        steps.push(step_text(step.op(), operands));
        inputs + steps.len()
    });
    tree.inputs.insert(inputs, variable.into());
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    for (name, value) in &mut tree.attributes {
        match name.as_str() {
            "N" => *value = i64::try_from(inputs + 1).ok()?.into(),
            "steps" => *value = Attribute::from(&steps[..]),
            _ => {}
        }
    }
    (steps.len() <= MAX_STEPS).then_some(tree)
}
