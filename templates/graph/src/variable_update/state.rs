//! The nodes that read and assign the state of a random generator.

use crate::assignment;
use crate::{Node, TypeNumber};

const INT64: TypeNumber = TypeNumber::INT64;

/// The nodes that are added for one node.
pub struct Replaced {
    pub read: Node,
    pub others: Vec<Node>,
}

impl Replaced {
    pub fn into_vec(self) -> Vec<Node> {
        let mut nodes = self.others;
        nodes.push(self.read);
        nodes
    }
}

/// Returns a read of the state after the other inputs of the node.
pub fn read_state(node: &Node) -> Node {
    let sources = node.inputs().skip(1).map(|it| it.node);
    assignment::read_after(node, INT64.into(), sources)
}

/// Returns the assignment of the next state.
pub fn assign_state(node: &Node, next: String) -> Node {
    let mut assigned = assignment::added_node(node, "assigned", "AssignVariableOp");
    assigned.inputs = vec![node.inputs[0].clone(), next];
    assigned.attributes.push(("dtype".into(), INT64.into()));
    assigned
}
