//! Calls of functions that ask for XLA become ordinary calls.
//!
//! TensorFlow decides by an attribute of the node that calls the function, when it creates the node's kernel. That is after the
//! optimizers have run. The function's body is a graph of its own, which is optimized when the call creates it.

use crate::{Attribute, Graph, Node};

/// The attribute of a node, or of a function, that asks for XLA.
const MUST_COMPILE: &str = "_XlaMustCompile";

/// Removes the requests from nodes on devices of this type. Returns true if there are any.
pub fn replace_in(graph: &mut Graph, device_type: &str) -> bool {
    let nodes = graph.nodes.iter_mut();
    let requests = nodes.filter(|it| it.device_type() == Some(device_type) && asks_for_xla(it));
    let mut is_changed = false;
    for node in requests {
        node.attributes.retain(|(name, _)| name != MUST_COMPILE);
        is_changed = true;
    }
    is_changed
}

fn asks_for_xla(node: &Node) -> bool {
    node.attribute(MUST_COMPILE).and_then(Attribute::as_bool) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, device: &str, asks: Option<bool>) -> Node {
        let mut node = Node::new(name, "StatefulPartitionedCall");
        node.device = format!("/job:localhost/replica:0/task:0/device:{device}:0");
        let value = |asks: bool| Attribute::from_bytes([0x28, u8::from(asks)]);
        let asks = asks.map(|it| (MUST_COMPILE.to_owned(), value(it)));
        node.attributes = vec![("Tin".into(), Attribute::from_bytes([]))];
        node.attributes.extend(asks);
        node
    }

    #[test]
    fn request_is_removed_from_nodes_of_the_device_only() {
        let mut graph = Graph::default();
        graph.nodes = vec![
            call("device", "MYACCEL", Some(true)),
            call("host", "CPU", Some(true)),
            call("denied", "MYACCEL", Some(false)),
            call("none", "MYACCEL", None),
        ];
        let before = graph.nodes.clone();
        assert!(replace_in(&mut graph, "MYACCEL"));
        assert_eq!(graph.nodes[0], call("device", "MYACCEL", None));
        assert_eq!(graph.nodes[1..], before[1..]);
    }

    #[test]
    fn graph_without_request_is_unchanged() {
        let mut graph = Graph::default();
        graph.nodes = vec![call("host", "CPU", Some(true))];
        assert!(!replace_in(&mut graph, "MYACCEL"));
    }
}
