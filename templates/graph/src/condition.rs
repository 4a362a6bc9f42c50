//! Conditions of loops and branches are computed in host memory.
//!
//! The host reads a condition, and core's kernels compare the counters of a loop there. If the logical op between is a kernel
//! whose arguments are in device memory, each iteration copies both comparisons to the device and the condition back.
//!
//! A kernel's arguments are in one memory for all nodes, so a kernel in host memory has the label `host`, which this
//! pass sets. A plugin that had all logical ops in host memory would copy masks.

use std::collections::{BTreeSet, HashMap};
use std::ffi::CStr;

use crate::{Attribute, Graph, Kernels, Node, TypeNumber};

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

/// Selects the kernels with the label. Returns true if there are any.
pub fn place_on_host(graph: &mut Graph, device_type: &str, kernels: &dyn Kernels) -> bool {
    let may_select = |op: &str, label: &CStr| kernels.may_select(op, label);
    let has_kernels = LOGICAL.iter().any(|op| may_select(op, HOST_LABEL));
    let is_own = |op: &str| kernels.first_table(op, TypeNumber::INT32).is_some();
    has_kernels && select_kernels(graph, device_type, may_select, is_own)
}

/// Selects the kernels that `may_select` allows. `is_own` is true for the ops of which the plugin has a kernel for int32.
fn select_kernels(
    graph: &mut Graph,
    device_type: &str,
    may_select: impl Fn(&str, &CStr) -> bool,
    is_own: impl Fn(&str) -> bool,
) -> bool {
    let can_change = |node: &Node| {
        node.device_type() == Some(device_type)
            && !node.selects_kernel()
            && may_select(&node.op, HOST_LABEL)
    };
    let conditions = conditions(graph, can_change, is_own);
    let conditions: BTreeSet<String> = conditions.into_iter().map(String::from).collect();
    let nodes = graph.nodes.iter_mut();
    for node in nodes.filter(|it| conditions.contains(&it.name)) {
        let label = Attribute::from(&*HOST_LABEL.to_string_lossy());
        node.attributes.push((Node::LABEL_ATTRIBUTE.into(), label));
    }
    !conditions.is_empty()
}

/// Returns the names of the logical nodes that may change and cause fewer copies in host memory.
fn conditions(
    graph: &Graph,
    can_change: impl Fn(&Node) -> bool,
    is_own: impl Fn(&str) -> bool,
) -> BTreeSet<&str> {
    let logical = graph.nodes.iter().filter(|it| LOGICAL.contains(&&*it.op));
    let names = logical.filter(|it| can_change(it)).map(|it| &*it.name);
    let comparisons = graph
        .nodes
        .iter()
        .filter(|it| is_comparison(it) && !is_own(&it.op));
    Conditions::new(graph, names, comparisons).find()
}

/// The search for conditions, from all candidates to those that remain.
struct Conditions<'g> {
    /// The names of nodes that no check has removed.
    found: BTreeSet<&'g str>,
    /// The names of core's comparisons.
    in_host_memory: BTreeSet<&'g str>,
    /// The inputs of each node that has any.
    inputs: HashMap<&'g str, Vec<Read<'g>>>,
    /// The uses of each node that has any.
    uses: HashMap<&'g str, Vec<Read<'g>>>,
}

impl<'g> Conditions<'g> {
    fn new(
        graph: &'g Graph,
        candidates: impl Iterator<Item = &'g str>,
        comparisons: impl Iterator<Item = &'g Node>,
    ) -> Self {
        let (mut inputs, mut uses) = (HashMap::<_, Vec<_>>::new(), HashMap::<_, Vec<_>>::new());
        for read in graph.nodes.iter().flat_map(Read::all) {
            inputs.entry(read.reader).or_default().push(read);
            uses.entry(read.source).or_default().push(read);
        }
        Self {
            found: candidates.filter(|it| uses.contains_key(it)).collect(),
            in_host_memory: comparisons.map(|it| &*it.name).collect(),
            inputs,
            uses,
        }
    }

    fn find(mut self) -> BTreeSet<&'g str> {
        let stays = |it: &&str| !self.is_read_on_device(it) && self.has_fewer_copies(it);
        let mut removed: Vec<&str> = self.found.iter().copied().filter(|it| !stays(it)).collect();
        while let Some(name) = removed.pop() {
            if !self.found.remove(name) {
                continue;
            }
            // Without one node, those that it reads or that read it may have more copies.
            let inputs = self.inputs(name).iter().filter(|it| !it.is_by_host);
            removed.extend(inputs.map(|it| it.source));
            let readers = self.uses(name).iter().map(|it| it.reader);
            let readers = readers.filter(|it| self.found.contains(it));
            removed.extend(readers.filter(|it| !self.has_fewer_copies(it)));
        }
        self.found
    }

    fn is_read_on_device(&self, name: &str) -> bool {
        let mut uses = self.uses(name).iter();
        uses.any(|it| !it.is_by_host && !self.found.contains(it.reader))
    }

    /// Returns true if a node that computes in host memory needs fewer copies than on the device.
    fn has_fewer_copies(&self, name: &str) -> bool {
        let is_host = |it: &&Read<'_>| {
            self.found.contains(it.source) || self.in_host_memory.contains(it.source)
        };
        let inputs = self.inputs(name);
        let host = inputs.iter().filter(is_host).count();
        let device = inputs.len() - host;
        // On the device, those of the host and the result are copied.
        device < host + 1
    }

    fn inputs(&self, name: &str) -> &[Read<'g>] {
        self.inputs.get(name).map_or(&[], Vec::as_slice)
    }

    fn uses(&self, name: &str) -> &[Read<'g>] {
        self.uses.get(name).map_or(&[], Vec::as_slice)
    }
}

fn is_comparison(node: &Node) -> bool {
    let dtype = node.attribute("T").and_then(Attribute::as_type);
    COMPARISONS.contains(&&*node.op) && dtype == Some(TypeNumber::INT32)
}

/// A data input of a node.
#[derive(Debug, Clone, Copy)]
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
        let is_changed =
            select_kernels(&mut graph, "MYACCEL", |op, _| op != "LogicalOr", |_| false);
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
        let dtype = Attribute::from(TypeNumber::INT32);
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

    /// Returns a chain of logical nodes that ends in the condition of a loop.
    fn chain(len: usize, logical: impl Fn(&str, &str) -> Node) -> Vec<Node> {
        let mut nodes = vec![comparison("n0"), node("All", "all", &[])];
        nodes.extend((1..=len).map(|i| logical(&format!("n{i}"), &format!("n{}", i - 1))));
        nodes.push(node("LoopCond", "loop", &[&format!("n{len}")]));
        nodes
    }

    /// A search that visits all nodes after each node that it removes takes hours for so long a chain.
    #[test]
    fn labels_all_or_none_of_chain_of_10_000_nodes() {
        const LEN: usize = 10_000;
        let and = |name: &str, before: &str| node("LogicalAnd", name, &[before, "all"]);
        let nodes = chain(LEN, and);
        assert_eq!(labelled(nodes.clone()).len(), LEN);

        let mut read_on_device = nodes.clone();
        read_on_device.push(node("Cast", "cast", &[&format!("n{LEN}")]));
        assert_eq!(labelled(read_on_device), [""; 0]);

        let mut of_device = nodes;
        of_device[0] = node("Any", "n0", &[]);
        assert_eq!(labelled(of_device), [""; 0]);
    }
}
