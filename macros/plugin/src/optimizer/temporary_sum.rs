//! Sums in temporary variables become `AddN` again.
//!
//! If TensorFlow's memory optimizer estimates that a graph needs much memory, it replaces `AddN` by a temporary variable, to
//! which it adds each term as soon as that is computed. `Assign` and `AssignAdd` of such a variable have kernels for core's own
//! devices only, so the graph would fail on a plugin's device.

use std::collections::{BTreeSet, HashMap};

use crate::Result;
use crate::graph::{Graph, Node};

/// Replaces the sums in temporary variables of a serialized graph. Returns `None` if there are none.
///
/// # Errors
/// Returns an error if `bytes` is not a valid `GraphDef`.
pub(super) fn replace(bytes: &[u8], device_type: &str) -> Result<Option<Vec<u8>>> {
    let mut graph = Graph::parse(bytes)?;
    Ok(replace_in(&mut graph, device_type).then(|| graph.to_bytes()))
}

/// Replaces the sums in temporary variables. Returns true if there are any.
fn replace_in(graph: &mut Graph, device_type: &str) -> bool {
    let nodes: HashMap<&str, &Node> = graph.nodes.iter().map(|it| (&*it.name, it)).collect();
    let on_device = graph.nodes.iter().enumerate();
    let on_device = on_device.filter(|(_, it)| it.device_type() == Some(device_type));
    let sums: Vec<(usize, TemporarySum<'_>)> = on_device
        .filter_map(|(position, it)| Some((position, TemporarySum::find(&nodes, it)?)))
        .filter(|(_, it)| it.is_unread(graph))
        .collect();
    let replaced: BTreeSet<String> = sums.iter().flat_map(|(_, it)| it.names()).collect();
    let added: Vec<(usize, Node)> = sums
        .iter()
        .filter_map(|(position, it)| Some((*position, it.to_node()?)))
        .collect();
    let is_changed = !added.is_empty();
    for (position, node) in added {
        graph.nodes[position] = node;
    }
    graph.nodes.retain(|it| !replaced.contains(&it.name));
    is_changed
}

/// The nodes of a sum in a temporary variable.
struct TemporarySum<'g> {
    /// The node that returns the value and destroys the variable; it has the name of the former `AddN`.
    result: &'g Node,
    variable: &'g Node,
    /// Assigns zeros.
    initializer: &'g Node,
    zeros: &'g Node,
    /// Each adds a term, in the order of the terms.
    additions: Vec<&'g Node>,
}

impl<'g> TemporarySum<'g> {
    /// Returns the sum whose value `result` returns, or `None` if it is another node.
    fn find(nodes: &HashMap<&str, &'g Node>, result: &'g Node) -> Option<Self> {
        let source = |node: &Node, index: usize, op: &str| {
            let found = *nodes.get(node.inputs().nth(index)?.node)?;
            (found.op == op).then_some(found)
        };
        if result.op != "DestroyTemporaryVariable" {
            return None;
        }
        let initializer = source(result, 0, "Assign")?;
        let variable = source(initializer, 0, "TemporaryVariable")?;
        let zeros = source(initializer, 1, "ZerosLike")?;
        let controls = result.inputs().filter(|it| it.output.is_none());
        let controls = controls.filter_map(|it| nodes.get(it.node).copied());
        let is_addition = |node: &&Node| {
            let target = node.inputs().next();
            node.op == "AssignAdd" && target.is_some_and(|it| it.node == initializer.name)
        };
        let mut additions: Vec<&Node> = controls.filter(is_addition).collect();
        // The names end with the numbers of the terms. Control inputs have no order.
        additions.sort_by_key(|it| it.name.rsplit('_').next()?.parse::<usize>().ok());
        let sum = Self {
            result,
            variable,
            initializer,
            zeros,
            additions,
        };
        (!sum.additions.is_empty()).then_some(sum)
    }

    /// Returns the nodes that are removed.
    fn parts(&self) -> impl Iterator<Item = &'g Node> {
        let first = [self.variable, self.initializer, self.zeros];
        first.into_iter().chain(self.additions.iter().copied())
    }

    /// Returns the names of the nodes that are removed.
    fn names(&self) -> impl Iterator<Item = String> {
        self.parts().map(|it| it.name.clone())
    }

    /// Returns true if no other node reads the nodes that are removed, or waits for them.
    fn is_unread(&self, graph: &Graph) -> bool {
        let names: BTreeSet<&str> = self.parts().map(|it| &*it.name).collect();
        let others = graph.nodes.iter();
        let mut others =
            others.filter(|it| it.name != self.result.name && !names.contains(&*it.name));
        !others.any(|it| it.inputs().any(|input| names.contains(input.node)))
    }

    /// Returns the `AddN`. It waits for all nodes that the parts wait for.
    fn to_node(&self) -> Option<Node> {
        let terms: Option<Vec<String>> = self
            .additions
            .iter()
            .map(|it| it.inputs.get(1).cloned())
            .collect();
        let mut node = self.result.clone();
        node.op = "AddN".into();
        node.attributes.retain(|(name, _)| name != "var_name");
        let count = i64::try_from(self.additions.len()).ok()?;
        node.attributes.push(("N".into(), count.into()));
        node.inputs = terms?;
        let names: BTreeSet<&str> = self.parts().map(|it| &*it.name).collect();
        let waiting = self.parts().chain([self.result]);
        let controls: BTreeSet<String> = waiting
            .flat_map(Node::inputs)
            .filter(|it| it.output.is_none() && !names.contains(it.node))
            .map(|it| format!("^{}", it.node))
            .collect();
        node.inputs.extend(controls);
        Some(node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(replace_in(&mut graph, "ACCEL"));
        let names: Vec<&str> = graph.nodes.iter().map(|it| &*it.name).collect();
        assert_eq!(names, ["x", "y", "z", "sum", "end"]);
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
        assert!(!replace_in(&mut graph, "OTHER"));
        assert_eq!(graph, before);
    }

    #[test]
    fn sum_whose_parts_another_node_reads_is_not_changed() {
        let mut graph = sum_in_variable();
        graph
            .nodes
            .push(node("reader", "Exp", "^sum/tmp_var_accum_0"));
        let before = graph.clone();
        assert!(!replace_in(&mut graph, "ACCEL"));
        assert_eq!(graph, before);
    }

    #[test]
    fn other_uses_of_temporary_variables_are_not_changed() {
        let mut graph = sum_in_variable();
        graph.nodes[9].inputs.truncate(1);
        assert!(!replace_in(&mut graph, "ACCEL"));
        let mut graph = sum_in_variable();
        graph.nodes[5].op = "AssignSub".into();
        assert!(!replace_in(&mut graph, "ACCEL"));
    }
}
