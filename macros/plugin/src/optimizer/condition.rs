//! Conditions of loops and branches are computed in host memory.
//!
//! The host reads a condition, and core's kernels compare the counters of a loop there. If the logical op between is a kernel
//! whose arguments are in device memory, each iteration copies both comparisons to the device and the condition back.

use std::collections::BTreeSet;
use std::ffi::CStr;

use sp_abi::tf_datatype::TF_DataType;

use crate::Result;
use crate::graph::{Attribute, Graph, Node};
use crate::kernel;

/// The label of kernels whose arguments are all in host memory.
pub const HOST_LABEL: &CStr = c"host";

/// The ops of a condition.
const LOGICAL: [&str; 3] = ["LogicalAnd", "LogicalOr", "LogicalNot"];

/// The ops whose results are in host memory if their operands are of type int32: core's kernels of any device.
const COMPARISONS: [&str; 6] = [
    "Equal",
    "NotEqual",
    "Less",
    "LessEqual",
    "Greater",
    "GreaterEqual",
];

/// Selects the kernels with the label in a serialized graph. Returns `None` if there are no nodes to change.
///
/// # Errors
/// Returns an error if `bytes` is not a valid `GraphDef`.
pub(super) fn place_on_host(bytes: &[u8], device_type: &str) -> Result<Option<Vec<u8>>> {
    if !LOGICAL.iter().any(|op| kernel::has_label(op, HOST_LABEL)) {
        return Ok(None);
    }
    let mut graph = Graph::parse(bytes)?;
    let is_changed = select_kernels(&mut graph, device_type, kernel::has_label);
    Ok(is_changed.then(|| graph.to_bytes()))
}

/// Selects the kernels with the label. Returns true if there are any.
fn select_kernels(
    graph: &mut Graph,
    device_type: &str,
    has_label: impl Fn(&str, &CStr) -> bool,
) -> bool {
    let can_change = |node: &Node| {
        node.device_type() == Some(device_type)
            && !node.selects_kernel()
            && has_label(&node.op, HOST_LABEL)
    };
    let conditions = conditions(graph, can_change);
    let conditions: BTreeSet<String> = conditions.into_iter().map(String::from).collect();
    let nodes = graph.nodes.iter_mut();
    for node in nodes.filter(|it| conditions.contains(&it.name)) {
        let label = Attribute::from(&*HOST_LABEL.to_string_lossy());
        node.attributes.push((Node::LABEL_ATTRIBUTE.into(), label));
    }
    !conditions.is_empty()
}

/// Returns the names of the logical nodes that may change and cause fewer copies in host memory.
fn conditions(graph: &Graph, can_change: impl Fn(&Node) -> bool) -> BTreeSet<&str> {
    let reads: Vec<Read> = graph.nodes.iter().flat_map(Read::all).collect();
    let in_host_memory = graph.nodes.iter().filter(|it| is_core_comparison(it));
    let in_host_memory: BTreeSet<&str> = in_host_memory.map(|it| &*it.name).collect();
    let logical = graph.nodes.iter().filter(|it| LOGICAL.contains(&&*it.op));
    let is_read = |name: &&str| reads.iter().any(|it| it.source == *name);
    let mut found: BTreeSet<&str> = logical
        .filter(|it| can_change(it))
        .map(|it| &*it.name)
        .filter(is_read)
        .collect();
    loop {
        let on_device = reads
            .iter()
            .filter(|it| !it.is_by_host && !found.contains(it.reader));
        let read_on_device: BTreeSet<&str> = on_device.map(|it| it.source).collect();
        let has_fewer_copies = |name: &str| {
            let inputs = reads.iter().filter(|it| it.reader == name);
            let is_host =
                |it: &&Read| found.contains(it.source) || in_host_memory.contains(it.source);
            let (host, device): (Vec<_>, Vec<_>) = inputs.partition(is_host);
            // On the device, those of the host and the result are copied.
            device.len() < host.len() + 1
        };
        let stays = |name: &&&str| !read_on_device.contains(**name) && has_fewer_copies(name);
        let remaining: BTreeSet<&str> = found.iter().filter(stays).copied().collect();
        // Without one node, those that it reads or that read it may have more copies.
        if remaining.len() == found.len() {
            return found;
        }
        found = remaining;
    }
}

fn is_core_comparison(node: &Node) -> bool {
    let dtype = node.attribute("T").and_then(Attribute::as_type);
    COMPARISONS.contains(&&*node.op)
        && dtype == Some(TF_DataType::TF_INT32)
        && kernel::first_table(&node.op, TF_DataType::TF_INT32).is_none()
}

