//! Sums in temporary variables become `AddN` again.
//!
//! If TensorFlow's memory optimizer estimates that a graph needs much memory, it replaces `AddN` by a temporary variable, to
//! which it adds each term as soon as that is computed. `Assign` and `AssignAdd` of such a variable have kernels for core's own
//! devices only, so the graph would fail on a plugin's device.
//!
//! The pass could be switched off in one line, but a process with two plugins of different `TP_OptimizerConfigs` ends
//! when it optimizes a graph. The sum is restored before fusion.

use std::collections::{BTreeSet, HashMap};

use crate::{Attribute, Graph, Kernels, Node, TypeNumber};

/// The op that replaces those of a sum in a temporary variable.
const SUM: &str = "AddN";

/// Replaces the sums in temporary variables. Returns true if there are any.
pub fn replace(graph: &mut Graph, device_type: &str, kernels: &dyn Kernels) -> bool {
    let may_replace = |op: &str, other: &str, dtype| kernels.may_replace(op, other, dtype);
    replace_in(graph, device_type, may_replace)
}

fn replace_in(
    graph: &mut Graph,
    device_type: &str,
    may_replace: impl Fn(&str, &str, TypeNumber) -> bool,
) -> bool {
    let links = Links::new(graph);
    let nodes = graph.nodes.iter().enumerate();
    let on_device = nodes.filter(|(_, it)| it.device_type() == Some(device_type));
    let sums: Vec<(usize, Node, Vec<String>)> = on_device
        .filter_map(|(position, it)| {
            let sum = TemporarySum::find(&links, it)?;
            let dtype = it.attribute("T").and_then(Attribute::as_type);
            let is_kept = |it: &Node| dtype.is_some_and(|dtype| !may_replace(&it.op, SUM, dtype));
            if sum.parts().chain([sum.result]).any(is_kept) {
                return None;
            }
            let names = sum.parts().map(|it| it.name.clone()).collect();
            Some((position, sum.to_node()?, names))
        })
        .collect();
    let is_changed = !sums.is_empty();
    let mut replaced = BTreeSet::new();
    for (position, node, names) in sums {
        graph.nodes[position] = node;
        replaced.extend(names);
    }
    graph.nodes.retain(|it| !replaced.contains(&it.name));
    is_changed
}

/// The nodes of a graph by name, and how many inputs name each.
struct Links<'g> {
    nodes: HashMap<&'g str, &'g Node>,
    readers: HashMap<&'g str, usize>,
}

impl<'g> Links<'g> {
    fn new(graph: &'g Graph) -> Self {
        let mut readers = HashMap::new();
        for input in graph.nodes.iter().flat_map(Node::inputs) {
            *readers.entry(input.node).or_default() += 1;
        }
        let nodes = graph.nodes.iter().map(|it| (&*it.name, it)).collect();
        Self { nodes, readers }
    }

    /// Returns the source of an input if it runs this op, and if so many inputs name it.
    fn source(&self, node: &Node, index: usize, op: &str, readers: usize) -> Option<&'g Node> {
        let found = *self.nodes.get(node.inputs().nth(index)?.node)?;
        let is_read_by = self.readers.get(&*found.name) == Some(&readers);
        (found.op == op && is_read_by).then_some(found)
    }
}

/// The nodes of a sum in a temporary variable, which no other nodes read or wait for.
struct TemporarySum<'g> {
    /// The node that returns the value and destroys the variable; it has the name of the former `AddN`.
    result: &'g Node,
    variable: &'g Node,
    /// Assigns zeros. Their node stays, since another node may read it; a pass of TensorFlow removes it otherwise.
    initializer: &'g Node,
    /// Each adds a term, in the order of the terms.
    additions: Vec<&'g Node>,
}

impl<'g> TemporarySum<'g> {
    /// Returns the sum whose value `result` returns, or `None` if it is another node.
    fn find(links: &Links<'g>, result: &'g Node) -> Option<Self> {
        if result.op != "DestroyTemporaryVariable" {
            return None;
        }
        let target = result.inputs().next()?.node;
        let is_addition = |node: &Node| node.inputs().next().is_some_and(|it| it.node == target);
        let mut additions: Vec<&Node> = (1..result.inputs.len())
            .filter_map(|index| links.source(result, index, "AssignAdd", 1))
            .filter(|it| is_addition(it))
            .collect();
        // The names end with the numbers of the terms. Control inputs have no order.
        additions.sort_by_key(|it| it.name.rsplit('_').next()?.parse::<usize>().ok());
        if additions.is_empty() {
            return None;
        }
        let initializer = links.source(result, 0, "Assign", additions.len() + 1)?;
        Some(Self {
            result,
            variable: links.source(initializer, 0, "TemporaryVariable", 1)?,
            initializer,
            additions,
        })
    }

