//! Sums over devices by NCCL become sums on one device, and copies of the result.
//!
//! `MirroredStrategy` writes `NcclAllReduce` for devices of type GPU in 2.12, whether or not a kernel exists. A kernel of the C API
//! could only wait for those of the other devices on threads that these need, so a group of nodes is replaced as a whole.
//! TensorFlow's public functions write no other reductions than sums.
//!
//! Core's collective ops get the hint to use its own rings: otherwise a build with CUDA uses NCCL for devices of type GPU.
//!
//! Asynchronous kernels, which could wait elsewhere, exist from 2.13 on only. No build without CUDA has a kernel of
//! `NcclAllReduce`.

use std::collections::BTreeMap;

use crate::{Attribute, Graph, Kernels, Node, TypeNumber};

/// The device type for which Python writes the ops.
const DEVICE_TYPE: &str = "GPU";

/// Replaces the ops of NCCL. Returns true if there are any.
pub fn replace(graph: &mut Graph, device_type: &str, kernels: &dyn Kernels) -> bool {
    let may_replace = |op: &str, other: &str, dtype| kernels.may_replace(op, other, dtype);
    device_type == DEVICE_TYPE && replace_in(graph, &may_replace)
}

/// Returns true if a node of an op and type may become one of another op.
type MayReplace<'a> = &'a dyn Fn(&str, &str, TypeNumber) -> bool;

fn replace_in(graph: &mut Graph, may_replace: MayReplace<'_>) -> bool {
    let groups = groups(graph, may_replace);
    for members in &groups {
        replace_group(graph, members);
    }
    let mut is_changed = !groups.is_empty();
    for node in &mut graph.nodes {
        is_changed |= replace_node(node, may_replace) || select_ring(node);
    }
    is_changed
}

/// The op of a sum.
const SUM: &str = "AddN";

/// The op of a copy.
const COPY: &str = "Identity";

/// Returns true if the node has a type, and the plugin has no kernel of its own that `other` would bypass.
fn becomes(node: &Node, other: &str, may_replace: MayReplace<'_>) -> bool {
    let dtype = node.attribute("T").and_then(Attribute::as_type);
    dtype.is_some_and(|it| may_replace(&node.op, other, it))
}

/// Selects core's rings for a collective op of core. Returns true if its hint was another one.
fn select_ring(node: &mut Node) -> bool {
    if node.device_type() != Some(DEVICE_TYPE) || !node.op.starts_with("Collective") {
        return false;
    }
    let mut attributes = node.attributes.iter_mut();
    let hint = attributes.find(|(name, _)| name == "communication_hint");
    let other = hint.filter(|(_, it)| it.as_str() != Some("ring"));
    other.map(|(_, hint)| *hint = "ring".into()).is_some()
}

/// Returns the positions of the nodes of each group that is complete.
///
/// The nodes of a function that is inlined twice have one name, and prefixes of their own.
fn groups(graph: &Graph, may_replace: MayReplace<'_>) -> Vec<Vec<usize>> {
    let (mut groups, mut parts) = (BTreeMap::<_, Vec<_>>::new(), BTreeMap::<_, Vec<_>>::new());
    for (position, node) in graph.nodes.iter().enumerate() {
        let name = node.attribute("shared_name").and_then(Attribute::as_str);
        let is_replaced = is_sum(node) && becomes(node, SUM, may_replace);
        if node.op == "NcclAllReduce" && is_replaced && !node.inputs.is_empty() {
            let prefix = node.name.rsplit_once('/').map(|(prefix, _)| prefix);
            groups.entry(name).or_default().push(position);
            parts.entry((name, prefix)).or_default().push(position);
        }
    }
    let is_complete = |members: &Vec<usize>| {
        let count = graph.nodes[members[0]]
            .attribute("num_devices")
            .and_then(Attribute::as_int);
        usize::try_from(count.unwrap_or(0)).is_ok_and(|it| it == members.len())
    };
    let is_divided = |name| groups.get(name).is_some_and(|it| !is_complete(it));
    let parts = parts.iter().filter(|((name, _), _)| is_divided(name));
    let all = groups.values().chain(parts.map(|(_, members)| members));
    all.filter(|it| is_complete(it)).cloned().collect()
}

/// Makes the first node of a group the sum of all, and the others copies of it.
fn replace_group(graph: &mut Graph, members: &[usize]) {
    let inputs = members.iter().map(|it| graph.nodes[*it].inputs[0].clone());
    let inputs: Vec<_> = inputs.collect();
    become_sum(&mut graph.nodes[members[0]], inputs, 1);
    let sum = graph.nodes[members[0]].name.clone();
    for other in &members[1..] {
        graph.nodes[*other].inputs[0].clone_from(&sum);
        become_identity(&mut graph.nodes[*other]);
    }
}

