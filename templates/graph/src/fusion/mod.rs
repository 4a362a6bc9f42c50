//! Fusions: nodes of a graph that one node of another op replaces, such as a product with its bias and activation.
//!
//! The fused node computes what the single ones do, in fewer passes over memory. [`DEFAULT`] is the table of patterns.
//! Few devices have kernels of the ops that the patterns write, so the SDK applies a pattern only if the plugin has
//! registered a kernel of that op for the type of the nodes. A fused kernel of the reference table does not replace an
//! author's kernel of an op of the chain.
//!
//! The ops are core's own, such as `_FusedMatMul`: core has their shape functions in every release, no name can be
//! taken by another plugin, and a device without such kernels has the graph unchanged. The price is that core's
//! attributes limit what a node can compute. Either operand of a sum may be the product that is fused with it.

mod attributes;
mod chain;
pub mod elementwise;
mod flow;
mod pool_gradient;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

pub use self::attributes::{convolution, normalization, product, product_and_sum};
use self::chain::Links;
use self::elementwise::{merge, update};
use crate::{
    Attribute, Graph, GraphFacts, InferredDim, Input, Kernels, Node, StepOperands, TypeNumber,
};

/// A chain of nodes that one node replaces. Each node but the first has the result of the one before as its first input; an
/// `AddN`, whose operands have one shape, as its first or second one.
#[derive(Debug, Clone, Copy)]
pub struct Fusion {
    /// The op of the node that replaces the chain. Its inputs are those of the chain, in order. Its output 0 is that of
    /// the chain, and its further outputs are those of the first node.
    pub op: &'static str,
    /// For each node of the chain, the ops that it may have; [`ACTIVATION`] is one of them. A `Reshape` follows the new
    /// node if it does not change the last dimension.
    pub chain: &'static [&'static [&'static str]],
    /// Returns the attributes of the new node, from the nodes of the chain without `Reshape`, or `None` if these cannot be fused.
    pub attributes: fn(&[&Node]) -> Option<NodeAttributes>,
}

/// Attributes of a node, by name.
pub type NodeAttributes = Vec<(String, Attribute)>;

/// The entry of a chain that stands for each op of which a kernel states that it can be an activation
/// (`Kernel::with_activation`).
pub const ACTIVATION: &str = "(activation)";

/// The patterns that the SDK applies by default. The first one that matches applies, so that a chain precedes shorter
/// chains with the same beginning.
#[rustfmt::skip]
pub const DEFAULT: &[Fusion] = &[
    Fusion { op: "_FusedMatMul", chain: &[&["MatMul"], &["BiasAdd"], &[ACTIVATION]], attributes: product },
    Fusion { op: "_FusedMatMul", chain: &[&["MatMul"], &["BiasAdd"]], attributes: product },
    // Keras' dense layers of sequences.
    Fusion { op: "_FusedMatMul", chain: &[&["MatMul"], &["Reshape"], &["BiasAdd"], &[ACTIVATION]], attributes: product },
    Fusion { op: "_FusedMatMul", chain: &[&["MatMul"], &["Reshape"], &["BiasAdd"]], attributes: product },
    // Gradients of weights that several steps use.
    Fusion { op: "_FusedMatMul", chain: &[&["MatMul"], &["AddN"]], attributes: product_and_sum },
    Fusion { op: "_FusedConv2D", chain: &[&["Conv2D"], &["BiasAdd"], &[ACTIVATION]], attributes: convolution },
    Fusion { op: "_FusedConv2D", chain: &[&["Conv2D"], &["BiasAdd"]], attributes: convolution },
    Fusion { op: "_FusedBatchNormEx", chain: &[&["FusedBatchNormV3"], &["Relu"]], attributes: normalization },
];

/// The chains and trees that are replaced.
pub struct FusionSettings {
    /// The patterns of chains.
    pub chains: &'static [Fusion],
    /// The ops of trees.
    pub elementwise: &'static [&'static str],
    /// True if changes of variables become parts of trees.
    pub updates: bool,
}

