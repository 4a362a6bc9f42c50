//! Trees of elementwise nodes that one node replaces. Its kernel computes all of them in one pass over memory, and
//! TensorFlow calls it once.
//!
//! Core has no op for a tree, so the SDK has its own, `SpElementwise`, with a text for each step. The first plugin of
//! a process registers it; another definition must have another name. Trees have no shapes that differ. The result
//! would be right, since inner results broadcast, but a scalar would be computed for each element of a tensor.

pub(super) mod merge;
pub(super) mod update;

use std::collections::HashMap;

use super::{Dims, FindOperands, Rules, chain::Links};
use crate::{Attribute, Graph, InferredDim, Input, Node, StepOperands};

/// The op of the node that replaces a tree. `steps` has an entry for each node: its op and the numbers of its operands, of
/// which the inputs come first, then the results of the steps before. The last step is the result. All are of the shape to
/// which the inputs broadcast.
pub const OP: &str = crate::ops::ELEMENTWISE;

/// The entry of a list of ops that stands for each op of which a kernel states that it can be a step
/// (`Kernel::with_step`).
const EVERY: &str = "*";

/// The ops of which the SDK replaces trees by default: each that a kernel states.
pub const DEFAULT: &[&str] = &[EVERY];

/// The most nodes of a tree. A kernel holds a block of each result that a later step reads.
const MAX_STEPS: usize = 32;

/// Replaces the trees of a graph. Returns true if there were any.
pub(super) fn fuse_in(graph: &mut Graph, ops: &[&str], rules: &Rules<'_>) -> bool {
    let trees = Trees::find(graph, ops, rules);
    let fused: Vec<(Vec<usize>, Node)> = trees
        .filter(|tree| tree.len() > 1)
        .map(|tree| {
            let node = fused(graph, &tree);
            (tree, node)
        })
        .collect();
    let is_changed = !fused.is_empty();
    for (tree, node) in fused {
        tree.iter().for_each(|it| graph.nodes[*it].op.clear());
        graph.nodes[tree[tree.len() - 1]] = node;
    }
    graph.nodes.retain(|node| !node.op.is_empty());
    is_changed
}

/// Returns the operands of a node that can be in a tree, as far as its op and device say. One that selects a kernel by a
/// label cannot.
pub(super) fn operands(
    node: &Node,
    ops: &[&str],
    device_type: &str,
    step_operands: FindOperands<'_>,
) -> Option<StepOperands> {
    let dtype = node.attribute("T")?.as_type()?;
    let is_candidate = is_listed(&node.op, ops)
        && node.device_type() == Some(device_type)
        && !node.selects_kernel();
    is_candidate.then(|| step_operands(&node.op, dtype))?
}

fn is_listed(op: &str, ops: &[&str]) -> bool {
    ops.contains(&EVERY) || ops.contains(&op)
}

/// The search for trees, from the nodes that read to those that they read.
struct Trees<'g> {
    graph: &'g Graph,
    links: Links<'g>,
    /// The shapes of the nodes that can be in a tree, as far as they are known.
    shapes: Vec<Option<KnownShape>>,
    /// For each node that can be in a tree, those that read its result.
    readers: Vec<Vec<usize>>,
    /// For each node, the last one of its tree.
    last: Vec<usize>,
    /// For each last node, its tree, in reverse order.
    members: Vec<Vec<usize>>,
}

impl<'g> Trees<'g> {
    /// Returns the trees of a graph as positions of nodes, each after those that it reads.
    fn find(graph: &'g Graph, ops: &[&str], rules: &Rules<'_>) -> impl Iterator<Item = Vec<usize>> {
        let count = graph.nodes.len();
        let mut trees = Self {
            graph,
            links: Links::new(graph),
            shapes: graph
                .nodes
                .iter()
                .map(|it| shape_of(it, ops, rules))
                .collect(),
            readers: vec![Vec::new(); count],
            last: (0..count).collect(),
            members: (0..count).map(|it| vec![it]).collect(),
        };
        trees.find_readers();
        trees.grow(rules);
        let trees = trees.members.into_iter();
        trees.map(|mut tree| {
            tree.reverse();
            tree
        })
    }

    fn find_readers(&mut self) {
        for reader in 0..self.graph.nodes.len() {
            for source in self.sources(reader) {
                self.readers[source].push(reader);
            }
        }
    }

    /// Returns the nodes that can be in a tree and whose results a node reads, once for each input.
    fn sources(&self, reader: usize) -> Vec<usize> {
        let inputs = self.graph.nodes[reader].inputs();
        let results = inputs.filter(|it| it.output == Some(0));
        let sources = results.filter_map(|it| self.links.position(it.node));
        sources.filter(|it| self.shapes[*it].is_some()).collect()
    }

    /// Adds each node to the tree of its readers, if they are all in one. Readers precede what they read; no path of
    /// elementwise nodes is a cycle.
    fn grow(&mut self, rules: &Rules<'_>) {
        let is_candidate = |it: &usize| self.shapes[*it].is_some();
        let unread = |readers: &Vec<usize>| readers.iter().filter(|it| is_candidate(it)).count();
        let mut unread: Vec<usize> = self.readers.iter().map(unread).collect();
        let mut next: Vec<usize> = (0..unread.len()).filter(|it| unread[*it] == 0).collect();
        next.retain(|it| self.shapes[*it].is_some());
        while let Some(position) = next.pop() {
            self.add_to_tree(position, rules);
            for source in self.sources(position) {
                unread[source] -= 1;
                if unread[source] == 0 {
                    next.push(source);
                }
            }
        }
    }

