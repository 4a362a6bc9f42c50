//! Reductions over devices by NCCL become sums on one device, and copies of the result.
//!
//! `MirroredStrategy` writes `NcclAllReduce` for devices of type GPU in 2.12, whether or not a kernel exists. A kernel of the C API
//! could only wait for those of the other devices on threads that these need, so a group of nodes is replaced as a whole.
//!
//! Core's collective ops get the hint to use its own rings: a build with CUDA uses NCCL else, since the type is GPU.

use std::collections::BTreeMap;

use crate::Result;
use crate::graph::{Attribute, Graph, Node};

/// The device type for which Python writes the ops.
const DEVICE_TYPE: &str = "GPU";

/// Replaces the ops of NCCL in a serialized graph. Returns `None` if there are none.
///
/// # Errors
/// Returns an error if `bytes` is not a valid `GraphDef`.
pub(super) fn replace(bytes: &[u8], device_type: &str) -> Result<Option<Vec<u8>>> {
    if device_type != DEVICE_TYPE {
        return Ok(None);
    }
    let mut graph = Graph::parse(bytes)?;
    Ok(replace_in(&mut graph).then(|| graph.to_bytes()))
}

/// Replaces the ops of NCCL. Returns true if there are any.
fn replace_in(graph: &mut Graph) -> bool {
    let groups = groups(graph);
    let mut added = Vec::new();
    for members in &groups {
        let inputs = members
            .iter()
            .map(|it| graph.nodes[*it].inputs[0].clone())
            .collect();
        let (result, others) = (members[0], &members[1..]);
        reduce(&mut graph.nodes[result], inputs, &mut added);
        let result = graph.nodes[result].name.clone();
        for other in others {
            graph.nodes[*other].inputs[0].clone_from(&result);
            become_identity(&mut graph.nodes[*other]);
        }
    }
    let mut is_changed = replace_single_nodes(graph, &mut added) || !groups.is_empty();
    is_changed |= select_rings(graph);
    graph.nodes.append(&mut added);
    is_changed
}

/// Selects core's rings for its collective ops. Returns true if there are any whose hint is another one.
fn select_rings(graph: &mut Graph) -> bool {
    let mut is_changed = false;
    let on_device =
        |it: &&mut Node| it.device_type() == Some(DEVICE_TYPE) && it.op.starts_with("Collective");
    for node in graph.nodes.iter_mut().filter(on_device) {
        let hint = node
            .attributes
            .iter_mut()
            .find(|(name, _)| name == "communication_hint");
        if let Some((_, hint)) = hint.filter(|(_, it)| it.as_str() != Some("ring")) {
            *hint = "ring".into();
            is_changed = true;
        }
    }
    is_changed
}

/// Returns the positions of the nodes of each group that is complete.
fn groups(graph: &Graph) -> Vec<Vec<usize>> {
    let mut groups = BTreeMap::<_, Vec<_>>::new();
    for (position, node) in graph.nodes.iter().enumerate() {
        let name = node.attribute("shared_name").and_then(Attribute::as_str);
        if node.op == "NcclAllReduce" && is_replaceable(node) && !node.inputs.is_empty() {
            groups.entry(name).or_default().push(position);
        }
    }
    let is_complete = |members: &Vec<usize>| {
        let count = graph.nodes[members[0]]
            .attribute("num_devices")
            .and_then(Attribute::as_int);
        usize::try_from(count.unwrap_or(0)).is_ok_and(|it| it == members.len())
    };
    groups.into_values().filter(is_complete).collect()
}

/// Replaces the reductions to one device and the copies to several, each of which is one node.
fn replace_single_nodes(graph: &mut Graph, added: &mut Vec<Node>) -> bool {
    let mut is_changed = false;
    for node in &mut graph.nodes {
        match &*node.op {
            "NcclReduce" if is_replaceable(node) => {
                let (inputs, controls) = std::mem::take(&mut node.inputs)
                    .into_iter()
                    .partition(|it| !it.starts_with('^'));
                node.inputs = controls;
                // `reduce` replaces the first input.
                node.inputs.insert(0, String::new());
                reduce(node, inputs, added);
            }
            "NcclBroadcast" => become_identity(node),
            _ => continue,
        }
        is_changed = true;
    }
    is_changed
}

/// Returns true if the type is known, and the reduction is one that an op computes.
fn is_replaceable(node: &Node) -> bool {
    node.attribute("T").is_some() && op_of(node).is_some()
}

/// Returns the op of the reduction.
fn op_of(node: &Node) -> Option<&'static str> {
    match node.attribute("reduction")?.as_str()? {
        "sum" => Some("AddN"),
        "prod" => Some("Mul"),
        "min" => Some("Minimum"),
        "max" => Some("Maximum"),
        _ => None,
    }
}

/// Makes the node the reduction of the inputs, which replace its first one; nodes before it are added.
fn reduce(node: &mut Node, inputs: Vec<String>, added: &mut Vec<Node>) {
    let Some(op) = op_of(node) else { return };
    let count = inputs.len();
    let inputs = match op {
        "AddN" => inputs,
        _ => fold(node, op, inputs, added),
    };
    let is_single = inputs.len() == 1;
    node.op = if is_single { "Identity" } else { op }.into();
    node.inputs.splice(..1, inputs);
    retain_type(node);
    if node.op == "AddN" {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        node.attributes.push(("N".into(), count.into()));
    }
}