/// Fuses nodes of a graph. Returns true if there are any, and if TensorFlow lists the preserved nodes.
pub fn fuse(
    graph: &mut Graph,
    device_type: &str,
    settings: &FusionSettings,
    kernels: &dyn Kernels,
    facts: &dyn GraphFacts,
) -> bool {
    let FusionSettings {
        chains,
        elementwise,
        updates,
    } = *settings;
    let step_operands = |op: &str, dtype| kernels.step_operands(op, dtype);
    let is_candidate = |it: &Node| {
        begins_chain(it, chains, device_type)
            || elementwise::operands(it, elementwise, device_type, &step_operands).is_some()
    };
    if !graph.nodes.iter().any(is_candidate) {
        return false;
    }
    // In a release that the plugin does not know, TensorFlow's function may have another signature.
    let Some(preserved) = facts.preserved_nodes() else {
        return false;
    };
    let rules = Rules {
        device_type,
        preserved: &preserved,
        first_table: &|op, dtype| kernels.first_table(op, dtype),
        step_operands: &step_operands,
        is_activation: &|op, dtype| kernels.is_activation(op, dtype),
        shapes: &|node| facts.dims(node),
    };
    // A chain with a product saves more than the tree that its activation may be in.
    let mut is_changed = fuse_in(graph, chains, &rules);
    is_changed |= !chains.is_empty() && pool_gradient::move_in(graph, &rules);
    // Without shapes, a scalar might be computed for each element of a tensor.
    if facts.has_shapes() {
        is_changed |= elementwise::fuse_in(graph, elementwise, &rules);
        is_changed |= updates && update::fuse_in(graph, elementwise, &rules);
        is_changed |= merge::fuse_in(graph, elementwise, &rules);
    }
    is_changed
}

/// Returns true if the op of the node is the first one of a chain.
fn begins_chain(node: &Node, fusions: &[Fusion], device_type: &str) -> bool {
    let mut firsts = fusions.iter().filter_map(|it| it.chain.first());
    firsts.any(|ops| ops.contains(&node.op.as_str()))
        && node.device_type() == Some(device_type)
        && !node.selects_kernel()
}

/// The dimensions of a tensor.
type Dims = Vec<InferredDim>;

/// A function that returns the operands of an op and type that can be a step of a tree.
type FindOperands<'a> = &'a dyn Fn(&str, TypeNumber) -> Option<StepOperands>;

/// Facts of the graph and of the plugin that decide which nodes can be fused.
struct Rules<'a> {
    device_type: &'a str,
    preserved: &'a BTreeSet<String>,
    /// Returns the position of the first table with a kernel of an op and type.
    first_table: &'a dyn Fn(&str, TypeNumber) -> Option<usize>,
    step_operands: FindOperands<'a>,
    /// Returns true if an op and type can be an activation.
    is_activation: &'a dyn Fn(&str, TypeNumber) -> bool,
    /// Returns the dims of a node's output 0.
    shapes: &'a dyn Fn(&str) -> Option<Dims>,
}

impl Rules<'_> {
    /// Returns true if the plugin has a kernel of `fused`, in no later table than one of `op`.
    fn may_replace(&self, op: &str, fused: &str, dtype: TypeNumber) -> bool {
        let table = (self.first_table)(fused, dtype);
        table.is_some() && !crate::is_earlier((self.first_table)(op, dtype), table)
    }

    /// Returns true if the node has one of these ops of a chain.
    fn has_op(&self, node: &Node, ops: &[&str]) -> bool {
        let dtype = || node.attribute("T").and_then(Attribute::as_type);
        let is_activation = || dtype().is_some_and(|it| (self.is_activation)(&node.op, it));
        ops.contains(&node.op.as_str()) || (ops.contains(&ACTIVATION) && is_activation())
    }
}

/// Replaces the chains of a graph. Returns true if there were any.
fn fuse_in(graph: &mut Graph, fusions: &[Fusion], rules: &Rules<'_>) -> bool {
    let fused = find_chains(graph, fusions, rules);
    let is_changed = !fused.is_empty();
    let renamed: Vec<[String; 2]> = fused
        .into_iter()
        .filter_map(|(chain, nodes)| replace(graph, &chain, nodes))
        .collect();
    // The nodes of another chain may read the further outputs, too.
    for [from, to] in &renamed {
        rename_outputs(graph, from, to);
    }
    // An op is empty if its node was fused with a later one.
    graph.nodes.retain(|node| !node.op.is_empty());
    is_changed
}