    /// Returns the nodes that are removed.
    fn parts(&self) -> impl Iterator<Item = &'g Node> {
        let first = [self.variable, self.initializer];
        first.into_iter().chain(self.additions.iter().copied())
    }

    /// Returns the `AddN`, or `None` if an addition has no term. It waits for all nodes that the parts wait for.
    fn to_node(&self) -> Option<Node> {
        let terms = self.additions.iter().map(|it| it.inputs.get(1).cloned());
        let mut node = self.result.clone();
        node.op = SUM.into();
        node.attributes.retain(|(name, _)| name != "var_name");
        let count = i64::try_from(self.additions.len()).ok()?;
        node.attributes.push(("N".into(), count.into()));
        node.inputs = terms.collect::<Option<_>>()?;
        let parts: BTreeSet<&str> = self.parts().map(|it| &*it.name).collect();
        let waiting = self.parts().chain([self.result]);
        let controls: BTreeSet<String> = waiting
            .flat_map(Node::inputs)
            .filter(|it| it.output.is_none() && !parts.contains(it.node))
            .map(|it| format!("^{}", it.node))
            .collect();
        node.inputs.extend(controls);
        Some(node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Replaces the sums with a plugin that has no kernel of their ops.
    fn changes(graph: &mut Graph, device_type: &str) -> bool {
        replace_in(graph, device_type, |_, _, _| true)
    }

    /// Returns a node on the device; `inputs` are separated by spaces.
    fn node(name: &str, op: &str, inputs: &str) -> Node {
        let mut node = Node::new(name, op);
        node.inputs = inputs.split_whitespace().map(String::from).collect();
        node.device = "/device:ACCEL:0".into();
        node
    }

    /// Returns the sum of `x`, `y` and `z:1`, as the memory optimizer writes it.
    fn sum_in_variable() -> Graph {
        let mut graph = Graph::default();
        graph.nodes = vec![
            node("x", "Exp", ""),
            node("y", "Exp", ""),
            node("z", "Split", ""),
            node("sum/tmp_var", "TemporaryVariable", "^first"),
            node("sum/tmp_var_zeros", "ZerosLike", "x"),
            node(
                "sum/tmp_var_initializer",
                "Assign",
                "sum/tmp_var sum/tmp_var_zeros",
            ),
            node(
                "sum/tmp_var_accum_2",
                "AssignAdd",
                "sum/tmp_var_initializer z:1",
            ),
            node(
                "sum/tmp_var_accum_0",
                "AssignAdd",
                "sum/tmp_var_initializer x",
            ),
            node(
                "sum/tmp_var_accum_10",
                "AssignAdd",
                "sum/tmp_var_initializer y",
            ),
            node(
                "sum",
                "DestroyTemporaryVariable",
                "sum/tmp_var_initializer ^sum/tmp_var_accum_10 ^sum/tmp_var_accum_0 ^sum/tmp_var_accum_2 ^last",
            ),
            node("end", "Exp", "sum"),
        ];
        graph.nodes[9]
            .attributes
            .push(("var_name".into(), "sum/tmp_var".into()));
        graph
    }

    #[test]
    fn sum_in_temporary_variable_becomes_sum_of_terms_in_order() {
        let mut graph = sum_in_variable();
        assert!(changes(&mut graph, "ACCEL"));
        let names: Vec<&str> = graph.nodes.iter().map(|it| &*it.name).collect();
        assert_eq!(names, ["x", "y", "z", "sum/tmp_var_zeros", "sum", "end"]);
        let sum = graph.node("sum").unwrap();
        assert_eq!(sum.op, "AddN");
        assert_eq!(sum.inputs, ["x", "z:1", "y", "^first", "^last"]);
        assert_eq!(sum.attribute("N").and_then(|it| it.as_int()), Some(3));
        assert!(sum.attribute("var_name").is_none());
    }

    #[test]
    fn sum_on_another_device_is_not_changed() {
        let mut graph = sum_in_variable();
        let before = graph.clone();
        assert!(!changes(&mut graph, "OTHER"));
        assert_eq!(graph, before);
    }

    #[test]
    fn sum_whose_parts_another_node_reads_is_not_changed() {
        let mut graph = sum_in_variable();
        graph
            .nodes
            .push(node("reader", "Exp", "^sum/tmp_var_accum_0"));
        let before = graph.clone();
        assert!(!changes(&mut graph, "ACCEL"));
        assert_eq!(graph, before);
    }

    #[test]
    fn graph_with_addition_without_term_is_not_changed() {
        let mut graph = sum_in_variable();
        graph.nodes[7].inputs.truncate(1);
        let before = graph.clone();
        assert!(!changes(&mut graph, "ACCEL"));
        assert_eq!(graph, before);
    }

    #[test]
    fn other_uses_of_temporary_variables_are_not_changed() {
        let mut graph = sum_in_variable();
        graph.nodes[9].inputs.truncate(1);
        assert!(!changes(&mut graph, "ACCEL"));
        let mut graph = sum_in_variable();
        graph.nodes[5].op = "AssignSub".into();
        assert!(!changes(&mut graph, "ACCEL"));
    }

    #[test]
    fn ops_with_a_kernel_of_the_author_stay() {
        for op in [
            "Assign",
            "AssignAdd",
            "DestroyTemporaryVariable",
            "TemporaryVariable",
        ] {
            let mut graph = sum_in_variable();
            let dtype = Attribute::from(TypeNumber::FLOAT);
            graph.nodes[9].attributes.push(("T".into(), dtype));
            let may_replace = |replaced: &str, other: &str, _| replaced != op || other != SUM;
            assert!(!replace_in(&mut graph, "ACCEL", may_replace), "{op}");
        }
    }
}