/// Adds nodes that reduce all inputs but the last one; returns the two inputs that are left, or the only one.
fn fold(node: &Node, op: &str, inputs: Vec<String>, added: &mut Vec<Node>) -> Vec<String> {
    let mut inputs = inputs.into_iter();
    let mut left: Vec<String> = inputs.by_ref().take(2).collect();
    for (number, input) in inputs.enumerate() {
        let mut partial = node.clone();
        (partial.name, partial.op) = (format!("{}/reduction_{number}", node.name), op.into());
        partial.inputs = left;
        retain_type(&mut partial);
        left = vec![partial.name.clone(), input];
        added.push(partial);
    }
    left
}

/// Makes the node a copy of its first input.
fn become_identity(node: &mut Node) {
    node.op = "Identity".into();
    let mut index = 0;
    node.inputs.retain(|it| {
        index += 1;
        index == 1 || it.starts_with('^')
    });
    retain_type(node);
}

/// Removes the attributes of the former op but the type.
fn retain_type(node: &mut Node) {
    node.attributes
        .retain(|(name, _)| name == "T" || name.starts_with('_'));
}

#[cfg(test)]
mod tests {
    use sp_abi::tf_datatype::TF_DataType;

    use super::*;

    fn node(name: &str, op: &str, inputs: &str, reduction: &str, device: usize) -> Node {
        let mut node = Node::new(name, op);
        node.inputs = inputs.split_whitespace().map(String::from).collect();
        node.device = format!("/device:GPU:{device}");
        node.attributes = vec![
            ("T".into(), TF_DataType::TF_FLOAT.into()),
            ("reduction".into(), reduction.into()),
            ("num_devices".into(), 3_i64.into()),
            ("shared_name".into(), "c0".into()),
        ];
        node
    }

    fn all_reduce(reduction: &str, devices: usize) -> Graph {
        let mut graph = Graph::default();
        let member = |it| {
            node(
                &format!("r{it}"),
                "NcclAllReduce",
                &format!("x{it} ^c{it}"),
                reduction,
                it,
            )
        };
        graph.nodes = (0..devices).map(member).collect();
        graph
    }

    fn inputs<'g>(graph: &'g Graph, name: &str) -> &'g [String] {
        &graph.node(name).unwrap().inputs
    }

    #[test]
    fn sum_is_computed_on_the_first_device_and_copied_to_the_others() {
        let mut graph = all_reduce("sum", 3);
        assert!(replace_in(&mut graph));
        let ops: Vec<_> = graph.nodes.iter().map(|it| &*it.op).collect();
        assert_eq!(ops, ["AddN", "Identity", "Identity"]);
        assert_eq!(inputs(&graph, "r0"), ["x0", "x1", "x2", "^c0"]);
        assert_eq!(inputs(&graph, "r2"), ["r0", "^c2"]);
        assert_eq!(
            graph.nodes[0].attribute("N").and_then(Attribute::as_int),
            Some(3)
        );
        assert_eq!(graph.nodes[1].attributes.len(), 1);
        assert_eq!(graph.nodes[1].device, "/device:GPU:1");
    }

    #[test]
    fn other_reductions_are_chains_of_two_operands() {
        let mut graph = all_reduce("max", 3);
        assert!(replace_in(&mut graph));
        assert_eq!(inputs(&graph, "r0"), ["r0/reduction_0", "x2", "^c0"]);
        assert_eq!(inputs(&graph, "r0/reduction_0"), ["x0", "x1"]);
        assert!(
            graph
                .nodes
                .iter()
                .all(|it| it.op == "Maximum" || it.op == "Identity")
        );
    }

    #[test]
    fn group_without_all_devices_is_not_changed() {
        assert!(!replace_in(&mut all_reduce("sum", 2)));
        assert!(!replace_in(&mut all_reduce("median", 3)));
    }

    #[test]
    fn collective_op_of_core_uses_a_ring() {
        let mut graph = Graph::default();
        graph.nodes = vec![node("all", "CollectiveReduceV2", "x", "", 0)];
        graph.nodes[0]
            .attributes
            .push(("communication_hint".into(), "nccl".into()));
        assert!(replace_in(&mut graph));
        let hint = graph.nodes[0].attribute("communication_hint");
        assert_eq!(hint.and_then(Attribute::as_str), Some("ring"));
        assert!(!replace_in(&mut graph));
    }

    #[test]
    fn reduction_to_one_device_and_copy_to_several_are_single_nodes() {
        let mut graph = Graph::default();
        graph.nodes = vec![
            node("sum", "NcclReduce", "x0 x1 ^first", "sum", 0),
            node("copy", "NcclBroadcast", "x0 shape ^first", "", 0),
        ];
        assert!(replace_in(&mut graph));
        assert_eq!(inputs(&graph, "sum"), ["x0", "x1", "^first"]);
        assert_eq!(inputs(&graph, "copy"), ["x0", "^first"]);
        assert_eq!(graph.node("copy").unwrap().op, "Identity");
    }
}
