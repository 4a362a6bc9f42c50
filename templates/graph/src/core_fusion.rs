//! Fusions of TensorFlow's own optimizer run on the CPU if the plugin has no kernel of their op.
//!
//! TensorFlow's remapper looks at the ops of a chain, not at the device, and writes an op for which only the CPU and core's
//! CUDA build have kernels. `_TensorToHashBucketFast` even gets the device of the number that `AsString` reads, although both
//! of its parts run on the CPU. Without this pass the graph is an error on a plugin's device.
//!
//! Their parts may be rewritten already, and the CPU has a kernel of each. A kernel of the plugin takes precedence,
//! so the reference device computes `_TensorToHashBucketFast` in place.

use crate::{Attribute, Graph, Kernels, Node, TypeNumber};

/// The ops that the remapper writes for nodes on a device of any type, and of which core has kernels for the CPU.
const OPS: [&str; 4] = [
    "_FusedBatchNormEx",
    "_MklFusedInstanceNorm",
    "_MklLayerNorm",
    "_TensorToHashBucketFast",
];

/// The attributes of these ops that are types.
const TYPES: [&str; 2] = ["T", "U"];

/// Moves the nodes that have no kernel to the CPU. Returns true if there are any.
pub fn place_on_cpu(graph: &mut Graph, device_type: &str, kernels: &dyn Kernels) -> bool {
    let has_kernel = |op: &str, types: &[(&str, TypeNumber)]| kernels.has(op, types);
    place(graph, device_type, has_kernel)
}

fn place(
    graph: &mut Graph,
    device_type: &str,
    has_kernel: impl Fn(&str, &[(&str, TypeNumber)]) -> bool,
) -> bool {
    let mut is_changed = false;
    for node in &mut graph.nodes {
        let is_fusion = OPS.contains(&&*node.op) && node.device_type() == Some(device_type);
        if !is_fusion || has_kernel(&node.op, &types(node)) {
            continue;
        }
        if let Some(cpu) = cpu_of_task(&node.device) {
            node.device = cpu;
            is_changed = true;
        }
    }
    is_changed
}

fn types(node: &Node) -> Vec<(&'static str, TypeNumber)> {
    let dtype = |name| node.attribute(name).and_then(Attribute::as_type);
    let types = TYPES.into_iter();
    types
        .filter_map(|name| Some((name, dtype(name)?)))
        .collect()
}

/// Returns the CPU device of the task that has the device.
fn cpu_of_task(device: &str) -> Option<String> {
    let (task, _) = device.rsplit_once("/device:")?;
    Some(format!("{task}/device:CPU:0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASK: &str = "/job:worker/replica:0/task:1";

    /// Returns a graph of one node of type int64.
    fn graph(op: &str, device: &str) -> Graph {
        let mut node = Node::new("node", op);
        node.device = format!("{TASK}/device:{device}:0");
        node.inputs = vec!["x".into()];
        let dtype = Attribute::from(TypeNumber::INT64);
        node.attributes.push(("T".into(), dtype));
        let mut graph = Graph::default();
        graph.nodes.push(node);
        graph
    }

    #[test]
    fn fusion_without_kernel_moves_to_cpu_of_its_task() {
        for op in OPS {
            let mut graph = graph(op, "ACCEL");
            assert!(place(&mut graph, "ACCEL", |_, _| false), "{op}");
            assert_eq!(graph.nodes[0].device, format!("{TASK}/device:CPU:0"));
            assert_eq!(graph.nodes[0].inputs, ["x"]);
        }
    }

    #[test]
    fn fusion_with_kernel_of_its_types_stays() {
        let has = |op: &str, types: &[(&str, TypeNumber)]| {
            op == "_TensorToHashBucketFast" && types == [("T", TypeNumber::INT64)]
        };
        let mut graph = graph("_TensorToHashBucketFast", "ACCEL");
        assert!(!place(&mut graph, "ACCEL", has));
        assert_eq!(graph.nodes[0].device_type(), Some("ACCEL"));
    }

    #[test]
    fn other_ops_and_devices_are_unchanged() {
        assert!(!place(&mut graph("Relu", "ACCEL"), "ACCEL", |_, _| false));
        let mut other = graph("_TensorToHashBucketFast", "OTHER");
        assert!(!place(&mut other, "ACCEL", |_, _| false));
    }
}
