//! Replaces updates of variables in graphs by a read, a sum and an assignment.
//!
//! From 2.19 to 2.21 a plugin cannot change a variable, and core's kernels for `AssignAddVariableOp` and
//! `AssignSubVariableOp` use device memory from the host ([`crate::kernel`] registers errors in their place). The sum is
//! that of `AddN`, which like the update rejects tensors of different shapes. The update is no longer atomic: if no edge
//! orders two updates, one can be lost.

use sp_abi::tf_datatype::TF_DataType;

use crate::graph::{Attribute, Graph, Node};
use crate::{Result, kernel, platform};

/// Replaces the updates on devices of this type in a serialized graph. Returns `None` if there are none, or if the
/// plugin's devices need no replacement.
///
/// # Errors
/// Returns an error if `bytes` is not a valid `GraphDef`.
pub fn replace(bytes: &[u8], device_type: &str) -> Result<Option<Vec<u8>>> {
    if !is_needed() {
        return Ok(None);
    }
    let mut graph = Graph::parse(bytes)?;
    let is_replaced = replace_in(&mut graph, device_type, kernel::is_registered);
    Ok(is_replaced.then(|| graph.to_bytes()))
}

fn is_needed() -> bool {
    platform::has_other_devices() && !kernel::has_functions_of_variables()
}

/// Replaces the updates on devices of this type whose types have kernels. Returns true if there were any.
fn replace_in(
    graph: &mut Graph,
    device_type: &str,
    has_kernel: impl Fn(&str, TF_DataType) -> bool,
) -> bool {
    let mut added = Vec::new();
    for node in &mut graph.nodes {
        if let Some(update) = Update::find(node, device_type, &has_kernel) {
            added.extend(update.replace(node));
        }
    }
    let is_replaced = !added.is_empty();
    graph.nodes.extend(added);
    is_replaced
}

/// An update of a variable.
struct Update {
    is_subtraction: bool,
    dtype: Attribute,
}

impl Update {
    /// Returns the update of the node, or `None` if it is none that can be replaced.
    fn find(
        node: &Node,
        device_type: &str,
        has_kernel: impl Fn(&str, TF_DataType) -> bool,
    ) -> Option<Self> {
        let is_subtraction = match node.op.as_str() {
            "AssignAddVariableOp" => false,
            "AssignSubVariableOp" => true,
            _ => return None,
        };
        let dtype = node.attribute("dtype")?;
        let number = dtype.as_type()?;
        let has_kernels =
            has_kernel("AddN", number) && (!is_subtraction || has_kernel("Neg", number));
        let is_here = node.device_type() == Some(device_type) && node.inputs.len() >= 2;
        (has_kernels && is_here).then(|| Self {
            is_subtraction,
            dtype: dtype.clone(),
        })
    }

    /// Makes the node an assignment, with its name and its control inputs. Returns the nodes that compute the new value.
    fn replace(self, node: &mut Node) -> Vec<Node> {
        let new = |suffix: &str, op: &str, inputs: Vec<String>, dtype: &str| {
            let mut new = Node::new(format!("{}/{suffix}", node.name), op);
            new.inputs = inputs;
            new.device.clone_from(&node.device);
            new.attributes.push((dtype.into(), self.dtype.clone()));
            new
        };
        let (resource, mut value) = (node.inputs[0].clone(), node.inputs[1].clone());
        // The update reads the variable after the value is computed.
        let after_value = format!("^{}", node.inputs().nth(1).map_or("", |it| it.node));
        let mut reads = vec![resource, after_value];
        let controls = node.inputs[2..].iter().filter(|it| **it != reads[1]);
        reads.extend(controls.cloned().collect::<Vec<_>>());
        let read = new("plugin_read", "ReadVariableOp", reads, "dtype");
        let mut added = Vec::new();
        if self.is_subtraction {
            let negated = new("plugin_negated", "Neg", vec![value], "T");
            value = negated.name.clone();
            added.push(negated);
        }
        let mut sum = new("plugin_sum", "AddN", vec![read.name.clone(), value], "T");
        sum.attributes.push(("N".into(), Attribute::from(2)));
        node.op = "AssignVariableOp".into();
        node.inputs[1].clone_from(&sum.name);
        added.extend([read, sum]);
        added
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEVICE: &str = "/job:localhost/replica:0/task:0/device:MYACCEL:0";

    fn update(op: &str, device: &str, dtype: TF_DataType) -> Graph {
        let mut node = Node::new("update", op);
        node.device = device.into();
        node.inputs = ["v", "x:1", "^before"].map(String::from).to_vec();
        node.attributes.push(("dtype".into(), dtype.into()));
        let mut graph = Graph::default();
        graph.nodes.push(node);
        graph
    }

    fn inputs<'a>(graph: &'a Graph, name: &str) -> (&'a str, Vec<&'a str>) {
        let node = graph.node(name).unwrap();
        assert_eq!(node.device, DEVICE);
        (&node.op, node.inputs.iter().map(String::as_str).collect())
    }

    #[test]
    fn addition_becomes_read_sum_and_assignment_after_same_nodes() {
        let mut graph = update("AssignAddVariableOp", DEVICE, TF_DataType::TF_INT64);
        assert!(replace_in(&mut graph, "MYACCEL", |_, _| true));
        assert_eq!(graph.nodes.len(), 3);
        let found = inputs(&graph, "update");
        let assigned = vec!["v", "update/plugin_sum", "^before"];
        assert_eq!(found, ("AssignVariableOp", assigned));
        let found = inputs(&graph, "update/plugin_sum");
        assert_eq!(found, ("AddN", vec!["update/plugin_read", "x:1"]));
        let found = inputs(&graph, "update/plugin_read");
        assert_eq!(found, ("ReadVariableOp", vec!["v", "^x", "^before"]));
        let dtype = graph.node("update/plugin_sum").unwrap().attribute("T");
        assert_eq!(dtype.unwrap().as_type(), Some(TF_DataType::TF_INT64));
    }

    #[test]
    fn subtraction_adds_negated_value() {
        let mut graph = update("AssignSubVariableOp", DEVICE, TF_DataType::TF_FLOAT);
        assert!(replace_in(&mut graph, "MYACCEL", |_, _| true));
        let found = inputs(&graph, "update/plugin_sum");
        let terms = vec!["update/plugin_read", "update/plugin_negated"];
        assert_eq!(found, ("AddN", terms));
        let found = inputs(&graph, "update/plugin_negated");
        assert_eq!(found, ("Neg", vec!["x:1"]));
    }

    #[test]
    fn other_devices_and_types_without_kernels_are_unchanged() {
        let cpu = "/job:localhost/replica:0/task:0/device:CPU:0";
        let mut graph = update("AssignAddVariableOp", cpu, TF_DataType::TF_FLOAT);
        assert!(!replace_in(&mut graph, "MYACCEL", |_, _| true));
        let mut graph = update("AssignSubVariableOp", DEVICE, TF_DataType::TF_HALF);
        assert!(!replace_in(&mut graph, "MYACCEL", |op, _| op != "Neg"));
        assert_eq!(graph.nodes.len(), 1);
    }
}