/// A data input of a node.
struct Read<'g> {
    reader: &'g str,
    source: &'g str,
    is_by_host: bool,
}

impl<'g> Read<'g> {
    fn all(node: &'g Node) -> impl Iterator<Item = Self> {
        let inputs = node.inputs().enumerate();
        let data = inputs.filter(|(_, it)| it.output.is_some());
        data.map(move |(index, input)| Self {
            reader: &node.name,
            source: input.node,
            is_by_host: is_read_by_host(node, index),
        })
    }
}

/// Returns true if core's kernel of this node has its input `index` in host memory.
fn is_read_by_host(node: &Node, index: usize) -> bool {
    // A branch begins with a switch of the condition by itself, whose results order other nodes only.
    let is_pivot = || node.inputs.first() == node.inputs.get(1);
    match &*node.op {
        "LoopCond" | "If" | "StatelessIf" => index == 0,
        "Switch" | "RefSwitch" => index == 1 || is_pivot(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(op: &str, name: &str, inputs: &[&str]) -> Node {
        let mut node = Node::new(name, op);
        node.device = "/job:localhost/replica:0/task:0/device:MYACCEL:0".into();
        node.inputs = inputs.iter().map(|it| it.to_string()).collect();
        node
    }

    /// Returns the names of nodes with the label.
    fn labelled(nodes: Vec<Node>) -> Vec<String> {
        let mut graph = Graph::default();
        graph.nodes.extend(nodes);
        let is_changed = select_kernels(&mut graph, "MYACCEL", |op, _| op != "LogicalOr");
        let with_label = graph.nodes.iter().filter(|it| {
            let label = it.attribute(Node::LABEL_ATTRIBUTE);
            label.is_some_and(|label| label.as_str() == Some("host"))
        });
        let names: Vec<String> = with_label.map(|it| it.name.clone()).collect();
        assert_eq!(is_changed, !names.is_empty());
        names
    }

    fn comparison(name: &str) -> Node {
        let mut node = node("Less", name, &[]);
        let dtype = Attribute::from(TF_DataType::TF_INT32);
        node.attributes.push(("T".into(), dtype));
        node
    }

    #[test]
    fn condition_of_loop_is_in_host_memory() {
        let names = labelled(vec![
            comparison("a"),
            node("All", "all", &[]),
            node("LogicalNot", "not", &["a"]),
            node("LogicalAnd", "and", &["not", "all"]),
            node("LoopCond", "loop", &["and"]),
            node("Switch", "switch", &["a", "and"]),
            node("Switch", "pivot", &["and", "and"]),
            node("NoOp", "after", &["^and"]),
        ]);
        assert_eq!(names, ["not", "and"]);
    }

    #[test]
    fn result_that_a_kernel_of_the_device_reads_stays() {
        let names = labelled(vec![
            comparison("a"),
            node("LogicalNot", "inner", &["a"]),
            node("LogicalAnd", "and", &["inner", "a"]),
            node("Cast", "cast", &["and"]),
            node("LoopCond", "loop", &["and"]),
            node("LogicalNot", "value", &["a"]),
            node("Switch", "switch", &["value", "b"]),
            node("LogicalNot", "unread", &["a"]),
        ]);
        assert_eq!(names, [""; 0]);
    }

    #[test]
    fn condition_of_two_values_of_the_device_stays() {
        let names = labelled(vec![
            node("Any", "any", &[]),
            node("All", "all", &[]),
            node("LogicalAnd", "and", &["any", "all"]),
            node("LoopCond", "loop", &["and"]),
        ]);
        assert_eq!(names, [""; 0]);
    }

    #[test]
    fn node_elsewhere_or_without_kernel_or_with_label_stays() {
        let mut elsewhere = node("LogicalAnd", "elsewhere", &["a", "b"]);
        elsewhere.device = "/job:localhost/replica:0/task:0/device:CPU:0".into();
        let mut other = node("LogicalAnd", "other", &["a", "b"]);
        other
            .attributes
            .push((Node::LABEL_ATTRIBUTE.into(), "mine".into()));
        let names = labelled(vec![
            comparison("a"),
            comparison("b"),
            elsewhere,
            other,
            node("LogicalOr", "or", &["a", "b"]),
            node("LoopCond", "first", &["elsewhere"]),
            node("LoopCond", "second", &["or"]),
            node("LoopCond", "third", &["other"]),
        ]);
        assert_eq!(names, [""; 0]);
    }
}