    fn add_to_tree(&mut self, position: usize, rules: &Rules<'_>) {
        let node = &self.graph.nodes[position];
        let Some(first) = self.readers[position].first() else {
            return;
        };
        let last = self.last[*first];
        let is_inside = |it: &usize| self.shapes[*it].is_some() && self.last[*it] == last;
        let reader = &self.graph.nodes[last];
        let (Some(shape), Some(of_result)) = (&self.shapes[position], &self.shapes[last]) else {
            return;
        };
        let is_alike = shape.may_equal(of_result)
            && node.device == reader.device
            && node.attribute("T") == reader.attribute("T");
        let is_read_elsewhere = self
            .links
            .has_other_uses(position, self.readers[position].len());
        if is_alike
            && !is_read_elsewhere
            && !rules.preserved.contains(&node.name)
            && self.readers[position].iter().all(is_inside)
            && self.members[last].len() < MAX_STEPS
        {
            self.last[position] = last;
            self.members[position].clear();
            self.members[last].push(position);
        }
    }
}

/// Returns the shape of a node that can be in a tree, as far as it is known. It is `None` if a kernel does not compute the
/// node there, or if its operands differ in shape and may not.
fn shape_of(node: &Node, ops: &[&str], rules: &Rules<'_>) -> Option<KnownShape> {
    let stated = operands(node, ops, rules.device_type, rules.step_operands)?;
    let dtype = node.attribute("T")?.as_type()?;
    let may_replace = rules.may_replace(&node.op, OP, dtype);
    let shape = KnownShape((rules.shapes)(&node.name));
    let operands: Vec<Input<'_>> = node.inputs().filter(|it| it.output.is_some()).collect();
    let is_of_shape = |it: &Input<'_>| match it.output {
        Some(0) => shape.may_equal(&KnownShape((rules.shapes)(it.node))),
        _ => true,
    };
    let fits = stated == StepOperands::Broadcasting || operands.iter().all(is_of_shape);
    let count = if stated == StepOperands::One { 1 } else { 2 };
    (may_replace && fits && operands.len() == count).then_some(shape)
}

/// A shape as far as it is known: `None` if the rank is not.
///
/// In a tree of different shapes an inner one broadcasts. The result is right, and its elements are computed repeatedly, which
/// is slow for a scalar. So shapes may be unknown, and those of one element are not mixed with others.
#[derive(Debug, Clone, PartialEq, Eq)]
struct KnownShape(Option<Dims>);

impl KnownShape {
    /// Returns true if both shapes may be the same one, of more than one element, or if both have one element.
    fn may_equal(&self, other: &Self) -> bool {
        let (Some(dims), Some(others)) = (&self.0, &other.0) else {
            return !self.has_one_element() && !other.has_one_element();
        };
        let may_be = |(dim, other): (&InferredDim, &InferredDim)| {
            dim.size().is_none() || other.size().is_none() || dim == other
        };
        dims.len() == others.len()
            && self.has_one_element() == other.has_one_element()
            && dims.iter().zip(others).all(may_be)
    }

    fn has_one_element(&self) -> bool {
        let Some(dims) = &self.0 else { return false };
        dims.iter().all(|it| it.size() == Some(1))
    }
}

/// Returns the node that replaces a tree, whose last node is the result.
fn fused(graph: &Graph, tree: &[usize]) -> Node {
    let nodes: Vec<&Node> = tree.iter().map(|it| &graph.nodes[*it]).collect();
    let steps: HashMap<&str, usize> = nodes
        .iter()
        .enumerate()
        .map(|(i, it)| (&*it.name, i))
        .collect();
    let (mut data, mut controls) = (Vec::<&str>::new(), Vec::<&str>::new());
    for text in nodes.iter().flat_map(|it| &it.inputs) {
        let input = Input::parse(text);
        let list = match input.output {
            Some(_) => &mut data,
            None => &mut controls,
        };
        if !steps.contains_key(input.node) && !list.contains(&&**text) {
            list.push(text);
        }
    }
    let operand = |text: &str| match steps.get(Input::parse(text).node) {
        Some(step) => Some(data.len() + step),
        None => data.iter().position(|it| *it == text),
    };
    let texts = nodes.iter().map(|node| {
        let operands = node.inputs.iter().filter_map(|it| operand(it));
        step_text(&node.op, operands)
    });
    let texts: Vec<String> = texts.collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut node = nodes[nodes.len() - 1].clone();
    let dtype = node.attribute("T").cloned();
    node.op = OP.into();
    node.attributes = vec![
        (
            "N".into(),
            i64::try_from(data.len()).unwrap_or(i64::MAX).into(),
        ),
        ("steps".into(), Attribute::from(&texts[..])),
    ];
    node.attributes.extend(dtype.map(|it| ("T".into(), it)));
    node.inputs = data.into_iter().chain(controls).map(String::from).collect();
    node
}

/// Returns the text of a step: its op, and the numbers of its operands.
fn step_text(op: &str, operands: impl IntoIterator<Item = usize>) -> String {
    let operands = operands.into_iter();
    operands.fold(op.into(), |text, it| format!("{text} {it}"))
}

/// Returns a step of a tree whose inputs have other numbers, and whose first step has the number `first`.
fn renumbered(step: &str, inputs: &[usize], first: usize) -> String {
    let mut words = step.split(' ');
    let op = words.next().unwrap_or_default();
    let numbers = words.filter_map(|word| word.parse::<usize>().ok());
    let numbers = numbers.map(|number| match number.checked_sub(inputs.len()) {
        None => inputs[number],
        Some(step) => first + step,
    });
    step_text(op, numbers)
}

#[cfg(test)]
mod tests;