/// Returns chains without common nodes, each as the positions of its nodes, with the nodes that replace it.
fn find_chains(
    graph: &Graph,
    fusions: &[Fusion],
    rules: &Rules<'_>,
) -> Vec<(Vec<usize>, Vec<Node>)> {
    let links = Links::new(graph);
    let mut is_taken = vec![false; graph.nodes.len()];
    let mut found = Vec::new();
    for fusion in fusions {
        for last in 0..graph.nodes.len() {
            let chain = links.chain(last, fusion.chain, rules);
            let chain = chain.filter(|chain| chain.iter().all(|it| !is_taken[*it]));
            let Some(chain) = chain else { continue };
            let nodes: Vec<&Node> = chain.iter().map(|it| &graph.nodes[*it]).collect();
            if let Some(nodes) = fusion.replacement(&nodes, rules) {
                chain.iter().for_each(|it| is_taken[*it] = true);
                found.push((chain, nodes));
            }
        }
    }
    found
}

impl Fusion {
    /// Returns the nodes that replace the chain, its result first, or `None` if the plugin has no kernel for it.
    fn replacement(&self, chain: &[&Node], rules: &Rules<'_>) -> Option<Vec<Node>> {
        let dtype = chain.first()?.attribute("T")?;
        let last = *chain.last()?;
        let is_fusible = |it: &&Node| {
            let is_on_device = it.device_type() == Some(rules.device_type);
            is_on_device
                && it.device == last.device
                && it.attribute("T") == Some(dtype)
                && !it.selects_kernel()
        };
        let number = dtype.as_type()?;
        let computing: Vec<&Node> = chain.iter().copied().filter(|it| !is_reshape(it)).collect();
        let may_replace = |it: &&Node| rules.may_replace(&it.op, self.op, number);
        if !computing.iter().all(may_replace) || !chain.iter().all(is_fusible) {
            return None;
        }
        let mut fused = last.clone();
        fused.op = self.op.into();
        fused.attributes = (self.attributes)(&computing)?;
        fused.inputs = inputs(&computing, chain);
        match chain.iter().find(|it| is_reshape(it)) {
            None => Some(vec![fused]),
            Some(reshape) => reshaped(chain[0], fused, reshape, rules),
        }
    }
}

fn is_reshape(node: &Node) -> bool {
    node.op == "Reshape"
}

/// Returns a reshape of the fused node, which gets the name of the chain's first one; `None` if the last dimension is not
/// that of `first`.
fn reshaped(first: &Node, fused: Node, reshape: &Node, rules: &Rules<'_>) -> Option<Vec<Node>> {
    let size = |node: &Node| (rules.shapes)(&node.name)?.last()?.size();
    if size(first)? != size(reshape)? {
        return None;
    }
    let (mut fused, mut result) = (fused, reshape.clone());
    result.name = std::mem::replace(&mut fused.name, first.name.clone());
    *result.inputs.first_mut()? = fused.name.clone();
    Some(vec![result, fused])
}

/// Returns the inputs of computing nodes of a chain from other nodes: data inputs in order, then control inputs.
fn inputs(computing: &[&Node], chain: &[&Node]) -> Vec<String> {
    let (mut data, mut controls) = (Vec::new(), BTreeSet::new());
    let is_inner = |text: &str| {
        let input = Input::parse(text);
        input.output == Some(0) && chain.iter().any(|it| it.name == input.node)
    };
    let inputs = computing.iter().flat_map(|it| &it.inputs);
    for text in inputs.filter(|it| !is_inner(it)) {
        match Input::parse(text).output {
            Some(_) => data.push(text.clone()),
            None => _ = controls.insert(text.clone()),
        }
    }
    data.extend(controls);
    data
}

/// Puts the first new node in the place of the chain's last one, adds the others, and clears the ops of the chain's others.
/// Returns the names of the node that had the further outputs, and of the one that has them now.
fn replace(graph: &mut Graph, chain: &[usize], nodes: Vec<Node>) -> Option<[String; 2]> {
    let [inner @ .., last] = chain else {
        return None;
    };
    let first = graph.nodes[chain[0]].name.clone();
    for index in inner {
        graph.nodes[*index].op.clear();
    }
    let mut nodes = nodes.into_iter();
    let result = nodes.next()?;
    let name = result.name.clone();
    graph.nodes[*last] = result;
    graph.nodes.extend(nodes);
    Some([first, name])
}

/// Makes the further outputs of the node `from` those of the node `to`.
fn rename_outputs(graph: &mut Graph, from: &str, to: &str) {
    let inputs = graph.nodes.iter_mut().flat_map(|it| &mut it.inputs);
    for text in inputs {
        if let Input {
            node,
            output: Some(output @ 1..),
        } = Input::parse(text)
            && node == from
        {
            *text = format!("{to}:{output}");
        }
    }
}