/// Replaces a sum on one device, or a copy to several, each of which is one node. Returns true if it is one.
fn replace_node(node: &mut Node, may_replace: MayReplace<'_>) -> bool {
    match &*node.op {
        "NcclReduce" if is_sum(node) && becomes(node, SUM, may_replace) => {
            let count = node.inputs().filter(|it| it.output.is_some()).count();
            let inputs = node.inputs[..count].to_vec();
            become_sum(node, inputs, count);
        }
        "NcclBroadcast" if becomes(node, COPY, may_replace) => become_identity(node),
        _ => return false,
    }
    true
}

fn is_sum(node: &Node) -> bool {
    let reduction = node.attribute("reduction").and_then(Attribute::as_str);
    reduction == Some("sum")
}

/// Makes the node the sum of these inputs, which replace its first `count` ones.
fn become_sum(node: &mut Node, inputs: Vec<String>, count: usize) {
    let terms = i64::try_from(inputs.len()).unwrap_or(i64::MAX);
    node.op = SUM.into();
    node.inputs.splice(..count, inputs);
    retain_type(node);
    node.attributes.push(("N".into(), terms.into()));
}

/// Makes the node a copy of its input.
fn become_identity(node: &mut Node) {
    node.op = COPY.into();
    retain_type(node);
}

/// Removes the attributes of the former op but the type.
fn retain_type(node: &mut Node) {
    node.attributes
        .retain(|(name, _)| name == "T" || name.starts_with('_'));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Replaces the ops with a plugin that has no kernel of them.
    fn changes(graph: &mut Graph) -> bool {
        replace_in(graph, &|_, _, _| true)
    }

    fn node(name: &str, op: &str, inputs: &str, reduction: &str, device: usize) -> Node {
        let mut node = Node::new(name, op);
        node.inputs = inputs.split_whitespace().map(String::from).collect();
        node.device = format!("/device:GPU:{device}");
        node.attributes = vec![
            ("T".into(), TypeNumber::FLOAT.into()),
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
        assert!(changes(&mut graph));
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
    fn function_that_is_inlined_twice_has_two_groups() {
        let mut graph = all_reduce("sum", 3);
        let mut second = graph.nodes.clone();
        for (call, nodes) in [("a", &mut graph.nodes), ("b", &mut second)] {
            nodes
                .iter_mut()
                .for_each(|it| it.name = format!("{call}/{}", it.name));
        }
        graph.nodes.extend(second);
        assert!(changes(&mut graph));
        assert_eq!(inputs(&graph, "a/r1"), ["a/r0", "^c1"]);
        assert_eq!(inputs(&graph, "b/r1"), ["b/r0", "^c1"]);
    }

    #[test]
    fn other_reduction_and_group_without_all_devices_are_not_changed() {
        assert!(!changes(&mut all_reduce("sum", 2)));
        assert!(!changes(&mut all_reduce("max", 3)));
    }

    #[test]
    fn collective_op_of_core_uses_a_ring() {
        let mut graph = Graph::default();
        graph.nodes = vec![node("all", "CollectiveReduceV2", "x", "", 0)];
        graph.nodes[0]
            .attributes
            .push(("communication_hint".into(), "nccl".into()));
        assert!(changes(&mut graph));
        let hint = graph.nodes[0].attribute("communication_hint");
        assert_eq!(hint.and_then(Attribute::as_str), Some("ring"));
        assert!(!changes(&mut graph));
    }

    #[test]
    fn reduction_to_one_device_and_copy_to_several_are_single_nodes() {
        let mut graph = Graph::default();
        graph.nodes = vec![
            node("sum", "NcclReduce", "x0 x1 ^first", "sum", 0),
            node("copy", "NcclBroadcast", "x0 ^first", "", 0),
        ];
        assert!(changes(&mut graph));
        assert_eq!(inputs(&graph, "sum"), ["x0", "x1", "^first"]);
        assert_eq!(inputs(&graph, "copy"), ["x0", "^first"]);
        assert_eq!(graph.node("copy").unwrap().op, "Identity");
    }

    #[test]
    fn ops_with_a_kernel_of_the_author_stay() {
        for op in ["NcclAllReduce", "NcclReduce", "NcclBroadcast"] {
            let mut graph = match op {
                "NcclAllReduce" => all_reduce("sum", 3),
                _ => Graph::default(),
            };
            if graph.nodes.is_empty() {
                graph.nodes = vec![node("x", op, "x0", "sum", 0)];
            }
            assert!(!replace_in(&mut graph, &|replaced, _, _| replaced != op));
            assert!(changes(&mut graph), "{op}");
        }
    }
}
