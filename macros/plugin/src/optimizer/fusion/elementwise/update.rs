//! Changes of variables as the last steps of trees: an optimizer's update then is one pass over memory.
//!
//! Core's kernels of these ops read what the tree has written. A tree that reads the variable writes the new value, which
//! an assignment takes over without a copy.

use super::{MAX_STEPS, OP, fused, shape_of};
use crate::graph::{Attribute, Graph, Input, Node};
use crate::optimizer::fusion::{Rules, chain::Links};

/// The ops that change a variable, and the steps that compute the new value from that of the variable and the tree's result.
/// `AddN` rejects different shapes as the ops do.
const UPDATES: &[(&str, &[&str])] = &[
    ("AssignAddVariableOp", &["AddN"]),
    ("AssignSubVariableOp", &["Neg", "AddN"]),
];

/// The ops that use a variable without changing it.
const READS: &[&str] = &["ReadVariableOp", "VariableShape", "VarIsInitializedOp"];

/// The elements of a variable from which on its updates are replaced: counters and totals stay atomic.
const MIN_ELEMENTS: u64 = 4096;

/// Replaces the updates by trees. Returns true if there were any.
pub(in crate::optimizer::fusion) fn fuse_in(
    graph: &mut Graph,
    ops: &[&str],
    rules: &Rules<'_>,
) -> bool {
    let updates = find(graph, ops, rules);
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
    /// The position of the tree.
    value: usize,
    /// The tree, with the read of the variable and the further steps.
    tree: Node,
    read: Node,
}

fn find(graph: &Graph, ops: &[&str], rules: &Rules<'_>) -> Vec<Update> {
    let links = Links::new(graph);
    let nodes = 0..graph.nodes.len();
    nodes
        .filter_map(|node| Update::find(graph, &links, node, ops, rules))
        .collect()
}

impl Update {
    /// Returns the update at this position, or `None` if it is none whose tree can write the variable's new value.
    fn find(
        graph: &Graph,
        links: &Links<'_>,
        position: usize,
        ops: &[&str],
        rules: &Rules<'_>,
    ) -> Option<Self> {
        let node = &graph.nodes[position];
        let (_, last_steps) = UPDATES.iter().find(|it| it.0 == node.op)?;
        let (variable, value) = (node.inputs.first()?, Input::parse(node.inputs.get(1)?));
        let at = links
            .position(value.node)
            .filter(|_| value.output == Some(0))?;
        let tree = &graph.nodes[at];
        let fits = tree.device == node.device
            && tree.attribute("T") == node.attribute("dtype")
            && !links.has_other_uses(at, 1)
            && !rules.preserved.contains(&tree.name)
            && is_large(&tree.name, rules)
            && is_only_change(graph, variable);
        let tree = match tree.op == OP {
            true => tree.clone(),
            false => {
                shape_of(tree, ops, rules)?;
                fused(graph, &[at])
            }
        };
        let read = read(node, &tree);
        let tree = with_steps(tree, &read.name, last_steps)?;
        fits.then_some(Self {
            node: position,
            value: at,
            tree,
            read,
        })
    }

    fn apply(self, graph: &mut Graph) {
        graph.nodes[self.value] = self.tree;
        graph.nodes[self.node].op = "AssignVariableOp".into();
        (graph.nodes[self.node].attributes)
            .retain(|(name, _)| name == "dtype" || name.starts_with('_'));
        graph.nodes.push(self.read);
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

/// Returns true if one node of the graph may change the variable, so that the order of two changes is not a question.
fn is_only_change(graph: &Graph, variable: &str) -> bool {
    let changing = graph.nodes.iter().filter(|it| !READS.contains(&&*it.op));
    let uses = changing.flat_map(|it| &it.inputs);
    let variable = Input::parse(variable);
    uses.filter(|it| Input::parse(it) == variable).count() == 1
}

/// Returns a read of the variable after all that the tree and the changing node wait for.
fn read(update: &Node, tree: &Node) -> Node {
    let mut read = Node::new(format!("{}/plugin_read", update.name), "ReadVariableOp");
    read.device.clone_from(&update.device);
    read.inputs.push(update.inputs[0].clone());
    for input in tree.inputs().chain(update.inputs().skip(2)) {
        let control = format!("^{}", input.node);
        if !read.inputs.contains(&control) {
            read.inputs.push(control);
        }
    }
    let dtype = update.attribute("dtype").cloned();
    read.attributes.extend(dtype.map(|it| ("dtype".into(), it)));
    read
}

/// Returns the tree with an input more, and with these steps of it and the result before. `None` if they are too many.
fn with_steps(mut tree: Node, input: &str, ops: &[&str]) -> Option<Node> {
    let inputs = tree.inputs().filter(|it| it.output.is_some()).count();
    let steps = tree.attribute("steps")?.as_texts()?;
    let moved = steps.iter().map(|step| renumbered(step, inputs));
    let mut steps: Vec<String> = moved.collect();
    for op in ops {
        let last = inputs + steps.len();
        steps.push(match *op {
            "AddN" => format!("AddN {inputs} {last}"),
            op => format!("{op} {last}"),
        });
    }
    tree.inputs.insert(inputs, input.into());
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

/// Returns a step of a tree that gets an input after these: the numbers of results grow by one.
fn renumbered(step: &str, inputs: usize) -> String {
    let words = step.split(' ').map(|word| match word.parse::<usize>() {
        Ok(operand) if operand >= inputs => (operand + 1).to_string(),
        _ => word.into(),
    });
    words.collect::<Vec<String>>().join(" ")
}
